"""Errors as problem+json (RFC 9457), with a stable code and without data of the request."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from http import HTTPMethod, HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse
from starlette.routing import Match

from journeygraph.graphs.storage.errors import DamagedError, Unconfirmed, logged_reason
from journeygraph.graphs.storage.store import MOST_WAITING
from journeygraph.journeys import (
    ContextMergeError,
    ContextSizeExceededError,
    FieldNotFoundError,
    IdempotencyKeyError,
    InvalidCursorError,
    InvalidMessageError,
    JourneyError,
    NeedsMigrationError,
    NotWaitingError,
    SessionBusyError,
    SessionExistsError,
    SessionExpiredError,
    SessionNotStartedError,
    StateError,
    TakeoverError,
    TooManyWaitingError,
    TurnInterruptedError,
    VersionNotFoundError,
    WaitingError,
)
from journeygraph.journeys.faults import Fault, wanted
from journeygraph.nodes.telemetry import report

_WORDS = {
    **dict.fromkeys(("string_type", "string_sub_type"), "text"),
    **dict.fromkeys(("dict_type", "model_type", "model_attributes_type"), "an object"),
}
"""Descriptions of valid values, by the kind of an error of pydantic."""
MEDIA_TYPE = "application/problem+json"
RETRY_AFTER = 1
"""Value of `Retry-After`, in seconds."""
_RETRY = {"Retry-After": str(RETRY_AFTER)}


class Problem(HTTPException):
    """An error response.

    Attributes:
        code: Code for programs, stable between releases.
        errors: The place in the request and the fault, without the value.
        faults: Faults of the request or of a definition, as data.
    """

    def __init__(
        self,
        status: HTTPStatus,
        code: str,
        detail: str,
        *,
        headers: Mapping[str, str] | None = None,
        errors: Sequence[dict[str, str]] = (),
        faults: Sequence[str] = (),
    ) -> None:
        super().__init__(status, detail, headers)
        self.code = code
        self.errors = errors
        self.faults = [one if isinstance(one, Fault) else Fault(one) for one in faults]

    def body(self, request_id: str) -> dict[str, Any]:
        """Return it as a JSON object."""
        said: dict[str, Any] = {
            "type": "about:blank",
            "title": HTTPStatus(self.status_code).phrase,
            "status": int(self.status_code),
            "detail": self.detail,
            "code": self.code,
            "request_id": request_id,
        }
        if self.errors:
            said["errors"] = self.errors
        if self.faults:
            said["faults"] = [fault.as_data() for fault in self.faults]
        return said

    def response(self, request_id: str) -> JSONResponse:
        """Return it as a response."""
        headers = dict(self.headers or {})
        return JSONResponse(self.body(request_id), self.status_code, headers, MEDIA_TYPE)


def no_session() -> Problem:
    """Return the problem for a missing session, with the same text for every reason."""
    return Problem(*_NO_SESSION)


def unauthorized() -> Problem:
    """Return the problem for a request without a key that counts."""
    return Problem(
        HTTPStatus.UNAUTHORIZED,
        "unauthorized",
        "An API key is required: send the header 'Authorization: Bearer KEY'.",
        headers={"WWW-Authenticate": "Bearer"},
    )


def out_of_scope(scope: str) -> Problem:
    """Return the problem for a key without the scope of a route."""
    return Problem(
        HTTPStatus.FORBIDDEN,
        "out_of_scope",
        f"This needs a key with the scope '{scope}'. Make one with: journeygraph keys create "
        f"--scope {scope}",
    )


def too_many(counted: str, who: str, rate: str, seconds: int) -> Problem:
    """Return the problem for a request over a limit, which ends after some seconds."""
    what = counted.replace("_", " ")
    return Problem(
        HTTPStatus.TOO_MANY_REQUESTS,
        "too_many_requests",
        f"The limit of {what} of this {who} is reached: {rate}. Send it again after the seconds in "
        "`Retry-After`.",
        headers={"Retry-After": str(seconds)},
    )


def outcome_unknown() -> Problem:
    """Return the problem for a request that the end of the server has cut off."""
    return Problem(
        HTTPStatus.SERVICE_UNAVAILABLE,
        "outcome_unknown",
        "The server stopped before the end of the request: it may or may not have taken effect. "
        "Send it again with its Idempotency-Key, or GET the session before you send it again.",
        headers={"Retry-After": str(RETRY_AFTER)},
    )


def problem_of(error: Exception, request_id: str) -> Problem:
    """Return the problem for an error; log an unexpected one."""
    if isinstance(error, HTTPException):
        return _of_http(error)
    if isinstance(error, RequestValidationError):
        found = error.errors()
        return invalid_request([*map(_fault, found)], [one["msg"] for one in found])
    for kind, (status, code, detail) in _MEANINGS.items():
        if isinstance(error, kind):
            return Problem(status, code, detail or str(error), headers=_headers(error))
    if isinstance(error, StateError) and error.retryable:
        report(logging.WARNING, "store_failed", request_id=request_id, reason=logged_reason(error))
        if isinstance(error, Unconfirmed):
            return Problem(*_UNCONFIRMED)
        return Problem(
            HTTPStatus.SERVICE_UNAVAILABLE,
            "try_again",
            "The request failed for a temporary reason and changed nothing. Send it again.",
            headers=_RETRY,
        )
    report(logging.ERROR, "request_failed", request_id=request_id, exc_info=error)
    if isinstance(error, DamagedError):
        return Problem(*_NOT_READABLE)
    return Problem(
        HTTPStatus.INTERNAL_SERVER_ERROR,
        "internal_error",
        "Internal error. The log of the server has the details under this request id.",
    )


def too_many_turns() -> Problem:
    """Return the problem for a process with as many running turns as it may have."""
    return Problem(
        HTTPStatus.SERVICE_UNAVAILABLE,
        "too_many_turns",
        "This server runs as many turns as it may. The request changed nothing. Send it again.",
        headers=_RETRY,
    )


def _headers(error: Exception) -> Mapping[str, str] | None:
    return _RETRY if isinstance(error, SessionBusyError) else None


_UNCONFIRMED = (
    HTTPStatus.SERVICE_UNAVAILABLE,
    "outcome_unknown",
    "The store did not answer: the request may or may not have taken effect. GET the "
    "session before you send it again, or send it again with its Idempotency-Key.",
)
_NOT_READABLE = (
    HTTPStatus.CONFLICT,
    "not_readable",
    "Stored data of the session cannot be read: rows of the store were changed, moved or removed, "
    "or its key is not set. `journeygraph audit SESSION` names the first.",
)
_NO_SESSION = (
    HTTPStatus.NOT_FOUND,
    "session_not_found",
    "There is no session with this id. POST /v1/sessions starts one.",
)
# The text of an error is said only where it can hold nothing of what was sent.
_MEANINGS: dict[type[JourneyError], tuple[HTTPStatus, str, str | None]] = {
    SessionNotStartedError: _NO_SESSION,
    VersionNotFoundError: (
        HTTPStatus.NOT_FOUND,
        "version_not_found",
        "The session has no version with this number, or its state was pruned, or is in the "
        "session from which this one was forked. GET .../versions lists them.",
    ),
    FieldNotFoundError: (
        HTTPStatus.NOT_FOUND,
        "field_not_found",
        "The journey has no field with this name. GET .../fields lists them.",
    ),
    SessionExistsError: (
        HTTPStatus.CONFLICT,
        "session_exists",
        "A session with this id exists. Continue it, or DELETE it first.",
    ),
    SessionExpiredError: (
        HTTPStatus.GONE,
        "session_expired",
        "The session has expired. Start another one, or DELETE it to use its id again.",
    ),
    ContextSizeExceededError: (
        HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
        "context_too_large",
        "The context is larger than the limit of a session. Send less.",
    ),
    ContextMergeError: (
        HTTPStatus.UNPROCESSABLE_ENTITY,
        "invalid_context",
        "A value of the context cannot be stored: use JSON types within the limits.",
    ),
    TooManyWaitingError: (
        HTTPStatus.TOO_MANY_REQUESTS,
        "too_many_waiting",
        f"{MOST_WAITING} requests wait for this session. Send the request again after the reply to "
        "one of them.",
    ),
    SessionBusyError: (
        HTTPStatus.CONFLICT,
        "session_busy",
        "A turn of the session is running, and the request does not wait for it. Send it again "
        "after the reply to that turn.",
    ),
    TurnInterruptedError: (
        HTTPStatus.CONFLICT,
        "turn_interrupted",
        "The turn was given up because a newer message came. Nothing of it was stored.",
    ),
    TakeoverError: (HTTPStatus.CONFLICT, "not_with_you", None),
    IdempotencyKeyError: (
        HTTPStatus.UNPROCESSABLE_ENTITY,
        "idempotency_key_reused",
        None,
    ),
    NeedsMigrationError: (HTTPStatus.CONFLICT, "needs_migration", None),
    NotWaitingError: (HTTPStatus.CONFLICT, "not_waiting", None),
    WaitingError: (HTTPStatus.CONFLICT, "waiting", None),
    InvalidCursorError: (HTTPStatus.UNPROCESSABLE_ENTITY, "invalid_cursor", None),
    InvalidMessageError: (HTTPStatus.UNPROCESSABLE_ENTITY, "invalid_message", None),
}


def invalid_request(faults: Sequence[Fault], said: Sequence[str] = ()) -> Problem:
    """Return the problem for a request that is not valid.

    Args:
        said: The text of each in `errors`. Default: its message.
    """
    told = zip(faults, said or [fault.message for fault in faults], strict=True)
    return Problem(
        HTTPStatus.UNPROCESSABLE_ENTITY,
        "invalid_request",
        "The request does not match the API description; `faults` has each fault.",
        errors=[{"where": str(fault.where), "what": what} for fault, what in told],
        faults=faults,
    )


def _fault(error: Mapping[str, Any]) -> Fault:
    """Return the fault of a request; what comes from the client is not repeated."""
    unknown = error["type"] == "extra_forbidden"
    path = error["loc"][:-1] if unknown else error["loc"][:2]
    message, remedy = "it is not valid", wanted(error, _WORDS)
    if unknown:
        message, remedy = "there is an unknown name.", "Use the names of the API description."
    elif error["type"] == "missing":
        message, remedy = "it is missing.", ""
    return Fault(message, *path, remedy=remedy, where=".".join(map(str, path)))


def _of_http(error: HTTPException) -> Problem:
    if isinstance(error, Problem):
        return error
    status = HTTPStatus(error.status_code)
    return Problem(status, status.name.lower(), f"{status.description}.", headers=error.headers)


def answer_problems(app: FastAPI) -> None:
    """Turn every error of a route into a problem."""

    async def refuse(request: Request, error: Exception) -> JSONResponse:
        request_id: str = request.state.request_id
        return problem_of(error, request_id).response(request_id)

    async def refuse_method(request: Request, _: Exception) -> JSONResponse:
        # The framework names the methods of the first route of the path only.
        allowed = {"Allow": ", ".join(_methods_of(request))}
        return await refuse(request, HTTPException(HTTPStatus.METHOD_NOT_ALLOWED, headers=allowed))

    for kind in (RequestValidationError, HTTPException, JourneyError):
        app.add_exception_handler(kind, refuse)
    app.add_exception_handler(HTTPStatus.METHOD_NOT_ALLOWED, refuse_method)


def _methods_of(request: Request) -> list[str]:
    routes = request.app.routes
    asked = {name: request.scope[name] for name in ("type", "path", "root_path", "headers")}

    def has(method: HTTPMethod) -> bool:
        scope = {**asked, "method": method}
        return any(route.matches(scope)[0] is Match.FULL for route in routes)

    return [*filter(has, HTTPMethod)]
