"""Routes of turns: a message in, a reply out."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from functools import partial
from http import HTTPStatus
from operator import methodcaller
from typing import Annotated, Any, get_type_hints

from fastapi import APIRouter, Depends
from fastapi.sse import EventSourceResponse, ServerSentEvent
from starlette.responses import Response
from starlette.routing import Match
from starlette.types import Receive, Scope, Send

from journeygraph.graphs.session.turn import TurnRequest, rule_of
from journeygraph.journeys import JourneyResponse
from journeygraph.server.access.callers import Caller
from journeygraph.server.http.app_state import AppState
from journeygraph.server.http.deps import (
    REPLAYED,
    CurrentCaller,
    Deps,
    IdempotencyKey,
    RequestId,
    SessionName,
)
from journeygraph.server.http.event_logs import TurnLog
from journeygraph.server.http.routing import (
    JSON,
    ApiRoute,
    idempotency_key,
    session_name,
    wants_events,
)
from journeygraph.server.http.schemas import Event, Message, Reply, Resumed
from journeygraph.server.http.turns import AS_EVENTS

_Answer = Callable[[str, Any, Deps, CurrentCaller, str | None], Awaitable[JourneyResponse]]


class TurnRoute(ApiRoute):
    """A route of turns, which are most of all requests: it reads its arguments itself.

    FastAPI describes it like any other. Its way through declared parameters and dependencies would
    take as long as a large part of a turn.
    """

    def __init__(self, path: str, endpoint: _Answer, **options: Any) -> None:
        super().__init__(path, endpoint, **options)
        self._answer = endpoint
        self._model = get_type_hints(endpoint)["given"]
        self._has_events = self.responses.get(HTTPStatus.OK) is AS_EVENTS[HTTPStatus.OK]

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Leave those who want events to the next route of the path, if there is one."""
        match, found = super().matches(scope)
        if match is Match.FULL and self._has_events and wants_events(scope):
            return Match.NONE, {}
        return match, found

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["method"] != "POST":
            await super().handle(scope, receive, send)  # which refuses it
            return
        request = await self.admit(scope, receive)
        value = await request.json() if await request.body() else None
        session_id = session_name(scope["path_params"]["session_id"])
        given = await request.given(self._model, value)
        key = idempotency_key(request.headers)
        answered = await self._answer(session_id, given, request.app_state, request.caller, key)
        body = Reply.of(session_id, answered).model_dump_json().encode()
        headers = REPLAYED if answered.replayed else None
        await Response(body, media_type=JSON, headers=headers)(scope, receive, send)


router = APIRouter(tags=["turns"], route_class=TurnRoute)
events_router = APIRouter(route_class=ApiRoute, include_in_schema=False)
_PATH = "/v1/sessions/{session_id}/messages"
_RESUME = "/v1/sessions/{session_id}/resume"


@router.post(_PATH, responses=AS_EVENTS, response_model=Reply)
async def answer(
    session_id: SessionName,
    given: Message,
    app_state: Deps,
    caller: CurrentCaller,
    key: IdempotencyKey,
) -> JourneyResponse:
    """Send a message of the user; the reply comes when the turn is committed.

    The turns of a session run one at a time, in the order of the requests. A turn continues if the
    client disconnects, and GET shows its result. With `Accept: text/event-stream` the response is a
    stream of events.
    """
    rule = rule_of(app_state.config, given.when_busy)
    return await _taken(
        caller, session_id, TurnRequest.message(given.message, key, rule), app_state
    )


async def _taken(
    caller: Caller, session_id: str, given: TurnRequest, app_state: AppState
) -> JourneyResponse:
    act = methodcaller("answer", given)
    return await app_state.turns.take(app_state.in_turn(caller, session_id, act, given))


async def _heard(
    session_id: SessionName,
    given: Message,
    app_state: Deps,
    caller: CurrentCaller,
    request_id: RequestId,
    key: IdempotencyKey,
    response: Response,
) -> TurnLog:
    wanted = TurnRequest.message(given.message, key, rule_of(app_state.config, given.when_busy))
    return await _told(caller, session_id, wanted, app_state, request_id, response)


async def _told(
    caller: Caller,
    session_id: str,
    given: TurnRequest,
    app_state: AppState,
    request_id: str,
    response: Response,
) -> TurnLog:
    turn = partial(app_state.in_turn, caller, given=given)
    log = await app_state.turns.tell(session_id, turn, methodcaller("events", given), request_id)
    response.headers.update(REPLAYED if log.replayed else {})
    return log


@events_router.post(_PATH, response_class=EventSourceResponse)
async def stream(log: Annotated[TurnLog, Depends(_heard)]) -> AsyncIterator[ServerSentEvent]:
    """Send a message and get events: `transition`, `pathway`, `token`, then `done` or `error`.

    Tokens are provisional until `done`, which comes after the commit and has the whole reply. If an
    agent asks by `interrupt()`, a `waiting` event comes before it.
    """
    async for event in log.events():
        yield event


@router.post(_RESUME, responses=AS_EVENTS, response_model=Reply)
async def resume(
    session_id: SessionName,
    given: Resumed,
    app_state: Deps,
    caller: CurrentCaller,
    key: IdempotencyKey,
) -> JourneyResponse:
    """Answer the question of an agent from `interrupt()`; the turn continues at that place.

    The question is in `metadata.waiting` of the last reply and in `waiting` of GET. A message
    answers it too. If no agent waits: 409 `not_waiting`.
    """
    rule = rule_of(app_state.config, given.when_busy)
    return await _taken(caller, session_id, TurnRequest.answer(given.value, key, rule), app_state)


@router.post("/v1/sessions/{session_id}/events", response_model=Reply)
async def happen(
    session_id: SessionName,
    given: Event,
    app_state: Deps,
    caller: CurrentCaller,
    key: IdempotencyKey,
) -> JourneyResponse:
    """Take an event from outside the conversation, such as a payment, as a turn.

    Its data replaces context values, and an `EventTrigger` of its name, or a condition that became
    true, moves the session. Without that the reply is empty. Send the sender's id of the event as
    `Idempotency-Key`: an event that is sent again is then taken once. While an agent waits for an
    answer: 409 `waiting`. An event waits for the turns before it, as `enqueue` of a message does.
    """
    event = TurnRequest.happening(given.name, given.data, key)
    return await _taken(caller, session_id, event, app_state)


async def _heard_on(
    session_id: SessionName,
    given: Resumed,
    app_state: Deps,
    caller: CurrentCaller,
    request_id: RequestId,
    key: IdempotencyKey,
    response: Response,
) -> TurnLog:
    wanted = TurnRequest.answer(given.value, key, rule_of(app_state.config, given.when_busy))
    return await _told(caller, session_id, wanted, app_state, request_id, response)


@events_router.post(_RESUME, response_class=EventSourceResponse)
async def stream_resumed(
    log: Annotated[TurnLog, Depends(_heard_on)],
) -> AsyncIterator[ServerSentEvent]:
    """Answer the question of an agent, and get the events of the turn."""
    async for event in log.events():
        yield event
