"""The rules of the nine patterns: the input of each agent, and the result of a run. No graph."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from importlib import import_module

from journeygraph.journeys import ContextMergeError
from journeygraph.nodes.pipelines.work import Conclusion, Rules, Work, merged

_PLACES: Mapping[str, tuple[str, str]] = {
    "sequential": ("simple", "Sequential"),
    "supervisor_worker": ("supervisor_worker", ""),
    "router": ("simple", "Router"),
    "ensemble": ("simple", "Ensemble"),
    "blackboard": ("blackboard", ""),
    "consensus": ("consensus", ""),
    "debate": ("debate", ""),
    "handoff": ("handoff", ""),
    "parallel": ("simple", "Parallel"),
}
"""Pattern -> the module of its rules, and the class in it where the module has several."""


@cache
def rules_of(pattern: str) -> Rules:
    """Return the rules of a pattern; their module is imported on first use."""
    module, name = _PLACES[pattern]
    found = import_module(f"{__name__}.{module}")
    rules: Rules = getattr(found, name)() if name else found
    return rules


def conclude_as_one(work: Work) -> Conclusion:
    """Return the result of a finished run, with merged outputs: a dict, perhaps empty.

    Where they do not go together, a pipeline that is graceful failed as a whole.
    """
    try:
        ended = rules_of(work.pipeline.pattern).conclude(work)
        return replace(ended, values=(merged(ended.values),))
    except ContextMergeError as error:
        if work.pipeline.error_handling != "graceful":
            raise
        return Conclusion(({},), blame=work.pipeline.name, error=str(error))
