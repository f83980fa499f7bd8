"""Limits of requests, turns, sessions, model tokens and wrong keys, counted in fixed windows.

A window begins with the first request that is counted in it. The counts are in Redis if there is
one, so that all processes share them, else in the memory of each process. A request waits for Redis
for 50 ms at most. While Redis fails, each process counts for itself.
"""

from __future__ import annotations

import ipaddress
import logging
import math
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from cachetools import TLRUCache
from limits import RateLimitItem, parse
from limits.aio.storage import RedisStorage, Storage
from limits.aio.strategies import FixedWindowRateLimiter

from journeygraph.journeys import ConfigurationError
from journeygraph.journeys.errors import require_extra
from journeygraph.nodes.breaker import Breaker
from journeygraph.nodes.telemetry import measure, report
from journeygraph.server.access.callers import Caller

WHO = ("key", "tenant", "address")
"""The callers that a limit counts apart."""
BUDGET_SECONDS = 0.05
"""Time limit of an operation of Redis, in seconds."""
_MOST_COUNTED = 100_000
"""Most counts in memory; the one that was not used for the longest time is dropped."""
_FAILURES, _PAUSE_SECONDS = 3, 5.0
_NETWORK = {4: 32, 6: 64}
"""Bits of an address that are counted together: an IPv6 client has a whole network."""


@dataclass(frozen=True, slots=True)
class RateLimit:
    """One limit.

    Attributes:
        counted: The name of its setting without "limit_": "requests", "turns", "tokens",
            "sessions" or "wrong_keys".
        who: "key" (that of a user counts for the user), "tenant" or "address".
    """

    counted: str
    who: str
    rate: RateLimitItem
    text: str


@dataclass(frozen=True, slots=True)
class RateLimited:
    """A request that a limit refuses.

    Attributes:
        seconds: Seconds until its window ends, at least 1.
    """

    limit: RateLimit
    seconds: int


def read_limits(counted: str, text: str | None) -> list[RateLimit]:
    """Return the limits of a setting, such as "key 60/minute, address 10/second"."""
    if text is None or text.strip().lower() in ("", "off"):
        return []
    return [_limit(counted, part.strip()) for part in text.split(",")]


def _limit(counted: str, text: str) -> RateLimit:
    who, _, rate = text.partition(" ")
    allowed = WHO[2:] if counted == "wrong_keys" else WHO
    try:
        if who not in allowed:
            raise ValueError
        return RateLimit(counted, who, parse(rate.strip()), rate.strip())
    except ValueError:
        raise ConfigurationError(
            f"limit_{counted}: '{text:.80}' is not a limit. Write {', '.join(allowed)} and a rate: "
            f"'{allowed[0]} 60/minute', '{allowed[-1]} 10/second'; separate limits by commas."
        ) from None


