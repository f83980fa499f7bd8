"""The rules of the nine patterns: what each agent is asked, and what a run comes to. No graph."""

from collections.abc import Mapping

from nodes.patterns import (
    blackboard,
    consensus,
    debate,
    ensemble,
    handoff,
    parallel,
    router,
    sequential,
    supervisor_worker,
)
from nodes.patterns.work import Conclusion, Rules, Work

RULES: Mapping[str, Rules] = {
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
"""Pattern -> its rules."""


def conclude(work: Work) -> Conclusion:
    """Return what a run comes to that is over, by the rules of its pattern."""
    return RULES[work.pipeline.pattern].conclude(work)
