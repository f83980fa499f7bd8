"""Limits of an agent in a pipeline: timeout, retries, circuit breaker."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import KW_ONLY
from typing import Annotated

from pydantic import Field

from journeys.definitions.definition import Definition
from journeys.definitions.value_types import AS_GIVEN, AS_WRITTEN, Seconds, at_least

LimitInSeconds = Annotated[Seconds, AS_WRITTEN]


class Limits(Definition):
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

    unwritten = frozenset({"clock"})

    _: KW_ONLY
    timeout: LimitInSeconds | None = None
    retries: Annotated[int, at_least(0)] | None = None
    backoff: LimitInSeconds = 0.5
    breaker_failures: Annotated[int, at_least(1)] | None = None
    breaker_window: LimitInSeconds = 60.0
    breaker_cooldown: LimitInSeconds = 30.0
    clock: Annotated[Callable[[], float], AS_GIVEN] = Field(
        default_factory=lambda: time.monotonic, repr=False
    )

    @classmethod
    def called(cls) -> str:
        """Return what messages call the limits."""
        return "the limits"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Limits) and self.data == other.data

    def __hash__(self) -> int:
        return hash(tuple(self.data.values()))

    @property
    def data(self) -> dict[str, float | None]:
        """The limits as plain data, without the clock."""
        return {name: getattr(self, name) for name in self.keys()}
