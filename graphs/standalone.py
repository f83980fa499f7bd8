"""Graphs that LangGraph programs run themselves, compiled with LangGraph's own options."""

from __future__ import annotations

from typing import Any, NoReturn

from langgraph.graph import StateGraph
from langgraph.graph.state import CompiledStateGraph

from graphs.stages import Graph
from journeys import ConfigurationError


class AsyncGraph(CompiledStateGraph[Any, Any, Any, Any]):
    """A compiled graph whose nodes are async only, and which says so."""

    def stream(self, *args: Any, **options: Any) -> NoReturn:
        """Refuse to run in a blocking call; LangGraph's `invoke` comes here as well.

        Raises:
            ConfigurationError: Always.
        """
        raise ConfigurationError(
            f"The graph '{self.name}' is async: write `await graph.ainvoke(...)`, or "
            "`async for part in graph.astream(...)`. In a script, `asyncio.run(...)` runs either."
        )


def compiled_with(
    graph: StateGraph[Any, Any, Any, Any],
    name: str,
    options: dict[str, Any],
    kind: type[AsyncGraph] = AsyncGraph,
) -> Graph:
    """Compile a graph that is run without a manager.

    Args:
        graph: The graph.
        name: Its name, unless the options bring another one.
        options: LangGraph's own, as of `StateGraph.compile`.
        kind: What it is to be.
    """
    compiled: Graph = graph.compile(**{"name": name, **options})
    compiled.__class__ = kind  # LangGraph's builder has no place to name a class
    return compiled
