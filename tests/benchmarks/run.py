"""Measure what the library costs: `python -m tests.benchmarks.run [NAME ...]`, without a name all.

Every figure is a ratio of two things measured in one run. Nothing is asserted on time. The figures
of a theme are printed as soon as it ends.
"""

from __future__ import annotations

import asyncio
import os
import platform
import sys
import time
from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Awaitable, Callable
from importlib.metadata import version

from rich.console import Console
from rich.table import Table

from tests.benchmarks import measure
from tests.benchmarks.caches import caches
from tests.benchmarks.conversations import conversations
from tests.benchmarks.corrections import corrections
from tests.benchmarks.database import database
from tests.benchmarks.expiry import expiry
from tests.benchmarks.files import files
from tests.benchmarks.forms import forms
from tests.benchmarks.growth import growth
from tests.benchmarks.guaranteed import guaranteed
from tests.benchmarks.guidelines import guidelines
from tests.benchmarks.imports import imports
from tests.benchmarks.measure import SHOWN, Figure, Steps
from tests.benchmarks.memory import memory
from tests.benchmarks.merging import merging
from tests.benchmarks.models import models
from tests.benchmarks.over_http import over_http
from tests.benchmarks.patterns import patterns
from tests.benchmarks.pipelines import pipelines
from tests.benchmarks.protocols import protocols
from tests.benchmarks.scale import scale
from tests.benchmarks.turns import turns
from tests.benchmarks.understanding import understanding

THEMES: dict[str, Callable[[Steps], Awaitable[list[Figure]]]] = {
    "turns": turns,
    "growth": growth,
    "database": database,
    "expiry": expiry,
    "patterns": patterns,
    "pipelines": pipelines,
    "merging": merging,
    "models": models,
    "guidelines": guidelines,
    "forms": forms,
    "corrections": corrections,
    "conversations": conversations,
    "understanding": understanding,
    "cache": caches,
    "imports": imports,
    "memory": memory,
    "files": files,
    "http": over_http,
    "protocols": protocols,
    "scale": scale,
    "guaranteed": guaranteed,
}
LEAST_ROUNDS = 2
"""The first one of some themes warms up."""
_WIDTH = 120


def main(words: list[str]) -> int:
    given = _arguments().parse_args(words)
    console = Console()
    if not console.is_terminal:
        console = Console(width=_WIDTH)
    begin = time.perf_counter()
    if given.rounds:
        measure.WARM_UP = min(measure.WARM_UP, given.rounds // 2)
    failed = [name for name in given.name or THEMES if not _shown(name, given.rounds, console)]
    took = time.perf_counter() - begin
    console.print(f"{_machine()}; {took:.0f} s in all", highlight=False)
    if failed:
        console.print(f"Failed: {', '.join(failed)}", highlight=False)
    return 1 if failed else 0


def _arguments() -> ArgumentParser:
    told = f"Measure, in ratios against plain LangGraph. Themes: {', '.join(THEMES)}."
    parser = ArgumentParser("make bench", "make bench ARGS='[--rounds N] [NAME ...]'", told)
    parser.add_argument("name", nargs="*", type=_theme, help="a theme (without a name: all)")
    told = "the most rounds, at N percent of the sizes, to try a theme; such figures say nothing"
    parser.add_argument("--rounds", type=_rounds, metavar="N", help=told)
    return parser


def _theme(name: str) -> str:
    if name not in THEMES:
        raise ArgumentTypeError(f"no theme {name!r}. There are: {', '.join(THEMES)}")
    return name


def _rounds(text: str) -> int:
    if not text.isdecimal() or int(text) < LEAST_ROUNDS:
        raise ArgumentTypeError(f"{text!r} is not a number from {LEAST_ROUNDS}")
    return int(text)


def _shown(name: str, most: int | None, console: Console) -> bool:
    """Measure a theme, and print its figures; return whether it came to its end."""
    try:
        console.print(_table(name, asyncio.run(_measured(name, most, console))))
    except Exception:  # the others are measured all the same
        console.print_exception()
        return False
    return True


async def _measured(name: str, most: int | None, console: Console) -> list[Figure]:
    console.print(f"{name} ...")
    return await THEMES[name](Steps(console, most))


def _table(name: str, figures: list[Figure]) -> Table:
    about = "medians; a ratio is the median over all rounds, CPU that of CPU time"
    table = Table(title=f"{name}: {about}")
    table.add_column("what / against")
    for heading in ("ours", "theirs", "ratio", "CPU", "target"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("reached", justify="center")
    for row in figures:
        reached = "" if row.target == SHOWN else "[green]yes" if row.reached else "[red]no"
        cpu = "" if row.cpu is None else f"{row.cpu:.2f}x"
        measured = (row.ours, row.theirs, f"{row.ratio:.2f}x", cpu)
        what = f"{row.what}\n[dim]  {row.against}"
        table.add_row(what, *measured, row.target, reached)
    return table


def _machine() -> str:
    libraries = ", ".join(f"{name} {version(name)}" for name in ("langgraph", "pydantic"))
    load = f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores"
    return f"{load}, Python {platform.python_version()}, {libraries}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
