"""Client of the HTTP API: sessions, turns that are sent again, streams that continue."""

from __future__ import annotations

import asyncio
import json
import uuid
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing
from types import TracebackType
from typing import Any, NamedTuple, Self, TypeVar
from urllib.parse import quote

import httpx2
from pydantic import BaseModel, TypeAdapter, ValidationError

from journeygraph.graphs.evidence.receipts import Receipt
from journeygraph.journeys import EscalationEntry, VersionInfo
from journeygraph.journeys.config import WhenBusy
from journeygraph.server.http.schemas import (
    Escalations,
    Event,
    Fork,
    History,
    Message,
    NewSession,
    ProblemBody,
    Reply,
    Resumed,
    Rollback,
    Session,
    Sessions,
    Status,
)

RETRIES = 5
"""Number of times that a request is sent again, or a stream opened again without a new event."""
FIRST_PAUSE, LONGEST_PAUSE = 0.2, 5.0
"""Seconds before a request is sent again: doubled each time, unless the server names them."""
READ_SECONDS = 90.0
"""Seconds without a byte after which a connection is lost; streams have a comment every 15."""
_LATER = (408, 429, 503)
"""Statuses of a request that may succeed when it is sent again."""
_OVER = ("session_not_found", "session_expired")
"""Codes of a session that is over."""
_VERSION = TypeAdapter(VersionInfo)
_ENTRY = TypeAdapter(EscalationEntry)
_RECEIPT = TypeAdapter(Receipt)
_M = TypeVar("_M", bound=BaseModel)


class ApiError(Exception):
    """The server refused a request, or the turn of a stream failed.

    Attributes:
        status: Status of HTTP; 0 if the server did not answer.
        code: Code for programs, stable between releases; `no_answer` if there was none.
        problem: The whole problem; None if the answer was not one of this API.
    """

    def __init__(self, status: int, code: str, detail: str, problem: ProblemBody | None = None):
        super().__init__(f"{detail} ({status} {code})")
        self.status, self.code, self.problem = status, code, problem


class TurnEvent(NamedTuple):
    """One event of a turn.

    Attributes:
        type: transition, pathway, token, waiting, gone, again, or done. After `again` the turn is
            taken once more: forget its tokens.
        data: As the API describes it.
        reply: The reply; None before `done`.
    """

    type: str
    data: dict[str, Any]
    reply: Reply | None = None


class _Sent(NamedTuple):
    """A server-sent event; empty: without that part."""

    type: str
    data: str
    id: str


