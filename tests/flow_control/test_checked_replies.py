"""Flow control, requirement "Response Validator": what is said instead, and what is recorded."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from journeygraph import (
    Guideline,
    IntentTrigger,
    Journey,
    Pathway,
    ReturnToPrevious,
    Texts,
    Transition,
    Validation,
)
from journeygraph.nodes.llm import call as asking_once
from journeygraph.nodes.llm.scripted import Fault, ScriptedModel, leads_nowhere
from tests.flow_control.desk import (
    NO_PROMISE,
    POLITE,
    SAFE,
    VALID,
    desk,
    kinds,
    rewritten,
    says,
    told,
    verdict,
)

Talk = Callable[..., Any]
CARD = "4111 1111 1111 1111"


@pytest.fixture
def chat(talk: Talk, memory_url: str) -> Talk:
    """Open a conversation with a clerk that says these: `await chat(desk(), "Hi", model=...)`."""

    async def begin(kind: type[Journey], *replies: str, model: Any = False, **config: Any) -> Any:
        return await talk(kind, says(*replies), memory_url, options={"model": model}, **config)

    return begin


@pytest.fixture(autouse=True)
def _one_try(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asking_once, "FIRST_PAUSE", 10.0)


async def row(conversation: Any) -> Any:
    """The one row of the validation audit."""
    [only] = await conversation.journey.checks()
    return only


async def history(conversation: Any) -> list[str]:
    """The words of the assistant, as the next turn gets them."""
    session = await conversation.journey.get_session_state()
    said = session.conversation_history
    return [message["content"] for message in said if message["role"] == "assistant"]


def _shouts(message: str, context: Any) -> bool:
    return "!" in message


# Without a model


async def test_personal_data_is_masked_in_place(chat: Talk) -> None:
    talk = await chat(desk(), f"Your card {CARD} is on file.")

    assert await talk.says("Which card?") == "Your card [card number] is on file."
    assert talk.last.metadata["replies"] == ["Your card [card number] is on file."]
    assert await history(talk) == ["Your card [card number] is on file."]
    checked = await row(talk)
    assert (checked.outcome, checked.is_valid, checked.review) == ("masked", False, False)
    assert checked.violations == ["card: personal data"]
    assert CARD not in repr(checked)
    assert talk.last.metadata["flags"] == []


async def test_what_may_be_said_is_left_and_other_kinds_are(chat: Talk) -> None:
    checked = Validation(pii=["email"], allow=["Help@Example.com"])
    talk = await chat(
        desk(__validation__=checked), f"help@example.com, me@example.com, card {CARD}"
    )

    assert await talk.says("Hi") == f"help@example.com, [e-mail address], card {CARD}"


async def test_what_a_rule_requires_may_be_said(chat: Talk) -> None:
    contact = Guideline(
        id="contact", action="Say it.", critical=True, requires=["write to help@example.com"]
    )
    said = "Please write to help@example.com, and not to me@example.com"
    talk = await chat(desk(contact), said)

    assert await talk.says("Hi") == said.replace("me@example.com", "[e-mail address]")
    assert (await row(talk)).violations == ["email: personal data"]


@pytest.mark.parametrize(
    "reply",
    [
        "It is guaranteed.",
        "GUARANTEED!",
        "guar\u200banteed",
        "\u202eguaranteed\u202c",
        "\uff47\uff55aranteed",
        "So we\u00a0will\n pay.",
        "It is _guaranteed_.",
        "Of course we **will** `pay`.",
    ],
    ids=["plain", "capitals", "zero width", "bidi", "full width", "blanks", "slanted", "bold"],
)
async def test_a_forbidden_phrase_is_replaced_by_the_safe_reply(chat: Talk, reply: str) -> None:
    talk = await chat(desk(NO_PROMISE), reply)

    assert await talk.says("Will you pay?") == SAFE
    checked = await row(talk)
    assert (checked.outcome, checked.is_valid, checked.review) == ("replaced", False, True)
    assert checked.violations[0].startswith("no_promise: contains '")
    assert not checked.bypassed
    assert await history(talk) == [SAFE]


@pytest.mark.parametrize(
    "reply", ["I am unguaranteed.", "We will pay-roll"], ids=["word", "hyphen"]
)
async def test_a_phrase_counts_as_whole_words(chat: Talk, reply: str) -> None:
    talk = await chat(desk(NO_PROMISE), reply)
    assert (await talk.says("Hi") == reply) is ("unguaranteed" in reply)


async def test_without_a_safe_reply_the_text_of_the_settings_is_said(chat: Talk) -> None:
    talk = await chat(desk(NO_PROMISE, __safe_reply__=""), "guaranteed", texts=Texts(unsafe="No."))
    assert await talk.says("Hi") == "No."


async def test_a_required_phrase_must_be_there(chat: Talk) -> None:
    rule = Guideline(id="notice", action="Say it.", critical=True, requires=["no advice", "AS IS"])
    talk = await chat(desk(rule), "Sell it.", "Sell it. This is No  Advice.", "Take it as is.")

    said = [await talk.says("Shall I sell?") for _ in range(3)]

    assert said == [SAFE, "Sell it. This is No  Advice.", "Take it as is."]
    first, *others = await talk.journey.checks()
    assert first.violations == ["notice: contains none of 'no advice', 'AS IS'"]
    assert [check.is_valid for check in others] == [True, True]


async def test_phrases_of_a_guideline_count_while_it_holds(chat: Talk) -> None:
    rule = Guideline(id="calm", action="Calm.", when=_shouts, critical=True, forbids=["sue"])
    talk = await chat(desk(rule), "You may sue.", "You may sue.")

    assert await talk.says("Hello") == "You may sue."
    assert await talk.says("Hello!") == SAFE


async def test_the_runtimes_own_texts_are_not_checked(chat: Talk) -> None:
    rule = Guideline(id="notice", action="Say it.", critical=True, requires=["no advice"])
    ends = type("EndPath", (Pathway,), {"__agents__": ["clerk"]})
    talk = await chat(desk(rule, DeskPath=ends), "no advice", model=ScriptedModel(VALID))

    await talk.says("Hi")
    assert talk.last.is_journey_complete
    assert await talk.says("Hi again") == Texts().closing
    assert len(await talk.journey.checks()) == 1


async def test_no_model_configured_is_no_bypass(chat: Talk) -> None:
    talk = await chat(desk(NO_PROMISE), "Hello.")
    await talk.says("Hi")

    checked = await row(talk)
    assert (checked.is_valid, checked.confidence, checked.bypassed) == (True, None, False)
    assert (checked.outcome, checked.review, checked.violations) == ("sent", False, [])
    assert checked.latency_ms >= 0


async def test_without_validation_nothing_is_checked(chat: Talk) -> None:
    talk = await chat(desk(POLITE, __validation__=None), f"Card {CARD}")

    assert await talk.says("Hi") == f"Card {CARD}"
    assert await talk.journey.checks() == []
    assert talk.last.metadata["checks"] == []


# Scenario: Post-validation


async def test_a_valid_reply_costs_one_call_more(chat: Talk) -> None:
    with ScriptedModel(VALID) as model:
        talk = await chat(desk(POLITE), "Good day.", model=model)

        assert await talk.says("Hi") == "Good day."
        assert kinds(model) == ["validation"]
        assert told(model, 0)["rules"] == [{"rule": "polite", "then": "Stay polite."}]
        assert (told(model, 0)["reply"], told(model, 0)["user_message"]) == ("Good day.", "Hi")
        assert talk.last.metadata["usage"]["model_calls"] == 1
        [shown] = talk.last.metadata["checks"]
        assert (shown["is_valid"], shown["confidence"], shown["outcome"]) == (True, 0.97, "sent")


async def test_an_invalid_reply_is_rewritten_and_checked_again(chat: Talk) -> None:
    wrong = verdict(0.9, "polite: it is rude")
    with ScriptedModel(wrong, rewritten("Good day, sir."), VALID) as model:
        talk = await chat(desk(POLITE), "Go away.", model=model)

        assert await talk.says("Hi") == "Good day, sir."
        assert kinds(model) == ["validation", "rewriting", "validation"]
        given = told(model, 1)
        assert (given["reply"], given["violations"]) == ("Go away.", ["polite: it is rude"])
        assert given["suggested_fixes"] == ["Leave it out."]
        assert told(model, 2)["reply"] == "Good day, sir."
        assert talk.last.metadata["usage"]["model_calls"] == 3
        checked = await row(talk)
        assert (checked.outcome, checked.is_valid, checked.confidence) == ("rewritten", False, 0.9)
        assert (checked.violations, checked.review) == (["polite: it is rude"], False)
        assert await history(talk) == ["Good day, sir."]


@pytest.mark.parametrize(
    ("confidence", "stopped"),
    [(0.0, False), (0.8, False), (0.80001, True), (1.0, True)],
    ids=["no idea", "at", "over", "sure"],
)
async def test_only_over_0_8_an_invalid_reply_is_stopped(
    chat: Talk, confidence: float, stopped: bool
) -> None:
    answers = [verdict(confidence, "it is rude"), *([rewritten("Hello."), VALID] * stopped)]
    with ScriptedModel(*answers) as model:
        talk = await chat(desk(POLITE), "Go away.", model=model)

        assert await talk.says("Hi") == ("Hello." if stopped else "Go away.")
        checked = await row(talk)
        assert checked.outcome == ("rewritten" if stopped else "sent")
        assert (checked.is_valid, checked.review) == (False, not stopped)
        assert checked.confidence == confidence


async def test_the_threshold_is_the_journeys(chat: Talk) -> None:
    with ScriptedModel(verdict(0.5, "rude"), rewritten("Hello."), VALID) as model:
        kind = desk(POLITE, __validation__=Validation(confidence=0.4))
        talk = await chat(kind, "Go away.", model=model)
        assert await talk.says("Hi") == "Hello."


async def test_a_forbidden_phrase_is_mended_by_a_model_before_it_is_judged(chat: Talk) -> None:
    with ScriptedModel(rewritten("Perhaps."), VALID) as model:
        talk = await chat(desk(NO_PROMISE), "It is guaranteed.", model=model)

        assert await talk.says("Hi") == "Perhaps."
        assert kinds(model) == ["rewriting", "validation"]
        assert told(model, 0)["violations"] == ["no_promise: contains 'guaranteed'"]
        assert (await row(talk)).outcome == "rewritten"


@pytest.mark.parametrize(
    "again", ["All guaranteed.", "We will pay."], ids=["same phrase", "another phrase"]
)
async def test_what_was_rewritten_is_held_against_phrases_as_well(chat: Talk, again: str) -> None:
    with ScriptedModel(rewritten(again)) as model:
        talk = await chat(desk(NO_PROMISE), "It is guaranteed.", model=model)
        assert await talk.says("Hi") == SAFE


async def test_what_was_rewritten_is_masked_as_well(chat: Talk) -> None:
    with ScriptedModel(verdict(0.9, "rude"), rewritten(f"Card {CARD}, sir."), VALID) as model:
        talk = await chat(desk(POLITE), "Card!", model=model)

        assert await talk.says("Hi") == "Card [card number], sir."
        assert told(model, 2)["reply"] == "Card [card number], sir."


async def test_no_model_is_shown_personal_data_nor_the_audit_what_it_quotes(chat: Talk) -> None:
    with ScriptedModel(verdict(0.5, f"it names card {CARD}")) as model:
        talk = await chat(desk(POLITE), f"Card {CARD}, of 01.02.2024", model=model)
        await talk.says("Hi")

        assert told(model, 0)["reply"] == "Card [card number], of 01.02.2024"
        assert "it names card [card number]" in (await row(talk)).violations


async def test_no_rule_no_call(chat: Talk) -> None:
    with ScriptedModel(leads_nowhere) as model:
        moves = [Transition(IntentTrigger(description="wants help"), to_pathway="help")]
        help_path = type(
            "HelpPath",
            (Pathway,),
            {"__agents__": ["clerk"], "__return_behavior__": ReturnToPrevious()},
        )
        talk = await chat(desk(HelpPath=help_path, __transitions__=moves), "Good day.", model=model)
        await talk.says("Hi")

        assert kinds(model) == ["understanding"]
        assert (await row(talk)).outcome == "sent"


# Scenario: Validation bypass

GARBAGE = [
    "no JSON at all",
    {"is_valid": "yes", "violations": [], "suggested_fixes": [], "confidence": 1.0},
    {"is_valid": False, "violations": [], "suggested_fixes": [], "confidence": 1.5},
    {"is_valid": False, "violations": "all", "suggested_fixes": [], "confidence": 0.9},
    {"is_valid": True, "violations": [], "suggested_fixes": []},
]


@pytest.mark.parametrize(
    "answer",
    [
        Fault.status(500),
        Fault.status(401),
        Fault.hang(),
        Fault.bad_json(),
        Fault.huge(),
        Fault.empty_content(),
        Fault.refusal(),
        Fault.cut_after(),
        *GARBAGE,
    ],
    ids=[
        *("500", "401", "hang", "bad JSON", "huge", "empty", "refusal", "cut"),
        *("text", "words", "over one", "no list", "no confidence"),
    ],
)
async def test_a_check_that_fails_lets_the_reply_out_flagged(chat: Talk, answer: Any) -> None:
    kind = desk(NO_PROMISE, __validation__=Validation(timeout_seconds=0.2))
    with ScriptedModel(answer) as model:
        talk = await chat(kind, f"Card {CARD}.", model=model)

        assert await talk.says("Hi") == "Card [card number]."
        assert talk.last.metadata["flags"] == ["validation_bypassed"]
        checked = await row(talk)
        assert (checked.bypassed, checked.review, checked.outcome) == (True, True, "masked")
        assert checked.confidence is None


async def test_under_bypass_a_forbidden_phrase_does_not_go_out(chat: Talk) -> None:
    with ScriptedModel(Fault.status(500)) as model:
        talk = await chat(desk(NO_PROMISE), "It is guaranteed.", model=model)

        assert await talk.says("Hi") == SAFE
        assert (await row(talk)).violations == ["no_promise: contains 'guaranteed'"]


@pytest.mark.parametrize(
    "answer",
    [Fault.status(500), Fault.hang(), "text", {"response": " "}, {"reply": "Hello."}],
    ids=["500", "hang", "text", "blank", "other key"],
)
async def test_what_is_known_to_be_wrong_stays_back_if_nobody_can_rewrite_it(
    chat: Talk, answer: Any
) -> None:
    kind = desk(POLITE, __validation__=Validation(timeout_seconds=0.3))
    with ScriptedModel(verdict(0.9, "it is rude"), answer) as model:
        talk = await chat(kind, "Go away.", model=model)

        assert await talk.says("Hi") == SAFE
        checked = await row(talk)
        assert (checked.outcome, checked.review) == ("replaced", True)


async def test_if_the_second_check_fails_what_was_rewritten_goes_out_flagged(chat: Talk) -> None:
    answers = (verdict(0.9, "it is rude"), rewritten("Good day."), Fault.status(500))
    with ScriptedModel(*answers) as model:
        talk = await chat(desk(POLITE), "Go away.", model=model)

        assert await talk.says("Hi") == "Good day."
        assert talk.last.metadata["flags"] == ["validation_bypassed"]
        checked = await row(talk)
        assert (checked.outcome, checked.review, checked.bypassed) == ("rewritten", True, True)


@pytest.mark.parametrize("degrade", ["canned", "freeform"])
async def test_a_turn_that_fails_is_answered_and_checked(
    talk: Talk, memory_url: str, degrade: str
) -> None:
    def fails(given: Any) -> str:
        raise RuntimeError("no desk")

    free = [rewritten(f"I know card {CARD}: guaranteed.")] if degrade == "freeform" else []
    mended = [rewritten(f"I know card {CARD}."), VALID] if degrade == "freeform" else []
    with ScriptedModel(*free, *mended) as model:
        kind = desk(NO_PROMISE, __degrade__=degrade)
        chat = await talk(kind, {"clerk": fails}, memory_url, options={"model": model})
        said = await chat.says("Hi")

        expected = "I know card [card number]." if free else Texts().apology
        assert said == expected
        assert "failed" in chat.last.metadata["flags"]
        assert len(await chat.journey.checks()) == len(free)


async def test_a_long_hostile_reply_is_checked_whole(chat: Talk) -> None:
    hostile = "\u202e4\u200b" * 10_000 + " 12 34" * 4_000 + f" \u202a{CARD}\u202c guaranteed"
    talk = await chat(desk(NO_PROMISE), hostile, hostile.replace("guaranteed", "paid"))

    assert await talk.says("Hi") == SAFE
    said = await talk.says("Hi")
    assert CARD not in said
    assert said.endswith("\u202a[card number]\u202c paid")
    assert said.startswith("\u202e4\u200b")
