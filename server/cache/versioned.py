"""Values of one kind in a cache, each in a sealed envelope; the contexts of sessions are one."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
from collections.abc import Mapping, Sequence
from dataclasses import fields
from datetime import datetime
from typing import Any, Self

import orjson

from journeygraph.graphs.records.definitions import Epoch
from journeygraph.graphs.session.directory import Directory, Found
from journeygraph.graphs.session.session import SessionContext
from journeygraph.graphs.storage.statements import now
from journeygraph.journeys import JourneyConfig, StateError
from journeygraph.nodes.telemetry import measure
from journeygraph.server.cache.port import Cache, CacheUnavailableError, Counts

LARGEST = 2**18
"""Most bytes of a value; a larger one would cost more time than a cache saves."""
_FORM = 1
_SEAL = 64
_SAYS = frozenset(("version", "data"))
_UNKEYED = b"journeygraph"
Envelope = dict[str, Any]
"""The content of a key: form, tenant, key, version and data, with a verified seal."""


class VersionedCache:
    """JSON values of one kind, each with a version that is compared with the database.

    A damaged value, or one with another form, tenant, key or version, is a miss.

    Args:
        cache: The cache.
        kind: Their kind, a part of their keys.
        tenant: Their owner.
        secret: Key of the seal: only its owners can make valid values. Without it, the seal only
            detects damage.
    """

    def __init__(
        self, cache: Cache, kind: str, tenant: str = "default", secret: bytes | None = None
    ) -> None:
        self.counts = Counts()
        self._cache = cache
        self._tenant = tenant
        self._kind = kind
        self._key = hmac.digest(secret or _UNKEYED, b"cached values", "sha256")

    async def fetch(self, names: Sequence[str]) -> list[Envelope | None]:
        """Return the envelopes of names, in their order, in any version."""
        keys = [self.key(name) for name in names]
        found = await self._cache.get(keys)
        opened = [self._opened(key, sealed) for key, sealed in zip(keys, found, strict=True)]
        if any(one is None and sealed for one, sealed in zip(opened, found, strict=True)):
            await self._cache.distrust()
        return opened

    def judge(self, found: Envelope | None, version: str) -> Any:
        """Return the data of an envelope with that version and count a hit; else return None."""
        hit = found is not None and found["version"] == version
        self.counts.hits += hit
        self.counts.misses += not hit
        result = {"journeygraph.cache.result": "hit" if hit else "miss"}
        measure("journeygraph.cache.read", {"journeygraph.cache.name": self._kind, **result})
        return found["data"] if found and hit else None

    def seal(self, name: str, version: str, data: Any) -> bytes:
        """Return data or a dataclass as a sealed value for a name."""
        written = orjson.dumps({**self._about(self.key(name)), "version": version, "data": data})
        return self._seal(written) + written

    async def put(self, sealed: Mapping[str, bytes], seconds: float | None = None) -> None:
        """Store sealed values by name; delete the names whose value is too large."""
        kept = {name: value for name, value in sealed.items() if len(value) <= LARGEST}
        if kept:
            await self._cache.put({self.key(name): kept[name] for name in kept}, seconds)
        if outgrown := sealed.keys() - kept.keys():
            await self.drop(sorted(outgrown))

    async def drop(self, names: Sequence[str]) -> None:
        """Delete values."""
        await self._cache.drop([self.key(name) for name in names])

    async def erase(self, names: Sequence[str]) -> None:
        """Delete values that must not stay.

        Raises:
            CacheUnavailableError: The cache did not answer.
        """
        await self._cache.erase([self.key(name) for name in names])

    def key(self, name: str) -> str:
        """Return the key of a name."""
        return f"jg:{self._tenant}:{self._kind}:{name}"

    def _opened(self, key: str, sealed: bytes | None) -> Envelope | None:
        if sealed is None:
            return None
        seal, written = sealed[:_SEAL], sealed[_SEAL:]
        if len(sealed) <= LARGEST and hmac.compare_digest(seal, self._seal(written)):
            found = _read(written)
            if self._about(key).items() <= found.items() and found.keys() >= _SAYS:
                return found
        self.counts.refused += 1
        return None

    def _about(self, key: str) -> dict[str, Any]:
        return {"form": _FORM, "tenant": self._tenant, "key": key}

    def _seal(self, written: bytes) -> bytes:
        return hmac.new(self._key, written, hashlib.sha256).hexdigest().encode("ascii")


def _read(written: bytes) -> Envelope:
    try:
        found = orjson.loads(written)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


LASTING = 3600.0
"""Seconds for which a context stays in the cache after a turn, or after a read without a hit."""
_NAMES = frozenset(field.name for field in fields(SessionContext))


class Contexts:
    """Contexts of sessions in a cache, never older than the database.

    A context is used only if its version is the session's version in the database. Writes happen
    after the turn, and only the newest one of a session waits. So a slow cache delays no turn.

    Args:
        versioned: Their place in the cache.
        lasting: Seconds that a session lives without a message.
    """

    def __init__(self, versioned: VersionedCache, lasting: float) -> None:
        self._versioned = versioned
        self._lasting = min(LASTING, lasting)
        self._epoch = Epoch(0, 0)
        self._pending: dict[str, tuple[bytes, float] | None] = {}
        self._writing: asyncio.Task[None] | None = None

    @classmethod
    def of(cls, cache: Cache, config: JourneyConfig) -> Self:
        """Return the contexts of the tenant of a config."""
        versioned = VersionedCache(cache, "context", config.tenant, config.secret)
        return cls(versioned, config.session_ttl_seconds)

    @property
    def counts(self) -> Counts:
        """Hits and misses."""
        return self._versioned.counts

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
        kept = asyncio.ensure_future(self._versioned.fetch([session_id]))
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
        data = self._versioned.judge(kept, self._version(listed.version, listed.created_at))
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
            sealed = self._versioned.seal(context.session_id, version, context)
            self._soon(context.session_id, (sealed, seconds))

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
            pending, self._pending = self._pending, {}
            if gone := [name for name, value in pending.items() if value is None]:
                await self._versioned.drop(gone)
            for name, value in pending.items():
                if value is not None:
                    await self._versioned.put({name: value[0]}, value[1])

    def _version(self, version: int, started_at: str) -> str:
        # Deleted and started again, a session of that id and version is another one.
        return f"{version}|{started_at}|{self._epoch.dropped}"
