"""First steps of an author with the `journeygraph` command."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.support import command
from tests.support.command import BARE, BROKEN, ORDERS, ROOT, flat, run, start

folder = command.folder
logging_as_before = command.logging_as_before

ORDER = ("chat", "orders.py", "--store", "memory://")
SLOW = ORDERS.replace(
    "def clerk(ask):",
    "def clerk(ask):\n    if 'slow' in ask['message']:\n"
    "        open('busy', 'w').close()\n        time.sleep(600)",
)


# ---- interrupts


# Before the command has the signal, Python itself is not up yet.
STARTING = """
import signal, sys
from journeygraph.server.cli import main
take = signal.signal
def taken(*given):
    before = take(*given)
    open("up", "w").close()
    return before
signal.signal = taken
sys.argv = ["journeygraph", "chat", "orders.py"]
main()
"""


@pytest.mark.parametrize("wait", [0.02, 0.05, 0.1, 0.2, 0.4, 0.8])
def test_an_interrupt_at_start_up_is_no_traceback(folder: Path, wait: float) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    pipes: Any = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    command = [sys.executable, "-P", "-c", STARTING]
    with subprocess.Popen(command, cwd=folder, env=environment, **pipes) as talk:
        while not (folder / "up").exists():
            time.sleep(0.001)
        time.sleep(wait)
        talk.send_signal(signal.SIGINT)
        _, told = talk.communicate()

    assert b"Traceback" not in told
    assert talk.returncode in (0, 130)


@pytest.mark.slow
def test_an_interrupt_in_a_reply_gives_up_the_turn_and_not_the_talk(folder: Path) -> None:
    (folder / "orders.py").write_text("import time\n" + SLOW)
    with start(folder, "chat", "orders.py", "--session", "a") as talk:
        assert talk.stdin
        assert talk.stdout
        talk.stdin.write(b"slow\n")
        talk.stdin.flush()
        while b"you > slow" not in talk.stdout.readline():
            pass
        while not (folder / "busy").exists():
            time.sleep(0.01)
        talk.send_signal(signal.SIGINT)
        shown, told = talk.communicate(b"/history\na pear\n")

    assert talk.returncode == 0
    assert told == b""
    assert b"(interrupted; this turn was not stored)" in shown
    assert b"There are no messages yet." in shown
    assert "ask → pay" in shown.decode()


def test_a_module_that_interrupts_its_import_is_a_fault(folder: Path) -> None:
    (folder / "stops.py").write_text("raise KeyboardInterrupt\n" + ORDERS)

    assert "✗ stops.py: its import was interrupted" in run("check", "stops.py", code=1).stdout


# ---- names


@pytest.mark.slow
def test_files_named_like_ours_or_like_the_librarys_break_nothing(folder: Path) -> None:
    for name in ("server", "calendar", "rich", "journeys", "nodes", "graphs"):
        (folder / f"{name}.py").write_text("raise RuntimeError('the wrong one')\n")
    (folder / "calendar.py").write_text(ORDERS)

    with start(folder, "chat", "calendar.py:Orders", "--store", "memory://") as talk:
        shown, told = talk.communicate(b"a pear\n")

    assert told == b""
    assert "ask → pay" in shown.decode()


def test_a_journey_hidden_by_an_installed_module_is_named_by_its_file(folder: Path) -> None:
    (folder / "calendar.py").write_text(ORDERS)

    told = run("chat", "calendar:Orders", code=2).stderr

    assert flat(told).endswith("Name the file: calendar.py")
    assert "✓ Orders (calendar.py)" in run("check", "calendar").stdout


@pytest.mark.parametrize("name", ["orders", "orders.py", "./orders.py", "orders.py:Orders"])
def test_a_journey_is_found_by_its_file_or_module_alone(folder: Path, name: str) -> None:
    assert "ask → pay" in run("chat", name, "--store", "memory://", typed="a pear\n").stdout
    assert "ask" in run("draw", name).stdout


def test_one_of_several_journeys_has_to_be_named(folder: Path) -> None:
    second = ORDERS.partition("def clerk")[0].replace("class Orders", "class Again")
    (folder / "two.py").write_text(second + ORDERS)

    told = run("draw", "two.py", code=2).stderr

    assert "Choose one: two.py:Again, two.py:Orders." in told
    assert (
        "ask → pay" in run("chat", "two.py:Orders", "--store", "memory://", typed="a pear").stdout
    )


def test_an_abstract_base_is_no_choice(folder: Path) -> None:
    assert "first" in run("draw", "bare.py").stdout


def test_a_file_that_is_not_there_is_said_to_be_missing(folder: Path) -> None:
    assert "There is no file nope.py." in run("chat", "nope.py", code=2).stderr
    assert "There is no file nope.py." in run("chat", "nope.py:Orders", code=2).stderr
    (folder / "none.py").write_text("")
    assert "There is no journey in none.py." in run("chat", "none.py", code=2).stderr


def test_agents_of_another_journey_of_the_file_are_left_to_it(folder: Path) -> None:
    small = """

class Small(Journey):
    class OnePath(Pathway):
        __agents__ = ["one"]


