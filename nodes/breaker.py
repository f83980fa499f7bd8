"""A circuit breaker: a part that keeps failing is not called for a while (ADR-018, category 3)."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from cachetools import LRUCache

from journeygraph.nodes.authored import BreakerOpenError


@dataclass(slots=True)
class Breaker:
    """Counts failures within a window; closed, open, or half open.

    Half open, one call probes what failed while all others are still refused.

    Attributes:
        window: Seconds in which they are counted.
        cooldown: Seconds until a call probes what failed.
        in_a_row: True if an answer between two failures makes them count from one again.
    """

    failures: int
    window: float = 60.0
    cooldown: float = 60.0
    clock: Callable[[], float] = time.monotonic
    in_a_row: bool = False
    _failed: deque[float] = field(default_factory=deque)
    _opened: float | None = None
    _probing: bool = False

    @property
    def is_closed(self) -> bool:
        """Return whether calls go through as usual."""
        return self._opened is None

    def allows(self) -> bool:
        """Return whether there may be a call now; a probe is taken by asking this."""
        if self._opened is None:
            return True
        cooled = self.clock() - self._opened >= self.cooldown
        if self._probing or not cooled:
            return False
        self._probing = True
        return True

    def succeeded(self) -> bool:
        """Record an answer; return whether that closed it."""
        was_open = self._opened is not None
        self._probing, self._opened = False, None
        if self.in_a_row:
            self._failed.clear()
        return was_open

    def failed(self) -> bool:
        """Record a failure; return whether that opened it."""
        now = self.clock()
        if self._probing:
            self._probing, self._opened = False, now
            return True
        self._failed.append(now)
        while len(self._failed) > self.failures:
            self._failed.popleft()
        full = len(self._failed) == self.failures
        if self._opened is None and full and now - self._failed[0] <= self.window:
            self._opened = now
            self._failed.clear()
            return True
        return False

    def abandoned(self) -> None:
        """Record a call that proves nothing, such as one that was given up."""
        self._probing = False

    @contextmanager
    def guarding(
        self,
        judge: Callable[[BaseException], bool | None],
        tell: Callable[[bool], None] = lambda opened: None,
    ) -> Iterator[None]:
        """Allow a call, and record its outcome.

        Args:
            judge: Says of what it raised whether that is a failure (True), an answer all the same
                (False), or proves nothing (None).
            tell: Callback when the breaker opens (True) and when it closes (False).
        """
        if not self.allows():
            raise BreakerOpenError
        try:
            yield
        except BaseException as error:
            failed = judge(error)
            if failed is None:
                self.abandoned()
            elif failed and self.failed():
                tell(True)
            elif not failed and self.succeeded():
                tell(False)
            raise
        if self.succeeded():
            tell(False)


# Of the whole process, whoever talks: by what fails, and by the settings.
_breakers: LRUCache[Hashable, Breaker] = LRUCache(4_096)
_clock = time.monotonic


def breaker_of(what: Hashable, failures: int, seconds: float, *, in_a_row: bool = False) -> Breaker:
    """Return the breaker of something that all sessions of the process share.

    Args:
        seconds: The time in which failures are counted, and the pause after too many.
    """
    key = (what, failures, seconds)
    if key not in _breakers:
        _breakers[key] = Breaker(failures, seconds, seconds, lambda: _clock(), in_a_row)
    return _breakers[key]
