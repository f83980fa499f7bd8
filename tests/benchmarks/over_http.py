"""Turns over HTTP: how many a second, how even, and with how many pathways.

The clients are a process of their own, so that what is measured of the server is the server. They
keep their connections, and as many talk at once as sessions do in process.
"""

from __future__ import annotations

import asyncio
import base64
import json
import os
import re
import socket
import sys
import uuid
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from statistics import quantiles
from typing import Any

import uvicorn

from journeygraph import NEVER, IntentTrigger, Journey, JourneyConfig, Pathway, Transition
from journeygraph.graphs.storage.store import open_store
from journeygraph.server.access.keys import KeyRequest, StoredKeys
from journeygraph.server.access.limits import RateLimits, read_limits
from journeygraph.server.app import app_of
from journeygraph.server.discover.journeys import Served
from journeygraph.server.http.app_state import AppState
from journeygraph.server.http.auth import Keys
from journeygraph.server.http.turns import RunningTurns
from tests.benchmarks.material import CONTEXT, Referral, desk, questions, session
from tests.benchmarks.measure import Figure, Pairs, Steps, alternate, duration, scratch
from tests.support.postgres import started

ROUNDS = 40
SESSIONS, TURNS = 8, 10
"""Who talks at once, and how often each of them in a round."""
EVENNESS = 4.0
"""Most that the slowest turn of a hundred takes, of the middle one."""
MANY, FEW = 200, 5
_TENANT = "acme"
Round = Callable[..., Awaitable[list[float]]]
"""Run the clients for a round, at a rate if one is given; return the seconds of each turn."""


async def over_http(steps: Steps) -> list[Figure]:
    """The same journey, asked by HTTP and by `process_message`; and a small and a large one."""
    with scratch() as folder:
        stores = {
            f"memory://{uuid.uuid4()}": ("memory", 0.8),
            f"sqlite:///{folder / 'http.db'}": ("SQLite", 0.6),
        }
        rates = [await _rates(steps, url, *about) for url, about in stores.items()]
    whole = [figure for found in rates for figure in found]
    return [*whole, await _sizes(steps), await _access(steps)]


async def _rates(steps: Steps, url: str, store: str, share: float) -> list[Figure]:
    """Return how many turns a second there are, and how long the slowest of them take."""
    journeys = [await session(url, f"in-process-{n}") for n in range(SESSIONS)]
    said, turns = questions(1), steps.size(TURNS)
    took: list[float] = []

    async def talk(number: int) -> None:
        for _ in range(turns):
            await journeys[number].process_message(next(said))

    async def in_process() -> None:
        await asyncio.gather(*map(talk, range(SESSIONS)))

    async with serving(url) as port, clients(port, turns) as round_:

        async def by_http() -> None:
            took.extend(await round_())

        rounds = steps(f"HTTP, {store}", ROUNDS)
        pairs = await alternate(by_http, in_process, rounds, calls=SESSIONS * turns)
    for journey in journeys:
        await journey.close()
    clients_ = f"{SESSIONS} clients"
    pairs.cpu_ratios.clear()  # the server is another process
    rate = pairs.rate(f"turns over HTTP, {clients_}, {store}", "in process", share)
    measured = took[-len(pairs.ours) * SESSIONS * turns :]  # those before warmed up
    return [rate, evenness(measured, f"slowest of 100 turns over HTTP, {clients_}, {store}")]


def evenness(took: list[float], what: str, most: float = EVENNESS) -> Figure:
    """Return a row of the slowest of 100 turns against the middle one."""
    cuts = quantiles(took, n=100)
    ratio = cuts[98] / cuts[49]
    shown = (duration(cuts[98]), duration(cuts[49]))
    return Figure(what, "the middle one", *shown, ratio, None, f"<= {most:g}x", ratio <= most)


async def _sizes(steps: Steps) -> Figure:
    """Return what the edge costs for a journey of many pathways, against one of few.

    An empty message runs no graph: it is accepted, looked up and answered.
    """
    turns = steps.size(TURNS)
    async with (
        served(f"memory://{uuid.uuid4()}", _wide(MANY)) as large,
        served(f"memory://{uuid.uuid4()}", _wide(FEW)) as small,
        clients(large, turns, sessions=1, says=" ") as many,
        clients(small, turns, sessions=1, says=" ") as few,
    ):
        rounds = steps(f"HTTP, {MANY} and {FEW} pathways", ROUNDS)
        pairs: Pairs = await alternate(many, few, rounds, calls=turns)
    return pairs.figure(f"edge of HTTP, {MANY} pathways", f"{FEW} pathways", 1.2, duration)


