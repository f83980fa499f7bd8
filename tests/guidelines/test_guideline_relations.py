"""Relations between guidelines that hold: the rest after them, and its order."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from journeygraph import GuidelineSpec, Scope
from journeygraph.nodes.guidelines.resolve import Resolution, order_of, resolve
from journeygraph.nodes.state.interpretation import HeldGuideline

# A busy machine is slow, not wrong.


def held(
    name: str,
    *,
    excludes: Sequence[str] = (),
    needs: Sequence[str] = (),
    priority: int = 0,
    scope: Scope = Scope.JOURNEY,
) -> HeldGuideline:
    spec = GuidelineSpec(
        id=name,
        scope=scope,
        condition="",
        action=name,
        priority=priority,
        excludes=tuple(excludes),
        depends_on=tuple(needs),
    )
    return HeldGuideline(spec, "always")


def names(resolution: Resolution) -> list[str]:
    return [item.guideline.id for item in resolution.matched]


def reasons(resolution: Resolution) -> dict[str, str]:
    return {item.guideline.id: reason for item, reason in resolution.dropped}


def test_the_narrower_scope_comes_first_then_priority_then_declaration() -> None:
    given_ = [
        held("everywhere", scope=Scope.GLOBAL, priority=100),
        held("plain"),
        held("as plain"),
        held("urgent", priority=5),
        held("late", priority=-1),
        held("here", scope=Scope.STATE, priority=-100),
    ]
    assert names(resolve(given_)) == ["here", "urgent", "plain", "as plain", "late", "everywhere"]
    assert resolve(given_).dropped == ()
    assert resolve([]) == Resolution((), ())


def test_what_holds_drops_what_it_excludes() -> None:
    found = resolve([held("a", excludes=["b"]), held("b"), held("c", excludes=["absent"])])
    assert names(found) == ["a", "c"]
    assert reasons(found) == {"b": "excluded by 'a'"}


def test_an_exclusion_counts_also_against_what_comes_first() -> None:
    danger = held("danger", scope=Scope.GLOBAL, excludes=["small talk"])
    assert names(resolve([danger, held("small talk", scope=Scope.STATE)])) == ["danger"]


def test_of_two_that_exclude_each_other_the_one_that_comes_first_stays() -> None:
    low, high = held("low", excludes=["high"]), held("high", excludes=["low"], priority=1)
    assert names(resolve([low, high])) == ["high"]
    assert reasons(resolve([low, high])) == {"low": "excluded by 'high'"}
    equal = [held("one", excludes=["two"]), held("two", excludes=["one"])]
    assert names(resolve(equal)) == ["one"]


def test_what_is_dropped_excludes_nobody() -> None:
    chain = [held("a", excludes=["b"]), held("b", excludes=["c"]), held("c")]
    assert names(resolve(chain)) == ["a", "c"]
    assert names(resolve(chain[1:])) == ["b"]
    unsupported = [held("a", needs=["absent"], excludes=["b"]), held("b")]
    assert names(resolve(unsupported)) == ["b"]


def test_a_conflict_of_lower_ones_decides_what_a_higher_one_meets() -> None:
    top = held("top", priority=9)
    middle = held("middle", excludes=["top", "low"])
    low = held("low", excludes=["middle"], priority=-9)
    assert names(resolve([top, middle, low])) == ["middle"]
    assert names(resolve([top, low])) == ["top", "low"]


def test_what_depends_on_something_that_does_not_hold_is_dropped() -> None:
    chain = [held("a", needs=["b"]), held("b", needs=["c"]), held("c", needs=["absent"])]
    assert reasons(resolve(chain)) == {
        "a": "depends on 'b', which does not hold",
        "b": "depends on 'c', which does not hold",
        "c": "depends on 'absent', which does not hold",
    }
    assert names(resolve([held("a", needs=["b"]), held("b")])) == ["a", "b"]


def test_what_depends_on_something_excluded_is_dropped_too() -> None:
    found = resolve([held("a", needs=["b"]), held("b"), held("c", excludes=["b"])])
    assert names(found) == ["c"]
    assert reasons(found) == {
        "a": "depends on 'b', which does not hold",
        "b": "excluded by 'c'",
    }


def test_guidelines_that_depend_on_each_other_hold_together() -> None:
    pair = [held("a", needs=["b"]), held("b", needs=["a"])]
    assert names(resolve(pair)) == ["a", "b"]
    assert names(resolve([*pair, held("c", excludes=["b"])])) == ["c"]


def test_a_circle_of_exclusions_is_opened_at_its_end() -> None:
    circle = [held("a", excludes=["b"]), held("b", excludes=["c"]), held("c", excludes=["a"])]
    found = resolve(circle)
    assert names(found) == ["a"]
    assert reasons(found)["c"] == "is in a cycle of exclusions with 'a', and is the last in order"
    assert reasons(found)["b"] == "excluded by 'a'"


def test_what_excludes_its_own_need_is_the_one_that_goes() -> None:
    assert names(resolve([held("a", needs=["b"], excludes=["b"]), held("b")])) == ["b"]


def test_a_guideline_that_is_given_twice_holds_once() -> None:
    spec = held("a").guideline
    twice = [HeldGuideline(spec, "code"), HeldGuideline(spec, "model", 0.7)]
    assert resolve(twice) == Resolution((twice[0],), ())


NAMES = "abcdef"
HELD = st.builds(
    held,
    st.sampled_from(NAMES),
    excludes=st.lists(st.sampled_from(NAMES), max_size=2),
    needs=st.lists(st.sampled_from(NAMES), max_size=2),
    priority=st.integers(0, 2),
    scope=st.sampled_from(Scope),
)
CROWDS = st.lists(HELD, max_size=6, unique_by=lambda item: item.guideline.id)


class InACircle(Exception):
    """What is asked about depends on the answer."""


def by_the_rules(crowd: Sequence[HeldGuideline]) -> set[str]:
    """The ids of those that stay, the slow way: each asks all others, down to the last."""
    ordered = sorted(crowd, key=lambda item: order_of(item.guideline))
    place = {item.guideline.id: number for number, item in enumerate(ordered)}
    specs = {item.guideline.id: item.guideline for item in ordered}

    def excludes(one: str, other: str) -> bool:
        mutual = one in specs[other].excludes
        return (
            one != other
            and other in specs[one].excludes
            and (not mutual or place[one] < place[other])
        )

    def stays(id_: str, asking: tuple[str, ...]) -> bool:
        if id_ in asking:
            raise InACircle
        if id_ not in specs:
            return False
        asking = (*asking, id_)
        supported = [stays(need, asking) for need in specs[id_].depends_on if need != id_]
        excluded = [stays(one, asking) for one in specs if excludes(one, id_)]
        return all(supported) and not any(excluded)

    return {id_ for id_ in specs if stays(id_, ())}


@given(CROWDS)
def test_without_circles_each_stays_whose_needs_stay_and_whose_excluders_go(
    crowd: list[HeldGuideline],
) -> None:
    try:
        expected = by_the_rules(crowd)
    except InACircle:
        return
    assert set(names(resolve(crowd))) == expected


@given(CROWDS)
def test_what_stays_agrees_and_what_goes_is_told_why(crowd: list[HeldGuideline]) -> None:
    found = resolve(crowd)
    matched, dropped = set(names(found)), reasons(found)
    assert matched | set(dropped) == {item.guideline.id for item in crowd}
    assert matched.isdisjoint(dropped)
    assert all(dropped.values())
    order = [order_of(item.guideline) for item in found.matched]
    assert order == sorted(order)
    for item in found.matched:
        spec = item.guideline
        assert set(spec.depends_on) <= matched
        assert matched.isdisjoint(set(spec.excludes) - {spec.id})
    for reason in dropped.values():
        if reason.startswith("excluded by "):
            assert reason.removeprefix("excluded by ").strip("'") in {
                item.guideline.id for item in crowd
            }


@given(CROWDS, st.randoms())
def test_the_order_in_which_unequal_ones_are_given_does_not_matter(
    crowd: list[HeldGuideline], random: Random
) -> None:
    ranks = [order_of(item.guideline) for item in crowd]
    shuffled = random.sample(crowd, len(crowd))
    if len(set(ranks)) == len(ranks):
        assert resolve(shuffled) == resolve(crowd)


@given(CROWDS)
def test_resolving_what_is_left_changes_nothing(crowd: list[HeldGuideline]) -> None:
    left = resolve(crowd).matched
    assert resolve(left) == Resolution(left, ())


def test_many_guidelines_in_one_circle_come_to_an_end() -> None:
    crowd = [held(f"g{at}", excludes=[f"g{(at + 1) % 101}"]) for at in range(101)]
    assert len(names(resolve(crowd))) == 50
