"""`journeygraph escalations`: who is called for, and an operator who answers."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from tests import bike_shop
from tests.bike_shop import workshop
from tests.command import flat, run

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
    assert "It stands in opening hours < the repair." in case
    assert "bike city valid 1" in case
    assert "user a person, please" in case

    acts = ("--claim", "--say", "Hello, [bold red]Ann[/] here.", "--by", "ann")
    took = flat(run("escalations", "s-1", *acts, *JOURNEY, *kept).stdout)
    assert "claimed by ann" in took
    assert "Since then: operator Hello, [bold red]Ann[/] here." in took
    refused = run("escalations", "s-1", "--say", "Hi", "--by", "bob", *JOURNEY, *kept, code=1)
    assert "Somebody else has this conversation" in refused.stderr
    talk = run("chat", JOURNEY[1], "--session", "s-1", *kept, typed="thank you\n")
    assert "the assistant is silent" in talk.stdout
    [listed] = json.loads(run("escalations", "--status", "claimed", "--json", *kept).stdout)
    given = run("escalations", listed["id"], "--release", "--json", *JOURNEY, *kept)
    case = json.loads(given.stdout)

    assert case["entry"]["status"] == "released"
    assert case["since"][-1]["content"].endswith("How many gears?")
    assert "Nobody is called for." in run("escalations", *kept).stdout


def test_what_cannot_be_done_is_said(store: str) -> None:
    kept = ("--store", store)
    for words, code, said in (
        (("s-2",), 1, "there is no such escalation"),
        (("--claim",), 2, "Name the escalation"),
        (("--status", "lost"), 2, "--status is one of"),
        (("s-1", "--claim"), 2, "There is no journey 'workshop'"),
        (("s-1", "--say", "  ", *JOURNEY), 1, "may not be empty"),
    ):
        assert said in flat(run("escalations", *words, *kept, code=code).stderr), words
