"""Hash chains: each change of a row by SQL is found and named; normal life breaks nothing."""

from __future__ import annotations

import asyncio
import json
import re
import sqlite3
from asyncio import to_thread
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any, NoReturn

import pytest
from sqlalchemy import delete

from journeygraph import (
    ConfigurationError,
    JourneyConfig,
    PathwayExecutionError,
    SessionExpiredError,
    load_journey,
)
from journeygraph.graphs.evidence import anchors
from journeygraph.graphs.evidence.set_hash import EMPTY
from journeygraph.graphs.evidence.set_hash import changed as hashed
from journeygraph.graphs.evidence.verification import Broken, verify, verify_all, verify_anchors
from journeygraph.graphs.records.chain import hash_of
from journeygraph.graphs.session.jobs import Jobs
from journeygraph.graphs.storage.errors import AlreadyThere
from journeygraph.graphs.storage.sealing import Seals
from journeygraph.graphs.storage.statements import ENDS, Sql, Statement
from journeygraph.graphs.storage.store import Store, open_store
from journeygraph.graphs.storage.tables import metadata, tombstones
from journeygraph.nodes.llm.scripted import ScriptedModel
from tests.flow_control.desk import VALID, says
from tests.flow_control.late_child import RUDE, LateDesk
from tests.storage.test_encryption import CANARY, KEY, clinic, conversation
from tests.storage.test_store_reliability import rows_read
from tests.support.clocks import Clock
from tests.support.command import flat, run
from tests.support.post_office import AGENTS, back_at, database, opened
from tests.support.postgres import connected
from tests.support.properties import are_all

Talk = Callable[..., Any]
TABLES = {"turns": "version", "audit": "turn", "validation_audit": "turn"}
"""Tables whose rows are chained, each with the column of its turn."""
FLAGS = ("is_valid", "bypassed", "review")
"""Columns that are true or false."""


def fails(response: Any) -> NoReturn:
    raise RuntimeError("the receiver is away")


@pytest.fixture
def file_url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'journeys.db'}"


@pytest.fixture
async def store(store_url: str) -> AsyncIterator[Store]:
    """The store of a test, without a session."""
    store = await open_store(store_url, None)
    yield store
    await store.close()


async def lived(talk: Talk, url: str) -> None:
    """Two sessions with rows of every kind: of turns, and late ones."""
    async with opened(url, "s-1", on_end=fails) as parcel:
        await parcel.start({"customer": "C-1"})
        for message in ("how much", "street=Main", "card=1"):
            await parcel.process_message(message)
        await parcel.rollback(1)
        await parcel.process_message("insure it")
    with ScriptedModel(RUDE, VALID) as model:
        desk = await talk(LateDesk, says("a", "b"), url, session_id="s-2", options={"model": model})
        for _ in range(2):
            await desk.says("Hi")
        await desk.restored(model=model)


async def copied(store: Store, times: int) -> None:
    """Repeat each session with its anchored head, in the same tenant and in others by turns."""
    numbers = f"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {times})"
    texts = [f"INSERT INTO tenants (name, at) {numbers} SELECT 't-' || i, '' FROM n"]
    for table in ("sessions", "anchored_heads"):
        keys = ("tenant", "session_id")
        columns = (str(one.name) for one in metadata.tables[table].c)
        names = ", ".join(name for name in columns if name not in keys)
        texts.append(
            f"INSERT INTO {table} ({', '.join(keys)}, {names}) {numbers} "
            "SELECT CASE WHEN i % 2 = 0 THEN tenant ELSE 't-' || i END, "
            f"session_id || '-' || i, {names} FROM n, {table}"
        )
    for text in texts:
        await store.write(Statement(Sql(text, text, all_tenants=True), [{}]))


async def asked(store: Store, query: str) -> list[Any]:
    """The values of the only column of a query."""
    return [value for row in await store.read(Sql(query, query)) for value in row.values()]


async def broken(store: Store, key: bytes | None = None) -> list[Broken]:
    """The first broken row of each session, and of the anchors."""
    seals = Seals(JourneyConfig(encryption_key=key).encryption_keys)
    verified = [one async for one in verify_all(store, seals)]
    lost = await verify_anchors(store)
    return [one.broken for one in verified if one.broken] + ([lost] if lost else [])