class RateLimits:
    """Counts requests, and refuses those over a limit.

    Args:
        redis_url: A Redis or Valkey for the counts; None: memory.

    Raises:
        ConfigurationError: The URL of Redis cannot be read, or its client is not installed.
    """

    def __init__(
        self,
        limits: Iterable[RateLimit],
        redis_url: str | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._limits: dict[str, list[RateLimit]] = {}
        for limit in limits:
            self._limits.setdefault(limit.counted, []).append(limit)
        self._clock = clock
        self._memory = FixedWindowRateLimiter(_Memory(clock))
        self._redis = FixedWindowRateLimiter(_in_redis(redis_url)) if redis_url else None
        self._breaker = Breaker(_FAILURES, cooldown=_PAUSE_SECONDS)

    @property
    def has_requests(self) -> bool:
        """True if requests with a right key are limited in some way."""
        return bool(self._limits.keys() - {"wrong_keys"})

    @property
    def has_tokens(self) -> bool:
        """True if model tokens are limited."""
        return "tokens" in self._limits

    async def admit(self, caller: Caller, counts: str = "") -> RateLimited | None:
        """Count a request, and return the limit that refuses it; None: it is admitted.

        Args:
            counts: "turns" or "sessions" if the request counts as one, or "".
        """
        for counted in ("requests", counts):
            if refused := await self.count(caller, counted):
                return refused
        return None

    async def count(self, caller: Caller, counts: str) -> RateLimited | None:
        """Count what an admitted request does besides, such as to begin a session.

        Args:
            counts: The `counted` of a limit. "turns" is refused too if a limit of tokens is
                reached.

        Returns:
            The limit that refuses it; None: it is admitted.
        """
        for limit in self._limits.get(counts, ()):
            if refused := await self._hit(limit, caller):
                return refused
        if counts == "turns":
            return await self._reached(self._limits.get("tokens", ()), caller)
        return None

    async def spend(self, caller: Caller, tokens: int) -> None:
        """Count the model tokens of a turn, whatever their number."""
        for limit in self._limits.get("tokens", ()):
            await self._tried("hit", limit, caller, tokens)

    async def suspected(self, caller: Caller) -> RateLimited | None:
        """Return the limit of wrong keys that the address of a client has reached; None: none."""
        return await self._reached(self._limits.get("wrong_keys", ()), caller)

    async def suspect(self, caller: Caller) -> RateLimited | None:
        """Count a wrong key, and return the limit that this exceeds; None: none."""
        return await self.count(caller, "wrong_keys")

    async def close(self) -> None:
        """Close the connections."""
        if self._redis is not None:
            storage: Any = self._redis.storage
            await storage.bridge.get_connection().aclose()

    async def _hit(self, limit: RateLimit, caller: Caller) -> RateLimited | None:
        if await self._tried("hit", limit, caller, 1):
            return None
        return await self._refused(limit, caller)

    async def _reached(self, limits: Sequence[RateLimit], caller: Caller) -> RateLimited | None:
        for limit in limits:
            if not await self._tried("test", limit, caller, 1):
                return await self._refused(limit, caller)
        return None

    async def _refused(self, limit: RateLimit, caller: Caller) -> RateLimited:
        who = {"journeygraph.limit.name": limit.counted, "journeygraph.limit.caller": limit.who}
        measure("journeygraph.limit.refused", who)
        stats = await self._tried("get_window_stats", limit, caller)
        return RateLimited(limit, max(1, math.ceil(stats.reset_time - self._clock())))

    async def _tried(self, what: str, limit: RateLimit, caller: Caller, cost: int = 0) -> Any:
        names = (limit.counted, limit.who, *_identity(limit.who, caller))
        costs = {"cost": cost} if cost else {}
        if self._redis is not None and self._breaker.allows():
            try:
                found = await getattr(self._redis, what)(limit.rate, *names, **costs)
            except Exception as error:
                self._breaker.failed()
                report(logging.WARNING, "limits_not_shared", error=type(error).__name__)
            else:
                self._breaker.succeeded()
                return found
        return await getattr(self._memory, what)(limit.rate, *names, **costs)


def _identity(who: str, caller: Caller) -> tuple[str, ...]:
    if who == "address":
        return (_network(caller.address),)
    if who == "tenant":
        return (caller.tenant,)
    return (caller.tenant, "user", caller.user) if caller.user else (caller.tenant, caller.key_id)


@lru_cache(maxsize=4096)
def _network(address: str) -> str:
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return address
    # A socket or proxy for both versions writes an IPv4 address in this form.
    found = getattr(found, "ipv4_mapped", None) or found
    return str(ipaddress.ip_network((found, _NETWORK[found.version]), strict=False))


def _in_redis(url: str) -> RedisStorage:
    require_extra("redis", "Limits in Redis", "redis")
    from redis.asyncio.retry import Retry  # noqa: PLC0415 - the extra `redis`
    from redis.backoff import NoBackoff  # noqa: PLC0415

    place = f"redis+{url}" if url.startswith("unix://") else url
    options: dict[str, Any] = {
        "socket_timeout": BUDGET_SECONDS,
        "socket_connect_timeout": BUDGET_SECONDS,
        "retry": Retry(NoBackoff(), 0),
    }
    return RedisStorage(
        f"async+{place}", implementation="redispy", key_prefix="jg:limits", **options
    )


@dataclass(slots=True)
class _Window:
    """A count, and the time at which it ends."""

    count: int
    end: float


class _Memory(Storage):
    """Counts in memory, of a bounded number, by a given clock.

    The one of the library walks over all of its counts with each request.
    """

    STORAGE_SCHEME = None

    def __init__(self, clock: Callable[[], float]) -> None:
        super().__init__()
        self._clock = clock
        self._windows: TLRUCache[str, _Window] = TLRUCache(
            _MOST_COUNTED, lambda _, window, __: window.end, clock
        )

    @property
    def base_exceptions(self) -> type[Exception]:
        return ValueError

    async def incr(self, key: str, expiry: int, amount: int = 1) -> int:
        window = self._windows.get(key)
        if window is None:
            window = self._windows[key] = _Window(0, self._clock() + expiry)
        window.count += amount
        return window.count

    async def get(self, key: str) -> int:
        window = self._windows.get(key)
        return window.count if window else 0

    async def get_expiry(self, key: str) -> float:
        window = self._windows.get(key)
        return window.end if window else self._clock()

    async def check(self) -> bool:
        return True

    async def reset(self) -> int | None:
        self._windows.clear()
        return None

    async def clear(self, key: str) -> None:
        self._windows.pop(key, None)
