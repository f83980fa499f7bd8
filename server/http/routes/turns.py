"""Take a turn: a message goes in, a reply comes out."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Annotated

from fastapi import APIRouter, Depends
from fastapi.sse import EventSourceResponse, ServerSentEvent

from server.http.deps import RequestId, SessionName, Spoken, Wired
from server.http.events import AS_EVENTS, Listener
from server.http.routing import ApiRoute, EventsRoute
from server.http.schemas.sessions import Reply, Resumed

router = APIRouter(tags=["turns"], route_class=ApiRoute)
events_router = APIRouter(route_class=EventsRoute, include_in_schema=False)
_PATH = "/v1/sessions/{session_id}/messages"
_RESUME = "/v1/sessions/{session_id}/resume"


@router.post(_PATH, responses=AS_EVENTS)
async def answer(session_id: SessionName, message: Spoken, wiring: Wired) -> Reply:
    """Say something; the reply comes when the turn is committed.

    Turns of a session are taken one at a time, in the order in which they came. A turn goes on if
    you hang up, and GET shows it. With `Accept: text/event-stream` it is told while it happens.
    """
    turn = wiring.turn(session_id)
    response = await wiring.turns.take(turn, lambda session: session.process_message(message))
    return Reply.of(session_id, response)


async def _heard(
    session_id: SessionName, message: Spoken, wiring: Wired, request_id: RequestId
) -> Listener:
    turn = wiring.turn(session_id)
    return await wiring.turns.tell(turn, lambda one: one.stream_message(message), request_id)


@events_router.post(_PATH, response_class=EventSourceResponse)
async def stream(listener: Annotated[Listener, Depends(_heard)]) -> AsyncIterator[ServerSentEvent]:
    """Say something, and hear the turn: `transition`, `pathway`, `token`, then `done` or `error`.

    Tokens are provisional until `done`, which comes after the commit and holds the whole reply. A
    turn in which an agent asks by `interrupt()` has a `waiting` before that.
    """
    async for event in listener.events():
        yield event


@router.post(_RESUME, responses=AS_EVENTS)
async def resume(session_id: SessionName, given: Resumed, wiring: Wired) -> Reply:
    """Answer what an agent asked by `interrupt()`; the turn goes on exactly there.

    `metadata.waiting` of the last reply, and `waiting` of GET, say what is asked. A message answers
    it too. Where nothing waits: 409 `not_waiting`.
    """
    turn = wiring.turn(session_id)
    response = await wiring.turns.take(turn, lambda session: session.resume(given.value))
    return Reply.of(session_id, response)


async def _heard_on(
    session_id: SessionName, given: Resumed, wiring: Wired, request_id: RequestId
) -> Listener:
    turn = wiring.turn(session_id)
    return await wiring.turns.tell(turn, lambda one: one.stream_resume(given.value), request_id)


@events_router.post(_RESUME, response_class=EventSourceResponse)
async def stream_resumed(
    listener: Annotated[Listener, Depends(_heard_on)],
) -> AsyncIterator[ServerSentEvent]:
    """Answer what an agent asked, and hear the turn as it goes on."""
    async for event in listener.events():
        yield event
