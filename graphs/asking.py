"""What agents ask by LangGraph's `interrupt()`, and who asks it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from langgraph.types import Interrupt

from nodes.state import Ask

INTERRUPT = "__interrupt__"
"""Where LangGraph puts what is asked: among the values of a run, and among its pending writes."""

Askers = dict[str, tuple[str, str]]
"""Id of what is asked -> pathway and path of the agent that asks."""


def asks_of(
    interrupts: Iterable[Interrupt], askers: Mapping[str, tuple[str, str]], pathway: str = ""
) -> list[Ask]:
    """Return what is asked, each once.

    Args:
        interrupts: Those of LangGraph; none for breakpoints of graphs, which ask nothing.
        askers: Who asked.
        pathway: Where something asks that is no agent.
    """
    known = {asked.id: asked for asked in interrupts}
    if not known and "" in askers:
        return [_ask(Interrupt(None, id=""), askers, pathway)]
    return [_ask(asked, askers, pathway) for asked in known.values()]


def _ask(asked: Interrupt, askers: Mapping[str, tuple[str, str]], pathway: str) -> Ask:
    where, agent = askers.get(asked.id, (pathway, None))
    ask = Ask(id=asked.id, value=asked.value, pathway=where, agent=agent)
    if asked.response_schema is not None:
        ask["schema"] = dict(asked.response_schema)
    return ask
