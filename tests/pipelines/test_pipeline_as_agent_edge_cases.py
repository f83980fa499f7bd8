"""The edge cases of ADR-018 section 5, by its names: nesting, combinations, errors, state.

No agent here is a stub: every agent leaves a mark and keeps its inputs, and `calls_expected`
says from the rules alone who has to be asked, and how often. Further categories: test_edge_*.py.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections import Counter
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from journeygraph import ConfigurationError, PathwayExecutionError, Pipeline
from tests.pipelines.marked import (
    ALL_PATTERNS,
    Controller,
    Marked,
    Staff,
    build,
    by_name,
    calls_expected,
    failed,
    fails,
    mark,
    marks,
    nested,
    reached,
    size,
)

BYTES_A_LEVEL = 200
"""Most that one more level may add to a result: its name in three paths, and a line or two."""


def stacked(levels: int, staff: Staff, patterns: tuple[str, ...] = ("sequential",)) -> Any:
    """Pipelines that hold one another, three agents in the innermost."""
    pipeline = build(patterns[0], staff.agents(3), staff)
    for level in range(1, levels):
        pattern = patterns[level % len(patterns)]
        pipeline = build(pattern, [nested(pipeline, f"level{level}")], staff)
    return pipeline


async def assert_runs_as_expected(pipeline: Any, staff: Staff, message: str) -> dict[str, Any]:
    """Run it, and see that all whom the rules name were asked, as often as they say."""
    staff.forget()
    result = await pipeline.run(message=message)

    expected = calls_expected(pipeline, message)
    assert staff.calls == by_name(expected)
    assert marks(result) == expected
    assert {said for agent in staff.made.values() for said in agent.messages} == {message}
    assert (result["pipeline"]["status"], result["pipeline"]["failed"]) == ("complete", [])
    assert "error" not in result
    return result


class TestNestingDepth:
    @pytest.mark.parametrize("pattern", ALL_PATTERNS)
    async def test_nesting_1_level(self, pattern):
        staff = Staff()
        pipeline = stacked(1, staff, (pattern,))

        assert pipeline.levels == 1
        await assert_runs_as_expected(pipeline, staff, "granite")

    async def test_nesting_2_levels(self):
        staff = Staff()
        pipeline = stacked(2, staff)

        result = await assert_runs_as_expected(pipeline, staff, "granite")

        assert set(marks(result)) == {"level1/walnut", "level1/granite", "level1/harbour"}
        assert result["response"] == mark("harbour")

    async def test_nesting_3_levels(self):
        staff = Staff()
        pipeline = stacked(3, staff, ("parallel", "supervisor_worker", "blackboard"))

        result = await assert_runs_as_expected(pipeline, staff, "granite")

        assert {path.count("/") for path in marks(result)} == {0, 1, 2}

    async def test_nesting_5_levels(self):
        staff = Staff()
        pipeline = stacked(5, staff, ("router", "parallel", "handoff", "ensemble", "sequential"))

        await assert_runs_as_expected(pipeline, staff, "granite")

    @pytest.mark.parametrize("levels", [10, 20])
    async def test_nesting_10_levels(self, levels):
        staff = Staff()
        pipeline = stacked(levels, staff)

        result = await assert_runs_as_expected(pipeline, staff, "granite")

        shallow = await stacked(1, Staff()).run(message="granite")
        assert pipeline.levels == levels
        assert size(result) <= size(shallow) + (levels - 1) * BYTES_A_LEVEL

    def test_nesting_21_levels_is_refused_when_it_is_built(self):
        with pytest.raises(
            ConfigurationError, match="it has 21 levels of pipelines; the limit is 20"
        ):
            stacked(21, Staff())


class TestPipelineCombinations:
    @pytest.mark.parametrize("inner", ALL_PATTERNS)
    @pytest.mark.parametrize("outer", ALL_PATTERNS)
    async def test_pattern_combination(self, outer, inner):
        staff = Staff()
        within = nested(build(inner, staff.agents(2), staff), staff.word())
        pipeline = build(outer, [staff.agent(), within, staff.agent()], staff)

        asked: Counter[str] = Counter()
        # A router asks one agent a run, so each agent in turn is what the message is about.
        for name in sorted(reached(pipeline)) if "router" in (outer, inner) else ["walnut"]:
            message = f"about the {name} please"
            result = await assert_runs_as_expected(pipeline, staff, message)
            assert isinstance(result["response"], str)
            assert result["response"]
            asked += staff.calls

        assert set(asked) == set(staff.made)


class TestErrorHandling:
    async def test_agent_failure_graceful(self):
        well, ill, fine = (
            Marked("well"),
            Marked("ill", fails(LookupError("no file A-7"))),
            Marked("fine"),
        )

        result = await Pipeline.parallel([well, ill, fine]).run(message="hello")

        assert result["pipeline"]["status"] == "partial"
        assert failed(result) == [("ill", "LookupError")]
        assert "no file A-7" in result["pipeline"]["failed"][0]["error"]
        assert marks(result) == {"well": 1, "fine": 1}
        assert "Traceback" not in json.dumps(result)
        assert 'File "' not in json.dumps(result)
        assert "error" not in result

    async def test_agent_failure_fail_fast(self):
        well, ill, never = (
            Marked("well"),
            Marked("ill", fails(LookupError("no file A-7"))),
            Marked("never"),
        )
        pipeline = Pipeline.sequential([well, ill, never]).with_error_handling("fail-fast")

        with pytest.raises(PathwayExecutionError, match="no file A-7") as caught:
            await pipeline.run(message="hello")

        assert caught.value.agent == "ill"
        assert isinstance(caught.value.__cause__, LookupError)
        assert (len(well.calls), len(ill.calls), len(never.calls)) == (1, 1, 0)

    async def test_timeout_handling(self):
        stopped = []

        async def endless(payload):
            try:
                await asyncio.sleep(60)
            except asyncio.CancelledError:
                stopped.append(payload["message"])
                raise

        pipeline = Pipeline.parallel([Marked("quick"), endless]).with_limits(timeout=0.15)
        result = await pipeline.run(message="hello")

        assert failed(result) == [("endless", "timeout")]
        assert marks(result) == {"quick": 1}
        assert stopped == ["hello"]

    async def test_cascading_failures(self):
        """The failure of one agent affects no other; that of all is one answer that says so."""
        everybody = [Marked(name, fails(OSError(f"{name} is out"))) for name in ("a", "b", "c")]
        inner = Pipeline.parallel(everybody).to_agent("inner")
        last = Marked("last")

        partly = await Pipeline.parallel([inner, last]).run(message="hello")
        wholly = await Pipeline.parallel([inner]).run(message="hello")

        assert (partly["pipeline"]["status"], partly["response"]) == ("partial", mark("last"))
        assert [path for path, _ in failed(partly)][:3] == ["inner/a", "inner/b", "inner/c"]
        assert wholly["pipeline"]["status"] == "failed"
        assert "a is out" in wholly["error"]
        assert "Traceback" not in json.dumps(wholly)

    async def test_partial_results(self):
        ill = Marked("ill", fails(ValueError("not today")))
        inner = Pipeline.parallel([Marked("well"), ill]).to_agent("inner")

        result = await Pipeline.sequential([Marked("first"), inner, Marked("last")]).run(
            message="x"
        )

        assert result["pipeline"]["status"] == "partial"
        assert marks(result) == {"first": 1, "inner/well": 1, "last": 1}
        assert failed(result) == [("inner/ill", "ValueError")]
        assert result["response"] == mark("last")

    async def test_retry_logic(self):
        tries = iter([OSError("one"), OSError("two"), None])

        def shaky(payload: dict[str, Any]) -> dict[str, Any]:
            error = next(tries)
            if error:
                raise error
            return {"response": "at last"}

        agent = Marked("shaky", shaky)
        pipeline = Pipeline.sequential([agent]).with_limits(retries=2, backoff=0.02)
        begun = time.perf_counter()
        result = await pipeline.run(message="hello")

        assert result["response"] == "at last"
        assert result["pipeline"]["status"] == "complete"
        assert (agent.messages, len(marks(result))) == (["hello"] * 3, 0)
        assert time.perf_counter() - begun >= 0.02 + 0.04 - 0.005

    async def test_circuit_breaker(self):
        now = [0.0]
        is_ill = [True]

        def moody(payload: dict[str, Any]) -> dict[str, Any]:
            if is_ill[0]:
                raise OSError("down")
            return {"response": "up"}

        agent = Marked("moody", moody)
        pipeline = Pipeline.parallel([agent, Marked("other")]).with_limits(
            breaker_failures=2, breaker_window=10, breaker_cooldown=5, clock=lambda: now[0]
        )

        async def kind() -> str | None:
            entries = failed(await pipeline.run(message="hello"))
            return entries[0][1] if entries else None

        assert [await kind() for _ in range(4)] == [
            "OSError",
            "OSError",
            "unavailable",
            "unavailable",
        ]
        assert len(agent.calls) == 2
        now[0] = 5.5
        assert await kind() == "OSError"  # the probe fails: it is left alone for as long again
        assert await kind() == "unavailable"
        assert len(agent.calls) == 3
        now[0], is_ill[0] = 11.0, False
        assert [await kind(), await kind()] == [None, None]
        assert len(agent.calls) == 5


class TestStateManagement:
    async def test_stateful_pipelines(self):
        agents = [Marked(name) for name in ("a", "b", "c")]
        pipeline = Pipeline.router(agents, routing_strategy="round-robin")

        said = [(await pipeline.run(message="hello"))["response"] for _ in range(5)]

        assert said == [mark(name) for name in ("a", "b", "c", "a", "b")]

    async def test_shared_memory_isolation(self):
        """A run has its own board; changes of an agent to its payload have no effect."""

        def spoiler(payload: dict[str, Any]) -> dict[str, Any]:
            payload["context"]["name"] = "spoilt"
            payload["history"].clear()
            payload["notes"].append("spoilt")
            return {"response": "done", "found": {"deep": ["x"]}}

        first, second = Marked("first", spoiler), Marked("second", spoiler)
        controller = Controller("controller")
        pipeline = Pipeline.blackboard([first, second], controller)
        given: dict[str, Any] = {
            "context": {"name": "Ada"},
            "history": [{"role": "user", "content": "hi"}],
            "notes": ["mine"],
        }

        for _ in range(2):
            await pipeline.run(message="hello", **given)

        boards = [[entry["agent"] for entry in call["board"]] for call in controller.calls]
        assert boards == [[], ["first"], ["first", "second"]] * 2
        for agent in (first, second, controller):
            for call in agent.calls:
                assert {name: call[name] for name in given} == given
        assert given["context"] == {"name": "Ada"}
        assert given["notes"] == ["mine"]

    @pytest.mark.parametrize("pattern", ALL_PATTERNS)
    async def test_concurrent_executions(self, pattern):
        staff = Staff()
        pipeline = build(pattern, [agent.slowly(0.001) for agent in staff.agents(3)], staff)
        for agent in staff.made.values():
            agent.answer = _echoing(agent)
        messages = [f"granite {number}" for number in range(50)]

        results = await asyncio.gather(*(pipeline.run(message=message) for message in messages))

        for message, result in zip(messages, results, strict=True):
            assert marks(result) == calls_expected(pipeline, message)
            heard = {entry["outputs"]["heard"] for entry in result["pipeline"]["results"]}
            assert heard == {message}
        whole = calls_expected(pipeline, "granite")
        assert staff.calls == Counter({name: 50 * number for name, number in whole.items()})

    async def test_state_reset(self):
        agents = [Marked(name) for name in ("a", "b", "c")]
        pipeline = Pipeline.router(agents, routing_strategy="round-robin")
        ill = Marked("ill", fails(OSError("down")))
        broken = Pipeline.parallel([ill]).with_limits(breaker_failures=1)

        for each in (pipeline, broken):
            await each.run(message="hello")
            each.reset()
        again = await pipeline.run(message="hello")
        await broken.run(message="hello")

        assert again["response"] == mark("a")
        assert len(ill.calls) == 2

    async def test_persistent_state(self):
        """The next agent in turn is in the thread's checkpoint, also for another process."""
        saver = InMemorySaver()

        async def next_of(thread: str) -> str:
            agents = [Marked(name) for name in ("a", "b", "c")]
            graph = Pipeline.router(agents, "round-robin").compile(checkpointer=saver)
            config = {"configurable": {"thread_id": thread}}
            state = await graph.ainvoke({"inputs": {"message": "hello"}}, config)
            return state["outputs"]["response"]

        said = [await next_of(thread) for thread in ("one", "one", "two", "one", "two")]

        assert said == [mark(name) for name in ("a", "b", "a", "c", "b")]


def _echoing(agent: Marked) -> Any:
    usual = agent.answer

    def answer(payload: dict[str, Any]) -> dict[str, Any]:
        return {**usual(payload), "heard": payload["message"]}

    return answer
