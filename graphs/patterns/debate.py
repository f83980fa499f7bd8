"""Agents take positions and answer each other; then a judge, or the majority, decides.

      .-> first --.
START --> second ---> gather -(round by round)-> judge, or a vote -> END
      '-> ... ----'
"""

from __future__ import annotations

from typing import Any

from graphs.patterns.base import Goal, Stage, Way
from nodes.agent import work_of
from nodes.patterns.consensus import VOTE
from nodes.patterns.debate import JUDGE, JUDGING, OVER, following
from nodes.services import Services
from nodes.state import Update


def debate(stage: Stage) -> None:
    """Run the rounds, and then what decides."""
    judge = stage.role(JUDGE) if JUDGE in stage.pipeline.roles else None
    seat = stage.seat("gather")

    async def gather(state: Any, services: Services) -> Update:
        return {"progress": following(work_of(state, seat, services))}

    async def onward(state: Any) -> Goal:
        phase = state["progress"].get("phase")
        if phase in (OVER, JUDGING):
            return judge if phase == JUDGING and judge else stage.end
        if phase == VOTE:
            return list(state["progress"]["voters"])
        return stage.peers

    stage.start(*stage.peers)
    for name in stage.peers:
        stage.add(name, "gather")
    targets = [*stage.peers, judge] if judge else stage.peers
    stage.step("gather", gather, Way(onward, [*targets, stage.end]))
    if judge:
        stage.add(judge, stage.end, has_word=True)
