"""Sessions in SQLite: LangGraph's saver, with checkpoint and ledger in one transaction.

Each operation on the connection is one function, so a transaction starts and ends in one call, and
none is open while the event loop does other work.
"""

from __future__ import annotations

import asyncio
import json
import os
import sqlite3
import threading
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, TypeVar

import orjson
from langgraph.checkpoint.base import CheckpointTuple, get_checkpoint_metadata
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.checkpoint.sqlite.utils import (
    load_pending_writes,
    pending_writes_sql,
    search_where,
)

from journeygraph.graphs.storage import statements
from journeygraph.graphs.storage.checkpoints import (
    PLACE,
    Commit,
    StoreSaver,
    config_at,
    found_at,
)
from journeygraph.graphs.storage.errors import DamagedError, WriteConflict
from journeygraph.graphs.storage.sealing import Seal, state_of
from journeygraph.graphs.storage.statements import Row, Sql, Statement, thread_of
from journeygraph.nodes.json_data import size

_T = TypeVar("_T")
Rows = list[Row]
Written = list[Statement]

_VALUES = "__values"
"""Key of the metadata that names the version of each value of a checkpoint."""
_KEPT = "kept"
"""Key of the list of values that are stored apart from a checkpoint."""
_APART = ("context", "fields")
"""Values that may be large, and that a turn need not change: then they are apart."""
_SMALL = 4096
"""Bytes up to which they are within the checkpoint for all that."""


