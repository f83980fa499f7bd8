"""Warnings of `check`: mixed records, names that are never set, Python and file that differ."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from pathlib import Path
from typing import Annotated, Any, TypedDict

import pytest

from journeygraph import (
    Journey,
    JourneyConfig,
    MergeStrategy,
    OutputField,
    Pathway,
    Signature,
    load_journey,
)
from tests.support.command import flat, run

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    return tmp_path


def warnings(path: str) -> list[str]:
    """What is warned of, on one line each."""
    lines = run("check", path).stdout.splitlines()
    return [line.strip().removeprefix("! ") for line in lines if line.strip().startswith("!")]


def test_the_examples_are_clean(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    assert "0 faults, 0 warnings" in run("check", str(ROOT / "journeys" / "examples")).stdout


# --- Records -------------------------------------------------------------------------------------


class Doctor(TypedDict):
    name: str


def keeping(kind: Any, strategy: MergeStrategy | None) -> list[str]:
    body = {"__annotations__": {"response": str, "found": kind}}
    fields = {"response": OutputField(description="x"), "found": OutputField(description="x")}
    signature = type("Found", (Signature,), {**body, **fields})
    path = {"__signature__": signature, "__accumulate__": {"found": strategy}}
    made: Any = type("Look", (Journey,), {"LookPath": type("LookPath", (Pathway,), path)})
    return [warning for warning in made.spec.warnings if "without a merge strategy" in warning]


@pytest.mark.parametrize(
    ("kind", "ways"),
    [
        (dict, ("replace", "merge_dict", "append")),
        (dict[str, Any], ("replace", "merge_dict", "append")),
        (Doctor, ("replace", "merge_dict", "append")),
        (Doctor | None, ("replace", "merge_dict", "append")),
        (Annotated[dict[str, int], "x"], ("replace", "merge_dict", "append")),
        (list[str], ("replace", "union", "append")),
        (list[Doctor] | None, ("replace", "union", "append")),
        (tuple[str, ...], ("replace", "union", "append")),
    ],
)
def test_records_without_a_strategy_are_warned_of(kind: Any, ways: tuple[str, ...]):
    (warning,) = keeping(kind, None)

    assert all(f"'{way}'" in warning for way in ways)
    assert "Look.LookPath" in warning
    assert keeping(kind, MergeStrategy(ways[0])) == []


@pytest.mark.parametrize("kind", [str, int, bool, float | None, Any, str | list[str]])
def test_what_cannot_be_mixed_is_not_warned_of(kind: Any):
    assert keeping(kind, None) == []


def test_a_strategy_that_another_pathway_gives_is_enough():
    class Found(Signature):
        response: str = OutputField(description="x")
        found: dict[str, str] = OutputField(description="x")

    class Look(Journey):
        class OnePath(Pathway):
            __signature__ = Found
            __accumulate__ = ["found"]
            __next__ = "two"

        class TwoPath(Pathway):
            __signature__ = Found
            __accumulate__ = {"found": MergeStrategy.REPLACE}

    assert Look.spec.warnings == ()


# --- Files ---------------------------------------------------------------------------------------

FILE = """
id: claim
states:
  report:
    agents: [reporter]
    inputs: [customer, part]
    outputs:
      part: {type: string}
    complete_when: {when: "context.part != '' && context.agred"}
    next: check
  check:
    agents: [checker]
    calls:
      - {tool: find, arguments: {number: prat}, save: policy}
    outputs:
      agreed: {type: boolean}
    complete_when: never
  big:
    agents: [checker]
    complete_when: never
transitions:
  - {from: check, to: big, when: context.policy.worth > 5}
  - {from: check, to: big, when: context.vip}
  - {from: check, to: big, when: "context['fip'] == 'yes'"}
guidelines:
  - {id: kind, when: "context.mood == 'bad'", action: Be kind.}
tools:
  - function:
      name: find
      description: Find a policy.
      parameters:
        type: object
        properties: {number: {type: string}, area: {type: string}}
        required: [number]
