"""Ends of sessions: complete, expired, closed, or in a script that does not close them."""

from __future__ import annotations

import asyncio
import random
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from journeygraph import (
    Journey,
    JourneyConfig,
    JourneyResponse,
    SessionExpiredError,
    SessionNotStartedError,
    StateError,
)
from journeygraph.graphs.storage.migrations.migrate import migrate
from journeygraph.graphs.storage.statements import EXPIRED
from tests.support.clerks import staff
from tests.support.clocks import Clock
from tests.support.post_office import AGENTS, Letter, Parcel, database, found, opened, rows

REPOSITORY = Path(__file__).parents[2]


@pytest.fixture
def sqlite_url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'journeys.db'}"


async def expired(url: str, clock: Clock, session_id: str = "s-1", **options: Any) -> Parcel:
    """Start a session with some content, and let it expire."""
    parcel = opened(url, session_id, session_ttl_seconds=60, **options)
    await parcel.start({"customer": "C-1"})
    await parcel.process_message("how much")
    clock.passes(61)
    return parcel


# ------------------------------------------------------------------ the end of a journey


async def test_on_end_is_told_once_with_the_last_response(memory_url: str) -> None:
    told: list[JourneyResponse] = []
    async with opened(memory_url, on_end=told.append) as parcel:
        await parcel.start()
        await parcel.process_message("street=Main")
        last = await parcel.process_message("card=1")
        await parcel.process_message("and now?")
        await parcel.process_message("how much")
        await parcel.process_message("")
        await parcel.process_message("thanks")

    assert told == [last]
    assert last.is_journey_complete


NO_MAIL = (ValueError("no mail today"), "ValueError: no mail today")
EXIT = (SystemExit(2), "ExitedError: it called sys.exit(2)")


@pytest.mark.parametrize(("error", "reason"), [NO_MAIL, EXIT], ids=["error", "exit"])
@pytest.mark.parametrize("kind", ["plain", "async"])
async def test_a_callback_that_raises_is_audited_and_changes_nothing(
    memory_url: str, kind: str, error: BaseException, reason: str
) -> None:
    def raises(response: Any) -> None:
        raise error

    async def fails(response: Any) -> None:
        raise error

    callback = raises if kind == "plain" else fails
    async with opened(memory_url, on_end=callback) as parcel:
        await parcel.start({"street": "Main"})
        await parcel.process_message("hello")
        reply = await parcel.process_message("card=1")

        assert reply.is_journey_complete
        row = (await parcel.audit())[-1]
        assert (row.kind, row.turn) == ("callback_failed", 2)
        assert row.reason == reason


async def test_a_callback_may_look_at_its_session_and_talk_to_it(memory_url: str) -> None:
    found: list[Any] = []

    async def look(response: JourneyResponse) -> None:
        found.append(await parcel.snapshot())
        found.append((await parcel.process_message("how much")).pathway_id)
        await parcel.delete()

    async with opened(memory_url, on_end=look) as parcel:
        await parcel.start({"street": "Main"})
        await parcel.process_message("hello")
        await parcel.process_message("card=1")

        assert found == [{"street": "Main", "card": "1"}, "prices"]
        assert await parcel.get_session_state() is None


# ------------------------------------------------------------------ the time to live


async def test_a_message_to_an_expired_session_is_never_a_fresh_session(
    store_url: str, clock: Clock
) -> None:
    told: list[str] = []
    parcel = await expired(store_url, clock, on_expire=told.append)
    calls: list[Callable[[], Any]] = [
        lambda: parcel.process_message("hello"),
        lambda: parcel.process_message(""),
        parcel.get_session_state,
        parcel.snapshot,
        parcel.versions,
        parcel.transcript,
        parcel.audit,
        lambda: parcel.context_history("street"),
        lambda: parcel.rollback(0),
        lambda: Parcel.restore("s-1", parcel.config),
    ]
    for _ in range(2):
        for call in calls:
            with pytest.raises(SessionExpiredError, match="'s-1' has expired"):
                await call()

    assert told == ["s-1"]
    with pytest.raises(SessionExpiredError):
        await parcel.start()
    await parcel.delete()
    assert (await parcel.start()).accumulated_context == {}
    await parcel.close()


async def test_an_expired_session_leaves_only_its_name(sqlite_url: str, clock: Clock) -> None:
    parcel = await expired(sqlite_url, clock)
    with pytest.raises(SessionExpiredError):
        await parcel.process_message("hello")

    assert rows(sqlite_url) == {
        "sessions": 1,
        "turns": 0,
        "audit": 0,
        "checkpoints": 0,
        "checkpoint_blobs": 0,
        "writes": 0,
    }
    await parcel.close()


async def test_every_turn_gives_a_session_its_whole_time_again(
    store_url: str, clock: Clock
) -> None:
    async with opened(store_url, session_ttl_seconds=60) as parcel:
        await parcel.start()
        for _ in range(4):
            clock.passes(40)
            await parcel.process_message("hello")
        assert len(await parcel.versions()) == 5


