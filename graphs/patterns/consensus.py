"""Every agent proposes, then every agent votes.

      .-> first --.
START --> second ---> gather -(once again, to vote)-> END
      '-> ... ----'
"""

from __future__ import annotations

from typing import Any

from graphs.patterns.base import Goal, Stage, Way
from nodes.agent import work_of
from nodes.patterns.consensus import VOTE, proposals
from nodes.services import Services
from nodes.state import Update


def consensus(stage: Stage) -> None:
    """Let everybody propose, and those who did vote."""
    seat = stage.seat("gather")

    async def gather(state: Any, services: Services) -> Update:
        voted = state["progress"].get("phase") == VOTE
        return {"progress": {"phase": "counted" if voted else VOTE}}

    async def voters(state: Any) -> Goal:
        if state["progress"]["phase"] != VOTE:
            return stage.end
        voting = [result["agent"] for result in proposals(work_of(state, seat))]
        return voting or stage.end

    stage.start(*stage.peers)
    for name in stage.peers:
        stage.add(name, "gather")
    stage.step("gather", gather, Way(voters, [*stage.peers, stage.end]))
