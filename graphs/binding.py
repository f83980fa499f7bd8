"""Steps and agents as nodes: their services come from the configuration of the run.

LangGraph's own `context` is the caller's, whose agents read it by `get_runtime()`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.runtime import Runtime

from graphs.chat import shown
from graphs.reply_stream import showing_here
from nodes.authored import contained
from nodes.services import Services, brought_locale
from nodes.settle import reply_id
from nodes.state import Update

EVENT = "__journey_event"
"""Marks our events on LangGraph's custom stream, which agents write to as well."""

SERVICES = "__journey_services"
"""Key of the services in `configurable`; the two underscores keep it out of the metadata."""

REPLY = "reply"
"""Key under which a compiled pipeline notes the id of its reply."""

_ADDED_TO = ("context", "fields", "messages")
"""Keys that a step adds to. Nothing added is no change, and a store keeps what is not changed."""

Step = Callable[[Any, Services], Awaitable[Update]]


def event_in(mode: str, data: Any) -> Mapping[str, Any] | None:
    """Return our event in a part of a stream; None if it is none of ours."""
    ours = mode == "custom" and isinstance(data, dict) and EVENT in data
    return data[EVENT] if ours else None


def bind(step: Step, default: Services | None = None) -> Any:
    """Return a step as a node.

    Args:
        step: The step.
        default: Services of a graph that brings its own, whatever graph it stands in.
    """

    async def node(state: Any, runtime: Runtime[Any], config: RunnableConfig) -> Update:
        showing = showing_here(shows=default is not None)
        pieces: list[str] = []
        say = None if default is None or showing is None else pieces.append
        services = services_in(runtime, config, state, default, say)
        if turn := state.get("turn"):
            services.running.pathway = turn["run"] or ""
        with contained():
            if showing is None:
                update = await step(state, services)
            else:
                async with showing as show:
                    update = await step(state, services)
                    for text in pieces:  # the step may be the one that opens the turn
                        show(reply_in({**state, **update}), text)
        changes = {key: value for key, value in update.items() if value or key not in _ADDED_TO}
        return changes if default is None else shown(changes)

    return opaque(node)


def opaque(node: Any) -> Any:
    """Return a node in which LangGraph looks for no subgraph; that costs it half of a compilation.

    Args:
        node: An async function that refers to no graph.
    """
    return partial(node)


def services_in(
    runtime: Runtime[Any],
    config: RunnableConfig,
    state: Any,
    default: Services | None,
    say: Callable[[str], None] | None = None,
) -> Services:
    """Return the services of a run, which tell what happens on its stream.

    Args:
        runtime: The run.
        config: Its configuration.
        state: Its state, which has the locale that the session brought.
        default: Services of a graph that brings its own.
        say: Takes the pieces of the reply as well.
    """
    services = default if default is not None else config["configurable"].get(SERVICES)
    assert isinstance(services, Services), "the graph was built for a manager, and run without one"
    write = runtime.stream_writer

    def emit(event: Mapping[str, Any]) -> None:
        write({EVENT: event})
        if say is not None and event["type"] == "token":
            say(event["text"])

    return services.telling(emit, brought_locale(state))


def serving(services: Services, config: RunnableConfig) -> RunnableConfig:
    """Return the configuration of a run whose nodes work with these services."""
    return {**config, "configurable": {**config.get("configurable", {}), SERVICES: services}}


def reply_in(state: Any) -> str:
    """Return the id of the message that the reply of this run becomes."""
    turn = state.get("turn")
    return reply_id(turn) if turn else str(state["progress"][REPLY])
