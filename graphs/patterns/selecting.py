"""The step in which a pattern selects its agents."""

from __future__ import annotations

from typing import Any

from graphs.patterns.base import Stage
from nodes.agent import chooser_of, work_of
from nodes.services import Services
from nodes.state import Update


def selecting(stage: Stage, k: int, mode: str) -> Any:
    """Return the step that selects up to `k` agents of a stage's pipeline."""
    seat = stage.seat("select")
    names = [agent.name for agent in stage.pipeline.agents]

    async def select(state: Any, services: Services) -> Update:
        chooser = chooser_of(state, services, seat)
        agents = work_of(state, seat, services).agents
        selection = await chooser.choose(chooser.task, agents, k, mode)
        noted = {
            "selected": list(selection.chosen),
            "flags": list(selection.flags),
            # A thread that a saver keeps goes on in turn from here.
            "turn": names.index(selection.names[0]),
        }
        return {"progress": noted}

    return select
