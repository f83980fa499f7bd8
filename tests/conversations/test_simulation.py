"""Conversations with simulated users: scripts and models as users, their ends, and failed ones."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

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

PLAIN = "{id: plain, about: answers what is asked}"
MESSY = "{id: messy, tidy: 0.3, slips: 0.1, corrects: 0.3, detours: 0.2, strays: 0.2}"
USERS = """
conversation: booking a table
journey: table_booking
clock: 2026-11-24T12:00
users:
  personas: [PERSONAS]
  goals:
    - id: a_table
      about: books a table for four tomorrow at seven
      opens: [a table for four tomorrow at 7 pm]
      values: {guest: Lee, note: no, party_size: [4, 5]}
      reaches: {effects: [book_table]}
"""
BOTH = USERS.replace("PERSONAS", f"{PLAIN}, {MESSY}")
FILE = "users.conversation.yaml"
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
def order(item: str, code: str) -> str:
    """Order it."""
    return "R-1"


AGENTS = {"clerk": lambda ask: "Anything else I can do?"}
TOOLS = {"order": order}
'''
ORDERS = """
conversation: ordering
journey: desk.yaml
clock: 2026-11-24T12:00
users:
  personas: [{id: hasty, patience: 2}]
  goals:
    - id: pear
      opens: [a pear]
      values: {code: [mine, yours]}
      reaches: {effects: [order]}
