"""Functions fit what a journey calls: the start, `check` and `serve` judge alike."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal, TypedDict

import pytest
from pydantic import BeforeValidator

from journeygraph import (
    ConfigurationError,
    Effect,
    Field,
    FromContext,
    Journey,
    Pathway,
    Tool,
)
from journeygraph.graphs.agents.tools import tool_misfits
from tests.support.command import flat, run


class Ticket(TypedDict):
    number: str


def visits(effect: Effect) -> type[Journey]:
    class Visit(Journey):
        """Book a visit."""

        class BookPath(Pathway):
            __fields__ = [
                Field("day", "date"),
                Field("guests", "integer"),
                Field("price", "money"),
                Field("room", "enum", choices=["garden", "hall"]),
            ]
            __effects__ = [effect]

    return Visit


def renamed(day: str, guest: int) -> str:
    """Book."""
    return f"{day}{guest}"


def typed(guests: str) -> str:
    """Book."""
    return guests


def priced(price: float) -> str:
    """Book."""
    return str(price)


def dated(day: int) -> str:
    """Book."""
    return str(day)


def placed(room: Literal["garden", "cellar"]) -> str:
    """Book."""
    return room


def of_town(where: Annotated[str, FromContext("town")]) -> str:
    """Book."""
    return where


def ticket(day: str) -> Ticket:
    """Book."""
    return {"number": day}


def anything(day: str) -> Any:
    """Book."""
    return day


def read_by_itself(guests: Annotated[str, BeforeValidator(str)]) -> str:
    """Book."""
    return guests


def optional(guests: int | None = None, price: dict[str, Any] | None = None) -> str:
    """Book."""
    return f"{guests}{price}"


@pytest.mark.parametrize(
    ("function", "fault"),
    [
        (typed, "takes 'guests' as string, but 'guests' is of the type integer."),
        (priced, "takes 'price' as number, but 'price' is a mapping."),
        (dated, "takes 'day' as integer, but 'day' is text."),
        (placed, "does not take 'hall' as 'room', which is one of the choices of 'room'."),
    ],
)
async def test_a_parameter_of_another_type_is_refused_at_the_start(
    talk: Callable[..., Any], memory_url: str, function: Any, fault: str
) -> None:
    journey = visits(Effect("book"))
    options = {"tools": {"book": function}, "model": False}
    with pytest.raises(ConfigurationError, match="BookPath") as refused:
        await talk(journey, {}, memory_url, options=options)
    assert fault in str(refused.value)

    own = visits(Effect(function))
    with pytest.raises(ConfigurationError, match=function.__name__):
        await talk(own, {}, memory_url, options={"model": False})


def uncertain(effect: Effect, function: Any) -> list[str]:
    found = [*tool_misfits(visits(effect).spec, {effect.tool: function})]
    assert not [one for one in found if one.is_certain]
    return [one.fault for one in found]


@pytest.mark.parametrize(
    ("effect", "function", "words"),
    [
        (Effect("book"), renamed, ["needs 'guest', which nothing here sets", "mean 'guests'?"]),
        (Effect("book", {"guest": "guests"}), renamed, []),
        (Effect("book"), of_town, ["needs 'where' from 'town', which nothing here sets"]),
        (Effect("book", done="{number} on {day}"), ticket, []),
        (Effect("book", done="{zebra} on {day}"), ticket, ["done contains {zebra}"]),
        (Effect("book", done="{numbr} on {day}"), ticket, ["{numbr}", "Did you mean 'number'?"]),
        (Effect("book", done="{zebra} on {day}"), anything, []),
        (Effect("book"), read_by_itself, []),
        (Effect("book"), optional, []),
        (Effect("book"), Tool(optional), []),
    ],
)
def test_what_only_a_first_context_could_give_is_warned_of(
    effect: Effect, function: Any, words: list[str]
) -> None:
    found = uncertain(effect, function)

    assert bool(found) == bool(words)
    assert all(word in found[0] for word in words)


# --- The commands --------------------------------------------------------------------------------

DESK = '''
from journeygraph import *


class Desk(Journey):
    """Book visits."""

    class BookPath(Pathway):
        __fields__ = [
            Field("day", "date", ask="Which day, {name}?", retry_texts=["No day: {value}."]),
            Field("guests", "integer"),
        ]
        __effects__ = [Effect("book", save="visit", done="Booked: {vist}.")]


def book(day: str, %s) -> str:
    """Book."""
    return "V-1"


TOOLS = {"book": book}
AGENTS = {}
'''
FILE = """
id: desk
safe_reply: "No, {name}."
tools:
  - function:
      name: book
      parameters: {type: object, properties: {day: {type: string}, guests: {type: integer}}}
