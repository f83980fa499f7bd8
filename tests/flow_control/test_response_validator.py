"""Flow control, requirement "Response Validator", and the bypass of it, scenario by scenario.

Checks by code, and the streams of replies, are in test_checked_replies.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from journeygraph import Guideline, Journey
from journeygraph.nodes.llm.scripted import Fault, rules_hold
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


# Scenario: Validation bypass (requirement "Graceful Degradation")


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
