"""Graphs that LangGraph programs run themselves; a journey as a node of another graph."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import Any, NoReturn

from langchain_core.runnables import RunnableConfig
from langgraph.graph import StateGraph
from langgraph.graph.state import CompiledStateGraph

from journeygraph.graphs.chat_state import Transcript, plain_messages
from journeygraph.graphs.steps import COMMIT, LEVELS, SAVER, Graph
from journeygraph.journeys import ConfigurationError


class AsyncGraph(CompiledStateGraph[Any, Any, Any, Any]):
    """A compiled graph with async nodes only, and clear errors for blocking calls."""

    def stream(self, *args: Any, **options: Any) -> NoReturn:
        """Refuse to run in a blocking call; LangGraph's `invoke` comes here as well."""
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
    """Compile a graph that runs without a manager.

    Args:
        name: Its name, if the options have none.
        options: LangGraph's own, as of `StateGraph.compile`.
    """
    compiled: Graph = graph.compile(**{"name": name, **options})
    compiled.__class__ = kind  # LangGraph's builder has no place to name a class
    return compiled


_OF_STATE = {"messages", "position", "turn"}
"""Channels that identify the values of a journey's state."""


def check_kept(name: str, checkpointer: Any, config: RunnableConfig) -> None:
    """Refuse to run without a saver within a graph that stores its threads.

    Raises:
        ConfigurationError: It would start again in each turn.
    """
    place = config["configurable"]
    if COMMIT in place:
        if checkpointer is True:
            raise ConfigurationError(
                f"The journey '{name}' runs within a session of another journey, which stores "
                f"only its own position: checkpointer=True has no effect there. Name both in the "
                "__journeys__ of a concierge, or omit it if the journey should start again "
                "each time."
            )
        return
    is_within = LEVELS in place.get("checkpoint_ns", "")
    if is_within and place.get(SAVER) is not None and checkpointer not in (True, False):
        raise ConfigurationError(
            f"The journey '{name}' runs within a graph that has a saver, but would lose its "
            f"position after each turn. Compile it with checkpointer=True to store "
            "it with the thread of that graph, or with checkpointer=False to start again each time."
        )


class JourneyNode(AsyncGraph):
    """The graph of a journey that is stored with the thread of the outer graph.

    It has its own window. The outer graph has the messages too and may have changed them: it gets
    its own messages back, with those of this turn.
    """

    async def astream(self, input: Any, config: Any = None, **options: Any) -> AsyncIterator[Any]:
        """Stream it, as LangGraph does; LangGraph's own `ainvoke` comes here as well."""
        given, ids = _numbered(input)
        async for part in super().astream(given, config, **options):
            yield _handed_back(part, ids)


def _numbered(given: Any) -> tuple[Any, set[str]]:
    if not isinstance(given, Mapping) or "messages" not in given:
        return given, set()
    messages = Transcript(plain_messages(given["messages"]))
    return {**given, "messages": messages}, {message["id"] for message in messages}


def _handed_back(part: Any, ids: set[str]) -> Any:
    """Return a part of a stream, with only the values that the outer graph may have.

    In several modes, or with subgraphs, a part is a tuple whose end is the data; in version 2 of
    LangGraph's streams it is a dict with `data`.
    """
    if isinstance(part, tuple):
        return (*part[:-1], _handed_back(part[-1], ids))
    if not isinstance(part, dict):
        return part
    if part.get("type") == "values" and "data" in part:
        return {**part, "data": _handed_back(part["data"], ids)}
    if not part.keys() >= _OF_STATE:
        return part
    added = part["turn"].get("id", "")
    mine = [m for m in part["messages"] if m.id in ids or (added and m.id.endswith(added))]
    return type(part)({**part, "messages": mine})
