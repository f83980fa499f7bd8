"""Interfaces to other code: agents, streams, savers, types, other applications."""

from __future__ import annotations

import asyncio
import enum
import sqlite3
from collections import OrderedDict
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.config import get_stream_writer

from journeygraph import (
    NEVER,
    BaseTrigger,
    ConditionTrigger,
    InputField,
    Journey,
    JourneyConfig,
    OutputField,
    Pathway,
    Signature,
    Transition,
)
from tests.support.clerks import said


class Desk(Journey):
    """One clerk who never finishes."""

    class DeskPath(Pathway):
        __agents__ = ["clerk"]
        __complete_when__ = NEVER


def echo(payload: dict[str, Any]) -> str:
    if "boom" in payload["message"]:
        raise ValueError("kaput")
    return f"heard {payload['message']}"


def says(text: str) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": text}]}


# The compiled graph on its own, as in Studio.


async def test_a_failed_turn_of_the_compiled_graph_does_not_spoil_the_next() -> None:
    graph = Desk.compile(agents={"clerk": echo}, checkpointer=InMemorySaver())
    thread: Any = {"configurable": {"thread_id": "t"}}

    await graph.ainvoke(says("one"), thread)
    with pytest.raises(Exception, match="kaput"):
        await graph.ainvoke(says("boom"), thread)
    state = await graph.ainvoke(says("two"), thread)

    assert state["messages"][-1].content == "heard two"


async def test_the_compiled_graph_answers_nothing_that_nobody_said() -> None:
    heard: list[str] = []

    def clerk(payload: dict[str, Any]) -> str:
        heard.append(payload["message"])
        return "noted"

    graph = Desk.compile(agents={"clerk": clerk}, checkpointer=InMemorySaver())
    thread: Any = {"configurable": {"thread_id": "t"}}

    await graph.ainvoke(says("one"), thread)
    await graph.ainvoke({"messages": []}, thread)

    assert heard == ["one"]


async def test_pruning_at_the_first_message_of_the_compiled_graph() -> None:
    class Full(Journey):
        class DeskPath(Pathway):
            __agents__ = ["clerk"]
            __accumulate__ = ["log"]

        __transitions__ = [
            Transition(said("note"), to_pathway="desk", context_update={"log": "append:item"})
        ]

    config = JourneyConfig(max_context_size_bytes=400, prunable=["log"])
    graph = Full.compile({"clerk": echo}, config)

    state = await graph.ainvoke({**says("note"), "context": {"log": ["x" * 50] * 7, "item": "y"}})

    assert state["turn"]["audit"][-1]["kind"] == "pruned"
    assert state["context"]["log"][-1] == "y"


# LangGraph's own stream belongs to agents as well.


@pytest.mark.parametrize("written", ["10%", {"progress": 1}, {"type": "done", "response": "fake"}])
async def test_what_an_agent_writes_to_the_stream_is_not_taken_for_ours(
    talk: Any, memory_url: str, written: Any
) -> None:
    async def clerk(payload: dict[str, Any]) -> str:
        get_stream_writer()(written)
        return "hello"

    chat = await talk(Desk, {"clerk": clerk}, memory_url)

    events = [event async for event in chat.journey.stream_message("hi")]

    assert [event.type for event in events] == [
        *("pathway", "agent_started", "agent_finished", "token", "done"),
    ]
    assert events[-1].data["response"].message == "hello"


async def test_what_is_tried_again_is_heard_once(talk: Any, memory_url: str) -> None:
    tries: list[int] = []

    async def clerk(payload: dict[str, Any]) -> Any:
        tries.append(1)
        yield "Hel"
        if len(tries) < 3:
            raise OSError("again")
        yield "lo"

    chat = await talk(
        Desk, {"clerk": clerk}, memory_url, error_recovery="retry", retry_backoff_seconds=0
    )

    events = [event async for event in chat.journey.stream_message("hi")]

    assert "".join(event.data["text"] for event in events if event.type == "token") == "Hello"


async def test_streamed_text_is_as_clean_as_the_reply(talk: Any, memory_url: str) -> None:
    async def clerk(payload: dict[str, Any]) -> Any:
        yield "half \ud83d"
        yield " nul \x00"

    chat = await talk(Desk, {"clerk": clerk}, memory_url)

    events = [event async for event in chat.journey.stream_message("hi")]

    told = "".join(event.data["text"] for event in events if event.type == "token")
    assert told == events[-1].data["response"].message == "half � nul �"


# What errors say, and what types make of values.


async def test_half_characters_in_an_error_fail_no_more_than_the_error(
    talk: Any, store_url: str
) -> None:
    class Odd(Desk):
        __transitions__ = [
            Transition(ConditionTrigger(lambda context: broken()), to_pathway="desk"),
        ]

    def broken() -> Any:
        raise OSError("caf\udce9 " + "x" * 9_000)

    chat = await talk(Odd, {"clerk": lambda payload: broken()}, store_url)
    await chat.says("hello")

    assert chat.last.metadata["error"]["message"].startswith("Pathway 'desk', agent 'clerk': OSErr")
    assert "�" in chat.last.metadata["error"]["message"]
    assert all(len(entry.reason) < 700 for entry in await chat.journey.audit())


