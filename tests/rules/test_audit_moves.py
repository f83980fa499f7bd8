"""The audit has a row for every move, every other try of an agent and every call of a tool."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from journeygraph import (
    NEVER,
    Call,
    InputField,
    IntentTrigger,
    Journey,
    ModelAgent,
    OutputField,
    Pathway,
    PathwayExecutionError,
    ReturnToPrevious,
    ReturnToSpecific,
    Signature,
    Tool,
    Transition,
)
from journeygraph.nodes.llm.scripted import ScriptedModel, UseTool
from tests.support.talk import Talk, path_in


class Trip(Journey):
    """Plan a trip."""

    class AskPath(Pathway):
        __agents__ = ["clerk"]
        __accumulate__ = ["town"]
        __complete_when__ = ["town"]
        __next__ = "book"

    class BookPath(Pathway):
        __agents__ = ["booker"]
        __next__ = "thanks"
        __runs_on_arrival__ = True

    class ThanksPath(Pathway):
        __agents__ = ["host"]

    class HelpPath(Pathway):
        __agents__ = ["helper"]
        __return_behavior__ = ReturnToPrevious()

    class RulesPath(Pathway):
        __agents__ = ["helper"]
        __return_behavior__ = ReturnToSpecific("ask")

    __transitions__ = [
        Transition(IntentTrigger(patterns=["help"]), to_pathway="help"),
        Transition(IntentTrigger(patterns=["rules"]), to_pathway="rules"),
    ]


AGENTS = {
    "clerk": lambda ask: {
        "response": "Where to?",
        "town": "Rome" if "Rome" in ask["message"] else None,
    },
    "booker": lambda _: "Booked.",
    "host": lambda _: "Thanks.",
    "helper": lambda _: "Like this.",
}


async def rows(chat: Talk) -> list[tuple[Any, ...]]:
    audit = await chat.journey.audit()
    return [(row.turn, row.kind, row.from_pathway, row.to_pathway) for row in audit]


async def ends(chat: Talk) -> list[tuple[Any, ...]]:
    """The outcomes of agents and tools."""
    audit = await chat.journey.audit()
    kinds = ("retried", "tool_done", "tool_failed", "tool_not_called", "failure")
    return [
        (row.turn, row.kind, row.from_pathway, row.trigger, row.reason)
        for row in audit
        if row.kind in kinds
    ]


async def test_the_way_through_a_journey_is_in_its_audit_row_by_row(talk, memory_url):
    chat = await talk(Trip, AGENTS, memory_url)
    for message in ("help", "to Rome", "bye", "help", "and?"):
        await chat.says(message)

    assert await rows(chat) == [
        (1, "transition", "ask", "help"),
        (1, "detour_entered", "ask", "help"),
        (1, "completed", "help", None),
        (2, "detour_left", "help", "ask"),
        (2, "returned", "help", "ask"),
        (2, "completed", "ask", None),
        (2, "advanced", "ask", "book"),
        (2, "arrived", "ask", "book"),
        (2, "completed", "book", None),
        (2, "advanced", "book", "thanks"),
        (3, "completed", "thanks", None),
        (4, "transition", "thanks", "help"),
        (4, "detour_entered", "thanks", "help"),
        (4, "completed", "help", None),
        (5, "detour_left", "help", "thanks"),
        (5, "returned", "help", "thanks"),
    ]
    places = [row.pathway_id for row in await chat.journey.versions()]
    assert path_in(await chat.journey.audit(), "ask", 6) == places


async def test_a_return_to_a_pathway_that_was_not_paused_is_a_row_too(talk, memory_url):
    chat = await talk(Trip, AGENTS, memory_url)
    for message in ("Rome", "rules"):
        await chat.says(message)
    await chat.says("well")

    last = [row for row in await rows(chat) if row[0] == 3]
    assert (3, "returned", "rules", "ask") in last
    assert [row[1] for row in last].index("returned") < [row[1] for row in last].index("completed")


async def test_a_pathway_that_leads_to_itself_advances_each_time(talk, memory_url):
    class Loop(Journey):
        class AskPath(Pathway):
            __agents__ = ["clerk"]
            __next__ = "ask"

    chat = await talk(Loop, {"clerk": lambda _: "And?"}, memory_url)
    await chat.says("a")
    await chat.says("b")

    moves = [("completed", "ask", None), ("advanced", "ask", "ask")]
    assert await rows(chat) == [(turn, *move) for turn in (1, 2) for move in moves]


async def test_the_end_of_the_journey_says_so(talk, memory_url):
    chat = await talk(Trip, AGENTS, memory_url)
    for message in ("Rome", "bye"):
        await chat.says(message)

    last = (await chat.journey.audit())[-1]
    assert (last.kind, last.from_pathway, last.reason) == (
        "completed",
        "thanks",
        "the journey ends here",
    )


# --- Tries ---------------------------------------------------------------------------------------


def failing(times: int, error: Exception) -> Any:
    left = [error] * times

    def clerk(_: Any) -> dict[str, Any]:
        if left:
            raise left.pop()
        return {"response": "Here.", "town": "Rome"}

    return clerk


QUICK = {"error_recovery": "retry", "retry_backoff_seconds": 0.001, "max_retries": 2}


async def test_each_further_try_of_an_agent_is_a_row(talk, memory_url):
    agents = {**AGENTS, "clerk": failing(2, ValueError("the secret of Ada"))}
    chat = await talk(Trip, agents, memory_url, **QUICK)

    assert await chat.says("hello") == "Here.\n\nBooked."
    await chat.says("bye")

    assert await ends(chat) == [
        (1, "retried", "ask", "clerk", "try 2 of 3, after ValueError"),
        (1, "retried", "ask", "clerk", "try 3 of 3, after ValueError"),
    ]
    kinds = [row[1] for row in await rows(chat) if row[0] == 1]
    assert kinds == [
        "retried",
        "retried",
        "completed",
        "advanced",
        "arrived",
        "completed",
        "advanced",
    ]


async def test_the_tries_of_a_turn_that_fails_in_the_end_are_kept(talk, memory_url):
    agents = {**AGENTS, "booker": failing(9, OSError("no line"))}
    chat = await talk(Trip, agents, memory_url, **QUICK)

    await chat.says("Rome")

    assert [row[:4] for row in await ends(chat)] == [
        (1, "retried", "book", "booker"),
        (1, "retried", "book", "booker"),
        (1, "failure", "ask", "PathwayExecutionError"),
    ]
    assert chat.path == ["ask"]
    # What the turn would have moved was not moved.
    assert {row[1] for row in await rows(chat)} == {"retried", "failure"}


async def test_a_try_that_ran_out_of_time_is_told_by_the_next_one(talk, memory_url):
    class Slow(Trip):
        class AskPath(Trip.AskPath):
            __timeout__ = 0.05

    tries = []

    async def clerk(_: Any) -> str:
        tries.append(1)
        if len(tries) == 1:
            await asyncio.Event().wait()
        return "Here."

    chat = await talk(Slow, {**AGENTS, "clerk": clerk}, memory_url, **QUICK)
    assert await chat.says("hello") == "Here."

    assert await ends(chat) == [(1, "retried", "ask", "clerk", "try 2 of 3, after timeout")]


async def test_agents_at_work_at_once_are_each_told_apart(talk, memory_url):
    class Both(Journey):
        class AskPath(Pathway):
            __agents__ = ["one", "two"]
            __pipeline__ = "parallel"
            __complete_when__ = NEVER

    agents = {"one": failing(1, ValueError("x")), "two": failing(1, OSError("y"))}
    chat = await talk(Both, agents, memory_url, **QUICK)
    await chat.says("hello")

    assert sorted(row[3:] for row in await ends(chat)) == [
        ("one", "try 2 of 3, after ValueError"),
        ("two", "try 2 of 3, after OSError"),
    ]


# --- Tools ---------------------------------------------------------------------------------------


def weather(town: str) -> dict[str, str]:
    """Tell the weather of a town."""
    if town == "Ys":
        raise LookupError("no town of that name")
    return {"sky": "clear"}


class Sky(Journey):
    """Tell the weather."""

    class LookPath(Pathway):
        __agents__ = ["clerk"]
        __calls__ = [Call("weather")]
        __complete_when__ = NEVER


@pytest.mark.parametrize(
    ("town", "row"),
    [
        ({"town": "Rome"}, ("tool_done", "weather", "")),
        ({"town": "Ys"}, ("tool_failed", "weather", "LookupError: no town of that name")),
        ({}, ("tool_not_called", "weather", "not known yet: town")),
    ],
)
async def test_a_call_of_a_pathway_is_a_row_with_its_end(talk, memory_url, town, row):
    chat = await talk(
        Sky,
        {"clerk": lambda _: "So."},
        memory_url,
        context=town,
        options={"tools": {"weather": weather}},
    )
    await chat.says("how is it?")

    kind, tool, reason = row
    assert await ends(chat) == [(1, kind, "look", tool, reason)]


@pytest.mark.parametrize("recovery", ["graceful", "fail_fast"])
async def test_a_tool_that_was_called_in_a_turn_that_failed_is_a_row(talk, memory_url, recovery):
    chat = await talk(
        Sky,
        {"clerk": failing(1, OSError("no"))},
        memory_url,
        context={"town": "Rome"},
        options={"tools": {"weather": weather}},
        error_recovery=recovery,
    )
    if recovery == "graceful":
        await chat.says("how is it?")
    else:
        with pytest.raises(PathwayExecutionError):
            await chat.says("how is it?")
    await chat.says("and now?")

    assert [row[:2] for row in await ends(chat)][:2] == [(1, "tool_done"), (1, "failure")]


class Records(Signature):
    message: str = InputField(description="What the patient wrote")
    response: str = OutputField(description="What to say")


class Desk(Journey):
    class RecordsPath(Pathway):
        __signature__ = Records
        __agents__ = ["clerk"]
        __complete_when__ = NEVER


def erase(word: str) -> str:
    """Erase a word."""
    return "erased"


async def test_calls_of_a_model_are_rows_with_their_ends(talk, memory_url):
    tools = (weather, Tool(erase, confirm=True))
    rome, ys = UseTool("weather", town="Rome"), UseTool("weather", town="Ys")
    wrong, unknown = UseTool("erase", word="it"), UseTool("elsewhere")
    answer = {"response": "So."}
    with ScriptedModel([rome, ys], [wrong, unknown], answer) as model:
        chat = await talk(
            Desk, {"clerk": ModelAgent(tools=tools)}, memory_url, options={"model": model}
        )
        await chat.says("do it")

    assert await ends(chat) == [
        (1, "tool_done", "records", "weather", ""),
        (1, "tool_failed", "records", "weather", "LookupError: no town of that name"),
        (1, "tool_not_called", "records", "erase", "it waits for the user's consent"),
        (
            1,
            "tool_not_called",
            "records",
            "elsewhere",
            "LookupError: there is no such tool; yours are: weather, erase",
        ),
    ]


async def test_a_tool_that_outlives_the_models_time_failed(talk, memory_url):
    async def slow(word: str) -> str:
        """Look a word up."""
        await asyncio.Event().wait()
        return word

    with ScriptedModel(UseTool("slow", word="x")) as model:
        chat = await talk(
            Desk,
            {"clerk": ModelAgent(tools=[slow])},
            memory_url,
            options={"model": model},
            model_timeout_seconds=0.1,
        )
        await chat.says("do it")

    rows = [row[1:] for row in await ends(chat) if row[1] != "failure"]
    assert rows == [("tool_failed", "records", "slow", "it took too long")]