"""
PYTHON = '''
def find(number: str, area: str = "") -> str:
    """Find a policy."""
    return number

TOOLS = {"find": find}
AGENTS = {"reporter": lambda ask: "x", "checker": lambda ask: "x"}
'''


def test_names_that_nobody_sets_are_warned_of_with_their_place(folder: Path):
    (folder / "claim.yaml").write_text(
        FILE.replace("inputs: [customer, part]", "inputs: [customer]")
    )
    (folder / "claim.py").write_text(PYTHON)

    found = warnings("claim.yaml")

    assert [w.partition("reads '")[2].partition("'")[0] for w in found] == [
        "vip",
        "fip",
        "agred",
        "mood",
        "prat",
        "customer",
    ]
    assert all("nothing here sets; only start() could set it" in w for w in found)
    assert "Did you mean 'agreed'?" in found[2]
    assert "Did you mean 'part'?" in found[4]
    assert found[0].startswith("claim.yaml:23:")


def test_what_a_session_begins_with_is_set(folder: Path):
    (folder / "claim.yaml").write_text(
        FILE.replace("inputs: [customer, part]", "inputs: [customer]")
    )
    names = ("vip", "fip", "agred", "mood", "prat", "customer")
    sample = f"SAMPLE_CONTEXT = {dict.fromkeys(names, 1)}\n"
    (folder / "claim.py").write_text(PYTHON + sample)

    assert warnings("claim.yaml") == []


SOUND = """
id: claim
states:
  report:
    agents: [reporter]
    complete_when: never
tools:
  - function:
      name: find
      description: Find a policy.
      parameters:
        type: object
        properties: {number: {type: string}, area: {type: string}}
        required: [number]
"""


def test_a_file_without_python_beside_it_names_what_is_missing(folder: Path):
    (folder / "claim.yaml").write_text(SOUND)

    first, second = warnings("claim.yaml")
    assert "no code for the agent 'reporter': there is no dict AGENTS in claim.py" in first
    assert "no code for the tool 'find': there is no dict TOOLS in claim.py" in second


def test_where_a_model_is_configured_it_is_the_agent(folder: Path, monkeypatch: pytest.MonkeyPatch):
    (folder / "claim.yaml").write_text(SOUND)
    monkeypatch.setenv("OPENAI_API_KEY", "x")

    (only,) = warnings("claim.yaml")
    assert "TOOLS" in only


def test_what_a_module_builds_is_not_guessed_at(folder: Path):
    (folder / "claim.yaml").write_text(SOUND)
    (folder / "claim.py").write_text("build_tools = dict\nbuild_agents = dict\n")

    assert warnings("claim.yaml") == []


@pytest.mark.parametrize(
    ("function", "words"),
    [
        ("def find(number: str, area: str = ''):", []),
        ("def find(number: str, area: str = '', more: int = 3):", []),
        ("def find(numbr: str, area: str = ''):", ["has no parameter 'number'", "needs 'numbr'"]),
        ("def find(number: str):", ["has no parameter 'area'"]),
        (
            "def find(number: str, area: str):",
            ["needs 'area', but the schema does not req"],
        ),
        (
            "def find(number: str, day: str, area: str = ''):",
            ["needs 'day', but the schema does not pass it"],
        ),
        ("async def find(number: str, area: str = ''):", []),
        ("def find(number: str, area: str = '', idempotency_key: str = ''):", []),
        ("def find(number: str, idempotency_key: str, area: str = ''):", []),
        ("def find(number: str, area: list[str] = ()):", ["takes 'area' as array, but the schema"]),
        (
            "def find(number: int, area: str = ''):",
            ["takes 'number' as integer, but the schema is"],
        ),
        ("def find(number: str | int, area: str | None = None):", []),
        ("def find(**given: str):", []),
        ("def find(number: str, area: str = '', who: Annotated[str, FromContext()] = ''):", []),
        ("def find(number: str, area: str = '', who: Annotated[str, FromContext('id')]=None):", []),
    ],
)
def test_a_function_has_to_fit_the_schema_of_its_file(
    folder: Path, function: str, words: list[str]
):
    (folder / "claim.yaml").write_text(SOUND)
    (folder / "claim.py").write_text(
        "from typing import Annotated\nfrom journeys import FromContext, Tool\n"
        f'{function}\n    """Find."""\n    return 1\n\n'
        'TOOLS = {"find": Tool(find)}\nAGENTS = {"reporter": lambda ask: "x"}\n'
    )

    code = int(any("does not req" not in part and "schema is" not in part for part in words))
    lines = [line.strip()[2:] for line in run("check", "claim.yaml", code=code).stdout.splitlines()]
    found = [line for line in lines if line.startswith("claim.yaml:8:5 ")]

    assert len(found) == len(words) == len(lines) - 2
    for warning, part in zip(found, words, strict=True):
        assert "the function of the tool 'find'" in warning
        assert part in warning


def test_an_agent_that_takes_something_else_is_a_fault(folder: Path):
    (folder / "claim.yaml").write_text(SOUND)
    (folder / "claim.py").write_text(
        'def find(number: str, area: str = ""):\n    """Find."""\n\n'
        'TOOLS = {"find": find}\nAGENTS = {"reporter": lambda: "x"}\n'
    )

    report = run("check", "claim.yaml", code=1).stdout
    assert "✗ claim.yaml:2:1: Agent 'reporter' is <function" in report
    assert "an agent is called with one dict" in report


def test_agents_that_a_model_could_be_are_warned_of_where_there_is_none(
    folder: Path, monkeypatch: pytest.MonkeyPatch
):
    (folder / "desk.yaml").write_text(
        "id: desk\nstates:\n  hall: {kind: chat, complete_when: never}\n"
    )
    (folder / "desk.py").write_text("AGENTS = {}\n")

    (warning,) = warnings("desk.yaml")
    where, _, said = warning.partition(" state 'hall': ")
    assert where == "desk.yaml:3:9"
    assert said.startswith("Desk has no agent for: 'hall' (in hall).")
    assert said in flat(run("serve", "desk.yaml", code=1).stderr)

    monkeypatch.setenv("OPENAI_API_KEY", "x")
    assert warnings("desk.yaml") == []


# --- Intents -------------------------------------------------------------------------------------

INTENTS = """
id: desk
states:
  hall: {kind: chat, complete_when: never}
  desk: {kind: chat, complete_when: never}
