"""What a live session keeps in memory: fifty turns with a context of a megabyte."""

from __future__ import annotations

import asyncio
import gc
import json
import os
import random
import resource
import subprocess
import sys
from pathlib import Path
from statistics import median

from journeys import JourneyConfig
from tests.benchmarks.material import AGENTS, CONTEXT, Referral, question, sentence, session
from tests.benchmarks.measure import Figure, Steps, amount, scratch

PROCESSES, TURNS = 3, 50
LIMIT, DOCUMENTED = 12e6, 50e6
ROOT = Path(__file__).resolve().parents[2]


async def memory(steps: Steps) -> list[Figure]:
    """Growth of a fresh process by one session, after a small one has loaded all the code."""
    kept, peaks = zip(*(_fresh() for _ in steps("processes", PROCESSES)), strict=True)
    what = f"live session, {TURNS} turns, 1 MB context"
    return [
        _figure(f"{what}: memory held", median(kept), f"< {amount(LIMIT)}"),
        _figure(f"{what}: peak", median(peaks), "shown"),
    ]


def _figure(what: str, grown: float, target: str) -> Figure:
    reached = target == "shown" or grown < LIMIT
    against, ratio = "50 MB of the documents", grown / DOCUMENTED
    return Figure(what, against, amount(grown), amount(DOCUMENTED), ratio, target, reached)


def _fresh() -> tuple[float, float]:
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", __name__]
    done = subprocess.run(command, env=env, cwd=ROOT, capture_output=True, text=True, check=True)
    held, peak = json.loads(done.stdout)
    return held, peak


async def _grown() -> tuple[float, float]:
    with scratch() as folder:
        small = await session(f"sqlite:///{folder / 'small.db'}")
        await _talk(small, 5)
        await small.close()
        gc.collect()
        held, peak = _held(), _peak()
        config = JourneyConfig(persistence=f"sqlite:///{folder / 'large.db'}")
        large = Referral("large", config, agents=AGENTS)
        await large.start({**CONTEXT, "documents": _documents()})
        await _talk(large, TURNS)
        gc.collect()
        grown = _held() - held, _peak() - peak
        await large.close()
    return grown


async def _talk(journey: Referral, turns: int) -> None:
    dice = random.Random(7)
    for _ in range(turns):
        await journey.process_message(question(dice))


def _documents() -> list[str]:
    return [sentence(random.Random(number), 180, 180) for number in range(5_450)]


def _held() -> float:
    """Resident memory in bytes."""
    listed = subprocess.run(
        ["ps", "-o", "rss=", "-p", str(os.getpid())], capture_output=True, text=True, check=True
    )
    return float(listed.stdout) * 1024


def _peak() -> float:
    scale = 1 if sys.platform == "darwin" else 1024
    return float(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * scale)


if __name__ == "__main__":
    sys.stdout.write(json.dumps(asyncio.run(_grown())))
