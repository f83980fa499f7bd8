"""A cache that is down, slow or wrong costs a miss, never an answer."""

from __future__ import annotations

import asyncio
import logging
import uuid
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from redis.asyncio import Redis

from journeygraph import ConfigurationError
from journeygraph.server.cache import Cache, Counts, MemoryCache, VersionedCache
from journeygraph.server.cache.port import CacheUnavailableError
from journeygraph.server.cache.redis import BREAKER_FAILURES, BREAKER_SECONDS, RedisCache
from journeygraph.server.cache.versioned import LARGEST
from tests.support.proxy import Proxy
from tests.support.redis import RedisServer

A, B = {"street": "Main", "paid": 3}, {"street": "Side"}


class Clock:
    """A time that only tests move."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def tenant() -> str:
    return uuid.uuid4().hex


@pytest.fixture
async def redis_cache(redis_network: Proxy, clock: Clock) -> AsyncIterator[RedisCache]:
    # A machine that is busy with other tests may be slower than the budget of a server.
    cache = RedisCache(redis_network.url, clock, budget=0.2)
    yield cache
    await cache.close()


@pytest.fixture
async def raw(redis_server: RedisServer) -> AsyncIterator[Any]:
    """The server itself, for what others do to it."""
    client = Redis.from_url(redis_server.url)
    yield client
    await client.aclose()


@pytest.fixture(params=["memory", "redis"])
def cache(request: pytest.FixtureRequest) -> Cache:
    found: Cache = (
        MemoryCache() if request.param == "memory" else request.getfixturevalue("redis_cache")
    )
    return found


async def kept(versioned: VersionedCache, name: str, version: str = "1") -> Any:
    return (await versioned.get({name: version})).get(name)


async def keep(
    versioned: VersionedCache, name: str, data: Any, version: str = "1", seconds: float = 60.0
) -> None:
    await versioned.put({name: versioned.written(name, version, data)}, seconds)


async def test_what_is_kept_comes_back_until_it_is_dropped(cache: Cache, tenant: str) -> None:
    versioned = VersionedCache(cache, "context", tenant)
    await versioned.put(
        {name: versioned.written(name, "1", data) for name, data in (("a", A), ("b", B))}, 60.0
    )
    assert await versioned.get({"b": "1", "none": "1", "a": "1"}) == {"b": B, "a": A}
    await versioned.drop(["a"])
    assert await kept(versioned, "a") is None
    assert await kept(versioned, "b") == B
    assert versioned.counts == Counts(hits=3, misses=2)


async def test_all_of_a_tenant_is_forgotten_and_nobody_elses(cache: Cache, tenant: str) -> None:
    caches = [
        VersionedCache(cache, "context", name) for name in (tenant, f"{tenant}*", f"{tenant}2")
    ]
    for versioned in caches:
        await keep(versioned, "a", A)
    assert await cache.clear(f"jg:{tenant}*:") == 1
    assert await cache.clear(f"jg:{tenant}:") == 1
    assert [await kept(versioned, "a") for versioned in caches] == [None, None, A]


async def test_memory_forgets_in_time_and_when_it_is_full(clock: Clock) -> None:
    cache = MemoryCache(most_bytes=30, clock=clock)
    await cache.put({"brief": b"1"}, 10.0)
    await cache.put({"lasting": b"2"}, 60.0)
    await cache.put({"huge": b"x" * 31}, 60.0)
    assert await cache.get(["brief", "lasting", "huge"]) == [b"1", b"2", None]
    clock.now += 10.0
    assert await cache.get(["brief", "lasting"]) == [None, b"2"]
    for number in range(40):
        await cache.put({f"n{number}": b"x"}, 60.0)
    assert await cache.get(["lasting", "n39"]) == [None, b"x"]


async def test_redis_forgets_in_time(redis_cache: RedisCache, raw: Any, tenant: str) -> None:
    versioned = VersionedCache(redis_cache, "context", tenant)
    await keep(versioned, "a", A, seconds=3600.0)
    assert 3_590_000 < await raw.pttl(versioned.key("a")) <= 3_600_000


FAULTS: dict[str, dict[str, Any]] = {
    "down": {"refuses": True},
    "hung": {"silent": True},
    "slow": {"delay": 0.5},
    "garbage": {"garbles": b"\x00\xff!! not a reply\r\n" * 3},
    "a length that never comes": {"garbles": b"*1\r\n$99999999\r\nx"},
    "a wrong shape": {"garbles": b"*2\r\n$1\r\na\r\n$1\r\nb\r\n"},
    "an error": {"garbles": b"-LOADING canary-in-an-error\r\n"},
    "cut in a reply": {"cuts_after": 4},
}


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
@pytest.mark.parametrize("warm", [True, False], ids=["connected", "not connected"])
async def test_a_broken_server_is_a_miss_and_then_is_not_asked(
    redis_cache: RedisCache,
    redis_network: Proxy,
    clock: Clock,
    tenant: str,
    fault: dict[str, Any],
    warm: bool,
) -> None:
    versioned = VersionedCache(redis_cache, "context", tenant)
    if warm:
        await keep(versioned, "a", A)
    before = {name: getattr(redis_network, name) for name in fault}
    for name, value in fault.items():
        setattr(redis_network, name, value)
    if "refuses" in fault:
        redis_network.cut()

    for _ in range(BREAKER_FAILURES):
        assert await kept(versioned, "a") is None
    assert redis_cache.counts == Counts(errors=BREAKER_FAILURES)
    reached = (redis_network.connected, redis_network.asked)
    for _ in range(20):
        assert await kept(versioned, "a") is None
        await keep(versioned, "a", B)
    assert (redis_network.connected, redis_network.asked) == reached
    assert redis_cache.counts == Counts(errors=BREAKER_FAILURES, unasked=40)

    for name, value in before.items():
        setattr(redis_network, name, value)
    clock.now += BREAKER_SECONDS
    assert await kept(versioned, "a") == (A if warm else None)
    await keep(versioned, "a", B)
    assert await kept(versioned, "a") == B
    assert redis_cache.counts.errors == BREAKER_FAILURES


async def test_by_default_an_operation_has_fifty_milliseconds(
    redis_network: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    budgets: list[float | None] = []
    timeout = asyncio.timeout

    def noted(delay: float | None) -> asyncio.Timeout:
        budgets.append(delay)
        return timeout(delay)

    cache = RedisCache(redis_network.url)
    redis_network.silent = True
    monkeypatch.setattr("journeygraph.server.cache.redis.asyncio.timeout", noted)
    assert await cache.get(["a"]) == [None]
    assert budgets[0] == 0.05
    assert cache.counts == Counts(errors=1)
    await cache.close()


async def test_one_operation_probes_a_server_that_is_still_down(
    redis_cache: RedisCache, redis_network: Proxy, clock: Clock
) -> None:
    redis_network.refuses = True
    for _ in range(BREAKER_FAILURES):
        await redis_cache.get(["a"])
    clock.now += BREAKER_SECONDS
    await asyncio.gather(*(redis_cache.get(["a"]) for _ in range(10)))
    assert redis_cache.counts == Counts(errors=BREAKER_FAILURES + 1, unasked=9)
    assert redis_network.connected == BREAKER_FAILURES + 1


async def test_as_many_as_hang_leave_no_connection_behind(
    redis_cache: RedisCache, redis_network: Proxy, clock: Clock, tenant: str
) -> None:
    versioned = VersionedCache(redis_cache, "context", tenant)
    await keep(versioned, "a", A)
    redis_network.silent = True
    await asyncio.gather(*(redis_cache.get(["a"]) for _ in range(60)))
    redis_network.silent = False
    clock.now += BREAKER_SECONDS
    assert await kept(versioned, "a") == A
    await asyncio.gather(*(redis_cache.get(["a"]) for _ in range(60)))
    assert redis_cache.counts.errors == 60


async def test_a_caller_who_leaves_takes_no_answer_of_others_along(
    redis_cache: RedisCache, redis_network: Proxy, tenant: str
) -> None:
    versioned = VersionedCache(redis_cache, "context", tenant)
    await keep(versioned, "a", A)
    await keep(versioned, "b", B)
    redis_network.delay = 0.02
    leaving = asyncio.create_task(kept(versioned, "a"))
    await asyncio.sleep(0.005)
    leaving.cancel()
    with pytest.raises(asyncio.CancelledError):
        await leaving
    redis_network.delay = 0.0
    assert [await kept(versioned, name) for name in "bab"] == [B, A, B]


async def test_the_value_of_another_key_is_a_miss(
    redis_cache: RedisCache, redis_network: Proxy, tenant: str
) -> None:
    ours, theirs = (VersionedCache(redis_cache, "context", name) for name in (tenant, "another"))
    await keep(ours, "a", A)
    await keep(theirs, "a", B)
    assert await kept(theirs, "a") == B
    redis_network.lags = True
    assert [await kept(ours, "a"), await kept(theirs, "a")] == [None, None]


async def test_an_answer_to_no_question_of_ours_is_a_miss(
    redis_cache: RedisCache, redis_network: Proxy, tenant: str
) -> None:
    versioned = VersionedCache(redis_cache, "context", tenant)
    await keep(versioned, "a", A)
    redis_network.garbles = b"*2\r\n$1\r\na\r\n$1\r\nb\r\n"
    assert await kept(versioned, "a") is None
    redis_network.garbles = None
    assert await kept(versioned, "a") == A


DAMAGED = {
    "half of it": lambda good: good[: len(good) // 2],
    "nothing": lambda _: b"",
    "no mapping": lambda _: b"[1]",
    "no version": lambda good: good.replace(b'"version"', b'"other"'),
    "no data": lambda good: good.replace(b'"data"', b'"other"'),
    "a pickle": lambda _: b"cos\nsystem\n(S'true'\ntR.",
}


@pytest.mark.parametrize("damage", DAMAGED.values(), ids=DAMAGED)
async def test_what_is_not_ours_under_our_key_is_a_miss(
    redis_cache: RedisCache, raw: Any, tenant: str, damage: Callable[[bytes], bytes]
) -> None:
    versioned = VersionedCache(redis_cache, "context", tenant)
    await raw.set(versioned.key("a"), damage(versioned.written("a", "1", A)))
    assert await kept(versioned, "a") is None
    assert versioned.counts == Counts(misses=1)
    await keep(versioned, "a", A)
    assert await kept(versioned, "a") == A


async def test_a_value_of_another_type_is_a_miss(
    redis_cache: RedisCache, raw: Any, tenant: str
) -> None:
    versioned = VersionedCache(redis_cache, "context", tenant)
    await raw.rpush(versioned.key("a"), "1", "2")
    assert await kept(versioned, "a") is None
    await keep(versioned, "a", A)
    assert await kept(versioned, "a") == A


async def test_another_version_is_a_miss(cache: Cache, tenant: str) -> None:
    versioned = VersionedCache(cache, "context", tenant)
    await keep(versioned, "a", A, version="1")
    assert [await kept(versioned, "a", version) for version in ("0", "2", "1")] == [None, None, A]
    assert versioned.counts == Counts(hits=1, misses=2)


async def test_what_outgrows_the_cache_leaves_nothing_old_behind(cache: Cache, tenant: str) -> None:
    versioned = VersionedCache(cache, "context", tenant)
    await keep(versioned, "a", A)
    await keep(versioned, "a", {"x": "x" * LARGEST}, version="1")
    assert await kept(versioned, "a") is None


async def test_by_hand_it_is_told_that_a_server_does_not_answer(
    redis_cache: RedisCache, redis_network: Proxy
) -> None:
    redis_network.refuses = True
    with pytest.raises(CacheUnavailableError, match="could not be cleared: ConnectionError"):
        await redis_cache.clear("jg:")


@pytest.mark.parametrize(
    "url",
    [
        *("http://u:canary@h", "redis://u:canary@h:port", "redis://u:can/canary@h:1"),
        *("redis://u:c@h?db=canary&db=x&health_check_interval=canary", "canary"),
    ],
)
def test_a_url_that_cannot_be_read_is_refused_without_its_password(url: str) -> None:
    with pytest.raises(ConfigurationError, match="cache") as refused:
        RedisCache(url)
    if "@" in url and "?" not in url:
        assert "canary" not in str(refused.value)
    assert refused.value.__cause__ is None


async def test_the_password_is_in_no_log_and_no_error(
    redis_network: Proxy, redis_server: RedisServer, caplog: pytest.LogCaptureFixture, tenant: str
) -> None:
    caplog.set_level(logging.DEBUG)
    wrong = redis_network.url.replace(redis_server.password or "\0", "canary-wrong")
    said: list[str] = []
    for url, garbled in ((wrong, None), (redis_network.url, b"-ERR canary-in-an-error\r\n")):
        redis_network.garbles = garbled
        cache = RedisCache(url)
        for _ in range(BREAKER_FAILURES):
            await cache.get([tenant])
        with pytest.raises(CacheUnavailableError) as refused:
            await cache.clear("jg:")
        said += [str(refused.value), repr(cache), repr(vars(cache))]
        await cache.close()
    assert caplog.text.count("event=cache_left_alone") == 2
    secret = redis_server.password or "\0"
    assert not [text for text in (*said, caplog.text) if "canary" in text or secret in text]
