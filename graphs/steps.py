"""Steps, agents and edges of a turn, and their reply on the streams of LangGraph and LangChain.

Services come from the configuration of the run, because LangGraph's `context` belongs to the
caller, whose agents read it by `get_runtime()`. The model calls of a step are not replies: they
judge, check, or answer in JSON. So handlers that stream (`messages`, `astream_events`) see these
calls without tokens, and get the reply as a separate run.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import Any

from langchain_core.callbacks import AsyncCallbackManager
from langchain_core.messages import AIMessage, AIMessageChunk
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, LLMResult
from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.runnables.config import var_child_runnable_config
from langgraph.graph.state import CompiledStateGraph
from langgraph.pregel._messages import StreamMessagesHandler, StreamMessagesHandlerV2
from langgraph.runtime import Runtime
from langgraph.types import Send

from journeygraph.graphs.chat_state import shown
from journeygraph.nodes.authored import contained
from journeygraph.nodes.services import Services, brought_locale
from journeygraph.nodes.state.session import Update
from journeygraph.nodes.telemetry import phase
from journeygraph.nodes.turn.settle import reply_id

RUN = "reply"
"""Name of a reply's run in events."""
_TAPS = ("tap_output_aiter", "tap_output_iter")
"""Attributes by which LangChain recognises a handler that streams."""

Show = Callable[[str, str], None]
"""Callback for the id of the reply's message and a piece of its text."""


def _unseen(message_id: str, text: str) -> None:
    """Ignore a piece of the reply: there is no stream."""


def showing_here(*, shows: bool) -> Showing | None:
    """Return a block that hides models' answers from handlers that stream; None without them.

    Args:
        shows: True to emit the reply here; if a graph serves a session, the session does it.
    """
    config: RunnableConfig = var_child_runnable_config.get() or {}
    handlers: list[Any] = getattr(config.get("callbacks"), "handlers", [])
    streaming = [handler for handler in handlers if _streams(handler)] if handlers else handlers
    return Showing(config, streaming, shows=shows) if streaming else None


class Showing:
    """A block that hides models' answers from handlers that stream, and emits the reply.

    `async with` returns the callback for pieces of the reply. All pieces are emitted at the end.
    """

    __slots__ = ("_config", "_reply", "_shown", "_token")

    def __init__(self, config: RunnableConfig, streaming: list[Any], *, shows: bool) -> None:
        self._config = config
        self._shown = [handler for handler in streaming if shows and _takes_pieces(handler)]

    async def __aenter__(self) -> Show:
        """Start to hide answers and to emit the reply."""
        config = self._config
        hidden = _hidden(config["callbacks"])
        self._token = var_child_runnable_config.set({**config, "callbacks": hidden})
        self._reply = _Reply(_manager(self._shown, config))
        return self._reply.show if self._shown else _unseen

    async def __aexit__(self, *_: object) -> None:
        """Emit the remaining pieces, and stop hiding."""
        var_child_runnable_config.reset(self._token)
        await self._reply.end()


async def show_whole(message_id: str, text: str) -> None:
    """Emit a finished reply that no message of the state contains, if it was not streamed."""
    config: RunnableConfig = var_child_runnable_config.get() or {}
    callbacks: Any = config.get("callbacks")
    taking = [h for h in getattr(callbacks, "handlers", ()) if isinstance(h, StreamMessagesHandler)]
    if taking:
        await _Reply(_manager(taking, config)).whole(message_id, text)


def callbacks_here() -> RunnableConfig:
    """Return the callbacks of the running node, for an inner graph with visible replies."""
    config: RunnableConfig = var_child_runnable_config.get() or {}
    callbacks = config.get("callbacks")
    return {"callbacks": callbacks} if callbacks is not None else {}


def _streams(handler: Any) -> bool:
    return all(hasattr(handler, name) for name in _TAPS)


def _takes_pieces(handler: Any) -> bool:
    """Return whether a handler gets the reply in pieces, not only as a finished message.

    Without subgraphs it would get only pieces from the root.
    """
    if isinstance(handler, StreamMessagesHandler):
        return handler.subgraphs and not isinstance(handler, StreamMessagesHandlerV2)
    return True


def _manager(handlers: list[Any], config: RunnableConfig) -> AsyncCallbackManager:
    callbacks: Any = config["callbacks"]
    return AsyncCallbackManager(
        handlers,
        handlers,
        callbacks.parent_run_id,
        tags=list(config.get("tags") or ()),
        metadata=dict(config.get("metadata") or {}),
    )


def _hidden(callbacks: Any) -> Any:
    quiet = callbacks.copy()
    quiet.handlers = [seen for handler in callbacks.handlers for seen in _quiet(handler)]
    inherited = callbacks.inheritable_handlers
    quiet.inheritable_handlers = [seen for handler in inherited for seen in _quiet(handler)]
    return quiet


def _quiet(handler: Any) -> list[Any]:
    if not _streams(handler):
        return [handler]
    # It has nothing but messages to stream, of models and of nodes.
    return [] if isinstance(handler, StreamMessagesHandler) else [_Quiet(handler)]


class _Quiet:
    """A streaming handler without tokens: models do not stream for it."""

    run_inline = True

    def __init__(self, handler: Any) -> None:
        self._handler = handler

    def __getattr__(self, name: str) -> Any:
        if name in _TAPS:
            raise AttributeError(name)
        return getattr(self._handler, name)

    def on_llm_new_token(self, *args: Any, **kwargs: Any) -> None:
        """Take a token."""


class _Reply:
    """The run of a reply, which starts with its first piece."""

    def __init__(self, manager: AsyncCallbackManager) -> None:
        self._manager = manager
        self._pieces: asyncio.Queue[tuple[str, str] | None] = asyncio.Queue()
        self._passing: asyncio.Task[None] | None = None

    def show(self, message_id: str, text: str) -> None:
        if self._passing is None:
            self._passing = asyncio.ensure_future(self._pass_on())
        self._pieces.put_nowait((message_id, text))

    async def end(self) -> None:
        if self._passing is not None:
            self._pieces.put_nowait(None)
            await self._passing

    async def whole(self, message_id: str, text: str) -> None:
        run = await self._begun()
        await run.on_llm_end(_result(message_id, text))

    async def _pass_on(self) -> None:
        run = await self._begun()
        id_, whole = "", ""
        while (piece := await self._pieces.get()) is not None:
            id_, text = piece
            whole += text
            chunk = ChatGenerationChunk(message=AIMessageChunk(content=text, id=id_))
            await run.on_llm_new_token(text, chunk=chunk)
        await run.on_llm_end(_result(id_, whole))

    async def _begun(self) -> Any:
        (run,) = await self._manager.on_chat_model_start({}, [[]], name=RUN)
        return run


def _result(message_id: str, text: str) -> LLMResult:
    message = AIMessage(content=text, id=message_id)
    return LLMResult(generations=[[ChatGeneration(message=message)]])


EVENT = "__journey_event"
"""Marks our events on LangGraph's custom stream, which agents use too."""

SERVICES = "__journey_services"
"""Key of the services in `configurable`; the two underscores keep it out of the metadata."""

COMMIT = "__journey_commit"
"""Key of the commit of a turn in `configurable`."""

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
        return changes if default is None else shown(changes)

    return opaque(node)


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
