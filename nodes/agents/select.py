"""Select the agents that fit a task best by their cards: by words, or by embeddings."""

from __future__ import annotations

import asyncio
from asyncio import AbstractEventLoop
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from math import hypot, isfinite
from operator import mul
from threading import Lock
from typing import Any
from weakref import WeakKeyDictionary

from cachetools import LRUCache, cached

from journeygraph.journeys import Agent, AgentCard, Skill
from journeygraph.nodes.authored import called
from journeygraph.nodes.guidelines.ranking import LONGEST_TEXT, Part, Ranking
from journeygraph.nodes.guidelines.vocabulary import has_words, spread


@dataclass(frozen=True, slots=True)
class Match:
    """Score of an agent for a task.

    Attributes:
        score: From 0, nothing fits, to 1: all that the task says is among its key words.
    """

    name: str
    score: float


@dataclass(frozen=True, slots=True)
class Selection:
    """Agents chosen for a task.

    Attributes:
        matches: The chosen ones, best first.
        flags: Names of what was missing: `selection_fallback:no_task` (the task has no
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
        embed: Turns texts into vectors; a card counts half by its words then, half by how close
            its vector is to the task's.
    """
    ranking = ranking_of(agents)
    if not has_words(task[:LONGEST_TEXT]):
        return Selection(ranking.declared[:k], ("selection_fallback:no_task",))
    flags: tuple[str, ...] = ()
    matches = ranking.ranked(task)
    if embed is not None:
        try:
            matches = ranking.ranked(task, await closeness(embed, task, ranking.cards))
        except _EmbeddingsFailed as failure:
            flags = (f"embeddings_failed:{failure.kind}",)
    if not matches or not matches[0].score:
        return Selection(ranking.declared[:k], (*flags, "selection_fallback:no_match"))
    return Selection(tuple(matches[:k]), flags)


class Cards:
    """The cards of some agents, ready to be compared with tasks.

    Args:
        agents: The candidates; at least one. Their order decides between equal scores.
    """

    def __init__(self, agents: Sequence[Agent | AgentCard]) -> None:
        self.cards = tuple(_card(agent) for agent in agents)
        self.declared = tuple(Match(card.name, 0.0) for card in self.cards)
        self._ranking = Ranking([list(_parts(card)) for card in self.cards])

    def ranked(self, task: str, closeness: Sequence[float] | None = None) -> list[Match]:
        """Return all agents with their scores, best first, equals in declared order."""
        scores = zip(self.cards, self.scores(task, closeness), strict=True)
        matches = [Match(card.name, score) for card, score in scores]
        return sorted(matches, key=lambda match: -match.score)

    def scores(self, task: str, closeness: Sequence[float] | None = None) -> list[float]:
        """Return the agents' scores in declared order.

        Args:
            closeness: The similarity of each card to the task, from 0 to 1; it makes half of
                the score where it is given.
        """
        scores = self._ranking.scores(task)
        if closeness is not None:
            scores = [(one + other) / 2 for one, other in zip(scores, closeness, strict=True)]
        return [round(score, 6) for score in scores]


def _parts(card: AgentCard) -> Iterator[Part]:
    """Yield the skills of a card, each with the card's own words in it."""
    for skill in card.skills or [Skill("")]:
        names = (card.name, skill.name, *skill.synonyms)
        running = (card.description, skill.description, *skill.examples)
        yield " / ".join(map(spread, names)), " / ".join(running)


def _card(agent: Agent | AgentCard) -> AgentCard:
    return agent.card if isinstance(agent, Agent) else agent


def _identities(agents: Sequence[Agent | AgentCard]) -> tuple[int, ...]:
    return tuple(id(_card(agent)) for agent in agents)


# By identity, which is quicker than comparing cards, and sound: what is kept holds the cards, so
# that no other card can have the identity of one that is there.
@cached(LRUCache[tuple[int, ...], Cards](256), key=_identities, lock=Lock())
def ranking_of(agents: Sequence[Agent | AgentCard]) -> Cards:
    """Return the cards of some agents; read once for the same ones in the same order."""
    return Cards(agents)


