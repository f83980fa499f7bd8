"""One agent has the word, and can hand over to another.

START -> first <-> second <-> ...
          '-> END    '-> END
"""

from __future__ import annotations

from typing import Any

from graphs.patterns.base import Goal, Stage, Way
from nodes.patterns.handoff import after


def handoff(stage: Stage) -> None:
    """Run whoever has the word, until nobody hands over."""

    async def holder(state: Any) -> Goal:
        return state["progress"]["next"] or stage.end

    stage.start(stage.peers[0])
    for name in stage.peers:
        stage.add(name, Way(holder, [*stage.peers, stage.end]), after=after)
