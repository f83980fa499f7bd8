"""Limits of an agent in a pipeline: timeout, retries, circuit breaker."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from journeys.errors import ConfigurationError, shown


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The limits of each agent of a pipeline.

    Attributes:
        timeout: Longest try, in seconds; None is the pathway's, or none where there is no pathway.
        retries: Further tries of an agent that failed; None is the journey's, or none.
        backoff: Seconds before the second try; doubled before each further one.
        breaker_failures: Failures within `breaker_window` after which an agent is not asked any
            more; None: it is always asked.
        breaker_window: Seconds in which failures are counted.
        breaker_cooldown: Seconds until one message probes the agent again: if it answers, it is
            asked as before, else it is left alone for as long again.
        clock: Tells the time in seconds; for tests.

    Raises:
        ConfigurationError: One of them is out of its range.

    Source: ADR-018 section 4 and test category 3.
    """

    timeout: float | None = None
    retries: int | None = None
    backoff: float = 0.5
    breaker_failures: int | None = None
    breaker_window: float = 60.0
    breaker_cooldown: float = 30.0
    clock: Callable[[], float] = field(default=time.monotonic, compare=False, repr=False)

    def __post_init__(self) -> None:
        for name in ("timeout", "backoff", "breaker_window", "breaker_cooldown"):
            value = getattr(self, name)
            if value is None and name == "timeout":
                continue
            if not _is_number(value) or not 0 < value < math.inf:
                raise ConfigurationError(
                    f"Limits: {name} is {shown(value)}; it must be a number of seconds above 0."
                )
        for name, least in (("retries", 0), ("breaker_failures", 1)):
            value = getattr(self, name)
            if value is not None and (type(value) is not int or value < least):
                raise ConfigurationError(
                    f"Limits: {name} is {shown(value)}; it must be a whole number from {least} on."
                )


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
