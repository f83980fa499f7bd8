"""Run the examples of the documents: docstrings, journeys of the first pages, commands."""

from __future__ import annotations

import ast
import asyncio
import dataclasses
import doctest
import importlib
import inspect
import pkgutil
import re
import subprocess
import sys
import types
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import journeygraph
from journeygraph import (
    IntentTrigger,
    JourneyConfig,
    JourneyDefinitionError,
    JourneyResponse,
    MergeStrategy,
    Texts,
    Transition,
    journeys,
)
from journeygraph.graphs.session.manager import PathwayManager
from journeygraph.journeys.definitions.definition import Definition
from journeygraph.journeys.examples import parcel_refund
from journeygraph.journeys.pathway import PATHWAY_ATTRIBUTES
from journeygraph.journeys.reading.reader import JOURNEY_ATTRIBUTES
from tests.support import tables

ROOT = Path(__file__).resolve().parents[2]
START = "docs/start.md"


def modules() -> Iterator[str]:
    """Every module of the product but scripts and migrations."""
    yield "journeygraph"
    for found in pkgutil.walk_packages(journeygraph.__path__, "journeygraph."):
        if "__main__" not in found.name and ".migrations" not in found.name:
            yield found.name


def blocks(page: str, language: str) -> list[str]:
    """The fenced blocks of a page in one language; "" for those that name none."""
    found = re.findall(r"^```(\w*)\n(.*?)^```", (ROOT / page).read_text(), re.M | re.S)
    return [text for name, text in found if name == language]


# Docstrings.


def examples() -> list[doctest.DocTest]:
    finder = doctest.DocTestFinder(exclude_empty=True)
    found = (test for name in modules() for test in finder.find(importlib.import_module(name)))
    return [test for test in found if test.examples]


def test_a_docstring_example_does_what_it_says() -> None:
    found = examples()
    said: list[str] = []

    for example in found:
        doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(example, out=said.append)

    assert said == []
    assert {
        "journeygraph.journeys.agents.signature",
        "journeygraph.journeys.agents.signature.Signature.define",
        "journeygraph.journeys.journey.Journey",
        "journeygraph.journeys.declarations.transitions.BaseTrigger",
        "journeygraph.journeys.phrases.said",
    } <= {example.name for example in found}


def docstrings(name: str) -> Iterator[str]:
    """The docstrings of a module; of one without an example none, as it need not be parsed."""
    text = inspect.getsource(importlib.import_module(name))
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    for node in ast.walk(ast.parse(text)) if "Example" in text else ():
        if isinstance(node, documented):
            yield ast.get_docstring(node) or ""


def test_what_is_called_an_example_can_be_run() -> None:
    found = {
        name: doc
        for name in modules()
        for doc in docstrings(name)
        if re.search(r"^ *Examples?:$", doc, re.M)
    }

    assert found
    assert {name for name, doc in found.items() if ">>>" not in doc} == set()


def undocumented(owner: str, thing: Any) -> Iterator[str]:
    """The public names of a thing, itself included, that no docstring of their own explains."""
    doc = vars(thing).get("__doc__") if isinstance(thing, type) else inspect.getdoc(thing)
    if not doc or doc.startswith(f"{owner}("):  # what dataclasses write themselves
        yield owner
    for name, member in vars(thing).items() if isinstance(thing, type) else ():
        function = getattr(member, "fget", None) or getattr(member, "__func__", member)
        if not name.startswith("_") and inspect.isfunction(function) and not function.__doc__:
            yield f"{owner}.{name}"


def test_every_public_name_is_documented() -> None:
    public = {name: getattr(journeys, name) for name in journeys.__all__}
    public["PathwayManager"] = PathwayManager

    assert [one for name, thing in public.items() for one in undocumented(name, thing)] == []


def test_every_module_says_what_it_is_for() -> None:
    docs = {name: importlib.import_module(name).__doc__ or "" for name in modules()}

    assert len(docs) > 100
    assert {name for name, doc in docs.items() if not doc.strip()} == set()


# The journeys of the README and of the first look.


def parcel_code() -> str:
    """The page's `parcel.py`, as it says: three blocks."""
    return "\n\n".join(blocks(START, "python")[:3])


def parcel_program() -> str:
    """The page's program next to `parcel.py`, exactly as it is printed."""
    (program,) = [block for block in blocks(START, "python") if "async def main" in block]
    return program


def form_code() -> str:
    """The page's journey that collects, which needs no other code."""
    (form,) = [block for block in blocks(START, "python") if "__fields__" in block]
    return form


def module_of(code: str) -> types.ModuleType:
    """A module with a journey of a page."""
    module = types.ModuleType("parcel")
    exec(compile(code, START, "exec"), module.__dict__)
    return module


