"""Time, tries, breakers and cancellation: what keeps one agent from harming the rest."""

from __future__ import annotations

import asyncio
import gc
import itertools
import threading
import time
import weakref
from contextlib import suppress
from typing import Any

import pytest

from journeygraph import Agent, ConfigurationError, PathwayExecutionError, Pipeline
from tests.pipelines.marked import (
    ALL_PATTERNS,
    Marked,
    Staff,
    build,
    failed,
    mark,
    marks,
    nested,
)


class Clock:
    """A clock that is moved by hand."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


class Shaky(Marked):
    """Fails as long as it is `ill`."""

    ill = True

    def plainly(self, payload: dict[str, Any]) -> dict[str, Any]:
        if self.ill:
            raise OSError("down")
        return super().plainly(payload)


async def kinds(pipeline: Any) -> list[str]:
    return [kind for _, kind in failed(await pipeline.run(message="hello"))]


# Time


async def test_a_try_that_is_too_slow_may_be_followed_by_another():
    slow = Marked("slow")
    seconds = iter([60.0, 60.0, 0.0])

    async def call(payload: dict[str, Any]) -> Any:
        slow.calls.append(payload)
        await asyncio.sleep(next(seconds))
        return {"response": "in time"}

    pipeline = Pipeline.sequential([call]).with_limits(timeout=0.1, retries=2, backoff=0.001)
    result = await pipeline.run(message="hello")

    assert (result["response"], len(slow.calls)) == ("in time", 3)


async def test_a_sync_agent_that_hangs_is_left_behind():
    gate = threading.Event()

    def stuck(payload: dict[str, Any]) -> str:
        gate.wait(110)
        return "late"

    pipeline = Pipeline.parallel([stuck, Marked("well")]).with_limits(timeout=0.15)
    result = await pipeline.run(message="hello")
    gate.set()

    assert failed(result) == [("stuck", "timeout")]
    assert marks(result) == {"well": 1}


async def test_the_limits_are_those_of_each_agent_not_of_all_together():
    agents = [Marked(f"agent{number}").slowly(0.06) for number in range(4)]

    result = await Pipeline.sequential(agents).with_limits(timeout=0.2).run(message="hello")

    assert result["pipeline"]["status"] == "complete"


@pytest.mark.parametrize("pattern", ALL_PATTERNS)
async def test_every_pattern_ends_though_an_agent_does_not(pattern):
    staff = Staff()
    hanging = staff.agent().slowly(60)
    pipeline = build(pattern, [hanging, staff.agent()], staff).with_limits(timeout=0.03)

    result = await pipeline.run(message="walnut")

    assert (hanging.name, "timeout") in failed(result)
    assert marks(result)[hanging.name] == 0


# Tries


@pytest.mark.parametrize(("retries", "expected"), [(None, 1), (0, 1), (1, 2), (4, 5)])
async def test_an_agent_is_tried_once_more_than_it_is_retried(retries, expected):
    ill = Shaky("ill")

    result = await (
        Pipeline.sequential([ill]).with_limits(retries=retries, backoff=0.001).run(message="x")
    )

    assert len(ill.calls) == expected
    assert failed(result) == [("ill", "OSError")]


async def test_the_pause_before_a_try_doubles():
    ill = Shaky("ill")
    tried: list[float] = []

    async def call(payload: dict[str, Any]) -> Any:
        tried.append(time.perf_counter())
        return await ill.arun(payload)

    await Pipeline.sequential([call]).with_limits(retries=3, backoff=0.04).run(message="hello")
    pauses = [after - before for before, after in itertools.pairwise(tried)]

    assert len(pauses) == 3
    for pause, least in zip(pauses, (0.04, 0.08, 0.16), strict=True):
        assert pause >= 0.9 * least


async def test_each_try_is_given_the_payload_as_it_was():
    given: list[Any] = []

    def spoiler(payload: dict[str, Any]) -> Any:
        given.append(payload["notes"][:])
        payload["notes"].append("spoilt")
        raise OSError("down")

    pipeline = Pipeline.sequential([Marked("a", spoiler)]).with_limits(retries=2, backoff=0.001)
    await pipeline.run(message="hello", notes=["mine"])

    assert given == [["mine"]] * 3


async def test_what_an_author_did_wrong_is_not_retried_for_ever():
    ill = Shaky("ill")
    pipeline = Pipeline.sequential([ill]).with_error_handling("fail-fast")

    with pytest.raises(PathwayExecutionError):
        await pipeline.with_limits(retries=2, backoff=0.001).run(message="hello")

    assert len(ill.calls) == 3


# Breakers


def guarded(*agents: Any, clock: Any, **limits: Any) -> Any:
    own = {"breaker_failures": 2, "breaker_window": 10, "breaker_cooldown": 5, **limits}
    return Pipeline.parallel([*agents, Marked("other")]).with_limits(clock=clock, **own)


async def test_failures_that_are_far_apart_do_not_open_it():
    clock, ill = Clock(), Shaky("ill")
    pipeline = guarded(ill, clock=clock)

    for _ in range(5):
        assert await kinds(pipeline) == ["OSError"]
        clock.now += 11

    assert len(ill.calls) == 5


async def test_one_agent_s_breaker_is_not_another_s():
    clock, ill, well = Clock(), Shaky("ill"), Marked("well")
    pipeline = guarded(ill, well, clock=clock)

    for _ in range(4):
        await pipeline.run(message="hello")

    assert (len(ill.calls), len(well.calls)) == (2, 4)


async def test_half_open_one_call_probes_while_all_others_are_refused():
    clock, ill = Clock(), Shaky("ill")
    pipeline = guarded(ill, clock=clock)
    await kinds(pipeline)
    await kinds(pipeline)
    clock.now = 6
    ill.ill = False
    ill.slowly(0.05)

    came = await asyncio.gather(*(kinds(pipeline) for _ in range(10)))

    assert sorted(came) == [[]] + [["unavailable"]] * 9
    assert len(ill.calls) == 3
    assert await kinds(pipeline) == []


async def test_a_probe_that_is_cancelled_does_not_leave_it_shut_for_ever():
    clock, ill = Clock(), Shaky("ill")
    pipeline = guarded(ill, clock=clock)
    await kinds(pipeline)
    await kinds(pipeline)
    clock.now = 6
    ill.ill = False
    ill.slowly(60)
    probe = asyncio.create_task(pipeline.run(message="hello"))
    await _until(lambda: len(ill.calls) == 3)
    probe.cancel()
    with pytest.raises(asyncio.CancelledError):
        await probe
    ill.slowly(0)

    assert await kinds(pipeline) == []


async def test_a_breaker_counts_timeouts_however_much_the_agent_is_given():
    clock, slow = Clock(), Marked("slow").slowly(60)
    pipeline = guarded(slow, clock=clock, timeout=0.2)
    data = list(range(20_000))

    came = [failed(await pipeline.run(message="hello", data=data)) for _ in range(3)]

    assert [kind for run in came for _, kind in run] == ["timeout", "timeout", "unavailable"]


async def test_equal_pipelines_have_breakers_of_their_own():
    clock, ill = Clock(), Shaky("ill")
    first, second = guarded(ill, clock=clock), guarded(ill, clock=clock)
    for _ in range(3):
        await kinds(first)

    assert await kinds(second) == ["OSError"]


async def test_under_fail_fast_an_open_breaker_is_raised():
    clock, ill = Clock(), Shaky("ill")
    pipeline = guarded(ill, clock=clock, breaker_failures=1).with_error_handling("fail-fast")
    with pytest.raises(PathwayExecutionError, match="down"):
        await pipeline.run(message="hello")

    with pytest.raises(PathwayExecutionError) as caught:
        await pipeline.run(message="hello")

    assert caught.value.agent == "ill"
    assert len(ill.calls) == 1


async def test_a_pipeline_that_keeps_failing_as_a_whole_is_left_alone():
    clock, ill = Clock(), Shaky("ill")
    inner = nested(Pipeline.sequential([ill]), "inner")
    pipeline = guarded(inner, clock=clock)

    came = [failed(await pipeline.run(message="hello")) for _ in range(3)]

    assert came == [[("inner/ill", "OSError")]] * 2 + [[("inner", "unavailable")]]
    assert len(ill.calls) == 2
    clock.now, ill.ill = 6, False
    assert await kinds(pipeline) == []


@pytest.mark.parametrize("handling", ["graceful", "fail-fast"])
async def test_a_pipeline_that_failed_as_a_whole_is_tried_again(handling):
    ill = Shaky("ill")
    inner = nested(Pipeline.sequential([Marked("well"), ill]), "inner")
    pipeline = Pipeline.parallel([inner, Marked("other")], error_handling=handling)

    with suppress(PathwayExecutionError):
        result = await pipeline.with_limits(retries=2, backoff=0.001).run(message="hello")
        assert failed(result) == [("inner/ill", "OSError")]
        assert "inner/well" in marks(result)

    assert len(ill.calls) == 3


async def test_a_failed_pipeline_within_one_that_fails_fast_is_that_one_s_failure():
    inner = nested(Pipeline.sequential([Shaky("ill")]), "inner")
    middle = nested(Pipeline.sequential([inner], error_handling="fail-fast"), "middle")

    result = await Pipeline.parallel([middle, Marked("other")]).run(message="hello")

    assert failed(result) == [("middle", "pipeline")]
    assert result["pipeline"]["failed"][0]["error"] == "ill: OSError: down"


async def test_a_breaker_inside_a_pipeline_inside_holds():
    clock, ill = Clock(), Shaky("ill")
    outer = Pipeline.sequential([guarded(ill, clock=clock).to_agent("inner"), Marked("last")])

    came = [failed(await outer.run(message="hello")) for _ in range(3)]

    assert [kind for run in came for _, kind in run] == ["OSError", "OSError", "unavailable"]
    assert len(ill.calls) == 2
    outer.reset()
    assert failed(await outer.run(message="hello")) == [("inner/ill", "OSError")]


@pytest.mark.parametrize(
    "limits",
    [
        {"timeout": 0},
        {"timeout": -1},
        {"timeout": float("inf")},
        {"timeout": "1"},
        {"retries": -1},
        {"retries": 1.5},
        {"retries": True},
        {"backoff": 0},
        {"breaker_failures": 0},
        {"breaker_window": 0},
        {"breaker_cooldown": float("nan")},
    ],
    ids=str,
)
def test_a_limit_that_is_none_is_refused(limits):
    with pytest.raises(ConfigurationError, match=next(iter(limits))):
        Pipeline.sequential([Marked("a")]).with_limits(**limits)


# Cancellation


async def _until(holds: Any) -> None:
    while not holds():  # noqa: ASYNC110
        await asyncio.sleep(0.001)


@pytest.mark.parametrize("how", ["run", "nested", "graph", "stream"])
@pytest.mark.parametrize("pattern", ALL_PATTERNS)
async def test_cancelling_a_run_cancels_its_agents(pattern, how):
    stopped: list[str] = []
    started: list[str] = []

    async def endless(payload: dict[str, Any]) -> None:
        started.append("endless")
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            stopped.append("endless")
            raise

    staff = Staff()
    pipeline = build(pattern, [Agent(endless, name="endless")], staff)
    if how == "nested":
        pipeline = Pipeline.sequential([nested(pipeline, "inner"), staff.agent()])
    before = asyncio.all_tasks()

    async def streamed() -> None:
        async for _ in pipeline.stream(message="hello"):
            pass

    task = asyncio.create_task(
        pipeline.compile().ainvoke({"inputs": {"message": "hello"}})
        if how == "graph"
        else streamed()
        if how == "stream"
        else pipeline.run(message="hello")
    )
    await _until(lambda: started)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await asyncio.sleep(0)

    assert stopped == started
    assert asyncio.all_tasks() - before - {task} == set()


async def test_who_stops_listening_to_a_stream_stops_the_agents():
    begun = asyncio.Event()
    stopped: list[str] = []

    async def endless(payload: dict[str, Any]) -> None:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            stopped.append("endless")

    stream = Pipeline.parallel([endless]).stream(message="hello")
    async for event in stream:
        if event["type"] == "agent_started":
            break
    await begun.wait()
    await stream.aclose()  # type: ignore[attr-defined]
    await _until(lambda: stopped)

    assert stopped == ["endless"]


async def test_a_cancelled_run_of_fifty_leaves_the_others_alone():
    agent = Marked("a").slowly(0.03)
    pipeline = Pipeline.parallel([agent, Marked("b")])
    tasks = [asyncio.create_task(pipeline.run(message=str(number))) for number in range(50)]
    await _until(lambda: len(agent.calls) == 50)
    for task in tasks[::2]:
        task.cancel()

    results = await asyncio.gather(*tasks, return_exceptions=True)

    assert all(isinstance(result, asyncio.CancelledError) for result in results[::2])
    for result in results[1::2]:
        assert isinstance(result, dict)
        assert result["response"] == f"{mark('a')}\n\n{mark('b')}"


# Memory


async def test_a_pipeline_that_nobody_holds_is_forgotten():
    pipeline = Pipeline.router([Marked("a"), Marked("b")], "round-robin")
    pipeline = pipeline.with_limits(breaker_failures=1)
    await pipeline.run(message="hello")
    async for _ in pipeline.stream(message="hello"):
        pass
    gone = weakref.ref(pipeline)
    del pipeline
    gc.collect()

    assert gone() is None
