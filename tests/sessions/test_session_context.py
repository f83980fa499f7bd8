"""Contexts read over HTTP: the same for any state of the cache, and seldom from the database.

Work is counted, in questions to the saver's checkpoints and in hits; nothing is timed.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from typing import Any

import pytest
from redis.asyncio import Redis

from journeygraph import Journey, JourneyConfig, Pathway
from journeygraph.graphs.records.definitions import Definitions
from journeygraph.graphs.session.session import StoredSession
from journeygraph.journeys.examples.insurance_claim import AGENTS, TOOLS, InsuranceClaim
from journeygraph.server.cache import MemoryCache
from journeygraph.server.cache.redis import RedisCache
from journeygraph.server.discover.journeys import Served
from tests.support.api import Api, one, serving, wired
from tests.support.proxy import Proxy
from tests.support.redis import RedisServer

FIRST = {"call_id": "call-1", "customer_id": "c-7"}
KEY = b"0123456789abcdef0123456789abcdef"


class Secret(Journey):
    """Hear what nobody else may."""

    __sensitive__ = True

    class HearPath(Pathway):
        __agents__ = ["ear"]
        __accumulate__ = ["heard"]


def ear(ask: dict[str, Any]) -> dict[str, Any]:
    return {"response": "I see.", "heard": ask["message"]}


@pytest.fixture
def session_id() -> str:
    return uuid.uuid4().hex


@pytest.fixture
def loads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Notes the sessions whose context is read from a checkpoint."""
    noted: list[str] = []
    context = StoredSession.context

    async def counted(session: StoredSession, head: Any) -> Any:
        noted.append(session.session_id)
        return await context(session, head)

    monkeypatch.setattr(StoredSession, "context", counted)
    return noted


@pytest.fixture
async def api_on(memory_url: str) -> AsyncIterator[Callable[..., Any]]:
    """Serve the post office, each server with a cache of its own or by way of a URL."""
    async with AsyncExitStack() as stack:

        async def start(
            *served: Any, url: str = memory_url, redis: str = "", budget: float = 2.0, **more: Any
        ) -> Api:
            # By a clock that stands still, nothing is forgotten, and a cache that is left alone is
            # left alone for good.
            app_state = wired(*served, url=url, **more)
            app_state.cache = (
                RedisCache(redis, lambda: 0.0, budget) if redis else MemoryCache(clock=lambda: 0.0)
            )
            return await stack.enter_async_context(serving(app_state))

        yield start


async def context(api: Api, session: str) -> Any:
    answer = await api.client.get(f"{session}/context")
    assert answer.status_code == 200, answer.text
    return answer.json()


async def test_it_tells_who_where_and_since_when(
    api_on: Callable[..., Any], session_id: str, store_url: str
) -> None:
    api = await api_on(url=store_url)
    session = await api.begin(session_id=session_id, context={**FIRST, "n": 1})
    await api.says(session, "street=Main")
    begun = (await api.client.get(session)).json()
    assert await context(api, session) == {
        "session_id": session_id,
        "call_id": "call-1",
        "customer_id": "c-7",
        "journey_id": "parcel",
        "current_state": "payment",
        "context": {**FIRST, "n": 1, "street": "Main"},
        "started_at": begun["created_at"],
        "activated_at": begun["created_at"],
        "version": 1,
        "history": None,
        "next_cursor": None,
    }
    assert api.app_state.contexts.counts.hits == 1


async def test_of_a_concierge_it_tells_which_journey_is_active_and_since_when(
    api_on: Callable[..., Any], session_id: str, loads: list[str]
) -> None:
    api = await api_on(Served(InsuranceClaim, AGENTS, TOOLS))
    session = await api.begin("insurance_claim", session_id)
    waiting = await context(api, session)
    assert (waiting["journey_id"], waiting["current_state"]) == (None, "concierge")
    await api.says(session, "I want to report damage")
    active = await context(api, session)
    assert (active["journey_id"], active["current_state"]) == ("claim", "claim.report")
    assert active["started_at"] == waiting["started_at"] < active["activated_at"]
    assert loads == []


