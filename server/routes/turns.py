"""Take a turn: a message goes in, a reply comes out."""

from __future__ import annotations

from collections.abc import AsyncIterator

from fastapi import APIRouter
from fastapi.sse import EventSourceResponse, ServerSentEvent

from server.deps import LiveSession, RequestId, RunningTurns, Spoken
from server.events import AS_EVENTS
from server.routing import ApiRoute, EventsRoute
from server.schemas import Reply

router = APIRouter(tags=["turns"], route_class=ApiRoute)
events_router = APIRouter(route_class=EventsRoute, include_in_schema=False)
_PATH = "/v1/sessions/{session_id}/messages"


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

    Tokens are provisional until `done`, which comes after the commit and holds the whole reply.
    """
    async for event in turns.tell(session, message, request_id).events():
        yield event
