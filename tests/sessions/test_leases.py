"""Many processes on one Postgres: one turn of a session at a time, and a late one is refused."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import threading
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from journeygraph import StateError
from journeygraph.graphs.storage import leases
from tests.sessions.test_session_faults import Gate, situation
from tests.support import forked, lease_child, watching
from tests.support.api import serving, wired
from tests.support.post_office import AGENTS, Parcel, echo, found, opened
from tests.support.watching import Watch

watch = watching.watch
LEASED = "SELECT lease_until IS NOT NULL FROM sessions"


class Elsewhere:
    """A turn in a separate event loop, which shares nothing with ours; it waits for its release."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._busy = threading.Event()
        self._open = threading.Event()

    @contextlib.asynccontextmanager
    async def turn(self) -> AsyncIterator[asyncio.Task[Any]]:
        turn = asyncio.ensure_future(asyncio.to_thread(lambda: asyncio.run(self._talk())))
        await asyncio.to_thread(self._busy.wait, 110)
        try:
            yield turn
        finally:
            self._open.set()
            await asyncio.wait([turn])

    async def _talk(self) -> Any:
        async with opened(self._url, agents={**AGENTS, "address": self._held}) as parcel:
            return await parcel.process_message("first")

    async def _held(self, payload: dict[str, Any]) -> dict[str, Any]:
        self._busy.set()
        await asyncio.to_thread(self._open.wait, 110)
        return await echo(payload)


def reached(log: Path, word: str) -> None:
    while word not in (log.read_text() if log.exists() else ""):
        time.sleep(0.01)


