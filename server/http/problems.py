"""Errors as problem+json (RFC 9457): a stable code, never the data that was sent."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse

from graphs.storage.errors import Unconfirmed
from journeys import (
    ContextMergeError,
    ContextSizeExceededError,
    FieldNotFoundError,
    InvalidCursorError,
    InvalidMessageError,
    JourneyError,
    NotWaitingError,
    SessionExistsError,
    SessionExpiredError,
    SessionNotStartedError,
    StateError,
    TakeoverError,
    VersionNotFoundError,
)
from nodes.telemetry import report

MEDIA_TYPE = "application/problem+json"
RETRY_AFTER = 1
"""Seconds after which a store that did not answer may be asked again."""


class Problem(HTTPException):
    """An answer that says why there is no other.

    Attributes:
        code: What went wrong, for programs; it does not change between releases.
        errors: Where in the request, and what is wrong there; never the value.
    """

    def __init__(
        self,
        status: HTTPStatus,
        code: str,
        detail: str,
        *,
        headers: Mapping[str, str] | None = None,
        errors: list[dict[str, str]] | None = None,
    ) -> None:
        super().__init__(status, detail, headers)
        self.code = code
        self.errors = errors

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
        return {**said, "errors": self.errors} if self.errors else said

    def response(self, request_id: str) -> JSONResponse:
        """Return it as a response."""
        headers = dict(self.headers or {})
        return JSONResponse(self.body(request_id), self.status_code, headers, MEDIA_TYPE)


def no_session() -> Problem:
    """Say that a session is not there, in the same words whatever the reason."""
    return Problem(*_NO_SESSION)


def problem_of(error: Exception, request_id: str) -> Problem:
    """Return what an error means to a client; one that nobody expected is logged."""
    if isinstance(error, Problem):
        return error
    if isinstance(error, StateError) and error.retryable:
        report(logging.WARNING, "store_failed", request_id=request_id, reason=str(error))
        if isinstance(error, Unconfirmed):
            return Problem(*_UNCONFIRMED)
        return Problem(
            HTTPStatus.SERVICE_UNAVAILABLE,
            "try_again",
            "The request could not be carried out just now; nothing of it was kept. Send it again.",
            headers={"Retry-After": str(RETRY_AFTER)},
        )
    for kind, (status, code, detail) in _MEANINGS.items():
        if isinstance(error, kind):
            return Problem(status, code, detail or str(error))
    report(logging.ERROR, "request_failed", request_id=request_id, exc_info=error)
    return Problem(
        HTTPStatus.INTERNAL_SERVER_ERROR,
        "internal_error",
        "Something went wrong here. The log of the server has it under this request id.",
    )


_UNCONFIRMED = (
    HTTPStatus.SERVICE_UNAVAILABLE,
    "outcome_unknown",
    "The store did not answer, so this may have been done, or not. "
    "GET the session before you send it again.",
)
_NO_SESSION = (
    HTTPStatus.NOT_FOUND,
    "session_not_found",
    "There is no session of this id. POST /v1/sessions begins one.",
)
# The text of an error is said only where it can hold nothing of what was sent.
_MEANINGS: dict[type[JourneyError], tuple[HTTPStatus, str, str | None]] = {
    SessionNotStartedError: _NO_SESSION,
    VersionNotFoundError: (
        HTTPStatus.NOT_FOUND,
        "version_not_found",
        "The session has no version of this number, or its state was pruned. "
        "GET .../versions lists them.",
    ),
    FieldNotFoundError: (
        HTTPStatus.NOT_FOUND,
        "field_not_found",
        "The journey collects no field of this name. GET .../fields lists them.",
    ),
    SessionExistsError: (
        HTTPStatus.CONFLICT,
        "session_exists",
        "A session of this id is there already. Go on with it, or DELETE it first.",
    ),
    SessionExpiredError: (
        HTTPStatus.GONE,
        "session_expired",
        "The session has expired. Begin another one, or DELETE it to use its id again.",
    ),
    ContextSizeExceededError: (
        HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
        "context_too_large",
        "The context is larger than a session may keep.",
    ),
    ContextMergeError: (
        HTTPStatus.UNPROCESSABLE_ENTITY,
        "invalid_context",
        "A value of the context cannot be kept.",
    ),
    TakeoverError: (HTTPStatus.CONFLICT, "not_with_you", None),
    NotWaitingError: (HTTPStatus.CONFLICT, "not_waiting", None),
    InvalidCursorError: (HTTPStatus.UNPROCESSABLE_ENTITY, "invalid_cursor", None),
    InvalidMessageError: (HTTPStatus.UNPROCESSABLE_ENTITY, "invalid_message", None),
}


def invalid_request(*faults: dict[str, str]) -> Problem:
    """Say of a request where it is not as described: `where`, and `what` is wrong there."""
    return Problem(
        HTTPStatus.UNPROCESSABLE_ENTITY,
        "invalid_request",
        "The request is not as the API describes it.",
        errors=list(faults),
    )


def _fault(fault: Mapping[str, Any]) -> dict[str, str]:
    """Say where and what; a name that we do not know is the client's, and is not repeated."""
    unknown = fault["type"] == "extra_forbidden"
    where = fault["loc"][:-1] if unknown else fault["loc"][:2]
    return {"where": ".".join(str(part) for part in where), "what": fault["msg"]}


def _of_http(error: HTTPException) -> Problem:
    """Return what the framework refuses by itself: an unknown path, a wrong method."""
    if isinstance(error, Problem):
        return error
    status = HTTPStatus(error.status_code)
    return Problem(status, status.name.lower(), f"{status.description}.", headers=error.headers)


def answer_problems(app: FastAPI) -> None:
    """Answer every error of a route as a problem."""

    async def refuse(request: Request, error: Exception) -> JSONResponse:
        request_id: str = request.state.request_id
        if isinstance(error, RequestValidationError):
            return invalid_request(*map(_fault, error.errors())).response(request_id)
        if isinstance(error, HTTPException):
            return _of_http(error).response(request_id)
        return problem_of(error, request_id).response(request_id)

    for kind in (RequestValidationError, HTTPException, JourneyError):
        app.add_exception_handler(kind, refuse)
