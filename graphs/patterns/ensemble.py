"""The best agents for the task answer at once, and a synthesizer makes one of it.

                 .-> first --.
START -> select ---> second ---> synthesizer -> END
                 '-> ... ----'
"""

from __future__ import annotations

from typing import Any

from graphs.patterns.base import Goal, Stage, Way
from graphs.patterns.selecting import selecting
from nodes.patterns.ensemble import SYNTHESIZER


def ensemble(stage: Stage) -> None:
    """Select the top k agents, or all; run them; give the synthesizer what they said."""
    settings = stage.pipeline.settings
    synthesizer = stage.role(SYNTHESIZER)

    async def chosen(state: Any) -> Goal:
        return [item["agent"] for item in state["progress"]["selected"]]

    stage.start("select")
    select = selecting(stage, settings["top_k"], settings["discovery_mode"])
    stage.step("select", select, Way(chosen, stage.peers))
    for name in stage.peers:
        stage.add(name, synthesizer)
    stage.add(synthesizer, stage.end, has_word=True)
