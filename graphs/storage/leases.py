"""The lease of a session in Postgres, so that many processes can share a database.

A process that takes a session gets a number, the fence, which is higher than all before. A turn is
committed only if its fence is still the newest, so a process that was stopped for too long writes
nothing. The lease uses the database's clock and is renewed while the turn runs; the lease of a dead
process expires. No connection is held in the meantime.
"""

from __future__ import annotations

import asyncio
import os
import random
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING

import psycopg

from journeygraph.graphs.storage import statements
from journeygraph.graphs.storage.connections import Connection, Connections, Deed, run
from journeygraph.graphs.storage.errors import BusyElsewhere, raise_translated
from journeygraph.graphs.storage.sealing import Seal, Seals
from journeygraph.graphs.storage.statements import (
    DIED,
    RUNNING,
    Row,
    thread_of,
)
from journeygraph.journeys import SessionBusyError
from journeygraph.journeys.config import TENANT
from journeygraph.nodes.telemetry import waiting_turn

if TYPE_CHECKING:
    from journeygraph.graphs.storage.store import LeaseRequest

_Held = tuple[str, str, int]
"""Tenant, session and fence of a lease."""


LEASE = 4.0
"""Seconds that a lease lasts without renewal, and so the wait of a session after a crash."""


WAIT = 30.0
"""Seconds for which a turn waits for a lease of another process."""


_SHORTLY = 1.0


_MOST_KEYS = 1000


_FIRST_PAUSE, _LONGEST_PAUSE = 0.01, 0.25


