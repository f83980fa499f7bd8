"""A supervisor splits the task, workers do the parts, the supervisor reviews and composes.

                     .-> first worker ---.
START -> supervisor ---> second worker ---> supervisor -> ... -> END
                     '-> ... ------------'
"""

from __future__ import annotations

from typing import Any

from graphs.patterns.base import Goal, Stage, Way, sent
from nodes.patterns.supervisor_worker import SUPERVISOR, after


def supervisor_worker(stage: Stage) -> None:
    """Alternate between the supervisor and the workers of the parts that are open."""
    supervisor = stage.role(SUPERVISOR)

    async def parts(state: Any) -> Goal:
        progress = state["progress"]
        plan = progress.get("plan", [])
        return [
            sent(plan[place]["worker"], state, {"part": place + 1, "task": plan[place]["task"]})
            for place in progress["open"]
        ] or stage.end

    stage.start(supervisor)
    stage.add(supervisor, Way(parts, [*stage.peers, stage.end]), after=after)
    for name in stage.peers:
        stage.add(name, supervisor)
