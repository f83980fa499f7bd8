"""Admit a request: check the key first, then read a bounded body strictly."""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Callable, Coroutine, Iterable, Sequence, Set
from email.message import Message as Header
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from fastapi import Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from pydantic import BaseModel, ValidationError
from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect
from starlette.types import Receive, Scope

from journeygraph.graphs.records.idempotency import checked_key
from journeygraph.graphs.session.input import checked_id
from journeygraph.journeys import ConfigurationError
from journeygraph.journeys.faults import Fault, TextPosition
from journeygraph.server.access.callers import Caller, rule_of
from journeygraph.server.http.problems import Problem, invalid_request, no_session

if TYPE_CHECKING:
    from journeygraph.server.http.app_state import AppState

MAX_BODY_BYTES = 64 * 1024
"""Maximum size of a request body, in bytes."""
BODY_SECONDS = 30.0
"""Seconds within which a body must arrive."""
EVENTS, JSON = "text/event-stream", "application/json"
MAX_DEPTH = 32
"""Maximum depth of nested arrays and objects."""
_PLAIN_JSON = {JSON, f"{JSON};charset=utf-8", f"{JSON}; charset=utf-8"}
_M = TypeVar("_M", bound=BaseModel)
_INT64 = 2**63
_LONGEST_INT = len(str(_INT64)) + 1


