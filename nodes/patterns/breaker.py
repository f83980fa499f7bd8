"""A circuit breaker: an agent that keeps failing is left alone (ADR-018, category 3)."""

from __future__ import annotations

from collections import deque

from journeys import Limits


class Breaker:
    """Counts the failures of one agent within a window; closed, open, or half open.

    Half open, one call probes the agent while all others are still refused.
    """

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._failures: deque[float] = deque(maxlen=limits.breaker_failures)
        self._opened: float | None = None
        self._probing = False

    def allows(self) -> bool:
        """Say whether the agent may be asked now; a probe is taken by asking this."""
        if self._opened is None:
            return True
        cooled = self._limits.clock() - self._opened >= self._limits.breaker_cooldown
        if self._probing or not cooled:
            return False
        self._probing = True
        return True

    def succeeded(self) -> bool:
        """Take note of an answer; say whether that closed it."""
        was_open = self._opened is not None
        self._probing, self._opened = False, None
        return was_open

    def failed(self) -> bool:
        """Take note of a failure; say whether that opened it."""
        now = self._limits.clock()
        if self._probing:
            self._probing, self._opened = False, now
            return True
        self._failures.append(now)
        full = len(self._failures) == self._failures.maxlen
        if self._opened is None and full and now - self._failures[0] <= self._limits.breaker_window:
            self._opened = now
            self._failures.clear()
            return True
        return False

    def abandoned(self) -> None:
        """Take note of a call that was given up before its end: it proves nothing."""
        self._probing = False


class AgentUnavailable(RuntimeError):
    """An agent is not asked, because it failed too often of late."""
