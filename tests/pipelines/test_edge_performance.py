"""The edge cases of ADR-018 section 5, category 5: many agents, deep nests, time and memory.

Times here have much room, for they are taken on a busy machine; `make bench` has the figures.
"""

from __future__ import annotations

import asyncio
import time
import tracemalloc
from typing import Any

import pytest

from journeys import Agent, Pipeline, Skill
from tests.pipelines.marked import WORDS, Controller, Marked, marks


def hundred() -> list[Marked]:
    return [Marked(f"agent{number}") for number in range(100)]


async def seconds(pipeline: Any, runs: int = 3, clock: Any = time.perf_counter) -> float:
    """The shortest run of some."""
    best = float("inf")
    for _ in range(runs):
        begun = clock()
        await pipeline.run(message="hello")
        best = min(best, clock() - begun)
    return best


class TestPerformance:
    @pytest.mark.timeout(60)
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

        one, ten = [await seconds(deep(levels), 15, time.process_time) for levels in (1, 10)]

        assert ten < 25 * one

    async def test_parallel_scalability(self):
        def of(number: int, **settings: Any) -> Any:
            agents = [Marked(f"agent{place}").slowly(0.1) for place in range(number)]
            return Pipeline.parallel(agents, **settings)

        one = await seconds(of(1), 1)

        assert await seconds(of(20, max_workers=20), 1) < 6 * one
        assert await seconds(of(20, max_workers=5), 1) >= 0.4

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

    @pytest.mark.timeout(30)
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
        """ADR-018: below 50 ms among 100 agents."""
        agents = [
            Agent(
                Marked(f"agent{number}"),
                description=f"Knows all about the {word} in building {number}.",
                skills=[Skill(f"{word} {number}", f"Repair of a {word}", synonyms=[word[:4]])],
            )
            for number, word in enumerate([*WORDS, *WORDS, *WORDS][:100])
        ]
        pipeline = Pipeline.router(agents)
        await pipeline.run(message="warm up")

        assert await seconds(pipeline, 5, time.process_time) < 0.05
