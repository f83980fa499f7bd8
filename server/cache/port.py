"""Port of a cache, its counters, and the cache in the process."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from cachetools import TLRUCache

from journeygraph.journeys.errors import require_extra


@dataclass(slots=True)
class Counts:
    """Counters of a cache.

    Attributes:
        misses: Values that were missing, damaged, or had another version.
        unasked: Operations that were skipped because the breaker was open.
    """

    hits: int = 0
    misses: int = 0
    errors: int = 0
    unasked: int = 0


class Cache(Protocol):
    """Bytes by key. Only `erase` and `clear` raise: a failed read counts as a miss.

    Attributes:
        counts: Errors and skipped operations; hits and misses are counted by the callers that check
            values.
    """

    counts: Counts

    async def get(self, keys: Sequence[str]) -> list[bytes | None]:
        """Return the values of keys, in their order; None for each missing one."""

    async def put(self, values: Mapping[str, bytes], seconds: float) -> None:
        """Store values for so many seconds."""

    async def drop(self, keys: Sequence[str]) -> None:
        """Delete values."""

    async def erase(self, keys: Sequence[str]) -> None:
        """Delete values that must not stay."""

    async def clear(self, prefix: str) -> int:
        """Delete every value whose key has this prefix; return their number."""

    async def close(self) -> None:
        """Close the cache."""


class CacheUnavailableError(Exception):
    """A cache did not answer a call that needs an answer."""


MOST_BYTES = 64 * 2**20
"""Maximum size of all values together; the least recently used ones are dropped first."""


class MemoryCache:
    """A cache in this process, for one event loop."""

    def __init__(
        self, most_bytes: int = MOST_BYTES, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.counts = Counts()
        self._kept: TLRUCache[str, tuple[bytes, float]] = TLRUCache(
            most_bytes,
            ttu=lambda _, kept, now: now + kept[1],
            timer=clock,
            getsizeof=lambda kept: len(kept[0]),
        )

    async def get(self, keys: Sequence[str]) -> list[bytes | None]:
        """Return the values of keys, in their order."""
        return [self._kept.get(key, (None, 0.0))[0] for key in keys]

    async def put(self, values: Mapping[str, bytes], seconds: float) -> None:
        """Store values; skip a value that is larger than the whole cache."""
        for key, value in values.items():
            if len(value) <= self._kept.maxsize:
                self._kept[key] = (value, seconds)

    async def drop(self, keys: Sequence[str]) -> None:
        """Delete values."""
        for key in keys:
            self._kept.pop(key, None)

    erase = drop

    async def clear(self, prefix: str) -> int:
        """Delete every value whose key has this prefix; return their number."""
        found = [key for key in self._kept if key.startswith(prefix)]
        await self.drop(found)
        return len(found)

    async def close(self) -> None:
        """Delete everything."""
        self._kept.clear()


def open_cache(redis_url: str | None) -> Cache | None:
    """Return the cache in the Redis at this URL; None without a URL.

    Raises:
        ConfigurationError: The URL cannot be read, or the client is not installed.
    """
    if not redis_url:
        return None
    require_extra("redis", "A cache in Redis", "redis.asyncio")
    from journeygraph.server.cache.redis import RedisCache  # noqa: PLC0415 - its client takes long to import

    return RedisCache(redis_url)