async def test_a_callback_that_raises_half_characters_raises_nothing(
    talk: Any, memory_url: str
) -> None:
    class Short(Journey):
        class OnlyPath(Pathway):
            __agents__ = ["clerk"]

    def on_end(response: Any) -> None:
        raise OSError("caf\udce9")

    chat = await talk(Short, {"clerk": echo}, memory_url, options={"on_end": on_end})

    assert await chat.says("hello") == "heard hello"
    assert await chat.audited() == ["completed", "callback_failed"]


class Measured(Signature):
    said: str = InputField(description="what was said")
    response: str = OutputField(description="the reply")
    count: int = OutputField(description="a whole number")
    share: float = OutputField(description="a number")


class Count(Journey):
    class CountPath(Pathway):
        __signature__ = Measured
        __agents__ = ["clerk"]
        __accumulate__ = ["count", "share"]
        __complete_when__ = NEVER


@pytest.mark.parametrize("given", [{"count": "9" * 30}, {"share": "nan"}, {"count": "x"}])
async def test_a_value_that_its_type_makes_no_json_of_fails_the_turn(
    talk: Any, memory_url: str, given: dict[str, Any]
) -> None:
    chat = await talk(Count, {"clerk": lambda payload: {"response": "ok", **given}}, memory_url)
    await chat.says("hello")

    assert chat.last.metadata["flags"] == ["failed", "journey_bypassed"]
    assert "agent 'clerk'" in chat.last.metadata["error"]["message"]
    assert chat.context == {}


async def test_retry_tries_again_what_has_the_wrong_type(talk: Any, memory_url: str) -> None:
    answers = iter(["x", 3])

    def clerk(payload: dict[str, Any]) -> dict[str, Any]:
        return {"response": "counted", "count": next(answers)}

    chat = await talk(
        Count, {"clerk": clerk}, memory_url, error_recovery="retry", retry_backoff_seconds=0
    )

    assert await chat.says("hello") == "counted"
    assert chat.context == {"count": 3}


async def test_an_enum_is_its_value(talk: Any, memory_url: str) -> None:
    class Colour(str, enum.Enum):  # noqa: UP042
        RED = "red"

    class Paint(Journey):
        class OnlyPath(Pathway):
            __agents__ = ["clerk"]
            __accumulate__ = ["colour"]

    agents = {"clerk": lambda payload: {"response": Colour.RED, "colour": Colour.RED}}
    chat = await talk(Paint, agents, memory_url)

    assert await chat.says("hello") == "red"
    assert chat.context == {"colour": "red"}


@pytest.mark.parametrize("saver", [None, InMemorySaver()], ids=["no saver", "a stock saver"])
async def test_a_compiled_graph_keeps_the_objects_of_its_program_and_shows_agents_plain_json(
    saver: Any,
) -> None:
    class Colour(enum.Enum):
        RED = "red"

    given = {
        "colour": Colour.RED,
        "day": date(2030, 1, 2),
        "ordered": OrderedDict(b=1, a=2),
    }
    seen: list[Any] = []

    async def clerk(payload: Any) -> str:
        seen.append(payload["context"])
        return "done"

    graph = Desk.compile(agents={"clerk": clerk}, checkpointer=saver)
    thread: Any = {"configurable": {"thread_id": "t-1"}}
    message = {"role": "user", "content": "hello"}

    state = await graph.ainvoke({"messages": [message], "context": given}, thread)

    assert state["messages"][-1].content == "done"
    assert state["context"] == given
    assert [type(value) for value in state["context"].values()] == [Colour, date, OrderedDict]
    assert seen == [{"colour": "red", "day": "2030-01-02", "ordered": {"b": 1, "a": 2}}]
    assert type(seen[0]["ordered"]) is dict


async def test_a_trigger_that_hangs_is_false_and_says_so(talk: Any, memory_url: str) -> None:
    class Slow(BaseTrigger):
        async def evaluate(self, message: str, context: Any) -> bool:
            await asyncio.sleep(60)
            return True

    class Hangs(Desk):
        __transitions__ = [Transition(Slow(), to_pathway="desk")]

    chat = await talk(Hangs, {"clerk": echo}, memory_url, pathway_timeout_seconds=0.1)

    assert await chat.says("hello") == "heard hello"
    assert await chat.audited() == ["condition_raised"]


# The store, and what it keeps.


async def test_another_application_may_have_migrations_of_its_own(tmp_path: Path) -> None:
    file = tmp_path / "other.db"
    with sqlite3.connect(file) as other:
        other.execute("CREATE TABLE alembic_version (version_num TEXT)")
        other.execute("INSERT INTO alembic_version VALUES ('4711')")

    config = JourneyConfig(persistence=f"sqlite:///{file}")
    async with Desk("s-1", config, agents={"clerk": echo}) as journey:
        assert (await journey.start()).version == 0


async def test_one_file_has_one_store_however_it_is_called(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    straight = JourneyConfig(persistence=f"sqlite:///{tmp_path}/a.db")
    around = JourneyConfig(persistence=f"sqlite:///{tmp_path}/sub/../a.db")
    first = Desk("s-1", straight, agents={"clerk": echo})
    await first.start()
    second = await Desk.restore("s-1", around, agents={"clerk": echo})

    replies = await asyncio.gather(*(j.process_message("hi") for j in (first, second) * 3))

    assert sorted(reply.metadata["version"] for reply in replies) == [1, 2, 3, 4, 5, 6]
    await first.close()
    await second.close()
