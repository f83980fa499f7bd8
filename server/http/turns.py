"""The turns that run in this process, each in a task of its own, whoever asked and left."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from typing import Any, TypeVar

from graphs.session.manager import PathwayManager
from journeys import JourneyEvent
from server.http.events import PUBLIC, Listener, failed, sent
from server.http.problems import problem_of

GRACE_SECONDS = 20.0
"""How long turns may go on when the server stops."""
BUSY_SECONDS = 5.0
"""How long a stream waits for its session before it begins all the same."""
_T = TypeVar("_T")
_Act = Callable[[PathwayManager], Awaitable[None]]


class Turns:
    """Holds every running turn, so that a client that hangs up loses nothing.

    Attributes:
        begun: How many there were so far.
    """

    def __init__(self) -> None:
        self.begun = 0
        self._running: set[asyncio.Task[Any]] = set()
        self._until: float | None = None

    def __len__(self) -> int:
        """Return how many turns run or wait for their turn."""
        return len(self._running)

    async def take(self, turn: Coroutine[Any, Any, _T]) -> _T:
        """Run one turn and return its answer; it goes on if the caller is cancelled.

        Raises:
            JourneyError: Of the session, or of the answer.
        """
        return await asyncio.shield(self.begin(turn))

    async def tell(
        self,
        in_turn: Callable[[_Act], Coroutine[Any, Any, None]],
        answer: Callable[[PathwayManager], AsyncIterator[JourneyEvent]],
        request_id: str,
    ) -> Listener:
        """Begin one turn and return who hears it, whether or not anybody listens.

        That is once it has the session, which may be busy; but soon.

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

    def close(self, seconds: float = GRACE_SECONDS) -> None:
        """From now on the turns have so many seconds."""
        self._until = asyncio.get_running_loop().time() + seconds

    async def finish(self) -> None:
        """Wait for the turns until their time is up; give up those that still run.

        A turn that is given up is committed whole or not at all.
        """
        now = asyncio.get_running_loop().time()
        left = GRACE_SECONDS if self._until is None else max(self._until - now, 0.0)
        until = now + left
        while self._running and now < until:
            await asyncio.wait(self._running, timeout=until - now)
            now = asyncio.get_running_loop().time()
        for task in self._running:
            task.cancel()
        if self._running:
            await asyncio.wait(self._running)

    def begin(self, turn: Coroutine[Any, Any, _T]) -> asyncio.Task[_T]:
        """Begin a turn, or other work that is to be whole, and return the task that it runs in."""
        self.begun += 1
        task = asyncio.get_running_loop().create_task(turn)
        self._running.add(task)
        task.add_done_callback(self._ended)
        return task

    async def let_go(self, session: PathwayManager) -> None:
        """Close a session; where its last reply is still to be judged, that is not waited for."""
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
    """Pass the events of a turn on.

    Raises:
        JourneyError: The session is not there, or over; once `begun` is cancelled, that is told.
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
    finally:
        listener.end()
