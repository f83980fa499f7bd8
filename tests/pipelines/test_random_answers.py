"""With any answers of its agents, a graceful pipeline ends, says how, and stays plain data."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from journeygraph import Pipeline
from tests.pipelines.marked import ALL_PATTERNS, Marked, Staff, build
from tests.support.properties import examples

NAMES = st.sampled_from(["walnut", "granite", "nobody", "", "WALNUT"])
NUMBERS = st.one_of(st.integers(-3, 60), st.floats(), st.booleans(), st.none())
PLAIN = st.one_of(NAMES, NUMBERS, st.text(max_size=8))
JSON = st.recursive(
    PLAIN,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=5,
)
PART = st.fixed_dictionaries(
    {}, optional={"task": st.one_of(st.text(max_size=6), JSON), "worker": JSON, "part": JSON}
)
REQUEST = st.fixed_dictionaries({}, optional={"to": PLAIN, "reason": JSON, "history": JSON})
ANSWERS = st.one_of(
    st.fixed_dictionaries(
        {},
        optional={
            "response": st.one_of(st.text(max_size=6), JSON),
            "tasks": st.one_of(st.lists(st.one_of(PART, JSON), max_size=4), JSON),
            "reassign": st.one_of(st.lists(st.one_of(PART, JSON), max_size=3), JSON),
            "next": st.one_of(NAMES, JSON),
            "need": st.one_of(st.text(max_size=6), JSON),
            "done": JSON,
            "vote": st.one_of(NAMES, JSON),
            "confidence": JSON,
            "winner": st.one_of(NAMES, JSON),
            "handoff": st.one_of(NAMES, REQUEST, JSON),
            "pipeline": JSON,
            "error": JSON,
        },
    ),
    JSON,
)


@pytest.mark.parametrize("pattern", ALL_PATTERNS)
@settings(
    max_examples=examples(12),
    derandomize=True,
    phases=[Phase.generate],
    deadline=None,
    database=None,
    suppress_health_check=list(HealthCheck),
)
@given(said=st.lists(ANSWERS, min_size=1, max_size=8))
def test_whatever_is_answered_a_run_ends_and_tells_how(pattern: str, said: list[Any]) -> None:
    staff = Staff()
    pipeline = build(pattern, staff.agents(2), staff, alone=len(said) % 2 == 0)
    if pattern == "handoff":
        pipeline = Pipeline.handoff(pipeline.agents)
    calls = 0

    def answer(payload: dict[str, Any]) -> Any:
        nonlocal calls
        calls += 1
        return said[calls % len(said)]

    for agent in staff.made.values():
        agent.answer = answer
    inner = pipeline.to_agent("inner")
    whole = Pipeline.sequential([inner, Marked("last")])

    result = asyncio.run(whole.run(message="hello"))
    told = result["pipeline"]

    assert told["status"] in ("complete", "partial", "failed")
    assert (told["status"] == "failed") == (not whole_answered(told))
    assert len(told["results"]) + len(told["failed"]) == calls + whole_answered(told)
    json.dumps(result, allow_nan=False).encode()


def whole_answered(told: dict[str, Any]) -> bool:
    return any(entry["agent"] == "last" for entry in told["results"])
