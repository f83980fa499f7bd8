"""Text as it is read: look-alike digits become digits, and invisible characters are dropped.

A card number in full-width digits, with zero-width characters or unbreakable spaces between them,
is a card number. Each character folds by itself, so a stream can be folded as it comes.
"""

from __future__ import annotations

import unicodedata
from functools import lru_cache

_UNSEEN = frozenset(("Cf", "Cc", "Mn", "Me", "Cs", "Co", "Cn"))
_BLANK = frozenset("\u115f\u1160\u3164\uffa0\u2800\u034f")  # letters and signs without ink
UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u31f0-\u31ff\u3400-\u9fff"
    "\uf900-\ufaff\U00020000-\U000323af"
)
"""Characters of scripts without spaces, for a class in a pattern: each is a word's end."""
_SAME = {"\u2212": "-", "\u2044": "/", "\u2215": "/", "\u00b7": ".", "\u2022": ".", "\u2219": "."}


@lru_cache(maxsize=4096)
def folded(char: str) -> str:
    """Return what a character is read as: one character, or nothing if it is not seen."""
    if char.isascii():
        return " " if char.isspace() else char if char.isprintable() else ""
    if char.isspace():
        return " "
    if char in _BLANK:
        return ""
    digit = unicodedata.digit(char, None)
    return str(digit) if digit is not None else _of_category(char)


def _of_category(char: str) -> str:
    category = unicodedata.category(char)
    if category in _UNSEEN:
        return ""
    if category == "Pd":
        return "-"
    plain = unicodedata.normalize("NFKC", _SAME.get(char, char))
    return plain if len(plain) == 1 else char


def as_read(text: str) -> str:
    """Return a text as it is read.

    Example:
        >>> as_read("4\u200b111\u00a01111")
        '4111 1111'
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(map(folded, text))
