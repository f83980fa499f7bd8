"""The page on files: its file is read, its module runs it, and its tables name every key."""

from __future__ import annotations

import ast
import json
import re
from functools import cache
from pathlib import Path
from types import CodeType
from typing import Any

import jsonschema
import pytest

from journeygraph import (
    Escalation,
    Field,
    Guideline,
    PathwaySpec,
    Personality,
    Transition,
    load_journey,
)
from journeygraph.journeys.files.form import (
    AgentForm,
    ConciergeForm,
    JourneyForm,
    published,
)
from journeygraph.journeys.files.journey_file import read_tree
from tests.support import command
from tests.support.command import ROOT, run

PAGE = (ROOT / "docs" / "reference" / "files.md").read_text()
EXAMPLES = sorted(
    file
    for file in (ROOT / "journeys" / "examples").rglob("*.yaml")
    if not file.name.endswith(".conversation.yaml")
)

folder = command.folder
logging_as_before = command.logging_as_before


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.M | re.S)


@pytest.fixture
def parcel(folder: Path) -> Path:
    """The folder that the page describes."""
    (folder / "parcel.yaml").write_text(blocks("yaml")[0])
    for number, name in ((1, "table"), (2, "callback"), (3, "desk")):
        (folder / f"{name}.yaml").write_text(blocks("yaml")[number])
    (folder / "parcel.py").write_text(blocks("python")[0])
    return folder


async def test_the_python_of_the_page_does_what_it_says(parcel: Path) -> None:
    names: dict[str, Any] = {}
    for block in blocks("python"):
        code = compile(block, "files.md", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        assert isinstance(code, CodeType)
        found = eval(code, names)
        if found is not None:
            await found

    assert len(names["faults"]) == 4


def test_the_commands_of_the_page_run(parcel: Path) -> None:
    commands = [line[2:].split()[1:] for line in blocks("console")[0].splitlines()]
    assert [words[0] for words in commands] == ["check", "demo", "chat", "serve", "draw"]

    assert "1 valid journey, 0 faults, 0 warnings" in run(*commands[0]).stdout
    shown = run(*commands[1], "--fast").stdout
    assert "We pay 40." in shown
    assert "journey complete" in shown
    talk = run(*commands[2], "--store", "memory://page", typed="P-9 is broken\nWhat?\n").stdout
    assert "A colleague will look at it." in talk
    run(*commands[4])
    assert (parcel / "parcel.svg").read_text().startswith("<svg")
    assert list(load_journey("desk.yaml").spec.parts) == ["parcel_claim", "greetings"]


def test_the_page_names_every_key() -> None:
    for form, section in (
        (JourneyForm, "## Contents of a file"),
        (PathwaySpec, "### States"),
        (Field, "### Fields"),
        (Escalation, "### Fields"),
        (AgentForm, "### An agent"),
        (Personality, "## Contents of a file"),
        (Transition, "### Transitions"),
        (Guideline, "### Guidelines"),
        (ConciergeForm, "### A concierge"),
    ):
        text = re.split(r"\n##", PAGE.partition(section)[2])[0]
        text = re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)
        words = set(re.findall(r"\w+", " ".join(re.findall(r"`([^`]+)`", text))))
        keys = set(form.known(is_code=False))
        assert keys <= words, f"{section}: {keys - words}"


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.name)
def test_the_examples_fit_the_published_schema(file: Path) -> None:
    _validator().validate(read_tree(file.read_text(), file.name).value)


@cache
def _validator() -> Any:
    schema = json.loads(json.dumps(published()))
    kind = jsonschema.validators.validator_for(schema)
    kind.check_schema(schema)
    return kind(schema)
