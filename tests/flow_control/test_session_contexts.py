"""Flow control, requirement "Context Management": on a real Postgres, and a real Redis or Valkey.

What a cache does when it is down, slow or lies is in test_cache.py.
"""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from redis.asyncio import Redis

from journeygraph import IntentTrigger
from journeygraph.journeys.concierge import Concierge
from journeygraph.server.cache.redis import RedisCache
from tests.flow_control.line import journey
from tests.support.api import Api, one, serving, wired
from tests.support.proxy import Proxy
from tests.support.redis import RedisServer

HOUR = 3600
CALL = {"call_id": "sip-77", "customer_id": "C-1", "language": "de"}


def desk() -> type[Concierge]:
    """A concierge of two journeys, each begun by a word."""
    journeys = [
        journey(name, __activation__=[IntentTrigger(patterns=[name.lower()])])
        for name in ("Billing", "Outage")
    ]
    return type("Desk", (Concierge,), {"__journeys__": journeys, "__doc__": "Help."})


@pytest.fixture
def process(postgres_url: str, redis_network: Proxy) -> Callable[..., Any]:
    """Begin a process of the service: `async with process() as api`; all share store and cache.

    A cache that works may take seconds: the machine may be busy.
    """

    @asynccontextmanager
    async def begin(budget: float = 5.0) -> AsyncIterator[Api]:
        app_state = wired(one(desk(), clerk=lambda ask: "Certainly."), url=postgres_url)
        app_state.cache = RedisCache(redis_network.url, budget=budget)
        async with serving(app_state) as running:
            yield running

    return begin


@pytest.fixture
async def raw(redis_server: RedisServer) -> AsyncIterator[Redis]:
    """The Redis itself."""
    client = Redis.from_url(redis_server.url)
    yield client
    await client.aclose()


async def context(running: Api, session: str) -> Any:
    """What the service says that a session knows."""
    answer = await running.client.get(f"{session}/context")
    assert answer.status_code == 200, answer.text
    return answer.json()


def new() -> str:
    """An id of a session that no other test has: all share the Redis."""
    return f"s-{uuid.uuid4()}"


# Scenario: Session context creation


async def test_session_context_creation_writes_to_postgres_and_redis_for_an_hour(
    process: Callable[..., Any], raw: Redis
) -> None:
    """session_id, call_id, customer_id, started_at, variables; activated_at with the journey."""
    id_ = new()
    async with process() as running:
        session = await running.begin("desk", id_, context=CALL)
        told = await context(running, session)
        assert (told["session_id"], told["call_id"], told["customer_id"]) == (id_, "sip-77", "C-1")
        assert told["context"] == CALL
        assert (told["current_state"], told["activated_at"]) == ("concierge", told["started_at"])

        reply = await running.says(session, "It is about billing")
        told = await context(running, session)
        assert (told["journey_id"], told["current_state"]) == ("billing", "billing.desk")
        assert told["activated_at"] == reply["metadata"]["activated_at"] > told["started_at"]
        await running.app_state.contexts.written()
        key = f"jg:default:context:{id_}"
        assert HOUR - 60 < await raw.ttl(key) <= HOUR

    async with process() as another:  # in Postgres it outlives the process, and the cache
        await raw.delete(key)
        assert await context(another, session) == told
