"""A graph as a node that reports its runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from langchain_core.runnables import RunnableConfig

from nodes.telemetry.activity import Activity


def observed(graph: Any, run: Callable[[], Activity]) -> Any:
    """Return a graph as the node of another one, each of its runs open as a piece of work.

    What its own nodes report then stands beneath it: LangGraph copies the context into their tasks.
    It finds the graph in the function all the same, for drawings, streams and states.

    Args:
        graph: The compiled graph.
        run: Makes the piece of work.
    """

    async def node(state: Any, config: RunnableConfig) -> Any:
        with run():
            return await graph.ainvoke(state, config)

    return node
