"""One agent is chosen, and answers.

                 .-> first --.
START -> select ---> second ---> END
                 '-> ... ----'
"""

from __future__ import annotations

from typing import Any

from graphs.patterns.base import Goal, Stage, Way
from graphs.patterns.selecting import selecting


def router(stage: Stage) -> None:
    """Choose an agent by the routing strategy, and run it."""
    mode = stage.pipeline.settings["routing_strategy"]

    async def chosen(state: Any) -> Goal:
        return str(state["progress"]["selected"][0]["agent"])

    stage.start("select")
    stage.step("select", selecting(stage, 1, mode), Way(chosen, stage.peers))
    for name in stage.peers:
        stage.add(name, stage.end, has_word=True)
