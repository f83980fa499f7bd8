"""Sessions: started, restored, rolled back, read, and deleted."""

from __future__ import annotations

import asyncio
import re
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from journeygraph import (
    ConfigurationError,
    Journey,
    Pathway,
    SessionExistsError,
    SessionNotStartedError,
    StateError,
    VersionNotFoundError,
    taken_back,
)
from journeygraph.graphs.records.listing import PageEnd
from journeygraph.graphs.storage import statements
from journeygraph.graphs.storage.statements import Row, Sql, Statement, now
from journeygraph.nodes.json_data import stamp
from tests.support.clerks import staff
from tests.support.post_office import AGENTS, Letter, Parcel, found, opened, rows

Talk = Callable[..., Any]


@pytest.fixture
def sqlite_url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'journeys.db'}"


async def test_a_session_begins_at_the_entry_as_version_0(store_url: str) -> None:
    async with opened(store_url) as parcel:
        session = await parcel.start({"customer": "C-1"})

        assert (session.session_id, session.journey_id) == ("s-1", "parcel")
        assert (session.current_pathway_id, session.pathway_stack) == ("address", [])
        assert session.accumulated_context == {"customer": "C-1"}
        assert (session.version, session.conversation_history) == (0, [])
        assert not session.returning
        assert not session.is_journey_complete
        assert session.created_at == session.updated_at


async def test_before_start_everything_says_so(store_url: str) -> None:
    async with opened(store_url) as parcel:
        assert await parcel.get_session_state() is None
        assert await parcel.list() == []
        calls = [
            parcel.process_message("hello"),
            parcel.snapshot(),
            parcel.versions(),
            parcel.audit(),
            parcel.transcript(),
            parcel.context_history("street"),
            parcel.rollback(0),
            parcel.delete(),
            Parcel.restore("s-1", parcel.config),
        ]
        for call in calls:
            with pytest.raises(SessionNotStartedError, match="Session not started: 's-1'"):
                await call


async def test_a_second_start_is_an_error_and_no_wipe(talk: Talk, store_url: str) -> None:
    first = await talk(Parcel, AGENTS, store_url, context={"customer": "C-1"})
    await first.says("street=Main")

    with pytest.raises(SessionExistsError, match=r"'s-1' exists.*restore"):
        await first.journey.start({"customer": "C-2"})
    async with opened(store_url) as other:
        with pytest.raises(SessionExistsError):
            await other.start()

    assert await first.journey.snapshot() == {"customer": "C-1", "street": "Main"}
    assert await first.says("card=4711") == "payment: card=4711"


async def test_of_two_starts_at_once_one_wins(store_url: str) -> None:
    async with opened(store_url) as one, opened(store_url) as other:
        results = await asyncio.gather(
            one.start({"by": 1}), other.start({"by": 2}), return_exceptions=True
        )
        kinds = sorted(type(result).__name__ for result in results)
        assert kinds == ["JourneySession", "SessionExistsError"]
        assert (await one.snapshot())["by"] in (1, 2)
        assert len(await one.versions()) == 1


async def test_a_session_belongs_to_its_journey(talk: Talk, store_url: str) -> None:
    call = await talk(Parcel, AGENTS, store_url)
    config = call.journey.config

    async with Letter("s-1", config, agents=staff(Letter)) as letter:
        for step in (letter.process_message("hi"), letter.versions(), letter.delete()):
            with pytest.raises(StateError, match="the journey 'parcel', not to 'letter'"):
                await step
        with pytest.raises(SessionExistsError):
            await letter.start()
        assert await letter.list() == []
    with pytest.raises(StateError, match="belongs to"):
        await Letter.restore("s-1", config, agents=staff(Letter))
    assert await call.says("street=Main") == "address: street=Main"


async def test_lists_its_own_sessions_the_latest_first(talk: Talk, store_url: str) -> None:
    calls = [await talk(Parcel, AGENTS, store_url, session_id=f"s-{n}") for n in range(3)]
    await talk(Letter, staff(Letter), store_url, session_id="letter-1")
    await calls[0].says("hello")

    assert await calls[2].journey.list() == ["s-0", "s-2", "s-1"]


