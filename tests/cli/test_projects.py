"""Projects that `journeygraph new` creates: each file of them is used as its README says."""

from __future__ import annotations

import ast
import asyncio
import importlib.util
import json
import os
import re
import resource
import shlex
import subprocess
import tarfile
import urllib.request
import zipfile
from pathlib import Path
from typing import Any

import nbformat
import pytest
import yaml
from hatchling import build
from nbclient import NotebookClient

from journeygraph.server.discover.journeys import example_ids
from tests.support import command
from tests.support.command import ROOT, flat, run, served
from tests.support.forked import Command

folder = command.folder
logging_as_before = command.logging_as_before

PIPES: Any = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
FLAVOURS = {
    "bike_shop": (),
    "bike_files": ("--yaml",),
    "claims_desk": ("--from", "insurance_claim"),
}


@pytest.fixture
def made(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Create a project and go into its folder."""

    def create(name: str, *words: str) -> Path:
        run("new", name, *words)
        monkeypatch.chdir(folder / name)
        monkeypatch.syspath_prepend(folder / name)
        monkeypatch.delenv("OPENAI_API_KEY", raising=False)
        return folder / name

    return create


def left_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if path.suffix != ".py")


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("bike-shop", "'bike-shop' is not a valid name of a project.* Write 'bike_shop'."),
        ("BikeShop", "Write 'bike_shop'."),
        ("Bike Shop!", "Write 'bike_shop'."),
        ("../shop", "Write 'shop'."),
        ("1st", "a letter first.$"),
        ("Ü", "a letter first.$"),
        ("", "'' is not a valid name"),
        ("class", "'class' is a word of Python. Choose another name, such as 'my_class'."),
        ("json", "'json' is an installed module"),
        ("journeygraph", "'journeygraph' is an installed module"),
        ("parcel_refund", "'parcel_refund' is an example"),
        ("support_triage", "'support_triage' is an example"),
        ("graph", "Each project has its own 'graph'"),
        ("x" * 300, "File name too long"),
    ],
)
def test_a_name_that_cannot_work_is_refused_with_the_way_out(
    folder: Path, name: str, reason: str
) -> None:
    result = run("new", name, code=1 if len(name) > 200 else 2)

    assert re.search(reason, flat(result.stderr)), result.stderr
    assert left_in(folder) == []


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("--from", "parcel_refun"), "Did you mean 'parcel_refund'? Examples: bank_transfer, "),
        (("--from", "support_triage"), "'support_triage' is a pipeline; --from takes a journey."),
        (("--from", ""), "There is no example ''."),
        (("--from", "parcel_refund", "--yaml"), "--from and --yaml exclude each other."),
    ],
)
def test_an_example_that_does_not_exist_is_refused(
    folder: Path, words: tuple[str, ...], reason: str
) -> None:
    assert reason in flat(run("new", "shop", *words, code=2).stderr)
    assert left_in(folder) == []


@pytest.mark.parametrize("kind", ["folder", "file", "link"])
def test_nothing_that_exists_is_overwritten(folder: Path, kind: str) -> None:
    shop = folder / "shop"
    if kind == "folder":
        shop.mkdir()
    elif kind == "file":
        shop.write_text("mine")
    else:
        shop.symlink_to("nowhere")

    assert "'shop' already exists here" in flat(run("new", "shop", code=2).stderr)

    assert left_in(folder) == ["shop"]
    assert kind != "folder" or list(shop.iterdir()) == []
    assert kind != "file" or shop.read_text() == "mine"


def test_nothing_half_made_remains_after_a_failure(folder: Path) -> None:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_000, before[1]))  # the README is longer
    try:
        failed = run("new", "shop", code=1)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)

    assert "File too large" in failed.stderr
    assert left_in(folder) == []


def test_the_last_lines_are_the_next_three_commands(folder: Path) -> None:
    shown = run("new", "shop").stdout.splitlines()

    (place,) = [number for number, line in enumerate(shown) if line.startswith("Next steps")]
    steps = [line[12:] for line in shown[place + 1 : place + 4]]
    assert steps[0] == "cd shop"
    assert steps[1].endswith("journeygraph chat shop")
    assert steps[2].endswith("journeygraph serve shop --reload")
    assert {line.rpartition("/")[2] for line in shown[:place]} > {"shop.py", "README.md"}


@pytest.mark.parametrize("words", [("check",), ("chat", "shop"), ("test", "tests")])
def test_a_fault_of_a_journey_in_yaml_is_shown_at_its_line(made: Any, words: Any) -> None:
    file = made("shop", "--yaml") / "shop.yaml"
    file.write_text(file.read_text().replace("{to: prices,", "{to: pricse,"))
    (line,) = [n for n, text in enumerate(file.read_text().splitlines(), 1) if "pricse" in text]

    result = run(*words, code=1 if words[0] != "test" else 2)

    assert f"✗ shop.yaml:{line}:10 transition to 'pricse'" in result.output
    assert "Did you mean 'prices'?" in flat(result.output)
    assert "shop.py" not in result.output


# --- Every file of a project is used -------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("name", FLAVOURS)
def test_all_that_a_project_has_works_as_its_readme_says(made: Any, name: str) -> None:
    project = made(name, *FLAVOURS[name])

    assert "0 faults, 0 warnings" in run("check").stdout
    assert " 0 failed" in run("test", "tests", "--coverage").stdout
    assert "start" in run("draw", name, "--format", "text").stdout
    assert "Turn 2 of" in run("demo", name, "--fast").stdout
    first = run("chat", name, "--store", "memory://", typed="Hello\n").stdout
    assert first.count("you >") == 1
    assert_graph(project, name)
    asyncio.run(run_cells(project / f"{name}.ipynb"))
    assert_workflow(project)
    assert_image(project, name)


def assert_graph(project: Path, name: str) -> None:
    """See that the graph of `langgraph.json` compiles and answers."""
    (graph,) = json.loads((project / "langgraph.json").read_text())["graphs"].items()
    assert graph[0] == name
    assert len(graph[1]["description"]) > 10
    place, _, attribute = graph[1]["path"].partition(":")
    spec = importlib.util.spec_from_file_location("graph_of_project", project / place)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    compiled = getattr(module, attribute)
    state = asyncio.run(compiled.ainvoke({"messages": [{"type": "human", "content": "Hello"}]}))
    assert compiled.name == name
    assert state["messages"][-1].content


async def run_cells(path: Path) -> None:
    """Run the code of a notebook as its kernel does."""
    names: dict[str, Any] = {}
    for cell in nbformat.read(path, as_version=4).cells:
        if cell.cell_type == "code":
            code = compile(cell.source, path.name, "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
            running = eval(code, names)
            if running is not None:
                await running
    assert names["reply"].message


def assert_workflow(project: Path) -> None:
    """See that the commands of the build server succeed."""
    workflow = yaml.safe_load((project / ".github" / "workflows" / "test.yml").read_text())
    steps = [step["run"] for step in workflow["jobs"]["test"]["steps"] if "run" in step]
    assert steps[0] == "pip install -r requirements.txt pytest"
    assert [shlex.split(step)[0] for step in steps[1:]] == ["journeygraph", "pytest"]
    run(*shlex.split(steps[1])[1:])
    # Without an installed wheel, its plugin for conversations has to be named.
    words = ["pytest", "-q", "-p", "journeygraph.server.conversations.pytest_plugin"]
    environment = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONPATH": str(project)}
    told, _ = Command(words, cwd=project, env=environment, **PIPES).communicate()
    conversations = len(list((project / "tests").glob("*.yaml")))
    assert f"{conversations + 1} passed" in told.decode(), told.decode()


def steps_of(dockerfile: Path) -> list[tuple[str, str]]:
    """The steps of a Dockerfile, each as its word and the rest of its line."""
    text = dockerfile.read_text().replace("\\\n", "")
    lines = [line for line in text.splitlines() if line[:1] not in ("#", "")]
    return [(word, rest) for word, _, rest in (line.partition(" ") for line in lines)]


def assert_image(project: Path, name: str) -> None:
    """See that the lines of the Dockerfile name what is there, and that its command serves."""
    lines = steps_of(project / "Dockerfile")
    last = dict(lines)
    copied = [part.split()[0] for word, part in lines if word == "COPY"]
    assert copied == ["requirements.txt", "wheels", "--from=packages", "."]
    assert f"--uid {last['USER']} " in last["RUN"]
    wheel = (project / "requirements.txt").read_text().splitlines()[-1]
    assert wheel == f"./wheels/journeygraph-{version()}-py3-none-any.whl[all]"
    readme = (project / "README.md").read_text()
    assert f"pip wheel --no-deps --wheel-dir {copied[1]} PATH/TO/journeygraph" in readme
    program, verb, *words = json.loads(last["CMD"])
    assert (program, verb, words[-1]) == ("journeygraph", "serve", last["EXPOSE"])
    store = last["ENV"].partition("JOURNEYGRAPH_STORE=")[2]
    assert store.startswith(f"sqlite:///{last['VOLUME']}/")
    kept = {"JOURNEYGRAPH_API_KEYS": "k" * 20, "JOURNEYGRAPH_STORE": f"sqlite:///{project}/i.db"}
    (health,) = re.findall(r"127.0.0.1:8000(/\w+)", last["HEALTHCHECK"])
    with served(project, *words[:-1], "0", **kept) as (_, place, lines_shown):
        assert f"Journeys: {name}\n" in lines_shown
        port = place.rpartition(":")[2]
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{health}") as answer:
            assert answer.status == 200


def version() -> str:
    (found,) = re.findall(r'^version = "(.*)"', (ROOT / "pyproject.toml").read_text(), re.M)
    return found


@pytest.mark.slow
async def test_the_notebook_of_a_project_shows_the_journey_and_the_conversation(
    made: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = made("bike_hire")
    notebook = nbformat.read(project / "bike_hire.ipynb", as_version=4)
    for name in ("HOME", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "IPYTHONDIR"):
        monkeypatch.setenv(name, str(project / name.lower()))
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert [cell.outputs or cell.execution_count for cell in code] == [None] * len(code)

    resources = {"metadata": {"path": str(project)}}
    await NotebookClient(
        notebook, timeout=100, resources=resources, coalesce_streams=True
    ).async_execute()

    outputs = [output for cell in code for output in cell.outputs]
    assert sum("image/svg+xml" in output.get("data", {}) for output in outputs) == 2
    (conversation,) = [output.text for output in outputs if output.output_type == "stream"]
    assert "Booked, Ada: a city bike" in conversation
    assert outputs[-1].output_type in ("display_data", "execute_result")  # the chat


@pytest.mark.slow
@pytest.mark.parametrize("example", example_ids())
def test_each_example_becomes_a_project(made: Any, example: str) -> None:
    project = made(f"own_{example}", "--from", example)
    texts = [path.read_text() for path in project.rglob("*") if path.is_file()]

    assert not any(re.search(rf"journeys\.examples|\b{example}\b", text) for text in texts)
    checked = run("check").stdout
    assert f"own_{example}" in checked or "collecting_agent" in checked
    assert "0 faults, 0 warnings" in checked
    played = run("test", "tests").stdout
    kept = ROOT / "journeys" / "examples" / "conversations"
    assert f"{len(list(kept.glob(f'{example}*.yaml')))} passed, 0 failed" in flat(played)
    assert_graph(project, f"own_{example}")


def test_the_graph_of_a_project_takes_the_agents_that_it_has(folder: Path) -> None:
    given = {}
    for example in ("parcel_refund", "minimal_agent", "telecom_support"):
        run("new", f"a_{example}", "--from", example)
        given[example] = (Path(f"a_{example}") / "graph.py").read_text().splitlines()[2:]

    assert given == {
        "parcel_refund": [
            "from a_parcel_refund import AGENTS, AParcelRefund",
            "",
            "graph = AParcelRefund.compile(agents=AGENTS)",
        ],
        "minimal_agent": [
            "from a_minimal_agent import AMinimalAgent",
            "",
            "graph = AMinimalAgent.compile()",
        ],
        "telecom_support": [
            "from a_telecom_support import AGENTS, TOOLS, ATelecomSupport",
            "",
            "graph = ATelecomSupport.compile(agents=AGENTS, tools=TOOLS)",
        ],
    }


@pytest.mark.slow
def test_the_templates_are_in_the_wheel_and_the_sdist(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    templates = ROOT / "server" / "projects" / "templates"
    known = {str(file.relative_to(ROOT)) for file in templates.rglob("*") if file.is_file()}
    known = {name for name in known if "__pycache__" not in name}
    monkeypatch.chdir(ROOT)

    wheel = build.build_wheel(str(tmp_path))
    source = build.build_sdist(str(tmp_path))

    assert wheel == f"journeygraph-{version()}-py3-none-any.whl"
    with zipfile.ZipFile(tmp_path / wheel) as packed:
        assert {f"journeygraph/{name}" for name in known} <= {*packed.namelist()}
    with tarfile.open(tmp_path / source) as packed_source:
        names = {name.partition("/")[2] for name in packed_source.getnames()}
    assert {f"journeygraph/{name}" for name in known} <= names
    assert {name.rpartition("/")[2] for name in known} > {".gitignore", ".dockerignore", "test.yml"}
