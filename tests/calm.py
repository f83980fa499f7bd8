"""A loop whose clock stands still while it works: no limit depends on the speed of the machine."""

from __future__ import annotations

import asyncio
import selectors
import time
from typing import Any


class CalmLoop(asyncio.SelectorEventLoop):
    """A loop that counts the time in which it waits, and that alone.

    What a test sets for a tenth of a second then ends what hangs, and not what a busy machine
    works at for longer. Waiting passes at most to the next moment that something is due at, so
    what is due in that order comes in that order. Threads and other processes it waits for in
    real time.
    """

    def __init__(self) -> None:
        self._selector_of_time = _Timed()
        super().__init__(self._selector_of_time)

    def time(self) -> float:
        return self._selector_of_time.waited


class _Timed(selectors.DefaultSelector):
    waited = 0.0

    def select(self, timeout: float | None = None) -> Any:
        begun = time.monotonic()
        ready = super().select(timeout)
        passed = time.monotonic() - begun
        self.waited += passed if timeout is None else min(passed, max(timeout, 0.0))
        return ready
