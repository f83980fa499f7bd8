"""A supervisor splits a task, workers do the parts, the supervisor composes (ADR-018)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from pydantic import create_model

from journeygraph.journeys.agents.signature import Ask, FieldSpec
from journeygraph.nodes.json_data import copied
from journeygraph.nodes.pipelines.choosing import Chooser
from journeygraph.nodes.pipelines.work import (
    Brief,
    Conclusion,
    Work,
    cards_of,
    failed,
    merged,
    short,
)
from journeygraph.nodes.state.session import AgentOutput

SUPERVISOR = "supervisor"
PLAN, REVIEW, COMPOSE = "plan", "review", "compose"
_PHASES = (PLAN, REVIEW, COMPOSE)
MOST_PARTS = 50
"""Most parts of a plan; what comes after them is omitted, and flagged."""
_CONTROL = ("tasks", "reassign")


def phase(work: Work) -> str:
    """Return what the supervisor is asked next; composing is asked for once."""
    return _PHASES[min(len(work.of(work.holder(SUPERVISOR))), 2)]


def brief(work: Work, name: str, part: Mapping[str, Any] | None) -> Brief:
    """Give a worker its part, and the supervisor what its phase needs."""
    if name != work.holder(SUPERVISOR):
        sent = part or {}
        return Brief({"task": sent.get("task", "")}, {**sent})
    now = phase(work)
    extra = {"phase": now, "workers": cards_of(work), "results": _handed_in(work)}
    return Brief(extra, {"phase": now}, lambda: _asks(work, now))


async def after(work: Work, result: AgentOutput, chooser: Chooser) -> dict[str, Any]:
    """Return the parts that the supervisor's answer leads to: its plan, or what is done again."""
    if result.get("error"):
        return {"open": []}
    if result.get("phase") == PLAN:
        return await _planned(work, result["values"], chooser)
    if result.get("phase") == REVIEW:
        return await _reassigned(work, result["values"], chooser)
    return {"open": []}


async def _planned(work: Work, values: Mapping[str, Any], chooser: Chooser) -> dict[str, Any]:
    given = values.get("tasks")
    wanted = [_part(item) for item in given] if isinstance(given, list) else []
    parts = [part for part in wanted if part["task"]] or [{"task": chooser.task, "worker": None}]
    flags = ["plan_cut"] if len(parts) > MOST_PARTS else []
    plan = []
    for part in parts[:MOST_PARTS]:
        worker, why = await _worker_for(work, part, chooser, ())
        plan.append({"task": part["task"], "worker": worker})
        flags += why
    return {"plan": plan, "open": list(range(len(plan))), "flags": flags}


async def _reassigned(work: Work, values: Mapping[str, Any], chooser: Chooser) -> dict[str, Any]:
    plan = copied(work.progress["plan"])
    again = _again(work, values.get("reassign"), plan)
    flags: list[str] = []
    for number, part in again.items():
        before = plan[number]["worker"]
        worker, why = await _worker_for(work, part, chooser, (before,))
        plan[number] = {**plan[number], "worker": worker, "reassigned_from": before}
        flags += why
    return {"plan": plan, "open": list(again), "flags": [*work.progress.get("flags", []), *flags]}


def _again(work: Work, given: Any, plan: Sequence[Mapping[str, Any]]) -> dict[int, dict[str, Any]]:
    """Return the parts that are done again: those sent back, and those whose worker failed."""
    again: dict[int, dict[str, Any]] = {}
    done = [r for r in work.results if "part" in r]
    if len(work.peers) > 1:
        for result in done:
            if result.get("error"):
                place = result["part"] - 1
                again[place] = {"task": plan[place]["task"], "worker": None}
    for item in given if isinstance(given, list) else []:
        wish = item if isinstance(item, Mapping) else {"part": item}
        number = wish.get("part")
        if type(number) is int and 1 <= number <= len(plan):
            again[number - 1] = {"task": plan[number - 1]["task"], "worker": wish.get("worker")}
    return again


async def _worker_for(
    work: Work, part: Mapping[str, Any], chooser: Chooser, but: Sequence[str]
) -> tuple[str, list[str]]:
    """Return the worker of a part: the named one, else a selected one, preferably unused."""
    named = part["worker"]
    if named in work.peers:
        return named, []
    flags = [f"unknown_worker:{short(named)}"] if named else []
    agents = [agent for agent in work.agents if agent.name not in but]
    mode = work.pipeline.settings["selection_mode"]
    selection = await chooser.choose(part["task"], agents or work.agents, 1, mode)
    return selection.names[0], [*flags, *selection.flags]


def _part(item: Any) -> dict[str, Any]:
    given = item if isinstance(item, Mapping) else {"task": item}
    task, worker = given.get("task"), given.get("worker")
    return {
        "task": task.strip() if isinstance(task, str) else "",
        "worker": worker if isinstance(worker, str) else None,
    }


def _handed_in(work: Work) -> list[dict[str, Any]]:
    last = {result["part"]: result for result in work.results if "part" in result}
    listed = []
    for number, result in sorted(last.items()):
        entry = {"part": number, "task": result["task"], "agent": result["agent"]}
        error = result.get("error")
        gave = {"error": error["message"]} if error else {"outputs": copied(result["values"])}
        listed.append({**entry, **gave})
    return listed


def conclude(work: Work) -> Conclusion:
    """Return the outputs of the supervisor; those of the workers if it has none."""
    flags = work.progress.get("flags", [])
    report = {"plan": work.progress.get("plan", []), "flags": flags}
    said = work.of(work.holder(SUPERVISOR))
    if not said:
        return Conclusion((), report, work.holder(SUPERVISOR), "it was not called")
    last = {r["part"]: r for r in work.results if "part" in r and not r.get("error")}
    parts = [result["values"] for _, result in sorted(last.items())]
    if said[-1].get("error"):
        return failed(said[-1], report, (merged(parts),) if parts else ())
    own = {name: value for name, value in said[-1]["values"].items() if name not in _CONTROL}
    if not own and not parts and work.progress.get("plan"):
        return failed(next(r for r in work.results if "part" in r), report)
    return Conclusion((own or merged(parts),), report)


def _asks(work: Work, now: str) -> Ask:
    names = tuple(work.peers)
    worker: Any = (Literal[names] | None, None)
    if now == PLAN:
        part = create_model("Part", task=(str, ...), worker=worker)
        field = FieldSpec("tasks", list[part], "The parts; worker only where it must be that one")  # type: ignore[valid-type]
        return Ask("Split the task into parts for your `workers`.", (field,), keeps_own=False)
    if now == REVIEW:
        again = create_model("Again", part=(int, ...), worker=worker)
        field = FieldSpec("reassign", list[again], "Parts to be done again by another worker")  # type: ignore[valid-type]
        said = "Review the `results`. Send back what is not good enough; else give the answer."
        return Ask(said, (field,))
    return Ask("Give the answer that follows from the `results`.")
