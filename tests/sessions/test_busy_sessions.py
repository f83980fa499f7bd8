"""A session whose turn runs: requests wait, are refused, interrupt it, or join each other."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from langgraph.types import interrupt

from journeygraph import (
    ConfigurationError,
    JourneyResponse,
    SessionBusyError,
    TooManyWaitingError,
    TurnInterruptedError,
)
from journeygraph.graphs.storage import leases
from tests.sessions.test_session_faults import Gate
from tests.support.ferry import World, ferry, led_up
from tests.support.post_office import AGENTS, Parcel, opened
from tests.support.solo import Courier, Solo

Talk = Callable[..., Any]


async def busy(talk: Talk, url: str, **config: Any) -> tuple[Any, Gate, asyncio.Task[Any]]:
    """Return a journey whose first turn runs, the gate that holds it, and the turn."""
    gate = Gate()
    call = await talk(Solo, {"clerk": gate}, url, **config)
    first = asyncio.ensure_future(call.journey.process_message("m0"))
    await gate.reached.wait()
    return call.journey, gate, first


async def said_in(journey: Any) -> list[str]:
    """Return the messages of the session's turns."""
    return [one.message for one in await journey.versions() if one.message is not None]


async def test_eight_requests_wait_and_the_next_one_is_refused(talk: Talk, store_url: str) -> None:
    journey, gate, first = await busy(talk, store_url)
    waiting = [asyncio.ensure_future(journey.process_message(f"m{n}")) for n in range(1, 9)]
    await asyncio.sleep(0)

    with pytest.raises(TooManyWaitingError, match="8 requests wait") as refused:
        await journey.process_message("m9")
    with pytest.raises(TooManyWaitingError):
        await journey.rollback(0)
    gate.open.set()

    assert refused.value.retryable
    replies = await asyncio.gather(first, *waiting)
    assert [reply.metadata["version"] for reply in replies] == list(range(1, 10))
    assert await said_in(journey) == [f"m{n}" for n in range(9)]
    assert (await journey.process_message("m9")).metadata["version"] == 10


async def test_a_request_that_gives_up_waiting_makes_room(talk: Talk, memory_url: str) -> None:
    journey, gate, _ = await busy(talk, memory_url)
    waiting = [asyncio.ensure_future(journey.process_message(f"m{n}")) for n in range(1, 9)]
    await asyncio.sleep(0)
    waiting[3].cancel()
    await asyncio.wait([waiting[3]])

    last = asyncio.ensure_future(journey.process_message("m9"))
    gate.open.set()

    assert (await last).metadata["version"] == 9
    assert await said_in(journey) == ["m0", "m1", "m2", "m3", "m5", "m6", "m7", "m8", "m9"]


@pytest.mark.parametrize("by", ["request", "config"])
async def test_a_request_that_must_not_wait_is_refused(talk: Talk, store_url: str, by: str) -> None:
    config = {"when_busy": "reject"} if by == "config" else {}
    given: Any = {"when_busy": "reject"} if by == "request" else {}
    journey, gate, first = await busy(talk, store_url, **config)

    others = [journey.process_message(f"m{n}", **given) for n in range(1, 10)]
    refused = await asyncio.gather(*others, return_exceptions=True)
    gate.open.set()

    assert {type(error) for error in refused} == {SessionBusyError}
    assert (await first).metadata["version"] == 1
    assert await said_in(journey) == ["m0"]
    assert (await journey.process_message("m1", **given)).metadata["version"] == 2


async def test_a_stream_that_must_not_wait_ends_in_the_error(talk: Talk, memory_url: str) -> None:
    journey, gate, first = await busy(talk, memory_url)
    stream = journey.stream_message("m1", when_busy="reject")

    event = await anext(stream)
    with pytest.raises(SessionBusyError):
        await anext(stream)
    gate.open.set()
    await first

    assert (event.type, event.data["type"]) == ("error", "SessionBusyError")


async def test_a_newer_message_interrupts_the_running_turn(talk: Talk, store_url: str) -> None:
    journey, gate, first = await busy(talk, store_url)

    second = asyncio.ensure_future(journey.process_message("m1", when_busy="interrupt"))
    with pytest.raises(TurnInterruptedError, match="newer message"):
        await first
    gate.open.set()

    assert (await second).metadata["version"] == 1
    assert await said_in(journey) == ["m1"]


async def test_of_ten_messages_that_interrupt_the_running_one_alone_is_given_up(
    talk: Talk, memory_url: str
) -> None:
    journey, gate, first = await busy(talk, memory_url)
    newer = [journey.process_message(f"m{n}", when_busy="interrupt") for n in range(1, 9)]
    answering = [asyncio.ensure_future(one) for one in newer]
    with pytest.raises(TurnInterruptedError):
        await first
    gate.open.set()

    assert [one.metadata["version"] for one in await asyncio.gather(*answering)] == [*range(1, 9)]
    assert await said_in(journey) == [f"m{n}" for n in range(1, 9)]


