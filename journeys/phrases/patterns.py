"""Match phrases in a message: normal form, letters without marks, and word edges.

Patterns match whole words in any script: "help" is not in "helpful", yet "c++", "help?" and
"order #" match, because an edge is only asked for where the pattern itself ends in a word
character. Scripts written without spaces have no edges (docs/journeys.md).
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from functools import cache

import ahocorasick

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
# What phones and word processors put for the apostrophe that authors type; and the invisible
# marks that choose between the black-and-white and the coloured form of one emoji.
_SAME = str.maketrans(
    {"\u2019": "'", "\u2018": "'", "\u02bc": "'", "\uff07": "'", "\ufe0e": None, "\ufe0f": None}
)


def normal(text: str) -> str:
    r"""Return the form in which patterns and messages are compared.

    Unicode NFC, case folded, runs of white space as one space, one kind of apostrophe, no
    variation selectors.

    Example:
        >>> normal("  What\u2019s   the COPAY ")
        "what's the copay"
    """
    folded = unicodedata.normalize("NFC", text.translate(_SAME)).casefold()
    return " ".join(unicodedata.normalize("NFC", folded).split())


def plain(text: str) -> str:
    """Return a text case folded and without marks, so that a missing accent makes no other word."""
    if text.isascii():
        return text.lower()
    spread = unicodedata.normalize("NFKD", text.casefold())
    return unicodedata.normalize("NFC", spread.translate(_marks()))


@cache
def _marks() -> dict[int, None]:
    """Return what takes all marks out of a text; once, since asking for each sign is slow."""
    points = (*range(0x0300, 0x1F000), *range(0xE0100, 0xE01F0))  # there are none elsewhere
    return {point: None for point in points if unicodedata.category(chr(point)).startswith("M")}


def _joined(char: str, following: str) -> bool:
    """Say whether two characters that stand side by side belong to one word."""
    if _is_mark(following):  # one with its letter in any script: a tone makes another word of it
        return char.isalpha() or _is_mark(char) or _in_word(char)
    return _in_word(char) and _in_word(following)


def _is_mark(char: str) -> bool:
    return unicodedata.category(char)[0] == "M"


def _in_word(char: str) -> bool:
    if not (char.isalnum() or char == "_" or _is_mark(char)):
        return False
    point = ord(char)
    return not any(first <= point <= last for first, last in _UNSPACED)


def at_edges(text: str, start: int, end: int) -> bool:
    """Say whether `text[start:end]` stands there as whole words. `text` is in normal form."""
    cut_before = start > 0 and _joined(text[start - 1], text[start])
    cut_after = end < len(text) and _joined(text[end - 1], text[end])
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


class Matcher:
    """Finds which questions a message answers by a pattern.

    Args:
        patterns: Pairs of a pattern and the id of the question that it answers.
    """

    def __init__(self, patterns: Iterable[tuple[str, str]]) -> None:
        found: dict[str, tuple[str, list[str]]] = {}
        for pattern, question in patterns:
            found.setdefault(normal(pattern), (pattern, []))[1].append(question)
        self._automaton = ahocorasick.Automaton()
        for word, (pattern, questions) in found.items():
            self._automaton.add_word(word, (len(word), pattern, questions))
        if found:
            self._automaton.make_automaton()

    def match(self, message: str) -> dict[str, str]:
        """Return the questions answered by a message, each with the pattern that was said."""
        answered: dict[str, str] = {}
        text = normal(message)
        if not len(self._automaton):
            return answered
        for last, (length, pattern, questions) in self._automaton.iter(text):
            if at_edges(text, last - length + 1, last + 1):
                for question in questions:
                    answered.setdefault(question, pattern)
        return answered
