"""True if a text that was worded anew still says what it said: found by code, and never sure of it.

What is in doubt counts as changed: then the text is said as it was.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

_FIGURES = re.compile(r"\w*\d(?:[\w.,:/+-]*\w)?")
_ADDRESSES = re.compile(r"\S*(?:@|://|www\.)\S*")
_QUOTED = re.compile(r'"[^"\n]+"|“[^”\n]+”|„[^“”\n]+[“”]|«[^»\n]+»')
_LISTED = re.compile(r"^\s*(?:[-*•]|\d+[.)])\s+\S.*$", re.MULTILINE)
_QUESTIONS = re.compile(r"\?")
_DENIED = re.compile(
    r"n't\b|\b(?:not?|never|nobody|none|nothing|cannot|without|nicht|nichts|nie|niemand|nein|ohne"
    r"|kein\w*)\b",
    re.IGNORECASE,
)
MOST_LONGER = 200
"""Characters by which a text may grow, besides half of its length."""


def changed(before: str, after: str, names: Iterable[str] = ()) -> str:
    """Return what of a text is lost or new after it was worded anew, in a word; empty if nothing.

    Args:
        before: The text.
        after: The same in other words.
        names: What must be said as it is, where it is said: values, options, what things are
            called.
    """
    if not after.strip():
        return "silent"
    if len(after) > len(before) * 1.5 + MOST_LONGER:
        return "length"
    for what, pattern in (
        ("figures", _FIGURES),
        ("addresses", _ADDRESSES),
        ("quotes", _QUOTED),
        ("lists", _LISTED),
        ("questions", _QUESTIONS),
    ):
        if Counter(_found(pattern, before)) != Counter(_found(pattern, after)):
            return what
    if bool(_DENIED.search(before)) != bool(_DENIED.search(after)):
        return "denial"
    lost = [name for name in names if says(before, name) and not says(after, name)]
    return "names" if lost else ""


def _found(pattern: re.Pattern[str], text: str) -> list[str]:
    return [" ".join(said.split()).rstrip(".,;!?") for said in pattern.findall(text)]


def says(text: str, name: str) -> bool:
    """Return whether a name stands in a text as whole words, in any case."""
    pattern = rf"(?<!\w){re.escape(name.strip().casefold())}(?!\w)"
    return bool(name.strip()) and re.search(pattern, text.casefold()) is not None
