"""`journeygraph escalations`: who is called for, and an operator who answers."""

from __future__ import annotations

import asyncio
import base64
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from journeygraph import JourneyConfig, load_journey
from tests.support import bike_shop
from tests.support.bike_shop import workshop
from tests.support.command import flat, run

JOURNEY = ("--journey", f"{bike_shop.__file__}:Workshop")


@pytest.fixture
def store(tmp_path: Path) -> str:
    """A store with a session into which a person was called."""
    url = f"sqlite:///{tmp_path / 'bikes.db'}"

    async def call() -> None:
        async with workshop("s-1", url) as journey:
            await journey.start()
            for message in ("the city one", "your hours?", "a person, please"):
                await journey.process_message(message)

    asyncio.run(call())
    return url


def test_an_operator_answers_from_the_command_line(store: str) -> None:
    kept = ("--store", store)
    assert "s-1" in run("escalations", *kept).stdout
    case = flat(run("escalations", "s-1", *kept).stdout)
    assert "Position: opening hours < the repair." in case
    assert "bike city valid 1" in case
    assert "user a person, please" in case

    acts = ("--claim", "--say", "Hello, [bold red]Ann[/] here.", "--by", "ann")
    took = flat(run("escalations", "s-1", *acts, *kept).stdout)
    assert "claimed by ann" in took
    assert "Since then: operator Hello, [bold red]Ann[/] here." in took
    refused = run("escalations", "s-1", "--say", "Hi", "--by", "bob", *kept, code=1)
    assert "Another operator has this conversation" in refused.stderr
    talk = run("chat", JOURNEY[1], "--session", "s-1", *kept, typed="thank you\n")
    assert "the assistant is silent" in talk.stdout
    page = json.loads(run("escalations", "--status", "claimed", "--json", *kept).stdout)
    [listed] = page["escalations"]
    given = run("escalations", listed["id"], "--release", "--json", *JOURNEY, *kept)
    case = json.loads(given.stdout)

    assert case["entry"]["status"] == "released"
    assert case["since"][-1]["content"].endswith("How many gears?")
    assert "There are no escalations." in run("escalations", *kept).stdout


def test_what_cannot_be_done_is_said(store: str) -> None:
    kept = ("--store", store)
    for words, code, said in (
        (("s-2",), 1, "no session of this id has one"),
        (("--claim",), 2, "Give the id of the escalation"),
        (("--status", "lost"), 2, "--status must be one of"),
        (("s-1", "--say", "  "), 1, "must not be empty"),
        (("s-1", "--deliver"), 2, "without an id"),
        (("--claim", "--deliver"), 2, "without an id"),
    ):
        assert said in flat(run("escalations", *words, *kept, code=code).stderr), words


@pytest.mark.parametrize("sensitive", [False, True])
def test_an_operator_takes_a_conversation_of_a_journey_that_is_not_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sensitive: bool
) -> None:
    """The journey's id is that of a module which must never be imported."""
    key = bytes(range(32))
    monkeypatch.setenv("JOURNEYGRAPH_ENCRYPTION_KEY", base64.b64encode(key).decode())
    monkeypatch.chdir(tmp_path)
    (tmp_path / "trap.py").write_text("raise SystemExit('imported')")
    definition = {
        "id": "trap",
        "name": "Trap",
        "sensitive": sensitive,
        "escalation": {"failures": 1},
        "states": {
            "ask": {
                "kind": "collect",
                "fields": [
                    {"name": "age", "type": "integer", "ask": "How old are you?"},
                    {"name": "town", "type": "text", "ask": "Where do you live?"},
                ],
            }
        },
    }
    file = tmp_path / "elsewhere.json"
    file.write_text(json.dumps(definition))
    url = f"sqlite:///{tmp_path / 'kept.db'}"

    async def held() -> tuple[dict[str, Any], list[str]]:
        config = JourneyConfig(persistence=url, encryption_key=key)
        async with load_journey(file)("s-1", config) as journey:
            if await journey.get_session_state() is None:
                await journey.start({"kept": "value"})
                for message in ("33", "a person, please"):
                    await journey.process_message(message)
            said = [entry.content for entry in await journey.transcript()]
            fields = (await journey.fields()).fields
            return {**await journey.snapshot(), "fields": fields}, said

    before, _ = asyncio.run(held())
    taken = run("escalations", "s-1", "--claim", "--say", "Hello.", "--by", "ann", "--store", url)
    after, said = asyncio.run(held())

    assert "claimed by ann" in flat(taken.stdout)
    assert after == before
    assert said[-1] == "Hello."
    assert "trap" not in sys.modules

    released = run("escalations", "s-1", "--release", "--json", "--store", url)

    async def goes_on() -> str:
        config = JourneyConfig(persistence=url, encryption_key=key)
        async with load_journey(file)("s-1", config) as journey:
            return (await journey.process_message("hello")).message

    assert json.loads(released.stdout)["entry"]["status"] == "released"
    assert "Where do you live?" in asyncio.run(goes_on())
    assert asyncio.run(held())[0] == before
    assert "trap" not in sys.modules
