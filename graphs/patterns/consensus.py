"""Every agent proposes, then every agent votes.

      .-> first --.
START --> second ---> gather -(once again, to vote)-> END
      '-> ... ----'
"""

from __future__ import annotations

from typing import Any

from graphs.patterns.base import Goal, Stage, Way
from nodes.agent import work_of
from nodes.patterns.consensus import following
from nodes.services import Services
from nodes.state import Update


def consensus(stage: Stage) -> None:
    """Let everybody propose, and those who did vote."""
    seat = stage.seat("gather")

    async def gather(state: Any, services: Services) -> Update:
        return {"progress": following(work_of(state, seat, services))}

    async def voters(state: Any) -> Goal:
        voting = state["progress"]["voters"]
        return voting or stage.end

    stage.start(*stage.peers)
    for name in stage.peers:
        stage.add(name, "gather")
    stage.step("gather", gather, Way(voters, [*stage.peers, stage.end]))
