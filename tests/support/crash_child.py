"""Process that is killed: one conversation, of which every state is known in advance."""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
import signal
import sqlite3
from collections.abc import Callable
from typing import Any

from psycopg import AsyncCursor

import journeygraph.graphs.session.manager  # noqa: F401  (so that a fork has it)
from journeygraph import (
    NEVER,
    Journey,
    JourneyConfig,
    MergeStrategy,
    Pathway,
    ReturnToPrevious,
    SessionNotStartedError,
)
from journeygraph import Transition as Move
from journeygraph.graphs.records.history import read_changes
from journeygraph.graphs.storage import leases, statements, store
from journeygraph.graphs.storage.sqlite import SqliteJourneySaver
from journeygraph.graphs.storage.store import Store
from tests.support.clerks import said


class Diary(Journey):
    """Tell the day."""

    class TellPath(Pathway):
        __agents__ = ["listener", "writer"]
        __accumulate__ = {"heard": MergeStrategy.APPEND, "count": MergeStrategy.SUM}
        __complete_when__ = NEVER

    class AsidePath(Pathway):
        __agents__ = ["writer"]
        __accumulate__ = {"heard": MergeStrategy.APPEND, "count": MergeStrategy.SUM}
        __return_behavior__ = ReturnToPrevious()

    __transitions__ = [Move(said("by the way"), to_pathway="aside")]


LEASE = 0.2
"""Seconds that a lease lasts: nobody in a test shall wait long for a process that was killed."""


def line(number: int) -> str:
    """What is said in a turn: every third message leads aside, and the next one back."""
    return f"by the way {number}" if number % 3 == 1 else f"then {number}"


def foretold(
    version: int,
    said: Callable[[int], str] = line,
    noted: str = "noted",
    home: str = "tell",
) -> dict[str, Any]:
    """The position of the session after each number of messages.

    Args:
        version: The number of messages.
        said: Returns each of them, by its number; begins as `line`.
        noted: The first word of the replies.
        home: The first pathway.
    """
    aside = version % 3 == 1
    moves = [(n, kind) for n in range(1, version + 1) for kind in _MOVES.get(n % 3, ())]
    heard = [said(n) for n in range(1, version + 1)]
    return {
        "pathway": "aside" if aside else home,
        "stack": [home] if aside else [],
        "context": {"heard": heard, "count": len(heard)} if heard else {},
        "messages": heard,
        "replies": [f"{noted} {text}" for text in heard],
        "audit": moves,
    }


_MOVES = {
    1: ("transition", "detour_entered", "completed"),
    2: ("detour_left", "returned"),
}


TAKEN_OVER = ("taken_over", "turn_abandoned")
"""Kinds of audit rows for turns that one process began and another one took, on Postgres."""


async def checked(
    journey: Journey,
    said: Callable[[int], str] = line,
    noted: str = "noted",
    home: str = "tell",
) -> int:
    """Check that message, context, stack, ledger and audit agree; return the version.

    The context is also made again from the operations of the ledger. For the arguments see
    `foretold`.
    """
    state = await journey.get_session_state()
    assert state is not None
    versions = await journey.versions()
    assert [row.version for row in versions] == list(range(state.version + 1))
    stood = {
        "pathway": state.current_pathway_id,
        "stack": state.pathway_stack,
        "context": state.accumulated_context,
        "messages": [row.message for row in versions[1:]],
        "replies": [row.reply for row in versions[1:]],
        "audit": [
            (row.turn, row.kind) for row in await journey.audit() if row.kind not in TAKEN_OVER
        ],
    }
    expected = foretold(state.version, said, noted, home)
    assert stood == expected
    both = zip(expected["messages"], expected["replies"], strict=True)
    spoken = [text for pair in both for text in pair]
    assert [item["content"] for item in state.conversation_history] == spoken[-40:]
    assert state.returning == (state.version % 3 == 1)
    assert (await journey.manager.state_at(state.version)).context == expected["context"]
    session = await journey.manager._session()
    changes = read_changes(session.store, session.session_id, state.version)
    writer = session.at(await session.head()).ledger_writer
    assert await writer.context_after(changes) == expected["context"]
    return state.version


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def diary(url: str, session_id: str, *, dies_in_agent: bool = False) -> Diary:
    async def listener(payload: dict[str, Any]) -> dict[str, Any]:
        await asyncio.sleep(random.uniform(0, 0.003))
        return {"response": "listening"}

    async def writer(payload: dict[str, Any]) -> dict[str, Any]:
        await asyncio.sleep(random.uniform(0, 0.003))
        if dies_in_agent:
            die()
        text = payload["message"]
        return {"response": f"noted {text}", "heard": text, "count": 1}

    agents = {"listener": listener, "writer": writer}
    return Diary(session_id, JourneyConfig(persistence=url), agents=agents)


def live(url: str, session_id: str, acknowledged: str, deed: str, statement: int | None) -> None:
    """Do a deed, or talk for ever; with a statement's number, die before it is executed."""
    leases.LEASE = LEASE
    asyncio.run(_live(url, session_id, acknowledged, deed, statement))


async def _live(
    url: str, session_id: str, acknowledged: str, deed: str, statement: int | None
) -> None:
    if deed == "open" and statement is not None:
        _doom_every_connection(statement)
        statement = None
    journey = diary(url, session_id, dies_in_agent=deed == "agent")
    if statement is not None:
        await doomed(journey, statement)
    if deed in ("start", "open"):
        await journey.start()
    elif deed == "rollback":
        await journey.rollback(1)
    elif deed == "delete":
        await journey.delete()
    else:
        await _talk(journey, acknowledged)
    with contextlib.suppress(SessionNotStartedError):  # it is deleted
        await journey.versions()
    die()


async def _talk(journey: Diary, acknowledged: str) -> None:
    number = (await journey.manager.restore()).version
    out = os.open(acknowledged, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    while True:
        number += 1
        reply = await journey.process_message(line(number), idempotency_key=f"k-{number}")
        os.write(out, f"{reply.metadata['version']}\n".encode())


def _dies_at(statement: int) -> Callable[[str], None]:
    left = [statement]

    def traced(sql: str) -> None:
        left[0] -= 1
        if left[0] <= 0:
            die()

    return traced


async def doomed(journey: Journey, statement: int) -> None:
    dies_before((await journey.manager._session()).store, statement)


def dies_before(store: Store, statement: int) -> None:
    """Kill the process before a store executes a statement, by its number."""
    if isinstance(store.saver, SqliteJourneySaver):
        store.saver.conn.set_trace_callback(_dies_at(statement))
        return
    execute, reached = AsyncCursor.execute, _dies_at(statement)

    async def doomed(self: Any, query: Any, *args: Any, **kwargs: Any) -> Any:
        """Each statement has two moments to die in: before it is sent, and once it has counted.

        Renewals of the lease and checks of a connection do not count: their number depends on the
        speed of the machine.
        """
        if query in (statements.RENEW.postgres, ""):
            return await execute(self, query, *args, **kwargs)
        reached(query)
        cursor = await execute(self, query, *args, **kwargs)
        reached(query)
        return cursor

    AsyncCursor.execute = doomed  # type: ignore[method-assign]


def _doom_every_connection(statement: int) -> None:
    connector, traced = store._connector, _dies_at(statement)

    def doomed(uri: str) -> Callable[[], sqlite3.Connection]:
        def connect() -> sqlite3.Connection:
            connection = connector(uri)()
            connection.set_trace_callback(traced)
            return connection

        return connect

    store._connector = doomed
