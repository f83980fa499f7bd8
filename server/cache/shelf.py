"""Values of one kind in a cache, each in a sealed envelope that describes it."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from nodes.telemetry import cache_read
from server.cache.port import Cache, Counts

LARGEST = 2**18
"""Most bytes of a value; a larger one would cost more time than a cache saves."""
_FORM = 1
_SEAL = 64
_SAYS = frozenset(("version", "data"))
_UNKEYED = b"journeygraph"
Envelope = dict[str, Any]
"""The content of a key: form, tenant, key, version and data, with a verified seal."""


class Shelf:
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
        cache_read(self._kind, hit=hit)
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
