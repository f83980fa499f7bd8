"""Resolve scalars by the core schema of YAML 1.2, and by JSON."""

from __future__ import annotations

import math
import re
from typing import Any

from journeys.files.documents.places import Wrong

_LONGEST_NUMBER = 40
_WORDS = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_WHOLE = re.compile(r"[-+]?[0-9]+")
_BASED = re.compile(r"0o[0-7]+|0x[0-9a-fA-F]+")
_FRACTION = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_NO_NUMBER = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")
_UNFIT = re.compile("[\x00\ud800-\udfff]")


def plain_value(raw: str) -> tuple[Any, Wrong | None]:
    """Return the value of a word without quotes, and what is wrong with it.

    Source: YAML 1.2.2, section 10.3.2. `no`, `12:30` and `2026-01-01` are text there, and `010`
    is ten.
    """
    if raw in _WORDS:
        return _WORDS[raw], None
    if _WHOLE.fullmatch(raw):
        return decimal(raw, whole=True)
    if _BASED.fullmatch(raw):
        return (None, _LONG) if len(raw) > _LONGEST_NUMBER else (int(raw, 0), None)
    if _FRACTION.fullmatch(raw):
        return decimal(raw, whole=False)
    if _NO_NUMBER.fullmatch(raw):
        return None, (f"JSON has no number {raw}.", _QUOTE)
    return raw, text_fault(raw)


_QUOTE = "If it is text, quote it."
_LONG = (f"a number can have at most {_LONGEST_NUMBER} digits.", _QUOTE)


def decimal(raw: str, *, whole: bool) -> tuple[Any, Wrong | None]:
    """Return a decimal number, and what is wrong with it."""
    if len(raw) > _LONGEST_NUMBER:
        return None, _LONG
    if whole:
        return int(raw), None
    number = float(raw)
    return (number, None) if math.isfinite(number) else (None, (f"{raw} is too large.", _QUOTE))


def text_fault(text: str) -> Wrong | None:
    """Return what is wrong with a text that no store can keep."""
    if _UNFIT.search(text):
        return "the text contains NUL or half of a character.", "Remove it."
    return None