async def test_a_start_sweeps_what_has_expired_meanwhile(
    sqlite_url: str, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("journeygraph.graphs.storage.sqlite._SMALL", 0)  # all values are apart
    told: list[str] = []
    letter = Letter("l-1", JourneyConfig(persistence=sqlite_url), agents=staff(Letter))
    stays: list[Journey] = [opened(sqlite_url, "there"), letter]
    gone = [opened(sqlite_url, name, session_ttl_seconds=60) for name in ("old-1", "old-2")]
    for journey in (*stays, *gone):
        await journey.start()
        await journey.close()  # its own sweep is over then
    clock.passes(61)

    fresh = opened(sqlite_url, "new", on_expire=told.append)
    await fresh.start()
    await fresh.close()

    assert told == ["old-1", "old-2"]
    counts = rows(sqlite_url)
    assert counts | {"sessions": 3, "checkpoint_blobs": 3} == {
        "sessions": 3,
        "turns": 3,
        "audit": 0,
        "checkpoints": 3,
        "checkpoint_blobs": 3,
        "writes": 0,
    }
    kept = found(sqlite_url, "SELECT DISTINCT thread_id FROM checkpoint_blobs ORDER BY 1")
    assert kept == [("l-1",), ("new",), ("there",)]
    with pytest.raises(SessionExpiredError):
        await gone[0].process_message("hello")
    for journey in (*stays, *gone, fresh):
        await journey.close()


async def test_on_expire_is_told_once_by_all_who_find_out(store_url: str, clock: Clock) -> None:
    told: list[str] = []
    old = await expired(store_url, clock, "old", on_expire=told.append)
    async with (
        opened(store_url, "a", on_expire=told.append) as one,
        opened(store_url, "b", on_expire=told.append) as other,
        opened(store_url, "old", on_expire=told.append) as same,
    ):
        calls = [one.start(), same.process_message("hi"), other.start(), old.process_message("hi")]
        results = await asyncio.gather(*calls, return_exceptions=True)

    kinds = [type(result).__name__ for result in results]
    assert kinds == ["JourneySession", "SessionExpiredError"] * 2
    assert told == ["old"]
    await old.close()


async def test_on_expire_may_begin_the_session_anew(store_url: str, clock: Clock) -> None:
    async def again(session_id: str) -> None:
        await parcel.delete()
        await parcel.start({"again": True})

    parcel = await expired(store_url, clock, on_expire=again)
    with pytest.raises(SessionExpiredError):
        await parcel.process_message("hello")

    assert await parcel.snapshot() == {"again": True}
    await parcel.close()


async def test_a_session_swept_in_the_middle_of_a_turn_is_over(
    sqlite_url: str, clock: Clock
) -> None:
    """A turn that began in time is committed, or refused; it is never half there."""
    reached, goes_on = asyncio.Event(), asyncio.Event()

    async def slow(payload: dict[str, Any]) -> str:
        reached.set()
        await goes_on.wait()
        return "slow"

    async with opened(sqlite_url, agents={**AGENTS, "address": slow}) as parcel:
        await parcel.start()
        turn = asyncio.ensure_future(parcel.process_message("hello"))
        await reached.wait()
        clock.passes(parcel.config.session_ttl_seconds + 1)
        async with opened(sqlite_url, "new") as fresh:
            await fresh.start()
        goes_on.set()

        with pytest.raises(StateError, match="expired or was deleted while this turn ran"):
            await turn
        with pytest.raises(SessionExpiredError):
            await parcel.process_message("hello")
        assert rows(sqlite_url)["checkpoints"] == 1


async def test_a_turn_that_outlasts_the_time_to_live_counts(store_url: str, clock: Clock) -> None:
    async def slow(payload: dict[str, Any]) -> str:
        clock.passes(61)
        return "slow"

    agents = {**AGENTS, "address": slow}
    async with opened(store_url, agents=agents, session_ttl_seconds=60) as parcel:
        await parcel.start()
        await parcel.process_message("hello")
        assert (await parcel.process_message("how much")).metadata["version"] == 2


# ------------------------------------------------------------------ letting go


async def test_closing_twice_and_going_on_after_it(store_url: str) -> None:
    parcel = opened(store_url)
    await parcel.start()
    await parcel.close()
    await parcel.close()

    assert (await parcel.process_message("street=Main")).pathway_id == "payment"
    await parcel.close()
    await opened(store_url).close()


async def test_one_that_closes_leaves_the_store_to_the_others(store_url: str) -> None:
    async with opened(store_url, "s-2") as other:
        async with opened(store_url) as parcel:
            await parcel.start()
            await other.start()
        assert (await other.process_message("street=Main")).pathway_id == "payment"


def test_a_handle_may_be_used_in_one_run_of_the_loop_after_the_other(store_url: str) -> None:
    parcel = opened(store_url)
    asyncio.run(parcel.start())
    assert asyncio.run(parcel.process_message("street=Main")).pathway_id == "payment"
    asyncio.run(parcel.close())


async def test_closed_in_the_middle_of_a_turn_it_stands_before_or_after(store_url: str) -> None:
    moments = random.Random(5)
    for number in range(25):
        parcel = opened(store_url, f"s-{number}")
        await parcel.start()
        turn = asyncio.ensure_future(parcel.process_message("street=Main"))
        await asyncio.sleep(moments.uniform(0, 0.008))
        await parcel.close()
        (result,) = await asyncio.gather(turn, return_exceptions=True)
        counted = isinstance(result, JourneyResponse)
        assert counted or "not answer" in str(result)
        async with opened(store_url, f"s-{number}") as again:
            assert len(await again.versions()) == 1 + counted
            assert await again.snapshot() == ({"street": "Main"} if counted else {})
            await again.process_message("street=Side")


SCRIPT = """
import asyncio, sys
from tests.support.post_office import opened

async def main():
    parcel = opened(sys.argv[1])
    await parcel.start()
    print((await parcel.process_message("street=Main")).message)

asyncio.run(main())
{more}
"""


@pytest.mark.slow
@pytest.mark.parametrize("more", ["", "asyncio.run(main())"])
def test_a_script_that_forgets_to_close_ends_cleanly(sqlite_url: str, more: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT.format(more=more), sqlite_url],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        timeout=110,
        check=False,
    )
    assert done.stdout.startswith("address: street=Main\n")
    if more:
        assert "SessionExistsError" in done.stderr.splitlines()[-1]
    else:
        assert (done.returncode, done.stderr) == (0, "")
    with database(sqlite_url) as connection:
        assert connection.execute("SELECT version FROM sessions").fetchall() == [(1,)]


