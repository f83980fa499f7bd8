"""Journeys in files on the command line: named by path, run with the module next to them."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from journeygraph.journeys.files.journey_file import read_tree
from journeygraph.server.discover.journeys import find
from journeygraph.server.http.app_state import wire
from journeygraph.server.settings import Settings
from tests.files.test_file_faults import FAULTS
from tests.support import claim_desk, command
from tests.support.command import flat, run

folder = command.folder
logging_as_before = command.logging_as_before

DESK = "from tests.support.claim_desk import AGENTS, TOOLS\nSAMPLE_CONTEXT = {'policy': 'P-9'}\n"
FAULTY = "id: broken\nstates:\n  a: {next: b}\n  c: {purpos: x}\n"


@pytest.fixture
def desk(folder: Path) -> Path:
    """A folder with a journey in YAML next to its module."""
    (folder / "claim.yaml").write_text(claim_desk.YAML)
    (folder / "claim.py").write_text(DESK)
    return folder


def test_a_file_is_talked_to(desk: Path) -> None:
    said = "the roof, urgent\nWell?\n"

    shown = run("chat", "claim.yaml", "--store", "memory://files", typed=said).stdout

    assert "ClaimDesk: Settle a claim, from the report to the decision." in shown
    assert "Its first context is {'policy': 'P-9'}" in shown.replace('"', "'")
    assert "That will cost 9000." in shown
    assert "A colleague will call you." in shown
    assert "when context.estimate.amount > 5000" in run("draw", "claim.yaml", "-f", "text").stdout
    assert "assess" in run("draw", "claim.yaml", "--graph").stdout


def test_what_is_missing_beside_a_file_is_named_with_its_place(desk: Path) -> None:
    (desk / "claim.py").write_text("from tests.support.claim_desk import AGENTS\n")
    told = flat(run("chat", "claim.yaml", code=1).stderr)
    assert "has no tool for: estimate" in told
    assert "The command reads tools from a dict TOOLS in 'claim.py'" in told

    (desk / "claim.py").unlink()
    told = flat(run("chat", "claim.yaml", code=1).stderr)
    assert "has no agent for: 'assess'" in told
    assert "from a dict AGENTS in 'claim.py'" in told

    assert "There is no file nope.yaml" in run("draw", "nope.yaml", code=2).stderr


@pytest.mark.parametrize(
    ("tools", "said"),
    [
        ("{'estimat': print}", "ClaimDesk declares no tool 'estimat'. Did you mean 'estimate'?"),
        ("{}", "ClaimDesk has no tool for: estimate."),
        ("[]", "TOOLS in claim.py must be a dict"),
    ],
)
def test_check_and_serve_refuse_the_same_tools(desk: Path, tools: str, said: str) -> None:
    agents = "from tests.support.claim_desk import AGENTS\n"
    (desk / "claim.py").write_text(f"{agents}TOOLS = {tools}\n")

    assert f"✗ claim.yaml:1:1: {said}" in flat(run("check", "claim.yaml", code=1).stdout)
    assert said in flat(run("serve", "claim.yaml", code=1).stderr)


def test_a_served_file_has_its_agents_and_tools(desk: Path) -> None:
    app_state = wire(Settings(), ["claim.yaml"], "memory://served")

    served = app_state.journeys["claim_desk"]
    assert set(served.agents) == {"report", "assess", "detective", "hours"}
    assert served.tools == claim_desk.TOOLS
    assert find("claim.yaml").tools == claim_desk.TOOLS


def test_check_reads_files_and_folders(desk: Path) -> None:
    assert (
        "✓ ClaimDesk (claim.yaml): 4 pathways, 2 transitions" in run("check", "claim.yaml").stdout
    )

    inner = desk / "more"
    inner.mkdir()
    (inner / "broken.yml").write_text(FAULTY)
    (inner / "claim.json").write_text(claim_desk.as_json())
    (inner / "rules.yaml").write_text("guidelines:\n  - {condition: it rains, action: say so}\n")
    (inner / "line.yaml").write_text('{"id": "line", "states": {"ask": {}}}')
    (inner / "package.json").write_text('{"name": "something else"}')
    (inner / "compose.yaml").write_text("services: {web: {image: nginx}}\n")
    shown = run("check", "more", code=1).stdout

    assert "✓ ClaimDesk (more/claim.json)" in shown
    assert "✓ more/rules.yaml: 1 guideline" in shown
    assert (
        "✗ more/broken.yml:3:13 state 'a': next is 'b', which is not a state of this journey"
        in shown
    )
    assert (
        "✗ more/broken.yml:4:7: 'purpos' is not a valid key of a state. Did you mean 'purpose'?"
        in shown
    )
    assert "✓ Line (more/line.yaml)" in shown
    assert "2 valid journeys, 2 faults" in shown
    assert "package" not in shown
    assert "compose" not in shown


def test_faults_are_shown_with_the_path_wherever_a_file_is_named(desk: Path) -> None:
    inner = desk / "more"
    inner.mkdir()
    (inner / "broken.yaml").write_text(FAULTY)

    for name in ("chat", "draw", "serve"):
        told = run(name, "more/broken.yaml", code=1).stderr
        assert "✗ more/broken.yaml:3:13 state 'a'" in told
        assert "✗ more/broken.yaml:4:7: 'purpos'" in told


@pytest.mark.parametrize("kind", [None, "journey"])
def test_the_published_schema_takes_what_the_reader_takes(kind: str | None) -> None:
    published = json.loads(run("schema", *([kind] if kind else [])).stdout)
    jsonschema.Draft202012Validator.check_schema(published)
    judge = jsonschema.Draft202012Validator(published)

    judge.validate(read_tree(claim_desk.YAML, "claim.yaml").value)
    for case in ("unknown_key_of_a_state", "missing_states", "unknown_kind", "negative_timeout"):
        assert not judge.is_valid(read_tree(FAULTS[case][0], "claim.yaml").value), case


def test_the_schema_tells_kinds_of_files_apart() -> None:
    judge = jsonschema.Draft202012Validator(json.loads(run("schema").stdout))

    judge.validate({"guidelines": [{"condition": "it rains", "action": "say so"}]})
    judge.validate({"id": "desk", "journeys": ["a.yaml"]})
    assert not judge.is_valid({"id": "desk", "journeys": [3]})
    assert not judge.is_valid({"guidelines": [{"conditon": "it rains"}]})
    assert "'novel' is not one of" in flat(run("schema", "novel", code=2).stderr)
