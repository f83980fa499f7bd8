"""Merging of values into the context: seven strategies, the undeclared rule, and limits."""

from __future__ import annotations

import asyncio
import copy
import gc
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from journeygraph import (
    NEVER,
    ContextMergeError,
    ContextSizeExceededError,
    Journey,
    MergeStrategy,
    Pathway,
)
from journeygraph.nodes.json_data import REST, copied, size, uncollected
from journeygraph.nodes.state.context import (
    apply_ops,
    checked,
    how_to_merge,
    names_changed,
    restoring,
)
from tests.benchmarks.material import session

# A busy machine is slow, not wrong.

S = MergeStrategy

# strategy, the values that come one after the other, what is kept then
KEPT: list[tuple[MergeStrategy | None, list[Any], Any]] = [
    (S.REPLACE, [1, "two"], "two"),
    (S.REPLACE, [[1], {"a": 1}, 0], 0),
    (S.REPLACE, ["x", None], "x"),
    (S.REPLACE, ["x", ""], ""),
    (S.APPEND, ["a"], ["a"]),
    (S.APPEND, [["a"], "b", ["c", "a"]], ["a", "b", "c", "a"]),
    (S.APPEND, ["a", None, ["b", None]], ["a", "b", None]),
    (S.APPEND, [{"id": 1}, {"id": 1}], [{"id": 1}, {"id": 1}]),
    (S.APPEND, [["a"], []], ["a"]),
    (S.MERGE_DICT, [{"a": 1}, {"b": 2}, {"a": 3}], {"a": 3, "b": 2}),
    (S.MERGE_DICT, [{"a": {"x": 1, "y": [1]}}, {"a": {"y": [2]}}], {"a": {"x": 1, "y": [2]}}),
    (S.MERGE_DICT, [{"a": 1}, {"a": None, "b": 1}], {"a": 1, "b": 1}),
    (S.MERGE_DICT, [{"a": {"x": 1}}, {"a": "flat"}], {"a": "flat"}),
    (S.MAX, [3, 5, 4], 5),
    (S.MAX, [1, 1.5], 1.5),
    (S.MAX, ["apple", "pear", "fig"], "pear"),
    (S.MIN, [3, -5, 4], -5),
    (S.MIN, [0.5, None, 1], 0.5),
    (S.SUM, [1, 2, 3.5], 6.5),
    (S.SUM, [1, -1], 0),
    (S.SUM, [1e300, 1e300], 2e300),
    (S.SUM, [-(2**63)], -(2**63)),
    (S.UNION, ["a", "a"], ["a"]),
    (S.UNION, [["b", "a"], ["a", "c"], "b"], ["b", "a", "c"]),
    (S.UNION, [[{"id": 1, "n": 2}], {"n": 2, "id": 1}, {"id": 2}], [{"id": 1, "n": 2}, {"id": 2}]),
    (S.UNION, [[1], [True, 0, False, "1"]], [1, True, 0, False, "1"]),
    (S.UNION, [["a", "a"]], ["a"]),
    (None, [1, "two", 3.0], 3.0),
    (None, ["x", None], "x"),
    (None, [["a"], ["b", "a"]], ["a", "b"]),
    (None, [[{"id": 1}], [{"id": 1}, {"id": 2}]], [{"id": 1}, {"id": 2}]),
    (None, [{"a": {"x": [1], "y": 1}}, {"a": {"x": [2, 1], "y": 2}}], {"a": {"x": [1, 2], "y": 2}}),
    (None, [{"a": 1}, {"a": None}], {"a": 1}),
    (None, [True, False], False),
]

# strategy, held value, the value that does not fit, what the error says of the types
MISFITS: list[tuple[MergeStrategy | None, Any, Any, str]] = [
    (S.MERGE_DICT, {"a": 1}, ["a"], "its value is of type dict, the new one of type list"),
    (S.MERGE_DICT, "flat", {"a": 1}, "its value is of type str, the new one of type dict"),
    (S.MERGE_DICT, None, 3, "its value is of type nothing, the new one of type int"),
    (S.MAX, 1, "2", "its value is of type int, the new one of type str"),
    (S.MAX, [1], 2, "its value is of type list, the new one of type int"),
    (S.MAX, None, True, "its value is of type nothing, the new one of type bool"),
    (S.MIN, "a", 1, "its value is of type str, the new one of type int"),
    (S.SUM, 1, "2", "its value is of type int, the new one of type str"),
    (S.SUM, "1", 2, "its value is of type str, the new one of type int"),
    (S.SUM, 1, True, "its value is of type int, the new one of type bool"),
    (S.SUM, None, "1", "its value is of type nothing, the new one of type str"),
    (S.SUM, 2**62, 2**62, "does not fit in 64 bits"),
    (S.SUM, 1e308, 1e308, "does not fit in 64 bits"),
    (None, [1], 2, "its value is of type list, the new one of type int"),
    (None, {"a": 1}, [1], "its value is of type dict, the new one of type list"),
    (None, 1, {"a": 1}, "its value is of type int, the new one of type dict"),
]


