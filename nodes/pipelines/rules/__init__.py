"""The rules of the nine patterns: the input of each agent, and the result of a run. No graph."""

from collections.abc import Mapping
from dataclasses import replace

from journeygraph.journeys import ContextMergeError
from journeygraph.nodes.pipelines.rules import (
    blackboard,
    consensus,
    debate,
    handoff,
    supervisor_worker,
)
from journeygraph.nodes.pipelines.rules.simple import Ensemble, Parallel, Router, Sequential
from journeygraph.nodes.pipelines.work import Conclusion, Rules, Work, merged

RULES: Mapping[str, Rules] = {
    "sequential": Sequential(),
    "supervisor_worker": supervisor_worker,
    "router": Router(),
    "ensemble": Ensemble(),
    "blackboard": blackboard,
    "consensus": consensus,
    "debate": debate,
    "handoff": handoff,
    "parallel": Parallel(),
}
"""Pattern -> its rules."""


def conclude_as_one(work: Work) -> Conclusion:
    """Return the result of a finished run, with merged outputs: a dict, perhaps empty.

    Where they do not go together, a pipeline that is graceful failed as a whole.

    Raises:
        ContextMergeError: They do not, in one that fails fast.
    """
    try:
        ended = RULES[work.pipeline.pattern].conclude(work)
        return replace(ended, values=(merged(ended.values),))
    except ContextMergeError as error:
        if work.pipeline.error_handling != "graceful":
            raise
        return Conclusion(({},), blame=work.pipeline.name, error=str(error))
