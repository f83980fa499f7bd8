"""The time of the tests: no outcome depends on the speed of the machine."""

from __future__ import annotations

import asyncio
import os
import re
import selectors
import time
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import ContextVar
from datetime import UTC, datetime, timedelta
from typing import Any, ClassVar

from journeygraph.nodes import json_data


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
        self._threads = _Threads.taken()

    def time(self) -> float:
        passed = time.monotonic() - self._begun
        return self._waits.waited + (passed - self._waits.waited) * _OF_WORK

    def run_in_executor(  # type: ignore[override]
        self, executor: Any, func: Any, *args: Any
    ) -> Any:
        """Call a function in a thread; without an executor, in one that the loops share."""
        return super().run_in_executor(executor or self._threads, func, *args)

    async def shutdown_default_executor(self, *limits: Any) -> None:
        """End the threads if one of them works; else leave them to the next loop."""
        if self._threads.working:
            self.set_default_executor(self._threads)
        else:
            self._threads.leave()
        await super().shutdown_default_executor(*limits)


_OF_WORK = 0.02


class _Threads(ThreadPoolExecutor):
    """Threads of the loops of a process: one loop leaves them to the next.

    Most tests open a store, for which their loop would start a thread, and another one to end it.
    """

    _kept: ClassVar[_Threads | None] = None

    def __init__(self) -> None:
        super().__init__(thread_name_prefix="asyncio")
        self.working: set[Future[Any]] = set()
        self._process = os.getpid()

    @classmethod
    def taken(cls) -> _Threads:
        """Return the threads that were left, or new ones."""
        kept, cls._kept = cls._kept, None
        return kept if kept and kept._process == os.getpid() else cls()

    def leave(self) -> None:
        """Leave the threads, none of which works, to the next loop."""
        type(self)._kept = self

    def submit(self, *args: Any, **kwargs: Any) -> Future[Any]:
        """Begin a call in one of the threads."""
        future = super().submit(*args, **kwargs)
        self.working.add(future)
        future.add_done_callback(self.working.discard)
        return future


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

    ahead_of_all: ClassVar[timedelta] = timedelta()
    """Time by which all clocks of a run are ahead of the machine's."""

    def __init__(self) -> None:
        self.ahead = self.ahead_of_all

    def __call__(self) -> datetime:
        return datetime.now(UTC) + self.ahead

    def passes(self, seconds: float) -> None:
        self.ahead += timedelta(seconds=seconds)

    def goes_to(self, stored: str) -> None:
        """Go to a time as it is stored."""
        self.ahead = datetime.fromisoformat(stored) - datetime.now(UTC)


if _days := os.environ.get("TESTS_DAYS_AHEAD"):
    # Not by `clocked`: threads, and tasks of other contexts, have the clock too.
    Clock.ahead_of_all = timedelta(days=float(_days))
    _shifted = Clock()
    json_data._clock = ContextVar("clock", default=_shifted)


def without_times(text: str) -> str:
    """Return a text without times of day, whose digits may be those of a value."""
    return re.sub(r"T\d\d:\d\d:[\d.]+", "", text)