async def test_after_every_commit_it_is_there_already(
    api_on: Callable[..., Any], session_id: str, loads: list[str], store_url: str
) -> None:
    api = await api_on(url=store_url)
    session = await api.begin(session_id=session_id, context=FIRST)
    seen = [await context(api, session)]
    for message in ("street=Main", "how much", "fail"):
        await api.says(session, message)
        seen.append(await context(api, session))
    await api.client.post(f"{session}/rollback", json={"version": 1})
    seen.append(await context(api, session))
    assert loads == []
    assert [one["version"] for one in seen] == [0, 1, 2, 3, 4]
    assert [one["current_state"] for one in seen] == [
        *("address", "payment", "prices", "payment"),
        "payment",
    ]
    assert seen[4]["context"] == seen[1]["context"] == {**FIRST, "street": "Main"}
    assert api.app_state.contexts.counts.hits == 5


async def test_another_process_never_gives_an_older_one(
    api_on: Callable[..., Any], session_id: str, loads: list[str], kept_url: str
) -> None:
    ours = await api_on(url=kept_url)
    theirs = await api_on(url=kept_url, database_pool_size=3)
    session = await ours.begin(session_id=session_id, context=FIRST)
    assert await context(theirs, session) == await context(ours, session)
    await ours.says(session, "street=Main")
    assert (await context(theirs, session))["context"]["street"] == "Main"
    assert await context(theirs, session) == await context(ours, session)
    await theirs.client.delete(session)
    gone = await ours.client.get(f"{session}/context")
    assert (gone.status_code, gone.json()["code"]) == (404, "session_not_found")
    await theirs.begin(session_id=session_id, context={"n": 2})
    await theirs.says(session, "street=Side")
    assert (await context(ours, session))["context"] == {"n": 2, "street": "Side"}
    assert len(loads) == 3


async def test_a_session_that_is_over_is_not_read_from_the_cache(
    api_on: Callable[..., Any], session_id: str
) -> None:
    api = await api_on(session_ttl_seconds=1)
    session = await api.begin(session_id=session_id)
    await context(api, session)
    await asyncio.sleep(1)
    over = await api.client.get(f"{session}/context")
    assert over.json()["code"] == "session_expired"


FAULTS: dict[str, dict[str, Any]] = {
    "down": {"refuses": True},
    "hung": {"silent": True},
    "slow": {"delay": 0.5},
    "garbage": {"garbles": b"$5\r\nhello\r\n"},
    "cut in a reply": {"cuts_after": 20},
    "the answer to another question": {"lags": True},
}


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
async def test_whatever_redis_does_the_answers_are_the_same(
    api_on: Callable[..., Any], redis_network: Proxy, session_id: str, fault: dict[str, Any]
) -> None:
    plain, api = await api_on(), await api_on(redis=redis_network.url, budget=0.1)
    sessions = [await api.begin(session_id=f"{session_id}-{n}", context={"n": n}) for n in (0, 1)]
    await asyncio.gather(*(context(api, session) for session in sessions))
    for name, value in fault.items():
        setattr(redis_network, name, value)
    if "refuses" in fault:
        redis_network.cut()
    for message in ("street=Main", "how much", "card=1"):
        for session in sessions:
            await api.says(session, f"{message} {session[-1]}")
            for _ in range(2):
                assert await context(api, session) == await context(plain, session)
    counts = api.app_state.cache.counts
    assert counts.errors > 0 or "lags" in fault
    assert counts.unasked > 10 or "lags" in fault


async def test_a_turn_does_not_wait_for_redis(
    api_on: Callable[..., Any], redis_network: Proxy, session_id: str
) -> None:
    api = await api_on(redis=redis_network.url)
    session = await api.begin(session_id=session_id)
    await api.app_state.contexts.written()
    redis_network.silent = True
    assert (await api.says(session, "street=Main"))["pathway_id"] == "payment"
    writing = asyncio.ensure_future(api.app_state.contexts.written())
    await asyncio.sleep(0)
    assert not writing.done()
    redis_network.cut()
    await writing
    assert api.app_state.cache.counts.errors == 1


async def test_redis_holds_it_for_an_hour_and_less_where_a_session_lives_less(
    api_on: Callable[..., Any], redis_server: RedisServer, session_id: str
) -> None:
    async with Redis.from_url(redis_server.url) as raw:
        other = await api_on(redis=redis_server.url, session_ttl_seconds=86_400.0)
        for ttl, least, most in ((86_400.0, 3_590_000, 3_600_000), (60.0, 50_000, 60_000)):
            api = await api_on(redis=redis_server.url, session_ttl_seconds=ttl)
            name = f"{session_id}-{ttl:g}"
            session = await api.begin(session_id=name, context=FIRST)
            await api.app_state.contexts.written()
            key = f"jg:default:context:{name}"
            assert least < await raw.pttl(key) <= most
            await raw.delete(key)
            await context(other, session)
            await other.app_state.contexts.written()
            assert least < await raw.pttl(key) <= most
            await api.client.delete(session)
            await api.app_state.contexts.written()
            assert await raw.exists(key) == 0


