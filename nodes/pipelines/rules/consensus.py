"""Every agent proposes, then every agent votes (ADR-018: consensus)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from journeys.agents.io_fields import FieldSpec
from nodes.json_data import copied
from nodes.llm.prompts import Ask
from nodes.pipelines.rules.votes import Outcome, counted
from nodes.pipelines.work import RESPONSE, Brief, Conclusion, Work, failed, in_order
from nodes.state.session import Output

PROPOSE, VOTE = "propose", "vote"
_PROPOSE = Ask("Make your own proposal. Later everybody votes on all proposals.")


def brief(work: Work, name: str, part: Mapping[str, Any] | None) -> Brief:
    """Ask for a proposal, then for a vote on all of them."""
    if phase(work) == PROPOSE:
        return Brief({"phase": PROPOSE}, {"phase": PROPOSE}, lambda: _PROPOSE)
    return vote_on(name, proposals(work))


def vote_on(name: str, candidates: list[Output], **also: Any) -> Brief:
    """Ask for a vote on what some agents said.

    Args:
        name: Who votes.
        candidates: What can be voted for.
        **also: Given beside it, by name.
    """
    listed = [{"id": c["agent"], "outputs": copied(c["values"])} for c in candidates]
    extra = {"phase": VOTE, **also, "proposals": listed}
    return Brief(extra, {"phase": VOTE}, lambda: _ballot(name, candidates))


def votes_in(work: Work) -> list[Output]:
    """Return the votes that there are, in the order of the agents."""
    cast = [r for r in work.results if r.get("phase") == VOTE and not r.get("error")]
    return in_order(cast)


def _ballot(name: str, candidates: list[Output]) -> Ask:
    """Return what a model is asked for in a vote: one of the candidates, and how sure it is."""
    names = tuple(dict.fromkeys(candidate["agent"] for candidate in candidates))
    fields = (
        FieldSpec("vote", Literal[names] if names else str, "The id of what you vote for"),
        FieldSpec("confidence", float, "How sure you are, from 0 to 1"),
        FieldSpec("reason", str, "Why, in a few words"),
    )
    listed = ", ".join(f"'{candidate}'" for candidate in names)
    own = f" Your own is '{name}'." if name in names else " You proposed nothing."
    return Ask(
        f"Vote for the best of what was proposed, by its id. You can vote for: {listed}.{own}",
        fields,
        keeps_own=False,
    )


def phase(work: Work) -> str:
    """Return what is being asked for."""
    return VOTE if work.progress.get("phase") == VOTE else PROPOSE


def following(work: Work) -> dict[str, Any]:
    """Return who votes once everybody has proposed, and nobody after that."""
    if work.progress.get("phase") == VOTE:
        return {"phase": "counted", "voters": []}
    return {"phase": VOTE, "voters": [proposal["agent"] for proposal in proposals(work)]}


def proposals(work: Work) -> list[Output]:
    """Return what can be voted for, in the order of the agents."""
    return [r for r in work.given if r.get("phase") == PROPOSE]


def outcome(work: Work) -> Outcome:
    """Count the votes that there are."""
    settings = work.pipeline.settings
    strategy, threshold = settings["voting_strategy"], settings["threshold"]
    return counted(work, proposals(work), votes_in(work), strategy, threshold)


def conclude(work: Work) -> Conclusion:
    """Return the proposal that won; without one, a sentence that says so and no other output."""
    if not proposals(work) and work.results:
        return failed(work.results[0], {})
    came_to = outcome(work)
    report = {"consensus": came_to.report, "flags": list(came_to.flags)}
    won = [r["values"] for r in proposals(work) if r["agent"] == came_to.winner]
    return Conclusion(won or ({RESPONSE: came_to.sentence},), report)
