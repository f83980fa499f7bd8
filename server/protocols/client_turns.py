"""The session of a request in the protocol of another product, its turn, and how that is streamed.

Clients of these protocols send the conversation with every request. The session has it already, so
only the last message of the user is a turn.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus
from operator import methodcaller
from typing import Annotated, Any, NamedTuple, TypeVar

from fastapi import Depends, Header, Path, Request
from fastapi.sse import KEEPALIVE_COMMENT, ServerSentEvent, format_sse_event
from pydantic import TypeAdapter, ValidationError
from starlette.responses import StreamingResponse

from journeygraph.graphs.records.idempotency import HistoryKey, new_id
from journeygraph.graphs.records.listing import SessionListing
from journeygraph.graphs.session.manager import PathwayManager
from journeygraph.graphs.session.turn import TurnRequest, rule_of
from journeygraph.journeys import SessionExistsError
from journeygraph.journeys.config import WhenBusy
from journeygraph.nodes.state.session import PARTING
from journeygraph.server.http.deps import (
    REPLAYED,
    Client,
    CurrentCaller,
    Deps,
    IdempotencyKey,
    RequestId,
    known_version,
)
from journeygraph.server.http.event_logs import TurnLog
from journeygraph.server.http.problems import Problem, no_session
from journeygraph.server.http.routes.events import turn_to_come
from journeygraph.server.http.routing import EVENTS, ApiRoute
from journeygraph.server.http.schemas import Reply, SessionId

SESSION_HEADER = "X-Session-Id"
"""Header of requests and answers with the id of the session."""
MAX_HISTORY_BYTES = 1024 * 1024
"""Maximum size of a request body with a whole conversation, in bytes."""
AS_STREAM: dict[int | str, dict[str, Any]] = {
    200: {"description": "The events.", "content": {EVENTS: {"schema": {"type": "string"}}}}
}
"""API description of a route that always streams."""
PING_SECONDS = 15.0
"""Seconds without an event after which a comment keeps the connection of a stream."""
ModelName = Annotated[
    str, Path(max_length=400, description="The journey, as JOURNEY or JOURNEY@VERSION.")
]
BusyRule = Annotated[
    WhenBusy | None,
    Header(
        alias="X-When-Busy",
        description="Rule if a turn of the session runs, as `when_busy` of a message: `enqueue`, "
        "`reject` or `interrupt`. Default: that of the server.",
    ),
]
_SESSION_ID: TypeAdapter[str] = TypeAdapter(SessionId)
_T = TypeVar("_T")


class HistoryRoute(ApiRoute):
    """A route whose body has a whole conversation."""

    def most_bytes(self, request: Request) -> int:
        """Return the maximum size of a body."""
        return MAX_HISTORY_BYTES


@dataclass(frozen=True)
class ClientRequest:
    """The parts of a request that all protocols have."""

    app_state: Deps
    caller: CurrentCaller
    client: Client
    request_id: RequestId
    key: IdempotencyKey
    when_busy: BusyRule = None


Asked = Annotated[ClientRequest, Depends()]


@dataclass(slots=True)
class NamedConversation:
    """One session and its journey, as a request names them.

    A session that does not exist begins with its first turn. If the key belongs to a user, it gets
    an id that is made from the user and the name.

    Attributes:
        model: The journey, as JOURNEY or JOURNEY@VERSION. A version is for the begin alone: a
            session continues in its own.
        may_begin: True if a session that does not exist begins. What continues a reply, or answers
            a question, belongs to a session that was there.
    """

    request: ClientRequest
    model: str
    session_id: str
    may_begin: bool = True

    @property
    def journey_id(self) -> str:
        """The journey."""
        return self.model.partition("@")[0]

    @property
    def headers(self) -> dict[str, str]:
        """The headers of the answer."""
        return {SESSION_HEADER: self.session_id}

    async def reply(self, message: str, key: str | HistoryKey) -> TurnAnswer:
        """Take a turn and return its reply.

        Args:
            key: Key of the message, if the request has no idempotency key.

        Raises:
            Problem: The journey is not served, or is not that of the session.
        """
        given = self._given(message, key)
        act = self._in_journey(methodcaller("answer", given))

        async def turn() -> Any:
            return await self.request.app_state.turns.take(
                self.request.app_state.in_turn(self.request.caller, self.session_id, act, given)
            )

        response = await self._begun(turn)
        shown = Reply.of(self.session_id, response).model_dump(mode="json")
        return TurnAnswer(shown, {**self.headers, **(REPLAYED if response.replayed else {})})

    async def said(self, message: str, key: str | HistoryKey) -> Heard:
        """Begin a turn for a message and return its events, as `reply` does with its reply."""
        return await self.streamed(self._given(message, key))

    async def streamed(self, given: TurnRequest) -> Heard:
        """Begin a turn and return its events.

        Raises:
            JourneyError: As of `reply`, unless the turn has begun.
        """
        act = self._in_journey(methodcaller("events", given))
        in_turn = partial(self.request.app_state.in_turn, self.request.caller, given=given)

        async def turn() -> TurnLog:
            return await self.request.app_state.turns.tell(
                self.session_id, in_turn, act, self.request.request_id
            )

        log = await self._begun(turn)
        return Heard(log.events, {**self.headers, **(REPLAYED if log.replayed else {})})

    def _given(self, message: str, key: str | HistoryKey) -> TurnRequest:
        return TurnRequest.message(message, self.request.key or key, self.rule())

    def rule(self) -> WhenBusy:
        """Return the rule if a turn of the session runs."""
        return rule_of(self.request.app_state.config, self.request.when_busy)

    async def running(self) -> Heard | None:
        """Return the events of the turn that runs, from its beginning.

        A process that does not run it sends the whole reply after the commit.

        Returns:
            None: no turn runs, or the client has no such session of this journey.
        """
        for name in filter(None, (self.session_id, self._name_of_user())):
            found = await self.request.app_state.directory.found(name)
            if found is None or not self.request.caller.reaches(name, found.user):
                continue
            if found.listed.journey_id != self.journey_id:
                return None
            self.session_id = name
            return await self._running(found.listed)
        return None

    async def _running(self, listed: SessionListing) -> Heard | None:
        if log := self.request.app_state.turns.log_of(listed.session_id, listed.version + 1):
            return Heard(log.events, self.headers)
        turn = await self.request.app_state.directory.running_turn(listed.session_id)
        if turn is None:
            return None
        events = partial(
            turn_to_come, self.request.app_state, listed, turn, self.request.request_id
        )
        return Heard(events, self.headers)

    def _in_journey(self, act: Callable[[PathwayManager], _T]) -> Callable[[PathwayManager], _T]:
        def checked(session: PathwayManager) -> _T:
            if session.spec.id != self.journey_id:
                raise Problem(
                    HTTPStatus.CONFLICT,
                    "other_journey",
                    f"The session belongs to the journey '{session.spec.id}'. Send that as model, "
                    "or name another session.",
                )
            return act(session)

        return checked

    async def _begun(self, turn: Callable[[], Awaitable[_T]]) -> _T:
        """Take a turn; if there is no session, begin it and take the turn again."""
        if done := await self._found(turn):
            return done
        if name := self._name_of_user():
            self.session_id = name
            if done := await self._found(turn):
                return done
        if not self.may_begin:
            raise no_session()
        await self._begin()
        return await turn()

    def _name_of_user(self) -> str | None:
        """Return the id of a session that the user of the key names; None: the name is the id.

        Users choose names freely: the same name of another user is another session.
        """
        if self.request.caller.user is None or self.session_id == self.request.caller.session:
            return None
        return new_id(f"{self.request.caller.tenant}|{self.request.caller.user}", self.session_id)

    async def _found(self, turn: Callable[[], Awaitable[_T]]) -> _T | None:
        try:
            return await turn()
        except Problem as problem:
            if problem.code != "session_not_found" or self._is_out_of_reach():
                raise
        return None

    def _is_out_of_reach(self) -> bool:
        return self.request.caller.session not in (None, self.session_id)

    async def _begin(self) -> None:
        await self.request.app_state.follow()
        journey_id, _, version = self.model.partition("@")
        served = await known_version(self.request.app_state, journey_id, version or None)
        await self.request.app_state.keys.count(self.request.caller, "sessions")
        async with self.request.app_state.session(served, _new_id(self.session_id)) as session:
            with suppress(SessionExistsError):  # another request was faster
                await session.start_session(user=self.request.caller.user)


def _new_id(session_id: str) -> str:
    try:
        return _SESSION_ID.validate_python(session_id)
    except ValidationError:
        raise Problem(
            HTTPStatus.UNPROCESSABLE_ENTITY,
            "invalid_session_id",
            "The id of a new session must be 1 to 200 letters, digits and ._~:@+-, and start with "
            "a letter or a digit.",
        ) from None


class TurnAnswer(NamedTuple):
    """The reply of a turn, as JSON of the model `Reply`, and the headers of the answer."""

    reply: Mapping[str, Any]
    headers: Mapping[str, str]


class StreamPart(NamedTuple):
    """One part of a streamed turn.

    Attributes:
        kind: text; replaced, if the texts together are not the reply; done; error.
        data: The text; the reply, which the texts end with; JSON of the model `Reply`; the problem.
    """

    kind: str
    data: Any


class Heard(NamedTuple):
    """The events of a turn, and the headers of the answer."""

    events: Callable[[], AsyncIterator[ServerSentEvent]]
    headers: Mapping[str, str]

    async def pieces(self) -> AsyncIterator[StreamPart]:
        """Yield the parts of the turn: texts, `replaced` if it applies, and `done` or `error`."""
        sent = ""
        async for event in self.events():
            data = json.loads(event.raw_data or "{}")
            if event.event == "token" and data["text"]:
                sent += data["text"]
                yield StreamPart("text", data["text"])
            elif event.event == "done":
                for piece in _rest(sent, data["message"]):
                    yield piece
                yield StreamPart("done", data)
            elif event.event == "error":
                yield StreamPart("error", data)


def _rest(sent: str, reply: str) -> Iterator[StreamPart]:
    """Yield the part of a reply that was not streamed; all of it if something else was."""
    is_part = reply.startswith(sent)
    rest = reply[len(sent) :] if is_part else "" if sent.endswith(reply) else PARTING + reply
    if rest:
        yield StreamPart("text", rest)
    if not is_part:
        yield StreamPart("replaced", reply)


class Writer:
    """Writes the parts of a turn as the events of a protocol."""

    end = b""
    """The end of a stream."""

    async def events(self, heard: Heard) -> AsyncIterator[bytes]:
        """Yield the events of a turn."""
        yield self.begun()
        said, is_open = "", False
        async for kind, data in heard.pieces():
            if kind == "text":
                yield self.text(data, is_first=not is_open)
                said, is_open = said + data, True
                continue
            if is_open:
                yield self.text_ended()
                is_open = False
            if kind == "replaced":
                yield self.replaced(data)
            else:
                yield self.failed(data) if kind == "error" else self.done(data, said)
        yield self.end

    def begun(self) -> bytes:
        """Return the beginning of a stream."""
        return b""

    def text(self, text: str, *, is_first: bool) -> bytes:
        """Return a part of the reply."""
        raise NotImplementedError

    def text_ended(self) -> bytes:
        """Return the end of the text."""
        return b""

    def replaced(self, reply: str) -> bytes:
        """Return a reply that is not the text so far, which ends with it."""
        return b""

    def failed(self, problem: Mapping[str, Any]) -> bytes:
        """Return the error of a turn that failed."""
        raise NotImplementedError

    def done(self, reply: Mapping[str, Any], text: str) -> bytes:
        """Return the end of a turn, with its reply as the model `Reply`, and the text so far."""
        raise NotImplementedError


def server_sent(data: Any, event: str | None = None) -> bytes:
    """Return one server-sent event with JSON data."""
    return format_sse_event(data_str=json.dumps(data, ensure_ascii=False), event=event)


def event_stream(
    writer: Writer, heard: Heard, headers: Mapping[str, str] | None = None
) -> StreamingResponse:
    """Return the response that streams a turn as server-sent events."""
    unbuffered = {**heard.headers, **(headers or {}), "X-Accel-Buffering": "no"}
    parts = _kept_open(writer.events(heard))
    return StreamingResponse(parts, headers=unbuffered, media_type=EVENTS)


async def _kept_open(parts: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Yield the parts, with a comment while there is none."""
    coming = asyncio.ensure_future(anext(parts, None))
    try:
        while True:
            await asyncio.wait([coming], timeout=PING_SECONDS)
            if not coming.done():
                yield KEEPALIVE_COMMENT
                continue
            if (part := coming.result()) is None:
                return
            yield part
            coming = asyncio.ensure_future(anext(parts, None))
    finally:
        coming.cancel()
