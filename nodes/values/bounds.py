"""What a range allows: of several readings of a value, the first that it allows is meant."""

from __future__ import annotations

from datetime import date, datetime, time
from decimal import Decimal
from typing import Any

from journeys.fields import Field
from journeys.validators import Range
from nodes.values.setting import Setting

DATED = ("date", "time", "datetime")
"""Types of values that say when."""


def ranges_of(field: Field) -> list[Range]:
    """Return the ranges that a field's values must lie in."""
    return [one for one in field.validators if isinstance(one, Range)]


def bound_of(bound: float | str | None, kind: str, setting: Setting) -> Any:
    """Return one end of a range as what it is compared with.

    Args:
        bound: A number, ISO text, "today" or "now"; None for no bound.
        kind: Type of the field.
        setting: When it is asked.

    Raises:
        ValueError: It is nothing that values of the type are compared with.
    """
    if bound is None:
        return None
    if kind not in DATED:
        if isinstance(bound, str):
            raise ValueError(f"{bound!r} bounds no {kind}")
        return Decimal(str(bound))
    if not isinstance(bound, str):
        raise ValueError(f"{bound!r} bounds no {kind}")
    now = setting.at.replace(tzinfo=None, second=0, microsecond=0)
    if kind == "time":
        return now.time() if bound in ("now", "today") else time.fromisoformat(bound)
    said = {"now": now, "today": now.date()}.get(bound) or _moment(bound)
    if kind == "date" and isinstance(said, datetime):
        return said.date()
    return said


def _moment(text: str) -> date | datetime:
    return (
        date.fromisoformat(text) if len(text) == len("2026-11-22") else datetime.fromisoformat(text)
    )


def measure_of(value: Any, kind: str) -> Any:
    """Return a value as what ranges compare.

    Raises:
        ValueError, TypeError, KeyError: It is no value of the type.
    """
    if kind == "money":
        return Decimal(value["amount"])
    if kind == "date":
        return date.fromisoformat(value)
    if kind == "time":
        return time.fromisoformat(value)
    if kind == "datetime":
        return datetime.fromisoformat(value)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(f"{kind} is not compared with a range")
    return Decimal(str(value))


def lies_in(value: Any, one: Range, kind: str, setting: Setting) -> bool:
    """Say whether a value lies in a range. One of times may go over midnight.

    Raises:
        ValueError, TypeError, KeyError: The two cannot be compared.
    """
    measure, least = measure_of(value, kind), bound_of(one.least, kind, setting)
    most = bound_of(one.most, kind, setting)
    if isinstance(measure, datetime):  # a moment, as a day where only a day bounds it
        day = measure.date()
        above = least is None or (measure if isinstance(least, datetime) else day) >= least
        below = most is None or (measure if isinstance(most, datetime) else day) <= most
    else:
        above, below = least is None or measure >= least, most is None or measure <= most
    if kind == "time" and least is not None and most is not None and least > most:
        return bool(above or below)
    return bool(above and below)


def fits(value: Any, field: Field, setting: Setting) -> bool:
    """Say whether a value lies in all ranges of a field, as far as it can be compared."""
    kind = field.items if field.type == "list" else field.type
    try:
        for one in field.validators:
            if isinstance(one, Range) and not lies_in(value, one, kind, setting):
                return False
    except (ValueError, TypeError, KeyError, ArithmeticError):
        pass
    return True


def kind_of(field: Field) -> str:
    """Return the type of single values of a field."""
    return field.items if field.type == "list" else field.type


def wants_past(field: Field, setting: Setting) -> bool:
    """Say whether a field takes no day after today."""
    for one in field.validators:
        try:
            most = bound_of(one.most, "datetime", setting) if isinstance(one, Range) else None
        except ValueError:
            continue
        day = most.date() if isinstance(most, datetime) else most
        if day is not None and day <= setting.at.date():
            return True
    return False
