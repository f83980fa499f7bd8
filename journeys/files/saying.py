"""States that say a text which a file gives, instead of what agents would say."""

from __future__ import annotations

from journeys.agent_card import Agent
from journeys.pipelines.pattern import PatternPipeline
from journeys.saying import Saying


def saying(id_: str, text: str) -> PatternPipeline:
    """Return the pipeline of a state that says a text."""
    agent = Agent(Saying(text), name=id_)
    return PatternPipeline("sequential", [agent], error_handling="fail-fast", name=id_)
