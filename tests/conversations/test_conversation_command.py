"""`journeygraph test` and the plugin of pytest: outcomes, exit codes, faults of files."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

# Pytester forgets what a run has imported, and an extension cannot be imported twice.
import tests.support.preloaded  # noqa: F401
from tests.support.command import flat, folder, logging_as_before, run

pytest_plugins = ("pytester",)
__all__ = ["folder", "logging_as_before"]

GOOD = """
conversation: a pear is ordered
journey: orders.py
turns:
  - user: a pear please
  - bot: {context: {item: pear}, pathway: pay}
"""
BAD = GOOD.replace("is ordered", "is paid").replace("pathway: pay", "pathway: help")
USERS = """
conversation: orders
journey: orders.py
users:
  personas: [{id: shopper, patience: 1}]
  goals:
    - {id: pear, opens: [a pear please], reaches: {context: {item: pear}}}
    - {id: none, opens: [well], reaches: {pathway: pay}}
"""
FAULTY = """
conversation: nothing fits
journey: orders.py
clok: 2026-11-24T12:00
turns:
  - usr: a pear
  - user: a pear
    bot: {}
  - bot: {says: /(/, pathwy: pay}
"""
UNKNOWN = """
conversation: nothing is there
journey: orders.py
place: asks
turns:
  - user: a pear
  - bot:
      pathway: pax
      path: [ask, hepl]
      fields: {item: pear}
      attempts: {item: 1}
      context: {itm: pear}
      effects: [pay]
      rules: [kind]
      asks: itme
"""


BARE = "conversation: x\njourney: bare.py:Bare\nturns: [{user: hello}]\n"


@pytest.fixture
def files(folder: Path) -> Path:
    (folder / "inner").mkdir()
    (folder / "good.conversation.yaml").write_text(GOOD)
    (folder / "inner" / "json.conversation.json").write_text(
        json.dumps({"conversation": "as JSON", "journey": "orders.py", "turns": [{"user": "x"}]})
    )
    return folder


def test_all_pass(files: Path) -> None:
    ended = run("test", ".")

    assert "✓ good.conversation.yaml: a pear is ordered (1 turn)" in ended.stdout
    assert "2 conversations: 2 passed, 0 failed" in ended.stdout


def test_hidden_folders_and_environments_are_not_searched(files: Path) -> None:
    for name in (".hidden", "env", "node_modules"):
        (files / name).mkdir()
        (files / name / "bad.conversation.yaml").write_text(BAD)
    (files / "env" / "pyvenv.cfg").write_text("")

    assert "2 conversations: 2 passed, 0 failed" in run("test", ".").stdout


def test_a_difference_shows_the_conversation_and_ends_with_1(files: Path) -> None:
    (files / "bad.conversation.yaml").write_text(BAD)

    shown = run("test", "bad.conversation.yaml", "good.conversation.yaml", code=1).stdout

    assert flat(shown).startswith("✗ bad.conversation.yaml: a pear is paid (1 turn) user a pear")
    assert '✗ pathway (bad.conversation.yaml:6) expected "help" got "pay"' in flat(shown)
    assert "2 conversations: 1 passed, 1 failed" in shown
    assert "\x1b" not in shown


def test_outcomes_as_json_and_as_junit(files: Path) -> None:
    (files / "bad.conversation.yaml").write_text(BAD)

    shown = json.loads(run("test", ".", "--json", "--junit", "out.xml", code=1).stdout)

    outcomes = {one["file"]: one for one in shown["conversations"]}
    assert outcomes["good.conversation.yaml"]["passed"]
    assert outcomes["bad.conversation.yaml"]["differences"] == [
        {"what": "pathway", "expected": '"help"', "got": '"pay"'}
    ]
    [suite] = ElementTree.parse(files / "out.xml").getroot()
    assert (suite.get("tests"), suite.get("failures")) == ("3", "1")
    [failure] = [found for case in suite for found in case]
    assert failure.get("message") == 'pathway: expected "help", got "pay"'
    assert "a pear please" in str(failure.text)


def test_faults_of_a_file_have_places_and_the_way_out(files: Path) -> None:
    (files / "faulty.conversation.yaml").write_text(FAULTY)

    told = flat(run("test", ".", code=2).stderr)

    for part in (
        "faulty.conversation.yaml:4:1: 'clok' is not a valid key of a conversation.",
        "Did you mean 'clock'?",
        "6:5: 'usr' is not a valid key of a turn. Did you mean 'user'?",
        "a turn has two of user, bot, event, wait, operator, release. Write one of them in each",
        "it must be a regular expression between the slashes",
        "'pathwy' is not a valid key of a bot. Did you mean 'pathway'?",
    ):
        assert part in told


def test_faults_are_also_written_as_json(files: Path) -> None:
    (files / "faulty.conversation.yaml").write_text(FAULTY)

    ended = run("test", ".", "--json", code=2)

    data = json.loads(ended.stdout)
    assert data["conversations"] == []
    first = data["faults"][0]
    assert first["place"] == {"file": "faulty.conversation.yaml", "line": 4, "column": 1}
    assert "'clok' is not a valid key" in first["message"]
    assert "'clok' is not a valid key" in ended.stderr
    assert json.loads(run("test", "nowhere.yaml", "--json", code=2).stdout)["faults"]


def test_names_that_the_journey_does_not_have_are_faults(files: Path) -> None:
    (files / "unknown.conversation.yaml").write_text(UNKNOWN)

    told = flat(run("test", "unknown.conversation.yaml", code=2).stderr)

    for part in (
        "unknown.conversation.yaml:4:8: Orders has no pathway 'asks'. Did you mean 'ask'?",
        "8:16: Orders has no pathway 'pax'. Did you mean 'pay'?",
        "9:19: Orders has no pathway 'hepl'. Did you mean 'help'?",
        "Orders has no field 'item'. It has no fields.",
        "Orders has no context name 'itm'. Did you mean 'item'?",
        "Orders has no effect 'pay'. It has no effects.",
        "Orders has no rule 'kind'. It has no rules.",
        "Orders has no question 'itme'.",
    ):
        assert part in told


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("nowhere.yaml", None, "There is no file or folder nowhere.yaml."),
        ("nobody", "", "There is no conversation in nobody"),
        (
            "a.yaml",
            GOOD.replace("orders.py", "oders.py"),
            "a.yaml:3:10: There is no file oders.py.",
        ),
        ("a.yaml", GOOD.replace("orders.py", "table_bokin"), "Did you mean 'table_booking'?"),
        ("a.yaml", GOOD.replace("orders.py", "orders.py:Order"), "Did you mean 'Orders'?"),
        ("a.yaml", GOOD.replace("orders.py", "bare.py:Base"), "Base is abstract"),
        ("a.yaml", BARE, "Bare has no agent for"),
        ("a.yaml", "", "the file is empty"),
        ("a.yaml", "conversation: x\n\tjourney: y\n", "a.yaml:2:1"),
        ("a.yaml", "[1]", "it must be a mapping"),
        ("a.yaml", "conversation: x\njourney: orders.py\nturns: []\n", "turns"),
        ("a.yaml", "conversation: x\njourney: orders.py\n", "Write 'turns' or 'users'."),
    ],
)
def test_a_file_that_cannot_be_played_ends_with_2(files: Path, name, text, told) -> None:
    if text == "" and "." not in name:
        (files / name).mkdir()
    elif text is not None:
        (files / name).write_text(text)

    ended = run("test", name, code=2)

    assert told in flat(ended.stderr)


PLUGIN = (
    *(
        "-p",
        "journeygraph.server.conversations.pytest_plugin",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:asyncio",
    ),
    *("-W", "ignore::pytest.PytestAssertRewriteWarning"),  # if another test has loaded it before
)


def test_pytest_collects_the_same_files(files: Path, pytester: pytest.Pytester) -> None:
    for file in ("orders.py", "good.conversation.yaml"):
        (pytester.path / file).write_text((files / file).read_text())
    (pytester.path / "bad.conversation.yaml").write_text(BAD)
    (pytester.path / "other.yaml").write_text(GOOD)

    ended = pytester.runpytest_inprocess(*PLUGIN)

    ended.assert_outcomes(passed=1, failed=1)
    ended.stdout.fnmatch_lines(["*pathway (*bad.conversation.yaml:6)*", '*expected  "help"*'])
    assert "site-packages" not in ended.stdout.str()


def test_pytest_collects_each_simulated_user(files: Path, pytester: pytest.Pytester) -> None:
    (pytester.path / "orders.py").write_text((files / "orders.py").read_text())
    (pytester.path / "users.conversation.yaml").write_text(USERS)

    ended = pytester.runpytest_inprocess(*PLUGIN, "-v")

    ended.assert_outcomes(passed=1, failed=1)
    ended.stdout.fnmatch_lines(["*::orders: shopper, pear PASSED*", "*::orders: shopper, none *"])
    ended.stdout.fnmatch_lines(["*goal (*users.conversation.yaml:4)*"])


def test_pytest_collects_files_of_configured_names(files: Path, pytester: pytest.Pytester) -> None:
    (pytester.path / "orders.py").write_text((files / "orders.py").read_text())
    (pytester.path / "talk_pear.yaml").write_text(GOOD)
    (pytester.path / "talk_faulty.yaml").write_text(FAULTY)
    pytester.makeini("[pytest]\nconversation_files = talk_*.yaml\n")

    ended = pytester.runpytest_inprocess(*PLUGIN, "--continue-on-collection-errors")

    ended.assert_outcomes(passed=1, errors=1)
    ended.stdout.fnmatch_lines(["*talk_faulty.yaml:4:1: 'clok' is not a valid key*"])
