"""Open the cache that the settings name."""

from __future__ import annotations

from server.cache.memory import MemoryCache
from server.cache.port import Cache
from server.cache.redis import RedisCache


def open_cache(redis_url: str | None) -> Cache:
    """Return the cache in the Redis of a URL; without one, a cache in this process.

    Raises:
        ConfigurationError: The URL cannot be read.
    """
    return RedisCache(redis_url) if redis_url else MemoryCache()
