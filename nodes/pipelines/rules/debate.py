"""Agents take positions and answer each other, then a judge or the majority decides (ADR-018)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from journeygraph.journeys.agents.signature import Ask, FieldSpec
from journeygraph.nodes.pipelines.rules.consensus import (
    VOTE,
    VoteOutcome,
    counted,
    vote_on,
    votes_in,
)
from journeygraph.nodes.pipelines.work import (
    RESPONSE,
    Brief,
    Conclusion,
    Work,
    failed,
    in_order,
    only,
    shown,
)
from journeygraph.nodes.state.session import AgentOutput

JUDGE = "judge"
POSITION, REBUTTAL = "position", "rebuttal"
JUDGING, OVER = "judging", "over"
_MAJORITY = 0.5
_ASKS = {
    POSITION: Ask("Take a position of your own, and give your reasons."),
    REBUTTAL: Ask("Answer the others' arguments in `debate`; hold your position or change it."),
}


def brief(work: Work, name: str, part: Mapping[str, Any] | None) -> Brief:
    """Give an agent the whole debate so far, in the order of rounds and agents."""
    talk = {"debate": shown(speeches(work), round="round")}
    if name == work.holder(JUDGE):
        return Brief(talk, ask=lambda: _verdict_of(work))
    if work.progress.get("phase") == VOTE:
        return vote_on(name, last_words(work), **talk)
    number = current_round(work)
    phase = POSITION if number == 1 else REBUTTAL
    said = {"phase": phase, "round": number}
    return Brief({**said, **talk}, said, lambda: _ASKS[phase])


def current_round(work: Work) -> int:
    """Return the number of the round that runs, from 1."""
    return int(work.progress.get("round", 1))


def following(work: Work) -> dict[str, Any]:
    """Return what comes after everybody has spoken or voted, as a change of the progress."""
    if work.progress.get("phase") == VOTE or not speeches(work):
        return {"phase": OVER}
    number = current_round(work)
    if number < work.pipeline.settings["rounds"]:
        return {"round": number + 1}
    if work.holder(JUDGE):
        return {"phase": JUDGING}
    return {"phase": VOTE, "voters": [result["agent"] for result in last_words(work)]}


def speeches(work: Work) -> list[AgentOutput]:
    """Return the debate, round by round."""
    spoken = [r for r in work.given if r.get("phase") in _ASKS]
    return sorted(spoken, key=lambda result: result.get("round", 1))


def last_words(work: Work) -> list[AgentOutput]:
    """Return the last outputs of each agent, in the order of the agents."""
    last = {result["agent"]: result for result in speeches(work)}
    return in_order(list(last.values()))


def outcome(work: Work) -> VoteOutcome:
    """Count the votes for the last positions of the agents."""
    return counted(work, last_words(work), votes_in(work), "majority", _MAJORITY)


def conclude(work: Work) -> Conclusion:
    """Return the judge's verdict, or what the majority voted for, or that there was neither."""
    if not speeches(work) and work.results:
        return failed(work.results[0], {})
    rounds = {"rounds": current_round(work)}
    if judge := work.holder(JUDGE):
        results = work.of(judge)
        result = results[-1] if results else None
        winner = result["values"].get("winner") if result else None
        if result and not result["values"].get(RESPONSE):
            # A judge that only names a winner lets that one speak.
            won = [r["values"] for r in last_words(work) if r["agent"] == winner]
            result = {**result, "values": {**(won[0] if won else {}), **result["values"]}}
        return only(result, {**rounds, "verdict": {"by": judge, "winner": winner}}, judge)
    came_to = outcome(work)
    verdict = {"by": "majority", **came_to.report}
    report = {**rounds, "verdict": verdict, "flags": list(came_to.flags)}
    won = [r["values"] for r in last_words(work) if r["agent"] == came_to.winner]
    return Conclusion(won or ({RESPONSE: came_to.sentence},), report)


def _verdict_of(work: Work) -> Ask:
    names = tuple(dict.fromkeys(result["agent"] for result in speeches(work)))
    winner = Literal[names] | None if names else str | None
    field = FieldSpec("winner", winner, "Who argued best; null if there is no winner")
    return Ask("You are the judge of the `debate`. Decide, and say why.", (field,))