# ------------------------------------------------------------------------- changes by SQL


Change = tuple[str, str, int | None]
"""SQL that changes a row, its table, its turn."""


def rows_of(connection: sqlite3.Connection, table: str) -> list[dict[str, Any]]:
    connection.row_factory = sqlite3.Row
    return [dict(row) for row in connection.execute(f"SELECT rowid AS number, * FROM {table}")]


def columns_changed(connection: sqlite3.Connection) -> Iterator[Change]:
    """Every column of every chained row, with another value."""
    for table, turn in TABLES.items():
        for row in rows_of(connection, table):
            for name, value in row.items():
                if name in ("number", "id"):
                    continue
                other = f"coalesce({name}, '') || 'x'"
                if isinstance(value, (int, float)):
                    other = f"{name} + 100" if name not in FLAGS else f"1 - {name}"
                sql = f"UPDATE {table} SET {name} = {other} WHERE rowid = {row['number']}"
                yield sql, table, row[turn]


def rows_removed(connection: sqlite3.Connection) -> Iterator[Change]:
    for table, turn in TABLES.items():
        for row in rows_of(connection, table):
            yield f"DELETE FROM {table} WHERE rowid = {row['number']}", table, row[turn]


def rows_inserted(connection: sqlite3.Connection) -> Iterator[Change]:
    """A copy of every row: an audit row again, a turn once more after the last one."""
    for table, turn in TABLES.items():
        for row in rows_of(connection, table):
            number = row[turn] if table != "turns" else 100
            given = {**row, turn: number}
            del given["number"]
            given.pop("id", None)
            values = ", ".join(f"'{number}'" if name == turn else name for name in given)
            sql = f"INSERT INTO {table} ({', '.join(given)}) SELECT {values} FROM {table}"
            yield f"{sql} WHERE rowid = {row['number']}", table, number


def rows_swapped(connection: sqlite3.Connection) -> Iterator[Change]:
    """Two neighbours in a table, each in the place of the other."""
    for table, turn in TABLES.items():
        found = rows_of(connection, table)
        for row, other in pairwise(found):
            key = "version" if table == "turns" else "id"
            same = ("session_id",) if table == "turns" else ("session_id", turn)
            if any(row[name] != other[name] for name in same):
                continue
            a, b = row[key], other[key]
            mine = f"session_id = '{row['session_id']}' AND {key}"
            yield (
                (
                    f"UPDATE {table} SET {key} = -1 WHERE {mine} = {a};"
                    f"UPDATE {table} SET {key} = {a} WHERE {mine} = {b};"
                    f"UPDATE {table} SET {key} = {b} WHERE {mine} = -1"
                ),
                table,
                row[turn],
            )


def chains_changed(connection: sqlite3.Connection) -> Iterator[Change]:
    """Return the rows that hold the chains together: the heads of sessions, the late links."""
    for row in rows_of(connection, "sessions"):
        for name in ("version", "chain", "late", "late_chain", "created_at", "anchored"):
            other = f"{name} + 100" if isinstance(row[name], int) else f"{name} || 'x'"
            yield f"UPDATE sessions SET {name} = {other} WHERE rowid = {row['number']}", "", None
        yield f"DELETE FROM sessions WHERE rowid = {row['number']}", "", None
    for row in rows_of(connection, "late_links"):
        where = f"WHERE rowid = {row['number']}"
        yield f"DELETE FROM late_links {where}", "late_links", None
        for name in ("number", "hash"):
            yield f"UPDATE late_links SET {name} = {name} || '9' {where}", "late_links", None
        link = json.loads(row["link"])
        link["rows"][0][2] = "0" * 64
        changed = json.dumps(link)
        yield f"UPDATE late_links SET link = '{changed}' {where}", "late_links", None