AGENTS["one"] = lambda ask: "Only one."
"""
    (folder / "two.py").write_text(ORDERS + small)

    for name, said in (("Orders", "like?"), ("Small", "Only one.")):
        assert said in run("chat", f"two.py:{name}", "--store", "memory://", typed="hi\n").stdout
    assert "2 valid journeys, 0 faults, 0 warnings." in run("check", "two.py").stdout


# ---- talk


def test_no_session_is_made_before_something_is_said(folder: Path) -> None:
    shown = run("chat", "orders.py", typed="/help\n/quit\n").stdout

    assert "Your first message starts a session in ask." in shown
    assert "Go on with" not in shown
    assert not (folder / "journeys.db").exists()


def test_the_way_on_is_one_line_to_copy(folder: Path) -> None:
    name = "a-rather-long-name-" * 5
    shown = run("chat", "orders.py", "--session", name, typed="a pear\n").stdout

    assert shown.splitlines()[-1].endswith(f"chat orders.py --session {name}")


def test_sessions_of_the_journey_are_listed(folder: Path) -> None:
    assert "The store has no session yet" in run("chat", "orders.py", typed="/sessions\n").stdout
    run("chat", "orders.py", "--session", "first", typed="a pear\n")

    shown = run("chat", "orders.py", "--session", "second", typed="/sessions\n").stdout

    assert "first" in shown
    assert "second  (this one)" in shown


def test_a_word_too_many_after_a_slash_command_is_not_passed_over(folder: Path) -> None:
    told = run(*ORDER, typed="a pear\n/state all\n").stderr

    assert told == "✗ /state takes no argument; 'all' was ignored.\n"


def test_what_misbehaves_in_a_turn_is_told_under_it(folder: Path) -> None:
    source = ORDERS.replace(
        "__transitions__ = [",
        "__transitions__ = [Transition(ConditionTrigger(lambda c: c['age']), to_pathway='pay'), ",
    )
    source = source.replace('"AskPath"', "").replace(
        '        __agents__ = ["clerk"]',
        '        __signature__ = Asked\n        __agents__ = ["clerk"]',
    )
    asked = """
class Asked(Signature):
    count: int = InputField()
    response: str = OutputField()
"""
    words = "ConditionTrigger, InputField, IntentTrigger, OutputField, Signature,"
    source = source.replace("IntentTrigger,", words, 1).replace(
        "\n\nclass Orders", f"{asked}\n\nclass Orders", 1
    )
    (folder / "loud.py").write_text(source.replace('lambda ask: "Paid."', "lambda ask: None"))

    shown = run("chat", "loud.py", "--store", "memory://", typed="a pear\nhm\n").stdout

    assert shown.count("a condition raised an error and counts as false: ") == 2
    assert "KeyError: 'age'" in shown
    assert "! the required input 'count' was empty: no value is set" in shown
    assert "! no reply in 'pay'" in shown


def test_a_model_is_spoken_of_only_where_one_would_be_asked(folder: Path) -> None:
    plain = ORDERS.replace('patterns=["help"]', 'patterns=["help"], use_llm_fallback=False')
    (folder / "plain.py").write_text(plain)

    assert "No model" in run(*ORDER).stdout
    assert "No model" not in run("chat", "plain.py").stdout
    assert "No model" not in run("chat", "nope.py", code=2).output


def test_a_sensitive_journey_names_the_key_it_needs(folder: Path) -> None:
    source = ORDERS.replace('"""Take an order."""', "__sensitive__ = True")
    (folder / "secret.py").write_text(source)

    told = run("chat", "secret.py", code=1).stderr

    assert "JOURNEYGRAPH_ENCRYPTION_KEY must be" in told
    assert "Make one with: python -c" in told


# ---- check and draw


@pytest.mark.parametrize("key", ["", "sk-none"])
def test_check_and_serve_refuse_the_same_agents(
    folder: Path, monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", key)
    (folder / "names.py").write_text(ORDERS.replace('"till":', '"tell":'))
    unused = "No pathway of Orders uses an agent 'tell'. Did you mean 'till'?"

    report = run("check", "names.py", code=1).stdout
    faults = json.loads(run("check", "names.py", "--json", code=1).stdout)["faults"]

    assert f"✗ names.py:5: {unused}" in report
    assert ": Orders has no agent for: 'till' (in pay)." in report
    assert "1 valid journey, 2 faults, 0 warnings." in report
    assert [fault["place"]["file"] for fault in faults] == ["names.py"] * 2
    assert unused in flat(run("serve", "names.py", code=1).stderr)


def test_check_says_what_it_could_not_read(folder: Path) -> None:
    (folder / "both.py").write_text(BROKEN + BARE)

    report = run("check", "both.py", code=1).stdout

    assert "✗ both.py:8: Broken.VerifyPath: __next__" in report
    assert "(Not read because of this: Base, Bare.)" in report


@pytest.mark.parametrize("name", ["a.png", "a.MMDX", "a.md"])
def test_draw_refuses_an_ending_it_does_not_know(folder: Path, name: str) -> None:
    told = run("draw", "orders.py", "-o", name, code=2).stderr

    assert "Use one of .svg, .txt, .mmd, .mermaid" in told
    assert not (folder / name).exists()
    assert run("draw", "orders.py", "-o", name, "--format", "svg").stdout == f"Written: {name}\n"


# ---- the checkout


def test_what_is_tried_out_in_the_root_is_neither_linted_nor_imported() -> None:
    ruff = tomllib.loads((command.ROOT / "pyproject.toml").read_text())["tool"]["ruff"]
    starts = [
        line
        for name in ("Makefile", ".ci/bootstrap.py")
        for line in (command.ROOT / name).read_text().splitlines()
        if "-m journeygraph.server.cli" in line
    ]

    assert [name for name in ruff["include"] if name.startswith("*")] == []
    assert len(starts) == 4
    assert all("-P -m journeygraph.server.cli" in line for line in starts)
