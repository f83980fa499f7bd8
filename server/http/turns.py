"""The running turns of this process, each in its own task, with the logs of their events.

A turn is independent of its client, who may be slow or disconnected.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from functools import partial
from typing import Any, TypeVar

from fastapi.sse import EventSourceResponse

from journeygraph.graphs.session.manager import PathwayManager
from journeygraph.journeys import JourneyEvent, JourneyResponse
from journeygraph.journeys.config import TENANT
from journeygraph.server.http.event_logs import TurnLog, TurnLogs, Watched
from journeygraph.server.http.problems import outcome_unknown, problem_of, too_many_turns
from journeygraph.server.http.schemas import Reply

AS_EVENTS: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "The reply; or, with `Accept: text/event-stream`, the events of the turn: "
        "`transition` {from, to, intent}, `pathway` {pathway}, `token` {text}, `waiting` "
        "{waiting} if an agent asks, then `done` with the whole reply, or `error` with a problem. "
        "Each has an id, `TURN:NUMBER:RUN`; `GET .../turns/{turn}/events` continues after one.",
        "content": {EventSourceResponse.media_type: {"schema": {"type": "string"}}},
    }
}
"""API description of a route that can also return events."""
PUBLIC = ("transition", "pathway", "token", "waiting", "done")
"""Events of a turn that clients get.