@pytest.mark.parametrize(
    "changes", [columns_changed, rows_removed, rows_inserted, rows_swapped, chains_changed]
)
async def test_a_change_by_sql_is_found_and_its_row_is_named(
    talk: Talk, file_url: str, changes: Callable[[sqlite3.Connection], Iterator[Change]]
) -> None:
    await lived(talk, file_url)
    store = await open_store(file_url, None)
    assert await broken(store) == []
    with database(file_url) as connection, database(":memory:") as kept:
        connection.backup(kept)
        tried = list(changes(kept))
        assert len(tried) > 4
        # All of them take seconds; a part that differs for each table finds most faults.
        for sql, table, turn in tried if are_all() else tried[::5]:
            connection.executescript(sql)
            found = await broken(store)
            assert found, f"not found: {sql}"
            # Of a row that moved to another turn, the first of both turns is named.
            is_moved = re.search(r"SET (turn|version|session_id) ", sql)
            named = [(one.table, one.turn) for one in found]
            assert not table or is_moved or (table, turn) in named, (sql, found)
            kept.backup(connection)
        assert await broken(store) == []
    await store.close()


# ------------------------------------------------------------------------- normal life


async def test_turns_rollbacks_forks_late_rows_and_deletion_verify(
    talk: Talk, store: Store, store_url: str
) -> None:
    await lived(talk, store_url)
    assert await broken(store) == []
    async with opened(store_url, "s-1") as parcel:
        await parcel.fork(3, "s-3")
    async with opened(store_url, "s-3") as fork:
        await fork.process_message("how much is it then?")
        await fork.rollback(3)
    assert await broken(store) == []
    assert (await anchors.anchor(store)) == await anchors.newest(store)
    assert await broken(store) == []

    async with opened(store_url, "s-1") as parcel:
        await parcel.process_message("how much")
        await parcel.delete()
        assert await broken(store) == []
        await parcel.start()
        assert await broken(store) == []
    made = await anchors.anchor(store)
    assert made is not None
    assert (made.number, made.total) == (2, 3)
    assert await anchors.anchor(store) is None
    assert await broken(store) == []


async def test_a_fork_is_compared_with_the_session_it_was_taken_from(
    store: Store, store_url: str
) -> None:
    async with opened(store_url, "s-1") as parcel:
        await parcel.start()
        for text in ("street=Main", "card=1"):
            await parcel.process_message(text)
        await parcel.fork(1, "s-2")
    async with opened(store_url, "s-2") as fork:
        await fork.process_message("card=2")
        await fork.fork(2, "s-3")
    assert await broken(store) == []

    async with opened(store_url, "s-1") as parcel:
        await parcel.delete()
        await parcel.start()
        await parcel.process_message("street=Side")
    assert await broken(store) == []  # its id is used again
    forget = "DELETE FROM tombstones"
    await store.write(Statement(Sql(forget, forget), [{}]))

    [found] = await broken(store)

    assert (found.session_id, found.table, found.turn) == ("s-2", "turns", 0)
    assert found.fault == "version 1 of session 's-1', from which it was forked, differs"


async def test_an_expired_session_leaves_a_tombstone(
    store: Store, store_url: str, clock: Clock
) -> None:
    def raises(session_id: str) -> None:
        raise RuntimeError("nobody listens")

    async with opened(store_url, session_ttl_seconds=60, on_expire=raises) as parcel:
        await parcel.start({"customer": "C-1"})
        await anchors.anchor(store)
        clock.passes(61)
        with pytest.raises(SessionExpiredError):
            await parcel.process_message("hello")
        assert await asked(store, "SELECT kind FROM audit") == ["callback_failed"]
        assert await broken(store) == []
        await anchors.anchor(store)
        assert await broken(store) == []
        await store.write(Statement(Sql.of(delete(tombstones), all_tenants=True), [{}]))
        [lost] = await broken(store)
        assert (lost.session_id, lost.table) == ("s-1", "tombstones")


async def test_a_turn_that_fails_fast_and_is_tried_again_verifies(
    store: Store, store_url: str
) -> None:
    async def address(payload: Any) -> Any:
        if payload["message"] == "break":
            raise RuntimeError("no")
        return {"response": "ok"}

    agents = {**AGENTS, "address": address}
    async with opened(store_url, agents=agents, error_recovery="fail_fast") as parcel:
        await parcel.start()
        for _ in range(2):
            with pytest.raises(PathwayExecutionError):
                await parcel.process_message("break")
        await parcel.process_message("hello")
        with pytest.raises(PathwayExecutionError):
            await parcel.process_message("break")
    assert await broken(store) == []
    assert await asked(store, "SELECT late FROM sessions") == [3]


