"""Turns over HTTP on Postgres with all guarantees on, against a server without any.

Ours has idempotency keys, leases, ledger, and an audit. Theirs is `bare.py`. Each is one
process with its own database, and the same clients ask both in turn.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from statistics import median

from tests.benchmarks.material import Referral, SecretReferral
from tests.benchmarks.measure import SHOWN, Figure, Pairs, Steps, alternate
from tests.benchmarks.over_http import SESSIONS, TURNS, clients, evenness, listening, serving
from tests.benchmarks.over_http import server as served
from tests.support.postgres import Postgres, started

ROUNDS, EVEN_ROUNDS = 20, 20
LEAST, MOST = 0.8, 3.0
_BARE = "tests.benchmarks.bare"


async def guaranteed(steps: Steps) -> list[Figure]:
    """The figures on a Postgres of our own, or on the one that is named for the tests."""
    server = await asyncio.to_thread(started)
    try:
        return [
            await _rate(server, steps, Referral, "async", "graph.ainvoke", LEAST),
            await _rate(server, steps, Referral, "exit", "graph.ainvoke, exit durability", None),
            await _rate(server, steps, SecretReferral, "async", "graph.ainvoke", None),
            await _even(server, steps),
        ]
    finally:
        await asyncio.to_thread(server.end)


async def _rate(
    server: Postgres,
    steps: Steps,
    journey: type[Referral],
    durability: str,
    called: str,
    least: float | None,
) -> Figure:
    """Return how many turns a second there are."""
    what = "turns over HTTP on Postgres, all guarantees on"
    what += ", encrypted" if journey is SecretReferral else ""
    against = f"a FastAPI route with the stock AsyncPostgresSaver and {called}"
    turns = steps.size(TURNS)
    async with (
        served(server.copy(), journey) as (port, mine),
        listening(_BARE, server.copy(), durability) as (bare, other),
        clients(port, turns, keys=True) as ours,
        clients(bare, turns) as theirs,
    ):
        begun = _worked(mine), _worked(other)
        rounds = steps(f"{journey.__name__}, {called}", ROUNDS)
        pairs: Pairs = await alternate(ours, theirs, rounds, calls=SESSIONS * turns)
        # The servers are other processes.
        pairs.cpu_ratios[:] = [(_worked(mine) - begun[0]) / (_worked(other) - begun[1])]
    rate = pairs.rate(what, against, least or 0.0)
    return rate if least else replace(rate, target=SHOWN)


def _worked(process: int) -> int:
    """Return the processor time of a process, in ticks of the kernel."""
    words = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return int(words[11]) + int(words[12])


async def _even(server: Postgres, steps: Steps) -> Figure:
    """Return how long the slowest of 100 turns takes at half of the most turns a second."""
    took: list[float] = []
    turns = steps.size(TURNS)
    async with serving(server.copy()) as port, clients(port, turns, keys=True) as round_:
        seconds = []
        loop = asyncio.get_running_loop()
        for _ in steps("most turns a second", EVEN_ROUNDS):
            begun = loop.time()
            await round_()
            seconds.append(loop.time() - begun)
        half = SESSIONS * turns / median(seconds) / 2
        for _ in steps(f"{half:.0f} turns a second", EVEN_ROUNDS):
            took += await round_(half)
    return evenness(took, "slowest of 100 turns at half of the most turns a second, Postgres", MOST)
