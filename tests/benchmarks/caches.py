"""Savings by caches: reads of definitions and of session contexts, on Postgres and Redis."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from journeygraph import JourneyConfig
from journeygraph.graphs.records.definitions import DefinitionDraft, Definitions
from journeygraph.journeys.examples import insurance_claim
from journeygraph.server.access.callers import ANYONE
from journeygraph.server.cache import Cache, Contexts, MemoryCache, VersionedCache
from journeygraph.server.cache.redis import RedisCache
from journeygraph.server.definitions.stored_journeys import (
    DEFINITION_KIND,
    ActiveDefinitions,
    DefinitionTexts,
    Providers,
)
from journeygraph.server.discover.journeys import Served
from journeygraph.server.http.app_state import AppState
from journeygraph.server.http.auth import Keys
from journeygraph.server.http.deps import session_view
from journeygraph.server.http.turns import RunningTurns
from tests.benchmarks.material import AGENTS, CONTEXT, Referral, questions
from tests.benchmarks.measure import Action, Figure, Steps, alternate, duration
from tests.support import redis
from tests.support.postgres import Postgres, started

ROUNDS = 400
STORED = 20
"""Definitions in the database."""
SAME = "the same from Postgres"
CLAIM = Path(insurance_claim.__file__).parent / "claim.yaml"
SESSIONS, TURNS, LOOKS, FORGOTTEN = 40, 8, 3, 0.02
"""Of the workload: who talks, how often, looks after each turn, and what Redis loses on the way."""
LEAST = 0.95


async def caches(steps: Steps) -> list[Figure]:
    """Reads against the same from Postgres, and how often a look into the cache is worth it."""
    database, server = await asyncio.to_thread(started), await asyncio.to_thread(redis.RedisServer)
    try:
        return [
            *await _definitions(database, server.url, steps),
            *[
                await _context(database, cache, steps)
                for cache in (RedisCache(server.url, budget=60), MemoryCache())
            ],
            await _hits(database, RedisCache(server.url, budget=60), steps),
        ]
    finally:
        await asyncio.to_thread(server.end)
        await asyncio.to_thread(database.end)


class _Nothing(MemoryCache):
    """A cache that never has anything."""

    async def get(self, keys):
        return [None] * len(keys)


async def _definitions(database: Postgres, redis_url: str, steps: Steps) -> list[Figure]:
    """Definitions from Redis; and the one of a turn, which is read and compiled already."""
    config = JourneyConfig(persistence=database.copy())
    definitions, cache = await Definitions.open(config), RedisCache(redis_url, budget=60)
    text = await asyncio.to_thread(CLAIM.read_text)
    await definitions.load([_claim(number, text) for number in range(STORED)])
    active, epoch = await definitions.active(), await definitions.epoch()
    ours = DefinitionTexts(definitions, VersionedCache(cache, DEFINITION_KIND))
    theirs = DefinitionTexts(definitions, VersionedCache(_Nothing(), DEFINITION_KIND))

    def reading(texts: DefinitionTexts, count: int) -> Action:
        return lambda: texts.drafts(active[:count], epoch, {})

    assert await reading(ours, STORED)() == await reading(theirs, STORED)()
    several = await alternate(
        reading(ours, STORED), reading(theirs, STORED), steps("definitions", ROUNDS)
    )
    one = await alternate(reading(ours, 1), reading(theirs, 1), steps("a definition", ROUNDS))
    assert ours.versioned.counts.misses == STORED
    given = Providers(insurance_claim.AGENTS, insurance_claim.TOOLS, model=False)
    catalogue = await ActiveDefinitions.open(config, given)

    async def followed() -> None:
        await catalogue.follow(epoch)
        assert active[0].id in catalogue.served

    turn = await alternate(followed, reading(theirs, 1), steps("of a turn", ROUNDS))
    await catalogue.close()
    await cache.close()
    await definitions.close()
    size = f"{len(text) / 1000:.1f} kB"
    of_a_turn = "the definition of a turn, by the epoch that came with its session"
    return [
        turn.figure(of_a_turn, "its text from Postgres", 0.5, duration),
        several.figure(f"{STORED} definitions of {size}, from Redis", SAME, 0.5, duration),
        one.shown(f"one definition of {size}, from Redis", SAME, duration),
    ]


def _claim(number: int, text: str) -> DefinitionDraft:
    name = f"claim_{number}"
    return DefinitionDraft(
        "journey", name, f"{name}.yaml", text.replace("id: claim", f"id: {name}", 1)
    )


@asynccontextmanager
async def _wired(url: str, cache: Cache) -> AsyncIterator[AppState]:
    app_state = AppState(
        config=JourneyConfig(persistence=url),
        journeys={Referral.spec.id: Served(Referral, AGENTS)},
        keys=Keys(),
        shows_docs=False,
        turns=RunningTurns(),
        model=False,
        cache=cache,
    )
    async with app_state.opened():
        yield app_state


async def _talk(app_state: AppState, session_id: str, messages: list[str]) -> None:
    manager = app_state.manager(app_state.journeys[Referral.spec.id], session_id)
    if await manager.get_session_state() is None:
        await manager.start(CONTEXT)
    for message in messages:
        await manager.process_message(message)
    await manager.close()


async def _context(database: Postgres, cache: Cache, steps: Steps) -> Figure:
    url, said = database.copy(), questions(1)
    async with _wired(url, cache) as ours, _wired(url, _Nothing()) as theirs:
        await _talk(ours, "s-1", [next(said) for _ in range(25)])
        await ours.contexts.written()
        assert await session_view(ours, "s-1", ANYONE) == await session_view(theirs, "s-1", ANYONE)
        pairs = await alternate(
            lambda: session_view(ours, "s-1", ANYONE),
            lambda: session_view(theirs, "s-1", ANYONE),
            steps("a context", ROUNDS),
        )
        assert ours.contexts.counts.misses == 0
    where = "Redis" if isinstance(cache, RedisCache) else "the process"
    what = f"the context of a session in its 25th turn, from {where}, its version from Postgres"
    return pairs.figure(what, SAME, 0.5, duration)


async def _hits(database: Postgres, cache: RedisCache, steps: Steps) -> Figure:
    """Sessions take turns in a random order; after each turn the context of one of them is read."""
    dice, said = random.Random(7), questions(2)
    names = [f"w-{number}" for number in range(SESSIONS)]
    async with _wired(database.copy(), cache) as app_state:
        for name in names:
            await _talk(app_state, name, [])
        for name in names:  # warms up
            await session_view(app_state, name, ANYONE)
        contexts, before = app_state.contexts, _seen(app_state.contexts)
        for _ in steps("looks at contexts", SESSIONS * TURNS):
            await _talk(app_state, dice.choice(names), [next(said)])
            if dice.random() < FORGOTTEN:
                await cache.drop([f"jg:default:context:{dice.choice(names)}"])
            for _ in range(LOOKS):
                await session_view(app_state, dice.choice(names), ANYONE)
        hits, asked = (now - then for now, then in zip(_seen(contexts), before, strict=True))
    what = (
        f"hits of {asked} looks at contexts: {SESSIONS} sessions, {SESSIONS * TURNS} turns, "
        f"{LOOKS} looks after each, {FORGOTTEN:.0%} lose a value"
    )
    ratio = hits / asked
    return Figure(
        what, "all looks", str(hits), str(asked), ratio, None, f">= {LEAST:g}x", ratio >= LEAST
    )


def _seen(contexts: Contexts) -> tuple[int, int]:
    return contexts.counts.hits, contexts.counts.hits + contexts.counts.misses
