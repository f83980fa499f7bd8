"""`journeygraph escalations`: conversations that need a person."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from tests.support.bike_shop import workshop
from tests.support.command import flat, run


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


def test_calls_for_a_person_are_listed_and_shown(store: str) -> None:
    kept = ("--store", store)
    assert "s-1" in run("escalations", *kept).stdout
    case = flat(run("escalations", "s-1", *kept).stdout)
    assert "Position: opening hours < the repair." in case
    assert "bike city valid 1" in case
    assert "user a person, please" in case

    page = json.loads(run("escalations", "--status", "open", "--json", *kept).stdout)
    [listed] = page["escalations"]
    shown = json.loads(run("escalations", listed["id"], "--json", *kept).stdout)

    assert shown["entry"]["session_id"] == "s-1"
    assert "There are no escalations." in run("escalations", "--status", "released", *kept).stdout


def test_what_cannot_be_done_is_said(store: str) -> None:
    kept = ("--store", store)
    for words, code, said in (
        (("s-2",), 1, "no session of this id has one"),
        (("--status", "lost"), 2, "--status must be one of"),
        (("s-1", "--deliver"), 2, "leave out the id"),
    ):
        assert said in flat(run("escalations", *words, *kept, code=code).stderr), words
