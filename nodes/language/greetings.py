"""Words that only greet: they answer nothing, and are no attempt at an answer."""

from __future__ import annotations

import re
from functools import cache

from journeys.locale import LANGUAGES
from nodes.language.languages import sayings_of
from nodes.matching.words import plain

_LONGEST = 60
_WORD = re.compile(r"\w+")


def is_greeting(message: str) -> bool:
    """Say whether a message does nothing but greet, in any language.

    >>> is_greeting("Hi there!"), is_greeting("Hi, a table for four"), is_greeting("¡Buenos días!")
    (True, False, True)
    """
    if len(message) > _LONGEST or "?" in message:
        return False
    return _greeting().fullmatch(" ".join(_WORD.findall(plain(message)))) is not None


@cache
def _greeting() -> re.Pattern[str]:
    spoken = [sayings_of(language) for language in LANGUAGES]
    hello, whom = (
        "|".join(line for each in spoken for line in each.lines(name))
        for name in ("greeting", "greeted")
    )
    return re.compile(rf"(?:{hello})(?: (?:{hello}|{whom}))*")
