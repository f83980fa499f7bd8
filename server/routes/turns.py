"""Take a turn: a message goes in, a reply comes out."""

from __future__ import annotations

from collections.abc import AsyncIterator

from fastapi import APIRouter
from fastapi.sse import EventSourceResponse, ServerSentEvent

from server.deps import LiveSession, RequestId, RunningTurns, Spoken
from server.events import AS_EVENTS
from server.routing import ApiRoute, EventsRoute
from server.schemas import Reply, Resumed

router = APIRouter(tags=["turns"], route_class=ApiRoute)
events_router = APIRouter(route_class=EventsRoute, include_in_schema=False)
_PATH = "/v1/sessions/{session_id}/messages"
_RESUME = "/v1/sessions/{session_id}/resume"


@router.post(_PATH, responses=AS_EVENTS)
async def answer(session: LiveSession, message: Spoken, turns: RunningTurns) -> Reply:
    """Say something; the reply comes when the turn is committed.

    Turns of a session are taken one at a time, in the order in which they came. A turn goes on if
    you hang up, and GET shows it. With `Accept: text/event-stream` it is told while it happens.
    """
    return Reply.of(session.session_id, await turns.take(session, message))


@events_router.post(_PATH, response_class=EventSourceResponse)
async def stream(
    session: LiveSession, message: Spoken, turns: RunningTurns, request_id: RequestId
) -> AsyncIterator[ServerSentEvent]:
    """Say something, and hear the turn: `transition`, `pathway`, `token`, then `done` or `error`.

    Tokens are provisional until `done`, which comes after the commit and holds the whole reply. A
    turn in which an agent asks by `interrupt()` has a `waiting` before that.
    """
    async for event in turns.tell(session, message, request_id).events():
        yield event


@router.post(_RESUME, responses=AS_EVENTS)
async def resume(session: LiveSession, given: Resumed, turns: RunningTurns) -> Reply:
    """Answer what an agent asked by `interrupt()`; the turn goes on exactly there.

    `metadata.waiting` of the last reply, and `waiting` of GET, say what is asked. A message answers
    it too. Where nothing waits: 409 `not_waiting`.
    """
    return Reply.of(session.session_id, await turns.resume(session, given.value))


@events_router.post(_RESUME, response_class=EventSourceResponse)
async def stream_resumed(
    session: LiveSession, given: Resumed, turns: RunningTurns, request_id: RequestId
) -> AsyncIterator[ServerSentEvent]:
    """Answer what an agent asked, and hear the turn as it goes on."""
    async for event in turns.tell_resumed(session, given.value, request_id).events():
        yield event
