"""Who fits a task best, by what the agents' cards say; without a model."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import log
from threading import Lock

from cachetools import LRUCache, cached
from rapidfuzz import process
from rapidfuzz.distance import OSA

from journeys import Agent, AgentCard
from nodes.embeddings import Embed, EmbeddingsFailed, closeness
from nodes.words import LONGEST_TASK, MOST_WORDS, has_words, weight_of, words_of, words_of_name

_KEY_WORD = 1.0
_RUNNING_TEXT = 0.6
"""How much a word of a description or an example counts beside one of a name or a synonym."""
_ALIKE = 0.5
"""How much a word counts that is only like one of the card."""
_LEAST_ALIKE = 0.8
_LEAST_LETTERS = 5
"""Shorter words are like too many others."""


@dataclass(frozen=True, slots=True)
class Match:
    """How well an agent fits a task.

    Attributes:
        name: The agent's name.
        score: From 0, nothing fits, to 1: all that the task says is among its key words.
    """

    name: str
    score: float


@dataclass(frozen=True, slots=True)
class Selection:
    """Who was chosen for a task.

    Attributes:
        matches: The chosen ones, best first.
        flags: What the choice could not go by: `selection_fallback:no_task` (the task has no
            words), `selection_fallback:no_match` (no card fits it), in both of which the agents
            are in declared order; `embeddings_failed:<kind>` (only words were compared).
    """

    matches: tuple[Match, ...]
    flags: tuple[str, ...] = ()


async def choose(
    task: str, agents: Sequence[Agent | AgentCard], k: int, embed: Embed | None = None
) -> Selection:
    """Choose the `k` agents that fit a task best.

    Args:
        task: What is to be done.
        agents: Who could do it.
        k: How many are chosen, at most.
        embed: Turns texts into vectors; a card counts half by its words then, half by how close
            its vector is to the task's.
    """
    ranking = ranking_of(agents)
    if not has_words(task[:LONGEST_TASK]):
        return Selection(ranking.declared[:k], ("selection_fallback:no_task",))
    flags: tuple[str, ...] = ()
    matches = ranking.ranked(task)
    if embed is not None:
        try:
            matches = ranking.ranked(task, await closeness(embed, task, ranking.cards))
        except EmbeddingsFailed as failure:
            flags = (f"embeddings_failed:{failure.kind}",)
    if not matches or not matches[0].score:
        return Selection(ranking.declared[:k], (*flags, "selection_fallback:no_match"))
    return Selection(tuple(matches[:k]), flags)


class Ranking:
    """The cards of some agents, ready to be compared with tasks.

    A card's score is the share of the task's words that it has, rare words counting more: half of
    it for the words of the whole card, half for those of the single skill that has most of them,
    so that a card that speaks of everything does not win by a word here and a word there.

    Args:
        agents: Whose cards; at least one. Which of equals comes first is decided by their order.
    """

    def __init__(self, agents: Sequence[Agent | AgentCard]) -> None:
        self.cards = tuple(_card(agent) for agent in agents)
        self.declared = tuple(Match(card.name, 0.0) for card in self.cards)
        self._places: dict[str, list[tuple[int, int, float]]] = defaultdict(list)
        self._owners: list[int] = []
        for owner, card in enumerate(self.cards):
            for skill in _skills_of(card).skills:
                for word, strength in skill.items():
                    self._places[word].append((owner, len(self._owners), strength))
                self._owners.append(owner)
        self._rarity = {word: self._rare(places) for word, places in self._places.items()}
        self._initials: dict[str, list[str]] = defaultdict(list)
        for word in self._places:
            if len(word) >= _LEAST_LETTERS:
                self._initials[word[0]].append(word)

    def ranked(self, task: str, closeness: Sequence[float] | None = None) -> list[Match]:
        """Return all agents with their scores, best first, equals in declared order."""
        scores = zip(self.cards, self.scores(task, closeness), strict=True)
        matches = [Match(card.name, score) for card, score in scores]
        return sorted(matches, key=lambda match: -match.score)

    def scores(self, task: str, closeness: Sequence[float] | None = None) -> list[float]:
        """Return the agents' scores in declared order.

        Args:
            task: What is to be done.
            closeness: How close each card is to the task in meaning, from 0 to 1; it makes half of
                the score where it is given.
        """
        scores = self._by_words(words_of(task[:LONGEST_TASK])[:MOST_WORDS])
        if closeness is not None:
            scores = [(one + other) / 2 for one, other in zip(scores, closeness, strict=True)]
        return [round(score, 6) for score in scores]

    def _by_words(self, words: Iterable[str]) -> list[float]:
        total = 0.0
        skills = [0.0] * len(self._owners)
        cards = [0.0] * len(self.cards)
        for word in words:
            known, certainty = self._known(word)
            worth = weight_of(word) * (self._rarity[known] if known else log(2))
            total += worth
            best: dict[int, float] = {}
            for owner, skill, strength in self._places[known] if known else ():
                skills[skill] += worth * certainty * strength
                best[owner] = max(best.get(owner, 0.0), strength)
            for owner, strength in best.items():
                cards[owner] += worth * certainty * strength
        if not total:
            return cards
        tops = [0.0] * len(self.cards)
        for owner, gathered in zip(self._owners, skills, strict=True):
            tops[owner] = max(tops[owner], gathered)
        return [(card + top) / 2 / total for card, top in zip(cards, tops, strict=True)]

    def _rare(self, places: Iterable[tuple[int, int, float]]) -> float:
        return log(1 + len(self.cards) / len({owner for owner, _, _ in places}))

    def _known(self, word: str) -> tuple[str, float]:
        """Return the word of the cards that a word is, or is most like, and how much it counts."""
        if word in self._places:
            return word, 1.0
        if len(word) < _LEAST_LETTERS or not (near := self._initials.get(word[0])):
            return "", 0.0
        for other in near:  # as in Rechnung and Rechnungen, account and accountant
            if other.startswith(word) or word.startswith(other):
                return other, _ALIKE
        found = process.extractOne(
            word, near, scorer=OSA.normalized_similarity, score_cutoff=_LEAST_ALIKE
        )
        return (found[0], _ALIKE) if found else ("", 0.0)


@dataclass(frozen=True, slots=True)
class _Skills:
    """What a card's words are worth, skill by skill, with the card's own words in each."""

    card: AgentCard
    skills: tuple[Mapping[str, float], ...]


def _card(agent: Agent | AgentCard) -> AgentCard:
    return agent.card if isinstance(agent, Agent) else agent


def _identities(agents: Sequence[Agent | AgentCard]) -> tuple[int, ...]:
    return tuple(id(_card(agent)) for agent in agents)


# Both caches go by identity, which is quicker than comparing cards, and sound: what they hold
# holds the cards, so that no other card can have the identity of one that is there.
@cached(LRUCache[tuple[int, ...], Ranking](256), key=_identities, lock=Lock())
def ranking_of(agents: Sequence[Agent | AgentCard]) -> Ranking:
    """Return the ranking of some agents; made once for the same ones in the same order."""
    return Ranking(agents)


@cached(LRUCache[int, _Skills](4096), key=id, lock=Lock())
def _skills_of(card: AgentCard) -> _Skills:
    own = _worth(words_of_name(card.name), words_of(card.description))
    skills = [
        _worth(
            words_of_name(" ".join([skill.name, *skill.synonyms])),
            words_of(" ".join([skill.description, *skill.examples])),
        )
        for skill in card.skills
    ]
    return _Skills(card, tuple(_best(own, skill) for skill in skills or [own]))


def _worth(key_words: Iterable[str], running: Iterable[str]) -> dict[str, float]:
    return {**dict.fromkeys(running, _RUNNING_TEXT), **dict.fromkeys(key_words, _KEY_WORD)}


def _best(one: Mapping[str, float], other: Mapping[str, float]) -> dict[str, float]:
    return {word: max(one.get(word, 0), other.get(word, 0)) for word in {**one, **other}}
