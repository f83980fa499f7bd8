"""When a conversation is handed to a person, and what happens if nobody takes it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from journeys.errors import ConfigurationError, shown
from journeys.validators import is_number, is_whole


@dataclass(frozen=True, slots=True, kw_only=True)
class Escalation:
    """The policies of a journey: each that is true of a turn hands the conversation to a person.

    Attributes:
        on_request: The user asks for a person.
        when_collected: All fields of the journey's live branches are collected.
        attempts_exhausted: A field's `max_attempts` values in a row were not taken. False: a person
            is only offered.
        failures: So many turns in a row failed or were not understood; None: never.
        keywords: Words of the user that are enough, whole words in any case.
        sentiment: What a model is asked about the user's message, in words ("the user is angry").
        when: Called with a copy of the context after each turn.
        after_seconds: The conversation has lasted that long; None: never.
        unclaimed_seconds: After that, nobody having taken it, the assistant offers to go on.

    Raises:
        ConfigurationError: A value is out of range.

    Source: collecting agent, escalation policies.
    """

    on_request: bool = True
    when_collected: bool = False
    attempts_exhausted: bool = True
    failures: int | None = None
    keywords: Sequence[str] = ()
    sentiment: str = ""
    when: Callable[[Mapping[str, Any]], Any] | None = None
    after_seconds: float | None = None
    unclaimed_seconds: float = 600.0

    def __post_init__(self) -> None:
        for name in ("on_request", "when_collected", "attempts_exhausted"):
            if not isinstance(getattr(self, name), bool):
                self._fault(name, "True or False")
        if self.failures is not None and not (is_whole(self.failures) and self.failures > 0):
            self._fault("failures", "a whole number from 1")
        self._check_words()
        for name in ("after_seconds", "unclaimed_seconds"):
            value = getattr(self, name)
            may_be_none = name == "after_seconds" and value is None
            if not may_be_none and not (is_number(value) and 0 < value < math.inf):
                self._fault(name, "a number of seconds above 0")

    def _check_words(self) -> None:
        listed = isinstance(self.keywords, Sequence) and not isinstance(self.keywords, str)
        if not listed or not all(isinstance(w, str) and w.strip() for w in self.keywords):
            self._fault("keywords", "a list of words")
        object.__setattr__(self, "keywords", tuple(self.keywords))
        if not isinstance(self.sentiment, str):
            self._fault("sentiment", "text")
        if self.when is not None and not callable(self.when):
            self._fault("when", "a function of the context")

    def _fault(self, name: str, wanted: str) -> None:
        raise ConfigurationError(
            f"Escalation: {name} is {shown(getattr(self, name))}; it must be {wanted}."
        )
