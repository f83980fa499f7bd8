"""Messages that say nothing: signs without words, and mashed keys."""

from __future__ import annotations

import re

from nodes.commands import Confirm, Deny, Noise
from nodes.language.expected import YES_OR_NO, Expected, Parse
from nodes.language.reading import Reading

_YES = frozenset("\U0001f44d\U0001f44c\u2705\u2714\U0001f197\U0001f64f")
_NO = frozenset("\U0001f44e\u274c\u2716\U0001f645")
_ROWS = ("qwertyuiop", "asdfghjkl", "zxcvbnm", "qwertzuiop", "yxcvbnm")
_LEAST_RUN = 3
_LEAST_MASH = 4
_MOST = 3
_DRAWN_OUT = re.compile(r"([a-z]{1,3})\1{3,}")
_REAL = frozenset(("wert", "were", "pop", "uio"))


def noise(reading: Reading, expected: Expected) -> Parse | None:
    """Hear a thumb as an answer, and other signs or mashed keys as nothing said."""
    text = reading.text
    if any(sign.isalnum() for sign in text):
        mashed = 0 < len(reading.tokens) <= _MOST and _is_mashed("".join(reading.raw.split()))
        return Parse([Noise()], certain=True, whole=True) if mashed else None
    yes, no = bool(_YES.intersection(text)), bool(_NO.intersection(text))
    if yes is not no and expected.kind in YES_OR_NO:
        return Parse([Confirm() if yes else Deny()], certain=True, whole=True)
    return Parse([Noise()], certain=True, whole=True)


def _is_mashed(word: str) -> bool:
    """Whether keys were hit one beside the other; capitals may be a code."""
    if len(word) < _LEAST_MASH or not word.islower() or word in _REAL:
        return False
    if _DRAWN_OUT.fullmatch(word):
        return True
    place = 0
    while place < len(word):
        run = _run(word[place:])
        if run < _LEAST_RUN:
            return False
        place += run
    return True


def _run(word: str) -> int:
    """Return how many letters at the beginning stand side by side on a keyboard."""
    longest = 0
    for row in (*_ROWS, *(row[::-1] for row in _ROWS)):
        length = 1
        while length < len(word) and word[: length + 1] in row:
            length += 1
        longest = max(longest, length)
    return longest
