"""The release: what an index checks of it, and a project of a stranger that installs it."""

from __future__ import annotations

import os
import re
import runpy
import shutil
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.support import command
from tests.support.command import ROOT, run
from tests.support.installed import installed

folder, logging_as_before = command.folder, command.logging_as_before
README = (ROOT / "README.md").read_text()
faults: Callable[[Path, Path], Iterator[str]] = runpy.run_path(
    str(ROOT / ".ci" / "release.py"), run_name="release"
)["faults"]

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The wheel and the source distribution, as `make release` makes them."""
    dist = tmp_path_factory.mktemp("dist")
    words = [sys.executable, ".ci/release.py", str(dist)]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "✓ metadata, README, licences" in done.stdout
    (wheel,), (source,) = dist.glob("*.whl"), dist.glob("*.tar.gz")
    return wheel, source


# --- What is checked of a release ----------------------------------------------------------------


def test_make_release_runs_this_script_in_dist() -> None:
    found = re.search(r"^release:.*\n\t@?(.*)$", (ROOT / "Makefile").read_text(), re.MULTILINE)

    assert found
    assert found[1] == "$(PY) .ci/release.py dist"


def changed_wheel(wheel: Path, target: Path, change: Callable[[dict[str, bytes]], Any]) -> Path:
    """Copy a wheel with other files."""
    with zipfile.ZipFile(wheel) as packed:
        files = {name: packed.read(name) for name in packed.namelist()}
    change(files)
    with zipfile.ZipFile(target / wheel.name, "w") as made:
        for name, content in files.items():
            made.writestr(name, content)
    return target / wheel.name


def about(files: dict[str, bytes]) -> str:
    return next(name for name in files if name.endswith("/METADATA"))


def replaced(old: str, new: str) -> Callable[[dict[str, bytes]], Any]:
    def change(files: dict[str, bytes]) -> None:
        name = about(files)
        assert old.encode() in files[name]
        files[name] = files[name].replace(old.encode(), new.encode())

    return change


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (replaced("License-Expression: Apache-2.0", "License-Expression: Free"), "Free"),
        (replaced("\nLicense-File: LICENSE", ""), "the licence has no expression, or no file"),
        (replaced("text/markdown", "text/plain"), "not declared as text/markdown"),
        (replaced("# JourneyGraph", "# Another"), "the description is not README.md"),
        (replaced("Requires-Python: >=3.11", "Requires-Python: new"), "metadata: 'new' is invalid"),
        (
            lambda files: files.pop(about(files).replace("METADATA", "licenses/LICENSE")),
            "licenses/LICENSE is missing",
        ),
        (
            lambda files: files.pop("journeygraph/server/page/static/vendor/LICENSE"),
            "vendor/LICENSE is missing",
        ),
        (lambda files: files.update({"nodes/draft.py": b""}), "'nodes' at its top belongs to"),
        (lambda files: files.pop("journeygraph/nodes/draft.py"), "makes differs from it"),
    ],
)
def test_a_fault_of_the_wheel_is_found(
    release: tuple[Path, Path], tmp_path: Path, change: Any, fault: str
) -> None:
    wheel, source = release

    found = list(faults(changed_wheel(wheel, tmp_path, change), source))

    assert [one for one in found if fault in one], found


@pytest.mark.parametrize("licence", ["LICENSE", "journeygraph/server/page/static/vendor/LICENSE"])
def test_a_source_distribution_without_a_licence_is_refused(
    release: tuple[Path, Path], tmp_path: Path, licence: str
) -> None:
    wheel, source = release
    with tarfile.open(source) as packed, tarfile.open(tmp_path / source.name, "w:gz") as made:
        for one in packed.getmembers():
            if one.name.partition("/")[2] != licence:
                made.addfile(one, packed.extractfile(one))

    assert f"{source.name}: {licence} is missing, or changed" in [
        *faults(wheel, tmp_path / source.name)
    ]


# --- A project with modules of its own -----------------------------------------------------------

OWN = {
    "nodes.py": 'NAME = "nodes of mine"\n',
    "graphs.py": 'NAME = "graphs of mine"\n',
    "server.py": 'NAME = "server of mine"\n',
    "journeys/__init__.py": 'NAME = "journeys of mine"\n',
    "test_own.py": """
