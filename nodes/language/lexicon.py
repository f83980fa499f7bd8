"""The closed lists of a language: the words of the grammar, from its data file."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Literal, get_args

from journeygraph.nodes.language.words import Words, words_of
from journeygraph.nodes.values import language_data, make_ready

Name = Literal[
    "courtesy", "yes", "agree", "no", "decline",
    "cancel", "cancel_all", "cancel_task", "skip", "unknown", "restart", "back", "status",
    "repeat", "explain", "explain_label", "human", "person", "wait",
    "cue", "cue_behind", "change", "to", "is", "not", "but", "instead_of", "articles",
    "and", "or", "then", "question", "denied_before", "denied_behind", "small",
]  # fmt: skip
"""Names of the lists; each language has all of them."""


class Lexicon:
    """The lists of a language, ready to be compared with words.

    Args:
        lists: Name -> phrases with commas between them.
    """

    def __init__(self, lists: Mapping[str, str]) -> None:
        self.phrases: dict[str, tuple[tuple[str, ...], ...]] = {}
        self._by_first: dict[str, dict[str, list[tuple[str, ...]]]] = {}
        for name in get_args(Name):
            said = [words_of(phrase).folded for phrase in lists[name].split(",")]
            self.phrases[name] = tuple(sorted({*said}, key=len, reverse=True))
            by_first: dict[str, list[tuple[str, ...]]] = {}
            for phrase in self.phrases[name]:
                by_first.setdefault(phrase[0], []).append(phrase)
            self._by_first[name] = by_first
        self.first_words = {name: frozenset(known) for name, known in self._by_first.items()}
        self.small = frozenset(phrase[0] for phrase in self.phrases["small"])

    def at(self, words: Words, place: int, name: Name) -> Iterator[int]:
        """Yield where the phrases of a list end that begin at a place, the longest first."""
        if place >= len(words.all):
            return
        for phrase in self._by_first[name].get(words.all[place].folded, ()):
            if len(phrase) == 1 or words.folded[place : place + len(phrase)] == phrase:
                yield place + len(phrase)

    def says(self, words: Words, *names: Name) -> bool:
        """Return whether words are as a whole a phrase of one of some lists."""
        return any(words.folded in self.phrases[name] for name in names)

    def begins(self, words: Words, *names: Name) -> bool:
        """Return whether words begin with a phrase of one of some lists."""
        return any(next(self.at(words, 0, name), None) is not None for name in names)

    def place_of(self, words: Words, name: Name) -> tuple[int, int] | None:
        """Return the first and longest phrase of a list in words, by its first and last place."""
        for place in range(len(words)):
            if (end := next(self.at(words, place, name), None)) is not None:
                return place, end
        return None

    def has(self, words: Words, name: Name) -> bool:
        """Return whether words contain a phrase of a list."""
        return self.place_of(words, name) is not None


def load(language: str) -> None:
    """Read the data of a language, which takes up to a second; else the first message waits."""
    lexicon_of(language)
    make_ready(language)
    _LOADED.add(language)


_LOADED: set[str] = set()


async def ready_to_read(language: str) -> None:
    """Load a language in a thread, so that the event loop does not wait."""
    if language not in _LOADED:
        await asyncio.to_thread(load, language)


@cache
def lexicon_of(language: str) -> Lexicon:
    """Return the lists of a language; of one that is not known, those of English.

    Raises:
        ConfigurationError: The file has faults; each is named with its entry and the way out.
    """
    return Lexicon(language_data(language).grammar)


def weight(words: Words, language: str) -> Sequence[str]:
    """Return the parts of words with weight: without courtesy and small words at their ends."""
    lexicon, parts = lexicon_of(language), []
    for clause in words.clauses():
        light = [n for n, word in enumerate(clause.all) if word.folded in lexicon.small]
        heavy = [
            n for n in range(len(clause)) if n not in light and not _is_courtesy(lexicon, clause, n)
        ]
        if heavy:
            parts.append(clause.part(heavy[0], heavy[-1] + 1).raw)
    return parts


def _is_courtesy(lexicon: Lexicon, clause: Words, place: int) -> bool:
    spans = ((n, end) for n in range(place + 1) for end in lexicon.at(clause, n, "courtesy"))
    return any(first <= place < end for first, end in spans)
