"""A chat model that answers from a script: LangChain's client of the API, without a network."""

from __future__ import annotations

import asyncio
import math
import threading
from collections.abc import AsyncIterator, Iterator, Sequence
from itertools import count
from types import TracebackType
from typing import Any, Self

import httpx2
from langchain_openai import ChatOpenAI
from pydantic import PrivateAttr

from nodes.llm.scripted.call import Call
from nodes.llm.scripted.script import Answer, Script
from nodes.llm.scripted.wire import Reply

_BROKEN = "peer closed connection without sending complete message body"


_numbers = count(1)


class ScriptedModel(ChatOpenAI):
    """A LangChain chat model that answers from a script; no key, no network.

    It is the real client with our transport under it: tools, structured output, streaming, errors
    and timeouts are those of a model behind the API.

    Args:
        answers: The answers, each used once.
        always: Answers when no other is left.
        understanding: Answers to the calls that understand a message alone.
        agent: Answers to the calls of agents alone; as of a `Script`.
        settings: Any setting of ChatOpenAI, such as `model` or `temperature`.

    >>> model = ScriptedModel("Hello!")
    >>> model.invoke("Hi").content
    'Hello!'
    >>> model.calls[0].message
    'Hi'
    """

    _script: Script = PrivateAttr()

    def __init__(
        self,
        *answers: Answer,
        always: Answer | None = None,
        understanding: Sequence[Answer] | None = None,
        agent: Sequence[Answer] | None = None,
        **settings: Any,
    ) -> None:
        script = Script(*answers, always=always, understanding=understanding, agent=agent)
        transport = _Transport(script)
        given: dict[str, Any] = {
            "model": "scripted",
            "api_key": "none",
            # A server of its own: one that fails is no other one's breaker.
            "base_url": f"http://scripted-{next(_numbers)}.invalid/v1",
            "openai_proxy": None,
            "max_retries": 0,
            "stream_usage": True,
            **settings,
        }
        super().__init__(
            http_client=httpx2.Client(transport=transport, trust_env=False),
            http_async_client=httpx2.AsyncClient(transport=transport, trust_env=False),
            **given,
        )
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
    def answers_in_order(self) -> bool:
        """Whether its answers belong to calls by their order, so that no agent is asked ahead."""
        return self._script.answers_in_order

    @property
    def calls(self) -> list[Call]:
        """What was asked so far, oldest first."""
        return self._script.calls

    def will_answer(
        self,
        *answers: Answer,
        understanding: Sequence[Answer] = (),
        agent: Sequence[Answer] = (),
    ) -> None:
        """Add answers behind those that are left, of any kind or of one."""
        self._script.will_answer(*answers, understanding=understanding, agent=agent)

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


class _Body:
    """The pieces of a reply, each given once: a client drains what is left after the end."""

    def __init__(self, reply: Reply, request: httpx2.Request) -> None:
        self.reply, self.request = reply, request
        self.left = iter(reply.pieces)

    def ended(self) -> None:
        """Break off where the plan says so."""
        if not self.reply.whole:
            raise httpx2.RemoteProtocolError(_BROKEN, request=self.request)


class _Stream(_Body, httpx2.SyncByteStream):
    def __iter__(self) -> Iterator[bytes]:
        for piece in self.left:
            _pause(piece.wait, self.request)
            yield piece.data
        self.ended()


class _AsyncStream(_Body, httpx2.AsyncByteStream):
    async def __aiter__(self) -> AsyncIterator[bytes]:
        for piece in self.left:
            await _async_pause(piece.wait, self.request)
            yield piece.data
        self.ended()


def _response(reply: Reply, stream: Any) -> httpx2.Response:
    return httpx2.Response(reply.status, headers=dict(reply.headers), stream=stream)


def _pause(wait: float, request: httpx2.Request) -> None:
    patience = _patience(request)
    pause = min(wait, patience)
    threading.Event().wait(None if math.isinf(pause) else pause)
    if wait > patience:
        raise httpx2.ReadTimeout("timed out", request=request)


async def _async_pause(wait: float, request: httpx2.Request) -> None:
    patience = _patience(request)
    await asyncio.sleep(min(wait, patience))
    if wait > patience:
        raise httpx2.ReadTimeout("timed out", request=request)


def _patience(request: httpx2.Request) -> float:
    """Return how many seconds the caller waits for bytes."""
    read = request.extensions.get("timeout", {}).get("read")
    return math.inf if read is None else float(read)