class _Requests:
    """Requests to one server, sent again while it does not answer or is busy."""

    def __init__(self, http: httpx2.AsyncClient, retries: int) -> None:
        self.http, self.retries = http, retries

    async def ask(
        self,
        model: type[_M],
        method: str,
        path: str,
        body: BaseModel | Mapping[str, Any] | None = None,
        *,
        key: str | None = None,
        query: Mapping[str, Any] | None = None,
    ) -> _M:
        """Send a request to a path of the API, and return its answer.

        Args:
            model: The model of the answer.
            method: Method of HTTP.
            path: Path, with `/v1`.
            body: The body.
            key: Idempotency key of a POST; default: a new one.
            query: The query; None: left out.
        """
        return model.model_validate_json(await self.send(method, path, body, key, query))

    async def send(
        self,
        method: str,
        path: str,
        body: BaseModel | Mapping[str, Any] | None = None,
        key: str | None = None,
        query: Mapping[str, Any] | None = None,
    ) -> bytes:
        """Send a request as `ask` does, and return the bytes of the answer."""
        given = {name: value for name, value in (query or {}).items() if value is not None}
        request = self.request(method, path, body, key, given)
        for attempt in range(self.retries + 1):
            answer = await self._answer(request)
            if answer is not None and answer.status_code not in _LATER:
                break
            if attempt < self.retries:
                await self.pause(attempt, answer)
        return self.checked(answer).content

    def request(
        self,
        method: str,
        path: str,
        body: BaseModel | Mapping[str, Any] | None = None,
        key: str | None = None,
        query: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> httpx2.Request:
        """Return a request; a POST has an idempotency key."""
        given = body.model_dump(exclude_unset=True) if isinstance(body, BaseModel) else body
        keyed = {"Idempotency-Key": key or str(uuid.uuid4())} if method == "POST" else {}
        named = {**(headers or {}), **keyed}
        return self.http.build_request(method, path, json=given, params=query, headers=named)

    async def opened(self, request: httpx2.Request) -> httpx2.Response | None:
        """Send a request and return its answer, of which the body is not read; None: no answer."""
        try:
            return await self.http.send(request, stream=True)
        except httpx2.TransportError:
            return None

    async def pause(self, attempt: int, answer: httpx2.Response | None = None) -> None:
        """Wait before a request is sent again."""
        named = "" if answer is None else answer.headers.get("retry-after", "")
        pause = min(FIRST_PAUSE * 2**attempt, LONGEST_PAUSE)
        await asyncio.sleep(float(named) if named.isdecimal() else pause)

    def checked(self, answer: httpx2.Response | None) -> httpx2.Response:
        """Return an answer that was read, if the request succeeded."""
        if answer is None:
            raise ApiError(0, "no_answer", f"{self.http.base_url} does not answer.")
        if answer.is_success:
            return answer
        raise _refusal(answer.status_code, answer.content)

    async def _answer(self, request: httpx2.Request) -> httpx2.Response | None:
        try:
            return await self.http.send(request)
        except httpx2.TransportError:
            return None


class JourneyClient:
    """A server, for programs.

    A request that changes something has an idempotency key, and is sent again with it while the
    server does not answer or is busy: it is done once. Use it as a context manager.

    Args:
        url: Address of the server, such as http://127.0.0.1:8000.
        key: API key, if the server has keys.
        retries: Number of times that a request is sent again.
        transport: The transport of httpx2, to replace its network.

    Raises:
        ApiError: Every method, if the server refuses the request, or does not answer.
        ValidationError: Every method, if an argument is not as the API describes it.
    """

    def __init__(
        self,
        url: str,
        key: str | None = None,
        *,
        retries: int = RETRIES,
        transport: httpx2.AsyncBaseTransport | None = None,
    ) -> None:
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        timeout = httpx2.Timeout(READ_SECONDS, connect=5.0)
        http = httpx2.AsyncClient(
            base_url=url, headers=headers, timeout=timeout, transport=transport
        )
        self._requests = _Requests(http, retries)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connections."""
        await self._requests.http.aclose()

    async def begin(
        self,
        journey_id: str | None = None,
        session_id: str | None = None,
        *,
        context: dict[str, Any] | None = None,
        user: str | None = None,
        key: str | None = None,
    ) -> ClientSession:
        """Start a session.

        Args:
            journey_id: The journey; None if the server has one.
            session_id: Default: a new id.
            context: First values of the context.
            user: The user who owns the session.
            key: Idempotency key; default: a new one.
        """
        new = NewSession(journey_id=journey_id, session_id=session_id, context=context, user=user)
        begun = await self._requests.ask(Session, "POST", "/v1/sessions", new, key=key)
        return ClientSession(self._requests, begun.session_id, begun)

    def session(self, session_id: str) -> ClientSession:
        """Return a session that exists; nothing is sent."""
        return ClientSession(self._requests, session_id)

    async def sessions(
        self,
        journey_id: str | None = None,
        status: Status | None = None,
        cursor: str | None = None,
        limit: int = 50,
    ) -> Sessions:
        """Return a page of sessions, the newest activity first."""
        query = {"journey_id": journey_id, "status": status, "cursor": cursor, "limit": limit}
        return await self._requests.ask(Sessions, "GET", "/v1/sessions", query=query)

    async def escalations(
        self, status: str | None = None, cursor: str | None = None, limit: int = 50
    ) -> Escalations:
        """Return a page of escalations, the newest first: the inbox of operators."""
        query = {"status": status, "cursor": cursor, "limit": limit}
        return await self._requests.ask(Escalations, "GET", "/v1/escalations", query=query)

    async def claim(
        self, escalation_id: str, by: str, *, key: str | None = None
    ) -> EscalationEntry:
        """Claim the conversation of an escalation for an operator."""
        return await self._operate(escalation_id, "claim", {"by": by}, key)

    async def operator_says(
        self, escalation_id: str, message: str, by: str, *, key: str | None = None
    ) -> EscalationEntry:
        """Send a text of an operator to the user."""
        return await self._operate(escalation_id, "messages", {"by": by, "message": message}, key)

    async def release(
        self, escalation_id: str, by: str, *, key: str | None = None
    ) -> EscalationEntry:
        """Give the conversation of an escalation back to the assistant."""
        return await self._operate(escalation_id, "release", {"by": by}, key)

    async def export_user(self, user: str) -> AsyncIterator[dict[str, Any]]:
        """Yield all that the server has of a user, one record after the other.

        The records are as `GET /v1/users/{user_id}/export` describes them. A stream that breaks off
        is not continued.

        Raises:
            ApiError: `no_answer` also if the stream ended before its last record.
        """
        request = self._requests.request("GET", f"{_path_of(user)}/export")
        answer = await self._requests.opened(request)
        if answer is None or not answer.is_success:
            if answer is not None:
                await answer.aread()
            self._requests.checked(answer)
        assert answer is not None
        try:
            async with aclosing(_lines(answer)) as lines:
                async for line in lines:
                    record = json.loads(line)
                    if record["type"] == "error":
                        raise _refusal(0, json.dumps(record["problem"]).encode())
                    yield record
                    if record["type"] == "end":
                        return
        except httpx2.TransportError:
            self._requests.checked(None)
        finally:
            await answer.aclose()
        self._requests.checked(None)

    async def delete_user(self, user: str) -> Receipt:
        """Delete all that the server has of a user, and return the receipt.

        Raises:
            ApiError: 404 also if it was done by a try whose answer was lost.
        """
        return _RECEIPT.validate_json(await self._requests.send("DELETE", _path_of(user)))

    async def _operate(
        self, escalation_id: str, act: str, body: Mapping[str, Any], key: str | None
    ) -> EscalationEntry:
        path = f"/v1/escalations/{escalation_id}/{act}"
        return _ENTRY.validate_json(await self._requests.send("POST", path, body, key))


def _path_of(user: str) -> str:
    return f"/v1/users/{quote(user, safe='')}"


class ClientSession:
    """One session of a server.

    Attributes:
        id: The session.
        begun: Its state at its start, with the greeting; None if it existed before.
    """

    def __init__(self, requests: _Requests, session_id: str, begun: Session | None = None) -> None:
        self.id, self.begun = session_id, begun
        self._requests = requests
        self._path = f"/v1/sessions/{quote(session_id, safe='')}"

    async def says(
        self, message: str, *, key: str | None = None, when_busy: WhenBusy | None = None
    ) -> Reply:
        """Send a message, and return the reply.

        Args:
            message: The message of the user.
            key: Idempotency key; default: a new one. Give your own to send the message again after
                a restart of your program.
            when_busy: Rule if a turn of the session runs; default: that of the server.
        """
        given = Message(message=message, when_busy=when_busy)
        return await self._ask(Reply, "messages", given, key)

    async def resume(
        self, value: Any, *, key: str | None = None, when_busy: WhenBusy | None = None
    ) -> Reply:
        """Answer the question of an agent; the arguments are as for a message."""
        return await self._ask(Reply, "resume", Resumed(value=value, when_busy=when_busy), key)

    async def happens(
        self, name: str, data: dict[str, Any] | None = None, *, key: str | None = None
    ) -> Reply:
        """Send an event from outside the conversation."""
        return await self._ask(Reply, "events", Event(name=name, data=data or {}), key)

    def stream(
        self, message: str, *, key: str | None = None, when_busy: WhenBusy | None = None
    ) -> AsyncIterator[TurnEvent]:
        """Send a message, and yield the events of its turn; the last one is `done`.

        After a lost connection the stream continues behind its last event. The turn continues in
        the server if the iterator is closed.
        """
        return self._stream("messages", Message(message=message, when_busy=when_busy), key)

    def stream_resume(
        self, value: Any, *, key: str | None = None, when_busy: WhenBusy | None = None
    ) -> AsyncIterator[TurnEvent]:
        """Answer the question of an agent, and yield the events of the turn as `stream` does."""
        return self._stream("resume", Resumed(value=value, when_busy=when_busy), key)

    async def state(self) -> Session:
        """Return the state of the session."""
        return await self._requests.ask(Session, "GET", self._path)

    async def history(self, cursor: str | None = None, limit: int = 200) -> History:
        """Return a page of messages, the oldest first."""
        query = {"cursor": cursor, "limit": limit}
        return await self._requests.ask(History, "GET", f"{self._path}/history", query=query)

    async def rollback(self, version: int, *, key: str | None = None) -> Session:
        """Create a new version with the state of an older one."""
        return await self._ask(Session, "rollback", Rollback(version=version), key)

    async def fork(
        self, version: int, session_id: str | None = None, *, key: str | None = None
    ) -> ClientSession:
        """Start another session in the state of a version of this one."""
        given = Fork(version=version, session_id=session_id)
        begun = await self._ask(Session, "fork", given, key)
        return ClientSession(self._requests, begun.session_id, begun)

    async def delete(self) -> None:
        """Delete the session.

        Raises:
            ApiError: 404 also if it was deleted by a try whose answer was lost.
        """
        await self._requests.send("DELETE", self._path)

    async def changes(self, after: int | None = None) -> AsyncIterator[VersionInfo]:
        """Yield each new version of the session, by any client, until it is over.

        Args:
            after: The last version that is known; default: the one at the first answer.
        """
        last = "" if after is None else str(after)
        opening = _Opening(self._requests)
        while True:
            headers = {"Last-Event-ID": last} if last else {}
            request = self._get(f"{self._path}/events", headers)
            async with aclosing(opening.events(request)) as events:
                try:
                    async for event in events:
                        last = event.id or last
                        if event.type == "version":
                            yield _VERSION.validate_json(event.data)
                        elif _is_last(event):
                            return
                except ApiError as error:
                    if opening.was_open and error.code in _OVER:
                        return
                    raise
            await opening.lost()

    async def _ask(self, model: type[_M], act: str, body: BaseModel, key: str | None) -> _M:
        return await self._requests.ask(model, "POST", f"{self._path}/{act}", body, key=key)

    async def _stream(self, act: str, body: BaseModel, key: str | None) -> AsyncIterator[TurnEvent]:
        key, last = key or str(uuid.uuid4()), ""
        opening = _Opening(self._requests)
        while True:
            if last:
                path = f"{self._path}/turns/{last.partition(':')[0]}/events"
                request = self._get(path, {"Last-Event-ID": last})
            else:
                accept = {"Accept": "text/event-stream"}
                request = self._requests.request(
                    "POST", f"{self._path}/{act}", body, key, headers=accept
                )
            async with aclosing(opening.events(request)) as events:
                async for event in events:
                    last = event.id
                    if error := _error(event):
                        if error.status not in _LATER:
                            raise error
                        last = ""  # with its key, the message is taken once in any case
                        yield TurnEvent("again", {})
                        break
                    yield (sent := _turn_event(event))
                    if sent.reply:
                        return
            await opening.lost()

    def _get(self, path: str, headers: Mapping[str, str]) -> httpx2.Request:
        return self._requests.request("GET", path, headers=headers)


class _Opening:
    """Connections of one stream, of which each continues the one before.

    Attributes:
        was_open: True if one of them had an answer.
    """

    def __init__(self, requests: _Requests) -> None:
        self._requests = requests
        self.was_open = False
        self._lost = 0
        self._answer: httpx2.Response | None = None

    async def events(self, request: httpx2.Request) -> AsyncGenerator[_Sent, None]:
        """Yield the events of one connection, until it ends or is lost."""
        self._answer = answer = await self._requests.opened(request)
        if answer is None:
            return
        try:
            if not answer.is_success:
                await answer.aread()
                if answer.status_code not in _LATER:
                    self._requests.checked(answer)
                return
            self.was_open = True
            async for event in _events(answer):
                self._lost = 0
                yield event
        except httpx2.TransportError:
            return
        finally:
            await answer.aclose()

    async def lost(self) -> None:
        """Wait before the next connection, or give up."""
        if self._lost >= self._requests.retries:
            answer = self._answer
            self._requests.checked(None if answer is None or answer.is_success else answer)
        await self._requests.pause(self._lost, self._answer)
        self._lost += 1


async def _lines(answer: httpx2.Response, end: bytes = b"\n") -> AsyncGenerator[str, None]:
    """Yield the parts of a stream, each without its end.

    Lines end with a line feed alone: httpx2 would also split data at other characters that end
    lines in Unicode.
    """
    rest = b""
    async for part in answer.aiter_bytes():
        *whole, rest = (rest + part).split(end)
        for one in whole:
            yield one.decode()


async def _events(answer: httpx2.Response) -> AsyncIterator[_Sent]:
    """Yield the events of a stream that is read."""
    async with aclosing(_lines(answer, b"\n\n")) as blocks:
        async for block in blocks:
            lines = [line.partition(": ") for line in block.split("\n")]
            fields = {name: value for name, _, value in lines if name}
            if fields:
                named = fields.get("event", ""), fields.get("data", "null"), fields.get("id", "")
                yield _Sent(*named)


def _is_last(event: _Sent) -> bool:
    """Return whether an event ends the stream of a session.

    Raises:
        ApiError: It is an error that another connection would meet again.
    """
    if (error := _error(event)) and error.status not in _LATER:
        raise error
    return event.type in ("expired", "deleted")


def _error(event: _Sent) -> ApiError | None:
    """Return the error that ends a stream, if the event is one."""
    return _refusal(0, event.data.encode()) if event.type == "error" else None


def _turn_event(event: _Sent) -> TurnEvent:
    reply = Reply.model_validate_json(event.data) if event.type == "done" else None
    return TurnEvent(event.type, json.loads(event.data), reply)


def _refusal(status: int, body: bytes) -> ApiError:
    """Return the error for the body of a problem."""
    try:
        problem = ProblemBody.model_validate_json(body)
    except ValidationError:
        return ApiError(
            status, "no_problem", "The answer is not one of this API. Check the address."
        )
    return ApiError(problem.status, problem.code, problem.detail, problem)