async def test_deleted_is_gone_from_every_table(talk: Talk, sqlite_url: str) -> None:
    call = await talk(Parcel, AGENTS, sqlite_url, session_id="other")
    await call.says("hello")
    before = rows(sqlite_url)
    gone = await talk(Parcel, AGENTS, sqlite_url)
    await gone.says("how much")
    await gone.journey.rollback(0)

    await gone.journey.delete()

    assert rows(sqlite_url) == before
    assert await call.journey.list() == ["other"]
    with pytest.raises(SessionNotStartedError):
        await gone.says("hello")
    with pytest.raises(SessionNotStartedError):
        await gone.journey.delete()


async def test_an_id_can_be_used_again_once_deleted(talk: Talk, store_url: str) -> None:
    call = await talk(Parcel, AGENTS, store_url, context={"customer": "C-1"})
    await call.says("how much")
    await call.journey.delete()

    session = await call.journey.start()

    assert (session.version, session.accumulated_context) == (0, {})
    assert await call.journey.audit() == []
    assert await call.journey.transcript() == []
    assert await call.says("street=Main") == "address: street=Main"
    assert call.last.metadata["version"] == 1


async def test_a_manager_takes_up_another_session_by_its_id(talk: Talk, store_url: str) -> None:
    await talk(Parcel, AGENTS, store_url, session_id="s-2", context={"customer": "C-2"})
    call = await talk(Parcel, AGENTS, store_url)

    session = await call.journey.manager.restore_session("s-2")

    assert session.accumulated_context == {"customer": "C-2"}
    assert await call.journey.manager.restore_session("s-3") is None


@pytest.mark.parametrize("session_id", ["", " " * 201, "a\nb", "a\x00b", "\ud800", 7, None])
def test_an_id_that_cannot_be_kept_is_refused(session_id: Any, memory_url: str) -> None:
    with pytest.raises(ConfigurationError, match="session_id must be 1 to 200 printable"):
        opened(memory_url, session_id)


@pytest.mark.parametrize("session_id", ["..\\..\\etc", "'; DROP TABLE turns; --", "%", "ü|1"])
async def test_an_id_is_only_a_name(talk: Talk, store_url: str, session_id: str) -> None:
    await talk(Parcel, AGENTS, store_url, context={"customer": "other"})
    call = await talk(Parcel, AGENTS, store_url, session_id=session_id)
    await call.says("street=Main")
    await call.restored()

    assert await call.journey.snapshot() == {"street": "Main"}
    assert len(await call.journey.versions()) == 2


@pytest.mark.parametrize(
    ("session_id", "user", "said"),
    [
        ("acme/s-1", "ann", "must not contain '/'"),
        (".", "ann", "'.' cannot be named in a URL"),
        ("..", "ann", "'..' cannot be named in a URL"),
        ("s-1", "..", "user must not be '.' or '..'"),
        ("s-1", "ann/./b", "user must not be '.' or '..'"),
    ],
)
async def test_an_id_that_no_request_can_name_begins_no_session(
    memory_url: str, session_id: str, user: str, said: str
) -> None:
    async with opened(memory_url, session_id) as call:
        with pytest.raises(ConfigurationError, match=re.escape(said)):
            await call.manager.start_session(user=user)
        assert await call.manager.restore_session() is None


# ------------------------------------------------------------------ versions and rollback


async def test_the_context_at_a_version_is_shown_with_what_the_turn_changed(
    talk: Talk, store_url: str
) -> None:
    call = await talk(Parcel, AGENTS, store_url, context={"customer": "C-1"})
    for message in ("street=Main", "start over", "street=Side", "insure it", "value=9", "how much"):
        await call.says(message)
    await call.journey.rollback(1)

    states = [await call.journey.state_at(version) for version in range(8)]

    assert [(one.added, one.changed, one.removed) for one in states] == [
        ({"customer": "C-1"}, {}, {}),
        ({"street": "Main"}, {}, {}),
        ({}, {}, {"street": "Main"}),
        ({"street": "Side"}, {}, {}),
        ({}, {}, {}),
        ({"value": "9"}, {}, {}),
        ({}, {}, {}),
        ({}, {"street": "Side"}, {"value": "9"}),
    ]
    assert [one.turn for one in states] == list(await call.journey.versions())
    assert states[7].context == {"customer": "C-1", "street": "Main"}
    for version in range(8):
        assert (await call.journey.rollback(version)).accumulated_context == states[version].context
    for unknown in (20, -1, True, "1"):
        with pytest.raises(VersionNotFoundError, match="has no version"):
            await call.journey.state_at(unknown)


