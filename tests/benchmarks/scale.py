"""Contents of one process, and the gain by a second one.

A server is a process of its own, and the memory of that process is read from outside. The store is
a file on a RAM disk, or Postgres, so it is not part of that memory.
"""

from __future__ import annotations

import asyncio
import os
import resource
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import AsyncExitStack, asynccontextmanager
from itertools import islice
from pathlib import Path

from tests.benchmarks.http_clients import Client
from tests.benchmarks.material import questions, session
from tests.benchmarks.measure import SHOWN, Figure, Steps, alternate, amount, scratch
from tests.benchmarks.over_http import SESSIONS, TURNS, clients, server, serving
from tests.support.postgres import connected, started

MOST_BYTES = 64 * 1024.0
"""Most bytes of memory for an open session, and for an idle stream."""
MOST_GROWTH = 1.5
"""Most that one of many takes, of one of few, for "linear"."""
OPEN, STREAMS, FEW = 10_000, 1_000, 0.1
"""Numbers of sessions and streams at the end, and the share that is few of them."""
ROUNDS, LEAST_GAIN, CORES = 15, 1.6, 6
TALKED = 500
"""Turns whose rows are counted."""
_AT_ONCE = 8


async def scale(steps: Steps) -> list[Figure]:
    """Memory of a process by its sessions and streams; turns of two processes and of one."""
    with scratch() as folder:
        url = f"sqlite:///{folder / 'scale.db'}"
        async with server(url) as (port, pid):
            await _opened_sessions(port, range(_AT_ONCE))  # what the first ones load is not theirs
            opened = await _grown(steps, "open session", steps.size(OPEN), pid, _sessions(port))
            async with AsyncExitStack() as streams:
                held = await _grown(
                    steps, "idle stream", steps.size(STREAMS), pid, _streams(port, streams)
                )
    return [opened, held, await _stored(steps), await _processes(steps)]


_Add = Callable[[Iterable[int]], Awaitable[None]]


async def _grown(steps: Steps, name: str, many: int, pid: int, add: _Add) -> Figure:
    """Return the bytes of one of many, against one of few."""
    numbers, held, few = iter(range(10**9)), [_held(pid)], int(many * FEW)
    for size in (few, many - few):
        for _ in steps(f"{name}s, {size:,}", 1):
            await add(islice(numbers, size))
        held.append(_held(pid))
    each = (held[2] - held[0]) / many
    before = max((held[1] - held[0]) / few, 1.0)
    reached = each <= MOST_BYTES and each <= MOST_GROWTH * before
    what, against = f"{name}: memory of one of {many:,}", f"one of the first {few:,}"
    target = f"<= {amount(MOST_BYTES)}"
    return Figure(what, against, amount(each), amount(before), each / before, None, target, reached)


def _held(pid: int) -> float:
    """Resident memory of a process in bytes."""
    statm = Path(f"/proc/{pid}/statm").read_text()
    return float(statm.split()[1]) * resource.getpagesize()


def _sessions(port: int) -> _Add:
    async def add(numbers: Iterable[int]) -> None:
        await _opened_sessions(port, (number + _AT_ONCE for number in numbers))

    return add


async def _opened_sessions(port: int, numbers: Iterable[int]) -> None:
    """Start sessions, over a few connections."""
    waiting = iter(numbers)

    async def start() -> None:
        client = Client(*await asyncio.open_connection("127.0.0.1", port))
        for number in waiting:
            await client.post("/v1/sessions", {"session_id": f"open-{number}"})
        client.close()

    await asyncio.gather(*(start() for _ in range(_AT_ONCE)))


def _streams(port: int, opened: AsyncExitStack) -> _Add:
    """Return how to hold streams open, each of a session of its own."""

    async def add(numbers: Iterable[int]) -> None:
        for number in numbers:
            await opened.enter_async_context(_stream(port, f"open-{number}"))

    return add


@asynccontextmanager
async def _stream(port: int, session: str) -> AsyncIterator[None]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    head = f"GET /v1/sessions/{session}/events HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
    writer.write(head.encode())
    answer = await reader.readuntil(b"\r\n\r\n")
    assert b" 200 " in answer.splitlines()[0], answer
    try:
        yield
    finally:
        writer.close()


async def _stored(steps: Steps) -> Figure:
    """Return the bytes that a turn adds to Postgres, with indexes, against its rows."""
    postgres = await asyncio.to_thread(started)
    try:
        url = postgres.copy()
        journey = await session(url, "stored")
        said, before, number = questions(1), (0, 0), 0
        for number in steps("turns on Postgres", TALKED + 1):
            if number == 1:  # the first one has filled what is read once
                before = _sizes(url)
            await journey.process_message(next(said))
        await journey.close()
        rows, held = (now - then for now, then in zip(_sizes(url), before, strict=True))
    finally:
        postgres.end()
    shown = (amount(held / number), f"{rows / number:.1f} rows")
    what, against = "a turn in the tables of Postgres, with indexes", "rows that it adds"
    return Figure(what, against, *shown, held / rows / 1e3, None, SHOWN, True)


def _sizes(url: str) -> tuple[int, int]:
    """Return the number of rows in all tables, and their bytes."""
    with connected(url) as connection:
        found = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
        tables = [name for (name,) in found.fetchall()]
        counts = [connection.execute(f"SELECT count(*) FROM {name}").fetchone() for name in tables]
        held = connection.execute(
            "SELECT sum(pg_total_relation_size(name::regclass)) FROM unnest(%s::text[]) AS name",
            [tables],
        ).fetchone()
    assert held
    return sum(count[0] for count in counts if count), int(held[0])


async def _processes(steps: Steps) -> Figure:
    """Return the turns a second of two processes on one Postgres, against those of one."""
    postgres = await asyncio.to_thread(started)
    cores, turns = os.cpu_count() or 1, steps.size(TURNS)
    try:
        url, other = postgres.copy(), postgres.copy()
        async with (
            serving(url) as first,
            serving(url) as second,
            serving(other) as alone,
            clients(first, turns, of="first") as one,
            clients(second, turns, of="second") as two,
            clients(alone, turns, sessions=2 * SESSIONS) as all_at_one,
        ):

            async def at_two() -> None:
                await asyncio.gather(one(), two())

            rounds = steps("processes on Postgres", ROUNDS)
            calls = 2 * SESSIONS * turns
            pairs = await alternate(at_two, all_at_one, rounds, calls=calls)
    finally:
        postgres.end()
    pairs.cpu_ratios.clear()  # the servers are other processes
    what = f"turns of two processes on Postgres, {cores} cores"
    figure = pairs.rate(what, "one process", LEAST_GAIN)
    if cores >= CORES:
        return figure
    # Two servers, Postgres and the clients share fewer cores than they are.
    shown = (figure.ours, figure.theirs, figure.ratio, None)
    return Figure(figure.what, figure.against, *shown, SHOWN, True)
