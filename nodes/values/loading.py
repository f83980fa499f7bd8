"""What the fields of a journey need, imported before the first message would wait for it."""

from __future__ import annotations

from collections.abc import Iterable

from journeys.fields import Field
from nodes.values import other_dates
from nodes.values.bounds import kind_of

_DATED = ("date", "datetime")


def load(fields: Iterable[Field]) -> None:
    """Import the libraries that values of these fields are read with; takes up to half a second."""
    kinds = {kind_of(field) for field in fields}
    if kinds.intersection(_DATED):
        other_dates.load()
    if "phone" in kinds:
        import phonenumbers  # noqa: F401, PLC0415 - 60 ms
    if "email" in kinds:
        import email_validator  # noqa: F401, PLC0415 - 37 ms