def merged(strategy: MergeStrategy | None, values: list[Any]) -> Any:
    how = how_to_merge(strategy)
    return apply_ops({}, [[how, "x", value] for value in values]).get("x")


def keeper(strategy: MergeStrategy | None) -> type[Journey]:
    class Keep(Journey):
        class KeepPath(Pathway):
            __agents__ = ["clerk"]
            __accumulate__ = {"x": strategy}
            __complete_when__ = NEVER

    return Keep


@pytest.mark.parametrize(("strategy", "values", "kept"), KEPT)
async def test_a_strategy_keeps_through_the_graph(
    strategy: MergeStrategy | None, values: list[Any], kept: Any, talk: Any, memory_url: str
) -> None:
    coming = iter(values)
    chat = await talk(keeper(strategy), {"clerk": lambda _: {"x": next(coming)}}, memory_url)
    for _ in values:
        await chat.says("go on")

    assert json.dumps(chat.context) == json.dumps({"x": kept})
    assert await (await chat.restored()).journey.snapshot() == {"x": kept}


@pytest.mark.parametrize(("strategy", "held", "new", "said"), MISFITS)
async def test_what_does_not_fit_fails_the_turn_with_field_strategy_and_types(
    strategy: MergeStrategy | None, held: Any, new: Any, said: str, talk: Any, memory_url: str
) -> None:
    """DESIGN.md section 4, row Merge type mismatch: never a silent replace."""
    context = {} if held is None else {"x": held}
    agents = {"clerk": lambda _: {"x": new, "response": "not heard"}}
    chat = await talk(keeper(strategy), agents, memory_url, context=context)
    await chat.says("go on")

    error = chat.last.metadata["error"]
    assert error["type"] == "ContextMergeError"
    for part in ("'x'", f"'{strategy or 'undeclared'}'", said):
        assert part in error["message"]
    assert chat.context == await chat.journey.snapshot() == context
    assert await chat.audited() == ["failure"]


def test_operations_follow_one_another() -> None:
    ops: list[list[Any]] = [
        ["replace", "a", 1],
        ["sum", "a", 2],
        ["clear", "a", None],
        ["append", "a", 3],
    ]

    assert apply_ops({}, ops) == {"a": [3]}
    assert names_changed([*ops, ["replace", "b", 1]]) == ["a", "b"]


async def test_a_plain_dict_sets_the_context_of_a_compiled_graph() -> None:
    """DESIGN.md section 3: a plain dict sets; so Studio's form works."""
    graph = keeper(S.UNION).compile(agents={"clerk": lambda p: {"x": p["message"]}})

    values = await graph.ainvoke({"messages": [("user", "b")], "context": {"x": ["a"]}})

    assert values["context"] == {"x": ["a", "b"]}


# The size is checked before anything changes.


def test_prunable_lists_lose_their_oldest_entries_near_the_limit() -> None:
    context: dict[str, Any] = {"log": [f"entry {n}" for n in range(20)], "kept": list(range(5))}
    limit = size(context)

    result, pruning = checked(context, [["append", "log", "newest"]], limit, ["nothing", "log"])

    assert result["log"][-1] == "newest"
    assert result["log"] == [*context["log"], "newest"][-len(result["log"]) :]
    assert result["kept"] == context["kept"]
    assert size(result) <= limit * 0.9
    assert checked(context, [["max", "n", 1]], int(limit * 1.08), ["log"])[1] != []
    assert checked(context, [["max", "n", 1]], int(limit * 1.20), ["log"])[1] == []
    assert names_changed(pruning) == ["log"]
    assert apply_ops(apply_ops(context, [["append", "log", "newest"]]), pruning) == result


# What holds for all values.

NAMES = st.sampled_from(["a", "b", "c"])
PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.sampled_from(["", "x", "y", 0.5]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=6,
)
CONTEXTS = st.dictionaries(NAMES, PLAIN.filter(lambda value: value is not None), max_size=3)
HOWS = ["replace", "clear", "append", "union", "merge", "max", "min", "sum", "auto"]
OPS = st.lists(st.tuples(st.sampled_from(HOWS), NAMES, PLAIN).map(list), max_size=5)


def outcome(context: Any, ops: Any) -> Any:
    """What applying gives: the context, or what the refusal says."""
    try:
        return apply_ops(context, ops)
    except ContextMergeError as error:
        return str(error)


@given(context=CONTEXTS, ops=OPS)
def test_applying_operations_changes_nothing_that_it_was_given(context: Any, ops: Any) -> None:
    before = copy.deepcopy((context, ops))

    outcome(context, ops)

    assert (context, ops) == before


@given(context=CONTEXTS, ops=OPS, later=OPS)
def test_a_result_does_not_change_when_it_is_built_upon(context: Any, ops: Any, later: Any) -> None:
    first = outcome(context, ops)
    seen = copy.deepcopy(first)
    if isinstance(first, dict):
        outcome(first, later)

    assert first == seen


@given(context=CONTEXTS, ops=OPS, split=st.integers(0, 5))
def test_operations_in_two_steps_are_operations_in_one(context: Any, ops: Any, split: int) -> None:
    halfway = outcome(context, ops[:split])
    whole = outcome(context, ops)

    assert whole == (outcome(halfway, ops[split:]) if isinstance(halfway, dict) else halfway)


