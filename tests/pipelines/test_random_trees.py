"""Any tree of the nine patterns: nothing is lost, no agent is called twice, and it ends.

`PIPELINE_TREES=2000` hunts for longer, with new seeds.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from journeygraph import PathwayExecutionError, PatternPipeline
from tests.pipelines.marked import (
    ALL_PATTERNS,
    WORDS,
    Staff,
    build,
    by_name,
    calls_expected,
    fails,
    marks,
    nested,
)
from tests.support.properties import examples

HUNTING = int(os.environ.get("PIPELINE_TREES", "0"))
MOST_NAMES = len(WORDS)


def searched(most: int) -> Callable[..., Any]:
    return settings(
        max_examples=HUNTING or examples(most),
        derandomize=not HUNTING,
        # Shrinking takes minutes; a hunt does it.
        phases=[Phase.generate, Phase.shrink] if HUNTING else [Phase.generate],
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )


@dataclass(frozen=True)
class Node:
    """A pipeline in a tree: its pattern, whether it is without its optional role, its peers."""

    pattern: str
    alone: bool
    peers: tuple[Node | None, ...]

    @property
    def names(self) -> int:
        """How many names it needs, for agents, roles and pipelines."""
        return 2 + sum(1 if peer is None else peer.names for peer in self.peers)


_PATTERN = st.sampled_from(ALL_PATTERNS)
TREES = st.recursive(
    st.builds(
        Node, _PATTERN, st.booleans(), st.lists(st.none(), min_size=1, max_size=3).map(tuple)
    ),
    lambda inner: st.builds(
        Node,
        _PATTERN,
        st.booleans(),
        st.lists(st.one_of(st.none(), inner), min_size=1, max_size=3).map(tuple),
    ),
    max_leaves=6,
).filter(lambda node: node.names <= MOST_NAMES)


def planted(
    node: Node, staff: Staff, *, spoilt: Collection[str] = (), fails_fast: bool = False
) -> PatternPipeline:
    """The pipeline of a tree, with agents that leave their mark, all but the spoilt ones."""
    peers = [
        staff.agent()
        if peer is None
        else nested(planted(peer, staff, spoilt=spoilt, fails_fast=fails_fast), staff.word())
        for peer in node.peers
    ]
    pipeline: PatternPipeline = build(node.pattern, peers, staff, alone=node.alone)
    for name in spoilt:
        if name in staff.made:
            staff.made[name].answer = fails(LookupError(f"{name} is ill"))
    return pipeline.with_error_handling("fail-fast") if fails_fast else pipeline


def run(pipeline: PatternPipeline, message: str) -> dict[str, Any]:
    return asyncio.run(pipeline.run(message=message))


@searched(40)
@given(TREES, st.sampled_from(WORDS[:12]))
def test_everybody_whom_the_rules_name_is_asked_and_heard(tree: Node, word: str) -> None:
    staff = Staff()
    pipeline = planted(tree, staff)
    message = f"about the {word} please"
    result = run(pipeline, message)

    expected = calls_expected(pipeline, message)
    assert staff.calls == by_name(expected)
    assert marks(result) == expected
    assert len(result["pipeline"]["results"]) == expected.total()
    assert (result["pipeline"]["status"], result["pipeline"]["failed"]) == ("complete", [])
    assert {said for agent in staff.made.values() for said in agent.messages} == {message}


@searched(25)
@given(TREES, st.sampled_from(WORDS[:12]), st.randoms(use_true_random=False))
def test_the_same_tree_gives_the_same_result_whoever_is_quicker(
    tree: Node, word: str, dice: Any
) -> None:
    results = []
    for hurry in (0.0, 0.002):
        staff = Staff()
        pipeline = planted(tree, staff)
        for agent in staff.made.values():
            agent.slowly(dice.random() * hurry)
        results.append(run(pipeline, word))

    assert _timeless(results[0]) == _timeless(results[1])


def _timeless(result: Mapping[str, Any]) -> str:
    return json.dumps(result, sort_keys=True)


@searched(40)
@given(TREES, st.sampled_from(WORDS[:12]), st.sets(st.integers(0, 14), min_size=1, max_size=4))
def test_failures_are_told_exactly_and_nothing_else_is_lost(
    tree: Node, word: str, ill: set[int]
) -> None:
    staff = Staff()
    planted(tree, staff)
    names = list(staff.made)
    spoilt = {names[number % len(names)] for number in ill}
    staff = Staff()
    pipeline = planted(tree, staff, spoilt=spoilt)
    result = run(pipeline, word)
    came = result["pipeline"]

    said = by_name(Counter(entry["agent"] for entry in came["failed"]))
    assert said == {name: number for name, number in staff.calls.items() if name in spoilt}
    heard = by_name(marks(result))
    assert heard == {name: number for name, number in staff.calls.items() if name not in spoilt}
    assert (came["status"] == "complete") == (not came["failed"])
    assert (came["status"] == "failed") == ("error" in result)
    assert {entry["kind"] for entry in came["failed"]} <= {"LookupError"}
    assert "Traceback" not in json.dumps(result)

    hurried = planted(tree, Staff(), spoilt=spoilt, fails_fast=True)
    if not came["failed"]:
        assert marks(run(hurried, word)) == marks(result)
        return
    with pytest.raises(PathwayExecutionError) as caught:
        run(hurried, word)
    assert caught.value.agent.rpartition("/")[2] in spoilt
    assert isinstance(caught.value.__cause__, LookupError)