async def test_an_event_waits_and_is_not_interrupted(talk: Talk, store_url: str) -> None:
    gate = Gate()
    agents = {"cashier": gate}
    call = await talk(Courier, agents, store_url, when_busy="reject")
    journey = call.journey
    first = asyncio.ensure_future(journey.process_event("payment_received", {"amount": 9}))
    await gate.reached.wait()

    second = asyncio.ensure_future(journey.process_event("payment_received", {"amount": 10}))
    message = asyncio.ensure_future(journey.process_message("hello", when_busy="interrupt"))
    with pytest.raises(SessionBusyError):
        await journey.process_message("hello")
    gate.open.set()

    replies = [await one for one in (first, second, message)]
    assert [reply.metadata["version"] for reply in replies] == [1, 2, 3]
    kinds = [one.kind for one in await journey.versions()]
    assert kinds == ["start", "event", "event", "turn"]


async def test_a_turn_that_has_begun_an_effect_is_not_interrupted(
    tmp_path: Path, store_url: str
) -> None:
    begun, let = asyncio.Event(), asyncio.Event()

    async def held() -> None:
        begun.set()
        await let.wait()

    world = World(tmp_path, lambda moment: held() if moment == "before reserve" else None)
    await led_up(store_url, world)
    async with ferry(store_url, world) as journey:
        first = asyncio.ensure_future(journey.process_message("yes"))
        await begun.wait()
        second = asyncio.ensure_future(journey.process_message("wait", when_busy="interrupt"))
        await asyncio.sleep(0)
        let.set()

        assert "Safe trip" in (await first).message
        assert (await second).metadata["version"] == 5
    assert (world.reserved, world.payments) == (["Harwich 2"], 1)


@pytest.mark.parametrize("rule", ["reject", "interrupt"])
async def test_the_rule_holds_for_a_turn_of_another_process(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch, rule: Any
) -> None:
    monkeypatch.setattr(leases, "LEASE", 2.0)
    gate = Gate()
    # Stores with pools of different sizes share nothing in the process.
    held = opened(postgres_url, agents={**AGENTS, "address": gate}, database_pool_size=2)
    async with held as one, opened(postgres_url, database_pool_size=3) as other:
        await one.start()
        first = asyncio.ensure_future(one.process_message("m0"))
        await gate.reached.wait()
        if rule == "reject":
            with pytest.raises(SessionBusyError):
                await other.process_message("m1", when_busy=rule)
            gate.open.set()
            assert (await first).metadata["version"] == 1
            return

        assert (await other.process_message("m1", when_busy=rule)).metadata["version"] == 1
        with pytest.raises(TurnInterruptedError):
            await first
        assert await said_in(one) == ["m1"]


@pytest.mark.parametrize("rule", ["reject", "interrupt"])
async def test_a_request_sent_again_gives_up_no_newer_turn(
    talk: Talk, store_url: str, rule: Any
) -> None:
    gate = Gate()
    gate.open.set()
    journey = (await talk(Solo, {"clerk": gate}, store_url)).journey
    known = await journey.process_message("m0", idempotency_key="k-0")
    gate.open.clear()
    gate.reached.clear()
    newer = asyncio.ensure_future(journey.process_message("m1"))
    await gate.reached.wait()

    assert same(await journey.process_message("m0", idempotency_key="k-0", when_busy=rule), known)
    gate.open.set()

    assert (await newer).metadata["version"] == 2
    assert await said_in(journey) == ["m0", "m1"]


async def test_a_request_sent_again_does_not_interrupt_its_own_turn(
    talk: Talk, store_url: str
) -> None:
    gate = Gate()
    journey = (await talk(Solo, {"clerk": gate}, store_url)).journey
    send = partial(journey.process_message, "m0", idempotency_key="k-0", when_busy="interrupt")
    first = asyncio.ensure_future(send())
    await gate.reached.wait()
    again = asyncio.ensure_future(send())
    async with asyncio.timeout(110):
        while not (await journey.manager._session()).lock.waiting:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    gate.open.set()

    assert same(await again, await first)
    assert await said_in(journey) == ["m0"]


def same(again: JourneyResponse, first: JourneyResponse) -> bool:
    return again.replayed and replace(again, replayed=False) == first


async def test_an_unknown_rule_is_refused(talk: Talk, memory_url: str) -> None:
    def asks(payload: dict[str, Any]) -> str:
        return f"You chose {interrupt('Which one?')}."

    call = await talk(Solo, {"clerk": asks}, memory_url)
    wrong: Any = "rejct"
    with pytest.raises(ConfigurationError, match=r"'rejct'\. Did you mean 'reject'"):
        await call.journey.process_message("hello", when_busy=wrong)
    with pytest.raises(ConfigurationError, match="when_busy is 'rejct'"):
        await talk(Parcel, AGENTS, memory_url, when_busy=wrong)
    await call.journey.process_message("hello")
    with pytest.raises(ConfigurationError, match="One of: enqueue, reject, interrupt"):
        await call.journey.resume(1, when_busy=wrong)

    assert (await call.journey.resume(1, when_busy="reject")).message == "You chose 1."
