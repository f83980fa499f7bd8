"""Sessions in Postgres: LangGraph's saver, with checkpoint and ledger in one transaction."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass
from typing import Any

import psycopg
from langgraph.checkpoint.base import CheckpointTuple
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from psycopg import AsyncRawCursor, errors
from psycopg.types.json import Jsonb

from journeygraph.graphs.storage import statements
from journeygraph.graphs.storage.checkpoints import Commit, StoreSaver, config_at, found_at
from journeygraph.graphs.storage.connections import (
    Connection,
    Connections,
    executed,
    heard,
    run,
    seen_by,
    transaction_of,
)
from journeygraph.graphs.storage.errors import Unconfirmed, WriteConflict, reason_of
from journeygraph.graphs.storage.leases import Leases
from journeygraph.graphs.storage.sealing import RefusedError, Seal
from journeygraph.graphs.storage.statements import Row, Sql, Statement, joined
from journeygraph.journeys.config import TENANT

_SEAL = "seal"
_Write = Callable[[Connection, list[Statement]], Awaitable[None]]
_MOST_AT_ONCE = 200
"""Rows up to which a transaction is one statement, whose text has a part for each row."""
_LATEST = "WHERE thread_id = %s AND checkpoint_ns = %s ORDER BY checkpoint_id DESC LIMIT 1"
_ONE = "WHERE thread_id = %s AND checkpoint_ns = %s AND checkpoint_id = %s"


class PostgresJourneySaver(StoreSaver, AsyncPostgresSaver):
    """LangGraph's Postgres saver, which writes a turn's checkpoint and ledger together.

    LangGraph's own saver locks around every statement, even with a pool. This one does not, so that
    each connection serves a session at the same time. The data of a session is in separate
    encrypted values. A checkpoint has the versions of its values unencrypted, and a seal against
    changes.
    """

    def __init__(self, connections: Connections, seal: Seal) -> None:
        super().__init__(connections.pool, serde=seal.serializer())
        self._connections = connections
        self.seal = seal
        self.leases = Leases(connections)

    @property
    def is_full(self) -> bool:
        """Return whether the disk was full at a write of the last seconds."""
        return self._connections.is_full

    async def state_in(self, row: Row, seal: Seal) -> CheckpointTuple | None:
        """Return the state of a version from its row; None if it was removed."""
        if row["checkpoint"] is None:
            return None
        parsed = {name: json.loads(row[name]) for name in ("checkpoint", "metadata")}
        return self._opened({**row, **parsed}, seal, [])

    async def write(self, written: list[Statement]) -> None:
        """Write statements in their own transaction."""
        await self._whole(written, _all)

    async def read(self, query: Sql, **parameters: Any) -> list[Row]:
        """Return the rows of a query as dicts."""
        given = self.bound(parameters)

        async def read(connection: Connection) -> list[Row]:
            return await run(connection, query, **given)

        return await self._connections.trying(read)

    async def version(self, query: Sql, **parameters: Any) -> Row | None:
        """Return the row of a version with its state; None if there is none."""
        rows = await self.read(query, **parameters)
        return rows[0] if rows else None

    async def forget(self, session_id: str, written: list[Statement]) -> None:
        """Remove a session's checkpoints, with other statements, in one transaction."""
        row: list[Row] = [{"session": session_id}]
        both = [*written, *(Statement(sql, row) for sql in statements.FORGET_STATE)]
        # What a turn commits while this waits for it has to be seen, so that it goes as well.
        await self._whole(both, _one_after_the_other)

    async def close(self) -> None:
        """Close the connections after their running operations."""
        await self._connections.close(self.leases.last)

    async def _load(self, config: Any) -> CheckpointTuple | None:
        place = config["configurable"]
        wanted = [place["thread_id"], place.get("checkpoint_ns", ""), place.get("checkpoint_id")]
        where, wanted = (_ONE, wanted) if wanted[2] else (_LATEST, wanted[:2])

        async def load(connection: Connection) -> Any:
            query = self.SELECT_SQL + where
            return await (await executed(connection, self.tenant, query, wanted)).fetchone()

        row = await self._connections.trying(load)
        return row and await self._load_checkpoint_tuple(row)

    def _listed(self, config: Any, **options: Any) -> AsyncIterator[CheckpointTuple]:
        return AsyncPostgresSaver.alist(self, config, **options)

    async def _save(
        self,
        config: Any,
        checkpoint: Any,
        metadata: Any,
        new_versions: Any,
        commit: Commit | None = None,
    ) -> Any:
        place = config["configurable"]
        rows = commit.rows(checkpoint) if commit else []
        seal = commit.seal if commit else self.seal
        written = [*rows, *self._state(place, checkpoint, metadata, new_versions, seal)]
        await self._whole(written, _all)
        return config_at(place, checkpoint["id"])

    async def _save_writes(self, config: Any, writes: Any, task_id: str, task_path: str) -> None:
        await AsyncPostgresSaver.aput_writes(self, config, writes, task_id, task_path)

    @asynccontextmanager
    async def _cursor(self, *, pipeline: bool = False) -> AsyncIterator[Any]:
        """Yield a cursor for LangGraph's own methods, without their default lock."""
        async with (
            self._connections.connection() as connection,
            nullcontext() if self.tenant == TENANT else transaction_of(connection, self.tenant),
            connection.cursor(binary=True) as cursor,
        ):
            yield cursor

    async def _whole(self, given: list[Statement], write: _Write) -> None:
        """Write all or nothing, even if the caller is cancelled."""
        written = self.all_bound(given)
        once = _Once(written, write)
        try:
            await asyncio.shield(asyncio.ensure_future(self._connections.trying(once)))
        except psycopg.Error as error:
            if once.unheard:
                raise Unconfirmed(reason_of(error)) from error
            raise
        for statement in written:
            if statement.sql is statements.ADVANCE:
                row = statement.rows[0]
                self.leases.committed((self.tenant, row["session"], row["held"]))

    def _state(
        self,
        place: Row,
        checkpoint: Any,
        metadata: Any,
        new_versions: Mapping[str, Any],
        seal: Seal,
    ) -> list[Statement]:
        """Return the statements that write a checkpoint and its new values."""
        session, document = place["thread_id"], {**checkpoint, "channel_values": {}}
        # Of the configuration nothing is kept: it may hold what a caller meant for nobody else.
        kept = {k: metadata[k] for k in ("source", "step", "parents") if k in metadata}
        if seal.hides:
            kept[_SEAL] = seal.close("", _bound(session, document["id"], document))
        saved: Row = {
            "thread": session,
            "namespace": place.get("checkpoint_ns", ""),
            "id": document["id"],
            "parent": place.get("checkpoint_id"),
            "checkpoint": Jsonb(document),
            "metadata": Jsonb(kept),
        }
        values = self._values(place, checkpoint, new_versions, seal)
        return [values, Statement(statements.SAVE_CHECKPOINT, [saved])]

    async def _load_checkpoint_tuple(self, value: Any) -> CheckpointTuple:
        """Return a checkpoint of a thread that is no session, for LangGraph's own methods."""
        return self._opened(value, self.seal, self._load_writes(value["pending_writes"]))

    def _opened(self, value: Any, seal: Seal, writes: Any) -> CheckpointTuple:
        """Return a checkpoint with its values, each opened for its own place.

        Raises:
            RefusedError: It is not encrypted, was changed or moved, or has another key.
        """
        session, document = value["thread_id"], value["checkpoint"]
        if seal.hides:
            _check_seal(value["metadata"], session, value["checkpoint_id"], document, seal)
        found = value["channel_values"] or ()
        stored = ((name.decode(), kind.decode(), blob) for name, kind, blob in found)
        values = self._opened_values(session, document, stored, seal)
        checkpoint: Any = {**document, "channel_values": values}
        return found_at(value, checkpoint, value["metadata"], writes)