_Vectors = Sequence[Sequence[float]]
Embed = Callable[[Sequence[str]], _Vectors | Awaitable[_Vectors]]
LONGEST = 10.0
"""Seconds after which embeddings are no longer waited for."""

_Key = tuple[int, int, int]
# Each entry holds the card and the function, so that no other one can have their identity.
_vectors: LRUCache[_Key, tuple[Any, Any, list[float]]] = LRUCache(4096)
_turns: WeakKeyDictionary[AbstractEventLoop, Any] = WeakKeyDictionary()
_at_work = Lock()


class _EmbeddingsFailed(Exception):
    """The author's function failed, took too long, or gave what are no vectors; `kind` says it."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        super().__init__(kind)


async def closeness(embed: Embed, task: str, cards: Sequence[AgentCard]) -> list[float]:
    """Return how close each card is to a task: the cosine of their vectors, at least 0.

    Cards are embedded once for each function.

    Args:
        embed: Given texts, returns or awaits a vector for each. One that is not async runs in a
            thread.
    """
    try:
        async with asyncio.timeout(LONGEST):
            known = await _of_cards(embed, cards)
            asked = (await _embedded(embed, [task]))[0]
    except _EmbeddingsFailed:
        raise
    except Exception as error:
        raise _EmbeddingsFailed(type(error).__name__) from error
    if any(len(vector) != len(asked) for vector in known):
        raise _EmbeddingsFailed("malformed")
    return [min(1.0, max(0.0, sum(map(mul, asked, vector)))) for vector in known]


async def _of_cards(embed: Embed, cards: Sequence[AgentCard]) -> list[list[float]]:
    found = _kept(embed, cards)
    if None in found:
        async with _turn_of(embed):  # or many first requests at once would each embed all cards
            found = _kept(embed, cards)
            new = [card for card, vector in zip(cards, found, strict=True) if vector is None]
            made = iter(await _embedded(embed, [_text(card) for card in new]) if new else ())
            found = [next(made) if vector is None else vector for vector in found]
            _keep(embed, cards, found)
    return [vector for vector in found if vector is not None]


def _kept(embed: Embed, cards: Sequence[AgentCard]) -> list[list[float] | None]:
    with _at_work:
        entries = [_vectors.get(_key(embed, card)) for card in cards]
    return [entry[2] if entry else None for entry in entries]


def _keep(embed: Embed, cards: Sequence[AgentCard], vectors: Sequence[Any]) -> None:
    with _at_work:
        for card, vector in zip(cards, vectors, strict=True):
            _vectors[_key(embed, card)] = (card, embed, vector)


def _turn_of(embed: Embed) -> asyncio.Lock:
    turns = _turns.setdefault(asyncio.get_running_loop(), LRUCache(256))
    turn: asyncio.Lock = turns.setdefault(_identity(embed), asyncio.Lock())
    return turn


async def _embedded(embed: Embed, texts: list[str]) -> list[list[float]]:
    """Return the vectors of some texts, each of length 1."""
    given = await called("embed", embed, texts)
    vectors = [[float(number) for number in vector] for vector in given]
    lengths = [hypot(*vector) for vector in vectors]
    if len(vectors) != len(texts) or not all(length and isfinite(length) for length in lengths):
        raise _EmbeddingsFailed("malformed")
    return [
        [number / length for number in vector]
        for vector, length in zip(vectors, lengths, strict=True)
    ]


def _key(embed: Embed, card: AgentCard) -> _Key:
    return *_identity(embed), id(card)


def _identity(embed: Embed) -> tuple[int, int]:
    # A bound method is made anew each time it is named; what it is bound to is not.
    owner, function = getattr(embed, "__self__", embed), getattr(embed, "__func__", embed)
    return id(owner), id(function)


def _text(card: AgentCard) -> str:
    skills = (
        ". ".join([skill.name, skill.description, *skill.synonyms, *skill.examples])
        for skill in card.skills
    )
    return "\n".join([card.name, card.description, *skills])
