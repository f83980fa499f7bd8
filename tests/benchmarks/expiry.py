"""Cost of the start of a session in a store with many expired ones."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable
from contextlib import closing
from functools import partial
from itertools import count
from typing import Any

import psycopg

from journeygraph import JourneyConfig
from tests.benchmarks.material import AGENTS, CONTEXT, Referral
from tests.benchmarks.measure import Figure, Pairs, Steps, duration, scratch, timed
from tests.support.postgres import started

EXPIRED, STARTS, ROUNDS = 100_000, 200, 8


async def expiry(steps: Steps) -> list[Figure]:
    """Starts in a store with expired sessions, in alternation with an empty one."""
    with scratch() as folder:
        full, empty = (f"sqlite:///{folder / name}.db" for name in ("full", "empty"))
        figures = [await _starts("SQLite", full, empty, steps)]
    server = await asyncio.to_thread(started)
    try:
        figures.append(await _starts("Postgres", server.copy(), server.copy(), steps))
        return figures
    finally:
        await asyncio.to_thread(server.end)


async def _starts(kind: str, full: str, empty: str, steps: Steps) -> Figure:
    sides = [Side(full), Side(empty)]
    for side in sides:
        await side.begin()
    expired, starts = steps.size(EXPIRED), steps.size(STARTS)
    await asyncio.to_thread(changed, full, partial(expire, times=expired))
    pairs = Pairs()
    for number in steps(f"{kind}, {starts} starts beside as many", ROUNDS + 1):
        times = []
        for side in sides:
            times.append(await timed(partial(side.start, starts)))
            await side.settle()
        if number:  # the first round warms up
            pairs.add_times(times[0], times[1], starts)
    for side in sides:
        await side.close()
    what = f"start of a session, {expired:,} expired ones in the store, {kind}"
    return pairs.figure(what, "none in the store", 1.2, duration)


class Side:
    """A store, which stays open, and the sessions that were started in it."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._numbers = count()
        self._started: list[Referral] = []
        self._first = self._new("old")

    async def begin(self) -> None:
        await self._first.start(CONTEXT)

    async def start(self, times: int) -> None:
        """Start many sessions, as a server does: the deletions after a start are not waited for."""
        for _ in range(times):
            self._started.append(journey := self._new(f"s-{next(self._numbers)}"))
            await journey.start(CONTEXT)

    async def settle(self) -> None:
        """Let go of the sessions; what a start has left to do is done first."""
        while self._started:
            await self._started.pop().close()

    async def close(self) -> None:
        await self._first.close()

    def _new(self, session_id: str) -> Referral:
        return Referral(session_id, JourneyConfig(persistence=self._url), agents=AGENTS)


def changed(url: str, change: Callable[[Callable[..., Any]], Any]) -> None:
    """Change the rows of a store, in one transaction."""
    if url.startswith("sqlite"):
        with closing(sqlite3.connect(url.removeprefix("sqlite:///"))) as file, file:
            change(file.execute)
    else:
        with psycopg.connect(url) as connection:
            change(connection.execute)


def expire(execute: Callable[..., Any], times: int) -> None:
    """Copy the session `old` many times, and let the copies be expired."""
    over = {"expires_at": "'2020-01-01T00:00:00.000000+00:00'"}
    _copy(execute, "sessions", times, over)
    _copy(execute, "turns", times, {})


def _numbers(most: int) -> str:
    return (
        "WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers "
        f"WHERE n < {most})"
    )


def _copy(execute: Callable[..., Any], table: str, times: int, other: dict[str, str]) -> None:
    """Copy the row of the session `old` in a table, with other values."""
    names = [column[0] for column in execute(f"SELECT * FROM {table} WHERE 1 = 0").description]
    values = {name: name for name in names}
    values |= {"session_id": "'old-' || CAST(n AS TEXT)", **other}
    execute(
        f"INSERT INTO {table} ({', '.join(names)}) {_numbers(times)} "
        f"SELECT {', '.join(values.values())} FROM numbers, {table} WHERE session_id = 'old'"
    )
