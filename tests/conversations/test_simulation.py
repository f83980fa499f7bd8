"""`journeygraph simulate`: scripted users and models as users, their figures, files and plots."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from typer.testing import CliRunner

from journeygraph.nodes.llm.scripted import Answer, Fault, Script
from journeygraph.server.cli.command_line import app
from journeygraph.server.conversations.conversation_files import _found
from journeygraph.server.scripted import ScriptedServer
from tests.support import model_server
from tests.support.command import flat, folder, logging_as_before, run

server = model_server.server
__all__ = ["folder", "logging_as_before"]

USERS = """
clock: 2026-11-24T12:00
personas:
  - {id: plain, about: answers what is asked}
  - {id: messy, tidy: 0.3, slips: 0.1, corrects: 0.3, detours: 0.2, strays: 0.2}
goals:
  - id: a_table
    about: books a table for four tomorrow at seven
    opens: [a table for four tomorrow at 7 pm]
    values: {guest: Lee, note: no, party_size: [4, 5]}
    reaches: {effects: [book_table]}
"""
STUCK = """
id: desk
name: Desk
initial_state: order
tools:
  - type: function
    function:
      name: order
      description: Order it.
      parameters: {type: object, properties: {item: {type: string}, code: {type: string}}}
states:
  order:
    fields:
      - {name: item, type: enum, ask: "A pear or a plum?", choices: [pear, plum]}
      - {name: code, ask: "Which code?", validators: [{regex: "[0-9]{4}"}]}
    effects:
      - {tool: order, save: ordered, done: "It is ordered: {ordered}."}
    next: after
  after:
    agents: [clerk]
    complete_when: never
"""
CODE = '''
DONE = []

def order(item: str, code: str) -> str:
    """Order it."""
    DONE.append(item)
    return "R-1"


AGENTS = {"clerk": lambda ask: "Anything else I can do?"}
TOOLS = {"order": order}
'''
ORDERS = """
clock: 2026-11-24T12:00
personas: [{id: hasty, patience: 2}]
goals:
  - id: pear
    opens: [a pear]
    values: {code: [mine, yours]}
    reaches: {effects: [order]}
