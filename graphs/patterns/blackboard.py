"""A controller looks at the board, and asks one specialist after the other to add to it.

START -> controller <-> first, second, ... specialist
                   '-> END
"""

from __future__ import annotations

from typing import Any

from graphs.patterns.base import Goal, Stage, Way
from nodes.patterns.blackboard import CONTROLLER, after


def blackboard(stage: Stage) -> None:
    """Alternate between the controller and the specialist that it asks for."""
    controller = stage.role(CONTROLLER)

    async def wanted(state: Any) -> Goal:
        return state["progress"]["next"] or stage.end

    stage.start(controller)
    stage.add(controller, Way(wanted, [*stage.peers, stage.end]), after=after)
    for name in stage.peers:
        stage.add(name, controller)
