"""The edge cases of ADR-018 section 5, category 5: many agents, deep nests, work and memory.

Work is counted in calls of functions, which no busy machine changes; `make bench` has the times.
"""

from __future__ import annotations

import asyncio
import cProfile
import tracemalloc
from typing import Any

import pytest

from journeygraph import Agent, Pipeline, Skill
from tests.pipelines.marked import WORDS, Controller, Marked, marks


def hundred() -> list[Marked]:
    return [Marked(f"agent{number}") for number in range(100)]


async def work_of(pipeline: Any) -> int:
    """The calls of functions that one run takes."""
    await pipeline.run(message="hello")  # what is made once
    profile = cProfile.Profile()
    profile.enable()
    await pipeline.run(message="hello")
    profile.disable()
    return sum(entry.callcount for entry in profile.getstats())


class TestPerformance:
    @pytest.mark.parametrize("pattern", ["parallel", "ensemble", "blackboard"])
    async def test_large_agent_counts(self, pattern):
        agents = hundred()
        pipeline = {
            "parallel": lambda: Pipeline.parallel(agents),
            "ensemble": lambda: Pipeline.ensemble(agents, Marked("last"), "all"),
            "blackboard": lambda: Pipeline.blackboard(
                agents, Controller("last"), max_iterations=100
            ),
        }[pattern]()

        result = await pipeline.run(message="hello")

        assert [len(agent.calls) for agent in agents] == [1] * 100
        assert {name for name in marks(result) if name != "last"} == {a.name for a in agents}
        assert result["pipeline"]["status"] == "complete"

    async def test_deep_nesting_performance(self):
        def deep(levels: int) -> Any:
            pipeline = Pipeline.sequential([Marked("worker")])
            for level in range(1, levels):
                pipeline = Pipeline.sequential([pipeline.to_agent(f"level{level}")])
            return pipeline

        one, ten = await work_of(deep(1)), await work_of(deep(10))

        assert ten <= 12 * one

    async def test_parallel_scalability(self):
        everybody = asyncio.Barrier(20)

        async def worker(payload: dict[str, Any]) -> str:
            await everybody.wait()  # nobody goes on before all are there
            return "done"

        agents = [Agent(worker, name=f"worker{number}") for number in range(20)]
        result = await Pipeline.parallel(agents, max_workers=20).run(message="hello")

        assert result["pipeline"]["status"] == "complete"

    @pytest.mark.parametrize("most", [1, 3, 10])
    async def test_no_more_agents_work_at_a_time_than_max_workers(self, most):
        working = 0
        highest = 0

        async def worker(payload: dict[str, Any]) -> str:
            nonlocal working, highest
            working += 1
            highest = max(highest, working)
            await asyncio.sleep(0.005)
            working -= 1
            return "done"

        agents = [Agent(worker, name=f"worker{number}") for number in range(12)]
        result = await Pipeline.parallel(agents, max_workers=most).run(message="hello")

        assert highest == most
        assert [entry["agent"] for entry in result["pipeline"]["results"]] == [
            agent.name for agent in agents
        ]

    async def test_memory_usage(self):
        """ADR-018 allows 512 MB a pipeline; a hundred agents need a few."""
        tracemalloc.start()
        try:
            pipelines = [Pipeline.parallel(hundred()) for _ in range(3)]
            for pipeline in pipelines:
                await pipeline.run(message="hello")
            _, highest = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()

        assert highest < 64 * 2**20

    async def test_a2a_matching_speed(self):
        """ADR-018: below 50 ms among 100 agents; so the work among them must not grow faster."""

        def of(number: int) -> list[Agent]:
            return [
                Agent(
                    Marked(f"agent{place}"),
                    description=f"Knows all about the {word} in building {place}.",
                    skills=[Skill(f"{word} {place}", f"Repair of a {word}", synonyms=[word[:4]])],
                )
                for place, word in enumerate([*WORDS, *WORDS, *WORDS][:number])
            ]

        few, many = of(10), of(100)

        assert len(many) == 100
        assert await work_of(Pipeline.router(many)) <= 10 * await work_of(Pipeline.router(few))
