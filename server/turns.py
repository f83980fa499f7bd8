"""The turns that run in this process, each in a task of its own, whoever asked and left."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine
from typing import Any, TypeVar

from graphs.manager import PathwayManager
from journeys import JourneyEvent, JourneyResponse
from server.events import PUBLIC, Listener, failed, sent
from server.problems import problem_of

GRACE_SECONDS = 20.0
"""How long turns may go on when the server stops."""
_T = TypeVar("_T")


class Turns:
    """Holds every running turn, so that a client that hangs up loses nothing."""

    def __init__(self) -> None:
        self._running: set[asyncio.Task[Any]] = set()
        self._until: float | None = None

    def __len__(self) -> int:
        """Return how many turns run or wait for their turn."""
        return len(self._running)

    async def take(self, session: PathwayManager, message: str) -> JourneyResponse:
        """Run one turn and return its response; it goes on if the caller is cancelled.

        Raises:
            JourneyError: See `PathwayManager.process_message`.
        """
        return await asyncio.shield(self.begin(_closing(session, session.process_message(message))))

    async def resume(self, session: PathwayManager, value: Any) -> JourneyResponse:
        """Go on with an answer and return the response; it goes on if the caller is cancelled.

        Raises:
            JourneyError: See `PathwayManager.resume`.
        """
        return await asyncio.shield(self.begin(_closing(session, session.resume(value))))

    def tell(self, session: PathwayManager, message: str, request_id: str) -> Listener:
        """Begin one turn and return who hears it, whether or not anybody listens."""
        return self._heard(session, session.stream_message(message), request_id)

    def tell_resumed(self, session: PathwayManager, value: Any, request_id: str) -> Listener:
        """Go on with an answer and return who hears it, whether or not anybody listens."""
        return self._heard(session, session.stream_resume(value), request_id)

    def _heard(
        self, session: PathwayManager, events: AsyncIterator[JourneyEvent], request_id: str
    ) -> Listener:
        listener = Listener()
        self.begin(_tell(session, events, request_id, listener))
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
        if self._running:
            await asyncio.wait(self._running, timeout=left)
        for task in self._running:
            task.cancel()
        if self._running:
            await asyncio.wait(self._running)

    def begin(self, turn: Coroutine[Any, Any, _T]) -> asyncio.Task[_T]:
        """Begin a turn, or other work that is to be whole, and return the task that it runs in."""
        task = asyncio.get_running_loop().create_task(turn)
        self._running.add(task)
        task.add_done_callback(self._ended)
        return task

    def _ended(self, task: asyncio.Task[Any]) -> None:
        self._running.discard(task)
        if not task.cancelled():
            task.exception()  # it is nobody's any more if the client has gone


async def _closing(
    session: PathwayManager, answer: Coroutine[Any, Any, JourneyResponse]
) -> JourneyResponse:
    try:
        return await answer
    finally:
        await session.close()


async def _tell(
    session: PathwayManager,
    events: AsyncIterator[JourneyEvent],
    request_id: str,
    listener: Listener,
) -> None:
    try:
        async for event in events:
            if event.type in PUBLIC:
                await listener.hear(sent(event, session.session_id))
    except Exception as error:
        await listener.hear(failed(problem_of(error, request_id), request_id))
    finally:
        listener.end()
        await session.close()