async def test_late_rows_written_at_once_are_all_chained(store: Store, store_url: str) -> None:
    async with opened(store_url) as parcel:
        await parcel.start()
        session = await parcel.manager._session()
        events = [{"kind": "late_result", "trigger": str(n)} for n in range(8)]
        await asyncio.gather(*(session.audited(0, event) for event in events))
        await parcel.process_message("hello")
    assert await asked(store, "SELECT late FROM sessions") == [8]
    assert await broken(store) == []


async def test_a_sensitive_session_is_verified_with_its_key(file_url: str) -> None:
    await conversation(file_url)
    async with clinic(file_url) as journey:
        await journey.fork(2, "s-2")
    store = await open_store(file_url, None)
    assert await broken(store, KEY) == []
    with pytest.raises(ConfigurationError, match="encryption_key"):
        await broken(store)

    with database(file_url) as connection:
        connection.execute(
            "UPDATE turns SET reply = message WHERE version = 2 AND session_id = 's-1'"
        )
    [one] = await broken(store, KEY)
    assert (one.table, one.turn) == ("turns", 2)
    assert one.fault.endswith("it was changed, or moved from another place")  # a dot follows
    assert CANARY not in str(one)
    await store.close()


async def test_the_turns_of_an_older_release_are_unchained_until_the_next_one(
    tmp_path: Path, clock: Clock
) -> None:
    data, url = Path(__file__).parent / "data", f"sqlite:///{tmp_path / 'tours.db'}"
    with database(url) as connection:
        connection.executescript((data / "older_release.sql").read_text())
    tour = load_journey(data / "tour.yaml")
    config = JourneyConfig(persistence=back_at(url, clock))
    store = await open_store(url, None)
    before = await verify(store, Seals(None), "ada")
    assert before is not None
    assert (before.unchained_before, before.broken) == (before.turns, None)
    async with await tour.restore("ada", config) as journey:
        await journey.process_message("yes")
    after = await verify(store, Seals(None), "ada")
    assert after is not None
    assert (after.unchained_before, after.broken) == (before.turns, None)
    shown = await to_thread(run, "audit", "verify", "--store", url)
    assert f"Session ada: unchained before version {before.turns}" in shown.stdout

    with database(url) as connection:
        connection.execute(f"UPDATE turns SET reply = 'x' WHERE version = {before.turns}")
    [one] = await broken(store)
    assert (one.table, one.turn) == ("turns", before.turns)
    await store.close()


# ------------------------------------------------------------------------- anchors


def test_the_hash_of_a_set_depends_on_its_elements_alone() -> None:
    one, other = hashed(EMPTY, ["a", "b", "c"]), hashed(hashed(EMPTY, ["c"]), ["b", "a"])
    assert one == other
    assert hashed(one, ["d"], ["a"]) == hashed(EMPTY, "bcd")
    assert hashed(one, (), "abc") == EMPTY
    made = [hashed(EMPTY, elements) for elements in ("", "a", "b", "ab", "aab", ["ab"])]
    assert len({*made}) == len(made)
    assert {len(product) for product in made} == {768}


@pytest.mark.parametrize("removed", [["sessions"], ["sessions", *TABLES, "late_links"]])
async def test_a_session_that_was_removed_is_named(
    talk: Talk, file_url: str, removed: list[str]
) -> None:
    await lived(talk, file_url)
    store = await open_store(file_url, None)
    await anchors.anchor(store)
    with database(file_url) as connection:
        for table in removed:
            connection.execute(f"DELETE FROM {table} WHERE session_id = 's-1'")
    [lost] = await broken(store)
    assert (lost.session_id, lost.table) == ("s-1", "sessions")
    await store.close()


