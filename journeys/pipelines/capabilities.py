"""Choose among agents by what their cards say of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from weakref import WeakKeyDictionary

from journeygraph.journeys import door
from journeygraph.journeys.agents.agent import Agent, AgentCard
from journeygraph.journeys.errors import ConfigurationError, shown
from journeygraph.journeys.pipelines.pattern import agent_of

_cards: WeakKeyDictionary[Any, AgentCard] = WeakKeyDictionary()


def select_best_agent(task: str, agents: Sequence[Any], return_score: bool = False) -> Any:
    """Return the agent whose card fits a task best; no model is asked.

    Of agents that fit equally well it is the first one; so it is where none fits at all.

    Args:
        task: The task, in words.
        agents: Anything that can be part of a pipeline.
        return_score: Return `{"agent": ..., "score": ...}` instead, with a score from 0 to 1, and
            `"fallback": True` in it where no card fits.

    Raises:
        ConfigurationError: There are no agents, or the task is no text.

    Source: ADR-018 section 2.

    Example:
        >>> def bills(given): "Explain bills and invoices."
        >>> def faults(given): "Solve technical faults."
        >>> select_best_agent("I have an invoice that is wrong", [faults, bills]).__name__
        'bills'
    """
    best = select_top_k_agents(task, agents, k=1, return_scores=True)[0]
    return best if return_score else best["agent"]


def select_top_k_agents(
    task: str, agents: Sequence[Any], k: int = 3, return_scores: bool = False
) -> list[Any]:
    """Return the `k` agents whose cards fit a task best, best first.

    Agents that fit equally well are in declared order; all are where none fits at all.

    Args:
        task: The task, in words.
        agents: Anything that can be part of a pipeline.
        k: Most agents that are returned.
        return_scores: Return each as by `select_best_agent(..., return_score=True)`.

    Raises:
        ConfigurationError: There are no agents, the task is no text, or `k` is below 1.

    Source: ADR-018 section 2.
    """
    _check(task, agents, k)
    cards = [_card_of(agent, place) for place, agent in enumerate(agents, 1)]
    scores = door.card_scores(task, cards)
    chosen = sorted(range(len(agents)), key=lambda place: -scores[place])[:k]
    if not return_scores:
        return [agents[place] for place in chosen]
    fallback = {} if any(scores) else {"fallback": True}
    return [{"agent": agents[place], "score": scores[place], **fallback} for place in chosen]


def _check(task: Any, agents: Any, k: Any) -> None:
    if not isinstance(task, str):
        raise ConfigurationError(f"The task is {shown(task)}; it must be text.")
    if isinstance(agents, (str, bytes)) or not isinstance(agents, Sequence) or not agents:
        raise ConfigurationError(f"The agents are {shown(agents)}; give a list with at least one.")
    if type(k) is not int or k < 1:
        raise ConfigurationError(f"k is {shown(k)}; it must be a whole number from 1 on.")


def _card_of(given: Any, place: int) -> AgentCard:
    """Return the card of what can be an agent; made once for an object that has a name."""
    if isinstance(given, Agent):
        return given.card
    try:
        if (known := _cards.get(given)) is not None:
            return known
        card = agent_of(given, f"agent_{place}").card
        if card.name != f"agent_{place}":
            _cards[given] = card
    except TypeError:  # it can be no key
        return agent_of(given, f"agent_{place}").card
    return card