async def test_two_servers_share_what_is_in_redis(
    api_on: Callable[..., Any],
    redis_server: RedisServer,
    session_id: str,
    loads: list[str],
    kept_url: str,
) -> None:
    ours = await api_on(url=kept_url, redis=redis_server.url)
    theirs = await api_on(url=kept_url, redis=redis_server.url, database_pool_size=3)
    session = await ours.begin(session_id=session_id, context=FIRST)
    await ours.says(session, "street=Main")
    await ours.app_state.contexts.written()
    assert (await context(theirs, session))["context"] == {**FIRST, "street": "Main"}
    assert loads == []


async def test_all_is_void_in_every_process_when_that_is_asked_for(
    api_on: Callable[..., Any], session_id: str, loads: list[str], kept_url: str
) -> None:
    api = await api_on(url=kept_url)
    session = await api.begin(session_id=session_id, context=FIRST)
    before = await context(api, session)
    elsewhere = await Definitions.open(JourneyConfig(persistence=kept_url))
    await elsewhere.invalidate()
    await elsewhere.close()
    assert loads == []
    assert await context(api, session) == before
    assert await context(api, session) == before
    assert loads == [session_id]


async def test_the_context_of_another_database_is_a_miss(
    api_on: Callable[..., Any], redis_server: RedisServer, session_id: str
) -> None:
    api = await api_on(redis=redis_server.url)
    other = await api_on(url=f"memory://{uuid.uuid4()}", redis=redis_server.url)
    session = await api.begin(session_id=session_id, context={"n": 1})
    await api.app_state.contexts.written()
    await other.begin(session_id=session_id, context={"n": 2})
    await other.app_state.contexts.written()
    assert (await context(api, session))["context"] == {"n": 1}
    assert api.app_state.contexts.counts.hits == 0


async def test_what_a_sensitive_journey_hears_is_never_in_redis(
    api_on: Callable[..., Any], redis_server: RedisServer, session_id: str, store_url: str
) -> None:
    api = await api_on(
        one(Secret, ear=ear), url=store_url, redis=redis_server.url, encryption_key=KEY
    )
    session = await api.begin("secret", session_id, context={"first": "canary-a"})
    await api.says(session, "canary-b")
    for _ in range(2):
        assert (await context(api, session))["context"] == {
            "first": "canary-a",
            "heard": "canary-b",
        }
    await api.client.post(f"{session}/rollback", json={"version": 0})
    await api.app_state.contexts.written()
    async with Redis.from_url(redis_server.url) as raw:
        keys = [key async for key in raw.scan_iter(match=f"*{session_id}*")]
        values = [await raw.get(key) async for key in raw.scan_iter(match="jg:*")]
    assert keys == []
    assert not [value for value in values if value and b"canary-" in value]


async def test_nineteen_of_twenty_looks_are_hits_also_when_redis_forgets(
    api_on: Callable[..., Any], redis_server: RedisServer, session_id: str
) -> None:
    """Two servers, four sessions of five turns each; after every turn each server is asked twice.

    Half way, Redis loses all that it has.
    """
    ours, theirs = await api_on(redis=redis_server.url), await api_on(redis=redis_server.url)
    names = [f"{session_id}-{number}" for number in range(4)]
    sessions = [await ours.begin(session_id=name, context=FIRST) for name in names]
    for number in range(5):
        for name, session in zip(names, sessions, strict=True):
            await ours.says(session, f"n{number}")
            await ours.app_state.contexts.written()
            if number == 2:
                async with Redis.from_url(redis_server.url) as raw:
                    await raw.delete(f"jg:default:context:{name}")
            for api in (ours, theirs, ours, theirs):
                await context(api, session)
                await api.app_state.contexts.written()
    counts = [api.app_state.contexts.counts for api in (ours, theirs)]
    assert [(count.hits, count.misses) for count in counts] == [(36, 4), (40, 0)]