states:
  book:
    fields:
      - {name: day, type: date, ask: "Which day, {name}?"}
      - {name: guests, type: integer}
    effects:
      - {tool: book, save: visit, done: "Booked: {vist}."}
    next: bye
  bye: {agents: [clerk], complete_when: never}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    (tmp_path / "shop").mkdir()
    return tmp_path / "shop"


def lines(path: str, code: int = 0) -> list[str]:
    return [line.strip() for line in run("check", path, code=code).stdout.splitlines()]


def begins(found: list[str], *beginnings: str) -> bool:
    return all(any(line.startswith(one) for line in found) for one in beginnings)


def test_warnings_of_a_class_have_folder_and_line(folder: Path) -> None:
    (folder / "desk.py").write_text(DESK % "guest: int")

    found = lines("shop")

    place = "! shop/desk.py"
    unfilled = "contains {%s}, and this text is sent as it is written: no value is filled in."
    assert begins(
        found,
        f"{place}:9: Desk.BookPath: __fields__[0].ask {unfilled % 'name'}",
        f"{place}:9: Desk.BookPath: __fields__[0].retry_texts[0] {unfilled % 'value'}",
        f"{place}:13: Desk.BookPath: __effects__[0]: done contains {{vist}}, which nothing here",
        f"{place}:13: Desk.BookPath: __effects__[0]: the tool 'book' needs 'guest', which nothing",
    )
    assert sum("Did you mean 'visit'?" in line for line in found) == 1
    assert sum("Did you mean 'guests'?" in line for line in found) == 1
    assert found[-1] == "1 valid journey, 0 faults, 4 warnings."


def test_warnings_of_a_file_have_folder_and_line_and_missing_agents_too(folder: Path) -> None:
    (folder / "desk.yaml").write_text(FILE)
    code = "def book(day: str = '', guests: int = 1) -> str:\n    'Book.'\n"
    (folder / "desk.py").write_text(f"{code}TOOLS, AGENTS = {{'book': book}}, {{}}\n")

    assert begins(
        lines("shop"),
        "! shop/desk.yaml:3:13 journey 'desk': safe_reply contains {name}, and this text is",
        "! shop/desk.yaml:11:38 state 'book': fields[0].ask contains {name}, and this text is",
        "! shop/desk.yaml:14:41 state 'book': effects[0]: done contains {vist}, which nothing",
        "! shop/desk.yaml:16:17 state 'bye': Desk has no agent for: 'clerk' (in bye).",
    )


@pytest.mark.parametrize("name", ["desk.py", "desk.yaml"])
def test_check_and_serve_refuse_the_same_functions(folder: Path, name: str) -> None:
    if name == "desk.yaml":
        (folder / name).write_text(FILE.replace("agents: [clerk]", "say: Bye."))
    (folder / "desk.py").write_text(DESK % "guests: str" if name == "desk.py" else TYPED)
    said = "takes 'guests' as string, but"

    refused = next(line for line in lines(f"shop/{name}", code=1) if line.startswith("✗"))
    assert refused.startswith(f"✗ shop/{name}:{'13: Desk' if name == 'desk.py' else '5:5 journey'}")
    assert said in refused
    assert said in flat(run("serve", f"shop/{name}", code=1).stderr)