async def _access(steps: Steps) -> Figure:
    """Return what a tenant, its key, limits of each kind and row-level security cost in a turn.

    Both servers use one Postgres: one as a role that row-level security binds, the other as its
    superuser, which no policy binds.
    """
    rate = "key 1000000000/minute, tenant 1000000000/minute, address 1000000000/minute"
    kinds = ("requests", "turns", "sessions", "tokens")
    limits = RateLimits([limit for kind in kinds for limit in read_limits(kind, rate)])
    postgres, turns = await asyncio.to_thread(started), steps.size(TURNS)
    try:
        url = postgres.copy()
        store = await open_store(url, None, tenant=_TENANT)
        key = (await StoredKeys(store).create(KeyRequest(("talk",)), _TENANT)).secret
        async with (
            served(postgres.fenced(url), _wide(FEW), limits=limits) as keyed,
            served(url, _wide(FEW)) as open_,
            clients(keyed, turns, sessions=1, access=key) as theirs,
            clients(open_, turns, sessions=1) as ours,
        ):
            rounds = steps("HTTP, with and without a tenant, a key and limits", ROUNDS)
            pairs: Pairs = await alternate(theirs, ours, rounds, calls=turns)
        await store.close()
    finally:
        await asyncio.to_thread(postgres.end)
    what = "turn over HTTP with tenant, key, limits, row-level security, Postgres"
    return pairs.figure(what, "without", 1.1, duration)


def _wide(pathways: int) -> type[Journey]:
    """Return a journey of so many pathways, each with an agent and a way to it."""
    names = [f"desk{number}" for number in range(pathways)]
    paths = {
        f"{name.title()}Path": type(
            f"{name.title()}Path",
            (Pathway,),
            {"__agents__": [f"{name}_clerk"], "__complete_when__": NEVER},
        )
        for name in names
    }
    moves = [
        Transition(IntentTrigger(patterns=[f"go to {name}"]), to_pathway=name) for name in names
    ]
    return type(f"Wide{pathways}", (Journey,), {**paths, "__transitions__": moves})


@asynccontextmanager
async def serving(url: str, journey: type[Journey] = Referral) -> AsyncIterator[int]:
    """Run `journeygraph serve`; gives the port."""
    async with server(url, journey) as (port, _):
        yield port


@asynccontextmanager
async def server(url: str, journey: type[Journey] = Referral) -> AsyncIterator[tuple[int, int]]:
    """Run `journeygraph serve`; gives the port, and the id of the process."""
    place = f"{Path(__file__).with_name('material.py')}:{journey.__name__}"
    words = ("journeygraph.server.cli", "serve", place, "--store", url, "--port", "0")
    async with listening(*words) as found:
        yield found


@asynccontextmanager
async def listening(*words: str) -> AsyncIterator[tuple[int, int]]:
    """Run a module that serves, in a process of its own; gives the port, and its id."""
    key = base64.b64encode(bytes(32)).decode()
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", *words),
        stdout=PIPE,
        env={**os.environ, "JOURNEYGRAPH_ENCRYPTION_KEY": key},
    )
    assert process.stdout is not None
    line = b""
    while not (found := re.search(rb"Listening at http://127\.0\.0\.1:(\d+)", line)):
        line = await process.stdout.readline()
        assert line, "the server did not start"
    try:
        yield int(found[1]), process.pid
    finally:
        process.terminate()
        await process.wait()


@asynccontextmanager
async def served(
    url: str, journey: type[Journey], agent: Any = desk, limits: RateLimits | None = None
) -> AsyncIterator[int]:
    """Serve a journey in this process, with one agent in all places; gives the port.

    With limits, a key of the database is required.
    """
    agents = dict.fromkeys(journey.spec.agents, agent)
    app_state = AppState(
        config=JourneyConfig(persistence=url),
        journeys={journey.spec.id: Served(journey, agents)},
        keys=Keys(uses_stored=limits is not None, limits=limits),
        limits=limits,
        shows_docs=False,
        turns=RunningTurns(),
        model=False,
    )
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.bind(("127.0.0.1", 0))
    config = uvicorn.Config(app_of(app_state), loop="asyncio", access_log=False, log_config=None)
    server = uvicorn.Server(config)
    running = asyncio.create_task(server.serve([listener]))
    while not server.started:  # noqa: ASYNC110
        await asyncio.sleep(0.01)
    yield listener.getsockname()[1]
    server.should_exit = True
    await running


@asynccontextmanager
async def clients(
    port: int,
    turns: int,
    sessions: int = SESSIONS,
    says: str = "",
    of: str = "by-http",
    *,
    access: str = "",
    keys: bool = False,
) -> AsyncIterator[Round]:
    """Start the process of the clients; return a function that runs them for a round.

    Args:
        port: Of the server.
        turns: The number of turns of each session in a round.
        sessions: The number of sessions at the same time.
        says: Their message; without it, one of everyday length that is another each time.
        of: The start of the ids of their sessions.
        access: Their API key; empty: they send none.
        keys: True to send an idempotency key with each.
    """
    command = [sys.executable, str(Path(__file__).with_name("http_clients.py")), str(port)]
    plan = {"sessions": sessions, "turns": turns, "context": CONTEXT, "says": says}
    plan |= {"of": of, "access": access, "keys": keys}
    begin = json.dumps(plan)
    process = await asyncio.create_subprocess_exec(*command, begin, stdin=PIPE, stdout=PIPE)
    assert process.stdin is not None
    assert process.stdout is not None
    told, heard = process.stdin, process.stdout

    async def round_(rate: float | None = None) -> list[float]:
        told.write(f"{rate or 'go'}\n".encode())
        took: list[float] = json.loads(await heard.readline())
        return took

    yield round_
    told.close()
    await process.wait()
