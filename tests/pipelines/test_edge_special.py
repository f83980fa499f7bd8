"""The edge cases of ADR-018 section 5, category 8, and what agents give that is no dict."""

from __future__ import annotations

import asyncio
import datetime
import json
import threading
from concurrent.futures import CancelledError as FutureCancelled
from typing import Any

import pytest

from journeygraph import (
    Agent,
    ConfigurationError,
    PathwayExecutionError,
    PatternPipeline,
    Pipeline,
)
from tests.pipelines.marked import (
    ALL_PATTERNS,
    Controller,
    Marked,
    Staff,
    build,
    calls_expected,
    failed,
    fails,
    in_thread,
    mark,
    marks,
    nested,
)


class TestSpecialCases:
    @pytest.mark.parametrize("pattern", ALL_PATTERNS)
    def test_empty_agent_list(self, pattern):
        with pytest.raises(ConfigurationError, match=r"is empty; give at least one agent"):
            build(pattern, [], Staff())

    @pytest.mark.parametrize("pattern", ALL_PATTERNS)
    async def test_single_agent_pipeline(self, pattern):
        staff = Staff()
        pipeline = build(pattern, staff.agents(1), staff)

        result = await pipeline.run(message="walnut")

        assert marks(result) == calls_expected(pipeline, "walnut")
        assert result["pipeline"]["status"] == "complete"

    async def test_circular_dependencies(self):
        """A pipeline cannot contain itself: it is frozen before it has a name."""
        agents: list[Any] = [Marked("a")]
        pipeline = Pipeline.sequential(agents)

        agents.append(pipeline)
        with pytest.raises((AttributeError, TypeError)):
            pipeline.agents.append(Agent(pipeline))  # type: ignore[attr-defined]
        with pytest.raises(AttributeError):
            pipeline.agents = (Agent(pipeline),)  # type: ignore[misc]

        assert [agent.name for agent in pipeline.agents] == ["a"]
        assert marks(await pipeline.run(message="hello")) == {"a": 1}

    async def test_an_agent_that_runs_its_own_pipeline_ends_with_an_error(self):
        """Through a function it can be done all the same; then the limit of levels holds."""
        calls: list[int] = []

        async def again(payload: dict[str, Any]) -> Any:
            calls.append(1)
            return await held[0].run(message=payload["message"])

        held = [Pipeline.sequential([again], error_handling="fail-fast")]
        with pytest.raises(PathwayExecutionError, match="more than 20 deep"):
            await held[0].run(message="hello")

        assert len(calls) == 20

    async def test_duplicate_agent_ids(self):
        twin = Marked("twin")
        with pytest.raises(ConfigurationError, match="two agents are named 'twin'"):
            Pipeline.parallel([twin, Marked("twin")])
        with pytest.raises(ConfigurationError, match="two agents are named 'twin'"):
            Pipeline.supervisor_worker(Marked("twin"), [twin])

        inner = Pipeline.sequential([twin])
        result = await Pipeline.parallel([twin, inner, inner]).run(message="hello")

        assert marks(result) == {"twin": 1, "sequential/twin": 1, "sequential_2/twin": 1}

    async def test_none_inputs_outputs(self):
        silent = Marked("silent", lambda payload: None)
        after = Marked("after")

        result = await Pipeline.sequential([silent, after]).run(message=None, data=None)

        assert result["pipeline"]["status"] == "complete"
        assert (after.calls[0]["message"], after.calls[0]["data"]) == ("", None)
        assert result["response"] == mark("after")

    @pytest.mark.parametrize("pattern", ALL_PATTERNS)
    async def test_a_run_without_inputs_is_a_run(self, pattern):
        staff = Staff()
        pipeline = build(pattern, staff.agents(2), staff)

        result = await pipeline.run()

        assert result["pipeline"]["status"] == "complete"
        assert marks(result) == calls_expected(pipeline, "walnut")
        for agent in staff.made.values():
            for call in agent.calls:
                assert (call["message"], call["context"], call["history"]) == ("", {}, [])

    @pytest.mark.parametrize("pattern", ALL_PATTERNS)
    async def test_agents_that_give_nothing_are_no_failures(self, pattern):
        staff = Staff()
        pipeline = build(pattern, staff.agents(2), staff)
        for agent in staff.made.values():
            if not isinstance(agent, Controller):
                agent.answer = lambda payload: None

        result = await pipeline.run(message="walnut")

        assert result["pipeline"]["failed"] == []
        assert result["pipeline"]["status"] == "complete"
        if pattern != "blackboard":  # whose controller has to say that it is done
            assert not result.get("response")


@pytest.mark.parametrize(
    "key", ["perspectives", "pipeline", "outputs", "results", "agents", "self"]
)
async def test_an_input_may_have_any_name(key):
    """A rival's ensemble raised a TypeError at an input named perspectives."""
    staff = Staff()
    pipeline = build("ensemble", staff.agents(2), staff)
    given = {"message": "walnut", key: "mine"}
    try:
        result = await pipeline.run(**given)
    except TypeError:
        assert key == "self"  # Python's own word for whose method it is
        return
    assert result["pipeline"]["status"] == "complete"
    assert staff.made["walnut"].calls[0][key] == "mine"


