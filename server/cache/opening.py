"""Open the cache of the settings."""

from __future__ import annotations

from journeys.errors import require_extra
from server.cache.port import Cache


def open_cache(redis_url: str | None) -> Cache | None:
    """Return the cache in the Redis at this URL; None without a URL.

    Raises:
        ConfigurationError: The URL cannot be read, or the client is not installed.
    """
    if not redis_url:
        return None
    require_extra("redis", "A cache in Redis", "redis.asyncio")
    from server.cache.redis import RedisCache  # noqa: PLC0415 - its client takes long to import

    return RedisCache(redis_url)
