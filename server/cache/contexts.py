"""The contexts of sessions in a cache: written through on commit, and judged when they are read."""

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
"""Seconds for which a context is kept after a turn, or after a read that found none."""
_NAMES = frozenset(field.name for field in fields(SessionContext))


class Contexts:
    """What sessions know, kept closer than the database, and never older than it.

    A context counts only if it is of the version at which the database has the session just now.
    What is written is written behind the turn, the last of a session at a time, so that a slow
    cache holds nobody up.

    Args:
        shelf: Where they are kept.
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
        """Take note of the epoch: what was kept before all copies were made void is void."""
        self._epoch = max(self._epoch, epoch)

    async def look(
        self, directory: Directory, session_id: str
    ) -> tuple[Found | None, Envelope | None]:
        """Ask database and cache at once: where a session stands, and what is kept of it.

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
        """Return what is kept of a session, if it is of the version at which the session stands."""
        listed = found.listed
        data = self._shelf.judge(kept, self._version(listed.version, listed.created_at))
        return SessionContext(**data) if data is not None and data.keys() == _NAMES else None

    def keep(self, context: SessionContext, expires_at: str | None = None) -> None:
        """Keep a context, soon; what happens to its variables afterwards changes nothing.

        Args:
            context: Of a session that is not sensitive.
            expires_at: When the session is over; None just after a turn.
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
        """Forget a session that was deleted, soon."""
        self._soon(session_id, None)

    async def written(self) -> None:
        """Wait until all is written that is to be."""
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