async def test_a_deleted_memory_of_an_expired_session_is_unknown(
    store_url: str, clock: Clock
) -> None:
    async with await expired(store_url, clock) as parcel:
        await parcel.delete()
        with pytest.raises(SessionNotStartedError):
            await parcel.process_message("hello")


async def test_a_start_waits_for_no_deletion_and_close_does(store_url: str, clock: Clock) -> None:
    reached, goes_on, told = asyncio.Event(), asyncio.Event(), []

    async def slow(session_id: str) -> None:
        reached.set()
        await goes_on.wait()
        told.append(session_id)

    await (await expired(store_url, clock, "old")).close()
    fresh = opened(store_url, "new", on_expire=slow)
    await fresh.start()
    await reached.wait()
    assert (await fresh.process_message("hello")).metadata["version"] == 1

    closing = asyncio.ensure_future(fresh.close())
    await asyncio.sleep(0)
    assert not closing.done()
    goes_on.set()
    await closing
    assert told == ["old"]


async def test_deletions_pause_however_many_sessions_have_expired(
    store_url: str, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("journeygraph.graphs.session.session._PAUSE", 1e9)
    told: list[str] = []
    for number in range(25):
        async with opened(store_url, f"old-{number}", session_ttl_seconds=60) as old:
            await old.start()
    clock.passes(61)

    async with opened(store_url, "a", on_expire=told.append) as first:
        await first.start()
        while len(told) < 20:  # noqa: ASYNC110
            await asyncio.sleep(0.001)
        async with opened(store_url, "b", on_expire=told.append) as second:
            await second.start()

    assert len(told) == 20
    async with opened(store_url, "c", on_expire=told.append) as later:  # the store was closed
        await later.start()
    assert len(set(told)) == 25


def test_expired_sessions_are_found_by_an_index(tmp_path: Path) -> None:
    file = tmp_path / "journeys.db"
    migrate(lambda: sqlite3.connect(file))
    wanted = {"tenant": "default", "now": "2026", "journey": "parcel", "most": 20}
    with closing(sqlite3.connect(file)) as connection:
        plan = connection.execute(f"EXPLAIN QUERY PLAN {EXPIRED.sqlite}", wanted).fetchall()

    assert [row[-1] for row in plan] == [
        "SEARCH sessions USING INDEX sessions_to_expire "
        "(journey_id=? AND tenant=? AND expires_at<?)"
    ]


async def test_what_cannot_be_deleted_is_logged_and_spoils_no_start(
    sqlite_url: str, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    await (await expired(sqlite_url, clock, "old")).close()
    with closing(sqlite3.connect(sqlite_url.removeprefix("sqlite:///"))) as file, file:
        file.execute(
            "CREATE TRIGGER kept BEFORE DELETE ON turns BEGIN SELECT RAISE(ABORT, 'kept'); END"
        )

    async with opened(sqlite_url, "new") as fresh:
        await fresh.start()
        assert (await fresh.process_message("hello")).metadata["version"] == 1

    assert "event=expired_not_deleted" in caplog.text
    assert rows(sqlite_url)["turns"] == 4
