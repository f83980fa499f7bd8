"""The edge cases of ADR-018 section 5, category 9: what is written works the same when read."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest

from journeygraph import Agent, ConfigurationError, PatternPipeline, Pipeline, Skill
from tests.pipelines.marked import (
    ALL_PATTERNS,
    Marked,
    Staff,
    build,
    by_name,
    calls_expected,
    marks,
    nested,
    onwards,
)


def registry(staff: Staff) -> dict[str, Any]:
    return {**staff.made, "onwards": onwards}


async def assert_works_as(read: PatternPipeline, meant: PatternPipeline, staff: Staff) -> None:
    """The called agents and the results are the same for both."""
    results = []
    for pipeline in (meant, read):
        staff.forget()
        results.append(await pipeline.run(message="about the granite please"))
        assert staff.calls == by_name(calls_expected(meant, "about the granite please"))
    assert results[0] == results[1]


def settled(pattern: str, staff: Staff) -> PatternPipeline:
    """A pipeline of which everything is other than by default."""
    pipeline: PatternPipeline = build(pattern, staff.agents(3), staff)
    named = pipeline.with_name("team", "Works together.").with_error_handling("fail-fast")
    return named.with_limits(timeout=7.5, retries=2, backoff=0.25, breaker_failures=4)


class TestSerialization:
    @pytest.mark.parametrize("pattern", ALL_PATTERNS)
    def test_pipeline_to_json(self, pattern):
        """Names and settings are in it, and nothing that could be run."""
        staff = Staff()
        pipeline = settled(pattern, staff)

        data = json.loads(pipeline.to_json())

        assert data == pipeline.to_dict()
        assert (data["schema"], data["pattern"], data["name"]) == (1, pattern, "team")
        peers = data[pipeline.peers()]
        assert [agent["name"] for agent in peers] == ["walnut", "granite", "harbour"]
        others = set(staff.made) - {"walnut", "granite", "harbour"}
        assert {data[role]["name"] for role in pipeline.roles} == others
        assert data["error_handling"] == "fail-fast"
        assert (data["limits"]["timeout"], data["limits"]["breaker_failures"]) == (7.5, 4)
        assert "tests." not in pipeline.to_json()
        assert "object at" not in pipeline.to_json()

    @pytest.mark.parametrize("pattern", ALL_PATTERNS)
    async def test_pipeline_from_json(self, pattern):
        staff = Staff()
        pipeline = settled(pattern, staff)

        read = Pipeline.from_json(pipeline.to_json(), registry(staff))

        assert read == pipeline
        assert read.to_dict() == pipeline.to_dict()
        await assert_works_as(read, pipeline, staff)

    @pytest.mark.parametrize("outer", ALL_PATTERNS)
    async def test_nested_pipeline_serialization(self, outer):
        staff = Staff()
        pipeline = build(outer, staff.agents(2), staff)
        for level, pattern in enumerate(("debate", "router", "handoff")):
            pipeline = build(pattern, [nested(pipeline, f"level{level}"), staff.agent()], staff)

        read = Pipeline.from_dict(json.loads(json.dumps(pipeline.to_dict())), registry(staff))

        assert read == pipeline
        assert read.levels == 4
        await assert_works_as(read, pipeline, staff)

    def test_a2a_card_serialization(self):
        """A card survives the way to A2A's own types, their JSON, and back."""
        pytest.importorskip("a2a", reason="the extra a2a is not installed")
        from google.protobuf.json_format import MessageToJson  # noqa: PLC0415

        from journeygraph.graphs.a2a import from_a2a, to_a2a  # noqa: PLC0415

        agent = Agent(
            Marked("clerk"),
            name="clerk",
            description="Explains bills.",
            skills=[
                Skill(
                    "billing", "Explain a bill", ["Why so much?"], ["invoice", "Rechnung \u2603"]
                ),
                Skill("refunds", "Pay back", ["I want it back"], ["refund"]),
            ],
            input_modes=["text/plain", "image/png"],
            output_modes=["application/json"],
        )

        card = to_a2a(agent, "https://example.org/clerk")

        assert from_a2a(card) == agent.card
        assert from_a2a(json.loads(MessageToJson(card))) == agent.card


def test_a_pipeline_cannot_be_read_into_itself():
    """A name that means the pipeline that is being read means no agent."""
    data = Pipeline.sequential([Marked("walnut")]).with_name("team").to_dict()
    data["agents"][0]["name"] = "team"

    with pytest.raises(ConfigurationError, match=r"\$\.agents\[0\]"):
        Pipeline.from_dict(data, {"walnut": Marked("walnut")})

    inner = Pipeline.sequential([Marked("walnut")]).with_name("team")
    outer = Pipeline.from_dict(data, {"team": inner})
    assert outer.levels == 2


async def test_a_registry_that_is_changed_later_changes_nothing():
    staff = Staff()
    pipeline = build("parallel", staff.agents(2), staff)
    agents = registry(staff)
    read = Pipeline.from_dict(pipeline.to_dict(), agents)

    agents.clear()
    result = await read.run(message="granite")

    assert marks(result) == Counter(walnut=1, granite=1, harbour=1)
