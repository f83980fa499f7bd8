"""Validation: checks of replies before or after they are sent."""

from dataclasses import KW_ONLY
from typing import Annotated

from pydantic import Field, FiniteFloat

from journeys.definitions.definition import Definition
from journeys.definitions.value_types import Listed, OneOf, Phrase, Share

PII = ("card", "iban", "email", "phone", "national_id")
"""Kinds of personal data that no reply gives away: what `Validation.pii` may name."""
MODES = ("before_send", "after_send")


class Validation(Definition):
    """Check of a journey's replies against the guidelines of their turn.

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

    _: KW_ONLY
    mode: Annotated[str, OneOf(MODES)] = "before_send"
    confidence: Share = 0.8
    timeout_seconds: Annotated[FiniteFloat, Field(ge=0)] = 10.0
    pii: Listed[Annotated[str, OneOf(PII)]] = PII
    allow: Listed[Phrase] = ()
