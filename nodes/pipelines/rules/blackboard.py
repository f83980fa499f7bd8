"""A controller looks at a board, and specialists add to it one by one (ADR-018)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from journeygraph.journeys.agents.signature import Ask, FieldSpec
from journeygraph.nodes.pipelines.choosing import NO_MATCH, Chooser
from journeygraph.nodes.pipelines.work import (
    RESPONSE,
    Brief,
    Conclusion,
    Work,
    cards_of,
    failed,
    failures,
    merged,
    short,
    shown,
)
from journeygraph.nodes.state.session import AgentOutput

CONTROLLER = "controller"
DONE, OUT_OF_ROUNDS, NOBODY = "done", "max_iterations", "no_specialist"
_CONTROL = ("done", "next", "need")


def brief(work: Work, name: str, part: Mapping[str, Any] | None) -> Brief:
    """Show the board; the controller sees the specialists and how many rounds are left too."""
    seen = {"board": shown(entries(work))}
    if name != work.holder(CONTROLLER):
        number = asked(work) + 1
        return Brief({**seen, "need": work.progress.get("need", "")}, {"round": number})
    left = work.pipeline.settings["max_iterations"] - asked(work)
    cards = cards_of(work)
    extra = {**seen, "specialists": cards, "rounds_left": left, "failed": failures(work.results)}
    return Brief(extra, {"phase": "control"}, lambda: _ask(work))


def entries(work: Work) -> list[AgentOutput]:
    """Return what is on the board, the oldest first."""
    peers = set(work.peers)
    return [r for r in work.results if not r.get("error") and r["agent"] in peers]


def asked(work: Work) -> int:
    """Return how many specialists were asked."""
    peers = set(work.peers)
    return sum(result["agent"] in peers for result in work.results)


async def after(work: Work, result: AgentOutput, chooser: Chooser) -> dict[str, Any]:
    """Return the next agent, or the reason why there is none."""
    values = result["values"]
    if result.get("error") or values.get("done"):
        return {"next": None, "stopped": DONE if not result.get("error") else "failed"}
    if asked(work) >= work.pipeline.settings["max_iterations"]:
        return {"next": None, "stopped": OUT_OF_ROUNDS}
    need = values.get("need")
    need = need if isinstance(need, str) else ""
    named, flags = values.get("next"), [*work.progress.get("flags", [])]
    if named in work.peers:
        return {"next": named, "need": need}
    flags += [f"unknown_specialist:{short(named)}"] if named else []
    chosen, why = await _chosen(work, need, chooser)
    return {
        "next": chosen,
        "need": need,
        "stopped": None if chosen else NOBODY,
        "flags": [*flags, *why],
    }


async def _chosen(work: Work, need: str, chooser: Chooser) -> tuple[str | None, list[str]]:
    """Return the agent for a need: the best match, else one that was not called yet."""
    mode = work.pipeline.settings["selection_mode"]
    if need:
        selection = await chooser.choose(need, work.agents, 1, mode)
        if NO_MATCH not in selection.flags:
            return selection.names[0], list(selection.flags)
    heard = {result["agent"] for result in work.results}
    fresh = [agent for agent in work.agents if agent.name not in heard]
    if not fresh:
        return None, []
    selection = await chooser.choose(need or chooser.task, fresh, 1, mode)
    return selection.names[0], list(selection.flags)


def conclude(work: Work) -> Conclusion:
    """Return what is on the board, and over it what the controller says in the end."""
    report = {
        "stopped": work.progress.get("stopped"),
        "rounds": asked(work),
        "flags": work.progress.get("flags", []),
    }
    board = merged([entry["values"] for entry in entries(work)])
    looks = work.of(work.holder(CONTROLLER))
    values = (board,) if board else ()
    if not looks:
        return Conclusion(values, report, work.holder(CONTROLLER), "it was not called")
    if looks[-1].get("error"):
        return failed(looks[-1], report, values)
    own = {name: value for name, value in looks[-1]["values"].items() if name not in _CONTROL}
    if not own.get(RESPONSE):
        own.pop(RESPONSE, None)
    if not board and not own and asked(work):
        return failed(next(r for r in work.results if r["agent"] in work.peers), report)
    return Conclusion(({**board, **own},), report)


def _ask(work: Work) -> Ask:
    names = tuple(work.peers)
    fields = (
        FieldSpec("done", bool, "Whether the board holds all that the answer needs"),
        FieldSpec("next", Literal[names] | None, "Who is to add to it; null to be chosen by need"),
        FieldSpec("need", str | None, "What is missing, in a few words"),
    )
    return Ask(
        "You control the work: look at the `board`, and say what is missing, or that it is done "
        "and what the answer is.",
        fields,
    )
