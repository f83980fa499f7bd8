"""A process that takes due timers as a server does, and is killed at a statement of a turn."""

from __future__ import annotations

import asyncio
from typing import Any

import journeygraph.graphs.session.manager  # noqa: F401  (so that a fork has it)
from journeygraph import NEVER, Journey, JourneyConfig, Pathway, Reminder, Silence
from journeygraph.graphs.records import timers
from journeygraph.graphs.session import jobs
from journeygraph.graphs.session.directory import Directory
from journeygraph.graphs.storage import leases
from tests.support import crash_child

SESSIONS = 12
REMINDER = "Shall we continue?"


class Offer(Journey):
    __silence__ = Silence(reminders=[Reminder("1 second", REMINDER)])

    class Talk(Pathway):
        __agents__ = ["clerk"]
        __complete_when__ = NEVER


def offer(url: str, session_id: str) -> Offer:
    agents = {"clerk": lambda ask: "An offer."}
    return Offer(session_id, JourneyConfig(persistence=url), agents=agents)


def work(url: str, statement: int | None) -> None:
    """Take timers until none is left; with a statement's number, die before it is executed."""
    leases.LEASE = crash_child.LEASE
    timers.FIRST_PAUSE, jobs.LOOK_SECONDS = 0.5, 0.02
    asyncio.run(_work(url, statement))


async def _work(url: str, statement: int | None) -> None:
    directory = await Directory.open(JourneyConfig(persistence=url))
    if statement is not None:
        crash_child.dies_before(directory.store, statement)

    async def take(tenant: str, session_id: str) -> None:
        async with offer(url, session_id) as journey:
            await journey.take_timer()

    running = jobs.Jobs(jobs.DueTimers(directory.store, lambda: [Offer.spec.id], take))
    running.begin()
    while await left(directory):  # noqa: ASYNC110 - other processes take timers too
        await asyncio.sleep(0.02)
    await running.end()
    await directory.close()


async def left(directory: Directory) -> list[str]:
    """Return the sessions whose timer was not taken yet."""
    rows = [await timers.timer_of(directory.store, f"s-{n}") for n in range(SESSIONS)]
    return [row["session_id"] for row in rows if row and row["due_at"] != timers.NEVER]


async def begin(url: str) -> None:
    """Begin the sessions, each with a message."""
    for number in range(SESSIONS):
        async with offer(url, f"s-{number}") as journey:
            await journey.start()
            await journey.process_message("hello")


async def reminders(url: str) -> list[int]:
    """Return how often each session was reminded."""

    async def of(session_id: str) -> int:
        async with offer(url, session_id) as journey:
            found: Any = await journey.versions()
        kinds = [version.kind for version in found]
        assert kinds[:2] == ["start", "turn"]
        return [version.reply for version in found].count(REMINDER)

    return [await of(f"s-{number}") for number in range(SESSIONS)]
