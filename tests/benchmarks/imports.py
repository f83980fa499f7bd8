"""Costs of an import, each time in a fresh process."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.benchmarks.measure import Figure, Pairs, Steps, duration, scratch

ROUNDS = 15
ROOT = Path(__file__).resolve().parents[2]
_TIMED = "import time; begin = time.process_time(); {}; print(time.process_time() - begin)"
JOURNEYS, PYDANTIC = "import journeygraph.journeys", "from pydantic import BaseModel"


async def imports(steps: Steps) -> list[Figure]:
    """Import the language, against the base class of its definitions; both from bytecode."""
    pairs = Pairs()
    with scratch() as folder:
        _import(JOURNEYS, folder)
        _import(PYDANTIC, folder)
        for _ in steps("imports", ROUNDS):
            pairs.add(_import(JOURNEYS, folder), _import(PYDANTIC, folder))
    return [pairs.figure(JOURNEYS, PYDANTIC, 2.2, duration)]


def _import(statement: str, bytecode: Path) -> float:
    """Seconds of the processor; the bytecode is kept, also where the environment says otherwise."""
    env = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    env |= {"PYTHONPYCACHEPREFIX": str(bytecode), "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", _TIMED.format(statement)]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=True)
    return float(done.stdout)
