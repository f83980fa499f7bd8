"""The terms of an index: how rare each is, and which of them a text says or nearly says.

Guidelines, cards and passages are found by the same vocabulary. The cost of a text grows with the
text only. Words that stand for each other are data: `data/synonyms.yaml`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import cache
from itertools import islice
from math import log

import ahocorasick
from rapidfuzz.distance import OSA

from journeys.languages.data import read_data
from nodes.guidelines.words import (
    DATA,
    LOOSE,
    Word,
    readings,
    root_of,
    row_of,
    searched,
    spellings,
    terms_of,
    words_in,
)

SURE, TYPO, ROOT, PART, SYNONYM, FIELD = 100, 70, 60, 50, 50, 30
"""Certainty of a term in percent: the exact word, a typing error, the same root, the same
beginning, a synonym, a related word.
"""
LEAST_LETTERS = 4
LEAST_PART = 6
"""Letters from which on a word begins compounds: Rechnung is in Rechnungsnummer."""
MOST_WORDS = 200
"""Most different words of a message that are compared with terms that they only resemble."""
RARITY = 1000
"""By what the logarithm of a term's rarity is multiplied: whole numbers add up exactly."""


class Vocabulary:
    """The terms of an index, and what else may stand for them.

    Args:
        counts: The terms, as `terms_of` and `parts_of` give them, with how many entries have each.
        entries: How many entries the index has.
        words: The words that the entries are written with, each with its term.

    Attributes:
        rarity: How much each term counts.
    """

    def __init__(
        self, counts: Mapping[str, int], entries: int, words: Iterable[tuple[str, Word]]
    ) -> None:
        self.rarity = {term: round(RARITY * log(1 + entries / n)) for term, n in counts.items()}
        means: dict[str, dict[str, int]] = {term: {term: SURE} for term in counts}
        for said, term, sure in _related(counts):
            means.setdefault(said, {}).setdefault(term, sure)
        self._meanings = [tuple(meaning.items()) for meaning in means.values()]
        self._automaton = ahocorasick.Automaton(ahocorasick.STORE_INTS)
        for number, phrase in enumerate(means):
            self._automaton.add_word(phrase, number)
        if means:
            self._automaton.make_automaton()
        self._roots: dict[str, list[str]] = defaultdict(list)
        self._forms: dict[str, list[str]] = defaultdict(list)
        self._spelled: dict[str, set[tuple[str, str]]] = defaultdict(set)
        self._learn(words)

    def _learn(self, words: Iterable[tuple[str, Word]]) -> None:
        for term, word in dict.fromkeys(words):
            if word.sign or len(word.form) < LEAST_LETTERS:
                continue
            if term not in self._roots[root_of(word.form)]:
                self._roots[root_of(word.form)].append(term)
                self._forms[word.form].append(term)
            for spelling in {*spellings(word.plain), word.form}:
                for short in _shortened(spelling):
                    self._spelled[short].add((spelling, term))

    def heard(self, message: str, fits: Callable[[str], bool] | None = None) -> dict[str, int]:
        """Return the terms that a message says, each with how sure it is that it is meant.

        Args:
            message: The message.
            fits: Says whether a term matters. Words that are no such term are compared with those
                that they resemble; without it none are.
        """
        read = readings(message)
        heard: dict[str, int] = {}
        for term, sure in self._said(searched(message, read)):
            heard[term] = max(sure, heard.get(term, 0))
        if fits is None:
            return heard
        different = {word.plain: word for words in read for word in words}
        for word in islice(filter(_is_spelled, different.values()), MOST_WORDS):
            own = row_of([word], LOOSE)
            if own not in heard or not fits(own):
                for term, sure in self._resembling(word):
                    heard[term] = max(sure, heard.get(term, 0))
        return heard

    def meant(self, term: str, word: Word) -> dict[str, int]:
        """Return the terms that a single word says or resembles, each with how sure that is.

        Args:
            term: The term of the word.
            word: The word.
        """
        number = self._automaton.get(term, None)
        said = {} if number is None else dict(self._meanings[number])
        if said.get(term) != SURE and _is_spelled(word):
            for other, sure in self._resembling(word):
                said[other] = max(sure, said.get(other, 0))
        return said

    def _said(self, rows: str) -> Iterator[tuple[str, int]]:
        if len(self._automaton):
            for number in {number for _, number in self._automaton.iter(rows)}:
                yield from self._meanings[number]

    def _resembling(self, word: Word) -> Iterator[tuple[str, int]]:
        for term in self._roots.get(root_of(word.form), ()):
            yield term, ROOT
        for length in range(LEAST_PART, len(word.plain)):
            for term in self._forms.get(word.plain[:length], ()):
                yield term, PART
        for said in {word.plain, word.form}:
            for short in _shortened(said):
                for spelling, term in self._spelled.get(short, ()):
                    if OSA.distance(said, spelling, score_cutoff=1) <= 1:
                        yield term, TYPO


def _is_spelled(word: Word) -> bool:
    return not (word.common or word.sign) and len(word.plain) >= LEAST_LETTERS


def _shortened(word: str) -> set[str]:
    """Return a word and what is left of it without one letter: one typo away, two share one."""
    if len(word) < LEAST_LETTERS:
        return set()
    return {word, *(word[:at] + word[at + 1 :] for at in range(len(word)))}


def _related(known: Collection[str]) -> Iterator[tuple[str, str, int]]:
    """Yield terms that may stand for known ones, each with that one and how sure it is."""
    for sure, group in _groups():
        meant = [(own, term) for own in group for term in own if term in known]
        for own in group if meant else ():
            yield from ((said, term, sure) for said in own for home, term in meant if home != own)


@cache
def _groups() -> tuple[tuple[int, tuple[tuple[str, ...], ...]], ...]:
    """Return how sure each group of related phrases is, with the terms of each phrase."""
    lists = read_data(DATA / "synonyms.yaml")
    return tuple(
        (sure, tuple(_terms(phrase.strip()) for phrase in line.split(",")))
        for name, sure in (("synonyms", SYNONYM), ("fields", FIELD))
        for line in lists[name].splitlines()
    )


def _terms(phrase: str) -> tuple[str, ...]:
    # With its commonest words: what goes up rises, but what goes does not.
    return tuple(terms_of(phrase, strict=any(word.common for word in words_in(phrase))))
