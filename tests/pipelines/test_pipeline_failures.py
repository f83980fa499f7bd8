"""Failures of one agent of a pipeline, at any place in it."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Callable
from typing import Any

import pytest

from journeygraph import ConfigurationError, PathwayExecutionError, PatternPipeline, Pipeline
from tests.pipelines.marked import (
    ALL_PATTERNS,
    Controller,
    Marked,
    Staff,
    Supervisor,
    build,
    failed,
    fails,
    fails_in,
    mark,
    marks,
    nested,
)

DOWN = LookupError("the archive is closed")


def broken(name: str = "ill") -> Marked:
    return Marked(name, fails(DOWN))


def later(calls: int) -> Marked:
    """A controller that fails at a later look."""
    boss = Controller("ill")

    def answer(payload: dict[str, Any]) -> Any:
        if len(boss.calls) > calls:
            raise DOWN
        return boss.plainly(payload)

    boss.answer = answer
    return boss


def well() -> list[Marked]:
    return [Marked("first"), Marked("last")]


IN = {phase: fails_in(phase, DOWN) for phase in ("plan", "review", "compose", "propose", "vote")}
IN |= {phase: fails_in(phase, DOWN) for phase in ("position", "rebuttal")}

# where the failure is, the pipeline, its status, who leaves a mark, how often the ill one failed
PLACES: dict[str, tuple[Callable[[], PatternPipeline], str, dict[str, int], int]] = {
    "sequential, first": (
        lambda: Pipeline.sequential([broken(), *well()]),
        "failed", {}, 1,
    ),
    "sequential, last": (
        lambda: Pipeline.sequential([*well(), broken()]),
        "failed", {"first": 1, "last": 1}, 1,
    ),
    "parallel, one": (
        lambda: Pipeline.parallel([broken(), *well()]),
        "partial", {"first": 1, "last": 1}, 1,
    ),
    "parallel, all": (
        lambda: Pipeline.parallel([broken()]),
        "failed", {}, 1,
    ),
    "parallel, aggregator": (
        lambda: Pipeline.parallel(well(), broken()),
        "failed", {"first": 1, "last": 1}, 1,
    ),
    "parallel, one below an aggregator": (
        lambda: Pipeline.parallel([broken(), *well()], Marked("sum")),
        "partial", {"first": 1, "last": 1, "sum": 1}, 1,
    ),
    "router": (
        lambda: Pipeline.router([broken(), *well()]),
        "failed", {}, 1,
    ),
    "supervisor, plan": (
        lambda: Pipeline.supervisor_worker(IN["plan"](Supervisor("ill")), well()),
        "failed", {}, 1,
    ),
    "supervisor, review": (
        lambda: Pipeline.supervisor_worker(IN["review"](Supervisor("ill")), well()),
        "failed", {"ill": 1, "first": 1, "last": 1}, 1,
    ),
    "supervisor, compose": (
        lambda: Pipeline.supervisor_worker(IN["compose"](_sends_back("ill")), well()),
        "failed", {"ill": 2, "first": 2, "last": 1}, 1,
    ),
    "supervisor, all workers": (
        lambda: Pipeline.supervisor_worker(Supervisor("boss"), [broken()]),
        "partial", {"boss": 2}, 1,
    ),
    "ensemble, one": (
        lambda: Pipeline.ensemble([broken(), *well()], Marked("sum")),
        "partial", {"first": 1, "last": 1, "sum": 1}, 1,
    ),
    "ensemble, all": (
        lambda: Pipeline.ensemble([broken()], Marked("sum")),
        "failed", {}, 1,
    ),
    "ensemble, synthesizer": (
        lambda: Pipeline.ensemble(well(), broken()),
        "failed", {"first": 1, "last": 1}, 1,
    ),
    "blackboard, specialist": (
        lambda: Pipeline.blackboard([broken(), *well()], Controller("boss")),
        "partial", {"first": 1, "last": 1, "boss": 4}, 1,
    ),
    "blackboard, controller at once": (
        lambda: Pipeline.blackboard(well(), broken()),
        "failed", {}, 1,
    ),
    "blackboard, controller later": (
        lambda: Pipeline.blackboard(well(), later(1)),
        "failed", {"ill": 1, "first": 1}, 1,
    ),
    "consensus, proposal": (
        lambda: Pipeline.consensus([IN["propose"](Marked("ill")), *well()]),
        "partial", {"first": 2, "last": 2}, 1,
    ),
    "consensus, vote": (
        lambda: Pipeline.consensus([IN["vote"](Marked("ill")), *well()]),
        "partial", {"first": 2, "last": 2, "ill": 1}, 1,
    ),
    "debate, judge": (
        lambda: Pipeline.debate(well(), 1, broken()),
        "failed", {"first": 1, "last": 1}, 1,
    ),
    "debate, one": (
        lambda: Pipeline.debate([IN["position"](Marked("ill")), *well()], 1, Marked("judge")),
        "partial", {"first": 1, "last": 1, "judge": 1}, 1,
    ),
    "handoff": (
        lambda: Pipeline.handoff([*well(), broken()], lambda outputs: True),
        "failed", {"first": 1, "last": 1}, 1,
    ),
}  # fmt: skip


def _sends_back(name: str) -> Supervisor:
    boss = Supervisor(name)

    def answer(payload: dict[str, Any]) -> Any:
        again = {"reassign": [{"part": 1, "worker": "first"}]}
        return {**boss.plainly(payload), **(again if payload["phase"] == "review" else {})}

    boss.answer = answer
    return boss


@pytest.mark.parametrize("place", PLACES)
async def test_a_failure_is_told_and_the_rest_is_kept(place):
    made, status, left, times = PLACES[place]

    result = await made().run(message="hello")

    assert failed(result) == [("ill", "LookupError")] * times
    assert marks(result) == left
    assert result["pipeline"]["status"] == status
    assert ("error" in result) == (status == "failed")
    told = json.dumps(result)
    assert "the archive is closed" in told
    assert "Traceback" not in told
    assert ".py" not in told


@pytest.mark.parametrize("place", PLACES)
async def test_under_fail_fast_the_first_failure_is_raised(place):
    pipeline = PLACES[place][0]().with_error_handling("fail-fast")

    with pytest.raises(PathwayExecutionError, match="the archive is closed") as caught:
        await pipeline.run(message="hello")

    assert caught.value.agent == "ill"
    assert caught.value.__cause__ is DOWN


@pytest.mark.parametrize("outer", ALL_PATTERNS)
async def test_a_failure_deep_inside_is_told_by_its_path(outer):
    """Graceful outside, graceful inside: what holds an agent that failed is partial, not failed."""
    staff = Staff()
    inner = nested(Pipeline.parallel([broken(), staff.agent()]), "inner")
    pipeline = build(outer, [inner], staff)

    result = await pipeline.run(message="hello")

    assert {path for path, _ in failed(result)} == {"inner/ill"}
    assert result["pipeline"]["status"] == "partial"
    assert marks(result)["inner/walnut"] >= 1


@pytest.mark.parametrize("outer", ["sequential", "parallel", "router", "handoff"])
@pytest.mark.parametrize("inside", ["graceful", "fail-fast"])
async def test_a_pipeline_inside_keeps_its_own_way_to_handle_errors(outer, inside):
    staff = Staff()
    well = staff.agent()
    inner = Pipeline.parallel([broken(), well]).with_error_handling(inside)
    pipeline = build(outer, [nested(inner, "inner")], staff, alone=True)

    result = await pipeline.run(message="hello")

    status = {"graceful": "partial", "fail-fast": "failed"}[inside]
    assert result["pipeline"]["status"] == status
    # One that fails fast fails as one: who it was is in the words.
    path = {"graceful": "inner/ill", "fail-fast": "inner"}[inside]
    assert failed(result) == [(path, "LookupError")]
    assert "the archive is closed" in json.dumps(result)


async def test_fail_fast_outside_raises_what_failed_inside_a_pipeline_that_fails_fast():
    inner = Pipeline.sequential([broken()]).with_error_handling("fail-fast").to_agent("inner")
    pipeline = Pipeline.sequential([inner]).with_error_handling("fail-fast")

    with pytest.raises(PathwayExecutionError) as caught:
        await pipeline.run(message="hello")

    assert caught.value.agent == "inner/ill"


async def test_under_fail_fast_the_others_are_stopped():
    stopped: list[str] = []

    async def endless(payload: dict[str, Any]) -> None:
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.sleep(60)
        stopped.append("endless")

    pipeline = Pipeline.parallel([endless, broken()]).with_error_handling("fail-fast")
    with pytest.raises(PathwayExecutionError):
        await pipeline.run(message="hello")
    await asyncio.sleep(0.01)

    assert stopped == ["endless"]


def test_a_way_to_handle_errors_that_there_is_not_is_refused():
    with pytest.raises(ConfigurationError, match="Did you mean 'fail-fast'"):
        Pipeline.sequential([Marked("a")], error_handling="fail_fast")
    with pytest.raises(ConfigurationError, match="error_handling"):
        Pipeline.sequential([Marked("a")]).with_error_handling("fast")


async def test_a_rival_s_result_of_a_failure_had_a_traceback_and_ours_has_none():
    result = await Pipeline.router([broken()]).run(message="hello")

    assert set(result["pipeline"]["failed"][0]) == {"agent", "error", "kind"}
    assert "the archive is closed" in result["error"]


@pytest.mark.parametrize("pattern", ALL_PATTERNS)
async def test_marks_of_what_was_done_before_a_failure_are_not_lost(pattern):
    staff = Staff()
    pipeline = build(pattern, [*staff.agents(2), broken("zinc")], staff)

    result = await pipeline.run(message="walnut")

    done = {name: number for name, number in staff.calls.items() if name != "zinc"}
    assert marks(result) == done
    assert mark("walnut") in json.dumps(result)
