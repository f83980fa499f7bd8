"""Values of one kind in a cache, each with its version; the contexts of sessions are one kind."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import fields
from datetime import datetime
from typing import Any, Self

import orjson

from journeygraph.graphs.session.directory import FoundSession
from journeygraph.graphs.session.session import SessionContext
from journeygraph.graphs.storage.statements import now
from journeygraph.journeys import JourneyConfig, StateError
from journeygraph.nodes.telemetry import measure
from journeygraph.server.cache.port import Cache, CacheUnavailableError, Counts

LARGEST = 2**18
"""Most bytes of a value; a larger one would cost more time than a cache saves."""


class VersionedCache:
    """JSON values of one kind, each with a version that is compared with the database.

    A value that is damaged, or has another key or version, is a miss.
    """

    def __init__(self, cache: Cache, kind: str, tenant: str = "default") -> None:
        self.counts = Counts()
        self._cache = cache
        self._tenant = tenant
        self._kind = kind

    async def get(self, versions: Mapping[str, str]) -> dict[str, Any]:
        """Return the data of names, where the cache has it in the given version."""
        written = await self._cache.get([self.key(name) for name in versions])
        data: dict[str, Any] = {}
        for (name, version), one in zip(versions.items(), written, strict=True):
            entry = _entry(one)
            # A server that is out of step answers with the value of another key.
            if entry.get("key") == self.key(name) and entry.get("version") == version:
                data[name] = entry["data"]
            self._count(hit=name in data)
        return data

    def written(self, name: str, version: str, data: Any) -> bytes:
        """Return data or a dataclass as the value of a name."""
        return orjson.dumps({"key": self.key(name), "version": version, "data": data})

    async def put(self, written: Mapping[str, bytes], seconds: float) -> None:
        """Store values by name for so many seconds; delete those that became too large."""
        kept = {self.key(name): one for name, one in written.items() if len(one) <= LARGEST}
        if kept:
            await self._cache.put(kept, seconds)
        if outgrown := [name for name, one in written.items() if len(one) > LARGEST]:
            await self.drop(outgrown)

    async def drop(self, names: Sequence[str]) -> None:
        """Delete values."""
        await self._cache.drop([self.key(name) for name in names])

    async def erase(self, names: Sequence[str]) -> None:
        """Delete values that must not stay."""
        await self._cache.erase([self.key(name) for name in names])

    def key(self, name: str) -> str:
        """Return the key of a name."""
        return f"jg:{self._tenant}:{self._kind}:{name}"

    def _count(self, *, hit: bool) -> None:
        self.counts.hits += hit
        self.counts.misses += not hit
        result = {"journeygraph.cache.result": "hit" if hit else "miss"}
        measure("journeygraph.cache.read", {"journeygraph.cache.name": self._kind, **result})


def _entry(written: bytes | None) -> dict[str, Any]:
    try:
        found = orjson.loads(written or b"")
    except ValueError:
        return {}
    return found if isinstance(found, dict) and "data" in found else {}


LASTING = 3600.0
"""Seconds for which a context stays in the cache after a turn, or after a read without a hit."""
_NAMES = frozenset(field.name for field in fields(SessionContext))


class Contexts:
    """Contexts of sessions in a cache, never older than the database.

    A context is used only if its version is the session's version in the database. Writes happen
    after the turn, and only the newest one of a session waits. So a slow cache delays no turn.

    Args:
        lasting: Seconds that a session lives without a message.
    """

    def __init__(self, versioned: VersionedCache, lasting: float) -> None:
        self._versioned = versioned
        self._lasting = min(LASTING, lasting)
        self._dropped = 0
        self._pending: dict[str, tuple[bytes, float] | None] = {}
        self._writing: asyncio.Task[None] | None = None

    @classmethod
    def of(cls, cache: Cache, config: JourneyConfig) -> Self:
        """Return the contexts of the tenant of a config."""
        versioned = VersionedCache(cache, "context", config.tenant)
        return cls(versioned, config.session_ttl_seconds)

    @property
    def counts(self) -> Counts:
        """Hits and misses."""
        return self._versioned.counts

    async def get(self, found: FoundSession) -> SessionContext | None:
        """Return the cached context of a session if it has the session's version."""
        listed = found.listed
        self._dropped = max(self._dropped, found.epoch.dropped)
        version = self._version(listed.version, listed.created_at)
        data = (await self._versioned.get({listed.session_id: version})).get(listed.session_id)
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
            written = self._versioned.written(context.session_id, version, context)
            self._soon(context.session_id, (written, seconds))

    def forget(self, session_id: str) -> None:
        """Delete the context of a deleted session, in the background."""
        self._soon(session_id, None)

    async def erase(self, session_id: str) -> None:
        """Delete the context of a session that must not stay, after all pending writes.

        Raises:
            StateError: The cache did not answer.
        """
        await self.written()
        try:
            await self._versioned.erase([session_id])
        except CacheUnavailableError as error:
            raise StateError(str(error), retryable=True) from error

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
            name = next(iter(self._pending))
            value = self._pending.pop(name)
            if value is None:
                await self._versioned.drop([name])
            else:
                await self._versioned.put({name: value[0]}, value[1])

    def _version(self, version: int, started_at: str) -> str:
        # Deleted and started again, a session of that id and version is another one.
        return f"{version}|{started_at}|{self._dropped}"
