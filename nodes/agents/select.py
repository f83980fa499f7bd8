"""Select the agents that fit a task best by their cards, without a model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from threading import Lock

from cachetools import LRUCache, cached

from journeys import Agent, AgentCard, Skill
from nodes.agents.embeddings import Embed, EmbeddingsFailed, closeness
from nodes.guidelines.ranking import LONGEST_TEXT, Part, Ranking
from nodes.guidelines.words import has_words, spread


@dataclass(frozen=True, slots=True)
class Match:
    """Score of an agent for a task.

    Attributes:
        name: The agent's name.
        score: From 0, nothing fits, to 1: all that the task says is among its key words.
    """

    name: str
    score: float


@dataclass(frozen=True, slots=True)
class Selection:
    """Agents chosen for a task.

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
    if not has_words(task[:LONGEST_TEXT]):
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


class Cards:
    """The cards of some agents, ready to be compared with tasks.

    Args:
        agents: Whose cards; at least one. Which of equals comes first is decided by their order.
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
            task: What is to be done.
            closeness: How close each card is to the task in meaning, from 0 to 1; it makes half of
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
