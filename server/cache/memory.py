"""A cache in the process, used without Redis."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from cachetools import TLRUCache

from server.cache.port import Counts

MOST_BYTES = 64 * 2**20
"""Maximum size of all values together; the least recently used ones are dropped first."""


class _Kept(NamedTuple):
    value: bytes
    seconds: float


class MemoryCache:
    """A cache in this process, for one event loop.

    Args:
        most_bytes: Maximum size of all values together.
        clock: Returns the time in seconds.
    """

    def __init__(
        self, most_bytes: int = MOST_BYTES, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.counts = Counts()
        self._kept: TLRUCache[str, _Kept] = TLRUCache(
            most_bytes,
            ttu=lambda _, kept, now: now + kept.seconds,
            timer=clock,
            getsizeof=lambda kept: len(kept.value),
        )

    async def get(self, keys: Sequence[str]) -> list[bytes | None]:
        """Return the values of keys, in their order."""
        found = (self._kept.get(key) for key in keys)
        return [kept.value if kept else None for kept in found]

    async def put(self, values: Mapping[str, bytes], seconds: float | None = None) -> None:
        """Store values; skip a value that is larger than the whole cache."""
        for key, value in values.items():
            if len(value) <= self._kept.maxsize:
                self._kept[key] = _Kept(value, math.inf if seconds is None else seconds)

    async def drop(self, keys: Sequence[str]) -> None:
        """Delete values."""
        for key in keys:
            self._kept.pop(key, None)

    async def clear(self, prefix: str) -> int:
        """Delete every value whose key has this prefix; return their number."""
        found = [key for key in self._kept if key.startswith(prefix)]
        await self.drop(found)
        return len(found)

    async def distrust(self) -> None:
        """Do nothing: a cache in the process cannot return a wrong response."""

    async def close(self) -> None:
        """Delete everything."""
        self._kept.clear()
