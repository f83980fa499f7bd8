"""Results of a consensus and of a debate, for all votes."""

from __future__ import annotations

from typing import Any

import pytest

from journeygraph import Agent, ConfigurationError, Pipeline
from tests.pipelines.marked import Marked, failed, fails_in, mark

OWN = object()
"""No word of a vote at all: that is a vote for one's own proposal."""


def voter(name: str, vote: Any, **also: Any) -> Marked:
    """An agent that proposes its mark, and gives the vote of the test."""

    def answer(payload: dict[str, Any]) -> dict[str, Any]:
        proposal = {"response": also.get("proposes", mark(name))}
        if payload["phase"] == "propose":
            return proposal
        sure = {"confidence": also["confidence"]} if "confidence" in also else {}
        return {**sure, **({} if vote is OWN else {"vote": vote})}

    return Marked(name, answer)


def voters(votes: dict[str, Any]) -> list[Marked]:
    return [voter(name, vote) for name, vote in votes.items()]


async def consensus(agents: Any, **settings: Any) -> dict[str, Any]:
    return await Pipeline.consensus(agents, **settings).run(message="which one?")


@pytest.mark.parametrize(
    ("settings", "votes", "winner", "why"),
    [
        # strategy and threshold, who votes for whom, the winner or why there is none
        (("majority", 0.5), {"a": "a", "b": "a", "c": "c"}, "a", None),
        (("majority", 0.5), {"a": "a", "b": "b", "c": "c"}, None, "tie"),
        (("majority", 0.5), {"a": "a", "b": "b"}, None, "tie"),
        (("majority", 0.5), {"a": "b", "b": "b", "c": "a", "d": "a"}, None, "tie"),
        (("majority", 0.5), {"a": "a", "b": "a", "c": "b", "d": "c"}, None, "below_threshold"),
        (("majority", 0.4), {"a": "a", "b": "a", "c": "b", "d": "c"}, "a", None),
        (("majority", 0.0), {"a": "a", "b": "a", "c": "b", "d": "c", "e": "d"}, "a", None),
        (("majority", 2 / 3), {"a": "a", "b": "a", "c": "c"}, None, "below_threshold"),
        (("majority", 1.0), {"a": "b", "b": "b", "c": "b"}, "b", None),
        (("majority", 1.0), {"a": "b", "b": "b", "c": "c"}, None, "below_threshold"),
        (("threshold", 0.5), {"a": "a", "b": "a", "c": "b", "d": "c"}, "a", None),
        (("threshold", 2 / 3), {"a": "a", "b": "a", "c": "c"}, "a", None),
        (("threshold", 0.7), {"a": "a", "b": "a", "c": "c"}, None, "below_threshold"),
        (("threshold", 0.5), {"a": "a", "b": "b"}, None, "tie"),
        (("threshold", 1.0), {"a": "c", "b": "c", "c": "c"}, "c", None),
        (("unanimous", 0.5), {"a": "b", "b": "b", "c": "b"}, "b", None),
        (("unanimous", 0.5), {"a": "b", "b": "b", "c": "a"}, None, "not_unanimous"),
        (("weighted", 0.5), {"a": "a", "b": "b", "c": "b"}, "b", None),
        (("weighted", 0.5), {"a": "a", "b": "b"}, None, "tie"),
        # who says nothing votes for himself
        (("majority", 0.5), {"a": OWN, "b": "a", "c": OWN}, "a", None),
        (("unanimous", 0.5), {"a": OWN, "b": OWN}, None, "not_unanimous"),
        (("majority", 0.5), {"a": OWN}, "a", None),
        (("majority", 0.5), {"a": None, "b": "a", "c": None}, "a", None),
    ],
    ids=lambda value: "-".join(map(str, value)) if isinstance(value, tuple) else None,
)
async def test_votes_come_to(settings, votes, winner, why):
    strategy, threshold = settings
    result = await consensus(voters(votes), voting_strategy=strategy, threshold=threshold)

    outcome = result["pipeline"]["consensus"]
    assert (outcome["reached"], outcome["winner"], outcome["why"]) == (
        winner is not None,
        winner,
        why,
    )
    counted = {name: [*_cast(votes)].count(name) for name in _cast(votes)}
    assert outcome["tally"] == counted
    if winner:
        assert result["response"] == mark(winner)
    else:
        assert why in result["response"]
    assert result["pipeline"]["status"] == "complete"
    assert result["pipeline"]["failed"] == []


def _cast(votes: dict[str, Any]) -> list[str]:
    return [name if vote in (OWN, None) else vote for name, vote in votes.items()]