async def test_the_context_at_a_version_is_the_same_after_its_state_is_pruned(
    talk: Talk, memory_url: str
) -> None:
    call = await talk(Parcel, AGENTS, memory_url, context={"customer": "C-1"})
    for message in ("street=Main", "start over", "street=Side", "value=9"):
        await call.says(message)
    for back in (1, 3):
        await call.journey.rollback(back)
        await call.says(f"value={back}")
    states = [await call.journey.state_at(version) for version in range(9)]
    for number in range(120):
        await call.says(f"how much is {number}?")
    with pytest.raises(VersionNotFoundError):
        await call.journey.rollback(8)

    assert [await call.journey.state_at(version) for version in range(9)] == states


async def test_the_context_at_a_new_version_is_shown_without_the_turns_before(
    talk: Talk, kept_url: str
) -> None:
    call = await talk(Parcel, AGENTS, kept_url)
    for message in ("street=Main", "card=1", "how much", "start over"):
        await call.says(message)
    answer = await call.journey.process_message("street=Side", idempotency_key="k")
    known = await call.journey.state_at(5)
    earlier = "DELETE FROM turns WHERE version < 4"
    store = (await call.journey.manager._session()).store
    await store.write(Statement(Sql(earlier, earlier), [{}]))

    again = await call.journey.process_message("street=Side", idempotency_key="k")

    assert (known.context, known.added) == ({"card": "1", "street": "Side"}, {"street": "Side"})
    assert await call.journey.state_at(5) == known
    assert again == replace(answer, replayed=True)


_NAMED_VALUES = (
    "SELECT DISTINCT thread_id, v.key, v.value FROM checkpoints, "
    "json_each(CAST(metadata AS TEXT), '$.__values') AS v"
)


async def test_a_turn_does_not_store_again_what_it_does_not_change(
    talk: Talk, kept_url: str
) -> None:
    table = "SELECT sum(length(blob)) FROM checkpoint_blobs"
    if kept_url.startswith("sqlite"):
        table = f"SELECT ({table}) + (SELECT sum(length(checkpoint)) FROM checkpoints)"
    call = await talk(Parcel, AGENTS, kept_url, context={"kept": "x" * 200_000})
    for number in range(10):
        await call.says(f"hello {number}")
    assert found(kept_url, table)[0][0] < 300_000
    await call.says("street=Main")
    assert 400_000 < found(kept_url, table)[0][0] < 500_000

    assert len((await call.journey.snapshot())["kept"]) == 200_000
    await call.journey.rollback(3)
    assert (await call.journey.snapshot()).keys() == {"kept"}
    await call.says("hello")
    assert found(kept_url, table)[0][0] < 500_000


async def test_a_small_context_is_within_its_checkpoint_until_it_has_grown(
    talk: Talk, sqlite_url: str
) -> None:
    names = "SELECT DISTINCT channel FROM checkpoint_blobs"
    call = await talk(Parcel, AGENTS, sqlite_url, context={"customer": "C-1"})
    await call.says("hello")
    assert found(sqlite_url, names) == []
    await call.says(f"street={'x' * 5_000}")
    assert found(sqlite_url, names) == [("context",)]
    await call.says("hello")
    assert len((await call.journey.snapshot())["street"]) == 5_000
    await call.journey.rollback(1)
    assert await call.journey.snapshot() == {"customer": "C-1"}
    await call.says("street=Side")
    assert await call.journey.snapshot() == {"customer": "C-1", "street": "Side"}


