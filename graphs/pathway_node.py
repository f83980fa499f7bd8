"""A pathway as a node of its journey: it runs the subgraph, or the only agent by itself."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.runtime import Runtime

from graphs.as_node import LEVELS, SAVER
from graphs.checkpoints import commit_of
from graphs.stages import MOST_STEPS
from nodes.state import Update
from nodes.telemetry.activity import Activity

_STREAM = "__pregel_stream"
"""Key of the stream that a graph lends those within it, where somebody wants to see them."""

Alone = Callable[[Any, Runtime[Any], RunnableConfig], Awaitable[Update]]
"""Runs the only agent of a pathway without a run of the subgraph."""


def pathway_node(
    graph: Any, run: Callable[[], Activity], alone: Alone | None, *, managed: bool
) -> Any:
    """Return the node of a pathway, each of its runs open as a piece of work.

    What its own nodes report then stands beneath it: LangGraph copies the context into their tasks.
    It finds the graph in the function all the same, for drawings, streams and states.

    Args:
        graph: The compiled subgraph.
        run: Makes the piece of work.
        alone: Runs the agent without the subgraph; None where the pathway needs it.
        managed: Whether the journey serves sessions, so that only callbacks see what happens in it.
    """

    async def node(state: Any, runtime: Runtime[Any], config: RunnableConfig) -> Any:
        with run():
            if alone is not None and runs_in_place(runtime, config, managed=managed):
                return {"results": [], "progress": {}, **await alone(state, runtime, config)}
            return await graph.ainvoke(state, config)

    return node


def runs_in_place(runtime: Runtime[Any], config: RunnableConfig, *, managed: bool) -> bool:
    """Say whether nobody would see the run of a subgraph, so that it can be left out.

    A turn that goes on with a run that waited goes on in the form in which it stopped, for the ids
    of what is asked, and the checkpoints of an agent that is a graph, depend on that.

    Args:
        runtime: The run of the node.
        config: Its configuration; three keys of it are LangGraph's own.
        managed: Whether the journey serves sessions: their streams are read by the session alone,
            and their savers keep nothing of a subgraph but where it waits.
    """
    place = config["configurable"]
    if managed and (commit := commit_of(config)):
        task = runtime.execution_info.task_id if runtime.execution_info else ""
        if commit.goes_on is not None:
            in_place = task in commit.goes_on.in_place
        else:
            in_place = not _is_traced(config)
        if in_place:
            commit.left.in_place.add(task)
        return in_place
    return not (
        managed
        or _is_traced(config)
        or _STREAM in place
        or place.get(SAVER) is not None
        or LEVELS in place.get("checkpoint_ns", LEVELS)
        or _passes_on(runtime.stream_writer)
    )


def _is_traced(config: RunnableConfig) -> bool:
    """Say whether callbacks would see the run, or whether it brings the agent a higher limit."""
    callbacks: Any = config.get("callbacks")
    handlers = getattr(callbacks, "handlers", callbacks)
    return bool(handlers) or config.get("recursion_limit", MOST_STEPS) < MOST_STEPS


def _passes_on(writer: Any) -> bool:
    """Say whether what an agent writes to a stream would be seen: LangGraph's idle writer is empty.

    Without subgraphs, nothing that is written in one is shown.
    """
    return getattr(writer, "__closure__", writer) is not None