transitions:
  - {to: desk, condition: wants something done}
"""


def test_an_intent_that_only_a_model_can_tell_is_warned_of_where_there_is_none(
    folder: Path, monkeypatch: pytest.MonkeyPatch
):
    (folder / "desk.yaml").write_text(INTENTS)

    (warning,) = warnings("desk.yaml")
    assert (
        "only a model can recognise 'wants something done', and no model is configured" in warning
    )
    assert warning.startswith("desk.yaml:7:")

    monkeypatch.setenv("OPENAI_API_KEY", "x")
    assert warnings("desk.yaml") == []


def test_an_intent_that_patterns_tell_too_is_not(folder: Path):
    (folder / "desk.yaml").write_text(INTENTS + "  - {to: desk, patterns: [do it]}\n")

    assert warnings("desk.yaml") == []


# --- Sessions of a store that a version would move -----------------------------------------------

RENT = '''
from journeygraph import Field, Journey, Pathway


class Rent(Journey):
    """Pay the rent."""

    class {path}(Pathway):
        """Pay the rent."""

        __fields__ = [Field("flat", "{kind}", "Which flat?"), Field("sum", "money", "How much?")]
'''


async def talked(source: str, store: str, *messages: str) -> None:
    """Talk in a session of a journey that is written in a file."""
    names: dict[str, Any] = {"__name__": "rent"}
    exec(source, names)
    async with names["Rent"]("s-1", JourneyConfig(persistence=store)) as journey:
        await journey.start()
        for message in messages:
            await journey.process_message(message)


def test_sessions_that_a_version_would_move_are_listed(folder: Path):
    old, new = (folder / "old.py", folder / "rent.py")
    old.write_text(RENT.format(path="PaymentPath", kind="text"))
    new.write_text(RENT.format(path="MonthlyPath", kind="integer"))
    store = f"sqlite:///{folder / 'rent.db'}"
    asyncio.run(talked(old.read_text(), store, "hello", "4"))

    same = run("check", "old.py", "--against", store).stdout
    assert "✓ rent: 1 session in the store" in same
    assert "is gone" not in same

    moved = " ".join(run("check", "rent.py", "--against", store, code=1).stdout.split())
    assert "✗ rent: 1 session in the store" in moved
    assert (
        "'payment' does not exist any more: 1 session (s-1) would continue in 'monthly'." in moved
    )
    assert "'flat' has a new type: its value would be read again in 1 session (s-1)" in moved

    named = new.read_text().replace(
        'rent."""\n\n    class',
        'rent."""\n\n    __migrations__ = {"payment": "monthly"}\n\n    class',
        1,
    )
    new.write_text(named)
    kept = run("check", "rent.py", "--against", store).stdout
    assert "✓ rent: 1 session in the store" in kept
    assert "'flat' has a new type" in kept