@pytest.mark.parametrize(
    "given",
    [
        pytest.param(42, id="a number"),
        pytest.param(["a", "list"], id="a list"),
        pytest.param(object(), id="an object"),
        pytest.param({"at": datetime.date(2026, 1, 1)}, id="a date"),
        pytest.param({"a", "set"}, id="a set"),
        pytest.param({"score": float("nan")}, id="not a number"),
        pytest.param({1: "a key that is no text"}, id="a key that is no text"),
    ],
)
async def test_what_is_no_outputs_is_that_agents_failure(given):
    agents = [Marked("odd", lambda payload: given), Marked("well")]

    result = await Pipeline.parallel(agents).run(message="hello")

    assert [entry["agent"] for entry in result["pipeline"]["failed"]] == ["odd"]
    assert (result["pipeline"]["status"], result["response"]) == ("partial", mark("well"))
    json.dumps(result, allow_nan=False)


async def test_a_huge_output_passes_whole_and_is_not_multiplied():
    """A rival's ten levels made 255 KB of a few words."""
    text = "x" * 2_000_000
    pipeline = Pipeline.sequential([Marked("writer", lambda payload: {"response": text})])
    for level in range(9):
        pipeline = Pipeline.sequential([nested(pipeline, f"level{level}")])

    result = await pipeline.run(message="hello")

    assert result["response"] == text
    assert len(json.dumps(result)) < 2 * len(text) + 10_000


class Odd(Exception):
    """An error that cannot even say what it is."""

    def __str__(self) -> str:
        raise ValueError("no words")


ODD_ERRORS = [
    StopIteration("done"),
    StopAsyncIteration(),
    SystemExit(3),
    KeyboardInterrupt(),
    asyncio.CancelledError(),
    FutureCancelled(),
    BaseException("base"),
    ExceptionGroup("many", [ValueError("one"), KeyError("two")]),
    RecursionError("deep"),
    MemoryError(),
    Odd(),
    AssertionError(),
    Exception("\ud800 half a pair"),
]


CASES = [
    pytest.param(kind, error, id=f"{type(error).__name__}-{place}-{kind}")
    for kind in ("async", "sync")
    for place, error in enumerate(ODD_ERRORS)
    if kind == "sync" or not isinstance(error, KeyboardInterrupt)
]


@pytest.mark.parametrize(("kind", "error"), CASES)
async def test_whatever_an_agent_raises_is_its_failure_alone(kind, error):
    ill = Marked("ill", fails(error))
    agents = [Marked("well"), in_thread(ill) if kind == "sync" else ill, Marked("fine")]

    result = await Pipeline.parallel(agents).run(message="hello")

    assert [entry["agent"] for entry in result["pipeline"]["failed"]] == ["ill"]
    assert marks(result) == {"well": 1, "fine": 1}
    json.dumps(result).encode()


async def test_a_cancellation_that_nobody_asked_for_is_an_error_of_the_agent():
    ill = Marked("ill", fails(asyncio.CancelledError()))

    with pytest.raises(PathwayExecutionError) as caught:
        await Pipeline.sequential([ill], error_handling="fail-fast").run(message="hello")

    assert caught.value.agent == "ill"
    assert isinstance(caught.value.__cause__, asyncio.CancelledError)


async def test_a_pipeline_of_ones_own_can_stand_where_an_agent_can():
    class Backwards(Pipeline):
        """Says it backwards."""

        name = "backwards"

        async def run(self, **inputs: Any) -> Any:
            return {"response": inputs["message"][::-1]}

    result = await Pipeline.sequential([Backwards(), Marked("after")]).run(message="hello")

    assert result["pipeline"]["results"][0]["outputs"] == {"response": "olleh"}
    with pytest.raises(TypeError):
        Pipeline()  # type: ignore[abstract]
    assert not isinstance(Backwards(), PatternPipeline)


async def test_agents_may_be_called_as_the_steps_of_a_compiled_pipeline_are():
    agents = [Marked("begin"), Marked("conclude"), Marked("results")]

    state = await Pipeline.parallel(agents).compile().ainvoke({"inputs": {"message": "hello"}})

    assert marks(state["outputs"]) == {"begin": 1, "conclude": 1, "results": 1}


async def test_a_pipeline_of_ones_own_that_is_not_async_stops_nobody():
    class Slow(Pipeline):
        def run(self, **inputs: Any) -> Any:
            return "freed" if freed.wait(110) else "the loop stood still"

    freed = threading.Event()
    asyncio.get_running_loop().call_later(0.01, freed.set)

    result = await Pipeline.sequential([Slow()]).run(message="hello")

    assert result["response"] == "freed"


async def test_a_pipeline_that_failed_within_one_of_ones_own_is_a_failure():
    class Desk(Pipeline):
        async def run(self, **inputs: Any) -> Any:
            return await Pipeline.router([Marked("ill", fails(OSError("down")))]).run(**inputs)

    result = await Pipeline.parallel([Desk(), Marked("well")]).run(message="hello")

    assert result["pipeline"]["status"] == "partial"
    assert failed(result) == [("Desk", "pipeline")]
    assert "error" not in result


def test_run_sync_is_for_scripts():
    result = Pipeline.sequential([Marked("a"), Marked("b")]).run_sync(message="hello")

    assert marks(result) == {"a": 1, "b": 1}


async def test_run_sync_in_a_loop_says_what_to_write():
    with pytest.raises(ConfigurationError, match=r"await pipeline\.run"):
        Pipeline.sequential([Marked("a")]).run_sync(message="hello")
