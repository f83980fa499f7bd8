"""Routes of streams that continue: the events of one turn, and the versions of a session."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Depends, Path
from fastapi.sse import EventSourceResponse, ServerSentEvent
from pydantic import TypeAdapter

from journeygraph.graphs.records.listing import SessionListing, cursor_behind
from journeygraph.journeys import SessionExpiredError, VersionInfo, VersionNotFoundError
from journeygraph.server.access.callers import Caller
from journeygraph.server.http.app_state import AppState
from journeygraph.server.http.deps import (
    CurrentCaller,
    Deps,
    LastEvent,
    ListedSession,
    RequestId,
    served_of,
)
from journeygraph.server.http.event_logs import STORED, EventId
from journeygraph.server.http.problems import Problem
from journeygraph.server.http.routing import ApiRoute
from journeygraph.server.http.turns import GRACE_SECONDS, problem_data, reply_data

_AT_ONCE = 200
"""Number of versions that are read at once."""
_VERSION = TypeAdapter(VersionInfo)
_Events = AsyncIterator[ServerSentEvent]
TurnNumber = Annotated[int, Path(ge=1, le=999_999_999, description="Number of the turn.")]

_UNCOMMITTED = Problem(
    HTTPStatus.SERVICE_UNAVAILABLE,
    "outcome_unknown",
    "The turn was not committed in its time. GET the session, and send the message again with its "
    "Idempotency-Key.",
)

router = APIRouter(prefix="/v1/sessions", tags=["turns"], route_class=ApiRoute)


async def _of_turn(
    listed: ListedSession, turn: TurnNumber, last: LastEvent, app_state: Deps, request_id: RequestId
) -> _Events:
    known = last or EventId(turn)
    if known.turn != turn:
        raise Problem(
            HTTPStatus.UNPROCESSABLE_ENTITY,
            "invalid_event_id",
            f"Last-Event-ID belongs to turn {known.turn}, not to turn {turn}. GET the events of "
            "that turn.",
        )
    session_id = listed.session_id
    if log := app_state.turns.log_of(session_id, turn, known.run):
        return log.events(known.number)
    if known.run == STORED:
        return _these()
    if turn > listed.version + 1:
        raise Problem(
            HTTPStatus.NOT_FOUND,
            "turn_not_found",
            f"The session has no turn {turn}; its last one is {listed.version}.",
        )
    if turn <= listed.version:
        return _these(await _reply(app_state, listed, turn))
    return turn_to_come(app_state, listed, turn, request_id)


async def _of_session(
    listed: ListedSession,
    last: LastEvent,
    app_state: Deps,
    request_id: RequestId,
    caller: CurrentCaller,
) -> _Events:
    known = last.turn if last else listed.version
    if known > listed.version:
        raise _gone(f"The session has no version {known}; its last one is {listed.version}.")
    if listed.status == "expired":
        raise SessionExpiredError(f"Session '{listed.session_id}' has expired.")
    return _versions(app_state, listed, known, request_id, caller)


@router.get("/{session_id}/turns/{turn}/events", response_class=EventSourceResponse)
async def turn_events(events: Annotated[_Events, Depends(_of_turn)]) -> _Events:
    """Return the events of a turn, from its beginning or after the event in `Last-Event-ID`.

    The process of the turn keeps its events until 5 minutes after its end. If it dropped events, it
    sends `gone` instead of them. Any other process waits for the commit and sends only `done`, with
    the whole reply. 410 `events_gone`: the state of the turn was pruned.
    """
    async for event in events:
        yield event


@router.get("/{session_id}/events", response_class=EventSourceResponse)
async def session_events(events: Annotated[_Events, Depends(_of_session)]) -> _Events:
    """Get each new version of a session as an event `version`, from any client and any process.

    These are turns, reminders, messages of operators, rollbacks and other changes, with the data of
    `GET .../versions`. The id of the event is the number of the version: with it in
    `Last-Event-ID`, a stream continues in any process. `expired` or `deleted` is the last event.
    """
    async for event in events:
        yield event


def _gone(detail: str) -> Problem:
    remedy = "GET the session and its history, and continue after its version."
    return Problem(HTTPStatus.GONE, "events_gone", f"{detail} {remedy}")


async def _reply(app_state: AppState, listed: SessionListing, turn: int) -> ServerSentEvent:
    async with app_state.session(await served_of(listed, app_state), listed.session_id) as session:
        try:
            response = await session.response_at(turn)
        except VersionNotFoundError:
            detail = f"The reply of turn {turn} is not kept, or it is no turn of the user."
            raise _gone(detail) from None
    data = reply_data(listed.session_id, response)
    return ServerSentEvent(event="done", raw_data=data, id=str(EventId(turn, 0, STORED)))


async def _these(*events: ServerSentEvent) -> _Events:
    for event in events:
        yield event


async def turn_to_come(
    app_state: AppState, listed: SessionListing, turn: int, request_id: str
) -> AsyncIterator[ServerSentEvent]:
    """Wait for the commit of a turn of another process, and yield its last event."""
    limit = app_state.config.turn_timeout_seconds + GRACE_SECONDS
    with app_state.turns.watched.watch(listed.session_id, app_state.directory.heads) as seen:
        try:
            async with asyncio.timeout(limit):
                await seen.beyond(turn - 1)
            if seen.end != "stopping":
                yield await _reply(app_state, listed, turn)
        except TimeoutError:
            yield _error(_UNCOMMITTED, request_id)
        except Exception as error:
            yield _error(error, request_id)


async def _versions(
    app_state: AppState, listed: SessionListing, known: int, request_id: str, caller: Caller
) -> _Events:
    # An id without data: whoever connects again before the first event misses nothing.
    yield ServerSentEvent(id=str(known))
    watched = app_state.turns.watched.watch(listed.session_id, app_state.directory.heads)
    with app_state.keys.held(caller) as held, watched as seen:
        while not seen.end:
            await held.limits(seen.beyond(known))
            if held.is_over:
                return
            try:
                found = [] if seen.end else await _after(app_state, listed, known)
            except Exception as error:
                yield _error(error, request_id)
                return
            for version in found:
                data = _VERSION.dump_json(version).decode()
                known = version.version
                yield ServerSentEvent(event="version", raw_data=data, id=str(known))
    if seen.end != "stopping":
        yield ServerSentEvent(event=seen.end, raw_data="{}")


async def _after(
    app_state: AppState, listed: SessionListing, version: int
) -> Sequence[VersionInfo]:
    async with app_state.session(await served_of(listed, app_state), listed.session_id) as session:
        return await session.versions(_AT_ONCE, cursor_behind(version + 1))


def _error(error: Exception, request_id: str) -> ServerSentEvent:
    return ServerSentEvent(event="error", raw_data=problem_data(error, request_id))
