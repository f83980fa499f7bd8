"""Middleware of every response: request id, headers, and the last handler of errors."""

from __future__ import annotations

import asyncio
import logging
import os
import re
from collections.abc import Iterable

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from structlog.contextvars import bind_contextvars, reset_contextvars

from nodes.telemetry import continuing, report
from server.http.auth import Keys
from server.http.problems import problem_of

STALL_SECONDS = 10.0
"""Seconds without progress after which a stream to a client is closed."""
_SANE = re.compile(r"[A-Za-z0-9._-]{1,64}")
_POLICY = b"content-security-policy"
_SNIFF = (b"x-content-type-options", b"nosniff")
_HEADERS = [_SNIFF, (b"cache-control", b"no-store"), (_POLICY, b"frame-ancestors 'none'")]
_OWN = {b"x-request-id", *dict(_HEADERS)}


class Envelope:
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
                await self._answer(scope, receive, _Answer(send, request_id), request_id)
        finally:
            reset_contextvars(**bound)

    async def _answer(
        self, scope: Scope, receive: Receive, answer: _Answer, request_id: str
    ) -> None:
        try:
            self._keys.admit_from(scope)
            await self._app(scope, receive, answer)
        except Exception as error:
            if answer.stalled:
                report(logging.INFO, "client_stalled", request_id=request_id)
                return
            problem = problem_of(error, request_id)
            if not answer.begun:
                await problem.response(request_id)(scope, receive, answer)


class _Answer:
    """Sender of a response with our headers; it closes a stream whose client does not read."""

    def __init__(self, send: Send, request_id: str) -> None:
        self._send = send
        self._request_id = request_id
        self._patience: float | None = None
        self.begun = self.stalled = False

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.begun = True
            given, added = _joined(message.get("headers", ()))
            if any(n == b"content-type" and v.startswith(b"text/event-stream") for n, v in given):
                self._patience = STALL_SECONDS
            named = (b"x-request-id", self._request_id.encode())
            message = {**message, "headers": [*given, *added, named]}
        if self._patience is None:
            await self._send(message)
            return
        try:
            async with asyncio.timeout(self._patience):
                await self._send(message)
        except TimeoutError:
            self.stalled = True
            raise


_Pairs = list[tuple[bytes, bytes]]


def _joined(given: Iterable[tuple[bytes, bytes]]) -> tuple[_Pairs, _Pairs]:
    """Return the headers of an answer and those to add; a page has its own policies."""
    pairs = list(given)
    if any(name == _POLICY for name, _ in pairs):
        return pairs, [_SNIFF]
    return [pair for pair in pairs if pair[0] not in _OWN], _HEADERS


def _request_id(given: str) -> str:
    """Return the client's request id if it is one, else a new one."""
    return given if _SANE.fullmatch(given) else os.urandom(16).hex()