class SqliteJourneySaver(StoreSaver, SqliteSaver):
    """LangGraph's SQLite saver, which writes a turn's checkpoint and ledger together.

    LangGraph's own writes every value of the state with every checkpoint. Here the context and the
    fields are apart once they are large, and are not written again by a turn that does not change
    them.

    Args:
        conn: The connection, used only by this saver.
        seal: Encryption of threads that are no sessions.
        alone: Lock for a database in memory, whose operations run in place: two event loops would
            wait for each other in SQLite's own steps of up to 100 ms. None: operations run in a
            thread.
        file: Path of the database; None: it is in memory.
    """

    def __init__(
        self, conn: sqlite3.Connection, *, seal: Seal, alone: Any, file: str | None = None
    ) -> None:
        super().__init__(conn, serde=seal.serializer())
        self._file, self._inode = file, _inode(file)
        self.seal = seal
        self.lock: Any = alone or threading.RLock()
        self._thread = None if alone else ThreadPoolExecutor(1, "journeygraph-sqlite")

    async def open(self) -> None:
        """Create the saver's own tables if they are missing."""
        await self._done(self.setup)

    async def is_replaced(self) -> bool:
        """Return whether another file than the opened one is in its place now."""
        return await self._done(lambda: _inode(self._file)) != self._inode

    async def state_in(self, row: Row, seal: Seal) -> CheckpointTuple | None:
        """Return the state of a version from its row; None if it was removed."""
        return None if row["checkpoint"] is None else self._opened(row, seal)

    def get_tuple(self, config: Any) -> CheckpointTuple | None:
        """Load a checkpoint, or the latest of a thread."""
        place = {"checkpoint_ns": "", **config["configurable"]}
        return next(self.list({"configurable": place}, limit=1), None)

    def list(
        self, config: Any, *, filter: Any = None, before: Any = None, limit: int | None = None
    ) -> Iterator[CheckpointTuple]:
        """List checkpoints, newest first."""
        where, parameters = search_where(config, filter, before)
        order = "ORDER BY checkpoint_id DESC, checkpoint_ns, thread_id"
        most = -1 if limit is None else limit
        query = statements.with_values(f"SELECT * FROM checkpoints {where} {order} LIMIT {most}")
        with self.lock:
            rows = _versions(self.conn, f"{query} {order}", parameters)
            places = [[row[name] for name in PLACE] for row in rows]
            found = [self.conn.execute(pending_writes_sql(True), place) for place in places]
            writes = [cursor.fetchall() for cursor in found]
        for row, pending in zip(rows, writes, strict=True):
            yield self._opened(row, self.seal, pending)

    def put(self, config: Any, checkpoint: Any, metadata: Any, new_versions: Any) -> Any:
        """Write a checkpoint with all its values."""
        place = {"checkpoint_ns": "", **config["configurable"]}
        about = get_checkpoint_metadata(config, metadata)
        with self.lock:
            versions = checkpoint["channel_versions"]
            _write(self.conn, self._state(place, checkpoint, about, versions, self.seal))
        return config_at(place, checkpoint["id"])

    def put_writes(self, config: Any, writes: Any, task_id: str, task_path: str = "") -> None:
        """Write pending writes, bound to their checkpoint."""
        place = config["configurable"]
        with state_of(place["thread_id"], place["checkpoint_id"]):
            super().put_writes(config, writes, task_id, task_path)

    def delete_thread(self, thread_id: str) -> None:
        """Delete all data of a thread."""
        with self.lock:
            _write(self.conn, _forgotten(thread_id))

    async def write(self, written: Written) -> None:
        """Write statements in their own transaction."""
        await self._done(partial(_write, self.conn, self.all_bound(written)), whole=True)

    async def read(self, query: Sql, **parameters: Any) -> Rows:
        """Return the rows of a query as dicts."""
        assert query.sqlite
        return await self._done(partial(_read, self.conn, query.sqlite, self.bound(parameters)))

    async def version(self, query: Sql, **parameters: Any) -> Row | None:
        """Return the row of a version with its state; None if there is none."""
        given = self.bound(parameters)
        found = await self._done(partial(_versions, self.conn, query.sqlite, given))
        return found[0] if found else None

    async def forget(self, session_id: str, written: Written) -> None:
        """Remove a session's checkpoints, with other statements, in one transaction."""
        await self.write([*written, *_forgotten(thread_of(self.tenant, session_id))])

    async def compact(self) -> None:
        """Rewrite the file without the parts that are not used, and empty its write-ahead log."""
        if self._file:
            await self._done(partial(_compact, self.conn), whole=True)

    async def close(self) -> None:
        """Close the connection after its running operation."""
        await self._done(self.conn.close, whole=True)
        thread, self._thread = self._thread, None
        if thread:  # whoever comes later finds the connection closed
            thread.shutdown(wait=False)

    async def _load(self, config: Any) -> CheckpointTuple | None:
        return await self._done(partial(self.get_tuple, config))

    async def _listed(self, config: Any, **options: Any) -> AsyncIterator[CheckpointTuple]:
        for found in await self._done(lambda: [*self.list(config, **options)]):
            yield found

    async def _save(
        self,
        config: Any,
        checkpoint: Any,
        metadata: Any,
        new_versions: Any,
        commit: Commit | None = None,
    ) -> Any:
        if commit is None:
            return await self._done(
                partial(self.put, config, checkpoint, metadata, new_versions), whole=True
            )
        place = config["configurable"]
        before = commit.head["channel_values"] if commit.head else ()
        kept = [channel for channel, *_ in before]
        state = self._state(place, checkpoint, metadata, new_versions, commit.seal, kept)
        await self.write([*commit.rows(checkpoint), *state])
        return config_at(place, checkpoint["id"])

    async def _save_writes(self, config: Any, writes: Any, task_id: str, task_path: str) -> None:
        await self._done(partial(self.put_writes, config, writes, task_id, task_path), whole=True)

    async def adelete_thread(self, thread_id: str) -> None:
        """Remove the checkpoints of a thread."""
        await self._done(partial(self.delete_thread, thread_id), whole=True)

    def _state(
        self,
        place: Row,
        checkpoint: Any,
        metadata: Any,
        new_versions: Collection[str],
        seal: Seal,
        kept: Collection[str] = (),
    ) -> Written:
        """Return the statements that write a checkpoint and its new values.

        Args:
            place: The place of the checkpoint.
            checkpoint: The checkpoint.
            metadata: Its metadata.
            new_versions: Names of the values that changed.
            seal: Encryption of the state.
            kept: Names of the values that are apart from the checkpoint before it.
        """
        session, id_, values = place["thread_id"], checkpoint["id"], checkpoint["channel_values"]
        apart = [
            name
            for name in _APART
            if name in values and (name in kept or size(values[name]) > _SMALL)
        ]
        within = {name: value for name, value in values.items() if name not in apart}
        document = {**checkpoint, "channel_values": within, _KEPT: apart}
        kind, blob = self._packed(document, seal, session, id_)
        versions = checkpoint["channel_versions"]
        about = {**metadata, _VALUES: {name: versions[name] for name in apart}}
        saved: Row = {
            "thread": session,
            "namespace": place["checkpoint_ns"],
            "id": id_,
            "parent": place.get("checkpoint_id"),
            "type": kind,
            "checkpoint": blob,
            "metadata": _dumped(about),
        }
        written = [Statement(statements.SAVE_CHECKPOINT, [saved])]
        changed = [name for name in apart if name in new_versions or name not in kept]
        return [self._values(place, checkpoint, changed, seal), *written] if changed else written

    def _opened(self, row: Row, seal: Seal, writes: Iterable[Any] = ()) -> CheckpointTuple:
        """Return a checkpoint with its values, each opened for its own place.

        Raises:
            DamagedError: A value is missing, or stored data was changed.
        """
        session, id_, about = row["thread_id"], row["checkpoint_id"], _loaded(row["metadata"])
        about.pop(_VALUES, None)
        checkpoint = self._unpacked(row["type"], row["checkpoint"], seal, session, id_)
        pending: Any = []
        if writes:
            with state_of(session, id_):
                pending = load_pending_writes(writes, self.serde)
        kept = checkpoint.pop(_KEPT, None)
        if kept is not None:
            values = self._opened_values(session, checkpoint, row["channel_values"], seal)
            if values.keys() != set(kept):
                raise DamagedError(
                    f"Part of the state of session '{session}' is missing: rows of the store were "
                    "removed."
                )
            checkpoint["channel_values"] = {**checkpoint["channel_values"], **values}
        return found_at(row, checkpoint, about, pending)

    async def _done(self, deed: Callable[[], _T], *, whole: bool = False) -> _T:
        """Run an operation on the connection, after all earlier ones.

        Args:
            deed: The operation.
            whole: True to finish it even if the caller is cancelled.
        """
        if self._thread is None:
            with self.lock:
                return deed()
        asked = asyncio.get_running_loop().run_in_executor(self._thread, deed)
        return await (asyncio.shield(asked) if whole else asked)


