"""Routes of the data of a user: export and deletion."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from http import HTTPStatus
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path
from fastapi.responses import StreamingResponse

from journeygraph.graphs.session.input import checked_id
from journeygraph.graphs.users.deletion import Deletion, DeletionUnfinishedError
from journeygraph.graphs.users.export import Record
from journeygraph.journeys import ConfigurationError, StateError
from journeygraph.server.http.deps import Deps, RequestId
from journeygraph.server.http.problems import RETRY_AFTER, Problem, problem_of
from journeygraph.server.http.routing import ApiRoute

LINES = "application/x-ndjson"
"""Media type of JSON lines."""
_PIECE = 64 * 1024
"""Bytes after which records are sent."""
_AS_LINES: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "JSON lines, each with `type`. The first is `export`, the last `end` with "
        "the number of `sessions` and `records`. If something fails later, the last is `error` "
        "with a `problem`.",
        "content": {LINES: {"schema": {"type": "string"}}},
    }
}

router = APIRouter(prefix="/v1/users", tags=["users"], route_class=ApiRoute)


def _no_user() -> Problem:
    return Problem(
        HTTPStatus.NOT_FOUND,
        "user_not_found",
        "There is no session and no key of this user. GET /v1/sessions/{session_id} shows sessions "
        "without a user.",
    )


_UserId = Annotated[str, Path(description="Id of the user; a `/` in it may be sent as it is.")]


async def _named(user_id: _UserId) -> str:
    try:
        return checked_id(user_id, "user_id")
    except ConfigurationError:
        raise _no_user() from None


User = Annotated[str, Depends(_named)]


@router.get("/{user_id:path}/export", response_class=StreamingResponse, responses=_AS_LINES)
async def export(user: User, app_state: Deps, request_id: RequestId) -> StreamingResponse:
    """Return all that the server has of a user, decrypted, as JSON lines.

    For each session: `session`, `state` (context, fields, last messages), then its `turn`, `audit`,
    `check`, `field_attempt`, `effect`, `answer`, `timer`, `running_turn` and `escalation` records;
    at the end each `key`, without its secret. Sessions without a user are not part of it. 404
    `user_not_found`: there is no session and no key of this user. 409 `not_readable`: a session
    cannot be decrypted.
    """
    records = await app_state.directory.export_user(user)
    if records is None:
        raise _no_user()
    lines = _lines(records, request_id)
    first = await anext(lines)
    return StreamingResponse(_joined(first, lines), media_type=LINES)


@router.delete("/{user_id:path}")
async def delete(user: User, app_state: Deps) -> Deletion:
    """Delete all sessions of a user, with all that belongs to them, and the user's keys and tokens.

    Running turns are waited for. The answer counts what this request has deleted. 404
    `user_not_found`: there is no session and no key of this user, so also after a deletion. 503
    `deletion_unfinished`: send it again, which continues.
    """
    done = app_state.directory.delete_user(user, app_state.erase, app_state.forget)
    try:
        deleted = await app_state.turns.take(done)
    except DeletionUnfinishedError as error:
        raise Problem(
            HTTPStatus.SERVICE_UNAVAILABLE,
            "deletion_unfinished",
            str(error),
            headers={"Retry-After": str(RETRY_AFTER)},
        ) from error
    if deleted is None:
        raise _no_user()
    return deleted


async def _lines(records: AsyncIterator[Record], request_id: str) -> AsyncIterator[bytes]:
    """Yield records as JSON lines, many at once; after a failure, the last line is a problem."""
    piece, is_begun = bytearray(), False
    try:
        async for record in records:
            piece += _line(record)
            if len(piece) >= _PIECE:
                yield bytes(piece)
                piece.clear()
                is_begun = True
    except Exception as error:
        failed = _failure(error)
        if not is_begun:
            raise failed from error
        body = problem_of(failed, request_id).body(request_id)
        piece += _line({"type": "error", "problem": body})
    yield bytes(piece)


def _line(record: Record) -> bytes:
    return json.dumps(record, ensure_ascii=False).encode() + b"\n"


def _failure(error: Exception) -> Exception:
    is_lasting = isinstance(error, StateError) and not error.retryable
    if isinstance(error, ConfigurationError) or is_lasting:
        return Problem(HTTPStatus.CONFLICT, "not_readable", str(error))
    return error


async def _joined(first: bytes, more: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    yield first
    async for piece in more:
        yield piece