@pytest.mark.parametrize(
    "sql",
    [
        "DELETE FROM anchored_heads WHERE session_id = 's-1'",
        "UPDATE anchored_heads SET version = 9 WHERE session_id = 's-2'",
        "DELETE FROM anchors WHERE number = 2",
        "DELETE FROM anchors WHERE number = 3",
        "UPDATE anchors SET root = 'x' WHERE number = 2",
        "UPDATE anchors SET at = 'x' WHERE number = 3",
        "DELETE FROM anchors",
    ],
)
async def test_a_changed_anchor_is_found(talk: Talk, file_url: str, sql: str) -> None:
    await lived(talk, file_url)
    store = await open_store(file_url, None)
    for _ in range(3):
        await anchors.anchor(store)
        async with opened(file_url, "s-1") as parcel:
            await parcel.process_message("how much")
    assert await broken(store) == []
    with database(file_url) as connection:
        connection.execute(sql)
    assert [one.table for one in await broken(store)][-1] in ("anchors", "anchored_heads")
    await store.close()


async def test_a_session_that_goes_back_behind_its_anchor_is_found(file_url: str) -> None:
    """A whole older copy of a session agrees with itself, and not with the anchor."""
    async with opened(file_url) as parcel:
        await parcel.start()
        await parcel.process_message("how much")
        store = await open_store(file_url, None)
        with database(file_url) as connection, database(":memory:") as older:
            connection.backup(older)
            await parcel.process_message("street=Main")
            await anchors.anchor(store)
            kept = {
                table: [tuple(row) for row in older.execute(f"SELECT * FROM {table}")]
                for table in ("sessions", *TABLES)
            }
            for table, rows in kept.items():
                connection.execute(f"DELETE FROM {table}")
                for row in rows:
                    marks = ", ".join("?" * len(row))
                    connection.execute(f"INSERT INTO {table} VALUES ({marks})", row)
        [found_] = await broken(store)
        assert (found_.table, found_.turn) == ("turns", 2)
        assert "anchored" in found_.fault
        await anchors.anchor(store)
        assert await broken(store) == [found_]
        await store.close()


@pytest.mark.parametrize(
    "sql",
    [
        "DELETE FROM anchored_heads WHERE session_id = 's-1'",
        "UPDATE anchored_heads SET version = version - 1 WHERE session_id = 's-1'",
    ],
)
async def test_a_later_anchor_does_not_hide_that_heads_were_changed(
    talk: Talk, file_url: str, sql: str
) -> None:
    await lived(talk, file_url)
    store = await open_store(file_url, None)
    await anchors.anchor(store)
    with database(file_url) as connection:
        connection.execute(sql)
    for _ in range(2):
        async with opened(file_url, "s-1") as parcel:
            await parcel.process_message("how much")
        assert await anchors.anchor(store)
    assert [one.table for one in await broken(store)] == ["anchored_heads"]
    await store.close()


