"""Count votes (ADR-018: consensus), and say what came of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from nodes.json_data import canonical
from nodes.pipelines.work import RESPONSE, Work
from nodes.state.session import Output

_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a vote came to.

    Attributes:
        winner: The agent whose proposal won; None if none did.
        why: Why none did: "tie", "below_threshold", "not_unanimous" or "no_votes".
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
        """What is said where no proposal won."""
        counted = ", ".join(f"{name} {votes:g}" for name, votes in self.tally.items())
        return f"No agreement was reached ({self.why}): {counted or 'no votes'}."


def counted(
    work: Work, proposals: Sequence[Output], votes: Sequence[Output], strategy: str, share: float
) -> Outcome:
    """Count the votes for some proposals.

    Proposals that say the same are one, under the name of the first who made it. An agent whose
    vote names nothing that can be voted for abstains; one that gave no vote at all votes for what
    it proposed.

    Args:
        work: The work, for the weights of the agents.
        proposals: What can be voted for.
        votes: The results of the vote.
        strategy: How to count.
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
) -> Outcome:
    cast = sum(tally.values())
    if not cast:
        return Outcome(None, "no_votes", tally, flags)
    most = max(tally.values())
    leading = [name for name, votes in tally.items() if most - votes < _ROUNDING]
    if strategy == "unanimous":
        winner = leading[0] if len(tally) == 1 else None
        return Outcome(winner, None if winner else "not_unanimous", tally, flags)
    if len(leading) > 1:
        return Outcome(None, "tie", tally, flags)
    at_least = strategy == "threshold"
    enough = most >= share * cast - _ROUNDING if at_least else most > share * cast + _ROUNDING
    if share >= 1:  # more than all is not to be had
        enough = most >= cast - _ROUNDING
    return Outcome(
        leading[0] if enough else None, None if enough else "below_threshold", tally, flags
    )


def _same(proposals: Sequence[Output]) -> dict[str, str]:
    """Return each proposer with the first who proposed the same."""
    first: dict[bytes, str] = {}
    return {p["agent"]: first.setdefault(_said(p["values"]), p["agent"]) for p in proposals}


def _said(values: Mapping[str, Any]) -> bytes:
    said = values.get(RESPONSE)
    return canonical(" ".join(said.casefold().split()) if isinstance(said, str) else dict(values))


def _chosen(result: Output, same: Mapping[str, str]) -> str | None:
    vote = result["values"].get("vote", result["agent"])
    return same.get(vote) if isinstance(vote, str) else None


def _weight(work: Work, result: Output) -> float:
    sure = result["values"].get("confidence", 1.0)
    is_number = isinstance(sure, (int, float)) and not isinstance(sure, bool)
    confidence = min(max(float(sure), 0.0), 1.0) if is_number else 1.0
    weights = {agent.name: agent.weight for agent in work.agents}
    return weights[result["agent"]] * confidence
