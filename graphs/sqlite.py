"""Sessions in SQLite: LangGraph's saver, with checkpoint and ledger in one transaction."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

from langgraph.checkpoint.base import CheckpointTuple
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from graphs.checkpoints import (
    commit_of,
    found_or_refused,
    is_aside,
    of_run,
    own_place,
    put_aside,
    skipped,
    writes_put_aside,
)
from graphs.faults import LostRace
from graphs.sealing import state_of
from graphs.statements import Row, Sql, Statement


class SqliteJourneySaver(AsyncSqliteSaver):
    """LangGraph's SQLite saver, which writes a turn's checkpoint and ledger together."""

    def __init__(self, conn: Any, *, serde: Any) -> None:
        super().__init__(conn, serde=serde)
        # One connection, so one transaction at a time: reads wait for it as well.
        self._turn = asyncio.Lock()

    async def aget_tuple(self, config: Any) -> CheckpointTuple | None:
        """Load a checkpoint; a managed turn is given its head alone."""
        if is_aside(config):
            return of_run(config)
        place = config["configurable"]
        async with self._turn:
            with state_of(place["thread_id"], place.get("checkpoint_id", "")):
                return found_or_refused(config, await super().aget_tuple(config))

    async def alist(self, config: Any, **options: Any) -> AsyncIterator[CheckpointTuple]:
        """List checkpoints; none for a managed turn, which has its head."""
        if config is None or commit_of(config) is None:
            async with self._turn:
                async for found in super().alist(config, **options):
                    yield found

    async def aput(self, config: Any, checkpoint: Any, metadata: Any, new_versions: Any) -> Any:
        """Write a checkpoint, with the ledger of its turn if it settles one."""
        commit = commit_of(config)
        if commit is None:
            async with self._turn:
                return await super().aput(config, checkpoint, metadata, new_versions)
        if put_aside(config, checkpoint, metadata):
            return skipped(config, checkpoint)

        async def write() -> Any:
            await self._execute(commit.rows(checkpoint))
            with state_of(config["configurable"]["thread_id"], checkpoint["id"]):
                return await super(SqliteJourneySaver, self).aput(
                    own_place(config), checkpoint, metadata, new_versions
                )

        stored = await self._whole(write)
        commit.written(checkpoint)
        return stored

    async def aput_writes(
        self, config: Any, writes: Any, task_id: str, task_path: str = ""
    ) -> None:
        """Write pending writes; those of a managed turn are kept with its run."""
        if not writes_put_aside(config, writes, task_id):
            async with self._turn:
                await super().aput_writes(config, writes, task_id, task_path)

    async def write(self, statements: list[Statement]) -> None:
        """Write statements in one transaction of their own."""

        async def write() -> None:
            await self._execute(statements)
            await self.conn.commit()

        await self._whole(write)

    async def read(self, query: Sql, **parameters: Any) -> list[Row]:
        """Return the rows of a query as dicts."""
        assert query.sqlite
        async with self._turn:
            found = await self.conn.execute_fetchall(query.sqlite, parameters)
            return [dict(row) for row in found]

    async def forget(self, session_id: str, statements: list[Statement]) -> None:
        """Remove a session's checkpoints, with other statements, in one transaction."""

        async def write() -> None:
            await self._execute(statements)
            await super(SqliteJourneySaver, self).adelete_thread(session_id)

        await self._whole(write)

    async def close(self) -> None:
        """Close the connection, once the transaction that runs has ended."""
        async with self._turn:
            await self.conn.close()

    async def _whole(self, write: Callable[[], Awaitable[Any]]) -> Any:
        """Write all or nothing, whatever happens to the caller in the meantime."""

        async def transaction() -> Any:
            async with self._turn:
                try:
                    return await write()
                except BaseException:
                    await self.conn.rollback()
                    raise

        return await asyncio.shield(asyncio.ensure_future(transaction()))

    async def _execute(self, statements: list[Statement]) -> None:
        for statement in statements:
            sql = statement.sql.sqlite
            if sql and len(statement.rows) == 1:
                cursor = await self.conn.execute(sql, statement.rows[0])
                if statement.exactly_one and cursor.rowcount != 1:
                    raise LostRace
            elif sql:
                await self.conn.executemany(sql, statement.rows)
