"""What an import costs, each time in a fresh process."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.benchmarks.measure import Figure, Pairs, Steps, duration, scratch

ROUNDS = 15
ROOT = Path(__file__).resolve().parents[2]
_TIMED = "import time; begin = time.perf_counter(); import {}; print(time.perf_counter() - begin)"


async def imports(steps: Steps) -> list[Figure]:
    """`import journeys` against `import pydantic`, both from bytecode."""
    pairs = Pairs()
    with scratch() as folder:
        _import("journeys", folder)
        _import("pydantic", folder)
        for _ in steps("imports", ROUNDS):
            pairs.add(_import("journeys", folder), _import("pydantic", folder))
    return [pairs.figure("import journeys", "import pydantic", 1.5, duration)]


def _import(package: str, bytecode: Path) -> float:
    """Seconds of one import; the bytecode is kept, also where the environment says otherwise."""
    env = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    env |= {"PYTHONPYCACHEPREFIX": str(bytecode), "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", _TIMED.format(package)]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=True)
    return float(done.stdout)
