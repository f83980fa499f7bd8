"""How replies are checked before or after they are sent."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from journeys.errors import ConfigurationError, did_you_mean, shown

PII = ("card", "iban", "email", "phone", "national_id")
"""Kinds of personal data that no reply gives away: what `Validation.pii` may name."""
MODES = ("before_send", "after_send")


@dataclass(frozen=True, slots=True, kw_only=True)
class Validation:
    """How the replies of a journey are checked against the guidelines of their turn.

    Personal data and what critical guidelines forbid and require are checked without a model,
    always. Where a model is configured, it judges the reply as well.

    Attributes:
        mode: "before_send" holds a reply back until it is checked; an invalid one is written anew,
            once. "after_send" lets it go out at once, through a filter of personal data; a model
            judges it after the turn, what is found is recorded, and a reply that was wrong is
            corrected in the next one.
        confidence: A reply that is judged invalid with more than this is written anew; with this or
            less it is sent, and recorded.
        timeout_seconds: Longest wait for a check, retries included; then the reply goes out under
            the checks that need no model, and is flagged for review.
        pii: Kinds of personal data that replies are kept clear of.
        allow: Texts that look like personal data, and may be said: a hotline, an office's address.

    Raises:
        ConfigurationError: A value is unknown or out of range.

    Source: flow control, response validator; readings in docs/flow-control.md.
    """

    mode: str = "before_send"
    confidence: float = 0.8
    timeout_seconds: float = 10.0
    pii: Sequence[str] = PII
    allow: Sequence[str] = ()

    def __post_init__(self) -> None:
        _one_of("mode", self.mode, MODES)
        for name in ("pii", "allow"):
            value = getattr(self, name)
            if isinstance(value, str) or not all(isinstance(item, str) for item in value):
                raise ConfigurationError(
                    f"Validation: {name} is {shown(value)}; it must be a list of text."
                )
            object.__setattr__(self, name, tuple(value))
        for kind in self.pii:
            _one_of("pii", kind, PII)
        for name, most in (("confidence", 1.0), ("timeout_seconds", math.inf)):
            number = getattr(self, name)
            is_number = isinstance(number, (int, float)) and not isinstance(number, bool)
            if not is_number or not 0 <= number <= most:
                raise ConfigurationError(
                    f"Validation: {name} is {shown(number)}; it must be from 0 to {most:g}."
                )


def _one_of(name: str, value: object, known: Sequence[str]) -> None:
    if value not in known:
        hint = did_you_mean(str(value), known)
        raise ConfigurationError(
            f"Validation: {name} is {shown(value)}.{hint} One of: {', '.join(known)}."
        )