import graphs, journeys, nodes, server
import pytest
from journeygraph import JourneyConfig
from journeygraph.nodes.llm.scripted import ScriptedModel
from tables import AGENTS, Tables


def test_the_modules_are_mine():
    own = [module.NAME for module in (nodes, graphs, server, journeys)]
    assert own == [f"{name} of mine" for name in ("nodes", "graphs", "server", "journeys")]


async def talk():
    config = JourneyConfig(persistence="memory://")
    async with Tables("s-1", config, agents=AGENTS) as journey:
        await journey.start()
        return (await journey.process_message("When do you open?")).message


def test_the_journey_answers():
    import asyncio

    assert "18:00" in asyncio.run(talk())
""",
    "tables.conversation.yaml": """
conversation: a question in between
journey: tables.py
turns:
  - user: four people, please
  - bot: {asks: day, fields: {guests: 4}}
  - user: When do you open?
  - bot: {says: "18:00", transition: hours, asks: day}
""",
    "typed.py": """
from journeygraph import Field, Journey, Journy

reveal_type(Journey)
reveal_type(Field("guests", "integer").name)
Field(naem="guests")
""",
}


class Stranger:
    """A project beside an environment that has the wheel."""

    def __init__(self, project: Path, programs: Path) -> None:
        self.project, self.programs = project, programs

    def run(self, *words: str, typed: str = "", code: int = 0) -> str:
        """Run a program of the environment in the folder, and return what it prints."""
        environment = {
            "PATH": f"{self.programs}{os.pathsep}{os.defpath}",
            "HOME": str(self.project.parent),
            "JOURNEYGRAPH_STORE": "memory://",
            "NO_COLOR": "1",
            "COLUMNS": "200",
        }
        done = subprocess.run(
            [str(self.programs / words[0]), *words[1:]],
            cwd=self.project,
            env=environment,
            input=typed,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout


@pytest.fixture(scope="module")
def stranger(release: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> Stranger:
    root = tmp_path_factory.mktemp("stranger")
    project = root / "project"
    (project / "journeys").mkdir(parents=True)
    for name, text in OWN.items():
        (project / name).write_text(text)
    (block,) = re.findall(r"^```python\n(.*?)^```", README, re.MULTILINE | re.DOTALL)
    (project / "tables.py").write_text(block)
    return Stranger(project, installed(root / "venv", str(release[0])))


def test_the_readme_is_held_beside_modules_of_the_same_names(stranger: Stranger) -> None:
    (talk,) = re.findall(r"^```text\n(you .*?)^```", README, re.MULTILINE | re.DOTALL)
    spoken = [line[3:].strip() for line in talk.splitlines() if line.startswith("you")]
    replies = [line.strip() for line in talk.splitlines() if not line.startswith("you")]

    shown = stranger.run("journeygraph", "chat", "tables.py", typed="\n".join(spoken))

    place, text = -1, " ".join(shown.split())
    for reply in replies:
        place = text.find(reply, place + 1)
        assert place >= 0, (reply, text)
    assert "0 faults, 0 warnings" in stranger.run("journeygraph", "check", "tables.py")


def test_pytest_of_the_project_runs_its_tests_and_its_conversations(stranger: Stranger) -> None:
    shown = stranger.run("python", "-m", "pytest", "-q", "-p", "no:cacheprovider")

    assert "3 passed" in shown


def test_the_installed_package_is_the_wheel(stranger: Stranger) -> None:
    place = stranger.run("python", "-c", "import journeygraph.nodes as n; print(n.__file__)")

    assert Path(place).is_relative_to(stranger.programs.parent)
    assert not Path(place).resolve().is_relative_to(ROOT / "nodes")


def test_the_import_of_the_package_alone_is_light(stranger: Stranger) -> None:
    code = "import journeygraph, sys; print(*sorted(m for m in sys.modules if 'journeygraph' in m))"

    assert stranger.run("python", "-c", code).split() == ["journeygraph"]
    heavy = "{'pydantic', 'langgraph', 'langchain_core', 'fastapi', 'rich'} & {*sys.modules}"
    assert stranger.run("python", "-c", f"import journeygraph, sys; print({heavy})") == "set()\n"


@pytest.mark.long
def test_a_type_checker_sees_the_types(stranger: Stranger) -> None:
    words = ["--python-executable", str(stranger.programs / "python"), "--no-incremental"]
    done = subprocess.run(
        [sys.executable, "-m", "mypy", *words, "typed.py"],
        cwd=stranger.project,
        capture_output=True,
        text=True,
        check=False,
    )

    typed = done.stdout
    assert "journeygraph.journeys.journey.Journey" in typed
    assert 'Revealed type is "str"' in typed or 'Revealed type is "builtins.str"' in typed
    assert 'Unexpected keyword argument "naem"' in typed
    assert "import-untyped" not in typed
    assert 'Module "journeygraph" has no attribute "Journy"' in typed


# --- The pins of a project -----------------------------------------------------------------------


def pins_of(project: Path) -> dict[str, str]:
    lines = (project / "constraints.txt").read_text().splitlines()
    return dict(line.split("==") for line in lines)


def test_a_new_project_pins_what_it_needs(folder: Path) -> None:
    run("new", "ferry_desk")

    pins = pins_of(folder / "ferry_desk")

    assert {"langgraph", "langchain-core", "pydantic", "psycopg", "pytest"} <= pins.keys()
    assert not {"ruff", "mkdocs", "mypy", "twine", "xllamacpp", "journeygraph"} & pins.keys()
    assert [name for name, pin in pins.items() if metadata.version(name) != pin] == []
    needed = [
        Requirement(line) for name in pins for line in metadata.distribution(name).requires or ()
    ]
    holding = [one for one in needed if one.marker is None or one.marker.evaluate({"extra": ""})]
    assert {canonicalize_name(one.name) for one in holding} <= pins.keys()
    requirements = (folder / "ferry_desk" / "requirements.txt").read_text().splitlines()
    assert "-c constraints.txt" in requirements
    assert "COPY requirements.txt constraints.txt ./" in (
        (folder / "ferry_desk" / "Dockerfile").read_text()
    )


def test_an_installed_command_pins_the_same_packages_as_a_clone(
    stranger: Stranger, folder: Path
) -> None:
    stranger.run("journeygraph", "new", "harbour_desk")
    run("new", "harbour_desk")

    pins = pins_of(stranger.project / "harbour_desk")

    assert pins == pins_of(folder / "harbour_desk")
    shutil.rmtree(stranger.project / "harbour_desk")


def test_another_version_than_the_pinned_one_is_refused(
    stranger: Stranger, release: tuple[Path, Path], folder: Path
) -> None:
    run("new", "quay_desk")
    project = folder / "quay_desk"
    (project / "wheels").mkdir()
    shutil.copy(release[0], project / "wheels")
    uv = [str(Path(sys.executable).with_name("uv")), "--offline", "pip", "install", "--dry-run"]
    words = [*uv, "--python", str(stranger.programs / "python"), "-r", "requirements.txt"]

    def installs() -> subprocess.CompletedProcess[str]:
        return subprocess.run(words, cwd=project, capture_output=True, text=True, check=False)

    first = installs()
    assert first.returncode == 0, first.stderr
    pinned = (project / "constraints.txt").read_text()
    (project / "constraints.txt").write_text(re.sub(r"langgraph==.*", "langgraph==1.2.0", pinned))
    refused = installs()

    assert refused.returncode != 0
    assert "langgraph==1.2.0" in refused.stderr