TYPED = "def book(day: str = '', guests: str = '') -> str:\n    'Book.'\n"
TYPED += "TOOLS, AGENTS = {'book': book}, {}\n"


def test_check_and_serve_refuse_a_tool_that_no_agent_has(folder: Path) -> None:
    (folder / "desk.py").write_text(
        "from journeygraph import *\n\n\nclass Ask(Signature):\n"
        "    message: str = InputField(description='x')\n"
        "    response: str = OutputField(description='x')\n\n\n"
        "class Desk(Journey):\n    class TalkPath(Pathway):\n        __signature__ = Ask\n"
        "        __agents__ = ['clerk']\n        __tools__ = ['loook']\n\n\n"
        "def look() -> str:\n    'Look.'\n\n\n"
        "AGENTS = {'clerk': ModelAgent(model='openai:x', tools=[look])}\n"
    )
    said = "Desk.TalkPath: __tools__ has 'loook', which no agent of the pathway has. Did you mean"

    assert f"✗ shop/desk.py:13: {said}" in run("check", "shop", code=1).stdout
    assert said in flat(run("serve", "shop/desk.py", code=1).stderr)


@pytest.mark.parametrize(
    ("body", "hint"),
    [
        ("__fields__ = [Field('day', 'choice')]", "Did you mean 'enum'?"),
        ("__fields__ = [Field('day', int)]", "Did you mean 'integer'?"),
        (
            "__agents__ = ['clerk']\n        __next__ = 'FrontDeskPath'",
            "Did you mean 'front_desk'?",
        ),
        (
            "__fields__ = ['day']\n        __runs_on_arrival__ = True\n        __next__ = 'ask'",
            "__next__ is 'ask', the pathway itself, so it runs in an endless loop. Name another "
            "pathway. To stay here, remove __next__ and write __complete_when__ = NEVER.",
        ),
    ],
)
def test_near_words_of_other_libraries_are_understood(folder: Path, body: str, hint: str) -> None:
    body = body.replace("['day']", "[Field('day')]")
    (folder / "desk.py").write_text(
        "from journeygraph import *\n\n\nclass Desk(Journey):\n"
        f"    class AskPath(Pathway):\n        {body}\n\n"
        "    class FrontDeskPath(Pathway):\n        __agents__ = ['clerk']\n"
    )

    assert hint in flat(run("check", "shop", code=1).stdout)


def test_a_state_that_follows_itself_is_told_so_in_the_words_of_files(folder: Path) -> None:
    (folder / "desk.yaml").write_text(
        "id: desk\nstates:\n  ask: {fields: [{name: a}], next: ask}\n"
    )

    said = "state 'ask': next is 'ask', the state itself, so it runs in an endless loop."
    report = flat(run("check", "shop", code=1).stdout)
    assert said in report
    assert "remove next and write complete_when: never." in report


def test_calls_and_checks_of_a_file_are_named_by_its_keys(folder: Path) -> None:
    (folder / "desk.yaml").write_text(
        "id: desk\ntools:\n"
        "  - {function: {name: free, parameters: {type: object, properties: {dya: {type: string}},"
        " required: [dya]}}}\n"
        "states:\n  ask:\n    fields:\n      - {name: day, validators: [{check: free}]}\n"
        "    calls: [free]\n    complete_when: never\n"
    )
    (folder / "desk.py").write_text(
        "def free(dya: str) -> bool:\n    'Judge.'\n\n\nTOOLS, AGENTS = {'free': free}, {}\n"
    )
    said = "the tool 'free' needs 'dya', which nothing here sets; only start() could set it. Did"

    assert begins(
        lines("shop"),
        f"! shop/desk.yaml:7:9 state 'ask': fields[0]: {said} you mean 'day'?",
        f"! shop/desk.yaml:8:13 state 'ask': calls[0]: {said} you mean 'day'?",
    )
