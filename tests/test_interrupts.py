"""An agent that calls LangGraph's `interrupt()`: the run waits, and goes on exactly there."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.types import Command, interrupt

from journeys import NEVER, Effect, Field, Journey, Pathway, Pipeline
from tests.solo import Solo

HELLO: Any = {"messages": [{"role": "user", "content": "hello"}]}
THREAD: Any = {"configurable": {"thread_id": "t-1"}}


def ask(payload: Any) -> str:
    return f"answered {interrupt('sure?')}"


async def ask_later(payload: Any) -> str:
    return f"answered {interrupt('sure?')}"


async def ask_in_a_stream(payload: Any) -> Any:
    yield f"answered {interrupt('sure?')}"


def asking_graph(**options: Any) -> Any:
    graph = StateGraph(MessagesState)
    graph.add_node("step", lambda state: {"messages": [("ai", ask(state))]})
    graph.add_edge(START, "step")
    graph.add_edge("step", END)
    return graph.compile(**options)


def answer(payload: Any) -> str:
    return f"fine: {payload['message']}"


def judge(payload: Any) -> Any:
    return {"response": "judged", "choice": "agent_1", "vote": "agent_1"}


KINDS: dict[str, Any] = {
    "sync": ask,
    "async": ask_later,
    "a stream": ask_in_a_stream,
    "a graph": asking_graph(),
    "a graph with a saver": asking_graph(checkpointer=InMemorySaver()),
    "an object": type("Asker", (), {"run": staticmethod(ask)})(),
}

PATTERNS: dict[str, Any] = {
    "sequential": lambda: Pipeline.sequential([answer, ask]),
    "sequential, first": lambda: Pipeline.sequential([ask, answer]),
    "parallel": lambda: Pipeline.parallel([answer, ask]),
    "one at a time": lambda: Pipeline.parallel([answer, ask], max_workers=1),
    "router": lambda: Pipeline.router([ask, answer], routing_strategy="round-robin"),
    "inner": lambda: Pipeline.sequential([Pipeline.parallel([answer, ask]).to_agent("inner")]),
    "deep": lambda: Pipeline.sequential(
        [Pipeline.sequential([Pipeline.sequential([ask]).to_agent("b")]).to_agent("a")]
    ),
    "with a breaker": lambda: Pipeline.sequential([ask]).with_limits(breaker_failures=1),
    "with retries": lambda: Pipeline.sequential([ask]).with_limits(retries=2, backoff=0.01),
    "with a timeout": lambda: Pipeline.sequential([ask]).with_limits(timeout=30),
    "fail-fast": lambda: Pipeline.sequential([ask]).with_error_handling("fail-fast"),
}


def journey_of(pipeline: Any) -> type[Journey]:
    class Piped(Journey):
        class TalkPath(Pathway):
            __pipeline__ = pipeline
            __complete_when__ = NEVER

    return Piped


# a compiled graph: as LangGraph has it


@pytest.mark.parametrize("kind", KINDS)
async def test_a_compiled_journey_waits_and_goes_on_as_any_graph(kind: str) -> None:
    graph = Solo.compile(agents={"clerk": KINDS[kind]}, checkpointer=InMemorySaver())

    waits = await graph.ainvoke(HELLO, THREAD)
    assert [asked.value for asked in waits["__interrupt__"]] == ["sure?"]

    state = await graph.ainvoke(Command(resume="yes"), THREAD)
    assert state["turn"]["replies"] == ["answered yes"]
    assert state["turn"]["flags"] == []


@pytest.mark.parametrize("pattern", PATTERNS)
async def test_an_agent_of_any_pattern_can_ask(pattern: str) -> None:
    graph = journey_of(PATTERNS[pattern]()).compile(checkpointer=InMemorySaver())

    waits = await graph.ainvoke(HELLO, THREAD)
    assert [asked.value for asked in waits["__interrupt__"]] == ["sure?"]

    state = await graph.ainvoke(Command(resume="yes"), THREAD)
    assert "answered yes" in str(state["turn"]["replies"]) or pattern == "sequential, first"
    assert state["turn"]["flags"] == []


@pytest.mark.parametrize("pattern", PATTERNS)
async def test_a_compiled_pipeline_waits_too(pattern: str) -> None:
    graph = PATTERNS[pattern]().compile(checkpointer=InMemorySaver())

    waits = await graph.ainvoke({"inputs": {"message": "hello"}}, THREAD)
    assert [asked.value for asked in waits["__interrupt__"]] == ["sure?"]

    state = await graph.ainvoke(Command(resume="yes"), THREAD)
    assert state["outputs"]["pipeline"]["status"] == "complete"
    assert "answered yes" in str(state["outputs"])


@pytest.mark.parametrize("pattern", PATTERNS)
async def test_a_pipeline_that_is_run_says_what_it_waits_for(pattern: str) -> None:
    outputs = await PATTERNS[pattern]().run(message="hello")

    assert outputs["pipeline"]["status"] == "waiting"
    (asked,) = outputs["pipeline"]["waiting"]
    assert asked["value"] == "sure?"
    assert asked["agent"].split("/")[-1] in ("ask", "agent_1", "agent_2")
    assert "error" not in outputs

    events = [event async for event in PATTERNS[pattern]().stream(message="hello")]
    assert events[-1]["outputs"]["pipeline"]["status"] == "waiting"
    assert events[-1]["outputs"]["pipeline"]["waiting"][0]["value"] == "sure?"
