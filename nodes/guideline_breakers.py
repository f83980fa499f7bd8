"""What keeps failing to judge guidelines rests for a while: a model, or a matcher of an author."""

from __future__ import annotations

import time

from cachetools import LRUCache

from journeys import JourneyConfig, JourneySpec, Limits
from nodes.patterns.breaker import Breaker

# One for the model of each journey of a process, and for each of its matchers, whoever talks.
_breakers: LRUCache[tuple[str, str, str, int, float], Breaker] = LRUCache(4_096)
_clock = time.monotonic


def breaker_of(spec: JourneySpec, config: JourneyConfig, matcher: str = "") -> Breaker:
    """Return the breaker of a journey's guidelines (flow control, guideline timeout).

    Args:
        spec: The journey.
        config: How many failures open it, and for how long.
        matcher: Id of a guideline that code decides; empty: of those that a model judges.
    """
    failures, seconds = config.guideline_breaker_failures, config.guideline_breaker_seconds
    key = (spec.id, spec.version, matcher, failures, seconds)
    if key not in _breakers:
        limits = Limits(
            breaker_failures=failures,
            breaker_window=seconds,
            breaker_cooldown=seconds,
            clock=lambda: _clock(),
        )
        _breakers[key] = Breaker(limits)
    return _breakers[key]
