"""Jobs: work off the turns, such as due timers and expiry, which any process of a store may do.

Each job finds its work in rows of the store, so that a restart loses nothing. Several processes may
run the same job at once.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Collection
from datetime import datetime
from functools import partial
from random import Random
from typing import TYPE_CHECKING, Any, Protocol

from journeygraph.graphs.records import timers
from journeygraph.graphs.session.session import sweep
from journeygraph.graphs.storage.errors import WriteConflict
from journeygraph.graphs.storage.statements import OPEN, TENANTS_OVER, UNFINISHED, Row, now
from journeygraph.graphs.storage.store import Store
from journeygraph.nodes.json_data import stamp
from journeygraph.nodes.telemetry import JOURNEY, measure, report, takes_metrics

if TYPE_CHECKING:
    from journeygraph.journeys import Journey, JourneyResponse

LOOK_SECONDS = 2.0
"""Seconds between two searches for due timers, and for turns whose process died."""
EXPIRY_SECONDS = 60.0
"""Seconds between two searches for expired sessions."""
COUNT_SECONDS = 15.0
"""Seconds between two counts of what is open in the store."""
MOST_COUNTED = 100_000
"""Number up to which rows of one kind are counted."""
AT_ONCE = 8
"""Timers that a process takes at the same time."""
MOST_UNFINISHED = 100
"""Turns whose process died that a process takes at the same time."""
_AFTER_FAILURE = 30.0
_SPREAD = 0.1
# Of its own, so that it takes no number from a program that has seeded the module.
_chance = Random()


class Job(Protocol):
    """Work that is repeated.

    Attributes:
        name: Its name, in the log.
        pause: Seconds before its first run.
    """

    name: str
    pause: float

    async def run(self) -> float:
        """Do what is due; return the seconds until the next run."""


class Jobs:
    """Runs jobs in the background of this process.

    Args:
        jobs: The jobs; their store must stay open until `end()`.
    """

    def __init__(self, *jobs: Job) -> None:
        self._jobs = jobs
        self._running: list[asyncio.Task[None]] = []

    def begin(self) -> None:
        """Begin; return at once."""
        self._running = [asyncio.ensure_future(_repeated(job)) for job in self._jobs]

    async def end(self) -> None:
        """Stop. What was not done stays in the store."""
        running, self._running = self._running, []
        for task in running:
            task.cancel()
        if running:
            await asyncio.wait(running)


async def _repeated(job: Job) -> None:
    pause = job.pause
    while True:
        # Processes that started together do not look at the same moment.
        await asyncio.sleep(pause * _chance.uniform(1 - _SPREAD, 1 + _SPREAD))
        try:
            pause = await job.run()
        except Exception as error:  # no caller waits for it; the next run tries again
            report(logging.WARNING, "job_failed", job=job.name, exc_info=error)
            pause = _AFTER_FAILURE


class DueTimers:
    """Takes the timers of sessions that are due.

    Args:
        store: Their store.
        journeys: Returns the ids of the journeys with timers that this process serves.
        take: Takes the timer of a session as a turn, by its tenant and its id.
    """

    name, pause = "timers", 0.0

    def __init__(
        self,
        store: Store,
        journeys: Callable[[], Collection[str]],
        take: Callable[[str, str], Awaitable[Any]],
    ) -> None:
        self._store, self._journeys, self._take = store, journeys, take

    async def run(self) -> float:
        """Take timers until none is due; return the seconds until the next search.

        A slow turn does not delay the others.
        """
        running: set[asyncio.Task[None]] = set()
        try:
            while True:
                rows = await self._due(AT_ONCE - len(running))
                running |= {asyncio.ensure_future(self._taken(row)) for row in rows}
                if not running:
                    return LOOK_SECONDS
                first = asyncio.FIRST_COMPLETED
                _, running = await asyncio.wait(running, timeout=LOOK_SECONDS, return_when=first)
        finally:
            for task in running:
                task.cancel()

    async def _due(self, most: int) -> list[Row]:
        """Return due timers of all journeys that no process has claimed, and claim them."""
        claimed: list[Row] = []
        for journey in self._journeys() if most else ():
            for row in await timers.due_sessions(self._store, journey, most - len(claimed)):
                # Else another process takes it, or the user has sent a message.
                with contextlib.suppress(WriteConflict):
                    await timers.claim(self._store.of(row["tenant"]), row)
                    claimed.append(row)
        return claimed

    async def _taken(self, row: Row) -> None:
        try:
            await self._take(row["tenant"], row["session_id"])
        except Exception as error:  # the other sessions have their timers all the same
            report(logging.WARNING, "timer_failed", tries=row["tries"] + 1, exc_info=error)


class UnfinishedTurns:
    """Takes turns whose process died; they are kept in databases that several processes use.

    Args:
        store: Their store.
        journeys: Returns the ids of the journeys that this process serves.
        finish: Begins to take the turn of a session, by its tenant and its id.
    """

    name, pause = "unfinished_turns", 0.0

    def __init__(
        self,
        store: Store,
        journeys: Callable[[], Collection[str]],
        finish: Callable[[str, str], None],
    ) -> None:
        self._store, self._journeys, self._finish = store, journeys, finish

    async def run(self) -> float:
        """Begin to take these turns; return the seconds until the next search."""
        rows = await self._store.read(UNFINISHED, most=MOST_UNFINISHED)
        known = set(self._journeys())
        for row in rows:
            id_: str = row["session_id"]
            if row["journey_id"] in known and not self._store.of(row["tenant"]).lock(id_).is_busy:
                self._finish(row["tenant"], id_)
        return LOOK_SECONDS


class Expiry:
    """Deletes the data of expired sessions.

    Args:
        store: Their store.
        journeys: Returns the ids of the journeys that this process serves.
    """

    name = "expiry"

    def __init__(self, store: Store, journeys: Callable[[], Collection[str]]) -> None:
        self._store, self._journeys, self.pause = store, journeys, EXPIRY_SECONDS

    async def run(self) -> float:
        """Delete some sessions of each journey; return the seconds until the next search."""
        left = [self.pause]
        for id_ in self._journeys():
            for row in await self._store.read(TENANTS_OVER, journey=id_, now=stamp(now())):
                store = self._store.of(row["tenant"])
                left.append(await sweep(store, id_, partial(self._expire, store)))
        return min(left)

    async def _expire(self, store: Store, row: Row) -> None:
        with contextlib.suppress(WriteConflict):
            await store.forget(row["session_id"], expired_at=stamp(now()))


_METRICS = {
    "session": "journeygraph.session.open",
    "escalation": "journeygraph.escalation.waiting",
    "timer": "journeygraph.timer.due",
}


class OpenCounts:
    """Counts what is open in the store, where an application takes metrics.

    Every process of a store counts the same.

    Args:
        store: The store.
        journeys: Returns the ids of the journeys that this process serves.
    """

    name, pause = "counts", 0.0

    def __init__(self, store: Store, journeys: Callable[[], Collection[str]]) -> None:
        self._store, self._journeys = store, journeys

    async def run(self) -> float:
        """Report the numbers by one query; return the seconds until the next one."""
        if takes_metrics():
            rows = await self._store.read(OPEN, now=stamp(now()), most=MOST_COUNTED)
            for what, metric in _METRICS.items():
                numbers = dict.fromkeys(self._journeys(), 0)
                for row in rows:
                    if row["what"] == what and row["journey_id"] in numbers:
                        numbers[row["journey_id"]] = row["number"]
                for journey, number in numbers.items():
                    measure(metric, {JOURNEY: journey}, number)
        return COUNT_SECONDS


async def pass_time(
    journey: Journey, until: datetime, set_clock: Callable[[datetime], None]
) -> AsyncIterator[JourneyResponse]:
    """Put a clock forward, and take each timer of a session at its time; yield the responses.

    Args:
        journey: The session.
        until: The time at the end.
        set_clock: Sets the clock by which turns and records take their time.

    Raises:
        JourneyError: The turn of a timer failed.
    """
    while (due := await journey.next_timer()) and due <= until:
        set_clock(max(due, now()))
        if (response := await journey.take_timer()) is None:
            break
        yield response
    set_clock(max(until, now()))
