"""Outputs of a pipeline from those of its agents: joined, ordered, and never multiplied."""

from __future__ import annotations

import json
from typing import Any

import pytest

from journeygraph import ContextMergeError, Pipeline
from tests.pipelines.marked import (
    ALL_PATTERNS,
    Controller,
    Marked,
    Staff,
    build,
    calls_expected,
    mark,
    marks,
    nested,
    size,
)


def gives(name: str, /, **outputs: Any) -> Marked:
    return Marked(name, lambda payload: dict(outputs))


async def test_outputs_of_a_sequence_feed_forward_and_the_inputs_stay():
    """A rival dropped the message after the first step."""
    agents = [gives("a", name="Ada", note="old"), gives("b", note="new"), gives("c", response="ok")]

    result = await Pipeline.sequential(agents).run(message="hello", data=[1])

    for agent in agents:
        assert (agent.calls[0]["message"], agent.calls[0]["data"]) == ("hello", [1])
    assert "name" not in agents[0].calls[0]
    assert (agents[1].calls[0]["name"], agents[1].calls[0]["note"]) == ("Ada", "old")
    assert (agents[2].calls[0]["name"], agents[2].calls[0]["note"]) == ("Ada", "new")
    assert {k: v for k, v in result.items() if k != "pipeline"} == {
        "name": "Ada",
        "note": "new",
        "response": "ok",
    }


async def test_outputs_of_agents_at_once_are_joined_in_declared_order():
    agents = [
        gives("slow", response="first", tags=["x", "y"], place={"city": "Leiden"}, n=1).slowly(
            0.02
        ),
        gives("quick", response="second", tags=["y", "z"], place={"street": "Breestraat"}, n=2),
        gives("silent"),
    ]

    result = await Pipeline.parallel(agents).run(message="hello")

    assert result["response"] == "first\n\nsecond"
    assert result["tags"] == ["x", "y", "z"]
    assert result["place"] == {"city": "Leiden", "street": "Breestraat"}
    assert result["n"] == 2
    named = [entry["agent"] for entry in result["pipeline"]["results"]]
    assert named == ["slow", "quick", "silent"]


UNLIKE = [gives("a", n=1, kept="yes"), gives("b", n={"x": 1})]


@pytest.mark.parametrize(
    "pipeline",
    [
        pytest.param(Pipeline.parallel(UNLIKE), id="parallel"),
        pytest.param(Pipeline.blackboard(UNLIKE, Controller("boss")), id="blackboard"),
        pytest.param(
            Pipeline.sequential([Pipeline.parallel(UNLIKE).to_agent("inner")]), id="nested"
        ),
    ],
)
async def test_outputs_that_do_not_go_together_are_a_failure_that_loses_nothing(pipeline):
    result = await pipeline.run(message="hello")

    assert result["pipeline"]["status"] == "failed"
    assert "'n'" in result["error"]
    outputs = [entry["outputs"] for entry in result["pipeline"]["results"]]
    assert {"n": 1, "kept": "yes"} in outputs
    assert {"n": {"x": 1}} in outputs


async def test_outputs_that_do_not_go_together_are_raised_under_fail_fast():
    with pytest.raises(ContextMergeError, match="'n'"):
        await Pipeline.parallel(UNLIKE, error_handling="fail-fast").run(message="hello")


SHOWN = ("board", "debate", "proposals", "results", "perspectives", "workers")


def _spoiling(agent: Marked) -> Any:
    def answer(payload: dict[str, Any]) -> Any:
        outputs = agent.plainly(payload)
        payload["context"]["name"].clear()
        payload["history"].clear()
        payload["notes"].append("spoilt")
        for entry in [entry for name in SHOWN for entry in payload.get(name, [])]:
            entry.get("outputs", {}).clear()
            entry.clear()
        return outputs

    return answer


@pytest.mark.parametrize("alone", [False, True], ids=["judged", "alone"])
@pytest.mark.parametrize("pattern", ALL_PATTERNS)
async def test_what_an_agent_does_to_its_payload_is_seen_by_nobody(pattern, alone):
    staff = Staff()
    pipeline = build(pattern, staff.agents(3), staff, alone=alone)
    given: dict[str, Any] = {
        "context": {"name": {"first": "Ada"}},
        "history": [{"role": "user", "content": "hi"}],
        "notes": ["mine"],
    }

    for agent in staff.made.values():
        agent.answer = _spoiling(agent)
    result = await pipeline.run(message="granite", **given)

    assert marks(result) == calls_expected(pipeline, "granite")
    for agent in staff.made.values():
        for call in agent.calls:
            assert {name: call[name] for name in given} == given
            shown = [entry for name in SHOWN for entry in call.get(name, [])]
            assert all(entry.get("outputs", entry) for entry in shown)
    assert given["notes"] == ["mine"]
    assert given["context"] == {"name": {"first": "Ada"}}


@pytest.mark.parametrize("pattern", ALL_PATTERNS)
async def test_what_an_agent_does_to_its_outputs_later_changes_nothing(pattern):
    staff = Staff()
    pipeline = build(pattern, staff.agents(2), staff)
    kept: list[dict[str, Any]] = []

    def keeping(agent: Marked) -> Any:
        def answer(payload: dict[str, Any]) -> Any:
            for old in kept:
                old["list"].append("later")
            kept.append({**agent.plainly(payload), "list": [agent.name]})
            return kept[-1]

        return answer

    for agent in staff.made.values():
        agent.answer = keeping(agent)
    result = await pipeline.run(message="granite")

    for entry in result["pipeline"]["results"]:
        assert entry["outputs"]["list"] == [entry["agent"]]


CHEAP = ("router", "handoff", "parallel", "sequential", "ensemble", "blackboard")
"""Patterns that ask each peer once, so that ten of them in one another ask it once, too."""


@pytest.mark.parametrize("mixed", [False, True], ids=["alone", "mixed"])
@pytest.mark.parametrize("pattern", [*CHEAP, "supervisor_worker"])
async def test_ten_levels_keep_a_result_the_size_of_the_work(pattern, mixed):
    """The work is once in `results` and once in the outputs, at any level of nesting."""
    text = "x" * 20_000

    async def sized(levels: int) -> int:
        staff = Staff()
        writer = Marked("writer", lambda payload: {"response": text, "writer": mark("writer")})
        pipeline = Pipeline.sequential([writer])
        for level in range(1, levels):
            around = CHEAP[level % len(CHEAP)] if mixed else pattern
            pipeline = build(around, [nested(pipeline, f"level{level}")], staff, alone=True)
        result = await pipeline.run(message="writer")
        assert marks(result) == calls_expected(pipeline, "writer")
        assert len(writer.calls) == 1
        assert text in json.dumps(result)
        return size(result)

    one, ten = await sized(1), await sized(10)

    assert one < 2 * len(text) + 1_000
    assert ten < one + 9 * 2_000
