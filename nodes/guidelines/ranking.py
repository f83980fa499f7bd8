"""Rank entries by how much of a text their words say: cards of agents, passages of knowledge."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from journeygraph.nodes.guidelines.vocabulary import (
    RARITY,
    SURE,
    SYNONYM,
    Vocabulary,
    VocabularyWord,
    parts_of,
    weight_of,
)

LONGEST_TEXT = 10_000
"""Characters of a text that are read; of a longer one, the first ones."""
MOST_WORDS = 200
"""Most different words of a text that are compared."""

KEY, RUNNING = 1.0, 0.6
"""Weight of a word: among the key words of an entry, and in its running text."""
_AGAIN = 1e-8
"""Extra weight of a repeated word, which only decides between equal scores."""
_UNKNOWN = 0.7 * RARITY
"""Rarity of a word that no entry has; it lowers the share of all entries."""

Part = tuple[str, str]
"""A part of an entry: its key words, and its running text."""


class Ranking:
    """Entries, ready to be compared with texts.

    The score of an entry is the share of the text's words that it has, rare words counting more:
    half of it for the words of the whole entry, half for those of the single part that has most of
    them, so that an entry about everything does not win by a word here and a word there.
    """

    def __init__(self, entries: Sequence[Sequence[Part]]) -> None:
        self._size = len(entries)
        self._owners = [owner for owner, parts in enumerate(entries) for _ in parts]
        self._places: dict[str, dict[int, float]] = defaultdict(dict)
        words: dict[tuple[str, VocabularyWord], None] = {}
        for place, (key, running) in enumerate(part for parts in entries for part in parts):
            for text, strength in ((running, RUNNING), (key, KEY)):
                for term, word in parts_of(text):
                    words[term, word] = None
                    again = self._places[term].get(place, 0.0) + _AGAIN
                    self._places[term][place] = max(strength, again)
        counts = {
            term: len({self._owners[place] for place in places})
            for term, places in self._places.items()
        }
        self._vocabulary = Vocabulary(counts, self._size, words)

    def scores(self, text: str) -> list[float]:
        """Return the scores of all entries for a text, each from 0 to 1."""
        total = 0.0
        parts = [0.0] * len(self._owners)
        wholes = [0.0] * self._size
        for term, word in _read(text):
            rarity, places = self._known(term, word)
            worth = weight_of(word.plain) * (rarity or _UNKNOWN)
            total += worth
            best: dict[int, float] = {}
            for place, strength in places.items():
                parts[place] += worth * strength
                owner = self._owners[place]
                best[owner] = max(best.get(owner, 0.0), strength)
            for owner, strength in best.items():
                wholes[owner] += worth * strength
        tops = [0.0] * self._size
        for owner, gathered in zip(self._owners, parts, strict=True):
            tops[owner] = max(tops[owner], gathered)
        both = zip(wholes, tops, strict=True)
        return [(whole + top) / 2 / total if total else 0.0 for whole, top in both]

    def _known(self, term: str, word: VocabularyWord) -> tuple[int, Mapping[int, float]]:
        """Return how rare a word is among the entries, and how much it counts in each part."""
        meant = self._vocabulary.meant(term, word)
        sure = max(meant.values(), default=0)
        if sure < SYNONYM:  # what is only said of the same thing is no sign of an entry
            return 0, {}
        terms = [other for other, how_sure in meant.items() if how_sure == sure]
        places: dict[int, float] = {}
        for other in terms:
            for place, strength in self._places[other].items():
                places[place] = max(places.get(place, 0.0), strength * sure / SURE)
        return min(self._vocabulary.rarity[other] for other in terms), places


@lru_cache(maxsize=64)
def ranking_of(entries: tuple[tuple[Part, ...], ...]) -> Ranking:
    """Return the ranking of some entries; the same ones are read once."""
    return Ranking(entries)


def _read(text: str) -> Iterable[tuple[str, VocabularyWord]]:
    """Return the first different words of a text, each with its term."""
    read: dict[str, VocabularyWord] = {}
    for term, word in parts_of(text[:LONGEST_TEXT]):
        if len(read) == MOST_WORDS:
            break
        read.setdefault(term, word)
    return read.items()
