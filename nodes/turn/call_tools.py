"""Call the tools of a pathway before its agents work, so that they know the facts."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from journeygraph.journeys import Call
from journeygraph.nodes.journal import ASKED, is_pause, tool_log
from journeygraph.nodes.json_data import copied, plain
from journeygraph.nodes.llm.tools import Occasion, Toolbox, told
from journeygraph.nodes.payloads import TOOL_RESULTS
from journeygraph.nodes.services import Services
from journeygraph.nodes.state.session import PathwayState, Update

if TYPE_CHECKING:
    from journeygraph.nodes.draft import Hop

_SHARE = 0.5
"""Share of a pathway's time that its tools have together: the rest is the agents'."""


async def call_tools(state: PathwayState, services: Services) -> Update:
    """Call the tools of the pathway that runs, one after the other; note what they gave.

    What an earlier one saves, a later one may be given. A tool that fails, is late, or lacks an
    argument does not fail the turn: the agents are informed, and must not claim otherwise.

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
    occasion = Occasion(context, log=tool_log(services.running.journal, pathway.id))
    for call in pathway.calls:
        given = await _result(services.toolbox, call, occasion, until)
        results[call.tool] = given
        if call.save and _succeeded(given):
            context[call.save] = given
    return {"progress": {TOOL_RESULTS: results}}


async def _result(
    toolbox: Toolbox, call: Call, occasion: Occasion, until: float
) -> dict[str, Any] | Any:
    """Call a tool; return what it gave, or how else the call ended and why."""

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


def keep_saved(hop: Hop) -> None:
    """Keep in the context what the tools of a pathway gave, under the names of its `save`."""
    results = hop.progress.get(TOOL_RESULTS, {})
    hop.ops += [
        ["replace", call.save, results[call.tool], hop.pathway.id]
        for call in hop.pathway.calls
        if call.save and call.tool in results and _succeeded(results[call.tool])
    ]