@pytest.mark.parametrize("strategy", ["majority", "threshold", "weighted", "unanimous"])
@pytest.mark.parametrize(
    "vote",
    [
        pytest.param("nobody", id="unknown"),
        pytest.param(3, id="number"),
        pytest.param(["a"], id="list"),
        pytest.param({"id": "a"}, id="dict"),
        pytest.param("", id="empty"),
        pytest.param("A", id="other case"),
    ],
)
async def test_a_vote_for_nothing_that_was_proposed_is_no_vote(strategy, vote):
    votes = {"a": "b", "b": "b", "c": vote}

    result = await consensus(voters(votes), voting_strategy=strategy)

    outcome = result["pipeline"]["consensus"]
    assert (outcome["winner"], outcome["tally"]) == ("b", {"b": 2})
    assert result["pipeline"]["flags"] == ["vote_ignored:c"]


async def test_without_a_vote_that_counts_nothing_is_agreed():
    result = await consensus(voters({"a": "x", "b": [], "c": 1}))

    outcome = result["pipeline"]["consensus"]
    assert (outcome["reached"], outcome["why"], outcome["tally"]) == (False, "no_votes", {})
    assert result["pipeline"]["flags"] == [f"vote_ignored:{name}" for name in "abc"]
    assert "no_votes" in result["response"]


async def test_proposals_that_say_the_same_are_one():
    agents = [
        voter("a", OWN, proposes="Pay it  back"),
        voter("b", OWN, proposes="pay it back"),
        voter("c", OWN, proposes="Refuse"),
    ]
    result = await consensus(agents)

    assert result["pipeline"]["consensus"]["tally"] == {"a": 2, "c": 1}
    assert result["response"] == "Pay it  back"


async def test_weights_and_confidence_weigh():
    def weighing(weight: float, confidence: Any) -> list[Any]:
        return [
            Agent(voter("a", "a", confidence=confidence), name="a", weight=weight),
            voter("b", "b"),
            voter("c", "b"),
        ]

    async def winner(weight: float, confidence: Any, strategy: str = "weighted") -> Any:
        result = await consensus(weighing(weight, confidence), voting_strategy=strategy)
        return result["pipeline"]["consensus"]["winner"]

    assert await winner(3, 1.0) == "a"
    assert await winner(3, 0.5) == "b"
    assert await winner(2, 1.0) is None
    assert await winner(3, 17.0) == "a"  # nobody is surer than sure
    assert await winner(3, -4) == "b"
    assert await winner(3, "very") == "a"  # no number: as if nothing was said
    assert await winner(100, 1.0, "majority") == "b"


async def test_weights_of_many_votes_add_up_without_rounding():
    agents = [
        *(Agent(voter(f"a{n}", "a0", confidence=0.1), name=f"a{n}") for n in range(3)),
        Agent(voter("b", "b", confidence=0.3), name="b"),
    ]

    result = await consensus(agents, voting_strategy="weighted")

    assert result["pipeline"]["consensus"]["why"] == "tie"


async def test_who_failed_to_propose_cannot_be_voted_for():
    ill = fails_in("propose", OSError("no idea"))(voter("ill", OWN))
    agents = [ill, voter("b", "ill"), voter("c", OWN)]

    result = await consensus(agents)

    assert result["pipeline"]["consensus"]["tally"].keys() <= {"c", "b"}
    assert ("ill", "OSError") in failed(result)
    assert "vote_ignored:b" in result["pipeline"]["flags"]
    assert result["pipeline"]["consensus"]["winner"] == "c"
    assert result["pipeline"]["status"] == "partial"


async def test_who_failed_to_vote_has_no_vote_but_can_win():
    ill = fails_in("vote", OSError("no pen"))(voter("ill", OWN))

    result = await consensus([ill, voter("b", "ill"), voter("c", "ill")])

    assert result["pipeline"]["consensus"]["tally"] == {"ill": 2}
    assert result["response"] == mark("ill")
    assert failed(result) == [("ill", "OSError")]
    assert result["pipeline"]["status"] == "partial"


async def test_voters_see_every_proposal_under_the_name_of_who_made_it():
    agents = voters({"a": "b", "b": "b", "c": "b"})

    result = await consensus(agents)

    listed = [{"id": name, "outputs": {"response": mark(name)}} for name in "abc"]
    for agent in agents:
        assert agent.phases == ["propose", "vote"]
        assert agent.calls[1]["proposals"] == listed
        assert "proposals" not in agent.calls[0]
    phases = [(entry["agent"], entry["phase"]) for entry in result["pipeline"]["results"]]
    assert sorted(phases) == [(n, p) for n in "abc" for p in ("propose", "vote")]


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"threshold": 1.1}, "threshold is 1.1; it must be at most 1"),
        ({"threshold": -0.1}, "threshold is -0.1; it must be at least 0"),
        ({"threshold": True}, "threshold is True; it must be a number"),
        ({"voting_strategy": "majorty"}, "Did you mean 'majority'"),
    ],
    ids=["above", "below", "bool", "misspelt"],
)
def test_a_vote_that_cannot_be_held_is_refused(settings, words):
    with pytest.raises(ConfigurationError, match=words):
        Pipeline.consensus([Marked("a")], **settings)


