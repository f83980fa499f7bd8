"""Errors of agents, tools and effects, as the developer of a journey sees them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx2
import pytest
from typer.testing import CliRunner

from journeygraph.server.cli.command_line import app
from tests.support import command
from tests.support.command import run, served

folder = command.folder
logging_as_before = command.logging_as_before

DESK = '''
from journeygraph import *


def book(guests: int) -> dict:
    """Book a table."""
    raise RuntimeError("the line to the kitchen is dead")


def refuse(day: str) -> dict:
    """Book a day."""
    raise ValueError("No table is free.")


def stock(message: str) -> dict:
    """Look into the cellar."""
    return {"left": {}[message]}


def porter(ask):
    return open_at(ask["message"])


def open_at(day):
    return {"mon": 18}[day]


class Desk(Journey):
    """Book a table."""

    class HallPath(Pathway):
        __agents__ = ["host"]
        __complete_when__ = NEVER

    class TablePath(Pathway):
        __fields__ = [Field("guests", "integer", "For how many?")]
        __effects__ = [Effect(book)]
        __return_behavior__ = ReturnToPrevious()

    class DayPath(Pathway):
        __fields__ = [Field("day", "text", "Which day?", verbatim=True)]
        __effects__ = [Effect(refuse)]
        __return_behavior__ = ReturnToPrevious()

    class HoursPath(Pathway):
        __agents__ = ["porter"]
        __return_behavior__ = ReturnToPrevious()

    class CellarPath(Pathway):
        __calls__ = ["stock"]
        __agents__ = ["host"]
        __return_behavior__ = ReturnToPrevious()

    __transitions__ = [
        Transition(IntentTrigger(["a table"]), to_pathway="table"),
        Transition(IntentTrigger(["a day"]), to_pathway="day"),
        Transition(IntentTrigger(["when do you open"]), to_pathway="hours"),
        Transition(IntentTrigger(["is there wine"]), to_pathway="cellar"),
    ]


AGENTS = {"porter": porter, "host": lambda ask: "Good evening."}
TOOLS = {"stock": stock}
'''


@pytest.fixture
def desk(folder: Path) -> Path:
    (folder / "desk.py").write_text(DESK)
    return folder


@pytest.mark.parametrize(
    ("messages", "grey", "place", "error"),
    [
        (
            "when do you open",
            "hall · failed, nothing changed: Pathway 'hours', agent 'porter': KeyError: 'when do",
            "in open_at",
            "KeyError: 'when do you open'",
        ),
        (
            "a table\n4",
            "· effect book failed: RuntimeError: the line to the kitchen is dead",
            "in book",
            "RuntimeError: the line to the kitchen is dead",
        ),
        (
            "a day\nfriday",
            "· effect refuse failed: ValueError: No table is free.",
            "in refuse",
            "ValueError: No table is free.",
        ),
        (
            "is there wine",
            "tool stock failed: KeyError: 'is there wine'",
            "in stock",
            "KeyError: 'is there wine'",
        ),
    ],
)
def test_chat_shows_why_a_part_failed_and_where(
    desk: Path, messages: str, grey: str, place: str, error: str
) -> None:
    shown = run("chat", "desk.py", "--store", "memory://", typed=f"{messages}\n").stdout

    assert grey in shown
    lines = [line.strip() for line in shown[shown.index("    Traceback") :].splitlines()]
    assert "desk.py" in lines[1]  # what leads to the author's code is not shown
    assert any(line.startswith("File") and line.endswith(place) for line in lines)
    assert error in lines


def test_a_condition_that_raises_is_shown_in_each_turn(desk: Path) -> None:
    condition = 'Transition(ConditionTrigger(lambda context: context["hour"] > 21), to_pathway='
    (desk / "late.py").write_text(
        DESK.replace(
            "__transitions__ = [",
            f"""__transitions__ = [
        {condition}"hours"),""",
        )
    )

    shown = run("chat", "late.py", "--store", "memory://", typed="hello\nhello again\n").stdout

    assert shown.count("a condition raised an error and counts as false") == 2
    assert shown.count("    KeyError: 'hour'") == 2


def test_debug_shows_the_traceback_and_no_log_of_libraries(desk: Path) -> None:
    words = ["--debug", "chat", "desk.py", "--store", "memory://"]

    result = CliRunner().invoke(app, words, input="when do you open\n")

    assert "desk.py" in result.stderr
    assert result.stderr.count("KeyError: 'when do you open'") == 1
    assert "Traceback" not in result.stdout
    log = [line for line in result.stderr.splitlines() if line.startswith(("DEBUG", "INFO"))]
    assert log
    assert all(":journeygraph:" in line for line in log)


def audited(place: str) -> list[dict[str, Any]]:
    """Return the turns of a conversation in which parts fail."""
    with httpx2.Client(base_url=f"{place}/v1", timeout=100) as client:
        client.post("/sessions", json={"session_id": "ann"}).raise_for_status()
        for message in ("when do you open", "a table", "4"):
            said = client.post("/sessions/ann/messages", json={"message": message})
            assert "kitchen is dead" not in said.text
        turns: list[dict[str, Any]] = client.get("/sessions/ann/audit").json()["turns"]
        return turns


def test_with_reload_the_terminal_and_the_reasons_of_a_turn_have_the_traceback(desk: Path) -> None:
    with served(desk, "desk.py", "--reload", "--store", "memory://") as (process, place, _):
        _, agent, _, effect = audited(place)
        process.terminate()
        shown = process.communicate()[0].decode()

    assert 'desk.py", line' in agent["errors"][0]
    assert agent["errors"][0].endswith("KeyError: 'when do you open'")
    assert effect["errors"][0].endswith("RuntimeError: the line to the kitchen is dead")
    assert agent["errors"][0] in shown
    assert "book: Traceback" in shown


def test_in_production_kind_and_place_alone_are_told(desk: Path) -> None:
    with served(desk, "desk.py", "--store", "memory://") as (process, place, _):
        turns = audited(place)
        process.terminate()
        shown = b"".join(process.communicate()).decode()

    assert [turn["errors"] for turn in turns] == [[], [], [], []]
    (event,) = [event for event in turns[3]["events"] if event["kind"] == "effect_failed"]
    assert (event["trigger"], event["reason"]) == ("book", "")
    assert '"event":"agent_failed"' in shown
    assert '"error":"KeyError"' in shown
    assert "kitchen is dead" not in shown
    assert "when do you open" not in shown
