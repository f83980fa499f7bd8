"""JSON Schemas of conversations, with turns or simulated users, from the models that read them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from journeygraph.journeys import examples
from journeygraph.journeys.files.documents import Tree
from journeygraph.journeys.files.journey_file import read_tree
from journeygraph.server.conversations.conversation_files import conversation_files
from tests.conversations.test_simulation import BOTH
from tests.support.command import logging_as_before, run

__all__ = ["logging_as_before"]

CONVERSATIONS = Path(str(examples.__file__)).parent / "conversations"


def judge(kind: str) -> jsonschema.Draft202012Validator:
    schema = json.loads(run("schema", kind).stdout)
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def written(text: str) -> Any:
    tree: Tree = read_tree(text, "a.yaml")
    return tree.value


def test_all_conversations_of_the_examples_are_valid() -> None:
    valid = judge("conversation")
    files = conversation_files([CONVERSATIONS])

    faults = {file.name: [*valid.iter_errors(written(file.read_text()))] for file in files}

    assert len(files) > 20
    assert not any(faults.values()), faults


CONVERSATION = """
conversation: everything
journey: desk.yaml
clock: 2026-11-24T12:00
locale: {language: en, region: GB}
tools: {order: [{gives: {number: 1}}, {times_out: true}]}
turns:
  - user: a pear
    at: 2026-11-24T12:01
    model: [hello, {means: [confirm, {fill: {item: pear}}]}, {fails: 400}, {fails: hang}]
  - bot: {says: [a, /b/], asks: {field: item}, attempts: {item: [invalid], code: 2}, path: [a, b]}
  - bot: thank you
  - operator: I am Kim.
  - release: Kim
"""


def test_a_conversation_with_everything_is_valid() -> None:
    assert [*judge("conversation").iter_errors(written(CONVERSATION))] == []


@pytest.mark.parametrize(
    ("was", "now"),
    [
        ("journey: desk.yaml\n", ""),
        ("clock:", "clok:"),
        ("asks: {field", "asks: {feld"),
        ("[invalid]", "[wrong]"),
        ("{fails: 400}", "{fails: 200}"),
        ("fails: hang", "fails: hangs"),
        ("[confirm,", "[confirms,"),
        ("times_out: true", "times_out: later"),
        ("path: [a, b]", "path: [1]"),
        ("operator: I am Kim.", "operator: [1]"),
        ("turns:", "model: taped\nturns:"),
        ("[invalid]", "[invalid, 1]"),
    ],
)
def test_a_faulty_conversation_is_not_valid(was: str, now: str) -> None:
    assert was in CONVERSATION

    assert [*judge("conversation").iter_errors(written(CONVERSATION.replace(was, now)))]


def test_a_conversation_has_turns() -> None:
    text = "conversation: a\njourney: b\nturns: []\n"

    [fault] = judge("conversation").iter_errors(written(text))

    assert fault.validator == "minItems"


def test_simulated_users() -> None:
    valid = judge("conversation")

    assert [*valid.iter_errors(written(BOTH))] == []
    for was, now in (
        ("id: plain", "id: 1"),
        ("tidy: 0.3", "tidy: 3"),
        ("reaches: {effects", "reaches: {effect"),
        ("opens: [a table for four tomorrow at 7 pm]", "opens: 7"),
        ("guest: Lee", "guest: {name: Lee}"),
        ("opens: [a table for four tomorrow at 7 pm]", "opens: []"),
    ):
        assert was in BOTH
        assert [*valid.iter_errors(written(BOTH.replace(was, now)))], was
