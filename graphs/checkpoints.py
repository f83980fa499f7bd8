"""Checkpoint and ledger in one transaction.

A saver of ours finds the commit of the running turn in the run's configuration. When the
checkpoint that LangGraph hands over shows that very turn as done, both are written together;
a failed run's checkpoint, which still shows the turn before, is not written at all.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from langgraph.checkpoint.base import BaseCheckpointSaver, CheckpointTuple
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from graphs.sealing import state_of
from graphs.statements import Statement
from journeys import StateError
from nodes.state import Position, Turn

COMMIT = "__journey_commit"
"""Key of the commit in `configurable`; the two underscores keep it out of the metadata."""
NO_CHECKPOINT = "00000000-0000-0000-0000-000000000000"
"""Names no checkpoint: a session begins from nothing, never from whatever is the latest."""

Write = Callable[[list[Statement]], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Commit:
    """What a turn will write once it is done."""

    number: int
    statements: Callable[[Turn, Position, str], list[Statement]]

    def settles(self, checkpoint: Any) -> bool:
        """Say whether a checkpoint is that of this turn, done."""
        turn = checkpoint["channel_values"].get("turn")
        return bool(turn and turn["done"] and turn["number"] == self.number)

    def rows(self, checkpoint: Any) -> list[Statement]:
        """Return the statements to write with a checkpoint."""
        values = checkpoint["channel_values"]
        return self.statements(values["turn"], values["position"], checkpoint["id"])


def _commit_of(config: Any) -> Commit | None:
    commit: Commit | None = config["configurable"].get(COMMIT)
    return commit


def _is_aside(config: Any) -> bool:
    """Say whether a managed turn is asked about what it must not look at.

    That is a checkpoint of a pathway, of which there is none, and the latest of the session,
    which need not be the head; LangGraph asks for it to see whether a run goes back in time.
    """
    place = config["configurable"]
    latest = not place.get("checkpoint_id")
    return _commit_of(config) is not None and bool(place.get("checkpoint_ns") or latest)


def _found(config: Any, loaded: CheckpointTuple | None) -> CheckpointTuple | None:
    """Refuse to run a turn from a checkpoint that is gone: LangGraph would begin from nothing."""
    asked = config["configurable"].get("checkpoint_id")
    if loaded is None and _commit_of(config) and asked != NO_CHECKPOINT:
        raise StateError(
            "The session's state is not in its saver: another saver was handed in, or its "
            "checkpoints were removed."
        )
    return loaded


def _skipped(config: Any, checkpoint: Any) -> Any:
    return {"configurable": {**config["configurable"], "checkpoint_id": checkpoint["id"]}}


class SqliteJourneySaver(AsyncSqliteSaver):
    """LangGraph's SQLite saver, which writes a turn's checkpoint and ledger together."""

    def __init__(self, conn: Any, *, serde: Any) -> None:
        super().__init__(conn, serde=serde)
        # One connection, so one transaction at a time: reads wait for it as well.
        self._turn = asyncio.Lock()

    async def aget_tuple(self, config: Any) -> CheckpointTuple | None:
        """Load a checkpoint; a managed turn is given its head alone."""
        if _is_aside(config):
            return None
        place = config["configurable"]
        async with self._turn:
            with state_of(place["thread_id"], place.get("checkpoint_id", "")):
                return _found(config, await super().aget_tuple(config))

    async def alist(self, config: Any, **options: Any) -> AsyncIterator[CheckpointTuple]:
        """List checkpoints; none for a managed turn, which has its head."""
        if config is None or _commit_of(config) is None:
            async with self._turn:
                async for found in super().alist(config, **options):
                    yield found

    async def aput(self, config: Any, checkpoint: Any, metadata: Any, new_versions: Any) -> Any:
        """Write a checkpoint, with the ledger of its turn if it settles one."""
        commit = _commit_of(config)
        if commit is None:
            async with self._turn:
                return await super().aput(config, checkpoint, metadata, new_versions)
        if not commit.settles(checkpoint):
            return _skipped(config, checkpoint)

        async def write() -> Any:
            await self._execute(commit.rows(checkpoint))
            with state_of(config["configurable"]["thread_id"], checkpoint["id"]):
                return await super(SqliteJourneySaver, self).aput(
                    config, checkpoint, metadata, new_versions
                )

        return await self._whole(write)

    async def aput_writes(self, config: Any, *args: Any, **kwargs: Any) -> None:
        """Write pending writes; a managed turn is never resumed in its middle, so has none."""
        if _commit_of(config) is None:
            async with self._turn:
                await super().aput_writes(config, *args, **kwargs)

    async def write(self, statements: list[Statement]) -> None:
        """Write statements in one transaction of their own."""

        async def write() -> None:
            await self._execute(statements)
            await self.conn.commit()

        await self._whole(write)

    async def read(self, sql: str, **parameters: Any) -> list[dict[str, Any]]:
        """Return the rows of a query as dicts."""
        async with self._turn:
            return [dict(row) for row in await self.conn.execute_fetchall(sql, parameters)]

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
            if len(statement.rows) == 1:
                cursor = await self.conn.execute(statement.sql, statement.rows[0])
                if statement.exactly_one and cursor.rowcount != 1:
                    raise LostRace
            else:
                await self.conn.executemany(statement.sql, statement.rows)


class LostRace(StateError):
    """Another one wrote first."""

    def __init__(self) -> None:
        super().__init__(
            "The session moved on, expired or was deleted while this turn ran; nothing of the "
            "turn was kept. Send the message again.",
            retryable=True,
        )


class JoinedSaver(BaseCheckpointSaver[Any]):
    """A saver handed in by a user, followed by a commit to our ledger.

    There are two commits, the checkpoint's first: the head is in the ledger, so a checkpoint whose
    ledger row is missing is never looked at.
    """

    def __init__(self, inner: BaseCheckpointSaver[Any], write: Write) -> None:
        super().__init__(serde=inner.serde)
        self._inner = inner
        self._write = write

    def get_next_version(self, current: Any, channel: Any) -> Any:
        """Return the next version of a channel, as the user's saver numbers it."""
        return self._inner.get_next_version(current, channel)

    async def aget_tuple(self, config: Any) -> CheckpointTuple | None:
        """Load a checkpoint; a managed turn is given its head alone."""
        if _is_aside(config):
            return None
        return _found(config, await self._inner.aget_tuple(_without_commit(config)))

    async def alist(self, config: Any, **options: Any) -> AsyncIterator[CheckpointTuple]:
        """List checkpoints; none for a managed turn, which has its head."""
        if config is None or _commit_of(config) is None:
            async for found in self._inner.alist(config, **options):
                yield found

    async def aput(self, config: Any, checkpoint: Any, metadata: Any, new_versions: Any) -> Any:
        """Write a checkpoint that settles a turn, then the ledger."""
        commit = _commit_of(config)
        if commit and not commit.settles(checkpoint):
            return _skipped(config, checkpoint)
        rows = commit.rows(checkpoint) if commit else []
        stored = await self._inner.aput(_without_commit(config), checkpoint, metadata, new_versions)
        if commit:
            await self._write(rows)
        return stored

    async def aput_writes(self, config: Any, *args: Any, **kwargs: Any) -> None:
        """Write pending writes, which a managed turn does not have."""
        if _commit_of(config) is None:
            await self._inner.aput_writes(config, *args, **kwargs)

    async def adelete_thread(self, thread_id: str) -> None:
        """Remove a session's checkpoints."""
        await self._inner.adelete_thread(thread_id)


def _without_commit(config: Any) -> Any:
    kept = {k: v for k, v in config["configurable"].items() if k != COMMIT}
    return {**config, "configurable": kept}