async def test_the_last_100_versions_are_kept_and_older_ones_pruned(
    talk: Talk, sqlite_url: str
) -> None:
    call = await talk(Parcel, AGENTS, sqlite_url, context={"kept": "x" * 5_000})
    other = await talk(Parcel, AGENTS, sqlite_url, session_id="other")
    await other.says("hello")
    for number in range(130):
        await call.says(f"hello {number}")

    counts = rows(sqlite_url)
    assert counts["checkpoints"] <= 100 + 16 + 2
    newest, shared = counts["checkpoints"], len(found(sqlite_url, _NAMED_VALUES))
    assert counts["checkpoint_blobs"] == shared
    assert 0 < shared < 5 * newest
    assert len(await call.journey.versions()) == 131
    with pytest.raises(VersionNotFoundError, match=r"version 5 .*pruned"):
        await call.journey.rollback(5)
    session = await call.journey.rollback(31)
    assert session.version == 131
    assert session.conversation_history[-2]["content"] == "hello 30"
    await call.says("after")
    await other.journey.rollback(0)


async def test_what_a_rollback_points_to_outlives_pruning(talk: Talk, store_url: str) -> None:
    call = await talk(Parcel, AGENTS, store_url)
    await call.says("street=Main")
    for _ in range(40):
        await call.journey.rollback(1)
    # The head's state is that of version 1, however old that is.
    for _ in range(75):
        await call.journey.rollback(1)
    await call.restored()
    assert await call.journey.snapshot() == {"street": "Main"}
    assert await call.says("card=4711") == "payment: card=4711"


# ------------------------------------------------------------------ what can be looked into


async def test_a_transcript_tells_which_turns_a_rollback_took_back(
    talk: Talk, store_url: str
) -> None:
    call = await talk(Parcel, AGENTS, store_url)
    await call.says("street=Main")
    await call.says("number=1")
    assert taken_back(await call.journey.transcript()) == set()
    await call.journey.rollback(1)
    assert taken_back(await call.journey.transcript()) == {2}
    await call.says("number=2")
    assert taken_back(await call.journey.transcript()) == {2}

    await call.journey.rollback(2)  # what was taken back counts again

    transcript = await call.journey.transcript()
    assert [entry.rolled_back_to for entry in transcript if entry.role == "rollback"] == [1, 2]
    assert taken_back(transcript) == {3, 4}


# ------------------------------------------------------------------ a new version of a journey


def trip(**pay: Any) -> type[Journey]:
    """A trip whose second pathway is declared so, or is not there."""

    class PlanPath(Pathway):
        __agents__ = ["clerk"]
        __accumulate__ = ["city"]
        __complete_when__ = ["city"]
        __next__ = "pay" if pay else None

    body: dict[str, Any] = {"__doc__": "Book a trip.", "PlanPath": PlanPath}
    if pay:
        body["PayPath"] = type("PayPath", (Pathway,), {"__agents__": ["clerk"], **pay})
    return type("Trip", (Journey,), body)


CLERK = {"clerk": lambda payload: {"response": "noted", "city": "Rome"}}


async def test_a_session_goes_on_under_a_new_version(talk: Talk, store_url: str) -> None:
    """Also where the new version would not have waited: payment now runs on arrival."""
    call = await talk(trip(__complete_when__=["card"]), CLERK, store_url)
    await call.says("to Rome")
    assert call.path == ["pay"]

    async with await trip(__runs_on_arrival__=True).restore(
        "s-1", call.journey.config, agents=CLERK
    ) as again:
        reply = await again.process_message("here")
        assert (reply.message, reply.metadata["ran"]) == ("noted", ["pay"])
        await again.process_message("and now?")
        rows = [row for row in await again.audit() if row.kind == "version_changed"]
        assert [(row.turn, row.reason) for row in rows] == [(2, f"now {again.spec.version}")]


async def test_lists_page_by_page_and_says_where_the_next_one_begins(
    talk: Talk, store_url: str
) -> None:
    calls = [await talk(Parcel, AGENTS, store_url, session_id=f"s-{n}") for n in range(5)]
    journey = calls[0].journey

    first = await journey.list(limit=2)
    second = await journey.list(limit=2, after=first.next)
    await calls[0].says("hello")  # moves to the front, and is on none of the next pages again
    last = await journey.list(limit=2, after=second.next)

    assert (first, second, last) == (["s-4", "s-3"], ["s-2", "s-1"], [])
    assert last.next is None
    assert await journey.list(limit=1) == ["s-0"]


