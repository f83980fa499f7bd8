"""The edge cases of ADR-018 section 5, category 6: whom the cards choose."""

from __future__ import annotations

import pytest

from journeygraph import Agent, Pipeline, Skill
from tests.pipelines.marked import Marked, mark, marks
from tests.pipelines.office import REQUESTS, desks

NO_MATCH = "selection_fallback:no_match"


def selected(result):
    return [entry["agent"] for entry in result["pipeline"]["selected"]]


class TestA2AIntegration:
    async def test_a2a_unavailable_fallback(self):
        """Agents without a card worth the name: declaration order, and a flag that says so."""
        agents = [Marked(name) for name in ("one", "two", "three", "four")]
        task = "please water the geraniums"

        routed = await Pipeline.router(agents).run(message=task)
        gathered = await Pipeline.ensemble(agents, Marked("writer"), top_k=2).run(message=task)

        assert (selected(routed), routed["response"]) == (["one"], mark("one"))
        assert selected(gathered) == ["one", "two"]
        assert marks(gathered) == {"one": 1, "two": 1, "writer": 1}
        for result in (routed, gathered):
            assert NO_MATCH in result["pipeline"]["flags"]
            assert result["pipeline"]["status"] == "complete"

    async def test_a2a_matching_accuracy(self):
        """34 requests in words of their own, at nine desks: at most two go to the wrong one."""
        pipeline = Pipeline.router(desks())

        results = {asked: await pipeline.run(message=asked) for asked, _ in REQUESTS}

        wrong = {
            asked: selected(results[asked])[0]
            for asked, desk in REQUESTS
            if selected(results[asked]) != [desk]
        }
        assert len(wrong) <= 2, wrong
        assert {desk for _, desk in REQUESTS} == {agent.name for agent in desks()}

    @pytest.mark.parametrize("key", ["message", "task"])
    async def test_a_request_is_matched_under_either_name(self, key):
        """A rival matched `task` alone, while its journeys sent `message`: always the first."""
        result = await Pipeline.router(desks()).run(**{key: "the neighbours are loud"})

        assert selected(result) == ["noise"]
        assert result["pipeline"]["selected"][0]["score"] > 0

    async def test_the_order_in_which_agents_are_declared_does_not_matter(self):
        backwards = Pipeline.router(desks()[::-1])
        for asked, _ in REQUESTS[::5]:
            first = await Pipeline.router(desks()).run(message=asked)
            assert selected(await backwards.run(message=asked)) == selected(first)

    @pytest.mark.parametrize("task", ["", "   ", "?!", "qxzvbk wpltrm", "\U0001f998"])
    async def test_a2a_zero_score(self, task):
        """The first agent does what no agent can do, and can say so; nothing divides by zero."""
        result = await Pipeline.router(desks()).run(message=task)

        assert selected(result) == ["passports"]
        (flag,) = result["pipeline"]["flags"]
        says_nothing = not any(map(str.isalnum, task))
        assert flag == ("selection_fallback:no_task" if says_nothing else NO_MATCH)
        assert result["pipeline"]["selected"][0]["score"] == 0

    async def test_a2a_conflicting_capabilities(self):
        """Two that can do the same: the better fit, and among equals the first, each time."""
        refunds = Skill("refunds", "Pay money back", synonyms=["refund"])
        general = Agent(Marked("general"), name="general", skills=[refunds, Skill("greetings")])
        twin = Agent(Marked("twin"), name="twin", skills=[refunds, Skill("greetings")])
        exact = Agent(
            Marked("exact"),
            name="exact",
            skills=[Skill("ticket refunds", "Refund a train ticket", ["Refund my train ticket"])],
        )

        for _ in range(3):
            same = await Pipeline.router([general, twin]).run(message="a refund")
            better = await Pipeline.router([general, twin, exact]).run(
                message="refund my train ticket"
            )
            assert selected(same) == ["general"]
            assert selected(better) == ["exact"]
            assert NO_MATCH not in same["pipeline"]["flags"]

    async def test_top_k_are_the_best_and_a_k_beyond_all_takes_all(self):
        some = Pipeline.ensemble(desks(), Marked("writer"), top_k=2)
        everybody = Pipeline.ensemble(desks(), Marked("writer"), top_k=50)
        task = "the permission for a new building, and a parking permit for the car"

        few = await some.run(message=task)
        many = await everybody.run(message=task)

        assert set(selected(few)) == {"building", "parking"}
        scores = [entry["score"] for entry in few["pipeline"]["selected"]]
        assert scores == sorted(scores, reverse=True)
        assert len(marks(many)) == 9 + 1
