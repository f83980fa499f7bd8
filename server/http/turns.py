"""The running turns of this process, each in its own task, and their server-sent events.

A turn is independent of its client, who may be slow or disconnected.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from typing import Any, TypeVar

from fastapi.sse import EventSourceResponse, ServerSentEvent

from graphs.session.manager import PathwayManager
from journeys import JourneyEvent
from server.http.envelope import STALL_SECONDS
from server.http.problems import Problem, outcome_unknown, problem_of
from server.http.schemas import Reply

AS_EVENTS: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "The reply; or, with `Accept: text/event-stream`, the events of the turn: "
        "`transition` {from, to, intent}, `pathway` {pathway}, `token` {text}, `waiting` "
        "{waiting} if an agent asks, then `done` with the whole reply, or `error` with a problem.",
        "content": {EventSourceResponse.media_type: {"schema": {"type": "string"}}},
    }
}
"""API description of a route that can also return events."""
MOST_WAITING = 64
"""Size of the buffer of events for a slow client."""
PUBLIC = ("transition", "pathway", "token", "waiting", "done")
"""Events of a turn that clients get.

Names of agents and their failures are not among them; an error is raised and described in our own
words.
"""


class Listener:
    """Listener to the events of a turn.

    The turn never waits for it: a listener that stops reading is dropped.
    """

    def __init__(self) -> None:
        self._waiting: asyncio.Queue[ServerSentEvent | None] = asyncio.Queue(MOST_WAITING)
        self._gone = self._over = False

    async def hear(self, event: ServerSentEvent) -> None:
        """Send an event; return at once if the listener is gone."""
        if self._gone:
            return
        try:
            async with asyncio.timeout(STALL_SECONDS if self._waiting.full() else None):
                await self._waiting.put(event)
        except TimeoutError:
            self._leave()

    def end_with(self, event: ServerSentEvent) -> None:
        """End the stream with an event, at once: a full buffer loses its last event."""
        if self._gone:
            return
        if self._waiting.full():
            self._waiting.get_nowait()
        self._waiting.put_nowait(event)
        self.end()

    def end(self) -> None:
        """End the stream after the events so far."""
        self._over = True
        if self._waiting.empty():
            self._waiting.put_nowait(None)  # wakes who waits for more

    async def events(self) -> AsyncIterator[ServerSentEvent]:
        """Yield the events; the turn continues if the caller stops early."""
        try:
            while not (self._over and self._waiting.empty()):
                if event := await self._waiting.get():
                    yield event
        finally:
            self._leave()

    def _leave(self) -> None:
        self._gone = True
        while not self._waiting.empty():
            self._waiting.get_nowait()
        self.end()


def sent(event: JourneyEvent, session_id: str) -> ServerSentEvent:
    """Return an event of a turn for clients; `done` has the same data as the JSON response."""
    if event.type == "done":
        reply = Reply.of(session_id, event.data["response"])
        return ServerSentEvent(event="done", data=reply)
    return ServerSentEvent(event=event.type, data=dict(event.data))


def failed(problem: Problem, request_id: str) -> ServerSentEvent:
    """Return the event that ends a turn which was not committed."""
    return ServerSentEvent(event="error", data=problem.body(request_id))


GRACE_SECONDS = 20.0
"""Seconds for running turns to finish when the server stops."""
BUSY_SECONDS = 5.0
"""Seconds that a stream waits for its session before it starts anyway."""
_T = TypeVar("_T")
_Act = Callable[[PathwayManager], Awaitable[None]]


class Turns:
    """Owner of all running turns, so that a turn survives a disconnected client.

    Attributes:
        begun: Number of turns so far.
    """

    def __init__(self) -> None:
        self.begun = 0
        self._running: set[asyncio.Task[Any]] = set()
        self._until: float | None = None

    def __len__(self) -> int:
        """Return the number of turns that run or wait."""
        return len(self._running)

    async def take(self, turn: Coroutine[Any, Any, _T]) -> _T:
        """Run one turn and return its response; it continues if the caller is cancelled.

        Raises:
            JourneyError: The session is missing or expired, or the turn failed.
        """
        return await asyncio.shield(self.begin(turn))

    async def tell(
        self,
        in_turn: Callable[[_Act], Coroutine[Any, Any, None]],
        answer: Callable[[PathwayManager], AsyncIterator[JourneyEvent]],
        request_id: str,
    ) -> Listener:
        """Start one turn and return the listener to its events.

        Return when the turn has its session, but after a short time even if the session is busy.

        Args:
            in_turn: Waits for the turn of a session, and acts in it.
            answer: The events of the turn.
            request_id: Of who asked.

        Raises:
            JourneyError: The session is not there, or over.
        """
        listener = Listener()
        begun: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        told = self.begin(_told(in_turn, answer, request_id, listener, begun))
        await asyncio.wait([told, begun], timeout=BUSY_SECONDS, return_when="FIRST_COMPLETED")
        if not begun.done():
            begun.cancel()  # from now on what fails is told by an event
            if told.done():
                await told
        return listener

    def close(self, seconds: float | None = None) -> None:
        """Set a deadline for all turns, and cancel those that still run then.

        A cancelled turn is committed as a whole or not at all. The answer says that its
        outcome is not known.

        Args:
            seconds: From now. Default: 20.
        """
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
        self.begun += 1
        task = asyncio.get_running_loop().create_task(turn)
        self._running.add(task)
        task.add_done_callback(self._ended)
        return task

    async def let_go(self, session: PathwayManager) -> None:
        """Close a session without waiting for a pending check of its last reply."""
        if session.is_judging:
            self.begin(session.close())
        else:
            await session.close()

    def _ended(self, task: asyncio.Task[Any]) -> None:
        self._running.discard(task)
        if not task.cancelled():
            task.exception()  # it is nobody's any more if the client has gone


async def _told(
    in_turn: Callable[[_Act], Coroutine[Any, Any, None]],
    answer: Callable[[PathwayManager], AsyncIterator[JourneyEvent]],
    request_id: str,
    listener: Listener,
    begun: asyncio.Future[None],
) -> None:
    """Send the events of a turn to its listener.

    Raises:
        JourneyError: The session is missing or expired; if `begun` is cancelled, the error is sent
            as an event.
        CancelledError: The server ends; the event before it is an error.
    """

    async def tell(session: PathwayManager) -> None:
        if not begun.done():
            begun.set_result(None)
        async for event in answer(session):
            if event.type in PUBLIC:
                await listener.hear(sent(event, session.session_id))

    try:
        await in_turn(tell)
    except Exception as error:
        if not begun.done():
            raise
        await listener.hear(failed(problem_of(error, request_id), request_id))
    except asyncio.CancelledError:
        listener.end_with(failed(outcome_unknown(), request_id))
        raise
    finally:
        listener.end()
