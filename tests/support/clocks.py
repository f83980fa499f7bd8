"""The time of the tests: no outcome depends on the speed of the machine."""

from __future__ import annotations

import asyncio
import selectors
import time
from datetime import UTC, datetime, timedelta
from typing import Any


class CalmLoop(asyncio.SelectorEventLoop):
    """A loop whose clock hardly moves while it works.

    What a test sets for a tenth of a second then ends what hangs, and not what a busy machine
    works at for longer. Waiting passes at most to the next moment that something is due at, so
    what is due in that order comes in that order. Threads and other processes it waits for in
    real time. The rest of the time counts a little: who polls until a deadline has to reach it.
    """

    def __init__(self) -> None:
        self._waits = _Timed()
        self._begun = time.monotonic()
        super().__init__(self._waits)

    def time(self) -> float:
        passed = time.monotonic() - self._begun
        return self._waits.waited + (passed - self._waits.waited) * _OF_WORK


_OF_WORK = 0.02


class _Timed(selectors.DefaultSelector):
    waited = 0.0

    def select(self, timeout: float | None = None) -> Any:
        begun = time.monotonic()
        ready = super().select(timeout)
        passed = time.monotonic() - begun
        self.waited += passed if timeout is None else min(passed, max(timeout, 0.0))
        return ready


class Clock:
    """The time as the library sees it; the test moves it."""

    def __init__(self) -> None:
        self.ahead = timedelta()

    def __call__(self) -> datetime:
        return datetime.now(UTC) + self.ahead

    def passes(self, seconds: float) -> None:
        self.ahead += timedelta(seconds=seconds)
