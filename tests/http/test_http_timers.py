"""Timers and expiry in a server: done in the background, by one of several processes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest

from journeygraph import (
    NEVER,
    Journey,
    JourneyConfig,
    Pathway,
    Reminder,
    Silence,
    StateError,
    TimeTrigger,
    Transition,
)
from journeygraph.graphs.records import timers
from journeygraph.graphs.records.timers import FIRST_PAUSE
from journeygraph.graphs.session import jobs
from journeygraph.graphs.session.directory import Directory
from journeygraph.graphs.storage import leases
from journeygraph.graphs.storage.statements import ALL_TURNS, TURNS
from journeygraph.server.telemetry import Metrics
from tests.http.test_http_streams import opened
from tests.http.test_http_turns import until
from tests.http.test_metrics import shown, total
from tests.sessions.test_session_faults import Gate
from tests.sessions.test_unfinished_turns import died
from tests.support import api as helpers
from tests.support import watching
from tests.support.api import Api, one
from tests.support.clocks import Clock
from tests.support.solo import Solo
from tests.support.watching import Watch

serve, watch = helpers.serve, watching.watch
HOUR = 3_600
Serve = Callable[..., Any]


class Offer(Journey):
    __silence__ = Silence(reminders=[Reminder("1 hour", "Shall we continue?")], close_after="1 day")

    class Talk(Pathway):
        __agents__ = ["clerk"]
        __complete_when__ = NEVER

    class Discount(Pathway):
        __agents__ = ["discount"]
        __complete_when__ = NEVER

    __transitions__ = [Transition(TimeTrigger(hours=2), "talk", "discount")]


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "LOOK_SECONDS", 0.01)
    monkeypatch.setattr(jobs, "EXPIRY_SECONDS", 0.01)


def offer(discount: Callable[..., Any] = lambda ask: "Ten percent less.") -> Any:
    return one(Offer, clerk=lambda ask: "Hello.", discount=discount)


async def test_a_timer_is_taken_once_by_one_of_two_servers_and_told_on_the_stream(
    serve: Serve, store_url: str, clock: Clock
) -> None:
    api, other = await serve(offer(), url=store_url), await serve(offer(), url=store_url)
    session = await api.begin("offer")
    await api.says(session, "hello")

    async with opened(other, f"{session}/events") as stream:
        assert await stream.next() == ("id", "1", None)
        clock.passes(3 * HOUR)
        found = await stream.take(2)

    assert [(event, id_) for event, id_, _ in found] == [("version", "2"), ("version", "3")]
    assert [each["kind"] for _, _, each in found] == ["timer", "timer"]
    assert [each["reply"] for _, _, each in found] == ["Shall we continue?", "Ten percent less."]
    assert (await api.says(session, "thank you"))["pathway_id"] == "discount"
    history = (await api.client.get(f"{session}/history")).json()["entries"]
    assert [each["content"] for each in history].count("Shall we continue?") == 1


async def test_due_timers_are_counted(
    serve: Serve, store_url: str, clock: Clock, watch: Watch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "COUNT_SECONDS", 0.01)
    let = asyncio.Event()

    async def discount(ask: Any) -> str:
        await let.wait()
        return "Ten percent less."

    api = await serve(offer(discount), url=store_url, metrics=Metrics())
    await api.says(await api.begin("offer"), "hello")

    async def due(number: int) -> bool:
        return total(await shown(api), "journeygraph_timer_due") == number

    await until(lambda: due(0))
    clock.passes(3 * HOUR)
    await until(lambda: due(1))
    let.set()
    await until(lambda: due(0))


async def test_a_closed_session_is_listed_and_opens_with_a_message(
    serve: Serve, clock: Clock
) -> None:
    api: Api = await serve(offer())
    session = await api.begin("offer")
    clock.passes(24 * HOUR)

    async def closed() -> Any:
        return (await api.client.get("/v1/sessions?status=closed")).json()["sessions"]

    [listed] = await until(closed)
    assert (listed["session_id"], listed["status"]) == ("s-1", "closed")
    assert (await api.client.get(session)).json()["is_closed"] is True

    assert (await api.says(session, "I am back"))["message"] == "Ten percent less."
    assert (await api.client.get(session)).json()["is_closed"] is False
    assert await closed() == []


async def test_a_sensitive_session_is_reminded_and_nothing_of_it_is_plain(
    serve: Serve, store_url: str, clock: Clock
) -> None:
    class Secret(Journey):
        __sensitive__ = True
        __silence__ = Silence(reminders=[Reminder("1 hour", "Shall we continue?")])

        class Talk(Pathway):
            __agents__ = ["clerk"]

    secret = one(Secret, clerk=lambda ask: "Hello.")
    api: Api = await serve(secret, url=store_url, encryption_key=b"k" * 32)
    session = await api.begin("secret")
    clock.passes(HOUR)

    async def reminded() -> Any:
        return (await api.client.get(f"{session}/history")).json()["entries"]

    [entry] = await until(reminded)
    assert entry["content"] == "Shall we continue?"
    store = api.app_state.directory.store
    rows = await store.read(TURNS.of_turns, session="s-1", **ALL_TURNS)
    assert "continue" not in str(rows)


async def test_a_timer_whose_turn_fails_is_tried_again_later(
    serve: Serve, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    tried: list[datetime] = []

    def discount(ask: Any) -> str:
        tried.append(clock())
        if len(tried) < 3:
            raise ValueError("no price yet")
        return "Ten percent less."

    api: Api = await serve(offer(discount))
    session = await api.begin("offer")
    clock.passes(2 * HOUR)

    async def done(times: int) -> bool:
        if caplog.text.count("event=timer_failed") == len(tried):  # none is being tried
            clock.passes(0.25)
        return len(tried) == times

    await until(lambda: done(3))
    first, second, third = tried
    # A pause begins when the timer is taken, and the agent comes a little later.
    assert second - first >= timedelta(seconds=FIRST_PAUSE) / 2
    assert third - second >= timedelta(seconds=FIRST_PAUSE)

    async def moved() -> bool:
        found = (await api.client.get(session)).json()
        return bool(found["pathway_id"] == "discount")

    await until(moved)
    assert caplog.text.count("event=timer_failed") == 2


async def test_a_timer_whose_process_died_is_taken_as_soon_as_its_lease_is_over(
    serve: Serve, postgres_url: str, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leases, "LEASE", 0.2)
    monkeypatch.setattr(timers, "FIRST_PAUSE", 3_600.0)
    gate = Gate()
    config = JourneyConfig(persistence=postgres_url, database_pool_size=2)
    async with Offer("s-1", config, agents={"clerk": gate, "discount": gate}) as journey:
        await journey.start()
        clock.passes(2 * HOUR)
        await journey.take_timer()
        directory = await Directory.open(config)

        async def dies() -> None:
            [row] = await timers.due_sessions(directory.store, "offer", 1)
            await timers.claim(directory.store, row)
            await journey.take_timer()

        await died(gate.reached, dies())
        await directory.close()

    api: Api = await serve(offer(), url=postgres_url)
    assert await until(lambda: _at(api, "s-1", 2))


async def test_a_slow_turn_of_a_timer_does_not_delay_the_others(serve: Serve, clock: Clock) -> None:
    gate = asyncio.Event()

    async def discount(ask: Any) -> str:
        if ask["context"].get("slow"):
            await gate.wait()
        return "Ten percent less."

    api: Api = await serve(offer(discount))
    await api.begin("offer", "slow", context={"slow": True})
    clock.passes(2 * HOUR)
    await until(lambda: _at(api, "slow", 1))
    for number in range(2 * jobs.AT_ONCE):
        await api.begin("offer", f"s-{number}")
    clock.passes(2 * HOUR)
    for number in range(2 * jobs.AT_ONCE):
        await until(lambda number=number: _at(api, f"s-{number}", 2))  # type: ignore[misc]

    assert not await _at(api, "slow", 2)
    gate.set()
    await until(lambda: _at(api, "slow", 2))


async def _at(api: Api, session: str, version: int) -> bool:
    """Return whether a session has this version."""
    found = (await api.client.get(f"/v1/sessions/{session}")).json()
    return bool(found["version"] == version)


async def test_a_job_that_fails_is_done_again(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(jobs, "_AFTER_FAILURE", 0.0)
    done = asyncio.Event()

    class Broken:
        name, pause, runs = "broken", 0.0, 0

        async def run(self) -> float:
            self.runs += 1
            if self.runs < 3:
                raise StateError("The store is away.")
            done.set()
            return 60.0

    running = jobs.Jobs(Broken())
    running.begin()
    await done.wait()
    await running.end()

    assert caplog.text.count("event=job_failed") == 2
    assert "job=broken" in caplog.text


async def test_expired_sessions_are_deleted_in_the_background(
    serve: Serve, store_url: str, clock: Clock
) -> None:
    api: Api = await serve(one(Solo, clerk=lambda ask: "Hi."), url=store_url)
    for number in range(25):  # more than at once
        await api.begin("solo", f"s-{number}")
    clock.passes(31 * 24 * HOUR)

    store = api.app_state.directory.store

    async def gone() -> bool:
        left = [await store.head(f"s-{number}") for number in range(25)]
        return all(head and head["status"] == "expired" for head in left)

    assert await until(gone)
    listed = (await api.client.get("/v1/sessions?status=expired")).json()["sessions"]
    assert len(listed) == 25
