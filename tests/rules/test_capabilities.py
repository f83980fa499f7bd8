"""Capabilities: those of packages, missing ones, and a plain journey that imports none."""

from __future__ import annotations

import importlib
import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from journeygraph import (
    ConfigurationError,
    Field,
    Guideline,
    Journey,
    JourneyConfig,
    Pathway,
    ReturnToPrevious,
)
from journeygraph.nodes.capability import GROUP, installed
from tests.support.pages import blocks

ROOT = Path(__file__).resolve().parents[2]
GUIDE = ROOT / "docs" / "how-to" / "extend.md"


class Parcel(Journey):
    """Find a parcel."""

    class FindPath(Pathway):
        """Find it."""

        __agents__ = ["clerk"]

    class HoursPath(Pathway):
        """Say when the counter is open."""

        __agents__ = ["hours"]
        __return_behavior__ = ReturnToPrevious()


AGENTS = {"clerk": lambda ask: {"response": "Found it."}, "hours": lambda ask: "From nine."}


@pytest.fixture(autouse=True)
def compiled_anew(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Graphs and entry points are kept for a process; a test has its own."""
    monkeypatch.setitem(vars(Parcel.spec), "compiled", {})
    installed.cache_clear()
    yield
    installed.cache_clear()


def package(folder: Path, monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    """Put a package with an entry point on the path of the interpreter."""
    info = folder / "journeygraph_survey-0.1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: journeygraph-survey\nVersion: 0.1\n"
    )
    (info / "entry_points.txt").write_text(f"[{GROUP}]\nsurvey = {value}\n")
    monkeypatch.syspath_prepend(str(folder))
    importlib.invalidate_caches()


async def test_the_guides_survey_asks_after_a_journey_and_keeps_the_score(
    tmp_path: Path, memory_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    survey = next(one for one in blocks(GUIDE) if one.options.get("title") == "survey.py")
    (tmp_path / "survey.py").write_text(survey.text)
    package(tmp_path, monkeypatch, "survey:Survey")

    config = JourneyConfig(persistence=memory_url)
    async with Parcel("s-1", config, agents=AGENTS, model=False) as journey:
        await journey.start()
        found = await journey.process_message("where is it?")
        scored = await journey.process_message("4")
        later = await journey.process_message("5")

    assert found.message == "Found it.\n\nHow was it, from 1 (bad) to 5 (good)?"
    assert scored.message == "Thank you!"
    assert scored.accumulated_context["survey_score"] == 4
    assert later.accumulated_context["survey_score"] == 4, "it is asked once a session"
    assert later.message.startswith("We are all done here.")
    monkeypatch.delitem(sys.modules, "survey")


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ("no_such_module:Survey", "cannot be imported .ModuleNotFoundError"),
        ("json:dumps", "'json:dumps' is no subclass of Capability"),
    ],
)
async def test_a_capability_that_is_none_is_an_error_that_names_its_entry_point(
    tmp_path: Path, memory_url: str, monkeypatch: pytest.MonkeyPatch, value: str, reason: str
) -> None:
    package(tmp_path, monkeypatch, value)
    config = JourneyConfig(persistence=memory_url)
    journey = Parcel("s-1", config, agents=AGENTS, model=False)
    with pytest.raises(ConfigurationError, match=f"{reason}.*'survey' in {GROUP}"):
        await journey.start()


async def test_a_missing_capability_is_one_sentence_with_its_name(
    memory_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Polite(Parcel):
        """Find a parcel, politely."""

        __guidelines__ = [Guideline(id="calm", condition="is angry", action="stay calm")]

    monkeypatch.setitem(sys.modules, "journeygraph.nodes.features.guidance", None)
    config = JourneyConfig(persistence=memory_url)
    journey = Polite("s-1", config, agents=AGENTS, model=False)
    with pytest.raises(ConfigurationError, match="The capability 'guidelines' is not installed"):
        await journey.start()


PLAIN = """
import asyncio, json, sys
from journeygraph import *

class Plain(Journey):
    '''Talk.'''

    class MainPath(Pathway):
        __agents__ = ["a"]

    class HoursPath(Pathway):
        __agents__ = ["h"]
        __return_behavior__ = ReturnToPrevious()

    __transitions__ = [Transition(IntentTrigger(["when do you open"]), to_pathway="hours")]

async def main():
    agents = {"a": lambda ask: "ok", "h": lambda ask: "at six"}
    config = JourneyConfig(persistence="memory://plain")
    async with Plain("s", config, agents=agents, model=False) as session:
        await session.start()
        assert (await session.process_message("when do you open?")).message == "at six"

asyncio.run(main())
print(json.dumps(sorted(name for name in sys.modules if name.startswith("journeygraph."))))
"""
CAPABILITIES = (
    *("nodes.features", "nodes.forms", "nodes.repair", "nodes.guidelines", "nodes.llm"),
    *("nodes.turn.take_effects", "nodes.turn.call_tools", "nodes.turn.validate"),
    *("nodes.language.proposals", "nodes.language.grammar", "nodes.values.reading"),
    *("graphs.pipelines.patterns", "graphs.agents.tools", "graphs.drawing", "server"),
)


@pytest.mark.slow
def test_a_plain_journey_imports_no_capability() -> None:
    run = subprocess.run(
        [sys.executable, "-c", PLAIN], capture_output=True, text=True, check=True, cwd=ROOT
    )
    loaded = [name.removeprefix("journeygraph.") for name in json.loads(run.stdout)]
    assert [name for name in loaded if name.startswith(CAPABILITIES)] == []


FOLDERS = (
    *("nodes/features", "nodes/forms", "nodes/repair", "nodes/guidelines", "nodes/llm"),
    *("graphs/drawing", "graphs/users", "server"),
)


EACH = """
import os, pathlib, sys
import langgraph.graph, langgraph.checkpoint.sqlite.aio, pydantic, sqlalchemy

plain, package, *folders = sys.argv[1:]
sys.path.insert(0, os.path.dirname(package))
for folder in folders:
    away = pathlib.Path(package, folder).rename(package + "-away")
    if (child := os.fork()) == 0:
        exec(plain)
        sys.stdout.flush()
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0, f"without {folder}"
    away.rename(pathlib.Path(package, folder))
"""


@pytest.mark.slow
def test_a_plain_journey_needs_no_folder_of_a_capability(tmp_path: Path) -> None:
    package = tmp_path / "journeygraph"
    ignored = shutil.ignore_patterns("__pycache__", "examples", "static")
    shutil.copytree(ROOT / "journeygraph", package, ignore=ignored)
    command = [sys.executable, "-c", EACH, PLAIN, str(package), *FOLDERS]
    run = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert run.returncode == 0, run.stderr
    assert run.stdout.count("journeygraph.graphs.session.manager") == len(FOLDERS)


async def test_what_a_journey_declares_is_imported(memory_url: str) -> None:
    class Asked(Parcel):
        """Find a parcel by its number."""

        class FindPath(Pathway):
            """Find it."""

            __fields__ = [Field("number", "integer", "Which number?")]
            __agents__ = ["clerk"]

    config = JourneyConfig(persistence=memory_url)
    async with Asked("s-1", config, agents=AGENTS, model=False) as journey:
        await journey.start()
        asked = await journey.process_message("hello")
    assert asked.message.endswith("Which number?")
    assert "journeygraph.nodes.features.dialogue" in sys.modules


WITHOUT = """
import asyncio, sys
from journeygraph.journeys import errors

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in AWAY:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

AWAY = {module for modules in errors._EXTRAS.values() for module in modules}
AWAY |= {"mcp", "psycopg", "psycopg_pool", "redis", "jwt", "ipywidgets"}
assert AWAY.isdisjoint(name.partition(".")[0] for name in sys.modules)
sys.meta_path.insert(0, Missing())
"""
DECLARES = """
from journeygraph import Field, Guideline, load_journey

class Asks(Plain):
    class MainPath(Pathway):
        __fields__ = [Field("day", "date")]
        __agents__ = ["a"]

class Ruled(Plain):
    __guidelines__ = [Guideline(id="g", condition="the user is angry", action="be kind")]

class Secret(Plain):
    __sensitive__ = True

def ask(ask):
    return "ok"

async def refusal(kind, **options):
    config = JourneyConfig(persistence="memory://plain", encryption_key=b"k" * 32)
    try:
        async with kind("s-2", config, agents={"a": ask, "h": ask}, **options) as session:
            await session.start()
    except Exception as error:
        return str(error)

async def told():
    yield await refusal(Asks, model=False)
    yield await refusal(Ruled, model=False)
    yield await refusal(Secret, model=False)
    yield await refusal(Plain, model="anthropic:claude")
    try:
        load_journey(sys.argv[1])
    except Exception as error:
        yield str(error)

async def tell():
    async for text in told():
        print(text)

asyncio.run(tell())
"""


@pytest.mark.slow
def test_without_extras_a_plain_journey_runs_and_each_declaration_names_its_extra(
    tmp_path: Path,
) -> None:
    file = tmp_path / "plain.yaml"
    file.write_text("id: plain\nstates: {answer: {agents: [a]}}\n")
    command = [sys.executable, "-c", WITHOUT + PLAIN + DECLARES, str(file)]
    run = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert run.returncode == 0, run.stderr
    _, *told = run.stdout.splitlines()
    named = [line.rpartition("pip install ")[2].rstrip(".") for line in told]
    wanted = ("forms", "guidelines", "encryption", "models", "files")
    assert named == [f"'journeygraph[{extra}]'" for extra in wanted]
