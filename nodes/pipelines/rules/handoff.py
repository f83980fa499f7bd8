"""One agent has the word, and can hand over to another (ADR-018: handoff)."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any, Literal

from pydantic import create_model

from journeygraph.journeys import ConfigurationError, Handoff
from journeygraph.journeys.agents.signature import Ask, FieldSpec
from journeygraph.nodes.authored import contained
from journeygraph.nodes.json_data import copied
from journeygraph.nodes.pipelines.choosing import Chooser
from journeygraph.nodes.pipelines.work import Brief, Conclusion, Work, failed, short
from journeygraph.nodes.state.session import AgentOutput
from journeygraph.nodes.telemetry import part_raised

MOST_TURNS = 3
"""Times that one agent has the word in a run, at most: two may not pass it on for ever."""
HANDOFF = "handoff"


def holder(work: Work) -> str:
    """Return who has the word."""
    return str(work.progress.get("holder") or work.peers[0])


def brief(work: Work, name: str, part: Mapping[str, Any] | None) -> Brief:
    """Tell who takes over why, and show as much of the talk as the request says."""
    path = work.progress.get("path", [])
    if not path:
        return Brief(ask=lambda: _ask(work, name))
    step = path[-1]
    before = work.of(step["from"])
    outputs = copied(before[-1]["values"]) if before else {}
    outputs.pop(HANDOFF, None)
    shown = {key: step[key] for key in ("from", "to", "reason")}
    extra = {HANDOFF: {**shown, "outputs": outputs}}
    return Brief(extra, ask=lambda: _ask(work, name), history=step["history"])


async def after(work: Work, result: AgentOutput, chooser: Chooser) -> dict[str, Any]:
    """Return who has the word next; the one who has it keeps it where a request is refused."""
    name = result["agent"]
    if result.get("error"):
        return {"holder": name, "next": None}
    request, why = await _request(work, name, result["values"])
    if request is None:
        return {"holder": name, "next": None, "flags": [*work.progress.get("flags", []), *why]}
    step = {"from": name, "to": request.to, "reason": request.reason, "history": request.history}
    path = [*work.progress.get("path", []), step]
    return {"holder": request.to, "next": request.to, "path": path}


async def _request(
    work: Work, name: str, values: Mapping[str, Any]
) -> tuple[Handoff | None, list[str]]:
    try:
        with contained():
            wanted = await _wanted(work, name, values)
    except Exception as error:  # whatever an author's condition raises
        if work.pipeline.settings["handoff_condition"] is None:
            return None, ["handoff_refused:unreadable"]
        part_raised("condition", "handoff_condition", error)
        # Flags are told to clients: what failed is named, and not described.
        return None, [f"handoff_condition_raised:{type(error).__name__}"]
    if wanted is None:
        return None, []
    if wanted.to not in work.peers:
        return None, [f"handoff_refused:unknown:{short(wanted.to)}"]
    if wanted.to == name:
        return None, ["handoff_refused:itself"]
    if len(work.of(wanted.to)) >= MOST_TURNS:
        return None, ["handoff_refused:limit"]
    return wanted, []


async def _wanted(work: Work, name: str, values: Mapping[str, Any]) -> Handoff | None:
    condition = work.pipeline.settings["handoff_condition"]
    asked = values.get(HANDOFF) if condition is None else condition(copied(dict(values)))
    if inspect.isawaitable(asked):
        asked = await asked
    if isinstance(asked, Handoff) or not asked:
        return asked or None
    if asked is True:
        following = work.peers[work.peers.index(name) + 1 :]
        return Handoff(following[0], "the condition holds") if following else None
    if isinstance(asked, str):
        return Handoff(asked)
    if not isinstance(asked, Mapping) or not isinstance(asked.get("to"), str):
        raise ConfigurationError("a handoff must name its target: {'to': name, 'reason': text}")
    return Handoff(asked["to"], str(asked.get("reason") or ""), asked.get("history"))


def conclude(work: Work) -> Conclusion:
    """Return what the last one to have the word gave."""
    path = [
        {k: step[k] for k in ("from", "to", "reason")} for step in work.progress.get("path", [])
    ]
    report = {"path": path, "flags": work.progress.get("flags", [])}
    results = work.of(holder(work))
    if not results:
        return Conclusion((), report, holder(work), "it was not called")
    if results[-1].get("error"):
        return failed(results[-1], report)
    values = {name: value for name, value in results[-1]["values"].items() if name != HANDOFF}
    return Conclusion((values,), report)


def _ask(work: Work, name: str) -> Ask | None:
    others = tuple(peer for peer in work.peers if peer != name)
    if work.pipeline.settings["handoff_condition"] is not None or not others:
        return None
    to: Any = (Literal[others], ...)
    request = create_model("Request", to=to, reason=(str, ...))
    said = (
        f"Another agent that should take over; null if you can answer. Others: {_told(work, name)}"
    )
    return Ask(
        "Answer if this is yours to answer; else hand over to another agent.",
        (FieldSpec(HANDOFF, request | None, said),),
    )


def _told(work: Work, name: str) -> str:
    others = [agent for agent in work.agents if agent.name != name]
    return "; ".join(f"{agent.name}: {agent.description or 'no description'}" for agent in others)
