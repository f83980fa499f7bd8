"""Every agent proposes, then every agent votes (ADR-018: consensus); how votes are counted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from journeygraph.journeys.agents.signature import Ask, FieldSpec
from journeygraph.nodes.json_data import canonical, copied
from journeygraph.nodes.pipelines.work import RESPONSE, Brief, Conclusion, Work, failed, in_order
from journeygraph.nodes.state.session import AgentOutput

PROPOSE, VOTE = "propose", "vote"
_ROUNDING = 1e-9
_PROPOSE = Ask("Make your own proposal. Later everybody votes on all proposals.")


def brief(work: Work, name: str, part: Mapping[str, Any] | None) -> Brief:
    """Ask for a proposal, then for a vote on all of them."""
    if phase(work) == PROPOSE:
        return Brief({"phase": PROPOSE}, {"phase": PROPOSE}, lambda: _PROPOSE)
    return vote_on(name, proposals(work))


def vote_on(name: str, candidates: list[AgentOutput], **also: Any) -> Brief:
    """Ask for a vote on the proposals of some agents.

    Args:
        **also: Given next to it, by name.
    """
    listed = [{"id": c["agent"], "outputs": copied(c["values"])} for c in candidates]
    extra = {"phase": VOTE, **also, "proposals": listed}
    return Brief(extra, {"phase": VOTE}, lambda: _ballot(name, candidates))


def votes_in(work: Work) -> list[AgentOutput]:
    """Return the votes that there are, in the order of the agents."""
    cast = [r for r in work.results if r.get("phase") == VOTE and not r.get("error")]
    return in_order(cast)


def _ballot(name: str, candidates: list[AgentOutput]) -> Ask:
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
    """Return the voters after all proposals, and none after the vote."""
    if work.progress.get("phase") == VOTE:
        return {"phase": "counted", "voters": []}
    return {"phase": VOTE, "voters": [proposal["agent"] for proposal in proposals(work)]}


def proposals(work: Work) -> list[AgentOutput]:
    """Return what can be voted for, in the order of the agents."""
    return [r for r in work.given if r.get("phase") == PROPOSE]


def outcome(work: Work) -> VoteOutcome:
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


@dataclass(frozen=True, slots=True)
class VoteOutcome:
    """Result of a vote.

    Attributes:
        winner: The agent whose proposal won; None if none did.
        why: The reason if none did: "tie", "below_threshold", "not_unanimous" or "no_votes".
        tally: Votes, or weight of votes, of each proposal that got any.
        flags: Votes that did not count.
    """

    winner: str | None
    why: str | None
    tally: Mapping[str, float]
    flags: Sequence[str] = ()

    @property
    def report(self) -> dict[str, Any]:
        """The outcome as plain data."""
        reached = self.winner is not None
        return {
            "reached": reached,
            "why": self.why,
            "winner": self.winner,
            "tally": dict(self.tally),
        }

    @property
    def sentence(self) -> str:
        """Return the reply if no proposal won."""
        counted = ", ".join(f"{name} {votes:g}" for name, votes in self.tally.items())
        return f"No agreement was reached ({self.why}): {counted or 'no votes'}."


def counted(
    work: Work,
    proposals: Sequence[AgentOutput],
    votes: Sequence[AgentOutput],
    strategy: str,
    share: float,
) -> VoteOutcome:
    """Count the votes for some proposals.

    Proposals that say the same are one, under the name of the first who made it. An agent whose
    vote names nothing that can be voted for abstains; one that gave no vote at all votes for what
    it proposed.

    Args:
        share: Of all votes cast, what the winner needs.
    """
    same = _same(proposals)
    tally = dict.fromkeys(same.values(), 0.0)
    flags = []
    for result in votes:
        chosen = _chosen(result, same)
        if chosen is None:
            flags.append(f"vote_ignored:{result['agent']}")
        else:
            tally[chosen] += _weight(work, result) if strategy == "weighted" else 1
    tally = {name: round(votes, 6) for name, votes in tally.items() if votes}
    return _outcome(tally, strategy, share, tuple(flags))


def _outcome(
    tally: Mapping[str, float], strategy: str, share: float, flags: tuple[str, ...]
) -> VoteOutcome:
    cast = sum(tally.values())
    if not cast:
        return VoteOutcome(None, "no_votes", tally, flags)
    most = max(tally.values())
    leading = [name for name, votes in tally.items() if most - votes < _ROUNDING]
    if strategy == "unanimous":
        winner = leading[0] if len(tally) == 1 else None
        return VoteOutcome(winner, None if winner else "not_unanimous", tally, flags)
    if len(leading) > 1:
        return VoteOutcome(None, "tie", tally, flags)
    at_least = strategy == "threshold"
    enough = most >= share * cast - _ROUNDING if at_least else most > share * cast + _ROUNDING
    if share >= 1:  # more than all is not to be had
        enough = most >= cast - _ROUNDING
    return VoteOutcome(
        leading[0] if enough else None, None if enough else "below_threshold", tally, flags
    )


def _same(proposals: Sequence[AgentOutput]) -> dict[str, str]:
    """Return each proposer with the first who proposed the same."""
    first: dict[bytes, str] = {}
    return {p["agent"]: first.setdefault(_said(p["values"]), p["agent"]) for p in proposals}


def _said(values: Mapping[str, Any]) -> bytes:
    said = values.get(RESPONSE)
    return canonical(" ".join(said.casefold().split()) if isinstance(said, str) else dict(values))


def _chosen(result: AgentOutput, same: Mapping[str, str]) -> str | None:
    vote = result["values"].get("vote", result["agent"])
    return same.get(vote) if isinstance(vote, str) else None


def _weight(work: Work, result: AgentOutput) -> float:
    sure = result["values"].get("confidence", 1.0)
    is_number = isinstance(sure, (int, float)) and not isinstance(sure, bool)
    confidence = min(max(float(sure), 0.0), 1.0) if is_number else 1.0
    weights = {agent.name: agent.weight for agent in work.agents}
    return weights[result["agent"]] * confidence
