"""The contexts of sessions in a cache: written on commit, checked on read."""

from __future__ import annotations

import asyncio
from dataclasses import fields
from datetime import datetime

from graphs.records.definitions import Epoch
from graphs.session.directory import Directory, Found
from graphs.session.session import SessionContext
from graphs.storage.statements import now
from server.cache.port import Counts
from server.cache.shelf import Envelope, Shelf

LASTING = 3600.0
"""Seconds for which a context stays in the cache after a turn, or after a read without a hit."""
_NAMES = frozenset(field.name for field in fields(SessionContext))


class Contexts:
    """Contexts of sessions in a cache, never older than the database.

    A context is used only if its version is the session's version in the database. Writes happen
    after the turn, and only the newest one of a session waits. So a slow cache delays no turn.

    Args:
        shelf: Their place in the cache.
        lasting: Seconds that a session lives without a message.
    """

    def __init__(self, shelf: Shelf, lasting: float) -> None:
        self._shelf = shelf
        self._lasting = min(LASTING, lasting)
        self._epoch = Epoch(0, 0)
        self._pending: dict[str, tuple[bytes, float] | None] = {}
        self._writing: asyncio.Task[None] | None = None

    @property
    def counts(self) -> Counts:
        """Hits and misses."""
        return self._shelf.counts

    def saw(self, epoch: Epoch) -> None:
        """Set the epoch: copies from before the last invalidation are not used."""
        self._epoch = max(self._epoch, epoch)

    async def look(
        self, directory: Directory, session_id: str
    ) -> tuple[Found | None, Envelope | None]:
        """Ask the database for a session's head and the cache for its context, concurrently.

        Raises:
            StateError: The database could not be read.
        """
        kept = asyncio.ensure_future(self._shelf.fetch([session_id]))
        try:
            found = await directory.found(session_id)
        finally:
            envelopes = await kept
        if found:
            self.saw(found.epoch)
        return found, envelopes[0]

    def judged(self, found: Found, kept: Envelope | None) -> SessionContext | None:
        """Return the cached context of a session if it has the session's version."""
        listed = found.listed
        data = self._shelf.judge(kept, self._version(listed.version, listed.created_at))
        return SessionContext(**data) if data is not None and data.keys() == _NAMES else None

    def keep(self, context: SessionContext, expires_at: str | None = None) -> None:
        """Store a context in the background; later changes of its variables have no effect.

        Args:
            context: The context of a session that is not sensitive.
            expires_at: Time at which the session expires; None just after a turn.
        """
        seconds = self._lasting
        if expires_at is not None:
            left = datetime.fromisoformat(expires_at) - now()
            seconds = min(seconds, left.total_seconds())
        if seconds > 0:
            version = self._version(context.version, context.started_at)
            sealed = self._shelf.seal(context.session_id, version, context)
            self._soon(context.session_id, (sealed, seconds))

    def forget(self, session_id: str) -> None:
        """Delete the context of a deleted session, in the background."""
        self._soon(session_id, None)

    async def written(self) -> None:
        """Wait until all pending writes are done."""
        if self._writing:
            await self._writing

    def _soon(self, session_id: str, value: tuple[bytes, float] | None) -> None:
        self._pending[session_id] = value
        if self._writing is None or self._writing.done():
            self._writing = asyncio.get_running_loop().create_task(self._write())

    async def _write(self) -> None:
        while self._pending:
            pending, self._pending = self._pending, {}
            if gone := [name for name, value in pending.items() if value is None]:
                await self._shelf.drop(gone)
            for name, value in pending.items():
                if value is not None:
                    await self._shelf.put({name: value[0]}, value[1])

    def _version(self, version: int, started_at: str) -> str:
        # Deleted and begun anew, a session of that id and version is another one.
        return f"{version}|{started_at}|{self._epoch.dropped}"
