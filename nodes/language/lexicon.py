"""The closed lists of a language: the words of the grammar, from its data file."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import get_args

from journeygraph.nodes.language.words import Words, words_of
from journeygraph.nodes.values.languages import ListName, language_data


class Lexicon:
    """The lists of a language, ready to be compared with words."""

    def __init__(self, lists: Mapping[str, Sequence[str]]) -> None:
        self.phrases: dict[str, set[tuple[str, ...]]] = {}
        self._named: dict[tuple[str, ...], set[str]] = {}
        self._by_first: dict[tuple[str, str], list[tuple[str, ...]]] = {}
        self._lists: dict[str, set[str]] = {}
        for name in get_args(ListName):
            said = {words_of(phrase).folded for phrase in lists[name]}
            self.phrases[name] = said.difference([()])
            for phrase in sorted(self.phrases[name], key=len, reverse=True):
                self._named.setdefault(phrase, set()).add(name)
                self._by_first.setdefault((name, phrase[0]), []).append(phrase)
                self._lists.setdefault(phrase[0], set()).add(name)
        self.small = frozenset(phrase[0] for phrase in self.phrases["small"])

    def lists_in(self, words: Words) -> set[str]:
        """Return the names of the lists of which words have the first word of a phrase."""
        return set().union(*filter(None, map(self._lists.get, words.folded)))

    def at(self, words: Words, place: int, name: ListName) -> list[int]:
        """Return where the phrases of a list end that begin at a place, the longest first."""
        said = words.folded[place:]
        phrases = self._by_first.get((name, said[0])) if said else None
        return [place + len(one) for one in phrases if said[: len(one)] == one] if phrases else []

    def says(self, words: Words, *names: ListName) -> bool:
        """Return whether words are as a whole a phrase of one of some lists."""
        return not self._named.get(words.folded, set()).isdisjoint(names)

    def begins(self, words: Words, *names: ListName) -> bool:
        """Return whether words begin with a phrase of one of some lists."""
        return any(self.at(words, 0, name) for name in names)

    def has(self, words: Words, name: ListName) -> bool:
        """Return whether words contain a phrase of a list."""
        places = range(len(words.all)) if name in self.lists_in(words) else ()
        return any(self.at(words, place, name) for place in places)


_LOADED: set[str] = set()


async def lexicon_ready(language: str) -> None:
    """Load the lists of a language in a thread, so that the event loop does not wait."""
    if language not in _LOADED:
        await asyncio.to_thread(lexicon_of, language)
        _LOADED.add(language)


@cache
def lexicon_of(language: str) -> Lexicon:
    """Return the lists of a language; of one that is not known, those of English.

    Raises:
        ConfigurationError: The file has faults; each is named with its entry and the way out.
    """
    return Lexicon(language_data(language).grammar)


def has_common_word(one: str, other: str, language: str) -> bool:
    """Return whether two texts have a word in common that is not a small one."""
    common = {*words_of(one).folded} & {*words_of(other).folded}
    return not common <= lexicon_of(language).small


def is_negative(message: str, language: str) -> bool:
    """Return whether a message says that something is not wanted."""
    return lexicon_of(language).has(words_of(message), "denied_before")


def weight(words: Words, language: str) -> Sequence[str]:
    """Return the parts of words with weight: without courtesy and small words at their ends."""
    lexicon, parts = lexicon_of(language), []
    for clause in words.clauses():
        places = range(len(clause))
        spans = [range(n, end) for n in places for end in lexicon.at(clause, n, "courtesy")]
        light = {n for n in places if clause.folded[n] in lexicon.small}.union(*spans)
        if heavy := [n for n in places if n not in light]:
            parts.append(clause.part(heavy[0], heavy[-1] + 1).raw)
    return parts


def refused_in(message: str, patterns: Iterable[tuple[str, str]], language: str) -> set[str]:
    """Return the questions that no clause of a message answers but one that denies or cancels.

    Of each pattern that matched, the id of the question that it answers is given too.
    """
    lexicon, clauses = lexicon_of(language), [*words_of(message).clauses()]
    refused: set[str] = set()
    meant: set[str] = set()
    for pattern, question in patterns:
        for clause in clauses:
            if place := clause.find(pattern):
                before, behind = clause.part(0, place[0]), clause.part(place[1])
                is_denied = lexicon.has(before, "denied_before")
                is_denied = is_denied or lexicon.has(behind, "denied_behind")
                (refused if is_denied else meant).add(question)
    return refused - meant
