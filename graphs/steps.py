"""Steps, agents and edges of a turn, as LangGraph calls them.

Services come from the configuration of the run, because LangGraph's `context` belongs to the
caller, whose agents read it by `get_runtime()`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.runnables.config import var_child_runnable_config
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime
from langgraph.types import Send

from journeygraph.nodes.authored import contained
from journeygraph.nodes.services import Services, brought_locale
from journeygraph.nodes.state.session import Update
from journeygraph.nodes.telemetry import phase
from journeygraph.nodes.turn.settle import reply_id

if TYPE_CHECKING:
    from journeygraph.graphs.reply_stream import Showing


def showing_here(*, shows: bool) -> Showing | None:
    """Return a block that hides models' answers from handlers that stream; None without them.

    Args:
        shows: True to emit the reply here; if a graph serves a session, the session does it.
    """
    config: RunnableConfig = var_child_runnable_config.get() or {}
    handlers: list[Any] = getattr(config.get("callbacks"), "handlers", [])
    if not handlers:
        return None
    from journeygraph.graphs.reply_stream import showing  # noqa: PLC0415 - few runs have handlers

    return showing(config, handlers, shows=shows)


def callbacks_here() -> RunnableConfig:
    """Return the callbacks of the running node, for an inner graph with visible replies."""
    config: RunnableConfig = var_child_runnable_config.get() or {}
    callbacks = config.get("callbacks")
    return {"callbacks": callbacks} if callbacks is not None else {}


EVENT = "__journey_event"
"""Marks our events on LangGraph's custom stream, which agents use too."""

SERVICES = "__journey_services"
"""Key of the services in `configurable`; the two underscores keep it out of the metadata."""

COMMIT = "__journey_commit"
"""Key of the commit of a turn in `configurable`."""

LEVELS = "|"
"""Separates the levels of a checkpoint's namespace; a graph at the root has one level."""

SAVER = "__pregel_checkpointer"
"""Key of the saver that a graph passes to inner graphs."""

INTERRUPT = "__interrupt__"
"""Key of the agents' questions in the values of a run and in its pending writes."""

REPLY = "reply"
"""Key of the id of a compiled pipeline's reply."""

_ADDED_TO = ("context", "fields", "messages")
"""Keys that a step appends to. Without additions they are unchanged and are not written."""

Graph = CompiledStateGraph[Any, Any, Any, Any]
Step = Callable[[Any, Services], Awaitable[Update]]


def event_in(mode: str, data: Any) -> Mapping[str, Any] | None:
    """Return our event in a part of a stream; None for other parts."""
    ours = mode == "custom" and isinstance(data, dict) and EVENT in data
    return data[EVENT] if ours else None


def bind(step: Step, default: Services | None = None, kind: str = "") -> Any:
    """Return a step as a node.

    Args:
        default: Services of a graph with its own, also within another graph.
        kind: Its kind among the steps in the audit of a turn; empty: no step.
    """

    async def node(state: Any, runtime: Runtime[Any], config: RunnableConfig) -> Update:
        showing = showing_here(shows=default is not None)
        pieces: list[str] = []
        say = None if default is None or showing is None else pieces.append
        services = services_in(runtime, config, state, default, say)
        if turn := state.get("turn"):
            services.running.pathway = turn["run"] or ""
        with contained(), phase(kind):
            if showing is None:
                update = await step(state, services)
            else:
                async with showing as show:
                    update = await step(state, services)
                    for text in pieces:  # the step may be the one that opens the turn
                        show(reply_in({**state, **update}), text)
        changes = {key: value for key, value in update.items() if value or key not in _ADDED_TO}
        return changes if shown is None else shown(changes)

    shown = None if default is None else _as_chats_see()
    return opaque(node)


def _as_chats_see() -> Callable[[Update], Update]:
    from journeygraph.graphs.chat_state import shown  # noqa: PLC0415 - a session needs no such state

    return shown


def opaque(node: Any) -> Any:
    """Return a node that LangGraph does not search for subgraphs, to halve the compile time.

    Args:
        node: An async function without references to graphs.
    """
    return partial(node)


def services_in(
    runtime: Runtime[Any],
    config: RunnableConfig,
    state: Any,
    default: Services | None,
    say: Callable[[str], None] | None = None,
) -> Services:
    """Return the services of a run, with events on its stream.

    Args:
        state: Its state, with the locale of the session.
        default: Services of a graph with its own.
        say: Also gets the pieces of the reply.
    """
    services = default if default is not None else config["configurable"].get(SERVICES)
    assert isinstance(services, Services), "the graph was built for a manager, but runs without one"
    locale = brought_locale(state)
    write = runtime.stream_writer
    # The stream of a session's graph is read by its session alone.
    is_heard = services.listening or (default is not None and (say is not None or passes_on(write)))
    if not is_heard:
        return services if locale is services.locale else services.localized(locale)

    def emit(event: Mapping[str, Any]) -> None:
        write({EVENT: event})
        if say is not None and event["type"] == "token":
            say(event["text"])

    return services.telling(emit, locale)


class NextStep(Runnable[Any, "str | Send"]):
    """An edge that leads to the pathway that the turn's record names, or else to another step.

    It is not a function: LangGraph would make a separate run and task of that for each turn.
    """

    def __init__(self, name: str, pathways: Sequence[str], otherwise: str = "settle") -> None:
        self.name = name
        self._pathways = pathways
        self._otherwise = otherwise

    def invoke(self, input: Any, config: Any = None, **kwargs: Any) -> str | Send:
        """Return the next node of the turn."""
        run: str | None = input["turn"]["run"]
        if run is None or run in self._pathways:
            return run or self._otherwise
        # A session begun under an older version can wait where this version never does.
        return Send(run, input)

    async def ainvoke(self, input: Any, config: Any = None, **kwargs: Any) -> str | Send:
        """Return the same."""
        return self.invoke(input)


def passes_on(writer: Any) -> bool:
    """Return whether a stream shows the writes of an agent: LangGraph's idle writer is empty.

    Without subgraphs, nothing that is written in one is shown.
    """
    return getattr(writer, "__closure__", writer) is not None


def serving(services: Services, config: RunnableConfig) -> RunnableConfig:
    """Return the configuration of a run with these services."""
    return {**config, "configurable": {**config.get("configurable", {}), SERVICES: services}}


def reply_in(state: Any) -> str:
    """Return the id of this run's reply message."""
    turn = state.get("turn")
    return reply_id(turn) if turn else str(state["progress"][REPLY])
