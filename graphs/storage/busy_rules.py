"""Rules of a busy session: a request waits for the turn, is refused, or gives the turn up.

In a process the turn is a lock, first come, first served. Where other processes use the database as
well, it is a lease too.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from journeygraph.graphs.storage.sqlite import SqliteJourneySaver
from journeygraph.graphs.storage.statements import Row
from journeygraph.journeys import SessionBusyError, TooManyWaitingError
from journeygraph.journeys.config import WhenBusy
from journeygraph.nodes.telemetry import waiting_turn

if TYPE_CHECKING:
    from journeygraph.graphs.storage.store import Store

MOST_WAITING = 8
"""Maximum number of requests that wait for the turn of a session in one process."""


@dataclass(frozen=True, slots=True)
class LeaseRequest:
    """A request for the turn of a session.

    Attributes:
        when_busy: Rule if a turn runs.
        kept: Returns what another process needs to take the turn if this one dies, as JSON; it is
            called when the session is free. None: nothing.
        journeys: Ids of the journeys whose data this store may keep, sealed if it has keys.
        gives_up: Under "interrupt", the fence of the only turn of another process that it may give
            up; None: the one that runs.
    """

    when_busy: WhenBusy = "enqueue"
    kept: Callable[[], Mapping[str, Any]] | None = None
    journeys: Collection[str] = ()
    gives_up: int | None = None


WAITS = LeaseRequest()
"""A request that waits, and keeps nothing."""


@dataclass(slots=True)
class Interruption:
    """The means to give up a running turn.

    Attributes:
        deadline: The time limit of the turn, which ends it early.
        requests: The requests with an idempotency key that the turn answers.
        asked: True if it was asked for.
    """

    deadline: asyncio.Timeout
    requests: Collection[Any] = ()
    asked: bool = False

    def ask(self) -> None:
        """End the turn now."""
        self.asked = True
        if not self.deadline.expired():  # it may be asked for twice
            self.deadline.reschedule(asyncio.get_running_loop().time())


class SessionLock(asyncio.Lock):
    """The turn lock of a session in this process: first come, first served, and few wait.

    Attributes:
        waiting: Number of requests that wait.
        running: The means to give up the running turn; None if that is not possible.
    """

    def __init__(self, session_id: str) -> None:
        super().__init__()
        self._session_id = session_id
        self.waiting = 0
        self.running: Interruption | None = None

    @property
    def is_busy(self) -> bool:
        """Return whether a request has to wait."""
        return self.locked() or self.waiting > 0

    async def take(self, when_busy: WhenBusy) -> None:
        """Acquire the lock, in the order of the requests.

        Raises:
            SessionBusyError: The session is busy, and the request must not wait.
            TooManyWaitingError: Too many requests wait.
        """
        if not self.is_busy:
            await self.acquire()
            return
        if when_busy == "reject":
            raise SessionBusyError(self._session_id)
        if self.waiting >= MOST_WAITING:
            raise TooManyWaitingError(self._session_id, MOST_WAITING)
        if when_busy == "interrupt":
            self.interrupt()
        self.waiting += 1
        try:
            with waiting_turn("turn"):
                await self.acquire()
        finally:
            self.waiting -= 1

    def interrupt(self) -> None:
        """Give up the running turn, if that is possible."""
        if self.running:
            self.running.ask()

    def settle(self) -> None:
        """Let nothing give up the running turn from now on: it begins an effect or its commit."""
        self.running = None


class SessionTurn:
    """The turn of a session, held in a block.

    In this process it is first come, first served. Where other processes use the database as well,
    the session's lease is taken then.
    """

    __slots__ = ("_arrival", "_lease", "_lock", "_session_id", "_store")

    def __init__(self, store: Store, session_id: str, arrival: LeaseRequest) -> None:
        self._store, self._session_id, self._arrival = store, session_id, arrival
        self._lock = store.lock(session_id)
        self._lease: Any = None

    async def __aenter__(self) -> Row | None:
        await self._lock.take(self._arrival.when_busy)
        try:
            saver = self._store.saver
            if isinstance(saver, SqliteJourneySaver):
                return await self._store.head(self._session_id)
            self._lease = saver.leases.of(
                self._store.tenant,
                self._session_id,
                self._arrival,
                self._store.seals,
                self._lock.interrupt,
            )
            head: Row | None = await self._lease.__aenter__()
        except BaseException:
            self._lock.release()
            raise
        return head

    async def __aexit__(self, *error: Any) -> None:
        try:
            if self._lease is not None:
                await self._lease.__aexit__(*error)
        finally:
            self._lock.release()
