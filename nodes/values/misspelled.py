"""Names of months and days with a slip of the hand in them."""

from __future__ import annotations

import re
from functools import cache

from rapidfuzz.distance import OSA

from nodes.values.calendars import MONTHS, WEEKDAYS

_WORD = re.compile(r"[^\W\d_]{5,12}")
_SHORT, _LONG = 5, 8


def respelled(text: str) -> str:
    """Return a text with what is nearly the name of a month or day as that name.

    A name of eight letters and more may differ in two places, a shorter one in one.
    """
    return _WORD.sub(lambda found: _nearest(found[0].casefold()) or found[0], text)


def _nearest(word: str) -> str:
    near = [
        name
        for name in _names()
        if name[0] == word[0]
        and word != f"{name}s"
        and OSA.distance(name, word, score_cutoff=2) <= 1 + (len(name) >= _LONG)
    ]
    return near[0] if len(near) == 1 else ""


@cache
def _names() -> tuple[str, ...]:
    names = (*MONTHS, *WEEKDAYS, "tomorrow", "yesterday", "übermorgen")
    return tuple(name for name in names if len(name) >= _SHORT)
