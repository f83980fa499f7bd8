"""A model words what the runtime says itself in the journey's tone, never in another meaning."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from journeygraph import Field, Guideline, Journey, Pathway, Personality, Range
from journeygraph.nodes.llm.scripted import Fault, ScriptedModel, fill, leads_nowhere, says
from journeygraph.nodes.llm.scripted.wire import Call
from journeygraph.nodes.replies.wording import changed

ADA = Personality(name="Ada", tone="like a pirate", formality="casual", reword=True)
CLOSING = 'We are done: 3 boxes. Ask "the captain" at sea@ship.example?\n- rum\n- more rum'
SAME = 'Arr, 3 boxes, and we are done! Ask "the captain" at sea@ship.example?\n- rum\n- more rum'


class Ship(Journey):
    """Load a ship."""

    __personality__ = ADA
    __texts__ = {"closing": CLOSING, "apology": "It broke."}

    class LoadPath(Pathway):
        __agents__ = ["sailor"]


class Crew(Journey):
    """Sign on."""

    __personality__ = ADA

    class SignPath(Pathway):
        __fields__ = [
            Field("name", "name", "Who are you?", confirm=True),
            Field("age", "integer", "How old are you?", validators=[Range(18, 70)]),
        ]


def _sailor(request: Any) -> str:
    if request["message"] == "sink":
        raise OSError("a leak")
    return "Loaded."


def _texts(*texts: str) -> dict[str, Any]:
    return {"texts": list(texts)}


async def _ended(talk: Callable[..., Any], url: str, model: Any, **options: Any) -> Any:
    """A talk with the ship that was said all in."""
    chat = await talk(Ship, {"sailor": _sailor}, url, options={"model": model}, **options)
    assert await chat.says("three boxes") == "Loaded."
    return chat


async def test_what_the_runtime_says_is_said_in_the_journeys_tone_for_one_call(
    talk: Callable[..., Any], memory_url: str
) -> None:
    with ScriptedModel(_texts(SAME)) as model:
        chat = await _ended(talk, memory_url, model)
        assert chat.last.metadata["usage"]["model_calls"] == 0  # what an agent says is left alone
        assert await chat.says("is that all?") == SAME
        assert chat.last.metadata["usage"]["model_calls"] == 1
        assert chat.last.metadata["flags"] == []
        call = model.calls[0]
        assert "like a pirate" in call.messages[0]["content"]
        told = json.loads(call.messages[1]["content"])
        assert told == {"user_message": "is that all?", "texts": [CLOSING]}
        assert (await chat.journey.transcript())[-1].content == SAME


async def test_words_that_say_something_else_are_not_said(
    talk: Callable[..., Any], memory_url: str
) -> None:
    told = {
        "figures": SAME.replace("3", "4"),
        "addresses": SAME.replace("sea@ship", "pay@thief"),
        "quotes": SAME.replace("captain", "cook"),
        "lists": SAME.replace("- more rum", "- no more rum"),
        "questions": SAME.replace("?", "."),
        "denial": SAME.replace("we are done", "we are not done"),
        "length": SAME + " Arr!" * 90,
        "silent": " ",
    }
    with ScriptedModel(*(_texts(text) for text in told.values())) as model:
        chat = await _ended(talk, memory_url, model)
        for what in told:
            assert await chat.says("is that all?") == CLOSING
            assert chat.last.metadata["flags"] == [f"rewording_refused:{what}"]


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (Fault.status(400), "rejected"),
        (Fault.hang(), "timeout"),
        (_texts(), "malformed"),
        ({"texts": [3]}, "malformed"),
    ],
    ids=["error", "late", "none", "number"],
)
async def test_without_usable_words_the_text_is_said_as_it_is(
    talk: Callable[..., Any], memory_url: str, answer: Any, kind: str
) -> None:
    with ScriptedModel(answer) as model:
        chat = await _ended(talk, memory_url, model, model_timeout_seconds=0.3)
        assert await chat.says("is that all?") == CLOSING
        assert chat.last.metadata["flags"] == [f"rewording_failed:{kind}"]


async def test_without_a_model_and_in_a_turn_that_failed_nothing_is_worded_anew(
    talk: Callable[..., Any], memory_url: str
) -> None:
    chat = await _ended(talk, memory_url, False)
    assert await chat.says("is that all?") == CLOSING
    with ScriptedModel() as model:
        options = {"options": {"model": model}, "session_id": "s-2"}
        chat = await talk(Ship, {"sailor": _sailor}, memory_url, **options)
        assert await chat.says("sink") == "It broke."


async def test_a_listener_hears_the_words_that_are_kept_and_no_others(
    talk: Callable[..., Any], memory_url: str
) -> None:
    with ScriptedModel(_texts(SAME)) as model:
        chat = await _ended(talk, memory_url, model)
        events = [event async for event in chat.journey.stream_message("is that all?")]
        assert [e.data["text"] for e in events if e.type == "token"] == [SAME]


async def test_new_words_break_no_rule_of_the_journey(
    talk: Callable[..., Any], memory_url: str
) -> None:
    class Strict(Ship):
        __guidelines__ = [
            Guideline(condition="the sea is calm", action="be calm", critical=True, forbids=["arr"])
        ]

    def answer(call: Call) -> Any:
        return _texts(SAME) if call.schema_name == "rewording" else leads_nowhere(call)

    with ScriptedModel(always=answer) as model:
        options = {"options": {"model": model}}
        chat = await talk(Strict, {"sailor": _sailor}, memory_url, **options)
        await chat.says("three boxes")
        assert await chat.says("is that all?") == CLOSING
        assert "rewording_refused:rules" in chat.last.metadata["flags"]


def _without_bob(call: Call) -> dict[str, Any]:
    """Lose a name in the first text, and reword the others."""
    first, *others = json.loads(call.messages[1]["content"])["texts"]
    return _texts(first.replace("Bob", "matey"), *(o.replace("Here", "Look here") for o in others))


async def test_a_form_is_asked_in_the_tone_and_no_value_gets_lost(
    talk: Callable[..., Any], memory_url: str
) -> None:
    ages = "Arr, how old be ye?"
    summary = "{}\n- name: {}\n- age: 30\nIs that right?".format
    with ScriptedModel(_texts(ages), _texts("Arr."), _without_bob) as model:
        chat = await talk(Crew, {}, memory_url, options={"model": model})
        assert await chat.says("My name is Lee") == ages
        assert await chat.says("30") == summary("Here's what I've got:", "Lee")
        changed_to = "Got it, I've changed the name to Bob.\n\n"
        said = await chat.says("no, my name is Bob")
        assert said == changed_to + summary("Look here's what I've got:", "Bob")
        assert chat.last.metadata["flags"] == ["rewording_refused:names"]


async def test_words_of_the_model_that_understood_the_message_cost_no_other_call(
    talk: Callable[..., Any], memory_url: str
) -> None:
    understood = says(fill(name="Lee"), reply="Ahoy Lee! How old are you?", asks="age")
    with ScriptedModel(understood) as model:
        chat = await talk(Crew, {}, memory_url, options={"model": model})
        heard = await chat.says("well, folks on land have always used to call me Lee, I guess")
        assert heard == "Ahoy Lee! How old are you?"
        assert chat.last.metadata["usage"]["model_calls"] == 1


def test_a_meaning_is_kept_only_if_nothing_is_lost_and_nothing_new() -> None:
    for before, after, names, wanted in (
        ("The date is now Sunday, 22 November 2026.", "Sunday, 22 November 2026 it is!", (), ""),
        ("The name is now Lee.", "Got it, Lee!", ("Lee",), ""),
        ("The name is now Lee.", "Got it, Leeroy!", ("Lee",), "names"),
        ("It is 7:00 pm.", "It is 19:00.", (), "figures"),
        ("It costs EUR 40.00.", "That is EUR 40.", (), "figures"),
        ("Call +49 30 1234567.", "Ring +49 30 1234567!", (), ""),
        ("Take your time.", "Take your time, see https://x.example", (), "addresses"),
        ("Which one?\n1. card\n2. cash", "Pick one?\n1. card\n2. cash", (), ""),
        ("Which one?\n1. card\n2. cash", "Pick one?\n2. cash\n1. card", (), ""),
        ("Which one?\n1. card\n2. cash", "Pick one?\n1. card", (), "figures"),
        ("I cannot take that.", "Sure, I can take that.", (), "denial"),
        ("Das kann ich nicht annehmen.", "Das nehme ich gern.", (), "denial"),
        ("Shall I go on?", "I will go on.", (), "questions"),
    ):
        assert changed(before, after, names) == wanted, (before, after)
