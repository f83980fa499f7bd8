"""Requests that are sent again with their idempotency key: done once, answered the same."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from langgraph.types import interrupt

from journeygraph import (
    ConfigurationError,
    IdempotencyKeyError,
    JourneyResponse,
    PathwayExecutionError,
    SessionExistsError,
    StateError,
    VersionNotFoundError,
)
from journeygraph.graphs.records import idempotency
from journeygraph.graphs.records.idempotency import HistoryKey
from tests.storage.test_encryption import canary, clinic, everything, spellings
from tests.support.bike_shop import workshop
from tests.support.clocks import Clock
from tests.support.ferry import SAID, World, ferry
from tests.support.post_office import AGENTS, Parcel, database, found, opened
from tests.support.solo import Solo

Talk = Callable[..., Any]


def same(again: JourneyResponse, first: JourneyResponse) -> bool:
    """Return whether one response is the stored form of another."""
    return again.replayed and not first.replayed and replace(again, replayed=False) == first


async def test_a_message_that_is_sent_again_is_one_turn(talk: Talk, store_url: str) -> None:
    call = await talk(Parcel, AGENTS, store_url, context={"customer": "C-1"})
    process = call.journey.process_message

    first = await process("street=Main", idempotency_key="k-1")
    later = await process("how much is it?", idempotency_key="k-2")
    again = await process("street=Main", idempotency_key="k-1")

    assert same(again, first)
    assert same(await process("how much is it?", idempotency_key="k-2"), later)
    async with opened(store_url, "s-1") as elsewhere:
        assert same(await elsewhere.process_message("street=Main", idempotency_key="k-1"), first)
    assert [one.version for one in await call.journey.versions()] == [0, 1, 2]
    assert (await process("street=Main")).metadata["version"] == 3


async def test_a_conversation_that_is_sent_again_repeats_only_the_last_turn(
    talk: Talk, store_url: str
) -> None:
    call = await talk(Parcel, AGENTS, store_url, context={"customer": "C-1"})
    process: Any = call.journey.process_message
    alone, later = HistoryKey("hello", is_first=True), HistoryKey("hello, street=Main")

    first = await process("hello", idempotency_key=alone)
    assert same(await process("hello", idempotency_key=alone), first)
    second = await process("street=Main", idempotency_key=later)
    async with opened(store_url, "s-1") as elsewhere:
        process_elsewhere: Any = elsewhere.process_message
        assert same(await process_elsewhere("street=Main", idempotency_key=later), second)
    with pytest.raises(IdempotencyKeyError):
        await process("street=Elm", idempotency_key=later)

    for key, message in ((alone, "hello"), (alone, "hello"), (later, "street=Main")):
        assert not (await process(message, idempotency_key=key)).replayed
    assert (await process("street=Main", idempotency_key=later)).replayed
    assert [one.version for one in await call.journey.versions()] == [0, 1, 2, 3, 4, 5]


async def test_a_key_belongs_to_one_request(talk: Talk, store_url: str) -> None:
    call = await talk(Parcel, AGENTS, store_url)
    await call.journey.process_message("street=Main", idempotency_key="k-1")

    with pytest.raises(IdempotencyKeyError, match="another request of this session"):
        await call.journey.process_message("street=Elm", idempotency_key="k-1")
    with pytest.raises(IdempotencyKeyError):
        await call.journey.rollback(0, idempotency_key="k-1")

    assert (await call.journey.snapshot())["street"] == "Main"
    other = await talk(Parcel, AGENTS, store_url, session_id="s-2")
    assert not (await other.journey.process_message("x", idempotency_key="k-1")).replayed


@pytest.mark.parametrize("key", ["", " ", "x" * 201, "zwölf", "a\nb", 7])
async def test_a_key_that_cannot_be_one_is_refused(solo: Any, key: Any) -> None:
    call = await solo(lambda payload: "yes")

    with pytest.raises(ConfigurationError, match="1 to 200 visible ASCII"):
        await call.journey.process_message("hello", idempotency_key=key)

    assert len(await call.journey.versions()) == 1


async def test_while_the_first_still_runs_the_second_waits_for_it(solo: Any) -> None:
    begun, let, calls = asyncio.Event(), asyncio.Event(), []

    async def works(payload: dict[str, Any]) -> str:
        calls.append(payload["message"])
        begun.set()
        await let.wait()
        return "done"

    call = await solo(works)
    first = asyncio.ensure_future(call.journey.process_message("go", idempotency_key="k"))
    await begun.wait()
    again = asyncio.ensure_future(call.journey.process_message("go", idempotency_key="k"))
    let.set()

    assert same(await again, await first)
    assert calls == ["go"]


async def test_two_processes_that_get_the_same_request_take_one_turn(postgres_url: str) -> None:
    # Stores with pools of different sizes share nothing in the process: the lease keeps order.
    handles = [opened(postgres_url, "s-1", database_pool_size=size) for size in (2, 3, 4)]
    await asyncio.gather(
        *(one.start({"customer": "C-1"}, idempotency_key="k-0") for one in handles)
    )

    sent = [one.process_message("street=Main", idempotency_key="k") for one in handles]
    replies = await asyncio.gather(*sent)

    assert sorted(reply.replayed for reply in replies) == [False, True, True]
    assert {reply.metadata["version"] for reply in replies} == {1}
    assert len(await handles[0].versions()) == 2
    for one in handles:
        await one.close()


async def test_a_turn_that_left_nothing_is_taken_again(solo: Any) -> None:
    fails = [True]

    def works(payload: dict[str, Any]) -> str:
        if fails:
            raise RuntimeError("no")
        return "yes"

    call = await solo(works, error_recovery="fail_fast")
    with pytest.raises(PathwayExecutionError):
        await call.journey.process_message("hello", idempotency_key="k")
    fails.clear()

    reply = await call.journey.process_message("hello", idempotency_key="k")

    assert (reply.message, reply.replayed) == ("yes", False)


async def test_an_apology_is_the_answer_of_its_key(solo: Any) -> None:
    def works(payload: dict[str, Any]) -> str:
        raise RuntimeError("no")

    call = await solo(works)

    first = await call.journey.process_message("hello", idempotency_key="k")

    assert first.metadata["error"]["type"] == "PathwayExecutionError"
    assert same(await call.journey.process_message("hello", idempotency_key="k"), first)


async def test_an_effect_is_taken_once_however_often_yes_is_sent(
    tmp_path: Path, store_url: str
) -> None:
    world = World(tmp_path)
    async with ferry(store_url, world) as journey:
        await journey.start()
        for message in SAID:
            await journey.process_message(message)
        sent = [journey.process_message("yes", idempotency_key="k") for _ in range(4)]
        replies = await asyncio.gather(*sent)

    assert [reply.replayed for reply in replies] == [False, True, True, True]
    assert {reply.message for reply in replies} == {replies[0].message}
    assert len(replies[0].accumulated_context["charge"]) > 0


async def test_a_field_takes_a_message_once(memory_url: str) -> None:
    async with workshop("s-1", memory_url) as journey:
        await journey.start()
        first = await journey.process_message("hello", idempotency_key="k-1")
        again = await journey.process_message("hello", idempotency_key="k-1")
        attempts = await journey.attempts()

    assert same(again, first)
    assert len(attempts) <= 1


async def test_the_answer_to_an_agent_is_given_once(talk: Talk, store_url: str) -> None:
    def asks(payload: dict[str, Any]) -> str:
        return f"You said {interrupt('Which one?')}."

    call = await talk(Solo, {"clerk": asks}, store_url)
    waits = await call.journey.process_message("hello", idempotency_key="k-1")
    assert same(await call.journey.process_message("hello", idempotency_key="k-1"), waits)

    first = await call.journey.resume({"size": 4}, idempotency_key="k-2")
    again = await call.journey.resume({"size": 4}, idempotency_key="k-2")

    assert first.message == "You said {'size': 4}."
    assert same(again, first)
    with pytest.raises(IdempotencyKeyError):
        await call.journey.resume({"size": 5}, idempotency_key="k-2")


async def test_start_rollback_and_fork_are_done_once(store_url: str) -> None:
    async with opened(store_url, "s-1") as journey:
        begun = await journey.start({"customer": "C-1"}, idempotency_key="k-0")
        await journey.process_message("street=Main")
        back = await journey.rollback(0, idempotency_key="k-1")
        fork = await journey.fork(1, idempotency_key="k-2")
        await journey.process_message("street=Elm")

        again = [
            await journey.start({"customer": "C-1"}, idempotency_key="k-0"),
            await journey.rollback(0, idempotency_key="k-1"),
            await journey.fork(1, idempotency_key="k-2"),
        ]
        assert [replace(one, replayed=False) for one in again] == [begun, back, fork]
        assert all(one.replayed for one in again)
        assert [one.kind for one in await journey.versions()] == [
            "start",
            "turn",
            "rollback",
            "turn",
        ]
        assert sorted(await journey.list()) == sorted(["s-1", fork.session_id])
        with pytest.raises(IdempotencyKeyError):
            await journey.start({"customer": "C-2"}, idempotency_key="k-0")
        with pytest.raises(SessionExistsError):
            await journey.start({"customer": "C-1"}, idempotency_key="k-9")


async def test_an_answer_is_kept_for_a_day(
    talk: Talk, store_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock()
    monkeypatch.setattr(idempotency, "now", clock)
    call = await talk(Parcel, AGENTS, store_url)
    process = call.journey.process_message
    await process("street=Main", idempotency_key="k")
    clock.passes(24 * 3600 - 60)
    assert (await process("street=Main", idempotency_key="k")).replayed

    clock.passes(120)

    assert not (await process("street=Main", idempotency_key="k")).replayed
    assert (await process("street=Main", idempotency_key="k")).replayed


async def test_an_answer_is_there_when_the_state_of_its_version_is_pruned(
    talk: Talk, memory_url: str
) -> None:
    call = await talk(Parcel, AGENTS, memory_url)
    first = await call.journey.process_message("street=Main", idempotency_key="k")
    for number in range(120):
        await call.journey.process_message(f"how much is {number}?")
    with pytest.raises(VersionNotFoundError):
        await call.journey.rollback(1)

    assert same(await call.journey.process_message("street=Main", idempotency_key="k"), first)


async def test_answers_of_a_sensitive_journey_are_sealed_and_deleted_with_it(
    tmp_path: Path,
) -> None:
    url = f"sqlite:///{tmp_path / 'journeys.db'}"
    async with clinic(url) as journey:
        await journey.start({"name": canary("start")})
        message, key = canary("message"), "canary-key-0815"
        first = await journey.process_message(message, idempotency_key=key)
        assert same(await journey.process_message(message, idempotency_key=key), first)
        stored = everything(url)
        words = [*spellings(canary("message")), *spellings(key)]
        assert [word for word in words if word in stored] == []

        await journey.delete()

        assert found(url, "SELECT count(*) FROM answers")[0][0] == 0


async def test_an_answer_that_was_changed_in_the_store_is_refused(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'journeys.db'}"
    async with clinic(url) as journey:
        await journey.start()
        await journey.process_message("one", idempotency_key="k-1")
        await journey.process_message("two", idempotency_key="k-2")
        with database(url) as changed:
            swap = "SELECT answer FROM answers WHERE version = 1"
            changed.execute(f"UPDATE answers SET answer = ({swap}) WHERE version = 2")

        with pytest.raises(StateError):
            await journey.process_message("two", idempotency_key="k-2")
