"""The patterns in which agents work together; one file each.

All have one signature: a stage, to which they add the agents and say what leads where.
"""

from collections.abc import Callable, Mapping

from graphs.patterns.base import PathwayOutput, PatternGraph, Stage
from graphs.patterns.blackboard import blackboard
from graphs.patterns.consensus import consensus
from graphs.patterns.debate import debate
from graphs.patterns.ensemble import ensemble
from graphs.patterns.handoff import handoff
from graphs.patterns.parallel import parallel
from graphs.patterns.router import router
from graphs.patterns.sequential import sequential
from graphs.patterns.supervisor_worker import supervisor_worker

PATTERNS: Mapping[str, Callable[[Stage], None]] = {
    "sequential": sequential,
    "supervisor_worker": supervisor_worker,
    "router": router,
    "ensemble": ensemble,
    "blackboard": blackboard,
    "consensus": consensus,
    "debate": debate,
    "handoff": handoff,
    "parallel": parallel,
}
"""Pattern -> what builds it."""

__all__ = ["PATTERNS", "PathwayOutput", "PatternGraph", "Stage"]