async def test_a_session_that_ends_while_it_is_anchored_leaves_no_head(
    store: Store, store_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = replace(store)
    async with opened(store_url) as parcel:
        await parcel.start()

        async def late(*written: Statement) -> None:
            await parcel.delete()
            await anchors.anchor(other)
            await Store.write(store, *written)

        with monkeypatch.context() as patched:
            patched.setattr(store, "write", late)
            with pytest.raises(AlreadyThere):
                await anchors.anchor(store)
    await anchors.anchor(store)
    assert await asked(store, "SELECT session_id FROM anchored_heads") == []
    assert await broken(store) == []


async def test_an_anchor_of_an_older_release_is_followed_by_one_of_this(file_url: str) -> None:
    async with opened(file_url) as parcel:
        await parcel.start()
        store = await open_store(file_url, None)
        await anchors.anchor(store)
        [row] = await store.read(Sql("SELECT * FROM anchors", None))
        [head] = await store.read(Sql("SELECT * FROM anchored_heads", None))
        told = [head[name] for name in ("tenant", "session_id", "created_at", *ENDS)]
        heads = hash_of(hash_of(*told))
        root = hash_of("", *(row[name] for name in ("tenant", "number", "at", "total")), heads)
        older = "UPDATE anchors SET product = NULL, heads = :heads, root = :root"
        await store.write(Statement(Sql(older, None), [{"heads": heads, "root": root}]))
        assert await broken(store) == []

        await parcel.process_message("how much")
        made = await anchors.anchor(store)
        assert made is not None
        assert (made.number, made.total) == (2, 1)
        assert await broken(store) == []
        with database(file_url) as connection:
            connection.execute("UPDATE anchored_heads SET version = 0")
        assert [one.table for one in await broken(store)][-1] == "anchored_heads"
        await store.close()


MANY = 1_000
"""Sessions beside the one that changes."""


async def read_by(store: Store, url: str, deed: Callable[[], Awaitable[Any]]) -> int:
    """Return how much a deed reads: rows on Postgres, steps of the database on SQLite."""
    steps = 0

    def counts() -> None:
        nonlocal steps
        steps += 1

    saver: Any = store.saver
    if not store.is_shared:
        saver.conn.set_progress_handler(counts, 1)
        await deed()
        saver.conn.set_progress_handler(None, 0)
        return steps
    before = sum((await rows_read(url, store)).values())
    await deed()
    return sum((await rows_read(url, store)).values()) - before


async def test_an_anchor_reads_what_has_changed_and_not_what_is_there(
    store: Store, store_url: str
) -> None:
    anchoring = anchors.Anchoring(store, every=0.0)
    found: list[tuple[int, int]] = []
    async with opened(store_url) as parcel:
        await parcel.start()
    for others in (0, MANY):
        if others:
            await copied(store, others)
        if store.is_shared:  # a plan without statistics may read a table whole
            with connected(store_url) as connection:
                connection.execute("ANALYZE")
        async with opened(store_url) as parcel:
            await parcel.process_message("how much")
        # The session is closed: nothing else works for it.
        changed = await read_by(store, store_url, anchoring.run)
        found.append((changed, await read_by(store, store_url, anchoring.run)))
    assert await asked(store, "SELECT count(*) FROM anchored_heads") == [MANY + 1]
    # A connection of another test that ends late may count some rows more.
    for few, many in zip(*found, strict=True):
        assert many <= 2 * few + MANY / 10


async def test_two_servers_write_one_anchor(store: Store, store_url: str) -> None:
    async with opened(store_url) as parcel:
        await parcel.start()
    made = await asyncio.gather(
        anchors.anchor(store), anchors.anchor(store), return_exceptions=True
    )
    assert sum(isinstance(one, anchors.Anchor) for one in made) >= 1
    assert await asked(store, "SELECT session_id FROM anchored_heads") == ["s-1"]
    assert await broken(store) == []


async def test_a_server_anchors_what_has_changed(store: Store, store_url: str) -> None:
    anchoring = anchors.Anchoring(store, every=0.01)
    async with opened(store_url) as parcel:
        await parcel.start()
        jobs = Jobs(anchoring)
        jobs.begin()
        while await anchors.newest(store) is None:  # noqa: ASYNC110 - it is written by the task
            await asyncio.sleep(0.01)
        await jobs.end()
    assert await anchors.anchor(store) is None
    assert await broken(store) == []


# ------------------------------------------------------------------------- the command


async def test_the_command_names_the_first_broken_row(talk: Talk, file_url: str) -> None:
    await lived(talk, file_url)
    anchored = await to_thread(run, "audit", "anchor", "--store", file_url, "--json")
    root = json.loads(anchored.stdout)["anchor"]["root"]
    fine = await to_thread(run, "audit", "verify", "--store", file_url)
    assert "Sessions: 2, turns: 9, broken: 0." in fine.stdout
    assert root in fine.stdout

    with database(file_url) as connection:
        connection.execute("UPDATE turns SET reply = 'other' WHERE version = 2")
    bad = await to_thread(run, "audit", "verify", "--store", file_url, code=1)
    assert "Broken: session s-1, table turns, turn 2: the row was changed." in bad.stdout
    told = await to_thread(run, "audit", "verify", "s-1", "--store", file_url, "--json", code=1)
    assert json.loads(told.stdout)["broken"] == [
        {"session_id": "s-1", "table": "turns", "turn": 2, "fault": "the row was changed"}
    ]


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["verify", "nobody"], 1, "There is no session 'nobody'"),
        (["anchor", "s-1"], 2, "Give one session"),
        (["verify", "--review"], 2, "takes no --review"),
    ],
)
def test_the_command_refuses_what_it_cannot_do(
    file_url: str, words: list[str], code: int, said: str
) -> None:
    assert said in flat(run("audit", *words, "--store", file_url, code=code).stderr)