def test_the_readme_fits_on_a_screen_and_shows_a_journey() -> None:
    assert len((ROOT / "README.md").read_text().splitlines()) <= 70
    (journey,) = blocks("README.md", "python")
    assert len(journey.splitlines()) <= 24


def test_the_journeys_of_the_first_look_are_short() -> None:
    declared = [block for block in blocks(START, "python") if "(Journey)" in block]
    assert len(declared) == 2
    assert max(len(journey.splitlines()) for journey in declared) <= 24


async def held(text: str, journey: journeys.Journey) -> JourneyResponse:
    """Hold a conversation as a page shows it, and return the last reply."""
    said = [re.split(r" {2,}", line)[1] for line in text.splitlines()]
    async with journey:
        await journey.start()
        for words, answer in zip(said[::2], said[1::2], strict=True):
            reply = await journey.process_message(words)
            assert " ".join(reply.message.split()) == answer
    return reply


async def test_the_conversation_of_the_readme_is_held() -> None:
    (code,) = blocks("README.md", "python")
    (text,) = blocks("README.md", "text")
    module = module_of(code)
    config = JourneyConfig(persistence=f"memory://{uuid.uuid4()}")

    last = await held(text, module.Tables("s-1", config, agents=module.AGENTS))

    assert last.is_journey_complete
    assert last.accumulated_context == {"guests": 6, "day": "2030-12-24"}
    assert module.Tables.spec.warnings == ()


async def test_the_journey_of_the_readme_refuses_a_day_of_the_past() -> None:
    (code,) = blocks("README.md", "python")
    module = module_of(code)
    config = JourneyConfig(persistence=f"memory://{uuid.uuid4()}")

    async with module.Tables("s-1", config, agents=module.AGENTS) as journey:
        await journey.start()
        await journey.process_message("four people, please")
        for day in ("yesterday", "24 December 2020"):
            reply = await journey.process_message(day)
            assert "day" not in reply.accumulated_context
            assert reply.metadata["asked"]["field"] == "day"
        assert (await journey.attempts("day"))[-1].validation_status == "invalid"
        assert (await journey.process_message("today")).is_journey_complete


def test_the_journey_of_the_first_look_is_the_one_among_the_examples() -> None:
    module = module_of(parcel_code())

    assert module.ParcelRefund.spec.version == parcel_refund.ParcelRefund.spec.version
    assert module.ParcelRefund.spec.warnings == ()
    for name, clerk in module.AGENTS.items():
        for words in ("P-17", "yes", "hello"):
            payload = {"message": words, "context": {"order": "P-17"}}
            assert clerk(payload) == parcel_refund.AGENTS[name](payload)


async def test_the_conversation_of_the_first_look_is_held() -> None:
    module = module_of(parcel_code())
    (text,) = blocks(START, "text")
    lines = [re.split(r" {2,}", line) for line in text.splitlines()]
    config = JourneyConfig(persistence=f"memory://{uuid.uuid4()}")

    async with module.ParcelRefund("s-1", config, agents=module.AGENTS) as journey:
        await journey.start()
        for (you, words, *_), (_, said, note) in zip(lines[::2], lines[1::2], strict=True):
            reply = await journey.process_message(words)
            assert you == "you"
            assert reply.message == said
            assert reply.is_journey_complete == (note == "-> the journey is complete")
            assert reply.is_journey_complete or note.split()[1].rstrip(",") == reply.pathway_id
            assert bool(reply.metadata["pathway_stack"]) == ("refund is paused" in note)
        assert reply.is_journey_complete


async def test_what_the_first_look_collects_is_collected() -> None:
    module = module_of(form_code())
    (text,) = [block for block in blocks(START, "") if block.startswith("you ")]
    config = JourneyConfig(persistence=f"memory://{uuid.uuid4()}")

    last = await held(text, module.Tables("s-1", config, tools={"book": module.book}))

    assert last.is_journey_complete


def test_the_picture_of_the_first_look_shows_its_pathways() -> None:
    (picture,) = re.findall(r"\]\((pictures/\w+\.svg)\)", (ROOT / START).read_text())
    drawn = re.findall(r'data-pathway="(\w+)"', (ROOT / "docs" / picture).read_text())

    assert set(drawn) == set(module_of(parcel_code()).ParcelRefund.spec.pathways)


