"""When a phrase counts as said: normal form and word edges.

Patterns match whole words in any script: "help" is not in "helpful", yet "c++", "help?" and
"order #" match, because an edge is only asked for where the pattern itself ends in a word
character. Scripts written without spaces have no edges (DESIGN.md section 4, row Patterns).
"""

from __future__ import annotations

import unicodedata

# Blocks of scripts that put no space between words: Thai to Lao, Myanmar, Khmer, kana, Han.
_UNSPACED = (
    (0x0E00, 0x0EFF),
    (0x1000, 0x109F),
    (0x1780, 0x17FF),
    (0x3040, 0x30FF),
    (0x31F0, 0x31FF),
    (0x3400, 0x4DBF),
    (0x4E00, 0x9FFF),
    (0xF900, 0xFAFF),
    (0xFF66, 0xFF9F),
    (0x20000, 0x323AF),
)
# What phones and word processors put for the apostrophe that authors type.
_APOSTROPHES = str.maketrans({"\u2019": "'", "\u2018": "'", "\u02bc": "'", "\uff07": "'"})


def normal(text: str) -> str:
    r"""Return the form in which patterns and messages are compared.

    Unicode NFC, case folded, runs of white space as one space, one kind of apostrophe.

    Example:
        >>> normal("  What\u2019s   the COPAY ")
        "what's the copay"
    """
    folded = unicodedata.normalize("NFC", text.translate(_APOSTROPHES)).casefold()
    return " ".join(unicodedata.normalize("NFC", folded).split())


def _in_word(char: str) -> bool:
    if not (char.isalnum() or char == "_" or unicodedata.category(char)[0] == "M"):
        return False
    point = ord(char)
    return not any(first <= point <= last for first, last in _UNSPACED)


def at_edges(text: str, start: int, end: int) -> bool:
    """Say whether `text[start:end]` stands there as whole words. `text` is in normal form."""
    cut_before = start > 0 and _in_word(text[start]) and _in_word(text[start - 1])
    cut_after = end < len(text) and _in_word(text[end - 1]) and _in_word(text[end])
    return not (cut_before or cut_after)


def said(pattern: str, text: str) -> bool:
    """Say whether a message contains a pattern as whole words.

    Example:
        >>> said("help", "I need HELP!"), said("help", "That was helpful")
        (True, False)
    """
    pattern, text = normal(pattern), normal(text)
    start = text.find(pattern) if pattern else -1
    while start >= 0:
        if at_edges(text, start, start + len(pattern)):
            return True
        start = text.find(pattern, start + 1)
    return False
