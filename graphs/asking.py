"""Questions that agents ask by LangGraph's `interrupt()`, and the agents that ask them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from langgraph.types import Interrupt

from nodes.services import Services
from nodes.state import Ask

INTERRUPT = "__interrupt__"
"""Key of the questions among the values of a run, and among its pending writes."""


def asks_of(interrupts: Iterable[Interrupt], services: Services, pathway: str = "") -> list[Ask]:
    """Return what is asked, each once, in the order in which the agents are declared.

    Args:
        interrupts: Those of LangGraph; none for breakpoints of graphs, which ask nothing.
        services: What the run worked with; they know who asked.
        pathway: Where something asks that is no agent.
    """
    askers = services.running.askers or {}
    known = {asked.id: asked for asked in interrupts}
    if not known and "" in askers:
        known = {"": Interrupt(None, id="")}
    places = {place: number for number, place in enumerate(services.agents)}
    asks = [_ask(asked, askers, pathway) for asked in known.values()]
    return sorted(
        asks, key=lambda ask: places.get((ask["pathway"], ask["agent"] or ""), len(places))
    )


def _ask(asked: Interrupt, askers: Mapping[str, tuple[str, str]], pathway: str) -> Ask:
    where, agent = askers.get(asked.id, (pathway, None))
    ask = Ask(id=asked.id, value=asked.value, pathway=where, agent=agent)
    if isinstance(asked.response_schema, Mapping):
        ask["schema"] = dict(asked.response_schema)
    return ask