@pytest.mark.slow
async def test_the_turn_of_a_process_that_was_away_for_too_long_is_taken_once(
    postgres_url: str, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    async with opened(postgres_url) as parcel:
        await parcel.start()
        late = forked.process(lease_child.live, postgres_url, str(log))
        late.start()
        await asyncio.to_thread(reached, log, "works")
        assert late.pid
        os.kill(late.pid, signal.SIGSTOP)
        try:
            reply = await parcel.process_message("card=1")
            assert reply.metadata["version"] == 2
            before = await situation(parcel)
        finally:
            os.kill(late.pid, signal.SIGCONT)
        await asyncio.to_thread(late.join)

        told = await asyncio.to_thread(log.read_text)
        assert told.startswith("Unconfirmed True")
        assert "another one took the turn" in told
        assert await situation(parcel) == before
        assert await parcel.snapshot() == {"street": "Late", "card": "1"}


async def test_a_turn_that_takes_longer_than_its_lease_keeps_it(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leases, "LEASE", 2.0)
    order: list[str] = []
    begun = asyncio.Event()

    async def slow(payload: dict[str, Any]) -> dict[str, Any]:
        order.append("begins")
        begun.set()
        await asyncio.sleep(2.5)
        order.append("ends")
        return await echo(payload)

    async def other() -> Any:
        async with opened(postgres_url, agents={**AGENTS, "address": quick}) as parcel:
            return await parcel.process_message("second")

    async def quick(payload: dict[str, Any]) -> dict[str, Any]:
        order.append("other")
        return await echo(payload)

    async with opened(postgres_url, agents={**AGENTS, "address": slow}) as parcel:
        await parcel.start()
        first = asyncio.ensure_future(parcel.process_message("first"))
        await begun.wait()
        second = await asyncio.to_thread(lambda: asyncio.run(other()))
        assert (await first).metadata["version"] == 1
        assert second.metadata["version"] == 2
        assert order == ["begins", "ends", "other"]
        assert await parcel.snapshot() == {"heard": ["first", "second"]}


async def test_a_session_that_stays_busy_elsewhere_is_an_error_to_try_again(
    postgres_url: str,
    monkeypatch: pytest.MonkeyPatch,
    watch: Watch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr(leases, "WAIT", 0.3)
    async with opened(postgres_url) as parcel:
        await parcel.start()
        async with Elsewhere(postgres_url).turn() as first:
            for call in (parcel.process_message("hello"), parcel.rollback(0)):
                with pytest.raises(StateError, match="busy in another process") as refused:
                    await call
                assert refused.value.retryable
            # Who only looks does not wait.
            assert len(await parcel.versions()) == 1
            assert await parcel.list() == ["s-1"]
            async with serving(wired(url=postgres_url)) as api:
                asked = {"message": "hello"}
                late = await api.client.post("/v1/sessions/s-1/messages", json=asked)
            assert (late.status_code, late.json()["code"]) == (503, "try_again")
            assert "store_failed" in caplog.text
            assert "reason=BusyElsewhere" in caplog.text
            assert "s-1" not in caplog.text
        waits = watch.points("journeygraph.turn.wait.duration")
        assert waits == [({"journeygraph.wait.reason": "process"}, 3)]
        assert first.result().metadata["version"] == 1
        assert (await parcel.process_message("hello")).metadata["version"] == 2


async def test_a_session_can_be_deleted_while_it_is_busy_elsewhere(postgres_url: str) -> None:
    async with opened(postgres_url) as parcel:
        await parcel.start()
        async with Elsewhere(postgres_url).turn() as first:
            await parcel.delete()
            await parcel.start({"new": True})
        with pytest.raises(StateError, match="was deleted while this turn ran"):
            first.result()
        assert await parcel.snapshot() == {"new": True}


async def spoken(parcel: Parcel, message: str) -> None:
    with contextlib.suppress(Exception):
        await parcel.process_message(message)


@pytest.mark.parametrize("message", ["hello", "", "fail", "x" * 20_000])
async def test_a_turn_lets_go_of_its_session_however_it_ends(
    postgres_url: str, message: str
) -> None:
    def works(payload: dict[str, Any]) -> str:
        if payload["message"] == "fail":
            raise ValueError("on purpose")
        return "fine"

    agents = {**AGENTS, "address": works}
    async with opened(postgres_url, agents=agents, error_recovery="fail_fast") as parcel:
        await parcel.start()
        await spoken(parcel, message)
        assert found(postgres_url, LEASED) == [(False,)]


async def test_a_cancelled_turn_lets_go_of_its_session(postgres_url: str) -> None:
    gate = Gate()
    async with opened(postgres_url, agents={**AGENTS, "address": gate}) as parcel:
        await parcel.start()
        turn = asyncio.ensure_future(parcel.process_message("hello"))
        await gate.reached.wait()
        assert found(postgres_url, LEASED) == [(True,)]
        turn.cancel()
        with pytest.raises(asyncio.CancelledError):
            await turn
        assert found(postgres_url, LEASED) == [(False,)]


async def test_closing_a_store_lets_go_of_its_sessions(postgres_url: str) -> None:
    gate = Gate()
    parcel = opened(postgres_url, agents={**AGENTS, "address": gate})
    await parcel.start()
    turn = asyncio.ensure_future(parcel.process_message("hello"))
    await gate.reached.wait()
    await parcel.close()
    assert found(postgres_url, LEASED) == [(False,)]
    gate.open.set()
    with pytest.raises(StateError, match="closed"):
        await turn


async def test_a_fence_only_ever_grows(postgres_url: str) -> None:
    async with opened(postgres_url) as parcel:
        await parcel.start()
        fences = [0]
        for message in ("hello", "", "how much", ""):
            await parcel.process_message(message)
            fences.append(found(postgres_url, "SELECT fence FROM sessions")[0][0])
        await parcel.rollback(1)
        fences.append(found(postgres_url, "SELECT fence FROM sessions")[0][0])
        assert fences == sorted(set(fences))


async def test_a_lease_is_timed_by_the_database(postgres_url: str) -> None:
    left = "SELECT extract(epoch FROM lease_until - clock_timestamp()) FROM sessions"
    async with opened(postgres_url) as parcel:
        await parcel.start()
        async with Elsewhere(postgres_url).turn():
            ((seconds,),) = found(postgres_url, left)
            assert leases.LEASE - 2 < seconds <= leases.LEASE
