"""Call the tools of a pathway before its agents work, so that they know the facts."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from journeygraph.journeys import Call, PathwaySpec
from journeygraph.nodes.capability import Capability, PathwayStep
from journeygraph.nodes.journal import ASKED, is_pause, tool_log
from journeygraph.nodes.json_data import copied, plain
from journeygraph.nodes.llm.tools import Occasion, Toolbox, told
from journeygraph.nodes.payloads import TOOL_RESULTS, name_of_turn
from journeygraph.nodes.services import Services
from journeygraph.nodes.state.context import Op, apply_ops, kept
from journeygraph.nodes.state.session import PathwayState, Update

if TYPE_CHECKING:
    from journeygraph.nodes.draft import PathwayRun

_SHARE = 0.5
"""Share of a pathway's time that its tools have together: the rest is the agents'."""


async def call_tools(state: PathwayState, services: Services) -> Update:
    """Call the tools of the pathway that runs, one after the other; note what they gave.

    What one saves, later calls and the agents find in the context. A tool that fails, is late, or
    lacks an argument does not fail the turn: the agents are informed, and must not claim otherwise.
    What it saved in an earlier turn is of other arguments, so it is removed.

    Source: flow control, state guidance injection.
    """
    turn = state["turn"]
    assert turn["run"] is not None
    assert services.toolbox is not None
    pathway = services.spec.pathways[turn["run"]]
    context: dict[str, Any] = {"message": turn["message"] or "", **copied(state["context"])}
    results: dict[str, Any] = {}
    seconds = _SHARE * (pathway.timeout or services.config.pathway_timeout_seconds)
    until = asyncio.get_running_loop().time() + seconds
    log = tool_log(services.running.journal, pathway.id)
    occasion = Occasion(context, log=log, run=name_of_turn(state))
    for call in pathway.calls:
        given = await _result(services.toolbox, call, occasion, until)
        results[call.tool] = given
        known = apply_ops(occasion.context, _saved([call], results))
        occasion = replace(occasion, context=known)
    # For the agents; the journey's own context is changed by `settle`.
    own = apply_ops(state["context"], _saved(pathway.calls, results))
    return {"progress": {TOOL_RESULTS: results}, "context": own}


async def _result(
    toolbox: Toolbox, call: Call, occasion: Occasion, until: float
) -> dict[str, Any] | Any:
    def ended(end: str, reason: str) -> dict[str, Any]:
        occasion.note(end, call.tool, reason)
        return {end: reason}

    arguments, missing = toolbox.arguments_of(call, occasion.context)
    if missing:
        return ended("not_called", f"not known yet: {', '.join(missing)}")
    if asyncio.get_running_loop().time() >= until:  # begun now, it would work on unheard
        return ended("not_called", "no time was left")
    try:
        async with asyncio.timeout_at(until):
            given = plain(await toolbox.call(call.tool, arguments, occasion), call.tool)
    except TimeoutError:
        return ended("failed", "it took too long")
    except asyncio.CancelledError:
        ended("failed", "the turn continued without it")
        raise
    except Exception as error:  # whatever an author's function raises
        if is_pause(error):
            ended("not_called", ASKED)
            raise
        return ended("failed", told(error))
    occasion.note("done", call.tool)
    return given


def _succeeded(given: Any) -> bool:
    return not (isinstance(given, dict) and given.keys() in ({"failed"}, {"not_called"}))


def _saved(calls: Sequence[Call], results: Mapping[str, Any]) -> list[Op]:
    return [
        kept(call.save, results[call.tool] if _succeeded(results[call.tool]) else None)
        for call in calls
        if call.save and call.tool in results
    ]


def not_saved(calls: Sequence[Call], results: Mapping[str, Any]) -> frozenset[str]:
    """Return the names of `save` that have no value, as their calls failed or were not made."""
    return frozenset(
        call.save for call in calls if call.save and not _succeeded(results.get(call.tool))
    )


class Calls(Capability):
    """Calls of tools before the agents of a pathway."""

    def steps(self, pathway: PathwaySpec) -> Sequence[PathwayStep]:
        """Return the step that calls the tools of a pathway, if it calls any."""
        return [PathwayStep("tools", call_tools, "tools")] if pathway.calls else []

    def gather(self, run: PathwayRun) -> None:
        """Keep in the context what the tools of a pathway gave, under the names of its `save`."""
        saved = _saved(run.pathway.calls, run.progress.get(TOOL_RESULTS, {}))
        run.ops += [[*op, run.pathway.id] for op in saved]
