"""Sessions in SQLite: LangGraph's saver, with checkpoint and ledger in one transaction.

Whatever is done with the connection is one function of it, so a transaction begins and ends in one
call, and none is open while the event loop does something else.
"""

from __future__ import annotations

import asyncio
import json
import sqlite3
import threading
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from functools import partial
from typing import Any, TypeVar

from langgraph.checkpoint.base import CheckpointTuple, get_checkpoint_metadata
from langgraph.checkpoint.sqlite import SqliteSaver

from graphs import statements
from graphs.checkpoints import TurnSaver
from graphs.faults import LostRace
from graphs.sealing import state_of
from graphs.statements import Row, Sql, Statement

_T = TypeVar("_T")


class SqliteJourneySaver(TurnSaver, SqliteSaver):
    """LangGraph's SQLite saver, which writes a turn's checkpoint and ledger together.

    Args:
        conn: The connection, which no other saver has.
        serde: Serializes and seals the state.
        alone: Held while something is done with a database in memory, which is done in place: two
            event loops would wait for each other in SQLite's own steps, of up to 100 ms. None: it
            is done in a thread of its own.
    """

    def __init__(
        self, conn: sqlite3.Connection, *, serde: Any, alone: threading.Lock | None
    ) -> None:
        super().__init__(conn, serde=serde)
        self._alone = alone
        self._thread = None if alone else ThreadPoolExecutor(1, "journeygraph-sqlite")

    async def open(self) -> None:
        """Make the saver's own tables, if they are not there."""
        await self._done(self.setup)

    async def state_in(self, row: Row) -> CheckpointTuple | None:
        """Return the state of a version whose row was read with it; None if it is gone."""
        if row["checkpoint"] is None:
            return None
        place = (row["thread_id"], row["checkpoint_ns"])
        with state_of(row["thread_id"], row["checkpoint_id"]):
            checkpoint = self.serde.loads_typed((row["type"], row["checkpoint"]))
        return CheckpointTuple(
            _config(*place, row["checkpoint_id"]),
            checkpoint,
            json.loads(row["metadata"]),
            _config(*place, parent) if (parent := row["parent_checkpoint_id"]) else None,
            [],
        )

    async def write(self, written: list[Statement]) -> None:
        """Write statements in one transaction of their own."""
        await self._done(partial(_write, self.conn, written), whole=True)

    async def read(self, query: Sql, **parameters: Any) -> list[Row]:
        """Return the rows of a query as dicts."""
        assert query.sqlite
        return await self._done(partial(_read, self.conn, query.sqlite, parameters))

    async def forget(self, session_id: str, written: list[Statement]) -> None:
        """Remove a session's checkpoints, with other statements, in one transaction."""
        row: list[Row] = [{"session": session_id}]
        await self.write([*written, *(Statement(sql, row) for sql in statements.FORGET_STATE)])

    async def close(self) -> None:
        """Close the connection, once what runs on it has ended."""
        await self._done(self.conn.close, whole=True)
        thread, self._thread = self._thread, None
        if thread:  # whoever comes later finds the connection closed
            thread.shutdown(wait=False)

    async def _load(self, config: Any) -> CheckpointTuple | None:
        place = config["configurable"]

        def load() -> CheckpointTuple | None:
            with state_of(place["thread_id"], place.get("checkpoint_id", "")):
                return self.get_tuple(config)

        return await self._done(load)

    async def _listed(self, config: Any, **options: Any) -> AsyncIterator[CheckpointTuple]:
        for found in await self._done(lambda: list(self.list(config, **options))):
            yield found

    async def _save(
        self,
        config: Any,
        checkpoint: Any,
        metadata: Any,
        new_versions: Any,
        rows: list[Statement] | None = None,
    ) -> Any:
        place = config["configurable"]
        session, namespace = place["thread_id"], place.get("checkpoint_ns", "")
        with state_of(session, checkpoint["id"]):
            kind, blob = self.serde.dumps_typed(checkpoint)
        about = json.dumps(get_checkpoint_metadata(config, metadata), ensure_ascii=False)
        row: Row = {
            "session": session,
            "namespace": namespace,
            "id": checkpoint["id"],
            "parent": place.get("checkpoint_id"),
            "type": kind,
            "checkpoint": blob,
            "metadata": about.encode("utf-8", "ignore"),
        }
        await self.write([*(rows or ()), Statement(statements.SAVE_CHECKPOINT, [row])])
        return _config(session, namespace, checkpoint["id"])

    async def _save_writes(self, config: Any, writes: Any, task_id: str, task_path: str) -> None:
        await self._done(partial(self.put_writes, config, writes, task_id, task_path), whole=True)

    async def adelete_thread(self, thread_id: str) -> None:
        """Remove the checkpoints of a thread."""
        await self._done(partial(self.delete_thread, thread_id), whole=True)

    async def _done(self, deed: Callable[[], _T], *, whole: bool = False) -> _T:
        """Do something with the connection, after all that was asked for before.

        Args:
            deed: What is done.
            whole: Whether it is done to its end, whatever happens to the caller in the meantime.
        """
        if self._thread is None:
            with self._alone or nullcontext():
                return deed()
        asked = asyncio.get_running_loop().run_in_executor(self._thread, deed)
        return await (asyncio.shield(asked) if whole else asked)


def _write(connection: sqlite3.Connection, written: list[Statement]) -> None:
    with connection:
        for statement in written:
            sql = statement.sql.sqlite
            if sql and len(statement.rows) == 1:
                changed = connection.execute(sql, statement.rows[0]).rowcount
                if statement.exactly_one and changed != 1:
                    raise LostRace
            elif sql:
                connection.executemany(sql, statement.rows)


def _read(connection: sqlite3.Connection, query: str, parameters: Row) -> list[Row]:
    return [dict(row) for row in connection.execute(query, parameters)]


def _config(session: str, namespace: str, checkpoint_id: str) -> Any:
    place = {"thread_id": session, "checkpoint_ns": namespace, "checkpoint_id": checkpoint_id}
    return {"configurable": place}