@given(context=CONTEXTS, ops=OPS)
def test_a_refused_operation_is_refused_by_the_check_before(context: Any, ops: Any) -> None:
    applied = outcome(context, ops)

    if isinstance(applied, str):
        with pytest.raises(ContextMergeError) as raised:
            checked(context, ops, limit=10**6)
        assert str(raised.value) == applied
    else:
        assert checked(context, ops, limit=10**6) == (applied, [])


@given(values=st.lists(PLAIN, max_size=4), again=st.integers(1, 3))
def test_union_is_idempotent_and_keeps_the_first_order(values: list[Any], again: int) -> None:
    once = merged(S.UNION, values)

    assert merged(S.UNION, values + values * again) == once
    if isinstance(once, list):
        assert merged(S.UNION, [once, *values]) == once


@given(
    values=st.lists(st.integers(-50, 50), min_size=1), shuffled=st.randoms(use_true_random=False)
)
def test_max_min_and_sum_do_not_depend_on_the_order(values: list[int], shuffled: Any) -> None:
    other = list(values)
    shuffled.shuffle(other)

    assert merged(S.MAX, values) == merged(S.MAX, other) == max(values)
    assert merged(S.MIN, values) == merged(S.MIN, other) == min(values)
    assert merged(S.SUM, values) == merged(S.SUM, other) == sum(values)


@given(values=st.lists(PLAIN))
def test_append_loses_nothing(values: list[Any]) -> None:
    parts = [value if isinstance(value, list) else [value] for value in values if value is not None]

    assert (merged(S.APPEND, values) or []) == [item for part in parts for item in part]


@given(before=CONTEXTS, ops=OPS)
def test_a_size_that_is_counted_from_what_changed_is_that_of_the_whole(
    before: Any, ops: Any
) -> None:
    now = outcome(before, ops)
    if not isinstance(now, dict) or not ops:
        return
    for limit, fits in ((size(now), True), (size(now) - 1, False)):
        if fits:
            assert checked(before, ops, limit, sized=(before, size(before)))[0] == now
        else:
            with pytest.raises(ContextSizeExceededError, match=f"{size(now):,}|{size(now)}"):
                checked(before, ops, limit, sized=(before, size(before)))


@given(one=CONTEXTS, other=CONTEXTS)
def test_restoring_turns_any_context_into_any_other(one: Any, other: Any) -> None:
    ops = restoring(one, other)

    assert apply_ops(one, ops) == other
    assert restoring(other, other) == []


def test_a_value_that_was_none_is_restored_as_absent() -> None:
    assert apply_ops({"a": 1, "b": 2}, restoring({"a": 1, "b": 2}, {"a": None, "b": 2})) == {"b": 2}


def test_a_large_context_is_copied_without_full_collections() -> None:
    large = {f"topic {n}": {"name": f"name {n}", "seen": [n, n + 1]} for n in range(20_000)}
    collected: list[int] = []

    def note(phase: str, about: dict[str, int]) -> None:
        if phase == "start":
            collected.append(about["generation"])

    gc.callbacks.append(note)
    try:
        same = copied(large)
    finally:
        gc.callbacks.remove(note)
    assert same == large
    assert same["topic 1"] is not large["topic 1"]
    assert len(collected) <= 1
    assert gc.isenabled()


async def test_no_garbage_is_collected_for_a_short_time_after_a_large_copy() -> None:
    copied({str(n): [n] for n in range(20_000)})

    assert not gc.isenabled()
    await asyncio.sleep(REST)
    await asyncio.sleep(0)
    assert gc.isenabled()


@pytest.mark.slow
async def test_what_a_turn_has_loaded_is_released_before_garbage_is_collected(
    memory_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "journeygraph.nodes.json_data.REST", 120
    )  # a busy machine is slow, not wrong
    kept = {f"topic {n}": {"name": f"name {n}", "seen": [n]} for n in range(10_000)}
    journey = await session(memory_url, context={"kept": kept})
    collected: list[int] = []

    def note(phase: str, about: dict[str, int]) -> None:
        if phase == "start":
            collected.append(about["generation"])

    gc.collect()
    gc.callbacks.append(note)
    try:
        await journey.process_message("hello")
        assert not gc.isenabled()
    finally:
        gc.callbacks.remove(note)
        gc.enable()
    assert collected == []
    await journey.close()


def test_garbage_is_collected_again_if_the_loop_ends_after_a_large_copy() -> None:
    async def copy() -> None:
        copied({str(n): [n] for n in range(20_000)})
        assert not gc.isenabled()

    asyncio.run(copy())
    assert gc.isenabled()


def test_garbage_is_collected_again_after_something_that_cannot_be_read() -> None:
    def refuse(given: bytes) -> None:
        raise ValueError(given)

    with pytest.raises(ValueError, match="broken"):
        uncollected(refuse, b"broken")
    assert gc.isenabled()
    gc.disable()
    try:
        uncollected(len, b"")
        assert not gc.isenabled()
    finally:
        gc.enable()
