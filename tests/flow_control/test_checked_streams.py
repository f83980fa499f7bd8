"""The stream of a checked reply: nothing before its check, or nothing personal."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from journeygraph import (
    NEVER,
    Journey,
    JourneyEvent,
    OutputField,
    Pathway,
    Signature,
    Texts,
    Validation,
)
from journeygraph.nodes.llm.scripted import Fault, ScriptedModel, Slow
from tests.flow_control.desk import NO_PROMISE, POLITE, SAFE, VALID, desk, rewritten, says, verdict

Talk = Callable[..., Any]
CARD = "4111 1111 1111 1111"
AFTER = Validation(mode="after_send")


class Say(Signature):
    """Say something."""

    response: str = OutputField(description="What to say")


class ModelPath(Pathway):
    """Answer."""

    __signature__ = Say
    __agents__ = ["clerk"]
    __complete_when__ = NEVER


async def heard(conversation: Any, message: str = "Hi") -> tuple[list[str], list[JourneyEvent]]:
    """The tokens of a streamed turn, and all of its events."""
    events = [event async for event in conversation.journey.stream_message(message)]
    return [event.data["text"] for event in events if event.type == "token"], events


@pytest.fixture
def chat(talk: Talk, memory_url: str) -> Talk:
    """Open a conversation: `await chat(desk(), agents, model)`."""

    async def begin(kind: type[Journey], agents: Any, model: Any = False, **config: Any) -> Any:
        return await talk(kind, agents, memory_url, options={"model": model}, **config)

    return begin


async def test_before_send_nobody_hears_a_word_before_the_check(chat: Talk) -> None:
    spoken = {"response": "It is all guaranteed, be sure."}
    with ScriptedModel(spoken, rewritten("Perhaps."), VALID) as model:
        talk = await chat(desk(NO_PROMISE, DeskPath=ModelPath), {}, model)
        tokens, events = await heard(talk)

        assert tokens == ["Perhaps."]
        assert events[-1].data["response"].message == "Perhaps."
        assert not model.calls[0].stream


async def test_before_send_a_function_is_held_back_as_well(chat: Talk) -> None:
    talk = await chat(desk(NO_PROMISE), says("guaranteed", f"card {CARD}"))

    assert (await heard(talk))[0] == [SAFE]
    assert (await heard(talk))[0] == ["card [card number]"]


async def test_before_send_fixed_texts_are_heard_once(chat: Talk) -> None:
    ends = type("EndPath", (Pathway,), {"__agents__": ["clerk"]})
    talk = await chat(desk(DeskPath=ends), says("Bye."))

    assert (await heard(talk))[0] == ["Bye."]
    assert (await heard(talk))[0] == [talk.journey.config.texts.closing]


@pytest.mark.parametrize("mode", ["before_send", "after_send"])
async def test_what_the_operator_says_is_said_as_it_is(chat: Talk, mode: str) -> None:
    ends = type("EndPath", (Pathway,), {"__agents__": ["clerk"]})
    kind = desk(DeskPath=ends, __validation__=Validation(mode=mode))
    texts = Texts(closing="Call +49 30 1234567.")
    talk = await chat(kind, says("Bye."), texts=texts)

    await talk.says("Hi")
    tokens, events = await heard(talk)
    assert tokens == ["Call +49 30 1234567."] == [events[-1].data["response"].message]


async def test_before_send_an_apology_is_heard_once(chat: Talk) -> None:
    def fails(given: Any) -> str:
        raise RuntimeError("no desk")

    talk = await chat(desk(NO_PROMISE), {"clerk": fails})
    assert (await heard(talk))[0] == [talk.journey.config.texts.apology]


@pytest.mark.parametrize("tokens", [1, 5, 60], ids=str)
async def test_after_send_words_go_out_at_once_and_nothing_personal(
    chat: Talk, tokens: int
) -> None:
    said = f"Thank you so much for calling. Your card {CARD} is on file, and open until 17 h."
    spoken = Slow({"response": said}, tokens=tokens)
    with ScriptedModel(spoken, verdict(0.99, "it is rude")) as model:
        talk = await chat(desk(POLITE, DeskPath=ModelPath, __validation__=AFTER), {}, model)
        pieces, events = await heard(talk)

        reply = events[-1].data["response"]
        assert reply.message == said.replace(CARD, "[card number]")
        assert "".join(pieces) == reply.message
        assert not any("4111" in piece or "1111" in piece for piece in pieces)
        assert len(pieces) > 2 or tokens == 1
        assert model.calls[0].stream
        await talk.restored(model=model)
        [checked] = await talk.journey.checks()
        assert (checked.outcome, checked.review, checked.is_valid) == ("masked", True, False)
        assert checked.violations == ["card: personal data", "it is rude"]


async def test_after_send_what_is_said_is_kept_whatever_the_check_finds(chat: Talk) -> None:
    kind = desk(NO_PROMISE, __validation__=AFTER)
    with ScriptedModel(verdict(0.1, "a promise"), VALID, Fault.status(400)) as model:
        talk = await chat(kind, says("guaranteed", "Fine.", "Fine."), model)
        said = [await talk.says("Hi") for _ in range(3)]

        assert said == ["guaranteed", f"{Texts().wrong_before}\n\nFine.", "Fine."]
        await talk.restored(model=model)
        checks = await talk.journey.checks()
        assert [check.review for check in checks] == [True, False, True]
        assert [check.outcome for check in checks] == ["sent"] * 3
        assert checks[0].violations == ["no_promise: contains 'guaranteed'", "a promise"]
        assert [check.bypassed for check in checks] == [False, False, True]


async def test_after_send_replies_of_several_pathways_are_one_stream(chat: Talk) -> None:
    class FirstPath(Pathway):
        __agents__ = ["clerk"]
        __complete_when__ = ["done"]
        __next__ = "second"

    class SecondPath(Pathway):
        __agents__ = ["other"]
        __complete_when__ = NEVER
        __runs_on_arrival__ = True

    kind = desk(FirstPath=FirstPath, SecondPath=SecondPath, DeskPath=None, __validation__=AFTER)
    agents = {
        "clerk": lambda given: {"response": "Pay by 4111", "done": True},
        "other": lambda given: "1111 1111 1111",
    }
    talk = await chat(kind, agents, context={"done": True})
    pieces, events = await heard(talk)

    reply = events[-1].data["response"]
    assert "".join(pieces) == reply.message == "Pay by [card number]"
    assert reply.metadata["replies"] == ["Pay by [card number]"]


async def test_without_validation_tokens_are_as_ever(chat: Talk) -> None:
    with ScriptedModel({"response": f"Card {CARD}"}) as model:
        talk = await chat(desk(DeskPath=ModelPath, __validation__=None), {}, model)
        pieces, _ = await heard(talk)
        assert "".join(pieces) == f"Card {CARD}"
        assert model.calls[0].stream
