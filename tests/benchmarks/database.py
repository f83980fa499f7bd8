"""Costs of a turn on Postgres: alone, late in a long session, and among many at once."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import psycopg
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from psycopg.rows import dict_row
from psycopg_pool import AsyncConnectionPool

from tests.benchmarks.by_hand import by_hand
from tests.benchmarks.material import CONTEXT, desk, questions, session
from tests.benchmarks.measure import Figure, Pairs, Steps, alternate, amount, duration, timed
from tests.benchmarks.turns import encrypted, talking
from tests.support.postgres import Postgres, started
from tests.support.proxy import slow

ROUNDS = 400
LATE, TURNS, TWINS = 950, 50, 3
SESSIONS, WAVES, POOL, LATENCY = 50, 8, 10, 0.002
_BY_HAND = "the same flow written by hand in LangGraph, its saver on a pool, exit durability"
_WRITTEN = (
    "SELECT sum(pg_column_size(c.*)) FROM checkpoints c JOIN turns t USING (checkpoint_id) "
    "WHERE t.session_id = %(id)s AND t.version = %(n)s",
    "SELECT sum(pg_column_size(b.*)) FROM turns t "
    "JOIN checkpoints c ON c.thread_id = t.session_id AND c.checkpoint_id = t.checkpoint_id "
    "JOIN turns before ON before.session_id = t.session_id AND before.version = t.version - 1 "
    "JOIN checkpoints p ON p.thread_id = t.session_id AND p.checkpoint_id = before.checkpoint_id "
    "CROSS JOIN jsonb_each_text(c.checkpoint -> 'channel_versions') AS v "
    "JOIN checkpoint_blobs b ON b.thread_id = t.session_id AND b.channel = v.key "
    "AND b.version = v.value "
    "WHERE t.session_id = %(id)s AND t.version = %(n)s "
    "AND p.checkpoint -> 'channel_versions' ->> v.key IS DISTINCT FROM v.value",
    "SELECT sum(pg_column_size(turns.*)) FROM turns WHERE session_id = %(id)s AND version = %(n)s",
    "SELECT sum(pg_column_size(audit.*)) FROM audit WHERE session_id = %(id)s AND turn = %(n)s",
)


async def database(steps: Steps) -> list[Figure]:
    """The figures on a Postgres of our own, or on the one that is named for the tests."""
    server = await asyncio.to_thread(started)
    try:
        return [
            await _one(server, steps),
            await encrypted(steps, server.copy(), "Postgres"),
            *await _late(server, steps),
            await _many(server, steps),
        ]
    finally:
        await asyncio.to_thread(server.end)


@asynccontextmanager
async def _theirs(url: str, size: int) -> AsyncIterator[Callable[..., Any]]:
    """The flow written by hand on the stock saver; gives what takes a turn of a thread."""
    kwargs = {"autocommit": True, "prepare_threshold": 0, "row_factory": dict_row}
    pool: AsyncConnectionPool[Any] = AsyncConnectionPool(
        url, min_size=size, max_size=size, open=False, kwargs=kwargs
    )
    async with pool:
        graph = by_hand(desk, AsyncPostgresSaver(pool))

        async def take(thread_id: str, message: str, **more: Any) -> Any:
            said = {"messages": [{"role": "user", "content": message}], **more}
            thread: Any = {"configurable": {"thread_id": thread_id}}
            return await graph.ainvoke(said, thread, durability="exit")

        yield take


async def _one(server: Postgres, steps: Steps) -> Figure:
    url = server.copy()
    journey = await session(url)
    async with _theirs(url, 1) as take:
        await take("by-hand", "hello", context=CONTEXT)
        pairs = await alternate(
            talking(journey.process_message),
            talking(lambda message: take("by-hand", message)),
            steps("Postgres", ROUNDS),
        )
    await journey.close()
    return pairs.figure("turn, one function agent, Postgres", _BY_HAND, 0.95, duration)


async def _late(server: Postgres, steps: Steps) -> list[Figure]:
    """Turns 951-1000 of three sessions, each in alternation with turns 1-50 of a twin."""
    time, stored = Pairs(), Pairs()
    for number in range(1, TWINS + 1):
        url = server.copy()
        old, young = await session(url, "old"), await session(url, "young")
        say_old, say_young = talking(old.process_message), talking(young.process_message)
        for _ in steps(f"Postgres, session {number} of {TWINS}, up to turn {LATE}", LATE):
            await say_old()
        for _ in range(TURNS):
            time.add_times(await timed(say_old), await timed(say_young))
        with psycopg.connect(url) as connection:
            for turn in range(1, TURNS + 1):
                late = _bytes_of(connection, "old", LATE + turn)
                stored.add(late, _bytes_of(connection, "young", turn))
        await old.close()
        await young.close()
    what, against = f"turns {LATE + 1}-{LATE + TURNS}, Postgres", f"its turns 1-{TURNS}"
    return [
        time.figure(f"{what}: time", against, 1.15, duration),
        stored.figure(f"{what}: bytes stored by a turn", against, 1.15, amount),
    ]


def _bytes_of(connection: psycopg.Connection[Any], session_id: str, turn: int) -> float:
    """The stored size of a turn's checkpoint, of the values that are new in it, and of its rows."""
    found = (
        connection.execute(query, {"id": session_id, "n": turn}).fetchone() for query in _WRITTEN
    )
    return float(sum(row[0] or 0 for row in found if row))


async def _many(server: Postgres, steps: Steps) -> Figure:
    """Each wave is one turn of every session, all at once, over a network that takes its time."""
    url = server.copy()
    with slow(url, LATENCY) as far:
        return await _many_over(far, steps)


async def _many_over(far: str, steps: Steps) -> Figure:
    pairs = Pairs()
    async with _theirs(far, POOL) as take:
        ours = [await session(far, f"s-{number}") for number in range(SESSIONS)]
        said = questions(5)

        async def wave() -> None:
            await asyncio.gather(*(journey.process_message(next(said)) for journey in ours))

        async def wave_by_hand() -> None:
            turns = (take(f"t-{number}", next(said), context=CONTEXT) for number in range(SESSIONS))
            await asyncio.gather(*turns)

        pairs = await alternate(wave, wave_by_hand, steps("50 sessions at once", WAVES), SESSIONS)
        for journey in ours:
            await journey.close()
    what = f"turns a second, {SESSIONS} sessions at once, Postgres {LATENCY * 1e3:g} ms away"
    return pairs.rate(what, "the same with the stock AsyncPostgresSaver", 2.0)
