"""Measure two things in one run: each round does both, and what counts is the ratio of a round.

Machines are noisy and drift; two things measured a moment apart drift together.
"""

from __future__ import annotations

import asyncio
import gc
import os
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from rich.console import Console
from rich.progress import track

from journeygraph.nodes.json_data import REST

Action = Callable[[], Awaitable[Any]]
WARM_UP = 10
SHOWN = "shown"
"""Stands for a target in rows that have none."""
_RAM_DISK = Path("/dev/shm")


class Steps:
    """Counts the rounds of a theme, and shows on the way how far they are.

    With a limit to its rounds a theme is only tried: its sizes are as many percent of the whole.
    """

    def __init__(self, console: Console, most: int | None = None) -> None:
        self._console = console
        self._most = most

    def __call__(self, label: str, count: int) -> Iterator[int]:
        count = min(count, self._most or count)
        if self._console.is_terminal:
            about, console = f"  {label}", self._console
            yield from track(range(count), description=about, console=console, transient=True)
            return
        self._console.print(f"  {label} ({count})")
        yield from range(count)

    def size(self, whole: int) -> int:
        return whole if self._most is None else max(1, whole * min(self._most, 100) // 100)


@dataclass(frozen=True, slots=True)
class Figure:
    """One row of the table."""

    what: str
    against: str
    ours: str
    theirs: str
    ratio: float
    cpu: float | None
    target: str
    reached: bool


@dataclass(slots=True)
class Pairs:
    """What each round measured, of both things."""

    ours: list[float] = field(default_factory=list)
    theirs: list[float] = field(default_factory=list)
    cpu_ratios: list[float] = field(default_factory=list)

    def add(self, ours: float, theirs: float) -> None:
        self.ours.append(ours)
        self.theirs.append(theirs)

    def add_times(self, ours: Times, theirs: Times, calls: int = 1) -> None:
        self.add(ours.wall / calls, theirs.wall / calls)
        if theirs.cpu > 0:
            self.cpu_ratios.append(ours.cpu / theirs.cpu)

    @property
    def ratio(self) -> float:
        """The median of the rounds' ratios."""
        return median(one / other for one, other in zip(self.ours, self.theirs, strict=True))

    @property
    def cpu(self) -> float | None:
        """The same for the processor's time, which a busy machine disturbs less."""
        return median(self.cpu_ratios) if self.cpu_ratios else None

    def figure(self, what: str, against: str, most: float, show: Callable[[float], str]) -> Figure:
        return self._figure(what, against, show, f"<= {most:g}x", self.ratio <= most)

    def rate(self, what: str, against: str, least: float) -> Figure:
        """A row of how many there are in a second, the more the better."""
        ratio = 1 / self.ratio
        ours, theirs = (f"{1 / median(seconds):.0f} /s" for seconds in (self.ours, self.theirs))
        target = f">= {least:g}x"
        return Figure(what, against, ours, theirs, ratio, self.cpu, target, ratio >= least)

    def shown(self, what: str, against: str, show: Callable[[float], str]) -> Figure:
        """A row without a target."""
        return self._figure(what, against, show, SHOWN, True)

    def _figure(
        self, what: str, against: str, show: Callable[[float], str], target: str, reached: bool
    ) -> Figure:
        ours, theirs = show(median(self.ours)), show(median(self.theirs))
        return Figure(what, against, ours, theirs, self.ratio, self.cpu, target, reached)


@dataclass(frozen=True, slots=True)
class Times:
    """Seconds of one action: on the wall, and of the processor in all threads."""

    wall: float
    cpu: float


async def timed(action: Action) -> Times:
    if not gc.isenabled():  # what ran before made it rest; this must not profit from that
        await asyncio.sleep(2 * REST)
    wall, cpu = time.perf_counter(), time.process_time()
    await action()
    return Times(time.perf_counter() - wall, time.process_time() - cpu)


async def _nothing() -> None:
    pass


async def alternate(
    ours: Action,
    theirs: Action,
    rounds: Iterable[int],
    calls: int = 1,
    after: Action = _nothing,
) -> Pairs:
    """Do both in alternation.

    Args:
        ours: The one thing.
        theirs: The other one.
        rounds: As many pairs are measured.
        calls: The number of calls of an action, for the seconds of one.
        after: Ends each round, and is not measured.
    """
    for _ in range(WARM_UP):
        await ours()
        await theirs()
        await after()
    gc.collect()
    pairs = Pairs()
    for _ in rounds:
        pairs.add_times(await timed(ours), await timed(theirs), calls)
        await after()
    return pairs


def duration(value: float) -> str:
    for unit, scale in (("s", 1.0), ("ms", 1e3)):
        if value * scale >= 1:
            return f"{value * scale:.2f} {unit}"
    return f"{value * 1e6:.2f} µs"


def amount(value: float) -> str:
    return f"{value / 1e6:.2f} MB" if value >= 1e6 else f"{value / 1e3:.2f} kB"


@contextmanager
def scratch() -> Iterator[Path]:
    """A folder on a RAM disk where there is one, so that no disk is measured."""
    usable = _RAM_DISK.is_dir() and os.access(_RAM_DISK, os.W_OK)
    with tempfile.TemporaryDirectory(dir=_RAM_DISK if usable else None) as folder:
        yield Path(folder)
