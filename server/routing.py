"""How a route lets a request in: the key first, then a body within limits, read strictly."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterable
from email.message import Message as Header
from http import HTTPStatus
from typing import Any

from fastapi import Request, Response
from fastapi.routing import APIRoute
from starlette.routing import Match
from starlette.types import Scope

from server import strict_json
from server.accept import accept_of, preferred
from server.problems import Problem, invalid_request

MAX_BODY_BYTES = 64 * 1024
"""Largest body of a request, as it is sent."""
BODY_SECONDS = 30.0
"""How long a body may take to arrive."""
EVENTS, JSON = "text/event-stream", "application/json"


class ApiRoute(APIRoute):
    """A route behind the API key, with a strict and small body."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return what answers a request."""
        answer = super().get_route_handler()
        known = {param.alias for param in self.dependant.query_params}

        async def admitted(request: Request) -> Response:
            request.app.state.wiring.keys.admit(request.headers.get("authorization", ""))
            if not known.issuperset(request.query_params):
                raise _unknown_parameter(known)
            strict = StrictRequest(request.scope, request.receive)
            strict.most = self.most_bytes(request)
            return await answer(strict)

        return admitted

    def most_bytes(self, request: Request) -> int:
        """Return how large a body may be."""
        return MAX_BODY_BYTES


def _unknown_parameter(known: Iterable[str]) -> Problem:
    """Refuse what would be ignored: a filter with a typo would show everything."""
    what = f"There is a parameter that is not known here; known: {', '.join(sorted(known)) or '-'}."
    return invalid_request({"where": "query", "what": what})


class ContextRoute(ApiRoute):
    """A route whose body may hold a whole context besides."""

    def most_bytes(self, request: Request) -> int:
        """Return how large a body may be."""
        most: int = request.app.state.wiring.config.max_context_size_bytes
        return MAX_BODY_BYTES + most


class EventsRoute(ApiRoute):
    """A route for those alone who ask for events; others find the next one of that path."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Match if the Accept header wants events more than JSON."""
        if preferred(accept_of(scope), (JSON, EVENTS)) != EVENTS:
            return Match.NONE, {}
        return super().matches(scope)


class StrictRequest(Request):
    """A request whose body is counted while it is read, and is JSON or nothing."""

    most = MAX_BODY_BYTES

    async def body(self) -> bytes:
        """Return the body.

        Raises:
            Problem: 413 if it is too large, 408 if it takes too long, 415 if it is compressed or
                not JSON.
        """
        if not hasattr(self, "_body"):
            self._body = await self._read()
            if self._body:
                self._refuse_other_types()
        return self._body

    async def json(self) -> Any:
        """Return the value of the body; see `strict_json.parse` for what is refused."""
        body = await self.body()
        if len(body) > MAX_BODY_BYTES:
            return await asyncio.to_thread(strict_json.parse, body)
        return strict_json.parse(body)

    async def _read(self) -> bytes:
        declared = self.headers.get("content-length", "")
        if declared.isdecimal() and int(declared[:20]) > self.most:
            raise self._too_large()
        body = bytearray()
        try:
            async with asyncio.timeout(BODY_SECONDS):
                async for chunk in self.stream():
                    body += chunk
                    if len(body) > self.most:
                        raise self._too_large()
        except TimeoutError:
            raise Problem(
                HTTPStatus.REQUEST_TIMEOUT, "body_too_slow", "The body did not arrive in time."
            ) from None
        return bytes(body)

    def _too_large(self) -> Problem:
        return Problem(
            HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
            "body_too_large",
            f"The body may have {self.most} bytes.",
        )

    def _refuse_other_types(self) -> None:
        header = Header()
        header["content-type"] = self.headers.get("content-type", "application/octet-stream")
        charset = str(header.get_content_charset("utf-8")).replace("_", "-")
        plain = self.headers.get("content-encoding", "identity") == "identity"
        if header.get_content_type() != JSON or charset not in ("utf-8", "utf8") or not plain:
            raise Problem(
                HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
                "unsupported_media_type",
                "The body must be 'Content-Type: application/json' in UTF-8, not compressed.",
            )
