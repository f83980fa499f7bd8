"""A chat model that answers from a script: LangChain's client of the API, without a network."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Iterator
from types import TracebackType
from typing import Any, Self

import httpx2
from langchain_openai import ChatOpenAI
from pydantic import PrivateAttr

from nodes.llm.scripted.call import Call
from nodes.llm.scripted.script import Answer, Script
from nodes.llm.scripted.wire import Reply

_BROKEN = "peer closed connection without sending complete message body"


class ScriptedModel(ChatOpenAI):
    """A LangChain chat model that answers from a script; no key, no network.

    It is the real client with our transport under it: tools, structured output, streaming, errors
    and timeouts are those of a model behind the API.

    Args:
        answers: The answers, each used once.
        always: Answers when no other is left.
        settings: Any setting of ChatOpenAI, such as `model` or `temperature`.

    >>> model = ScriptedModel("Hello!")
    >>> model.invoke("Hi").content
    'Hello!'
    >>> model.calls[0].message
    'Hi'
    """

    _script: Script = PrivateAttr()

    def __init__(self, *answers: Answer, always: Answer | None = None, **settings: Any) -> None:
        script = Script(*answers, always=always)
        transport = _Transport(script)
        given: dict[str, Any] = {
            "model": "scripted",
            "api_key": "none",
            "base_url": "http://scripted.invalid/v1",
            "openai_proxy": None,
            "max_retries": 0,
            "stream_usage": True,
            **settings,
            "http_client": httpx2.Client(transport=transport, trust_env=False),
            "http_async_client": httpx2.AsyncClient(transport=transport, trust_env=False),
        }
        super().__init__(**given)
        self._script = script

    @classmethod
    def is_lc_serializable(cls) -> bool:
        """Say that a script cannot be written down."""
        return False

    @property
    def script(self) -> Script:
        """The script; `will_answer`, `calls` and `check` are its own."""
        return self._script

    @property
    def calls(self) -> list[Call]:
        """What was asked so far, oldest first."""
        return self._script.calls

    def will_answer(self, *answers: Answer) -> None:
        """Add answers behind those that are left."""
        self._script.will_answer(*answers)

    def check(self) -> None:
        """See that every call had an answer and every answer its call.

        Raises:
            AssertionError: As `Script.check` says.
        """
        self._script.check()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._script.__exit__(kind, error, trace)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._script.__exit__(kind, error, trace)


class _Transport(httpx2.BaseTransport, httpx2.AsyncBaseTransport):
    """Ask the script instead of a server; what is late keeps the caller's read timeout."""

    def __init__(self, script: Script) -> None:
        self.script = script

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        reply = self._reply(request.read(), request)
        _pause(reply.wait, request)
        return _response(reply, _Stream(reply, request))

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        reply = self._reply(await request.aread(), request)
        await _async_pause(reply.wait, request)
        return _response(reply, _AsyncStream(reply, request))

    def _reply(self, body: bytes, request: httpx2.Request) -> Reply:
        return self.script.reply(body, authorized="authorization" in request.headers)


class _Stream(httpx2.SyncByteStream):
    def __init__(self, reply: Reply, request: httpx2.Request) -> None:
        self.reply, self.request = reply, request

    def __iter__(self) -> Iterator[bytes]:
        for piece in self.reply.pieces:
            _pause(piece.wait, self.request)
            yield piece.data
        _ended(self.reply, self.request)


class _AsyncStream(httpx2.AsyncByteStream):
    def __init__(self, reply: Reply, request: httpx2.Request) -> None:
        self.reply, self.request = reply, request

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for piece in self.reply.pieces:
            await _async_pause(piece.wait, self.request)
            yield piece.data
        _ended(self.reply, self.request)


def _response(reply: Reply, stream: Any) -> httpx2.Response:
    return httpx2.Response(reply.status, headers=dict(reply.headers), stream=stream)


def _ended(reply: Reply, request: httpx2.Request) -> None:
    if not reply.whole:
        raise httpx2.RemoteProtocolError(_BROKEN, request=request)


def _pause(wait: float, request: httpx2.Request) -> None:
    patience = _patience(request)
    if wait > patience:
        time.sleep(patience)
        raise httpx2.ReadTimeout("timed out", request=request)
    if wait:
        # An endless pause has no number of seconds.
        threading.Event().wait(None if wait == float("inf") else wait)


async def _async_pause(wait: float, request: httpx2.Request) -> None:
    patience = _patience(request)
    await asyncio.sleep(min(wait, patience))
    if wait > patience:
        raise httpx2.ReadTimeout("timed out", request=request)


def _patience(request: httpx2.Request) -> float:
    """Return how many seconds the caller waits for bytes."""
    read = request.extensions.get("timeout", {}).get("read")
    return float("inf") if read is None else float(read)