def _inode(file: str | None) -> tuple[int, int] | None:
    """Return device and number of a file; None if there is none."""
    try:
        found = os.stat(file) if file else None
    except OSError:
        return None
    return (found.st_dev, found.st_ino) if found else None


def _dumped(about: Any) -> bytes:
    """Return metadata as LangGraph's saver has it; a caller may put into it what orjson refuses."""
    try:
        return orjson.dumps(about)
    except TypeError:
        return json.dumps(about, ensure_ascii=False).encode("utf-8", "ignore")


def _loaded(about: bytes) -> Any:
    try:
        return orjson.loads(about)
    except ValueError:  # not a number, which JSON does not know
        return json.loads(about)


def _forgotten(thread: str) -> Written:
    """Return the statements that remove all checkpoints of a thread."""
    return [Statement(sql, [{"thread": thread}]) for sql in statements.FORGET_STATE]


def _versions(connection: sqlite3.Connection, query: str | None, parameters: Any) -> Rows:
    """Return rows of versions with the values of their state, which come one per row."""
    found: Rows = []
    assert query
    for row in connection.execute(query, parameters):
        *_, channel, kind, blob = row
        if not found or any(found[-1][name] != row[name] for name in PLACE):
            found.append({**dict(row), "channel_values": []})
        if channel is not None:
            found[-1]["channel_values"].append((channel, kind, blob))
    return found


def _write(connection: sqlite3.Connection, written: Written) -> None:
    with connection:
        for statement in written:
            sql = statement.sql.sqlite
            if sql and len(statement.rows) == 1:
                changed = connection.execute(sql, statement.rows[0]).rowcount
                if statement.exactly_one and changed != 1:
                    raise WriteConflict
            elif sql:
                connection.executemany(sql, statement.rows)


def _compact(connection: sqlite3.Connection) -> None:
    connection.execute("VACUUM")
    [is_busy, *_] = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    if is_busy:
        raise sqlite3.OperationalError("another process reads the database")


def _read(connection: sqlite3.Connection, query: str, parameters: Any) -> Rows:
    return [dict(row) for row in connection.execute(query, parameters)]