"""


@pytest.fixture
def users(folder: Path) -> Path:
    (folder / "users.yaml").write_text(USERS)
    return folder


@pytest.fixture
def desk(folder: Path) -> Path:
    (folder / "desk.yaml").write_text(STUCK)
    (folder / "desk.py").write_text(CODE)
    (folder / "users.yaml").write_text(ORDERS)
    _found.cache_clear()
    return folder


def simulated(*words: str, code: int | None = 0) -> dict[str, Any]:
    ended = CliRunner().invoke(app, ["simulate", *words, "--json"])
    assert code is None or ended.exit_code == code, ended.output
    data: dict[str, Any] = json.loads(ended.stdout)
    return data


def test_users_reach_their_goal(users: Path) -> None:
    shown = flat(run("simulate", "table_booking", "--with", "users.yaml", "--sessions", "2").stdout)

    assert "plain, a_table, run 2: completed (4 turns)" in shown
    assert "4 runs, 75% completed, seed 1" in shown
    for name in ("ends", "turns"):
        root = ElementTree.parse(users / "simulated" / f"{name}.svg").getroot()
        assert root.tag.endswith("svg")
        assert "a_table" in str(ElementTree.tostring(root)) or name == "turns"


def test_the_same_seed_gives_the_same_conversations(users: Path) -> None:
    words = ("table_booking", "--with", "users.yaml", "--sessions", "3")

    first, again = simulated(*words), simulated(*words)
    other = simulated(*words, "--seed", "2")

    assert first == again
    transcripts = [[run["transcript"] for run in data["runs"]] for data in (first, other)]
    assert transcripts[0][:3] == transcripts[1][:3]  # the plain ones take no chance
    assert transcripts[0] != transcripts[1]


@pytest.mark.slow
def test_manners_show_in_the_conversations(users: Path) -> None:
    text = USERS.replace("tidy: 0.3, slips: 0.1, corrects: 0.3, detours: 0.2, strays: 0.2", "{}")
    seen: dict[str, list[list[str]]] = {}
    for manner in ("strays: 1", "corrects: 1", "detours: 1", "slips: 1", "tidy: 0", "leaves: 1"):
        (users / "users.yaml").write_text(text.replace("{}", f"{manner}, patience: 2"))
        data = simulated("table_booking", "--with", "users.yaml", "--turns", "6", code=None)
        seen[manner] = [
            [line["text"] for line in run["transcript"] if line["who"] == "user"]
            for run in data["runs"]
            if run["persona"] == "messy"
        ]
        ends = {run["end"] for run in data["runs"] if run["persona"] == "messy"}
        if manner == "leaves: 1":
            assert ends == {"left"}

    assert any("weather" in said for run in seen["strays: 1"] for said in run[1:])
    assert any(
        "sorry, the" in said or "change the" in said for r in seen["corrects: 1"] for said in r
    )
    assert all(len(run) > 3 for run in seen["detours: 1"])
    assert all(run[0] != "a table for four tomorrow at 7 pm" for run in seen["slips: 1"])
    assert any("Lee" in said and said != "Lee" for run in seen["tidy: 0"] for said in run)
    assert all(len(run) == 1 for run in seen["leaves: 1"])


def test_a_dead_end_is_written_as_a_conversation_that_shows_it(desk: Path) -> None:
    data = simulated("desk.yaml", "--with", "users.yaml", "--sessions", "1", code=1)

    [outcome] = data["runs"]
    assert (outcome["end"], outcome["refusals"]) == ("dead end", 2)
    assert data["files"] == ["simulated/hasty-pear-1.conversation.yaml"]
    shown = flat(run("test", "simulated", code=1).stdout)
    assert "hasty, pear, run 1: dead end (3 turns)" in shown
    assert "effects (simulated/hasty-pear-1.conversation.yaml:" in shown
    played = [line["text"] for line in outcome["transcript"] if line["who"] == "bot"]
    assert all(flat(text) in shown for text in played)


def test_the_file_of_a_dead_end_passes_when_the_journey_is_mended(desk: Path) -> None:
    simulated("desk.yaml", "--with", "users.yaml", "--sessions", "1", code=1)
    mended = re.sub(r", validators: \[\{regex: .*?\}\]", "", STUCK)
    assert mended != STUCK
    (desk / "desk.yaml").write_text(mended)
    _found.cache_clear()
    file = desk / "simulated" / "hasty-pear-1.conversation.yaml"
    file.write_text(file.read_text().replace("- {user: yours}\n", '- {user: "yes"}\n'))

    shown = run("test", "simulated").stdout

    assert "1 passed" in shown


def test_functions_of_effects_are_only_called_if_wanted(desk: Path) -> None:
    (desk / "users.yaml").write_text(ORDERS.replace("[mine, yours]", '"1234"'))
    made_up = simulated("desk.yaml", "--with", "users.yaml", "--sessions", "1")
    real = simulated("desk.yaml", "--with", "users.yaml", "--sessions", "1", "--effects")

    said = [[line["text"] for line in one["runs"][0]["transcript"]] for one in (made_up, real)]
    assert any("It is ordered: R-1" in text for text in said[1])
    assert not any("R-1" in text for text in said[0])
    assert any("It is ordered" in text for text in said[0])


def test_the_longest_run_and_the_end_of_the_journey_are_ends(folder: Path) -> None:
    text = USERS.replace("reaches: {effects: [book_table]}", "reaches: {pathway: menu}")
    (folder / "users.yaml").write_text(text)

    data = simulated("table_booking", "--with", "users.yaml", "--sessions", "1", "--turns", "2")

    assert {one["end"] for one in data["runs"]} <= {"bound", "completed"}
    assert data["runs"][0]["end"] == "bound"


@pytest.mark.parametrize(
    ("was", "now", "told"),
    [
        ("{guest: Lee", "{gest: Lee", "users.yaml:10:20: TableBooking has no field 'gest'."),
        ("[book_table]", "[book_tabel]", "Did you mean 'book_table'?"),
        ("tidy: 0.3", "tidy: 3", "tidy"),
        ("id: messy", "id: plain", "'plain' is there twice."),
        ("{effects: [book_table]}", "{}", "the end of a goal is empty"),
        ("    reaches: {effects: [book_table]}\n", "", "'reaches' is missing"),
        ("slips", "slip", "Did you mean 'slips'?"),
    ],
)
def test_faults_of_the_file(users: Path, was: str, now: str, told: str) -> None:
    (users / "users.yaml").write_text(USERS.replace(was, now))

    ended = run("simulate", "table_booking", "--with", "users.yaml", code=2)

    assert told in flat(ended.stderr)


def test_a_missing_file_and_a_missing_model_are_refused(users: Path) -> None:
    assert "no.yaml" in run("simulate", "table_booking", "--with", "no.yaml", code=2).stderr
    words = ("simulate", "table_booking", "--with", "users.yaml", "--by-model")
    assert "No model is configured" in run(*words, code=2).stderr


def said(message: str, *, leaves: bool = False) -> dict[str, Any]:
    return {"message": message, "leaves": leaves}


ONE = ("simulate", "table_booking", "--with", "users.yaml", "--sessions", "1", "--json")


def test_a_model_plays_the_user(users: Path, server: ScriptedServer) -> None:
    (users / "users.yaml").write_text(USERS.replace("  - {id: messy", "  # - {id: messy"))
    server.script = Script(
        said("a table for four tomorrow at 7 pm"), said("Lee"), said("no"), said("yes")
    )

    data = json.loads(run(*ONE, "--by-model").stdout)

    server.script.check()
    [outcome] = data["runs"]
    assert (outcome["end"], outcome["turns"]) == ("completed", 4)
    assert data["tokens"] == outcome["tokens"] > 0
    assert [call.max_tokens for call in server.script.calls] == [600, 600, 600, 600]
    shown = json.loads(server.script.calls[1].message)
    assert shown["the_user_is"] == "answers what is asked"
    assert shown["the_user_wants"] == "books a table for four tomorrow at seven"
    assert shown["the_user_knows"] == {"guest": "Lee", "note": "no", "party_size": "4"}
    assert [line["who"] for line in shown["conversation"]][-2:] == ["user", "assistant"]


def test_a_model_may_leave_or_fail(users: Path, server: ScriptedServer) -> None:
    server.script = Script(said("hello"), said("", leaves=True), Fault.status(400))

    data = json.loads(run(*ONE, "--by-model", code=1).stdout)

    assert [one["end"] for one in data["runs"]] == ["left", "failed"]
    assert "the user: the model answered 400" in data["runs"][1]["why"]


def test_tokens_are_a_bound(users: Path, server: ScriptedServer) -> None:
    server.script = Script(said("hello"), said("", leaves=True))

    data = json.loads(run(*ONE, "--by-model", "--tokens", "1").stdout)

    assert (data["whole"], len(data["runs"])) == (False, 1)


PARCELS = '''
from journeygraph import InputField, Journey, ModelAgent, OutputField, Pathway, Signature


class FindOrder(Signature):
    """Find out which parcel the customer means."""

    message: str = InputField(description="What the customer just wrote")
    response: str = OutputField(description="What to say back")
    order: str | None = OutputField(description="The order number")


class Parcels(Journey):
    """Find a parcel that did not arrive."""

    class FindPath(Pathway):
        __signature__ = FindOrder
        __agents__ = ["clerk"]
        __accumulate__ = ["order"]
        __complete_when__ = ["order"]


MODEL_AGENTS = {"clerk": ModelAgent()}
'''


def test_a_failed_run_of_a_live_journey_is_replayed_offline(
    folder: Path, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "parcels.py").write_text(PARCELS)
    (folder / "users.yaml").write_text(
        "clock: 2026-11-24T12:00\npersonas: [{id: hasty, patience: 1}]\n"
        "goals: [{id: parcel, opens: [my parcel never came, it is P-1], "
        "reaches: {context: {order: P-1}}}]\n"
    )
    _found.cache_clear()
    answers: list[Answer] = [{"response": "Which one?", "order": None}] * 3
    server.script = Script(*answers)
    words = ("simulate", "parcels.py", "--with", "users.yaml", "--sessions", "1", "--live")

    data = json.loads(run(*words, "--json", code=1).stdout)

    assert data["runs"][0]["end"] == "dead end"
    assert data["tokens"] > 0
    model_server.name_none(monkeypatch)
    shown = flat(run("test", "simulated", code=1).stdout)
    assert "context.order (simulated/hasty-parcel-1.conversation.yaml:" in shown
    assert "Which one?" in shown


AGENTS_ALONE = '''
from journeygraph import Journey, Pathway


class Talk(Journey):
    """Talk."""

    class TalkPath(Pathway):
        __agents__ = ["friend"]
        __accumulate__ = ["mood"]
        __complete_when__ = ["mood"]
'''
TALK = """
personas: [{id: open, patience: 2}]
goals: [{id: talk, opens: [hello, well, so, hm, fine], reaches: {context: {mood: good}}}]
agents: {friend: RESULTS}
"""


def test_results_of_agents_are_given_and_written(folder: Path) -> None:
    (folder / "talk.py").write_text(AGENTS_ALONE)
    results = "[{gives: {response: Hi.}}, {gives: {response: And?}}, {gives: {response: And?}}, "
    text = TALK.replace("RESULTS", results + "{gives: {response: Good., mood: good}}]")
    (folder / "users.yaml").write_text(text)
    _found.cache_clear()

    [outcome] = simulated("talk.py", "--with", "users.yaml", "--sessions", "1")["runs"]
    assert (outcome["end"], outcome["turns"]) == ("completed", 4)

    (folder / "users.yaml").write_text(TALK.replace("RESULTS", "{gives: {response: Hi.}}"))
    [outcome] = simulated("talk.py", "--with", "users.yaml", "--sessions", "1", code=1)["runs"]
    assert outcome["end"] == "dead end"
    shown = flat(run("test", "simulated", code=1).stdout)
    assert "context.mood" in shown
    assert "Hi." in shown


def test_agents_that_are_missing_are_named(folder: Path) -> None:
    (folder / "talk.py").write_text(AGENTS_ALONE)
    (folder / "users.yaml").write_text(TALK.replace("agents: {friend: RESULTS}\n", ""))
    _found.cache_clear()

    told = flat(run("simulate", "talk.py", "--with", "users.yaml", code=2).stderr)

    assert "friend" in told
    assert "agents: {name: {gives: ...}}" in told
