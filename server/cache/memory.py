"""A cache in the process: what there is without Redis."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from cachetools import TLRUCache

from server.cache.port import Counts

MOST_BYTES = 64 * 2**20
"""What the values may come to together; those unused for longest go first."""


class _Kept(NamedTuple):
    value: bytes
    seconds: float


class MemoryCache:
    """Keeps values in this process, for one event loop.

    Args:
        most_bytes: What the values may come to together.
        clock: Tells the time in seconds.
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
        """Keep values; one that is larger than the whole cache is left out."""
        for key, value in values.items():
            if len(value) <= self._kept.maxsize:
                self._kept[key] = _Kept(value, math.inf if seconds is None else seconds)

    async def drop(self, keys: Sequence[str]) -> None:
        """Forget values."""
        for key in keys:
            self._kept.pop(key, None)

    async def clear(self, prefix: str) -> int:
        """Forget every value whose key begins like this; return how many there were."""
        found = [key for key in self._kept if key.startswith(prefix)]
        await self.drop(found)
        return len(found)

    async def distrust(self) -> None:
        """Do nothing: there is nobody else who could have answered."""

    async def close(self) -> None:
        """Forget everything."""
        self._kept.clear()