"""


@pytest.fixture
def users(folder: Path) -> Path:
    (folder / FILE).write_text(BOTH)
    return folder


@pytest.fixture
def desk(folder: Path) -> Path:
    (folder / "desk.yaml").write_text(STUCK)
    (folder / "desk.py").write_text(CODE)
    (folder / FILE).write_text(ORDERS)
    _found.cache_clear()
    return folder


def played(*words: str, code: int | None = 0) -> list[dict[str, Any]]:
    ended = CliRunner().invoke(app, ["test", FILE, *words, "--json"])
    assert code is None or ended.exit_code == code, ended.output
    data: list[dict[str, Any]] = json.loads(ended.stdout)["conversations"]
    return data


def spoken(one: dict[str, Any], who: str = "user") -> list[str]:
    return [line["text"] for line in one["transcript"] if line["who"] == who]


def test_users_reach_their_goal(users: Path) -> None:
    shown = flat(run("test", FILE, "--runs", "2").stdout)

    assert f"✓ {FILE}: booking a table: plain, a_table (4 turns, run 2, completed)" in shown
    assert re.search(r"booking a table: messy, a_table \(\d+ turns, run 1, completed\)", shown)
    assert f"{FILE}: booking a table: messy, a_table 2 2" in shown
    assert "4 conversations: 4 passed" in shown


def test_the_same_seed_gives_the_same_conversations(users: Path) -> None:
    first, again = (played("--runs", "3", code=None) for _ in range(2))
    (users / FILE).write_text(BOTH.replace("users:", "users:\n  seed: 2"))
    other = played("--runs", "3", code=None)

    assert [*map(spoken, first)] == [*map(spoken, again)]
    assert [*map(spoken, first)][::2] == [*map(spoken, other)][::2]  # the plain ones
    assert [*map(spoken, first)] != [*map(spoken, other)]


@pytest.mark.slow
def test_manners_show_in_the_conversations(users: Path) -> None:
    seen: dict[str, list[list[str]]] = {}
    for manner in ("strays: 1", "corrects: 1", "detours: 1", "slips: 1", "tidy: 0", "leaves: 1"):
        text = USERS.replace("PERSONAS", f"{{id: messy, {manner}, patience: 2}}")
        (users / FILE).write_text(text.replace("users:", "users:\n  longest: 6"))
        runs = played("--runs", "5", code=None)
        seen[manner] = [*map(spoken, runs)]
        if manner == "leaves: 1":
            assert {one["end"] for one in runs} == {"left"}

    assert any("weather" in said for run in seen["strays: 1"] for said in run[1:])
    assert any(
        "sorry, the" in said or "change the" in said for r in seen["corrects: 1"] for said in r
    )
    assert all(len(run) > 3 for run in seen["detours: 1"])
    assert all(run[0] != "a table for four tomorrow at 7 pm" for run in seen["slips: 1"])
    assert any("Lee" in said and said != "Lee" for run in seen["tidy: 0"] for said in run)
    assert all(len(run) == 1 for run in seen["leaves: 1"])


def test_a_dead_end_is_written_as_a_test_that_shows_it(desk: Path) -> None:
    [outcome] = played("--failures", "failed", code=1)

    assert (outcome["end"], outcome["turns"]) == ("dead end", 3)
    shown = flat(run("test", "failed", code=1).stdout)
    assert "ordering: hasty, pear, run 1: dead end (3 turns)" in shown
    assert "effects (failed/hasty-pear-1.conversation.yaml:" in shown
    assert all(flat(text) in shown for text in spoken(outcome, "bot"))


def test_the_file_of_a_dead_end_passes_when_the_journey_is_mended(desk: Path) -> None:
    played("--failures", "failed", code=1)
    mended = re.sub(r", validators: \[\{regex: .*?\}\]", "", STUCK)
    assert mended != STUCK
    (desk / "desk.yaml").write_text(mended)
    _found.cache_clear()
    file = desk / "failed" / "hasty-pear-1.conversation.yaml"
    file.write_text(file.read_text().replace("- {user: yours}\n", '- {user: "yes"}\n'))

    assert "1 passed" in run("test", "failed").stdout


def test_functions_of_effects_are_only_called_if_wanted(desk: Path) -> None:
    given = ORDERS.replace("[mine, yours]", '"1234"')
    (desk / FILE).write_text(given)
    [made_up] = played()
    (desk / FILE).write_text(given.replace("users:", "users:\n  effects: true"))
    [real] = played()

    assert any("It is ordered: R-1" in text for text in spoken(real, "bot"))
    assert not any("R-1" in text for text in spoken(made_up, "bot"))
    assert any("It is ordered" in text for text in spoken(made_up, "bot"))


def test_the_longest_conversation_is_an_end(users: Path) -> None:
    text = USERS.replace("PERSONAS", PLAIN).replace("{effects: [book_table]}", "{pathway: menu}")
    (users / FILE).write_text(text.replace("users:", "users:\n  longest: 2"))

    [one] = played(code=1)

    assert (one["end"], one["turns"]) == ("bound", 2)
    assert one["differences"][0]["expected"] == '{"pathway": "menu"}'


@pytest.mark.parametrize(
    ("was", "now", "told"),
    [
        ("{guest: Lee", "{gest: Lee", f"{FILE}:11:22: TableBooking has no field 'gest'."),
        ("[book_table]", "[book_tabel]", "Did you mean 'book_table'?"),
        ("tidy: 0.3", "tidy: 3", "tidy"),
        ("id: messy", "id: plain", "'plain' is there twice."),
        ("{effects: [book_table]}", "{}", "the end of a goal is empty"),
        ("      reaches: {effects: [book_table]}\n", "", "'reaches' is missing"),
        ("slips", "slip", "Did you mean 'slips'?"),
        ("users:", "turns: [{user: hello}]\nusers:", "Write 'turns' or 'users'."),
        ("users:", "model: recorded\nusers:", "simulated users have no recording"),
    ],
)
def test_faults_of_the_file(users: Path, was: str, now: str, told: str) -> None:
    (users / FILE).write_text(BOTH.replace(was, now))

    assert told in flat(run("test", FILE, code=2).stderr)


def said(message: str, *, leaves: bool = False) -> dict[str, Any]:
    return {"message": message, "leaves": leaves}


BY_MODEL = USERS.replace("PERSONAS", PLAIN).replace("users:", "users:\n  by: model")


def test_without_a_model_users_played_by_one_are_skipped(folder: Path) -> None:
    (folder / FILE).write_text(BY_MODEL)

    assert "skipped: no model is configured" in run("test", FILE).stdout


def test_a_model_plays_the_user(folder: Path, server: ScriptedServer) -> None:
    (folder / FILE).write_text(BY_MODEL)
    server.script = Script(
        said("a table for four tomorrow at 7 pm"), said("Lee"), said("no"), said("yes")
    )

    [outcome] = played()

    server.script.check()
    assert (outcome["end"], outcome["turns"]) == ("completed", 4)
    assert [call.max_tokens for call in server.script.calls] == [600, 600, 600, 600]
    shown = json.loads(server.script.calls[1].message)
    assert shown["the_user_is"] == "answers what is asked"
    assert shown["the_user_wants"] == "books a table for four tomorrow at seven"
    assert shown["the_user_knows"] == {"guest": "Lee", "note": "no", "party_size": "4"}
    assert [line["who"] for line in shown["conversation"]][-2:] == ["user", "assistant"]


def test_a_model_may_leave_or_fail(folder: Path, server: ScriptedServer) -> None:
    two = BY_MODEL.replace(PLAIN, f"{PLAIN}, {{id: other}}")
    (folder / FILE).write_text(two)
    server.script = Script(said("hello"), said("", leaves=True), Fault.status(400))

    left, failed = played(code=1)

    assert (left["end"], left["passed"]) == ("left", True)
    assert "the model answered 400" in failed["differences"][0]["got"]


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


def test_a_live_model_answers_simulated_users(folder: Path, server: ScriptedServer) -> None:
    (folder / "parcels.py").write_text(PARCELS)
    (folder / FILE).write_text(
        "conversation: parcels\njourney: parcels.py\nmodel: live\n"
        "users:\n  personas: [{id: hasty, patience: 1}]\n"
        "  goals: [{id: parcel, opens: [my parcel never came, it is P-1], "
        "reaches: {context: {order: P-1}}}]\n"
    )
    _found.cache_clear()
    answers: list[Answer] = [{"response": "Which one?", "order": None}] * 3
    server.script = Script(*answers)

    [outcome] = played(code=1)

    assert outcome["end"] == "dead end"
    assert spoken(outcome, "bot")[-1] == "Which one?"


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
conversation: talk
journey: talk.py
agents: {friend: RESULTS}
users:
  personas: [{id: open, patience: 2}]
  goals: [{id: talk, opens: [hello, well, so, hm, fine], reaches: {context: {mood: good}}}]
"""


def test_results_of_agents_are_given_and_written(folder: Path) -> None:
    (folder / "talk.py").write_text(AGENTS_ALONE)
    results = "[{gives: {response: Hi.}}, {gives: {response: And?}}, {gives: {response: And?}}, "
    text = TALK.replace("RESULTS", results + "{gives: {response: Good., mood: good}}]")
    (folder / FILE).write_text(text)
    _found.cache_clear()

    [outcome] = played()
    assert (outcome["end"], outcome["turns"]) == ("completed", 4)

    (folder / FILE).write_text(TALK.replace("RESULTS", "{gives: {response: Hi.}}"))
    [outcome] = played("--failures", "failed", code=1)
    assert outcome["end"] == "dead end"
    shown = flat(run("test", "failed", code=1).stdout)
    assert "context.mood" in shown
    assert "Hi." in shown


def test_agents_that_are_missing_are_named(folder: Path) -> None:
    (folder / "talk.py").write_text(AGENTS_ALONE)
    (folder / FILE).write_text(TALK.replace("agents: {friend: RESULTS}\n", ""))
    _found.cache_clear()

    told = flat(run("test", FILE, code=2).stderr)

    assert "friend" in told
    assert "agents: {name: {gives: ...}}" in told
