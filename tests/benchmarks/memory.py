"""Memory of a live session: fifty turns with a context of a megabyte."""

from __future__ import annotations

import asyncio
import gc
import json
import os
import resource
import subprocess
import sys
from collections.abc import Callable
from itertools import islice, pairwise
from pathlib import Path
from statistics import median
from typing import Any

from tests.benchmarks.material import CONTEXT, Referral, questions, records, session, texts
from tests.benchmarks.measure import SHOWN, Figure, Steps, amount, scratch

PROCESSES, TURNS = 3, 50
LIMIT, DOCUMENTED = 12e6, 50e6
ROOT = Path(__file__).resolve().parents[2]
_CONTEXTS: dict[str, Callable[[], Any]] = {"texts": texts, "records": records}


async def memory(steps: Steps) -> list[Figure]:
    """Growth of a fresh process by one session, and by the next one, in a store that is open."""
    figures, turns = [], steps.size(TURNS)
    for kind in _CONTEXTS:
        label = f"processes with {kind}"
        first, second = zip(*(_fresh(kind, turns) for _ in steps(label, PROCESSES)), strict=True)
        what = f"live session, {turns} turns, 1 MB of {kind}"
        figures.append(_figure(f"{what}: memory", median(first), f"< {amount(LIMIT)}"))
        figures.append(_figure("the next such session beside it", median(second), SHOWN))
    return figures


def _figure(what: str, grown: float, target: str) -> Figure:
    against, ratio = "50 MB of the documents", grown / DOCUMENTED
    held, documented = amount(grown), amount(DOCUMENTED)
    return Figure(what, against, held, documented, ratio, None, target, grown < LIMIT)


def _fresh(kind: str, turns: int) -> tuple[float, float]:
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", __name__, kind, str(turns)]
    done = subprocess.run(command, env=env, cwd=ROOT, capture_output=True, text=True, check=True)
    first, second = json.loads(done.stdout)
    return first, second


async def _grown(kind: str, turns: int) -> list[float]:
    # What a caller gives is the caller's, so it is there before.
    given = {name: {**CONTEXT, "kept": _CONTEXTS[kind]()} for name in ("first", "second")}
    with scratch() as folder:
        url = f"sqlite:///{folder / 'journeys.db'}"
        live = [await _talked(url, "small", CONTEXT, turns)]
        held = [_held()]
        for name, context in given.items():
            live.append(await _talked(url, name, context, turns))
            held.append(_held())
        for journey in live:
            await journey.close()
    return [after - before for before, after in pairwise(held)]


async def _talked(url: str, name: str, context: dict[str, Any], turns: int) -> Referral:
    journey = await session(url, name, context)
    for said in islice(questions(7), turns):
        await journey.process_message(said)
    return journey


def _held() -> float:
    """Resident memory of this process in bytes."""
    gc.collect()
    pages = Path("/proc/self/statm")
    if pages.exists():
        return float(pages.read_text().split()[1]) * resource.getpagesize()
    command = ["ps", "-o", "rss=", "-p", str(os.getpid())]
    listed = subprocess.run(command, capture_output=True, text=True, check=True)
    return float(listed.stdout) * 1024


if __name__ == "__main__":
    sys.stdout.write(json.dumps(asyncio.run(_grown(sys.argv[1], int(sys.argv[2])))))