class ApiRoute(APIRoute):
    """A route behind the API key, with a strict and small body."""

    def __init__(self, path: str, endpoint: Callable[..., Any], **options: Any) -> None:
        super().__init__(path, endpoint, **options)
        self.rule = rule_of(self.methods or (), path)

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return the handler of a request."""
        answer = super().get_route_handler()
        known = {param.alias for param in self.dependant.query_params}

        async def admitted(request: Request) -> Response:
            strict = await self.admit(request.scope, request.receive, known)
            strict.most = self.most_bytes(request)
            return await answer(strict)

        return admitted

    async def admit(
        self, scope: Scope, receive: Receive, known: Set[str] = frozenset()
    ) -> StrictRequest:
        """Return a request whose key and query are right; nothing of its body is read.

        Its caller is in `request.state.caller`.

        Raises:
            Problem: 401 without the key, 403 if the key has not the scope of the route, 429 over a
                limit, 422 for a query parameter that is not known.
        """
        request = StrictRequest(scope, receive)
        sent = request.headers.get("authorization", "")
        keys, rule = request.app.state.app_state.keys, self.rule
        request.state.caller = await keys.admit(scope, sent, rule.scope, rule.counts)
        if scope["query_string"] and not known >= request.query_params.keys():
            raise _unknown_parameter(known)
        return request

    def most_bytes(self, request: Request) -> int:
        """Return the maximum size of a body."""
        return MAX_BODY_BYTES


def _unknown_parameter(known: Iterable[str]) -> Problem:
    """Refuse unknown parameters: a filter with a typo would return everything."""
    message = "the query has an unknown parameter."
    remedy = f"Known parameters: {', '.join(sorted(known)) or '-'}."
    what = f"{message[:1].upper()}{message[1:]} {remedy}"
    return invalid_request([Fault(message, "query", remedy=remedy, where="query")], [what])


class ContextRoute(ApiRoute):
    """A route with a larger body, which can contain a whole context."""

    def most_bytes(self, request: Request) -> int:
        """Return the maximum size of a body."""
        most: int = request.app.state.app_state.config.max_context_size_bytes
        return MAX_BODY_BYTES + most


class StrictRequest(Request):
    """A request whose body is limited while it is read, and must be JSON or empty."""

    most = MAX_BODY_BYTES

    @property
    def app_state(self) -> AppState:
        """Return the state of the app for the routes."""
        app_state: AppState = self.app.state.app_state
        return app_state.of(self.caller.tenant)

    @property
    def caller(self) -> Caller:
        """Return the client, by its key."""
        caller: Caller = self.state.caller
        return caller

    async def given(self, model: type[_M], value: Any) -> _M:
        """Return the value of the body as a model, without reading any other place."""
        if not await self.body():
            missing = {"type": "missing", "loc": ("body",), "msg": "Field required"}
            raise RequestValidationError([missing])
        try:
            return model.model_validate(value, from_attributes=True)  # as FastAPI does it
        except ValidationError as error:
            faults = error.errors(include_url=False, include_input=False)
            placed = [{**fault, "loc": ("body", *fault["loc"])} for fault in faults]
            raise RequestValidationError(placed) from None

    async def body(self) -> bytes:
        """Return the body.

        Raises:
            Problem: 413 if it is too large, 408 if it takes too long, 400 if the client
                disconnects, 415 if it is compressed or not JSON.
        """
        if not hasattr(self, "_body"):
            self._body = await self._read()
            if self._body:
                self._refuse_other_types()
        return self._body

    async def json(self) -> Any:
        """Return the value of the body; `parse_json` lists the refused ones."""
        body = await self.body()
        if len(body) > MAX_BODY_BYTES:
            return await asyncio.to_thread(parse_json, body)
        return parse_json(body)

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
        except ClientDisconnect:
            raise Problem(
                HTTPStatus.BAD_REQUEST, "bad_request", "The body did not arrive as a whole."
            ) from None
        return bytes(body)

    def _too_large(self) -> Problem:
        return Problem(
            HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
            "body_too_large",
            f"The body is larger than {self.most} bytes.",
        )

    def _refuse_other_types(self) -> None:
        is_plain = "content-encoding" not in self.headers
        if is_plain and self.headers.get("content-type") in _PLAIN_JSON:
            return
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


def session_name(session_id: str) -> str:
    """Return the session id of a path.

    Raises:
        Problem: There can be no session of this id.
    """
    try:
        return checked_id(session_id)
    except ConfigurationError:
        raise no_session() from None


def idempotency_key(headers: Headers) -> str | None:
    """Return the header `Idempotency-Key`; None without one.

    Raises:
        Problem: 422 `invalid_idempotency_key`.
    """
    keys = headers.getlist("idempotency-key")
    if not keys:
        return None
    try:
        return checked_key(",".join(keys))
    except ConfigurationError as error:
        status = HTTPStatus.UNPROCESSABLE_ENTITY
        raise Problem(status, "invalid_idempotency_key", str(error)) from None


def wants_events(scope: Scope) -> bool:
    """Return whether the Accept header wants events more than JSON."""
    return preferred(accept_of(scope), (JSON, EVENTS)) == EVENTS


def accept_of(scope: Scope) -> str:
    """Return the Accept header of a request; several headers are one list."""
    return ",".join(Headers(scope=scope).getlist("accept"))


def preferred(accept: str, offers: Sequence[str]) -> str:
    """Return the offer with the highest weight in an Accept header.

    Of equal weights the first in the header wins; without a match, the first offer.
    """
    if not accept or accept == "*/*":
        return offers[0]
    wanted = [(weight, name) for name, weight in map(_read, accept.split(",")) if name in offers]
    weight, name = max(wanted, key=lambda item: item[0], default=(0.0, ""))
    return name if weight > 0 else offers[0]


def _read(media_range: str) -> tuple[str, float]:
    name, *parameters = (part.strip().lower() for part in media_range.split(";"))
    weights = [value[2:] for value in parameters if value.startswith("q=")]
    try:
        return name, float(weights[0]) if weights else 1.0
    except ValueError:
        return name, 0.0


def parse_json(body: bytes) -> Any:
    """Return the value of a JSON text in UTF-8.

    Raises:
        Problem: 400 `malformed_json`, for what is not JSON, NaN and Infinity, numbers beyond 64
            bits, names given twice, and values nested too deep; 422 `invalid_text` for NUL and
            halves of surrogate pairs. The text contains no data of the request.
    """
    try:
        value = _DECODER.decode(body.decode("utf-8"))
    except UnicodeDecodeError:
        _refuse("it is not UTF-8")
    except RecursionError:
        _refuse(_TOO_DEEP)
    except json.JSONDecodeError as error:
        place = TextPosition(error.lineno, error.colno)
        _refuse(f"JSON syntax error at line {place.line}, column {place.column}", place)
    _check(value, MAX_DEPTH)
    return value


_TOO_DEEP = f"it nests more than {MAX_DEPTH} levels"


def _refuse(reason: str, place: TextPosition | None = None) -> NoReturn:
    fault = Fault(f"{reason}.", "body", where="body")
    raise Problem(
        HTTPStatus.BAD_REQUEST,
        "malformed_json",
        f"The body cannot be read: {reason}.",
        faults=[fault.changed(str(fault), place=place)],
    ) from None


def _check(value: Any, deeper: int) -> None:
    if isinstance(value, str):
        _check_text(value)
    elif isinstance(value, (dict, list)):
        if not deeper:
            _refuse(_TOO_DEEP)
        for item in value:
            _check(item, deeper - 1)
        for item in value.values() if isinstance(value, dict) else ():
            _check(item, deeper - 1)


def _check_text(text: str) -> None:
    if text.isascii():
        wrong = "\0" in text
    else:
        wrong = any(char == "\0" or "\ud800" <= char <= "\udfff" for char in text)
    if wrong:
        raise Problem(
            HTTPStatus.UNPROCESSABLE_ENTITY,
            "invalid_text",
            "The body contains NUL or half of a character (a lone surrogate). Remove it.",
        )


def _whole(digits: str) -> int:
    # Judged by its length first: converting thousands of digits takes long.
    if len(digits) > _LONGEST_INT or not -_INT64 <= (number := int(digits)) < _INT64:
        _refuse("an integer does not fit in 64 bits")
    return number


def _fraction(digits: str) -> float:
    if not math.isfinite(number := float(digits)):
        _refuse("a number is too large")
    return number


def _constant(name: str) -> NoReturn:
    _refuse("NaN and Infinity are not valid JSON")


def _unambiguous(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(found := dict(pairs)) != len(pairs):
        _refuse("a name occurs twice in one object")
    return found


_DECODER = json.JSONDecoder(
    parse_int=_whole,
    parse_float=_fraction,
    parse_constant=_constant,
    object_pairs_hook=_unambiguous,
)
