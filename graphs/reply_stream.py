"""The reply of a run on the streams of LangGraph and LangChain, as a separate run.

The model calls of a step are not replies: they judge, check, or answer in JSON. So handlers that
stream (`messages`, `astream_events`) see these calls without tokens, and get the reply here.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from langchain_core.callbacks import AsyncCallbackManager
from langchain_core.messages import AIMessage, AIMessageChunk
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, LLMResult
from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import var_child_runnable_config
from langgraph.pregel._messages import StreamMessagesHandler, StreamMessagesHandlerV2

RUN = "reply"
"""Name of a reply's run in events."""
_TAPS = ("tap_output_aiter", "tap_output_iter")
"""Attributes by which LangChain recognises a handler that streams."""

Show = Callable[[str, str], None]
"""Callback for the id of the reply's message and a piece of its text."""


def _unseen(message_id: str, text: str) -> None:
    """Ignore a piece of the reply: there is no stream."""


def showing(config: RunnableConfig, handlers: list[Any], *, shows: bool) -> Showing | None:
    """Return a block that hides models' answers from handlers that stream; None without them."""
    streaming = [handler for handler in handlers if _streams(handler)]
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
