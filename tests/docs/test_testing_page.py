"""Run the examples of the page on testing; it names all helpers."""

from __future__ import annotations

import dataclasses
import inspect
import re
import sys
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from journeygraph.nodes.llm import scripted
from journeygraph.server.conversations.conversation_files import load_conversation
from journeygraph.server.conversations.conversation_form import (
    Conversation,
    Expected,
    ModelAnswer,
    Stub,
    Turn,
)
from journeygraph.server.conversations.player import play

PAGE = Path(__file__).resolve().parents[2] / "docs" / "how-to" / "testing.md"


def page_module() -> types.ModuleType:
    """All Python blocks of the page, as the one test module that they are."""
    code = "\n".join(re.findall(r"^```python\n(.*?)^```", PAGE.read_text(), re.M | re.S))
    module = types.ModuleType("testing_page")
    sys.modules[module.__name__] = module
    exec(compile(code, PAGE.name, "exec"), module.__dict__)
    return module


def shown_tests() -> Iterator[Any]:
    """Each test of the page, once for each fault that it is marked with."""
    for name, test in vars(page_module()).items():
        if not name.startswith("test_"):
            continue
        marks = getattr(test, "pytestmark", [])
        if not marks:
            yield pytest.param(test, {}, id=name)
        for mark in marks:
            argument, faults = mark.args
            for fault in faults:
                yield pytest.param(test, {argument: fault}, id=f"{name}-{fault.name}")


@pytest.mark.parametrize(("test", "given"), list(shown_tests()))
async def test_a_test_of_the_page_passes(
    test: Callable[..., Any], given: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    if "monkeypatch" in inspect.signature(test).parameters:
        given = {**given, "monkeypatch": monkeypatch}

    await test(**given)


CONVERSATIONS = re.findall(r"^```yaml\n(conversation:.*?)^```", PAGE.read_text(), re.M | re.S)


@pytest.mark.parametrize("text", CONVERSATIONS, ids=lambda text: text.splitlines()[0])
async def test_a_conversation_of_the_page_passes(text: str, tmp_path: Path) -> None:
    file = tmp_path / "page.conversation.yaml"
    file.write_text(text)

    played = await play(load_conversation(file))

    assert played.passed, played.differences


def test_the_page_names_all_keys_of_a_conversation() -> None:
    named = set(re.findall(r"\w+", " ".join(re.findall(r"`([^`\n]+)`", PAGE.read_text()))))

    for kind in (Conversation, Turn, Expected, ModelAnswer, Stub):
        assert set(kind.keys()) <= named, kind


def test_the_page_names_all_there_is() -> None:
    named = set(re.findall(r"\w+", " ".join(re.findall(r"`([^`\n]+)`", PAGE.read_text()))))
    faults = {name for name in vars(scripted.Fault) if not name.startswith("_")}
    call = {field.name for field in dataclasses.fields(scripted.Call)}

    assert {*scripted.__all__, *faults, *call} - named - {
        "Answer",  # a name for types
        "Script",  # what both have inside
        *("name", "reply", "read"),
    } == set()
