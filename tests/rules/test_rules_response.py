"""The response of a turn, at once and as a stream (DESIGN.md section 4, row Response object)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from journeygraph import (
    NEVER,
    ConditionTrigger,
    IntentTrigger,
    Journey,
    JourneyEvent,
    JourneyResponse,
    Pathway,
    PathwayExecutionError,
    ReturnToPrevious,
    Transition,
)
from tests.support.clerks import gives, said, staff

APOLOGY = "Sorry, something went wrong on our side. Nothing was lost; please try again."


UNUSED = {"model_calls": 0, "input_tokens": 0, "output_tokens": 0}


class Parcel(Journey):
    """Send a parcel."""

    class WeighPath(Pathway):
        __agents__ = ["scales"]
        __accumulate__ = ["weight"]
        __complete_when__ = ["weight"]
        __next__ = "label"

    class LabelPath(Pathway):
        __agents__ = ["printer", "stamp"]
        __pipeline__ = "parallel"
        __runs_on_arrival__ = True
        __complete_when__ = ["paid"]
        __accumulate__ = ["paid"]
        __next__ = "receipt"

    class ReceiptPath(Pathway):
        __agents__ = ["till"]
        __runs_on_arrival__ = True

    class RatesPath(Pathway):
        __agents__ = ["rates"]
        __return_behavior__ = ReturnToPrevious()

    class DepthPath(Pathway):
        __agents__ = ["deeper"]
        __complete_when__ = NEVER
        __return_behavior__ = ReturnToPrevious(max_depth=1)

    __transitions__ = [
        Transition(said("rates"), to_pathway="rates"),
        Transition(said("deeper"), "weigh", "depth"),
        Transition(said("how deep"), "depth", "rates"),
        Transition(said("weigh again"), to_pathway="weigh"),
    ]


async def sending(talk: Any, url: str, *before: str, **others: Any) -> Any:
    config = others.pop("config", {})
    chat = await talk(Parcel, staff(Parcel, **others), url, **config)
    for words in before:
        await chat.says(words)
    return chat


# --- Response object ----------------------------------------------------------------------------


async def test_a_turn_that_moves_nothing_says_so(talk, memory_url):
    """Response object: every part of it."""
    chat = await sending(talk, memory_url)

    await chat.says("hello")

    assert chat.last == JourneyResponse(
        message="scales: hello",
        pathway_id="weigh",
        pathway_changed=False,
        transition_to=None,
        accumulated_context={},
        is_journey_complete=False,
        metadata={
            "version": 1,
            "pathway_stack": [],
            "returning": False,
            "phase": "collecting",
            "transition_triggered": False,
            "transition_intent": None,
            "tier": None,
            "confidence": None,
            "reasoning": None,
            "ran": ["weigh"],
            "replies": ["scales: hello"],
            "error": None,
            "flags": [],
            "waiting": [],
            "sources": [],
            "asked": None,
            "guidelines": [],
            "checks": [],
            "usage": UNUSED,
            "journey_id": "parcel",
        },
    )


async def test_a_detour_tells_where_the_talk_stands_and_what_is_paused(talk, memory_url):
    """Response object: it is what really happened; the others make a part of theirs up."""
    chat = await sending(talk, memory_url, rates=gives(response="from 5 euros", kept="no"))

    await chat.says("what are your rates?")

    assert chat.last == JourneyResponse(
        message="from 5 euros",
        pathway_id="rates",
        pathway_changed=True,
        transition_to="rates",
        accumulated_context={},
        is_journey_complete=False,
        metadata={
            "version": 1,
            "pathway_stack": ["weigh"],
            "returning": True,
            "phase": "collecting",
            "transition_triggered": True,
            "transition_intent": "rates",
            "tier": "pattern",
            "confidence": 1.0,
            "reasoning": "matched 'rates'",
            "ran": ["rates"],
            "replies": ["from 5 euros"],
            "error": None,
            "flags": [],
            "waiting": [],
            "sources": [],
            "asked": None,
            "guidelines": [],
            "checks": [],
            "usage": UNUSED,
            "journey_id": "parcel",
        },
    )


async def test_a_turn_of_several_pathways_joins_their_replies(talk, memory_url):
    """Response object: message, replies, ran; section 3: joined by a blank line."""
    chat = await sending(talk, memory_url)

    await chat.says("weight=2 paid=yes")

    words = "weight=2 paid=yes"
    replies = [f"scales: {words}", f"printer: {words}\n\nstamp: {words}", f"till: {words}"]
    assert chat.last.metadata["replies"] == replies
    assert chat.last.message == "\n\n".join(replies)
    assert chat.ran == ["weigh", "label", "receipt"]
    assert (chat.last.pathway_id, chat.last.is_journey_complete) == ("receipt", True)
    assert (chat.last.pathway_changed, chat.last.transition_to) == (True, None)


async def test_the_other_names_of_the_documents_say_the_same(talk, memory_url):
    """Response object: properties."""
    chat = await sending(talk, memory_url, "weight=2")
    assert (chat.last.pathway, chat.last.transition_occurred) == ("label", False)
    assert chat.last.accumulated == {"weight": "2"}

    await chat.says("the rates?")
    assert (chat.last.pathway, chat.last.transition_occurred) == ("rates", True)


async def test_a_move_there_and_back_in_one_turn_is_a_move(talk, memory_url):
    """Response object: pathway_changed (any move)."""

    class Bounce(Journey):
        class HomePath(Pathway):
            __agents__ = ["home"]
            __complete_when__ = NEVER
            __runs_on_arrival__ = True

        class TripPath(Pathway):
            __agents__ = ["trip"]
            __complete_when__ = lambda context: True  # noqa: E731
            __next__ = "home"

        __transitions__ = [Transition(said("go"), to_pathway="trip")]

    chat = await talk(Bounce, staff(Bounce), memory_url)
    await chat.says("go")

    assert chat.ran == ["trip", "home"]
    assert (chat.last.pathway_id, chat.last.pathway_changed) == ("home", True)
    assert chat.last.transition_to == "trip"


async def test_a_message_that_a_model_would_have_judged_is_flagged(talk, memory_url):
    """Response object: flags; no model is asked unless one is configured."""

    class Vague(Journey):
        class HallPath(Pathway):
            __agents__ = ["hall"]

        class ExitPath(Pathway):
            __agents__ = ["exit"]

        __transitions__ = [
            Transition(IntentTrigger(["bye"], description="wants to leave"), "hall", "exit")
        ]
        __entry_pathway__ = "hall"

    chat = await talk(Vague, staff(Vague), memory_url)
    await chat.says("see you")
    assert chat.last.metadata["flags"] == ["model_not_configured"]
    await chat.says("bye")
    assert chat.last.metadata["flags"] == []


# --- The stream ---------------------------------------------------------------------------------


async def heard(chat: Any, words: str) -> list[JourneyEvent]:
    """Say something and return all events; the response joins the replies of the talk."""
    events = [event async for event in chat.journey.stream_message(words)]
    chat.replies.append(events[-1].data["response"])
    return events


def text_of(events: list[JourneyEvent]) -> str:
    return "".join(event.data["text"] for event in events if event.type == "token")


async def spelled(payload: dict[str, Any]) -> AsyncIterator[Any]:
    """An agent that thinks while it speaks."""
    for word in payload["message"].split():
        yield f"{word} "
        await asyncio.sleep(0)
    yield {"weight": 3} if "three" in payload["message"] else {}
    yield "."


async def broken(payload: dict[str, Any]) -> str:
    raise ValueError("bent")


async def half(payload: dict[str, Any]) -> AsyncIterator[str]:
    yield "half a "
    raise ValueError("bent")


async def test_the_events_of_a_turn_come_in_the_order_of_what_happens(talk, memory_url):
    """Section 5, stream_message."""
    chat = await sending(talk, memory_url)

    events = await heard(chat, "weigh again: weight=2 paid=yes")

    types = [event.type for event in events]
    assert [type_ for type_ in types if not type_.startswith("agent_")] == [
        *("transition", "pathway", "token", "pathway", "token", "pathway", "token", "done")
    ]
    assert types[1:5] == ["pathway", "agent_started", "agent_finished", "token"]
    assert {**events[0].data} == {"from": "weigh", "to": "weigh", "intent": "weigh again"}
    assert [e.data["pathway"] for e in events if e.type == "pathway"] == [
        *("weigh", "label", "receipt")
    ]
    assert chat.last.message == text_of(events)


@pytest.mark.parametrize(
    ("before", "words"),
    [
        ((), "hello"),
        ((), "the rates?"),
        (("the rates?",), "thanks"),
        ((), "weight=2"),
        ((), "weight=2 paid=yes"),
        (("weight=2 paid=yes",), "anything else?"),
        (("weight=2 paid=yes", "the rates?"), "I see"),
        (("deeper",), "how deep, please?"),
        ((), " "),
        ((), "x" * 20_000),
    ],
)
async def test_the_tokens_of_a_turn_are_its_message(talk, memory_url, before, words):
    """Section 5, stream_message: also for what the runtime says in its own voice."""
    chat = await sending(talk, memory_url, *before)

    events = await heard(chat, words)

    assert text_of(events) == chat.last.message != ""
    assert events[-1].type == "done"


async def test_a_streamed_turn_is_the_same_turn(talk, memory_url):
    """Section 5: stream_message and process_message differ in nothing else."""
    one = await sending(talk, memory_url)
    two = await talk(Parcel, staff(Parcel), memory_url, session_id="s-2")
    for words in ("hello", "the rates?", "weight=2", "deeper", "weigh again", "paid=yes", "hm"):
        await heard(two, words)
        await one.says(words)

    assert one.replies == two.replies
    assert (await one.journey.snapshot()) == (await two.journey.snapshot())


async def test_an_agent_that_speaks_bit_by_bit_is_heard_bit_by_bit(talk, memory_url):
    """Section 5, stream_message; the parts of one reply, parted from the one before."""
    chat = await sending(talk, memory_url, scales=spelled, till=spelled)

    events = await heard(chat, "three kilos paid=yes")

    tokens = [event.data["text"] for event in events if event.type == "token"]
    assert tokens[:4] == ["three ", "kilos ", "paid=yes ", "."]
    assert tokens[5] == "\n\nthree "
    assert "".join(tokens) == chat.last.message
    assert chat.ran == ["weigh", "label", "receipt"]
    assert chat.context["weight"] == 3


async def test_the_first_words_are_heard_before_the_last_are_known(talk, memory_url):
    """Section 5, stream_message: it is live."""
    go_on = asyncio.Event()

    async def slowly(payload: dict[str, Any]) -> AsyncIterator[str]:
        yield "one"
        await go_on.wait()
        yield "two"

    chat = await sending(talk, memory_url, scales=slowly)
    stream = chat.journey.stream_message("hello")
    types = []
    async for event in stream:
        types.append(event.type)
        if event.type == "token":
            go_on.set()

    assert types == [
        *("pathway", "agent_started", "token", "token", "agent_finished", "done"),
    ]


async def test_of_agents_in_sequence_only_what_is_said_in_the_end_is_heard(talk, memory_url):
    """Section 4, Several agents give `response`: the last; so the others are not streamed."""

    class Chain(Journey):
        class TalkPath(Pathway):
            __agents__ = ["first", "second"]

    chat = await talk(Chain, {"first": spelled, "second": spelled}, memory_url)
    events = await heard(chat, "so be it")

    assert text_of(events) == chat.last.message == "so be it ."


async def test_of_agents_in_parallel_each_is_heard_whole_and_in_order(talk, memory_url):
    """Section 4, Several agents give `response`: joined in declared order."""
    chat = await sending(talk, memory_url, "weight=2", printer=spelled, stamp=spelled)

    events = await heard(chat, "print it")

    assert text_of(events) == chat.last.message == "print it .\n\nprint it ."


@pytest.mark.parametrize("agent", [broken, half])
async def test_a_turn_that_failed_ends_with_the_apology_in_its_response(talk, memory_url, agent):
    """Tokens are provisional until `done`; who only listens to them hears the apology as well."""
    chat = await sending(talk, memory_url, scales=agent)

    events = await heard(chat, "hello")

    assert chat.last.message == APOLOGY
    assert text_of(events) == (f"half a \n\n{APOLOGY}" if agent is half else APOLOGY)
    assert events[-1].type == "done"


async def test_under_fail_fast_a_stream_tells_the_error_and_raises_it(talk, memory_url):
    """error_recovery fail_fast, stream_message."""
    chat = await sending(talk, memory_url, scales=broken, config={"error_recovery": "fail_fast"})
    events: list[JourneyEvent] = []

    async def listen() -> None:
        async for event in chat.journey.stream_message("hello"):
            events.append(event)

    with pytest.raises(PathwayExecutionError):
        await listen()

    assert [event.type for event in events] == [
        *("pathway", "agent_started", "agent_failed", "error"),
    ]
    assert events[-1].data["type"] == "PathwayExecutionError"
    assert "bent" in events[-1].data["message"]
    assert len(await chat.journey.versions()) == 1


async def test_a_condition_is_named_in_the_event_of_its_transition(talk, memory_url):
    class Watch(Parcel):
        __transitions__ = [
            Transition(ConditionTrigger(lambda c: c.get("rush"), "is in a hurry"), "weigh", "rates")
        ]

    chat = await talk(Watch, staff(Watch), memory_url, context={"rush": True})

    events = await heard(chat, "hello")

    assert {**events[0].data} == {"from": "weigh", "to": "rates", "intent": "is in a hurry"}


async def test_done_comes_when_the_turn_is_kept(talk, memory_url):
    """Section 3: the response of a stream is that of a committed turn."""
    chat = await sending(talk, memory_url)
    kept = []
    async for event in chat.journey.stream_message("hello"):
        if event.type == "done":
            kept = await chat.journey.versions()

    assert [row.message for row in kept] == [None, "hello"]