# Debates


def speaker(name: str, vote: Any = OWN) -> Marked:
    """Reply with the round, and give the vote of the test."""

    def answer(payload: dict[str, Any]) -> dict[str, Any]:
        if payload["phase"] == "vote":
            return {} if vote is OWN else {"vote": vote}
        return {"response": f"{name} in round {payload['round']}"}

    return Marked(name, answer)


async def test_a_debate_with_a_judge_goes_as_many_rounds_as_it_has():
    pro, contra = speaker("pro"), speaker("contra")
    judge = Marked("judge", lambda payload: {"winner": "contra", "response": "contra is right"})

    result = await Pipeline.debate([pro, contra], rounds=3, judge=judge).run(message="is it?")

    for agent in (pro, contra):
        assert agent.phases == ["position", "rebuttal", "rebuttal"]
        assert [call["round"] for call in agent.calls] == [1, 2, 3]
        heard = [[(e["agent"], e["round"]) for e in call["debate"]] for call in agent.calls]
        before = [("pro", 1), ("contra", 1)]
        assert heard == [[], before, [*before, ("pro", 2), ("contra", 2)]]
    assert len(judge.calls) == 1
    assert [entry["outputs"]["response"] for entry in judge.calls[0]["debate"]] == [
        f"{name} in round {number}" for number in (1, 2, 3) for name in ("pro", "contra")
    ]
    assert result["response"] == "contra is right"
    assert result["pipeline"]["rounds"] == 3
    assert result["pipeline"]["verdict"] == {"by": "judge", "winner": "contra"}


async def test_a_judge_that_only_names_a_winner_lets_that_one_speak():
    judge = Marked("judge", lambda payload: {"winner": "contra"})

    pipeline = Pipeline.debate([speaker("pro"), speaker("contra")], rounds=2, judge=judge)
    result = await pipeline.run(message="is it?")

    assert (result["response"], result["winner"]) == ("contra in round 2", "contra")


async def test_a_judge_that_names_nobody_who_spoke_says_nothing():
    judge = Marked("judge", lambda payload: {"winner": "nobody"})

    result = await Pipeline.debate([speaker("pro")], rounds=1, judge=judge).run(message="is it?")

    assert "response" not in result
    assert result["pipeline"]["verdict"]["winner"] == "nobody"


@pytest.mark.parametrize(
    ("votes", "winner", "why"),
    [
        ({"a": "b", "b": "b", "c": "a"}, "b", None),
        ({"a": OWN, "b": OWN}, None, "tie"),
        ({"a": "nobody", "b": "a", "c": "a"}, "a", None),
        ({"a": "x", "b": 3}, None, "no_votes"),
    ],
    ids=["majority", "tie", "unknown", "none"],
)
async def test_a_debate_without_a_judge_is_decided_by_the_debaters(votes, winner, why):
    agents = [speaker(name, vote) for name, vote in votes.items()]

    result = await Pipeline.debate(agents, rounds=2).run(message="is it?")

    verdict = result["pipeline"]["verdict"]
    assert (verdict["winner"], verdict["why"]) == (winner, why)
    assert result["response"] == f"{winner} in round 2" if winner else why in result["response"]
    for agent in agents:
        assert agent.phases == ["position", "rebuttal", "vote"]
        listed = [{"id": n, "outputs": {"response": f"{n} in round 2"}} for n in votes]
        assert agent.calls[2]["proposals"] == listed


async def test_a_debate_of_one_round_has_no_rebuttals():
    agents = [speaker("a", "a"), speaker("b", "a")]

    result = await Pipeline.debate(agents, rounds=1).run(message="is it?")

    assert [agent.phases for agent in agents] == [["position", "vote"]] * 2
    assert result["response"] == "a in round 1"


@pytest.mark.parametrize("rounds", [0, -1, 1.5, True, "3"], ids=repr)
def test_a_debate_has_at_least_one_round(rounds):
    with pytest.raises(
        ConfigurationError, match=r"rounds is .*must be (at least 1|a whole number)\."
    ):
        Pipeline.debate([Marked("a")], rounds=rounds)