def test_sessions_of_a_version_that_is_served_too_stay_in_it(folder: Path):
    (folder / "old.py").write_text(RENT.format(path="PaymentPath", kind="text"))
    new = RENT.format(path="MonthlyPath", kind="text")
    refusing = new.replace(
        'rent."""\n\n    class', 'rent."""\n\n    __stranded__ = "refuse"\n\n    class', 1
    )
    (folder / "rent.py").write_text(refusing)
    store = f"sqlite:///{folder / 'rent.db'}"
    asyncio.run(talked((folder / "old.py").read_text(), store, "hello", "4"))

    refused = flat(run("check", "rent.py", "--against", store, code=1).stdout)
    served = flat(run("check", "rent.py", "--against", store, "--versions", "old.py").stdout)

    assert "'payment' does not exist any more: 1 session (s-1) would be refused." in refused
    assert "1 session of them: in an older version that is served." in served
    run("check", "rent.py", "--versions", "old.py", code=2)


BARE = "id: {0}\nstates:\n  {1}: {{say: Hello., complete_when: never}}\n"


async def begun(folder: Path, store: str, journey: str) -> None:
    """Begin a session in a file of the folder."""
    config = JourneyConfig(persistence=store)
    async with load_journey(folder / f"{journey}.yaml")(journey, config, model=False) as session:
        await session.start()
        await session.process_message("hello")


def test_journeys_that_are_stored_in_the_database_are_compared_too(folder: Path):
    store = f"sqlite:///{folder / 'rent.db'}"
    for name in ("desk", "shop"):
        (folder / f"{name}.yaml").write_text(BARE.format(name, "talk"))
        run("load", f"{name}.yaml", "--store", store)
        asyncio.run(begun(folder, store, name))
        (folder / f"{name}.yaml").write_text(BARE.format(name, "speak"))
    run("load", "desk.yaml", "--store", store)
    stays = json.loads(run("check", "desk.yaml", "--against", store, "--json").stdout)
    run("load", "shop.yaml", "--replace", "--store", store)
    moves = json.loads(run("check", "desk.yaml", "--against", store, "--json", code=1).stdout)
    with sqlite3.connect(folder / "rent.db") as connection:
        connection.execute("UPDATE definitions SET body = '{}' WHERE id = 'desk' AND version = 1")
    connection.close()
    broken = flat(run("check", "desk.yaml", "--against", store, code=1).stdout)

    assert [(one["journey"], one["seen"], one["stays"]) for one in stays["stored_sessions"]] == [
        ("desk", 1, 1),
        ("shop", 1, 0),
    ]
    [moved] = [one for one in moves["stored_sessions"] if one["moves"]]
    assert moved["moves"] == [{"pathway": "talk", "goes_to": "speak", "sessions": ["shop"]}]
    assert moves["stored_faults"] == []
    assert "Version 1 of 'desk' in the store: Version 1 of 'desk' was removed" in broken
    assert "'talk' does not exist any more: 1 session (desk)" in broken


def test_a_store_that_is_not_there_is_not_made(folder: Path):
    (folder / "rent.py").write_text(RENT.format(path="PaymentPath", kind="text"))
    said = run("check", "rent.py", "--against", "sqlite:///nowhere.db", code=2).output
    assert "There is no store sqlite:///nowhere.db." in said
    assert not (folder / "nowhere.db").exists()
