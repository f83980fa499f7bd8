"""Values of one kind in a cache: each in an envelope that says what it is, and is sealed."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from nodes.telemetry import cache_read
from server.cache.port import Cache, Counts

LARGEST = 2**18
"""Most bytes of a value; a larger one would take the time that a cache is to save."""
_FORM = 1
_SEAL = 64
_SAYS = frozenset(("version", "data"))
_UNKEYED = b"journeygraph"
Envelope = dict[str, Any]
"""What is under a key: form, tenant, key, version and data; its seal has been checked."""


class Shelf:
    """JSON values of one kind, each of a version that is compared with the database's.

    A value that is broken, of another form, tenant, key or version is a miss.

    Args:
        cache: Where they are kept.
        kind: What they are, as a part of their keys.
        tenant: Whose they are.
        secret: With it, nobody who does not know it can make a value; without it, the seal only
            shows what was broken.
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
        """Return what is there under names, in their order, whatever its version is."""
        keys = [self.key(name) for name in names]
        found = await self._cache.get(keys)
        opened = [self._opened(key, sealed) for key, sealed in zip(keys, found, strict=True)]
        if any(one is None and sealed for one, sealed in zip(opened, found, strict=True)):
            await self._cache.distrust()
        return opened

    def judge(self, found: Envelope | None, version: str) -> Any:
        """Return the data of an envelope of that version, which counts as a hit; else None."""
        hit = found is not None and found["version"] == version
        self.counts.hits += hit
        self.counts.misses += not hit
        cache_read(self._kind, hit=hit)
        return found["data"] if found and hit else None

    def seal(self, name: str, version: str, data: Any) -> bytes:
        """Return data, or a dataclass of it, as it is kept under a name."""
        written = orjson.dumps({**self._about(self.key(name)), "version": version, "data": data})
        return self._seal(written) + written

    async def put(self, sealed: Mapping[str, bytes], seconds: float | None = None) -> None:
        """Keep what was sealed, by name; what is too large is forgotten."""
        kept = {name: value for name, value in sealed.items() if len(value) <= LARGEST}
        if kept:
            await self._cache.put({self.key(name): kept[name] for name in kept}, seconds)
        if outgrown := sealed.keys() - kept.keys():
            await self.drop(sorted(outgrown))

    async def drop(self, names: Sequence[str]) -> None:
        """Forget values."""
        await self._cache.drop([self.key(name) for name in names])

    def key(self, name: str) -> str:
        """Return the key under which a name is kept."""
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
