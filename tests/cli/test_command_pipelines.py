"""`journeygraph run`, and `draw` of pipelines, as they are typed."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ElementTree
from itertools import combinations
from pathlib import Path

import pytest

from journeygraph.journeys.pipelines.pattern_kinds import PATTERNS
from journeygraph.server.discover.journeys import pipeline_ids
from journeygraph.server.discover.pipelines import targets_of
from journeygraph.server.scripted import ScriptedServer
from tests.docs.test_drawing import cards, lines
from tests.support import command
from tests.support.command import flat, run

folder = command.folder
logging_as_before = command.logging_as_before
DESKS = '''
"""Desks of a small shop."""

from journeygraph import Agent, Handoff, ModelAgent, Pipeline, Signature, OutputField


class Reply(Signature):
    "Answer."
    response: str = OutputField()


def till(given):
    """Take money."""
    return {"response": f"Paid: {given['message']}\\x1b[2J"}


def post(given):
    """Send parcels."""
    raise OSError("the van [bold]broke[/bold] down")


DESKS = Pipeline.parallel([till, post])
SENT = Pipeline.sequential([post])
STRICT = Pipeline.sequential([post], error_handling="fail-fast")
SILENT = Pipeline.sequential([Agent(lambda given: {"total": 3}, "adder")])
ASKED = Pipeline.sequential([Agent(ModelAgent(signature=Reply), "clerk")])
NESTED = Pipeline.router([DESKS.with_name("desks", "Pays and sends."), Agent(till, "other")])
OF_A_JOURNEY = Pipeline.sequential(["somebody"])


class Own(Pipeline):
    """Answer at once."""

    async def run(self, **inputs):
        return {"response": inputs["message"].upper()}


class Sized(Own):
    def __init__(self, size):
        self.size = size
'''

ALONE = '''
from journeygraph import Pipeline


def hello(given):
    """Greet."""
    return f"Hello, {given['message']}!"


PIPELINE = Pipeline.sequential([hello])
SAMPLES = ("Ada",)
'''


@pytest.fixture
def shop(folder: Path) -> Path:
    (folder / "desks.py").write_text(DESKS)
    (folder / "alone.py").write_text(ALONE)
    return folder


# ---- run


def test_without_a_name_the_examples_are_listed_with_their_patterns(folder: Path) -> None:
    shown = flat(run("run").stdout)

    for name in [*pipeline_ids(), *PATTERNS]:
        assert name in shown
    assert "run bank_phone_desk" in shown


@pytest.mark.parametrize("name", pipeline_ids())
def test_an_example_runs_with_its_first_sample(folder: Path, name: str) -> None:
    shown = run("run", name).stdout

    assert shown.startswith("No model is called: agents are ordinary functions.\n")
    assert "▸ " in shown
    assert "✓ " in shown
    assert ", complete: " in shown


def test_a_run_shows_that_no_card_fits(folder: Path) -> None:
    shown = run("run", "support_triage", "Where is my order?").stdout

    assert "→ deliveries: no card fits, so the first in the declared order\n" in shown
    assert "chosen by" not in shown
    assert "flags: selection_fallback:no_match" in shown


def test_a_run_tells_who_was_chosen_worked_and_answered(folder: Path) -> None:
    shown = run("run", "support_triage", "Where is my parcel B-2001?").stdout

    lines = [line.strip() for line in shown.splitlines()]
    chosen = next(line for line in lines if line.startswith("→"))
    assert chosen.startswith("→ deliveries (0.")
    assert chosen.endswith("chosen by the words of their cards")
    assert lines.index(chosen) < lines.index("▸ deliveries")
    assert any(line.startswith("✓ deliveries  0.") and line.endswith(" s") for line in lines)
    assert "B-2001 is on its way: sorting centre Zwolle; PostNL, 2026-11-24." in lines
    assert lines[-1] == "router, complete: 1 agent, 1 answer"


@pytest.mark.parametrize(
    ("name", "story"),
    [
        ("post_moderation", "consensus: for guidelines; votes: guidelines 4"),
        ("post_moderation", "☑ membership votes for guidelines"),
        ("build_or_buy", "verdict: builder, by judge"),
        ("incident_diagnosis", "stopped: done"),
        ("bank_phone_desk", "path: front_desk → cards (the caller asks for cards), cards → fraud"),
        ("contract_review", "2 of them by a second worker"),
    ],
)
def test_a_run_tells_how_its_reply_came_about(folder: Path, name: str, story: str) -> None:
    assert story in flat(run("run", name).stdout)


def test_a_message_comes_from_standard_input(folder: Path) -> None:
    shown = run("run", "vendor_check", "-", typed="Mailwind\non 2026-12-01\n").stdout

    assert "you > Mailwind" in shown
    assert "(the first of 2 lines)" in shown
    assert "No: privacy: region: US" in shown


def test_json_is_all_that_is_written(folder: Path) -> None:
    told = json.loads(run("run", "bank_phone_desk", "I lost card 9032", "--json").stdout)

    assert told["response"].startswith("Card 9032 of M. Okafor is blocked")
    assert told["pipeline"]["path"][0]["to"] == "cards"


def test_a_failure_is_told_and_the_rest_goes_on(shop: Path) -> None:
    shown = run("run", "desks.py:DESKS", "5 euros").stdout

    assert "✗ post: OSError: the van [bold]broke[/bold] down" in shown
    assert "Paid: 5 euros�[2J" in shown
    assert "parallel, partial: 1 agent, 1 answer" in shown


@pytest.mark.parametrize("pipeline", ["SENT", "STRICT"])
def test_a_pipeline_that_fails_as_a_whole_is_exit_code_1(shop: Path, pipeline: str) -> None:
    result = run("run", f"desks:{pipeline}", "go", code=1)

    assert "the van [bold]broke[/bold] down" in flat(result.stderr)


def test_outputs_without_a_reply_are_shown(shop: Path) -> None:
    assert '{"total": 3}' in run("run", "desks.py:SILENT", "go").stdout


def test_a_way_of_ones_own_is_run_and_drawn(shop: Path) -> None:
    assert "HELLO" in run("run", "desks.py:Own", "hello").stdout
    assert "│ Own " in run("draw", "desks.py:Own", "-f", "text").stdout
    assert "is a class that needs arguments" in run("run", "desks:Sized", "x", code=1).stderr


def test_journeys_and_pipelines_are_told_apart_by_their_names(shop: Path) -> None:
    journeys, pipelines = targets_of(["support_triage", "parcel_refund", "alone", "desks.py:DESKS"])

    assert journeys == ["parcel_refund"]
    assert {name: found.name for name, found in pipelines.items()} == {
        "support_triage": "support_triage",
        "alone": "alone",
        "DESKS": "DESKS",
    }


@pytest.mark.parametrize("name", ["alone", "alone.py", "alone.py:PIPELINE", "alone:PIPELINE"])
def test_a_pipeline_of_ones_own_is_found_by_file_and_module(shop: Path, name: str) -> None:
    assert "Hello, Ada!" in run("run", name).stdout


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("suport_triage", "There is no pipeline 'suport_triage'. Did you mean 'support_triage'?"),
        ("parcel_refund", "'parcel_refund' is a journey: "),
        ("nope.py", "There is no file nope.py."),
        ("nope.py:DESK", "There is no file nope.py."),
        ("desks.py:", "There is no pipeline 'desks.py:'."),
        ("desks.py:DESK", "'desks.py' has no pipeline 'DESK'. Did you mean 'DESKS'?"),
        (
            "desks.py",
            "desks.py contains several pipelines. Choose one: desks.py:DESKS, desks.py:SENT",
        ),
        ("orders.py", "There is no pipeline in orders.py."),
        ("desks.py:SENT", "has no SAMPLES"),
    ],
)
def test_a_wrong_name_is_told_with_the_way_out(shop: Path, name: str, told: str) -> None:
    assert told in flat(run("run", name, code=2).stderr)


def test_a_pipeline_is_told_from_a_journey_where_only_journeys_are_taken() -> None:
    for asked in ("chat", "serve"):
        told = flat(run(asked, "support_triage", code=2).stderr)
        assert "'support_triage' is a pipeline: " in told
        assert "journeygraph run support_triage" in told


def test_an_agent_that_is_a_model_needs_one(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)

    assert "OPENAI_API_KEY" in run("run", "desks.py:ASKED", "hello", code=1).stderr
    assert "somebody" in run("run", "desks.py:OF_A_JOURNEY", "hello", code=1).stderr


def test_with_a_key_the_models_answer(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def answer(call):
        return {name: "Good day." if name == "response" else None for name in asked(call)}

    def asked(call):
        return call.schema["properties"]

    with ScriptedServer(answer) as server:
        monkeypatch.setenv("OPENAI_API_KEY", "any")
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)

        shown = run("run", "desks.py:ASKED", "hello").stdout

    assert shown.startswith(f"On models of {server.url}: ")
    assert " is clerk." in flat(shown)
    assert shown.count("Good day.") == 1


# ---- draw


@pytest.mark.parametrize("name", pipeline_ids())
def test_an_example_is_drawn_in_every_way(folder: Path, name: str) -> None:
    text = run("draw", name, "--format", "text").stdout
    mermaid = run("draw", name).stdout
    run("draw", name, "--output", "it.svg")
    svg = ElementTree.fromstring((folder / "it.svg").read_text())

    words = ["".join(element.itertext()) for element in svg.iter() if element.tag.endswith("text")]
    for agent in json.loads(run("run", name, "--json").stdout)["pipeline"]["results"]:
        assert f"│ {agent['agent']} " in text
        assert f'["{agent["agent"]}"]:::agent' in mermaid
        assert agent["agent"] in words
    assert "● start" in text
    assert "◉ end" in text


@pytest.mark.parametrize("name", pipeline_ids())
def test_no_line_of_a_picture_runs_through_a_box(folder: Path, name: str) -> None:
    run("draw", name, "--output", "it.svg")
    picture = (folder / "it.svg").read_text()
    boxes = cards(picture)

    assert len(lines(picture)) > len(boxes) >= 3
    assert [one for one, other in combinations(boxes, 2) if one.overlaps(other)] == []
    assert [
        box for line in lines(picture) for x, y in line for box in boxes if box.holds(x, y)
    ] == []


def test_the_langgraph_graph_is_drawn_by_langgraph(folder: Path) -> None:
    shown = run("draw", "support_triage", "--graph").stdout

    assert "__start__ --> __begin" in shown
    assert "select -.-> deliveries" in shown
    assert "error_handler" not in shown
    assert (
        "writes only Mermaid"
        in run("draw", "support_triage", "--graph", "-f", "svg", code=2).stderr
    )


def test_nested_pipelines_are_drawn_with_the_way_to_each_agent(shop: Path) -> None:
    text = run("draw", "desks.py:NESTED", "-f", "text").stdout

    assert "│ desks/till " in text
    assert " ┄┄▷ desks/till" in text
    assert "│ other " in text
    assert "__start__" not in text


@pytest.mark.parametrize("name", ["desks.py:ASKED", "desks.py:OF_A_JOURNEY"])
def test_a_picture_needs_neither_a_model_nor_a_journeys_agents(
    shop: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)

    assert "● start" in run("draw", name, "-f", "text").stdout
    assert "conclude" in run("draw", name, "--graph").stdout


def test_draw_knows_journeys_and_pipelines_apart(shop: Path) -> None:
    assert "ask" in run("draw", "orders.py").stdout
    assert "hello" in run("draw", "alone.py").stdout
    assert "Did you mean 'support_triage'" in run("draw", "suport_triage", code=2).stderr
    assert "There is no journey 'nothing_at_all'" in run("draw", "nothing_at_all", code=2).stderr
