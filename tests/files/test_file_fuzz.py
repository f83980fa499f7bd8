"""Any content of a file becomes a journey or a list of faults: nothing else happens."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from journeygraph import JourneyDefinitionError
from journeygraph.journeys.files.journey_file import read_tree
from journeygraph.journeys.files.loading import read_guidelines_text, read_journey_text
from tests.support.claim_desk import YAML

VALID = read_tree(YAML, "claim.yaml").value
KEYS = ("id", "states", "when", "outputs", "type", "to", "detour", "calls", "guidelines", "x", "")
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(KEYS) | st.text(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(KEYS) | st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=6,
)
SIGNS = st.sampled_from(
    [*"abc:- \n\t#&*!|>'\"%@`{}[],?~", "<<: ", "- ", ": ", "\n  ", "---\n", "!!str ", "&a ", "*a"]
)


def is_read_or_refused(text: str, name: str) -> None:
    faults: list[str] = []
    for read in (read_journey_text, read_guidelines_text):
        try:
            read(text, name)
        except JourneyDefinitionError as error:
            faults += error.faults or ["no fault"]
    assert all(fault.startswith(f"{name}:") for fault in faults), faults


def paths_in(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    if not isinstance(value, (dict, list)):
        return [path]
    inner = value.items() if isinstance(value, dict) else enumerate(value)
    return [path, *(found for key, item in inner for found in paths_in(item, (*path, key)))]


def changed(value: Any, path: tuple[Any, ...], to: Any) -> Any:
    if not path:
        return to
    if isinstance(value, dict):
        return {k: changed(v, path[1:], to) if k == path[0] else v for k, v in value.items()}
    return [changed(v, path[1:], to) if k == path[0] else v for k, v in enumerate(value)]


@given(st.data())
def test_a_valid_file_with_something_else_in_it(data: st.DataObject) -> None:
    value = VALID
    for _ in range(data.draw(st.integers(1, 3))):
        path = data.draw(st.sampled_from(paths_in(value)))
        value = changed(value, path, data.draw(VALUES))

    is_read_or_refused(json.dumps(value), "claim.json")


@given(st.data())
def test_a_valid_text_with_signs_changed(data: st.DataObject) -> None:
    text = YAML
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(text)))
        end = at + data.draw(st.integers(0, 6))
        text = text[:at] + data.draw(SIGNS | st.characters()) + text[end:]

    is_read_or_refused(text, "claim.yaml")


@given(st.text(max_size=80) | st.lists(SIGNS, max_size=30).map("".join))
def test_any_text(text: str) -> None:
    is_read_or_refused(text, "claim.yaml")
    is_read_or_refused(text, "claim.json")


@pytest.mark.parametrize("item", [None, [], {}, 3, "", {"x": 1}, {"x": None}, {"patterns": [None]}])
@pytest.mark.parametrize("key", ["activation_conditions", "transitions", "guidelines", "tools"])
def test_an_item_of_another_kind_is_refused_at_its_place(key: str, item: Any) -> None:
    with pytest.raises(JourneyDefinitionError) as raised:
        read_journey_text(json.dumps({**VALID, key: [item, None]}), "claim.json")

    paths = [fault.path[:2] for fault in raised.value.faults]
    assert {(key, 0), (key, 1)} <= {*paths}, raised.value.faults
