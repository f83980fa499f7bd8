"""A journey whose parts call `sys.exit()`, each when the message asks for it."""

from __future__ import annotations

import asyncio
import sys
from contextvars import Context
from typing import Any

from langgraph.graph import END, START, MessagesState, StateGraph

from journeygraph import (
    NEVER,
    BaseTrigger,
    Call,
    Check,
    ConditionTrigger,
    Effect,
    Field,
    Guideline,
    IntentTrigger,
    Journey,
    Pathway,
    Pipeline,
    Transition,
)


async def leave(*_: Any) -> Any:
    """End the process, as a script would."""
    await asyncio.sleep(0)
    sys.exit(3)


def leave_now(*_: Any) -> Any:
    """End the process at once."""
    sys.exit("enough")


async def _in_wait_for() -> Any:
    return await asyncio.wait_for(leave(), 30)


async def _in_gather() -> Any:
    return await asyncio.gather(leave(), asyncio.sleep(0))


async def _in_group() -> None:
    async with asyncio.TaskGroup() as group:
        group.create_task(leave())


async def _in_own_context() -> None:
    await asyncio.get_running_loop().create_task(leave(), context=Context())


def _graph(step: Any) -> Any:
    graph = StateGraph(MessagesState)
    graph.add_node("step", step)
    graph.add_edge(START, "step")
    graph.add_edge("step", END)
    return graph.compile()


WAYS = {
    "directly": leave,
    "wait_for": _in_wait_for,
    "gather": _in_gather,
    "context": _in_own_context,
    "group": _in_group,
    "async graph": lambda: _graph(leave).ainvoke({"messages": []}),
    "sync graph": lambda: _graph(leave_now).ainvoke({"messages": []}),
}


async def worker(ask: dict[str, Any]) -> str:
    """Leave in the way that the message names."""
    for name, way in WAYS.items():
        if name in ask["message"]:
            await way()
    return "Still here."


async def writer(ask: dict[str, Any]) -> Any:
    """Say something, and leave."""
    yield "One moment. "
    sys.exit()


async def charge(idempotency_key: str) -> dict[str, Any]:
    """Charge nothing."""
    sys.exit(4)


async def look_up() -> str:
    """Look nothing up."""
    sys.exit(5)


class Own(BaseTrigger):
    """Leave when it is asked to."""

    async def evaluate(self, message: str, context: Any) -> bool:
        """Leave, or say no."""
        return await leave() if "own trigger" in message else False


def _asks(pattern: str) -> IntentTrigger:
    return IntentTrigger([pattern], description=pattern)


class Exits(Journey):
    """Leave, wherever it is asked for."""

    class DeskPath(Pathway):
        __agents__ = ["worker"]
        __complete_when__ = NEVER

    class WritePath(Pathway):
        __agents__ = ["writer"]
        __complete_when__ = NEVER

    class RunPath(Pathway):
        __agents__ = ["graph"]
        __complete_when__ = NEVER

    class TogetherPath(Pathway):
        __pipeline__ = Pipeline.parallel(["worker", "graph"])
        __complete_when__ = NEVER

    class LookPath(Pathway):
        __agents__ = ["worker"]
        __calls__ = [Call("look_up", save="found")]
        __complete_when__ = NEVER

    class PayPath(Pathway):
        __fields__ = [Field("sum", "integer", "How much?", validators=[Check(leave)])]
        __effects__ = [Effect("charge")]

    class BuyPath(Pathway):
        __fields__ = [Field("count", "integer", "How many?")]
        __effects__ = [Effect("charge")]

    class JudgePath(Pathway):
        __agents__ = ["worker"]
        __complete_when__ = leave_now

    __guidelines__ = [
        Guideline(
            id="judge",
            action="Be kind.",
            when=lambda message, context: leave() if "matcher" in message else False,
        )
    ]
    __transitions__ = [
        Transition(
            ConditionTrigger(lambda context: leave_now() if context else False), to_pathway="pay"
        ),
        Transition(Own(), to_pathway="pay"),
        *(
            Transition(_asks(f"go to {place}"), to_pathway=place)
            for place in ("write", "run", "together", "look", "pay", "buy", "judge")
        ),
    ]


AGENTS = {"worker": worker, "writer": writer, "graph": _graph(leave)}
TOOLS = {"charge": charge, "look_up": look_up}