async def test_all_that_is_recorded_of_a_session_is_listed_page_by_page(
    talk: Talk, memory_url: str
) -> None:
    call = await talk(Parcel, AGENTS, memory_url)
    for message in ("street=Elm", "how much is it?", "street=Oak", "hello"):
        await call.says(message)
    await call.journey.rollback(1)
    journey = call.journey
    listings = {
        "versions": journey.versions,
        "transcript": journey.transcript,
        "audit": journey.audit,
        "checks": journey.checks,
        "attempts": journey.attempts,
        "escalations": journey.escalations,
        "context_history": partial(journey.context_history, "street"),
    }
    for name, listed in listings.items():
        whole = await listed()
        parts: list[Any] = []
        page = await listed(limit=2)
        while page.next:
            parts += page
            page = await listed(limit=2, after=page.next)
        assert [*parts, *page] == whole, name
        assert whole.next is None
    first = await journey.context_history("street", limit=1)
    later = await journey.context_history("street", limit=1, after=first.next)
    assert ([one.value for one in first], [one.value for one in later]) == ([], ["Elm"])


@pytest.mark.parametrize("limit", [0, -1, 1001, True, "10", None])
async def test_a_page_of_another_length_is_refused(talk: Talk, memory_url: str, limit: Any) -> None:
    call = await talk(Parcel, AGENTS, memory_url)
    with pytest.raises(ConfigurationError, match="1 to 1000"):
        await call.journey.list(limit=limit)


async def test_a_page_costs_as_much_among_many_sessions_as_among_few(
    talk: Talk, tmp_path: Path
) -> None:
    """Counted in steps of SQLite's machine, so that no other work of this one counts."""
    steps: dict[int, list[int]] = {}
    for many in (300, 6000):
        file = tmp_path / f"{many}.db"
        call = await talk(Parcel, AGENTS, f"sqlite:///{file}", session_id=f"first-{many}")
        await _add_sessions(call.journey, many)
        deep = PageEnd(stamp(now() - timedelta(seconds=many)), "parcel", "s-1")
        steps[many] = [
            _steps_of(file, query, status, place)
            for place in (None, deep)
            for query, status in (
                (statements.PAGE, ""),
                (statements.PAGE_OF, "active"),
                (statements.PAGE_OF, "complete"),
                (statements.PAGE_MARKED, "expired"),
                (statements.PAGE_OVER, "expired"),
                (statements.PAGE_AT, ""),
            )
        ]

    for few, more in zip(steps[300], steps[6000], strict=True):
        assert more <= 1.5 * few + 1


async def _add_sessions(journey: Parcel, many: int) -> None:
    """Add sessions, of which a third has expired and a few are complete."""
    written: list[Row] = []
    for number in range(many):
        at = stamp(now() - timedelta(seconds=3 * number))
        status = (
            "expired" if number % 3 == 0 else "complete" if number in (1, 101, 201) else "active"
        )
        row: Row = {"session_id": f"s-{number}", "journey_id": "parcel", "journey_version": "1"}
        row |= {"status": status, "pathway_id": "address", "version": 0}
        row |= {"created_at": at, "updated_at": at, "expires_at": stamp(now() + timedelta(1))}
        row |= {"data_key": None, "key_id": None, "user_id": None}
        written.append(row)
    store = (await journey.manager._session()).store
    await store.write(Statement(statements.BEGIN_SESSION, written))


def _steps_of(file: Path, query: Sql, status: str, after: PageEnd | None) -> int:
    """Return how many hundreds of steps a page takes."""
    steps = 0

    def count() -> int:
        nonlocal steps
        steps += 1
        return 0

    wanted: Row = {"journey": "parcel", "now": stamp(now()), "most": 50, "status": status}
    wanted |= {"tenant": "default", "pathway": "address"}
    wanted |= {"text": statements.containing("")}
    wanted |= {"before": "9999", "tie": "", "above": ""}
    if after:
        wanted |= {"before": after.updated_at, "tie": "", "above": ""}
    with closing(sqlite3.connect(file)) as database:
        database.set_progress_handler(count, 100)
        assert query.sqlite
        database.execute(query.sqlite, wanted).fetchall()
    return steps
