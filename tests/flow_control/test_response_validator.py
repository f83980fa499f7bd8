"""Flow control, requirement "Response Validator", and the bypass of it, scenario by scenario.

Checks by code, and the streams of replies, are in test_checked_replies.py.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from journeygraph import Guideline, Journey, Texts, Validation
from journeygraph.nodes.llm.scripted import Fault, Slow, rules_hold
from tests.flow_control import line as the_line
from tests.flow_control.line import (
    asked,
    flags,
    held,
    journey,
    kinds,
    moves,
    rules,
    word,
)

server, scripted, line = the_line.server, the_line.scripted, the_line.line

SAFE = "A colleague will call you."
PROMISE = "You will get 5,000 euros."
BETTER = "We will look into it."
CRITICAL = Guideline(
    id="no_sums", condition="asks for a sum", action="never promise one", critical=True
)
ASKS = rules_hold("no_sums")


def verdict(
    is_valid: bool, confidence: Any = 0.95, violations: Any = ("it promises a sum",)
) -> dict[str, Any]:
    """What a model says of a reply."""
    wrong = [] if is_valid else list(violations)
    return {
        "is_valid": is_valid,
        "violations": wrong,
        "suggested_fixes": ["leave the sum out"] if wrong else [],
        "confidence": confidence,
    }


def checked(*more: Guideline, **body: Any) -> type[Journey]:
    """A journey with a critical guideline, whose replies are checked because of it."""
    given = {"__guidelines__": [CRITICAL, *more], "__safe_reply__": SAFE}
    return journey(**{**given, **body})


def says(text: str) -> dict[str, str]:
    """A reply as a model gives it."""
    return {"response": text}


async def checks(chat: Any) -> list[Any]:
    """The rows of the validation audit, oldest first."""
    rows: list[Any] = await chat.journey.checks()
    return rows


# Scenario: Post-validation


@pytest.mark.parametrize("number", [20, 100, 1000])
async def test_post_validation_is_one_call_more_however_many_guidelines_there_are(
    line: Callable[..., Any], scripted: Callable[..., Any], number: int
) -> None:
    answers = (rules_hold("no_sums", "rule_4"), says(BETTER), verdict(True))
    with scripted(*answers) as script:
        chat = await line(checked(*rules(number), **moves(10)))

        assert await chat.says(f"How much, and what of {word(4)}?") == BETTER
        assert kinds(script) == ["understanding", "answer", "validation"]
        assert chat.last.metadata["usage"]["model_calls"] == 3
        judged_by = {rule["rule"] for rule in asked(script.calls[2])["rules"]}
        assert judged_by == set(held(chat)) == {"no_sums", "rule_4"}
        assert flags(chat) == []


async def test_post_validation_fixes_what_is_invalid_over_0_8_once(
    line: Callable[..., Any], scripted: Callable[..., Any]
) -> None:
    answers = (ASKS, says(PROMISE), verdict(False), says(BETTER), verdict(True))
    with scripted(*answers) as script:
        chat = await line(checked())

        assert await chat.says("How much?") == BETTER
        assert kinds(script)[2:] == ["validation", "rewriting", "validation"]
        given = asked(script.calls[3])
        assert given["reply"] == PROMISE
        assert given["violations"] == ["it promises a sum"]
        assert given["suggested_fixes"] == ["leave the sum out"]
        said = [entry.content for entry in await chat.journey.transcript()]
        assert said == ["How much?", BETTER]


@pytest.mark.parametrize(
    ("confidence", "is_stopped"),
    [(0.5, False), (0.8, False), (0.8000001, True), (1.0, True)],
    ids=["unsure", "at", "over", "sure"],
)
async def test_post_validation_stops_what_is_invalid_with_confidence_over_0_8(
    line: Callable[..., Any], scripted: Callable[..., Any], confidence: float, is_stopped: bool
) -> None:
    """At 0.8 or below it is sent, recorded, and listed for a review."""
    again = (says(BETTER), verdict(True)) if is_stopped else ()
    with scripted(ASKS, says(PROMISE), verdict(False, confidence), *again):
        chat = await line(checked())

        assert await chat.says("How much?") == (BETTER if is_stopped else PROMISE)
        (row,) = await checks(chat)
        assert (row.is_valid, row.confidence) == (False, confidence)
        assert row.violations == ["it promises a sum"]
        assert row.review is not is_stopped
        assert flags(chat) == []


@pytest.mark.parametrize(
    ("confidence", "said"),
    [(0.8, BETTER), (0.8000001, SAFE)],
    ids=["at", "over"],
)
async def test_post_validation_that_fails_twice_gives_the_safe_reply_of_the_journey(
    line: Callable[..., Any], scripted: Callable[..., Any], confidence: float, said: str
) -> None:
    answers = (ASKS, says(PROMISE), verdict(False), says(BETTER), verdict(False, confidence))
    with scripted(*answers) as script:
        chat = await line(checked())

        assert await chat.says("How much?") == said
        assert len(script.calls) == 5  # it is rewritten once, not twice
        assert chat.last.metadata["error"] is None
        (row,) = await checks(chat)
        assert (row.outcome, row.review) == ("replaced" if said == SAFE else "rewritten", True)


async def test_post_validation_without_a_safe_reply_has_one_that_says_nothing_wrong(
    line: Callable[..., Any], scripted: Callable[..., Any]
) -> None:
    answers = (ASKS, says(PROMISE), verdict(False), says(PROMISE), verdict(False))
    with scripted(*answers):
        chat = await line(checked(__safe_reply__=""))

        assert await chat.says("How much?") == Texts().unsafe


async def test_post_validation_after_sending_records_and_changes_nothing(
    line: Callable[..., Any], scripted: Callable[..., Any]
) -> None:
    with scripted(ASKS, says(PROMISE), verdict(False)) as script:
        chat = await line(checked(__validation__=Validation(mode="after_send")))

        assert await chat.says("How much?") == PROMISE
        await chat.restored()
        assert kinds(script) == ["understanding", "answer", "validation"]
        (row,) = await checks(chat)
        assert (row.is_valid, row.outcome, row.review) == (False, "sent", True)


async def test_post_validation_holds_every_token_back_until_the_reply_is_checked(
    line: Callable[..., Any], scripted: Callable[..., Any]
) -> None:
    answers = (ASKS, says(PROMISE), verdict(False), says(BETTER), verdict(True))
    with scripted(*answers):
        chat = await line(checked())
        events = [event async for event in chat.journey.stream_message("How much?")]

    heard = "".join(event.data["text"] for event in events if event.type == "token")
    assert heard == BETTER


async def test_post_validation_asks_no_model_where_no_guideline_holds(
    line: Callable[..., Any], scripted: Callable[..., Any]
) -> None:
    with scripted(rules_hold(), says("Write to ada@example.org")) as script:
        chat = await line(checked())

        assert "ada@" not in await chat.says("Hello")
        assert kinds(script) == ["understanding", "answer"]


# Scenario: Validation audit


async def test_validation_audit_and_transcript_rebuild_the_conversation(
    scripted: Callable[..., Any], talk: Any, tmp_path: Path
) -> None:
    """Also in another process: every check with session, journey, verdict and latency."""
    url = f"sqlite:///{tmp_path / 'journeys.db'}"
    answers = (
        *(ASKS, says(BETTER), verdict(True, 0.99)),
        *(ASKS, says(PROMISE), verdict(False, 0.3)),
        *(ASKS, says(PROMISE), verdict(False), says(BETTER), verdict(True)),
    )
    with scripted(*answers):
        chat = await talk(checked(), {}, url)
        for message in ("one", "two", "three"):
            await chat.says(message)
        await chat.restored()

    rows = await checks(chat)
    assert {(row.session_id, row.journey_id) for row in rows} == {("s-1", "claims_line")}
    assert all(row.latency_ms > 0 for row in rows)
    said = {e.turn: e.content for e in await chat.journey.transcript() if e.role == "assistant"}
    told = [(row.turn, said[row.turn], row.is_valid, row.confidence, row.outcome) for row in rows]
    assert told == [
        (1, BETTER, True, 0.99, "sent"),
        (2, PROMISE, False, 0.3, "sent"),
        (3, BETTER, False, 0.95, "rewritten"),
    ]


# Scenario: Validation bypass (requirement "Graceful Degradation")


FAILURES: dict[str, Any] = {
    "hang": Fault.hang(),
    "500": Fault.status(500),
    "401": Fault.status(401),
    "late": Slow(verdict(True), before=4.0),
    "prose": "It looks fine to me.",
    "not a verdict": {"is_valid": "yes", "violations": [], "confidence": 1},
    "no confidence": {"is_valid": True, "violations": [], "suggested_fixes": []},
    "beyond sure": verdict(True, 1.5),
    "refusal": Fault.refusal(),
    "cut": Fault.cut_after(),
}
SILENT = ("hang", "late")
PATIENT, QUICK = Validation(timeout_seconds=3), Validation(timeout_seconds=0.3)


@pytest.mark.parametrize("failure", FAILURES)
async def test_validation_bypass_sends_the_reply_flags_it_and_asks_for_a_review(
    line: Callable[..., Any],
    scripted: Callable[..., Any],
    caplog: pytest.LogCaptureFixture,
    failure: str,
) -> None:
    fault, limits = FAILURES[failure], QUICK if failure in SILENT else PATIENT
    with scripted(ASKS, says(BETTER), fault), caplog.at_level(logging.WARNING, "journeygraph"):
        chat = await line(checked(__validation__=limits))

        assert await chat.says("How much?") == BETTER
        assert flags(chat) == ["validation_bypassed"]
        (row,) = await checks(chat)
        assert (row.bypassed, row.review, row.outcome) == (True, True, "sent")
        assert row.confidence is None
    assert "event=turn_degraded" in caplog.text


async def test_validation_bypass_leaves_personal_data_and_critical_phrases_checked(
    line: Callable[..., Any], scripted: Callable[..., Any]
) -> None:
    """By code alone, as no model answers any more: one is masked, the other replaced."""
    strict = Guideline(id="strict", action="no promises", critical=True, forbids=["euros"])
    personal = says("Your card 4111 1111 1111 1111 and ada@example.org are noted.")
    kind = journey(__guidelines__=[strict], __safe_reply__=SAFE, __validation__=PATIENT)
    down = Fault.status(503, retry_after=60)
    with scripted(personal, down, says(PROMISE), down):
        chat = await line(kind)

        said = await chat.says("What do you know?")
        assert "4111" not in said
        assert "ada@" not in said
        assert flags(chat) == ["validation_bypassed"]
        assert await chat.says("How much?") == SAFE

    first, second = await checks(chat)
    assert (first.outcome, first.bypassed, first.review) == ("masked", True, True)
    assert (second.outcome, second.review) == ("replaced", True)


async def test_validation_bypass_holds_critical_guidelines_when_nothing_was_understood_either(
    line: Callable[..., Any], scripted: Callable[..., Any]
) -> None:
    """Every model is gone, agents are code: the critical phrases are checked all the same."""
    strict = Guideline(
        id="strict", condition="asks for a sum", action="x", critical=True, forbids=["euros"]
    )
    kind = journey(__guidelines__=[strict], __safe_reply__=SAFE)
    with scripted(always=Fault.status(401)):
        chat = await line(kind, {"clerk": lambda ask: PROMISE})

        assert await chat.says("How much?") == SAFE
        assert "guidelines_bypassed" in flags(chat)


async def test_a_free_answer_without_the_journey_is_kept_clear_of_personal_data_too(
    line: Callable[..., Any], scripted: Callable[..., Any]
) -> None:
    def broken(payload: Any) -> str:
        raise RuntimeError("out of order")

    strict = Guideline(id="strict", action="x", critical=True, forbids=["euros"])
    kind = journey(__guidelines__=[strict], __safe_reply__=SAFE, __degrade__="freeform")
    leak = says("Your card is 4111 1111 1111 1111.")
    with scripted(leak, verdict(True), says(PROMISE), always=Fault.status(401)):
        chat = await line(kind, {"clerk": broken})

        assert "4111" not in await chat.says("My card?")
        assert await chat.says("How much?") == SAFE
        assert "journey_bypassed" in flags(chat)