Names of agents and their failures are not among them; an error is raised and described in our own
words.
"""


def _data_of(event: JourneyEvent, session_id: str) -> str:
    if event.type == "done":
        return reply_data(session_id, event.data["response"])
    return json.dumps(dict(event.data), ensure_ascii=False)


def reply_data(session_id: str, response: JourneyResponse) -> str:
    """Return the data of the event `done`."""
    return Reply.of(session_id, response).model_dump_json()


def problem_data(error: Exception, request_id: str) -> str:
    """Return the data of the event `error`, which ends a stream."""
    return json.dumps(problem_of(error, request_id).body(request_id))


GRACE_SECONDS = 20.0
"""Seconds for running turns to finish when the server stops."""
BUSY_SECONDS = 5.0
"""Seconds that a stream waits for its session before it starts anyway."""
_T = TypeVar("_T")
_Act = Callable[[PathwayManager], Awaitable[None]]


class RunningTurns:
    """Owner of all running turns, so that a turn survives a disconnected client.

    Args:
        most: Maximum number of turns that run or wait.

    Attributes:
        logs: The events of streamed turns, of all tenants.
        watched: The sessions that have streams, of the tenant.
    """

    def __init__(
        self, most: int = 1_000, whole: RunningTurns | None = None, tenant: str = TENANT
    ) -> None:
        self.begun = 0
        self.watched = Watched()
        self._most = most
        self._tenant = tenant
        self._whole = self if whole is None else whole
        self._parts: dict[str, RunningTurns] = {}
        # A `RunningTurns` without a running turn is false.
        self.logs: TurnLogs = TurnLogs() if whole is None else whole.logs
        self._running: set[asyncio.Task[Any]] = set() if whole is None else whole._running
        self._until: float | None = None

    def of(self, tenant: str) -> RunningTurns:
        """Return the turns in sessions of another tenant; they end with these."""
        if tenant not in self._parts:
            self._parts[tenant] = part = RunningTurns(self._most, self, tenant)
            if self._until is not None:
                part.watched.close()
        return self._parts[tenant]

    def log_of(self, session_id: str, turn: int, run: str = "") -> TurnLog | None:
        """Return the log of a turn as `TurnLogs.find`, of the tenant."""
        return self.logs.find(self._tenant, session_id, turn, run)

    def forget(self, session_id: str) -> None:
        """Drop the events of the turns of a deleted session, and end its streams."""
        self.logs.forget(self._tenant, session_id)
        self.watched.look(session_id)

    def __len__(self) -> int:
        """Return the number of turns that run or wait."""
        return len(self._running)

    async def take(self, turn: Coroutine[Any, Any, _T]) -> _T:
        """Run one turn and return its response; it continues if the caller is cancelled.

        Raises:
            Problem: As many turns run or wait as may.
            JourneyError: The session is missing or expired, or the turn failed.
        """
        if self.is_full:
            turn.close()
            raise too_many_turns()
        return await asyncio.shield(self.begin(turn))

    @property
    def is_full(self) -> bool:
        """Return whether as many turns run or wait as may."""
        return len(self._running) >= self._most

    async def tell(
        self,
        session_id: str,
        in_turn: Callable[[str, _Act], Coroutine[Any, Any, None]],
        answer: Callable[[PathwayManager], AsyncIterator[JourneyEvent]],
        request_id: str,
    ) -> TurnLog:
        """Start one turn and return the log of its events.

        Return when the turn has begun, but after a short time even if the session is busy.

        Args:
            in_turn: Waits for the turn of a session, and acts in it.

        Raises:
            JourneyError: The session is not there, or over, or its idempotency key belongs to
                another request.
        """
        if self.is_full:
            raise too_many_turns()
        log = TurnLog(session_id, self._tenant)
        begun: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        told = self.begin(self._told(in_turn, answer, request_id, log, begun))
        await asyncio.wait([told, begun], timeout=BUSY_SECONDS, return_when="FIRST_COMPLETED")
        if not begun.done():
            begun.cancel()  # from now on what fails is told by an event
            if told.done():
                await told
        return log

    def close(self, seconds: float | None = None) -> None:
        """End the streams of sessions; cancel the turns that still run at a deadline.

        A cancelled turn is committed as a whole or not at all. The answer says that its
        outcome is not known.

        Args:
            seconds: From now. Default: 20.
        """
        for turns in (self, *self._parts.values()):
            turns.watched.close()
        loop = asyncio.get_running_loop()
        left = GRACE_SECONDS if seconds is None else seconds
        self._until = loop.time() + left
        loop.call_later(left, self._cut)

    async def finish(self) -> None:
        """Wait for the turns until the deadline; cancel those that still run."""
        if self._until is None:
            self.close()
        loop, until = asyncio.get_running_loop(), self._until or 0.0
        while self._running and loop.time() < until:
            await asyncio.wait(self._running, timeout=until - loop.time())
        self._cut()
        if self._running:
            await asyncio.wait(self._running)

    def _cut(self) -> None:
        for task in self._running:
            if not task.cancelling():
                task.cancel()

    def begin(self, turn: Coroutine[Any, Any, _T]) -> asyncio.Task[_T]:
        """Start a turn, or other work that must not be interrupted, and return its task."""
        self._whole.begun += 1
        task = asyncio.get_running_loop().create_task(turn)
        self._running.add(task)
        task.add_done_callback(self._ended)
        return task

    async def let_go(self, session: PathwayManager) -> None:
        """Close a session without waiting for its pending work."""
        if session.is_busy:
            self.begin(session.close())
        else:
            await session.close()

    def _ended(self, task: asyncio.Task[Any]) -> None:
        self._running.discard(task)
        if not task.cancelled():
            task.exception()  # it is nobody's any more if the client has gone

    async def _told(
        self,
        in_turn: Callable[[str, _Act], Coroutine[Any, Any, None]],
        answer: Callable[[PathwayManager], AsyncIterator[JourneyEvent]],
        request_id: str,
        log: TurnLog,
        begun: asyncio.Future[None],
    ) -> None:
        """Write the events of a turn to its log.

        Raises:
            JourneyError: The turn has not begun; if `begun` is cancelled, the error is an event.
            CancelledError: The server ends; the event before it is an error.
        """
        begin = partial(self._begin, log, begun)

        async def tell(session: PathwayManager) -> None:
            session.on_turn = begin
            await _write(answer(session), log, begin)

        try:
            await in_turn(log.session_id, tell)
        except Exception as error:
            if not begun.done():
                raise
            log.add("error", problem_data(error, request_id))
        except asyncio.CancelledError:
            log.add("error", problem_data(outcome_unknown(), request_id))
            raise
        finally:
            log.end()
            self.logs.ended(log)

    def _begin(self, log: TurnLog, begun: asyncio.Future[None], turn: int) -> None:
        self.logs.keep(log, turn)
        if not begun.done():
            begun.set_result(None)


async def _write(
    events: AsyncIterator[JourneyEvent], log: TurnLog, begin: Callable[[int], None]
) -> None:
    async for event in events:
        if event.type == "done":
            response: JourneyResponse = event.data["response"]
            log.replayed = response.replayed
            if response.replayed:  # there is no other event
                begin(response.metadata["version"])
            log.stands = response.metadata["version"] == log.turn
        if event.type in PUBLIC:
            log.add(event.type, _data_of(event, log.session_id))