@dataclass(slots=True)
class _Once:
    """A transaction that may be tried twice, and takes effect once.

    The first try may be committed although its acknowledgement was lost. Then its row exists, and
    the second try must not count as a lost race.

    Attributes:
        unheard: True if it may be committed without an acknowledgement.
    """

    written: list[Statement]
    write: _Write
    tried: int = 0
    unheard: bool = False

    async def __call__(self, connection: Connection) -> None:
        self.tried += 1
        if self.tried > 1:
            if counted := await _counted(connection, self.written):
                return
            self.unheard = self.unheard and counted is None
        try:
            await self.write(connection, self.written)
        except (WriteConflict, psycopg.IntegrityError):
            if self.tried == 1 or not await _counted(connection, self.written):
                raise
        except psycopg.OperationalError as error:
            # What a server refuses has a code; a connection that is cut says nothing.
            self.unheard = self.unheard or error.sqlstate is None
            raise


def _check_seal(metadata: Any, session: str, id_: str, document: Any, seal: Seal) -> None:
    try:
        seal.open(metadata.get(_SEAL, ""), _bound(session, id_, document))
    except RefusedError as error:
        raise error.of(f"The state of session '{session}' at '{id_}'") from error


def _bound(session: str, checkpoint_id: str, document: Any) -> str:
    """Return the sealed content of a checkpoint: its place and its data."""
    return f"{session}|checkpoint|{checkpoint_id}|{json.dumps(document, sort_keys=True)}"


def _tenant_in(written: list[Statement]) -> str:
    """Return the tenant whose rows statements are about."""
    return next((seen_by(one.sql, row) for one in written for row in one.rows), TENANT)


async def _one_after_the_other(connection: Connection, written: list[Statement]) -> None:
    """Write in a transaction in which every statement sees all earlier commits."""
    async with transaction_of(connection, _tenant_in(written)):
        for statement in written:
            assert statement.sql.postgres
            if len(statement.rows) > 1:
                async with connection.cursor() as cursor:
                    await cursor.executemany(statement.sql.postgres, statement.rows)
                continue
            for row in statement.rows:
                cursor = await connection.execute(statement.sql.postgres, row)
                if statement.exactly_one and cursor.rowcount != 1:
                    raise WriteConflict


async def _all(connection: Connection, written: list[Statement]) -> None:
    """Write all or nothing: in one round trip, unless these are many rows, as of a fork."""
    many = sum(len(statement.rows) for statement in written) > _MOST_AT_ONCE
    await (_one_after_the_other if many else _at_once)(connection, written)


async def _at_once(connection: Connection, written: list[Statement]) -> None:
    """Write in one statement, which is one transaction and one round trip."""
    query, values = joined(written, _tenant_in(written))
    try:
        # Psycopg would read a text of this length anew each time, to number its parameters.
        heard(await AsyncRawCursor(connection).execute(query, values, binary=True))
    except errors.DivisionByZero as error:
        raise WriteConflict from error


async def _counted(connection: Connection, written: list[Statement]) -> bool | None:
    """Return whether a transaction is committed, by its first row; None: unknown."""
    for statement in written:
        proof = statement.proof or statements.ADDED.get(statement.sql)
        if proof and statement.rows:
            return bool(await run(connection, proof, **statement.rows[0]))
    return None