class Leases:
    """The leases that one event loop holds in one database.

    A lease keeps the input of its turn, so that another process can take the turn if this one dies.
    The commit of the turn removes it, and so does the end of a turn without a commit.
    """

    def __init__(self, connections: Connections) -> None:
        self._connections = connections
        self._held: set[_Held] = set()
        self._ended_here: set[_Held] = set()
        self._unwanted: set[asyncio.Task[None]] = set()
        self._keys: dict[tuple[str, str], Row] = {}
        """Columns of the seals of the last sessions of a store with keys; data keys are wrapped."""

    @asynccontextmanager
    async def of(
        self,
        tenant: str,
        session_id: str,
        arrival: LeaseRequest,
        seals: Seals,
        interrupt: Callable[[], None],
    ) -> AsyncIterator[Row | None]:
        """Hold a session's lease and yield its head; None if the session does not exist.

        The commit of a turn also ends the lease; after a turn without a commit it is released here.

        Args:
            tenant: The tenant of the session.
            session_id: The session.
            arrival: The request for the turn.
            seals: Makes the encryption of the input of the turn.
            interrupt: Is called when a newer message in another process interrupts the turn.

        Raises:
            SessionBusyError: Another process holds the session, and the request must not wait.
            StateError: Another process holds the session for too long, the key of the session is
                not set, or the database fails.
        """
        head = await self._taken(tenant, session_id, arrival, seals)
        if head is None:
            yield None
            return
        held = (tenant, session_id, head["fence"])
        renewing = asyncio.ensure_future(self._renewed(held, interrupt))
        try:
            yield head
        finally:
            renewing.cancel()
            if held in self._held:
                await asyncio.shield(asyncio.ensure_future(self._ended(held)))

    def committed(self, held: _Held) -> None:
        """Record that a commit has ended a lease."""
        self._held.discard(held)

    def last(self) -> Deed | None:
        """Return the operation that releases every lease; None if there is none."""
        return self._end if self._held else None

    async def _end(self, connection: Connection) -> None:
        """Release every lease: turns that still run will not be committed."""
        while self._held:
            await run(connection, statements.RELEASE, **_named(self._held.pop()))

    async def _taken(
        self, tenant: str, session_id: str, arrival: LeaseRequest, seals: Seals
    ) -> Row | None:
        ask = partial(self._asked, tenant, session_id, arrival, seals, os.urandom(8).hex())
        there, head = await ask()
        if head or not there:
            return head
        if arrival.when_busy == "reject":
            raise SessionBusyError(session_id)
        if arrival.when_busy == "interrupt":
            await self._interrupted(tenant, session_id, arrival.gives_up)
        with waiting_turn("process"):
            return await self._waited_for(session_id, ask)

    async def _waited_for(
        self, session_id: str, ask: Callable[[], Awaitable[tuple[bool, Row | None]]]
    ) -> Row | None:
        """Ask for the lease of another process until it is free."""
        clock = asyncio.get_running_loop().time
        deadline, pause = clock() + WAIT, _FIRST_PAUSE
        while True:
            await asyncio.sleep(pause * random.uniform(0.5, 1.0))
            pause = min(pause * 1.5, _LONGEST_PAUSE)
            there, head = await ask()
            if head or not there:
                return head
            if clock() > deadline:
                raise BusyElsewhere(session_id, WAIT)

    async def _interrupted(self, tenant: str, session_id: str, gives_up: int | None) -> None:
        """Ask the process that holds the lease to give up its turn."""
        asked: Row = {"tenant": tenant, "session": session_id, "gives_up": gives_up}
        try:
            await self._connections.trying(
                lambda connection: run(connection, statements.INTERRUPT, **asked)
            )
        except Exception as error:
            raise_translated(error)

    async def _asked(
        self, tenant: str, session_id: str, arrival: LeaseRequest, seals: Seals, asked: str
    ) -> tuple[bool, Row | None]:
        """Take the lease if it is free; return whether the session exists, and its head."""
        wanted: Row = {
            "tenant": tenant,
            "session": session_id,
            "thread": thread_of(tenant, session_id),
            "asked": asked,
            "seconds": LEASE,
            "journeys": list(arrival.journeys),
        }

        async def answered(connection: Connection) -> tuple[bool, Row | None]:
            known = self._keys.pop((tenant, session_id), None)
            kept = await _kept(connection, wanted, arrival, seals, known)
            there, head = await self._answered(connection, {**wanted, **kept})
            if known and head is None:
                # The session may have another data key by now; a busy one costs no more than this.
                kept = await _kept(connection, wanted, arrival, seals, None)
                there, head = await self._answered(connection, {**wanted, **kept})
            if head and kept["data_key"] is not None:
                self._know(head)
            return there, head

        asking = asyncio.ensure_future(self._connections.trying(answered))
        try:
            return await asyncio.shield(asking)
        except asyncio.CancelledError:
            # What is asked for already may be given, and nobody would end it.
            self._unwanted.add(unwanted := asyncio.ensure_future(self._given_back(asking)))
            unwanted.add_done_callback(self._unwanted.discard)
            raise
        except Exception as error:
            raise_translated(error)

    def _know(self, head: Row) -> None:
        """Keep the columns of a seal, so that the next turn does not read them first."""
        columns = ("session_id", *Seal.columns)
        self._keys[head["tenant"], head["session_id"]] = {name: head[name] for name in columns}
        if len(self._keys) > _MOST_KEYS:
            del self._keys[next(iter(self._keys))]

    async def _given_back(self, asking: asyncio.Future[tuple[bool, Row | None]]) -> None:
        with suppress(psycopg.Error):
            _, head = await asking
            if head:
                await self._ended((head["tenant"], head["session_id"], head["fence"]))

    async def _answered(self, connection: Connection, wanted: Row) -> tuple[bool, Row | None]:
        tenant, session_id = wanted["tenant"], wanted["session"]
        lease = statements.LEASE if tenant == TENANT else statements.LEASE_AS_TENANT
        taken = await run(connection, lease, **wanted)
        if taken:
            self._held.add((tenant, session_id, taken[0]["fence"]))
            if taken[0]["checkpoint_id"] is not None:
                if taken[0][DIED] is not None:
                    await self._check_died(connection, taken[0], wanted["asked"])
                return True, taken[0]
        # Where the lease waited for a commit, it sees the new version but not yet its turn.
        there = await run(connection, statements.HEAD, **wanted)
        return bool(there), there[0] if taken and there else None

    async def _check_died(self, connection: Connection, head: Row, asked: str) -> None:
        """Leave out a kept turn that did not die, or that is over."""
        left = (head["tenant"], head["session_id"], head[DIED])
        if head["died_asked"] == asked:
            mine = {**_named(left), "new_fence": head["fence"]}
            await run(connection, statements.ADOPT, **mine)
            head[DIED] = None
        # Its end could not be written here; or the session has moved on since.
        elif left in self._ended_here or head["died_version"] != head["version"]:
            await run(connection, statements.FORGET_DIED, **_named(left))
            self._ended_here.discard(left)
            head[DIED] = None

    async def _renewed(self, held: _Held, interrupt: Callable[[], None]) -> None:
        """Renew the lease; ignore failures, because the commit checks the lease anyway."""
        mine = {**_named(held), "seconds": LEASE}
        # A cancellation that arrives together with a connection is lost in Python 3.11.
        while held in self._held:
            await asyncio.sleep(LEASE / 3)
            with suppress(psycopg.Error):
                renewed = await self._connections.trying(
                    lambda connection: run(connection, statements.RENEW, **mine), LEASE / 3
                )
                if renewed and renewed[0]["is_unwanted"]:
                    interrupt()

    async def _ended(self, held: _Held) -> None:
        self._ended_here.add(held)
        # What cannot be written now ends when the store is closed, or else by itself.
        with suppress(psycopg.Error):
            await self._connections.trying(
                lambda connection: run(connection, statements.RELEASE, **_named(held)), _SHORTLY
            )
            self._held.discard(held)
            self._ended_here.discard(held)


async def _kept(
    connection: Connection, wanted: Row, arrival: LeaseRequest, seals: Seals, known: Row | None
) -> Row:
    """Return the input of a turn as the lease keeps it, and the data key with which it is sealed.

    Args:
        connection: Reads the row of the session.
        wanted: The parameters of the lease.
        arrival: The request for the turn.
        seals: Makes the encryption.
        known: The columns of the seal; None: they are read.

    Raises:
        StateError: The key of the session is not set.
    """
    if arrival.kept is None:
        return {"kept": None, "data_key": None}
    seal, data_key = Seal(wanted["tenant"]), None
    if seals.keys:
        found = [known] if known else await run(connection, statements.KEY_OF_SESSION, **wanted)
        if not found:
            return {"kept": None, "data_key": None}
        seal, data_key = seals.of(found[0]), found[0]["data_key"] or ""
    row = {"session_id": wanted["session"], "message": arrival.kept()}
    return {"kept": RUNNING.stored(row, seal)["message"], "data_key": data_key}


def _named(held: _Held) -> Row:
    """Return the parameters for a lease that is held."""
    return dict(zip(("tenant", "session", "held"), held, strict=True))
