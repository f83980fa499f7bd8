"""Bounds of values as files write them, which have to be of the kind of the value."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime, time
from typing import Any

from journeys.validators import is_number

_NUMBERS = ("integer", "number", "money")
_ISO: dict[str, tuple[Callable[[str], Any], str, str]] = {
    "date": (date.fromisoformat, "today", "a date such as 2026-11-21, or today"),
    "time": (time.fromisoformat, "now", "a time such as 19:00, or now"),
    "datetime": (datetime.fromisoformat, "now", "such as 2026-11-21T19:00, or now"),
}


def bound_fault(kind: str, bound: Any) -> str:
    """Return what a bound of values of a type must be and is not; empty if it is.

    Args:
        kind: The field's type.
        bound: The smallest or largest value that is taken.
    """
    if kind in _NUMBERS:
        return "" if is_number(bound) else "it must be a number."
    if kind not in _ISO:
        return f"values of type {kind} have no order. Write length or regex, or take it away."
    read, word, wanted = _ISO[kind]
    return "" if bound == word or _is_read(read, bound) else f"it must be {wanted}, in quotes."


def _is_read(read: Callable[[str], Any], bound: Any) -> bool:
    try:
        read(bound)
    except (TypeError, ValueError):
        return False
    return True
