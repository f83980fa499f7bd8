r"""Match what authors look for in a message: phrases at the edges of words, regular expressions.

Phrases match whole words in any script: "help" is not in "helpful", yet "c++", "help?" and
"order #" match, because an edge is only asked for where the phrase itself ends in a word
character. Scripts written without spaces have no edges (docs/reference/journeys.md).

Regular expressions are judged when they are declared, and matched in a limited time. They are
written in Python's own syntax and run by the package `regex`, which can be stopped. What the two
read differently is a fault of the definition, with the way to write it.
"""

from __future__ import annotations

import re
import unicodedata
import warnings
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache, lru_cache
from time import thread_time
from typing import Any

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
    if text.isascii():
        return " ".join(text.lower().split())
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
    """Return whether `text[start:end]` consists of whole words. `text` is in normal form."""
    cut_before = start > 0 and _joined(text[start - 1], text[start])
    cut_after = end < len(text) and _joined(text[end - 1], text[end])
    return not (cut_before or cut_after)


def said(pattern: str, text: str) -> bool:
    """Return whether a message contains a pattern as whole words.

    Example:
        >>> from journeygraph.journeys import phrases
        >>> phrases.said("help", "I need HELP!"), phrases.said("help", "That was helpful")
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
        """Return the questions answered by a message, each with the pattern that was found."""
        answered: dict[str, str] = {}
        text = normal(message)
        if not len(self._automaton):
            return answered
        for last, (length, pattern, questions) in self._automaton.iter(text):
            if at_edges(text, last - length + 1, last + 1):
                for question in questions:
                    answered.setdefault(question, pattern)
        return answered


LONGEST_MATCH = 0.05
"""Most seconds that one match may work; longer, it counts as none."""
TOGETHER = 0.1
"""Seconds that all matches of one step of a turn have together."""
LEAST = 0.001
"""Seconds that a match has when those are used up: a hundred times what an honest one takes."""
# Python takes `x{e<=1}` for the text; `regex` would take it for "x with one error at most".
_FUZZY = re.compile(
    r"\{\s*(?:\d+\s*<=?\s*)?(?:\d*\s*[deis])(?:\s*[+,]\s*\d*\s*[deis]|\s*<=?\s*\d+)*\s*(?::[^{}]*)?\}"
)


def pattern_fault(pattern: str) -> str:
    """Return why a text is not a valid pattern; empty if it is one."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            re.compile(pattern)
        except (re.error, OverflowError, RecursionError) as error:
            return str(error)
        except Warning as warning:
            escaped = "\\[, \\-, \\&, \\| or \\~"
            return f"{str(warning).lower()}; for the character itself write {escaped}"
        if found := _FUZZY.search(re.sub(r"\\.", "__", pattern, flags=re.DOTALL)):
            braced = pattern[found.start() : found.end()]
            return f"'{braced}' is fuzzy matching; for the character itself write \\{{"
        try:
            compiled(pattern)
        except Exception as error:  # its own type is there only once it is imported
            return f"{error}; this is not valid for the package regex, which matches patterns"
    return ""


@lru_cache(maxsize=1024)
def compiled(pattern: str) -> Any:
    """Return a pattern ready to be matched; only a `MatchBudget` may run it."""
    import regex  # noqa: PLC0415 - a journey without patterns does not need it

    return regex.compile(pattern, regex.VERSION0)


@dataclass(slots=True, eq=False)
class MatchBudget:
    """Matches the patterns of authors for one step of a turn, which they cannot hold up for long.

    The event loop waits for a match, as it is over in microseconds. One that is not has 50 ms, all
    of them together 100 ms, and each further one 1 ms: so many hostile patterns cost little more
    than one, and what is plain is found all the same. Seconds are processor time, so that a busy
    machine has no effect.

    Attributes:
        late: Names of the fields, one of whose patterns was stopped.
    """

    late: dict[str, None] = field(default_factory=dict)
    _left: float = TOGETHER
    _stopped: set[tuple[str, str]] = field(default_factory=set)

    def search(self, name: str, pattern: str, text: str) -> Any:
        """Return where a pattern of a field matches; None if nowhere, or not in time."""
        return self._matched(name, pattern, text, compiled(pattern).search)

    def fullmatch(self, name: str, pattern: str, text: str) -> Any:
        """Return the match of a pattern of a field with a whole text; None if there is none."""
        return self._matched(name, pattern, text, compiled(pattern).fullmatch)

    def _matched(self, name: str, pattern: str, text: str, match: Any) -> Any:
        if (pattern, text) in self._stopped:
            return None
        began = thread_time()
        try:
            # Held, the lock costs nothing; given up, a busy thread would keep it for 5 ms each.
            return match(text, timeout=min(LONGEST_MATCH, self._left), concurrent=False)
        except TimeoutError:
            self.late[name] = None
            self._stopped.add((pattern, text))
            return None
        finally:
            self._left = max(LEAST, self._left - (thread_time() - began))
