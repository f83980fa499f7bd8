"""Which terms of an index a message says, or nearly says; the cost grows with the message only."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from itertools import islice
from typing import Any

import ahocorasick
from rapidfuzz.distance import OSA

from nodes.matching.forms import root_of, spellings
from nodes.matching.reading import LOOSE, Word, readings, row_of, searched, terms_of, words_in
from nodes.matching.synonyms import fields, synonym_groups

SURE, TYPO, ROOT, SYNONYM, FIELD = 100, 70, 60, 50, 30
"""How sure it is that a term is meant, in percent: where it is said itself, or what differs from it
by a letter, has its root, is a synonym of it, or is said of the same thing."""
LEAST_LETTERS = 4
MOST_WORDS = 200
"""Most different words of a message that are compared with terms that they only resemble."""


class Vocabulary:
    """The terms of an index, and what else may stand for them.

    Args:
        terms: The terms, as `terms_of` and `parts_of` give them.
        words: The words that keywords and conditions are written with, each with its term.
    """

    def __init__(self, terms: Iterable[str], words: Iterable[tuple[str, Word]]) -> None:
        known = dict.fromkeys(terms)
        means: dict[str, dict[str, int]] = {term: {term: SURE} for term in known}
        for said, term, sure in _related(known):
            means.setdefault(said, {}).setdefault(term, sure)
        self._meanings = [tuple(meaning.items()) for meaning in means.values()]
        self._automaton = ahocorasick.Automaton(ahocorasick.STORE_INTS)
        for number, phrase in enumerate(means):
            self._automaton.add_word(phrase, number)
        if means:
            self._automaton.make_automaton()
        self._roots: dict[str, list[str]] = defaultdict(list)
        self._spelled: dict[str, set[tuple[str, str]]] = defaultdict(set)
        self._learn(words)

    def _learn(self, words: Iterable[tuple[str, Word]]) -> None:
        for term, word in dict.fromkeys(words):
            if word.sign or len(word.form) < LEAST_LETTERS:
                continue
            if term not in self._roots[root_of(word.form)]:
                self._roots[root_of(word.form)].append(term)
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

    def _said(self, rows: str) -> Iterator[tuple[str, int]]:
        if len(self._automaton):
            for number in {number for _, number in self._automaton.iter(rows)}:
                yield from self._meanings[number]

    def _resembling(self, word: Word) -> Iterator[tuple[str, int]]:
        for term in self._roots.get(root_of(word.form), ()):
            yield term, ROOT
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


def _related(known: Mapping[str, Any]) -> Iterator[tuple[str, str, int]]:
    """Yield terms that may stand for known ones, each with that one and how sure it is."""
    for sure, group in _groups():
        meant = [(own, term) for own in group for term in own if term in known]
        for own in group if meant else ():
            yield from ((said, term, sure) for said in own for home, term in meant if home != own)


@cache
def _groups() -> tuple[tuple[int, tuple[tuple[str, ...], ...]], ...]:
    """Return how sure each group of related phrases is, with the terms of each phrase."""
    lists = ((SYNONYM, synonym_groups()), (FIELD, fields()))
    return tuple((sure, tuple(map(_terms, group))) for sure, groups in lists for group in groups)


def _terms(phrase: str) -> tuple[str, ...]:
    # With its commonest words: what goes up rises, but what goes does not.
    return tuple(terms_of(phrase, strict=any(word.common for word in words_in(phrase))))
