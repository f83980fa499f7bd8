"""The lease of a session: one turn at a time, also where many processes share a database.

A process that takes a session gets a number, the fence, which is higher than all before. A turn is
committed only if its fence is still the newest, so a process that was stopped for too long writes
nothing. The lease uses the database's clock and is renewed while the turn runs; the lease of a dead
process expires. No connection is held in the meantime.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import psycopg

from graphs.storage import statements
from graphs.storage.connections import Connection, Connections, Deed
from graphs.storage.errors import raise_translated
from graphs.storage.statements import Row, Sql
from journeys import StateError

SECONDS = 10.0
"""Seconds that a lease lasts without renewal, and so the wait of a session after a crash."""
PATIENCE = 30.0
"""Seconds for which a turn waits for a lease of another process."""
_SHORTLY = 1.0
_FIRST_PAUSE, _LONGEST_PAUSE = 0.01, 0.25


class Leases:
    """The leases that one event loop holds in one database."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections
        self._held: set[tuple[str, int]] = set()
        self._unwanted: set[asyncio.Task[None]] = set()

    @asynccontextmanager
    async def of(self, session_id: str) -> AsyncIterator[Row | None]:
        """Hold a session's lease and yield its head; None if the session does not exist.

        The commit of a turn also ends the lease; after a turn without a commit it is released here.

        Raises:
            StateError: Another process holds the session for too long, or the database fails.
        """
        head = await self._taken(session_id)
        if head is None:
            yield None
            return
        renewing = asyncio.ensure_future(self._renewed(session_id, head["fence"]))
        try:
            yield head
        finally:
            renewing.cancel()
            if (session_id, head["fence"]) in self._held:
                await asyncio.shield(asyncio.ensure_future(self._ended(session_id, head["fence"])))

    def committed(self, session_id: str, fence: int) -> None:
        """Record that a commit has ended a lease."""
        self._held.discard((session_id, fence))

    def last(self) -> Deed | None:
        """Return the operation that releases every lease; None if there is none."""
        return self._end if self._held else None

    async def _end(self, connection: Connection) -> None:
        """Release every lease: turns that still run will not be committed."""
        while self._held:
            session_id, fence = self._held.pop()
            await _run(connection, statements.RELEASE, session=session_id, held=fence)

    async def _taken(self, session_id: str) -> Row | None:
        clock = asyncio.get_running_loop().time
        deadline, pause = clock() + PATIENCE, _FIRST_PAUSE
        while True:
            there, head = await self._asked(session_id)
            if head or not there:
                return head
            if clock() > deadline:
                raise StateError(
                    f"Session '{session_id}' is still busy in another process after {PATIENCE:g} "
                    "seconds; nothing was changed. Try again.",
                    retryable=True,
                )
            await asyncio.sleep(pause * random.uniform(0.5, 1.0))
            pause = min(pause * 1.5, _LONGEST_PAUSE)

    async def _asked(self, session_id: str) -> tuple[bool, Row | None]:
        """Take the lease if it is free; return whether the session exists, and its head."""
        asking = asyncio.ensure_future(
            self._connections.trying(lambda connection: self._answered(connection, session_id))
        )
        try:
            return await asyncio.shield(asking)
        except asyncio.CancelledError:
            # What is asked for already may be given, and nobody would end it.
            self._unwanted.add(unwanted := asyncio.ensure_future(self._given_back(asking)))
            unwanted.add_done_callback(self._unwanted.discard)
            raise
        except Exception as error:
            raise_translated(error)

    async def _given_back(self, asking: asyncio.Future[tuple[bool, Row | None]]) -> None:
        with suppress(psycopg.Error):
            _, head = await asking
            if head:
                await self._ended(head["session_id"], head["fence"])

    async def _answered(self, connection: Connection, session_id: str) -> tuple[bool, Row | None]:
        taken = await _run(connection, statements.LEASE, session=session_id, seconds=SECONDS)
        if taken:
            self._held.add((session_id, taken[0]["fence"]))
            if taken[0]["checkpoint_id"] is not None:
                return True, taken[0]
        # Where the lease waited for a commit, it sees the new version but not yet its turn.
        there = await _run(connection, statements.HEAD, session=session_id)
        return bool(there), there[0] if taken and there else None

    async def _renewed(self, session_id: str, fence: int) -> None:
        """Renew the lease; ignore failures, because the commit checks the lease anyway."""
        mine = {"session": session_id, "held": fence, "seconds": SECONDS}
        while True:
            await asyncio.sleep(SECONDS / 3)
            with suppress(psycopg.Error):
                await self._connections.trying(
                    lambda connection: _run(connection, statements.RENEW, **mine), SECONDS / 3
                )

    async def _ended(self, session_id: str, fence: int) -> None:
        mine = {"session": session_id, "held": fence}
        # What cannot be written now ends when the store is closed, or else by itself.
        with suppress(psycopg.Error):
            await self._connections.trying(
                lambda connection: _run(connection, statements.RELEASE, **mine), _SHORTLY
            )
            self._held.discard((session_id, fence))


async def _run(connection: Connection, sql: Sql, **parameters: object) -> list[Row]:
    assert sql.postgres
    cursor = await connection.execute(sql.postgres, parameters, binary=True)
    return await cursor.fetchall() if cursor.description else []
