"""Costs of a turn: against plain LangGraph, and with a transition against without."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from itertools import cycle
from pathlib import Path
from typing import Any
from uuid import uuid4

from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph import END, START, StateGraph

from journeygraph.nodes.state.messages import WINDOW
from tests.benchmarks.by_hand import State, WithMessages, by_hand
from tests.benchmarks.material import (
    AGENTS,
    CONTEXT,
    Referral,
    SecretReferral,
    answer,
    desk,
    question,
    questions,
    records,
    session,
    small_values,
)
from tests.benchmarks.measure import (
    Action,
    Figure,
    Pairs,
    Steps,
    alternate,
    duration,
    scratch,
)

ROUNDS = 400
_BY_HAND = "the same flow written by hand in LangGraph"
_WITH_MESSAGES = "the same by hand, with LangChain messages"


async def turns(steps: Steps) -> list[Figure]:
    """One turn with one function agent, without a saver and on SQLite; with a transition."""
    with scratch() as folder:
        return [
            await _without_saver(steps, State, _BY_HAND),
            await _without_saver(steps, WithMessages, _WITH_MESSAGES),
            await _with_messages(steps, folder),
            await _in_memory(steps),
            await _on_sqlite(steps, folder),
            await _large(steps, folder),
            await _small_values(steps),
            await encrypted(steps, f"sqlite:///{folder / 'encrypted'}.db", "SQLite"),
            await _moving(steps, folder, "transition", "invoice", "book a visit"),
            await _moving(steps, folder, "detour", "copay", "parking"),
        ]


async def _without_saver(steps: Steps, state: Any, against: str) -> Figure:
    dice = random.Random(1)
    said = [("user", question(dice)), ("assistant", answer(dice))]
    window = [{"role": role, "content": text} for _ in range(20) for role, text in said]
    given = {"messages": [*window, {"role": "user", "content": question(dice)}], "context": CONTEXT}
    ours, theirs = Referral.compile(agents=AGENTS), by_hand(desk, state=state)
    pairs = await alternate(
        lambda: ours.ainvoke(given), lambda: theirs.ainvoke(given), steps("no saver", ROUNDS)
    )
    return pairs.figure("turn, one function agent, no saver", against, 1.1, duration)


async def _with_messages(steps: Steps, folder: Path) -> Figure:
    """Return what a compiled journey costs that keeps its thread itself, with a full window."""
    async with (
        AsyncSqliteSaver.from_conn_string(f"{folder}/compiled.ours.db") as ours,
        AsyncSqliteSaver.from_conn_string(f"{folder}/compiled.by_hand.db") as theirs,
    ):
        graphs = (
            Referral.compile(agents=AGENTS, checkpointer=ours),
            by_hand(desk, theirs, WithMessages),
        )
        journey, other = (talking(_thread_of(graph)) for graph in graphs)
        for _ in range(WINDOW // 2):
            await journey()
            await other()
        pairs = await alternate(journey, other, steps("compiled graph, SQLite", ROUNDS))
    return pairs.figure("turn of a compiled graph, SQLite", _WITH_MESSAGES, 1.25, duration)


def _thread_of(graph: Any) -> Callable[[str], Any]:
    """Return what says something in one thread of a graph."""
    thread = {"configurable": {"thread_id": "bench"}}
    return lambda text: graph.ainvoke({"messages": text}, thread, durability="exit")


async def _in_memory(steps: Steps) -> Figure:
    pairs = await _both(by_hand(desk, InMemorySaver()), CONTEXT, steps("memory", ROUNDS))
    return pairs.figure("turn, one function agent, memory", _BY_HAND, 1.1, duration)


async def _on_sqlite(steps: Steps, folder: Path) -> Figure:
    pairs = await _both_on_sqlite(folder / "small", CONTEXT, steps("SQLite", ROUNDS))
    return pairs.figure("turn, one function agent, SQLite", _BY_HAND, 0.95, duration)


async def _large(steps: Steps, folder: Path) -> Figure:
    rounds = steps("SQLite, large context", ROUNDS // 8)
    pairs = await _both_on_sqlite(folder / "large", {**CONTEXT, "kept": records()}, rounds)
    return pairs.shown("the same with a context of 1 MB", _BY_HAND, duration)


async def _small_values(steps: Steps) -> Figure:
    """Return what many small values cost in each turn, against a node that does nothing else."""

    async def node(state: Any) -> dict[str, Any]:
        given = await desk({"message": state["messages"][-1]["content"]})
        reply = {"role": "assistant", "content": given["response"]}
        return {"messages": [reply], "context": {"topic": given["topic"]}}

    graph = StateGraph(State)
    graph.add_node("node", node)
    graph.add_edge(START, "node")
    graph.add_edge("node", END)
    rounds = steps("many small values", ROUNDS // 8)
    plain = graph.compile(checkpointer=InMemorySaver())
    pairs = await _both(plain, {**CONTEXT, "kept": small_values()}, rounds)
    what = "turn with 900 kB of small values, memory"
    return pairs.figure(what, "a node of LangGraph with the same state", 2.0, duration)


async def _both_on_sqlite(place: Path, context: dict[str, Any], rounds: Iterable[int]) -> Pairs:
    async with AsyncSqliteSaver.from_conn_string(f"{place}.by_hand.db") as saver:
        return await _both(by_hand(desk, saver), context, rounds, f"sqlite:///{place}.ours.db")


async def _both(graph: Any, context: dict[str, Any], rounds: Iterable[int], url: str = "") -> Pairs:
    """Talk in a session, by default in memory, and in a thread of a graph."""
    journey = await session(url or f"memory://{uuid4()}", context=context)
    thread: Any = {"configurable": {"thread_id": "bench"}}

    async def take(message: str, **more: Any) -> str:
        said = {"messages": [{"role": "user", "content": message}], **more}
        values = await graph.ainvoke(said, thread, durability="exit")
        reply: str = values["messages"][-1]["content"]
        return reply

    await take("hello", context=context)
    pairs = await alternate(talking(journey.process_message), talking(take), rounds)
    await journey.close()
    return pairs


async def encrypted(steps: Steps, url: str, store: str) -> Figure:
    """Two sessions of one store: one is of a sensitive journey."""
    secret, plain = await session(url, "secret", kind=SecretReferral), await session(url, "plain")
    pairs = await alternate(
        talking(secret.process_message),
        talking(plain.process_message),
        steps(f"encrypted, {store}", ROUNDS),
    )
    await secret.close()
    await plain.close()
    return pairs.figure(f"encrypted turn, {store}", "plain turn", 1.2, duration)


def talking(take: Callable[[str], Any]) -> Action:
    """Say something else in each turn."""
    said = questions(2)
    return lambda: take(next(said))


async def _moving(steps: Steps, folder: Path, kind: str, *patterns: str) -> Figure:
    """Two sessions of one store: one moves, and stays in a turn that is not measured."""
    url, said, asked = f"sqlite:///{folder / kind}.db", questions(3), cycle(patterns)
    restless, settled = await session(url, "restless"), await session(url, "settled")

    async def move() -> None:
        reply = await restless.process_message(f"{next(said)} {next(asked)}")
        assert reply.transition_occurred

    stay, come_back = talking(settled.process_message), talking(restless.process_message)
    pairs = await alternate(move, stay, steps(kind, ROUNDS // 2), after=come_back)
    await restless.close()
    await settled.close()
    return pairs.figure(f"turn with a {kind}, SQLite", "turn without", 1.5, duration)