@pytest.mark.slow
def test_the_program_of_the_first_look_runs_twice_as_printed(tmp_path: Path) -> None:
    (tmp_path / "parcel.py").write_text(parcel_code())
    script = tmp_path / "program.py"
    script.write_text(parcel_program())

    for _ in range(2):
        done = subprocess.run(
            [sys.executable, str(script)],
            cwd=tmp_path,
            env={"PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.stderr == ""
        first, second = done.stdout.splitlines()
        assert f"# {first}" in parcel_program()
        assert ast.literal_eval(second)[-1].startswith("Done: P-1042")
    assert (tmp_path / "parcels.db").exists()


def test_the_mistake_of_the_first_look_is_found_as_it_says() -> None:
    page = re.sub(r"\s+", " ", (ROOT / START).read_text().replace("`", ""))
    broken = parcel_code().replace('__next__ = "refund"', '__next__ = "refnd"')

    with pytest.raises(JourneyDefinitionError) as raised:
        module_of(broken)

    (fault,) = raised.value.faults
    assert fault.partition(" Its pathways")[0] in page


def test_the_journey_of_the_first_look_compiles_to_a_graph() -> None:
    module = module_of(parcel_code())
    graph = module.ParcelRefund.compile(agents=module.AGENTS)

    values = asyncio.run(graph.ainvoke({"messages": [("user", "It is P-1042")]}))

    assert values["messages"][-1].content == "Found P-1042. Refund it to your card?"


# The reference for authors.


def words_of_the_reference() -> set[str]:
    names = ("journeys.md", "settings.md", "classes.md")
    page = "\n".join((ROOT / "docs" / "reference" / name).read_text() for name in names)
    page = re.sub(r"^```.*?^```", "", page, flags=re.M | re.S)
    return set(re.findall(r"\w+", " ".join(re.findall(r"`([^`]+)`", page))))


def test_the_tables_of_the_pages_are_made_from_the_definitions() -> None:
    for page, text in tables.pages().items():
        assert page.read_text() == text, f"{page.name} differs; run `make tables`"


def test_the_reference_has_all_definitions() -> None:
    listed = {name for names in tables.CLASSES.values() for name in names}
    known = [(name, getattr(journeys, name)) for name in journeys.__all__]
    kinds = {name: kind for name, kind in known if isinstance(kind, type)}
    definitions = {name for name, kind in kinds.items() if issubclass(kind, Definition)}

    assert definitions - listed == {
        "AlwaysTrigger",
        "GuidelineSpec",
        "PathwaySpec",
        "PatternPipeline",
    }


def public_methods(cls: type) -> set[str]:
    return {name for name, value in vars(cls).items() if inspect.isfunction(value)} - {"__init__"}


@pytest.mark.parametrize(
    "names",
    [
        {*PATHWAY_ATTRIBUTES, *JOURNEY_ATTRIBUTES},
        {field.name for kind in (JourneyConfig, Texts) for field in dataclasses.fields(kind)},
        {strategy.name for strategy in MergeStrategy},
        {name for name in journeys.__all__ if name.endswith(("Error", "Trigger"))}
        - {"JourneyError"},
        {field.name for field in dataclasses.fields(JourneyResponse)},
        {name for kind in (IntentTrigger, Transition) for name in kind.known(is_code=True)},
        {name for name in public_methods(journeys.Journey) if not name.startswith("_")},
    ],
    ids=["attributes", "config", "strategies", "errors", "response", "transitions", "methods"],
)
def test_the_reference_names_all_there_is(names: set[str]) -> None:
    assert names - words_of_the_reference() == set()


async def test_the_reference_names_all_metadata_and_flags() -> None:
    config = JourneyConfig(persistence=f"memory://{uuid.uuid4()}")
    async with parcel_refund.ParcelRefund("s", config, agents=parcel_refund.AGENTS) as journey:
        await journey.start()
        reply = await journey.process_message("hello")
    sources = [
        path.read_text() for part in ("nodes", "graphs") for path in (ROOT / part).rglob("*.py")
    ]
    set_somewhere = re.findall(r"flags(?:\.append\(|\W+\[)f?\"(\w+)", "\n".join(sources))

    assert len(set(set_somewhere)) >= 5
    assert {*reply.metadata, *set_somewhere} - words_of_the_reference() == set()


# Commands.


def commands(page: str, program: str) -> list[list[str]]:
    """The words of each command of a page that calls a program."""
    lines = [
        line for name in ("sh", "") for block in blocks(page, name) for line in block.splitlines()
    ]
    found = []
    for line in lines:
        command = re.split(r"\s#|\s{3,}", line.strip())[0].split()
        if command and Path(command[0]).name == program:
            found.append(command[1:])
    return found


def test_the_readme_begins_with_two_commands() -> None:
    assert [command[0] for command in commands("README.md", "make")[:2]] == ["demo", "test"]


def test_the_first_look_shows_the_command_line() -> None:
    shown = {command[0] for command in commands(START, "journeygraph")}

    assert shown >= {"demo", "chat", "check", "draw"}
