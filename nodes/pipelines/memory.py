"""Memory of a pipeline in a process: rotation of agents, and circuit breakers.

A pipeline itself is frozen data, and says nothing of its runs.
"""

from __future__ import annotations

import weakref
from dataclasses import dataclass, field

from journeygraph.journeys import PatternPipeline
from journeygraph.nodes.breaker import Breaker


@dataclass(slots=True)
class Memory:
    """The memory of one pipeline.

    Attributes:
        breakers: Name of an agent -> its breaker; only where the limits want any.
    """

    turn: int = 0
    breakers: dict[str, Breaker] = field(default_factory=dict)


# By identity: two pipelines of the same agents have nothing to do with each other.
_memories: dict[int, Memory] = {}


def memory_of(pipeline: PatternPipeline) -> Memory:
    """Return the memory of a pipeline, which lasts as long as it does."""
    key = id(pipeline)
    if key not in _memories:
        _memories[key] = Memory()
        weakref.finalize(pipeline, _memories.pop, key, None)
    return _memories[key]


def breaker_of(pipeline: PatternPipeline, name: str) -> Breaker:
    """Return the breaker of an agent, in a pipeline whose limits want one."""
    limits = pipeline.limits
    assert limits.breaker_failures is not None
    breakers = memory_of(pipeline).breakers
    if name not in breakers:
        breakers[name] = Breaker(
            limits.breaker_failures, limits.breaker_window, limits.breaker_cooldown, limits.clock
        )
    return breakers[name]


def forget(pipeline: PatternPipeline) -> None:
    """Start again, also in the pipelines within it."""
    _memories.pop(id(pipeline), None)
    for agent in pipeline.members.values():
        if isinstance(agent.call, PatternPipeline):
            forget(agent.call)
