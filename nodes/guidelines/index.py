"""Stage one: which guidelines a message may touch, found by words and without a model."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import nsmallest
from itertools import islice
from operator import itemgetter
from threading import Lock

from cachetools import LRUCache, cached

from journeygraph.journeys import GuidelineSpec, Scope
from journeygraph.nodes.guidelines.resolve import order_of
from journeygraph.nodes.guidelines.vocabulary import (
    RARITY,
    SURE,
    Vocabulary,
    is_speaker,
    parts_of,
    terms_of,
    weight_of,
)
from journeygraph.nodes.state.interpretation import HeldGuideline

KEYWORD, PART, CONDITION = 100, 50, 50
"""Weight of a hit in percent: a whole keyword, a word of a longer keyword, a word of a condition
next to keywords.
"""
MOST_SCORED = 200
"""Most guidelines that are compared for a message; those hit by rarer words come first."""
MOST_TERMS = 64
"""Most terms of a message that count; the rarer ones."""
MOST_SHOWN = 5
"""Most keywords that are given for a candidate."""

_SCALE = RARITY * KEYWORD

Place = tuple[str, str]
"""A pathway and the journey that it belongs to, by their ids."""
Postings = Mapping[str, Mapping[int, int]]
"""Inverted index of guidelines: term -> ranks of guidelines with weights."""
_Shelf = tuple[Scope, str | None]
_Hit = tuple[int, str, int, Mapping[int, int]]


@dataclass(frozen=True, slots=True)
class GuidelineCandidate:
    """A guideline that a message may touch.

    Attributes:
        keywords: Its keywords that the message (nearly) has, rarest first; at most five. None for
            one that is considered for every message.
        score: The share of these keywords; higher is better. 0 for one without keywords.
    """

    guideline: GuidelineSpec
    keywords: tuple[str, ...] = ()
    score: float = 0.0


@dataclass(slots=True)
class _Shelved:
    """The guidelines of one scope and place, by their ranks in the order of all."""

    judged: list[int] = field(default_factory=list)
    asked: list[int] = field(default_factory=list)
    unasked: list[int] = field(default_factory=list)
    worded: dict[str, dict[int, int]] = field(default_factory=lambda: defaultdict(dict))
    spoken: dict[str, dict[int, int]] = field(default_factory=lambda: defaultdict(dict))
    named: dict[str, dict[int, int]] = field(default_factory=lambda: defaultdict(dict))


class Index:
    """Guidelines by the words of messages and the places that they hold in.

    A message is read once, for any number of guidelines, and those of other places are not
    looked at. What is considered for a message is bounded, so a word that thousands share costs no
    more than one of a few.

    Args:
        guidelines: The guidelines in order of declaration; disabled ones are omitted.

    Attributes:
        giving: Those that give tools when they hold.
    """

    def __init__(self, guidelines: Sequence[GuidelineSpec]) -> None:
        enabled = (guideline for guideline in guidelines if guideline.enabled)
        self._guidelines = tuple(sorted(enabled, key=order_of))
        self.giving = tuple(guideline for guideline in self._guidelines if guideline.tools)
        self._ranks = {guideline.id: rank for rank, guideline in enumerate(self._guidelines)}
        self._shelves: dict[_Shelf, _Shelved] = defaultdict(_Shelved)
        self._shown: dict[str, str] = {}
        for rank, guideline in enumerate(self._guidelines):
            self._put(rank, guideline, self._shelves[_shelf_of(guideline)])
        words = (
            part
            for guideline in self._guidelines
            for text in (*guideline.keywords, guideline.condition)
            for part in parts_of(text)
        )
        self._vocabulary = Vocabulary(self._counts(), len(self._guidelines), words)

    def candidates(
        self, message: str, places: Collection[Place], most: int
    ) -> list[GuidelineCandidate]:
        """Return the guidelines whose conditions a model has to judge.

        Those that are considered in every turn come first, all of them, and with them those whose
        conditions are of words that are in every message; then those whose words the
        message says, best first, until there are `most`. Rare words count more than frequent ones,
        several more than one; of equals the narrower scope comes first, then the higher priority.

        Args:
            places: The places of the session: guidelines of one of these places count.
            most: The largest number, unless more guidelines are considered in every turn.
        """
        shelves = self._at(places)
        always = sorted(rank for shelf in shelves for rank in shelf.asked)
        asked = [GuidelineCandidate(self._guidelines[rank]) for rank in always]
        room = max(0, most - len(asked))
        return asked + self._touched(message, [shelf.worded for shelf in shelves], room)

    def whole(self, places: Collection[Place], most: int) -> list[GuidelineSpec]:
        """Return all guidelines that a model could judge there, if they are no more than `most`.

        So few do not have to be selected by words: the model judges all of them.
        """
        shelves = self._at(places)
        if sum(len(shelf.judged) for shelf in shelves) > most:
            return []
        ranks = sorted(rank for shelf in shelves for rank in shelf.judged)
        return [self._guidelines[rank] for rank in ranks]

    def by_keyword(
        self, message: str, places: Collection[Place], most: int, *, alone: bool = False
    ) -> list[GuidelineCandidate]:
        """Return the guidelines without a condition that hold since the message says a keyword.

        A message has a keyword if it has all its words in a row, in any of their forms.

        Args:
            alone: True if keywords decide alone, so that those with a condition hold as well, if an
                author gave them keywords.
        """
        spoken = [shelf.spoken for shelf in self._at(places) if shelf.spoken]
        if alone:
            spoken += [shelf.named for shelf in self._at(places) if shelf.named]
        return self._touched(message, spoken, most, nearly=False) if spoken else []

    def unasked(self, places: Collection[Place]) -> list[GuidelineSpec]:
        """Return those that need no model and no words: code decides, or they always hold."""
        ranks = sorted(rank for shelf in self._at(places) for rank in shelf.unasked)
        return [self._guidelines[rank] for rank in ranks]

    def in_order(self, held: Iterable[HeldGuideline]) -> list[HeldGuideline]:
        """Return guidelines of this index in the order in which relations are resolved."""
        return sorted(held, key=lambda item: self._ranks[item.guideline.id])

    def named(self, ids: Iterable[str]) -> list[GuidelineSpec]:
        """Return the guidelines of these ids that there are, in the order given."""
        return [self._guidelines[self._ranks[id_]] for id_ in ids if id_ in self._ranks]

    def _at(self, places: Collection[Place]) -> list[_Shelved]:
        keys: dict[_Shelf, None] = {(Scope.GLOBAL, None): None}
        for pathway, journey in places:
            keys |= {(Scope.STATE, pathway): None, (Scope.JOURNEY, journey): None}
        return [self._shelves[key] for key in keys if key in self._shelves]

    def _put(self, rank: int, guideline: GuidelineSpec, shelf: _Shelved) -> None:
        if guideline.asks_model:
            shelf.judged.append(rank)
        if guideline.needs_no_words:
            (shelf.asked if guideline.asks_model else shelf.unasked).append(rank)
            return
        hints = list(_hints(guideline)) if guideline.asks_model else []
        for term, text, strength in hints:
            shelf.worded[term][rank] = max(strength, shelf.worded[term].get(rank, 0))
            self._shown.setdefault(term, text)
        if guideline.asks_model and not hints:  # it says "who are you", or the like
            shelf.asked.append(rank)
        spoken = shelf.named if guideline.asks_model else shelf.spoken
        for keyword in guideline.keywords:
            for term in terms_of(keyword, strict=True):
                spoken[term][rank] = KEYWORD
                self._shown.setdefault(term, keyword)

    def _counts(self) -> dict[str, int]:
        counts: dict[str, int] = defaultdict(int)
        for shelf in self._shelves.values():
            for posted in (shelf.worded, shelf.spoken, shelf.named):
                for term, ranks in posted.items():
                    counts[term] += len(ranks)
        return counts

    def _touched(
        self, message: str, posted: Sequence[Postings], most: int, nearly: bool = True
    ) -> list[GuidelineCandidate]:
        def fits(term: str) -> bool:
            return any(term in postings for postings in posted)

        heard = self._vocabulary.heard(message, fits if nearly else None)
        rarity = self._vocabulary.rarity
        hits = [
            (len(postings[term]), term, rarity[term] * sure // SURE, postings[term])
            for term, sure in heard.items()
            if nearly or sure == SURE
            for postings in posted
            if term in postings
        ]
        hits = sorted(hits, key=itemgetter(0, 1))[:MOST_TERMS]
        scores = _scores((worth, ranks) for _, _, worth, ranks in hits)
        best = nsmallest(most, [(-score, rank) for rank, score in scores.items()])
        return [
            GuidelineCandidate(self._guidelines[rank], self._said(rank, hits), -score / _SCALE)
            for score, rank in best
        ]

    def _said(self, rank: int, hits: Iterable[_Hit]) -> tuple[str, ...]:
        said = [self._shown[term] for _, term, _, ranks in hits if rank in ranks]
        return tuple(dict.fromkeys(said))[:MOST_SHOWN]


def _shelf_of(guideline: GuidelineSpec) -> _Shelf:
    if guideline.scope is Scope.STATE:
        return Scope.STATE, guideline.pathway
    return guideline.scope, None if guideline.scope is Scope.GLOBAL else guideline.journey


def _hints(guideline: GuidelineSpec) -> Iterator[tuple[str, str, int]]:
    for keyword in guideline.keywords:
        whole = terms_of(keyword, strict=False)
        yield from ((term, keyword, KEYWORD) for term in whole)
        for term, word in parts_of(keyword):
            yield term, word.plain, round(PART * weight_of(word.plain))
    strength = CONDITION if guideline.keywords else KEYWORD
    for term, word in parts_of(guideline.condition):
        if not is_speaker(word.plain):
            yield term, word.plain, round(strength * weight_of(word.plain))


def _scores(hits: Iterable[tuple[int, Mapping[int, int]]]) -> dict[int, int]:
    """Add up what was hit, the shortest postings first.

    Once there are enough guidelines, those that only a frequent word selects are dropped, the last
    in the order first.
    """
    scores: dict[int, int] = {}
    for worth, ranks in hits:
        for rank in scores.keys() & ranks.keys():
            scores[rank] += worth * ranks[rank]
        room = MOST_SCORED - len(scores)
        fresh = list(islice((rank for rank in ranks if rank not in scores), room))
        scores |= {rank: worth * ranks[rank] for rank in fresh}
    return scores


# By identity, which is quicker than comparing thousands, and sound: what it holds keeps them alive.
@cached(LRUCache[int, "tuple[tuple[GuidelineSpec, ...], Index]"](512), key=id, lock=Lock())
def _indexed(guidelines: tuple[GuidelineSpec, ...]) -> tuple[tuple[GuidelineSpec, ...], Index]:
    return guidelines, Index(guidelines)


def index_of(guidelines: tuple[GuidelineSpec, ...]) -> Index:
    """Return the index of some guidelines; the same tuple is read once."""
    return _indexed(guidelines)[1]
