"""A cache in Redis or Valkey with a strict time limit.

Each operation has one time budget, including the connection. An operation that exceeds it is
cancelled and its connection closed, so that a late response is never read by another operation.
After a few failures a breaker pauses all operations for some seconds.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, TypeVar

from redis.asyncio import ConnectionPool, Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff

from journeygraph.journeys import ConfigurationError
from journeygraph.journeys.store_url import masked
from journeygraph.nodes.breaker import Breaker
from journeygraph.nodes.telemetry import report
from journeygraph.server.cache.port import CacheUnavailableError, Counts

BUDGET_SECONDS = 0.05
"""Time limit of an operation, including the connection."""
BREAKER_FAILURES = 3
"""Failures within a minute that open the breaker."""
BREAKER_SECONDS = 5.0
"""Seconds for which the breaker stays open; then one operation probes the server."""
CLEAR_SECONDS = 10.0
"""Time limit of a deletion that must succeed."""
_SCHEMES = ("redis://", "rediss://", "unix://")
_CONNECTIONS = 16
_AT_A_TIME = 500
_T = TypeVar("_T")


class RedisCache:
    """A cache in the Redis or Valkey at a URL.

    Args:
        url: "redis://:PASSWORD@HOST:PORT/NUMBER", "rediss://..." over TLS, or "unix://FILE"; its
            password is never shown.
        budget: Seconds that an operation may take.
    """

    def __init__(
        self,
        url: str,
        clock: Callable[[], float] = time.monotonic,
        budget: float = BUDGET_SECONDS,
    ) -> None:
        self.counts = Counts()
        self._place = masked(url)
        self._client = _client(url)
        self._budget = budget
        self._places = asyncio.Semaphore(_CONNECTIONS)
        self._breaker = Breaker(BREAKER_FAILURES, cooldown=BREAKER_SECONDS, clock=clock)

    async def get(self, keys: Sequence[str]) -> list[bytes | None]:
        """Return the values of keys, in their order, in one round trip."""

        async def ask() -> list[bytes | None]:
            found = await self._client.mget(keys)
            values = [one if isinstance(one, bytes) else None for one in found]
            if len(values) != len(keys):
                raise TypeError("the response does not match the request")
            return values

        return (await self._tried(ask) if keys else None) or [None] * len(keys)

    async def put(self, values: Mapping[str, bytes], seconds: float) -> None:
        """Keep values, in one round trip."""
        lasting = max(int(seconds * 1000), 1)

        async def ask() -> None:
            async with self._client.pipeline(transaction=False) as pipeline:
                for key, value in values.items():
                    pipeline.set(key, value, px=lasting)
                await pipeline.execute()

        await self._tried(ask)

    async def drop(self, keys: Sequence[str]) -> None:
        """Delete values."""

        async def ask() -> None:
            await self._client.unlink(*keys)

        await self._tried(ask)

    async def erase(self, keys: Sequence[str]) -> None:
        """Delete values that must not stay, without the breaker and its short time limit."""
        await self._surely(self._client.unlink(*keys))

    async def clear(self, prefix: str) -> int:
        """Delete every value whose key has this prefix; return their number."""
        return await self._surely(self._cleared(prefix))

    async def close(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    async def _cleared(self, prefix: str) -> int:
        count, keys = 0, list[Any]()
        async for key in self._client.scan_iter(match=f"{_literal(prefix)}*", count=_AT_A_TIME):
            keys.append(key)
            if len(keys) == _AT_A_TIME:
                count, keys = count + await self._client.unlink(*keys), []
        return count + (await self._client.unlink(*keys) if keys else 0)

    async def _surely(self, deleted: Awaitable[_T]) -> _T:
        try:
            async with asyncio.timeout(CLEAR_SECONDS):
                return await deleted
        except Exception as error:
            raise CacheUnavailableError(
                f"The cache {self._place} could not be cleared: {type(error).__name__}."
            ) from None

    async def _tried(self, ask: Callable[[], Awaitable[_T]]) -> _T | None:
        """Run an operation within the budget; return None if it failed or was skipped."""
        if not self._breaker.allows():
            self.counts.unasked += 1
            return None
        try:
            async with asyncio.timeout(self._budget), self._places:
                result = await ask()
        except asyncio.CancelledError:
            self._breaker.abandoned()
            raise
        except Exception as error:  # whatever a server that lies makes its client raise
            self._failed(error)
            return None
        if self._breaker.succeeded():
            report(logging.INFO, "cache_answers_again", cache=self._place)
        return result

    def _failed(self, error: Exception) -> None:
        self.counts.errors += 1
        if self._breaker.failed():
            # Not what it says: that may hold what the server was sent.
            kind = type(error).__name__
            report(
                logging.WARNING,
                "cache_left_alone",
                cache=self._place,
                seconds=BREAKER_SECONDS,
                kind=kind,
            )


def _client(url: str) -> Redis:
    if not url.startswith(_SCHEMES):
        raise ConfigurationError(
            f"The cache is {masked(url)!r}; it must start with redis://, rediss:// or unix://."
        )
    try:
        pool = ConnectionPool.from_url(
            url,
            # One budget is kept outside, and the first answer counts.
            socket_timeout=None,
            socket_connect_timeout=None,
            retry=Retry(NoBackoff(), 0),
            # Nothing is said before the first question: no names, no newer protocol.
            protocol=2,
            driver_info=None,
        )
    except (ValueError, TypeError):
        raise ConfigurationError(
            f"The cache {masked(url)!r} cannot be read as a URL; in a password, write / as %2F, "
            "@ as %40 and # as %23."
        ) from None
    return Redis.from_pool(pool)


def _literal(prefix: str) -> str:
    return "".join(f"\\{char}" if char in "*?[]\\^" else char for char in prefix)
