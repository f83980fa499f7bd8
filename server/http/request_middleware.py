"""Middleware of every response: request id, headers, and the last handler of errors."""

from __future__ import annotations

import asyncio
import logging
import os
import re
from collections.abc import Iterable
from contextlib import suppress
from http import HTTPStatus

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from structlog.contextvars import bind_contextvars, reset_contextvars

from journeygraph.nodes.telemetry import continuing, report
from journeygraph.server.http.auth import Keys
from journeygraph.server.http.problems import Problem, outcome_unknown, problem_of

STALL_SECONDS = 10.0
"""Seconds without progress after which a stream to a client is closed."""
REST_BYTES = 64 * 1024 * 1024
REST_SECONDS = 5.0
"""Maximum of the rest of a body that is read and dropped, and of the time for it."""
_SANE = re.compile(r"[A-Za-z0-9._-]{1,64}")
_POLICY = b"content-security-policy"
_SNIFF = (b"x-content-type-options", b"nosniff")
_HEADERS = [_SNIFF, (b"cache-control", b"no-store"), (_POLICY, b"frame-ancestors 'none'")]
_STREAMS = (b"text/event-stream", b"application/x-ndjson")
"""Content types of streams."""
_LENGTHS = (b"content-length", b"transfer-encoding")
_OWN = {b"x-request-id", *dict(_HEADERS)}


class RequestMiddleware:
    """ASGI middleware around the whole app; `request.state.request_id` comes from here."""

    def __init__(self, app: ASGIApp, keys: Keys) -> None:
        self._app = app
        self._keys = keys

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request; errors become responses."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(raw=scope["headers"])
        request_id = _request_id(headers.get("x-request-id", ""))
        scope.setdefault("state", {})["request_id"] = request_id
        # A turn's task copies both: its log has the id, its span the client's as parent.
        bound = bind_contextvars(request_id=request_id)
        try:
            with continuing(headers):
                await self._answer(scope, _Exchange(scope, receive, send, request_id), request_id)
        finally:
            reset_contextvars(**bound)

    async def _answer(self, scope: Scope, exchange: _Exchange, request_id: str) -> None:
        try:
            exchange.refuse_two_lengths()
            self._keys.admit_from(scope)
            await self._app(scope, exchange.receive, exchange.send)
        except Exception as error:
            if exchange.stalled:
                report(logging.INFO, "client_stalled", request_id=request_id)
                return
            problem = problem_of(error, request_id)
            await exchange.say(problem, scope)
        except asyncio.CancelledError:  # the server ends, and lets its clients know
            if exchange.begun:
                raise
            await exchange.say(outcome_unknown(), scope)


class _Exchange:
    """One request and its response.

    The response has our headers. The connection is closed if a part of the body was not read, or
    if the client does not read a stream.
    """

    def __init__(self, scope: Scope, receive: Receive, send: Send, request_id: str) -> None:
        self._receive, self._send = receive, send
        self._request_id = request_id
        self._patience: float | None = None
        self._lengths = {name: value for name, value in scope["headers"] if name in _LENGTHS}
        has_body = any(value != b"0" for value in self._lengths.values())
        self._has_rest = has_body and scope["http_version"] in ("1.0", "1.1")
        self._is_chunked = b"transfer-encoding" in self._lengths
        self._is_unasked = (b"expect", b"100-continue") in scope["headers"]
        self.begun = self.stalled = False

    def refuse_two_lengths(self) -> None:
        """Refuse a body of which a proxy before us may have seen another end (RFC 9112, 6.1)."""
        if len(self._lengths) > 1:
            raise Problem(
                HTTPStatus.BAD_REQUEST,
                "bad_request",
                "The request has 'Content-Length' and 'Transfer-Encoding'. Send one of them.",
            )

    async def say(self, problem: Problem, scope: Scope) -> None:
        if not self.begun:
            await problem.response(self._request_id)(scope, self.receive, self.send)

    async def receive(self) -> Message:
        self._is_unasked = False
        message = await self._receive()
        if not message.get("more_body", False):
            self._has_rest = False
        return message

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.begun = True
            given, added = _joined(message.get("headers", ()))
            if any(n == b"content-type" and v.startswith(_STREAMS) for n, v in given):
                self._patience = STALL_SECONDS
            named = [(b"x-request-id", self._request_id.encode())]
            if self._has_rest:
                named.append((b"connection", b"close"))
            message = {**message, "headers": [*given, *added, *named]}
            if self._is_chunked:
                # uvicorn answers a chunk that is not valid; there must be one answer.
                await self._drop_rest()
        elif self._has_rest and not (self._is_chunked or message.get("more_body", False)):
            await self._give({**message, "more_body": True})
            await self._drop_rest()
            message = {"type": "http.response.body"}
        await self._give(message)

    async def _give(self, message: Message) -> None:
        if self._patience is None:
            await self._send(message)
            return
        try:
            async with asyncio.timeout(self._patience):
                await self._send(message)
        except TimeoutError:
            self.stalled = True
            raise

    async def _drop_rest(self) -> None:
        """Read the rest of the body, within limits, unless the client waits to be asked for it.

        If data is unread when the connection is closed, the client may lose the response.
        """
        left = 0 if self._is_unasked else REST_BYTES
        with suppress(TimeoutError):
            async with asyncio.timeout(REST_SECONDS):
                while self._has_rest and left > 0:
                    left -= len((await self.receive()).get("body", b""))


_Pairs = list[tuple[bytes, bytes]]


def _joined(given: Iterable[tuple[bytes, bytes]]) -> tuple[_Pairs, _Pairs]:
    pairs = list(given)
    if any(name == _POLICY for name, _ in pairs):
        return pairs, [_SNIFF]
    return [pair for pair in pairs if pair[0] not in _OWN], _HEADERS


def _request_id(given: str) -> str:
    return given if _SANE.fullmatch(given) else os.urandom(16).hex()
