"""However an agent fails, the turn has a stated outcome, and the session stays usable."""

from __future__ import annotations

import asyncio
import concurrent.futures
from typing import Any

import pytest
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import Command

from journeygraph import PathwayExecutionError, PathwayNotFoundError
from tests.support.solo import APOLOGY, Payload, function, reason


class Panic(BaseException):
    """As native extensions raise it."""


class Unspeakable(Exception):
    def __str__(self) -> str:
        raise RuntimeError("not even a text")


ODD: dict[str, tuple[BaseException, str]] = {
    "no text": (KeyError(), "KeyError"),
    "empty text": (KeyError(""), "KeyError: ''"),
    "a group": (ExceptionGroup("both", [ValueError("x")]), "ExceptionGroup: both"),
    "a timeout of its own": (TimeoutError(), "TimeoutError"),
    "too deep": (RecursionError("deep"), "RecursionError: deep"),
    "out of memory": (MemoryError(), "MemoryError"),
    "the end of an iterator": (StopIteration("x"), "StopIteration"),
    "the end of an async iterator": (StopAsyncIteration(), "StopAsyncIteration"),
    "no Exception at all": (Panic("native"), "Panic: native"),
    "cancelled itself": (asyncio.CancelledError(), "ancel"),
    "no words": (Unspeakable(), "Unspeakable"),
    "an error of ours": (PathwayExecutionError("x", "y", "inner"), "inner"),
    "an error of a definition": (PathwayNotFoundError("x", ["y"]), "PathwayNotFoundError"),
    "half of a character": (
        UnicodeEncodeError("utf-8", "\ud800", 0, 1, "surrogates"),
        "surrogates",
    ),
    "a cancelled future": (concurrent.futures.CancelledError(), "CancelledError"),
    "a failed assertion": (AssertionError(), "AssertionError"),
    "an end of the process": (SystemExit(3), "it called sys.exit(3)"),
}


def raising(error: BaseException, *, later: bool) -> Any:
    def now(payload: Payload) -> str:
        raise error

    async def then(payload: Payload) -> str:
        raise error

    return then if later else now


@pytest.mark.parametrize("later", [False, True], ids=["sync", "async"])
@pytest.mark.parametrize("what", ODD)
async def test_whatever_an_agent_raises_fails_the_turn_and_nothing_else(
    what: str, later: bool, solo: Any
) -> None:
    error, said = ODD[what]
    chat = await solo(raising(error, later=later), context={"mood": "before"})
    await chat.says("hello")

    assert chat.last.message == APOLOGY
    assert said in reason(chat)
    assert "Pathway '" in reason(chat)
    assert chat.last.metadata["flags"] == ["failed", "journey_bypassed"]
    assert chat.context == {"mood": "before"}

    chat.journey.register_agent("clerk", function)
    assert await chat.says("hello") == "heard hello"


@pytest.mark.parametrize("what", ["no Exception at all", "cancelled itself", "no text"])
async def test_under_fail_fast_it_is_raised_as_one_of_our_errors(what: str, solo: Any) -> None:
    chat = await solo(raising(ODD[what][0], later=True), error_recovery="fail_fast")

    with pytest.raises(PathwayExecutionError, match="'clerk'"):
        await chat.says("hello")
    assert len(await chat.journey.versions()) == 1


async def test_an_agent_graph_cannot_steer_ours(solo: Any) -> None:
    def jump(state: Any) -> Command[Any]:
        return Command(goto="settle", graph=Command.PARENT, update={"context": {"mood": "bad"}})

    graph = StateGraph(MessagesState)
    graph.add_node("jump", jump)
    graph.add_edge(START, "jump")
    chat = await solo(graph.compile())
    await chat.says("hello")

    assert "ParentCommand" in reason(chat)
    assert chat.context == {}


async def test_a_sync_agent_cannot_interrupt_the_process(solo: Any) -> None:
    chat = await solo(raising(KeyboardInterrupt(), later=False))

    assert await chat.says("hello") == APOLOGY
