"""A cancellation does not lose connections, and errors of a store are true."""

from __future__ import annotations

import asyncio
import random
import socket
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from typing import Any
from urllib.parse import quote, urlsplit

import pytest
from psycopg import AsyncPipeline

from journeygraph import ConfigurationError, JourneyConfig, StateError
from journeygraph.graphs.session.directory import Directory
from journeygraph.graphs.session.jobs import Expiry
from journeygraph.graphs.session.session import StoredSession
from journeygraph.graphs.storage import connections
from journeygraph.graphs.storage.migrations.migrate_postgres import migrate_postgres
from journeygraph.server.settings import Settings
from tests.sessions.test_leases import Elsewhere
from tests.support.post_office import found, opened
from tests.support.postgres import Postgres, connected
from tests.support.proxy import Proxy

CLIENTS = (
    "SELECT count(*) FROM pg_stat_activity "
    "WHERE datname = current_database() AND pid <> pg_backend_pid() "
    "AND backend_type = 'client backend'"
)


@pytest.fixture
async def network(postgres_url: str, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Proxy]:
    for name, seconds in {"DEADLINE": 1.5, "ANSWER": 1.3, "CONNECT": 1.0, "_CHECK": 0.2}.items():
        monkeypatch.setattr(connections, name, seconds)
    async with Proxy.to(postgres_url) as proxy:
        yield proxy


async def unanswered(*_: Any) -> Any:
    raise StateError("The session is unchanged. Try again.", retryable=True)


async def test_who_is_cancelled_takes_no_connection_with_them(postgres_url: str) -> None:
    parcels = [opened(postgres_url, f"s-{n}", database_pool_size=2) for n in range(6)]
    for parcel in parcels:
        await parcel.start()
    chance = random.Random(2)

    async def impatient(parcel: Any) -> None:
        for _ in range(80):
            asked = asyncio.ensure_future(parcel.versions())
            await asyncio.sleep(chance.random() / 100)
            asked.cancel()
            await asyncio.wait([asked])

    await asyncio.gather(*map(impatient, parcels))
    session = await parcels[0].manager._session()
    pool = session.store.saver._connections.pool  # type: ignore[union-attr]
    while (counts := pool.get_stats())["pool_available"] < counts["pool_size"]:  # noqa: ASYNC110
        await asyncio.sleep(0.01)
    for parcel in parcels:
        await parcel.close()
    # A server ends a process after its client.
    while found(postgres_url, CLIENTS) != [(0,)]:  # noqa: ASYNC110
        await asyncio.sleep(0.01)


READ = (
    "SELECT relname, coalesce(idx_tup_fetch, 0) + coalesce(seq_tup_read, 0) "
    "FROM pg_stat_user_tables"
)
MANY = 2_000
"""Least rows of a table beside those of the session that is measured."""
KEYS = (
    "SELECT table_name, column_name FROM information_schema.columns "
    "WHERE table_schema = 'public' AND column_name IN ('session_id', 'thread_id') "
    "ORDER BY table_name <> 'sessions'"
)
"""The column that names the session, of each table that has one."""


COMMITTED = "SELECT xact_commit FROM pg_stat_database WHERE datname = current_database()"


async def counted(url: str, store: Any, query: str) -> list[Any]:
    """Read a statistic of the database to which a store has told all that it did."""
    connections = store.saver._connections
    async with AsyncExitStack() as lent:  # one that works is waited for
        for _ in range(connections.pool.get_stats()["pool_size"]):
            connection = await lent.enter_async_context(connections.connection())
            await connection.execute("SELECT pg_stat_force_next_flush()")
    return found(url, query)


async def rows_read(url: str, store: Any) -> dict[str, int]:
    """The rows of each table that were read so far."""
    return dict(await counted(url, store, READ))


def _crowd(url: str) -> None:
    """Copy the rows of the one session for others until a table has MANY; tell the planner of them.

    A table of few rows is so small that to read all of it is the best plan.
    """
    with connected(url) as connection:
        for table, key in connection.execute(KEYS).fetchall():
            columns = connection.execute(f"SELECT * FROM {table} LIMIT 0").description or ()
            [(rows,)] = connection.execute(f"SELECT count(*) FROM {table}").fetchall()
            copies = max(100, MANY // max(rows, 1))
            copied = ", ".join(one.name for one in columns if one.name != key)
            connection.execute(
                f"INSERT INTO {table} ({key}, {copied}) SELECT 'other-' || copy, {copied} "
                f"FROM {table}, generate_series(1, {copies}) AS copy ON CONFLICT DO NOTHING"
            )
        connection.execute("ANALYZE")


@pytest.mark.parametrize("tenant", ["default", "acme"])
async def test_a_turn_reads_as_many_rows_late_and_among_many_sessions(
    postgres_url: str, postgres_server: Postgres, tenant: str
) -> None:
    # Row-level security binds the second one, so that its statements have other plans.
    url = postgres_url if tenant == "default" else postgres_server.fenced(postgres_url)
    async with opened(url, "s-1", tenant=tenant) as parcel:
        await parcel.start()
        for _ in range(20):
            await parcel.process_message("hello")
        _crowd(postgres_url)
        store = (await parcel.manager._session()).store
        before = await rows_read(postgres_url, store)
        await parcel.process_message("hello")
        after = await rows_read(postgres_url, store)

    read = {table: after[table] - before[table] for table in after}
    assert read["checkpoint_blobs"] > 0
    assert {table: rows for table, rows in read.items() if rows > 10} == {}


CALLS = 60
"""Calls for a person, of which a page shows the newest ones."""
ANY_VALUES = quote("-c plan_cache_mode=force_generic_plan")
"""Plans for any values, as a server has them after some requests."""


@pytest.mark.parametrize("status", ["", "open", "released"])
async def test_a_page_of_escalations_reads_no_others(
    postgres_url: str, postgres_server: Postgres, status: str
) -> None:
    url = f"{postgres_server.fenced(postgres_url)}?options={ANY_VALUES}"
    async with opened(url, "s-0") as parcel:
        await parcel.start()
        with connected(postgres_url) as connection:
            told = connection.execute("SELECT * FROM sessions").description or ()
            copied = ", ".join(one.name for one in told if one.name != "session_id")
            numbers = f"generate_series(1, {MANY}) AS number"
            connection.execute(
                f"INSERT INTO sessions (session_id, {copied}) "
                f"SELECT 's-' || number, {copied} FROM sessions, {numbers}"
            )
            connection.execute(
                "INSERT INTO escalations (tenant, session_id, id, status, journey_id, turn, "
                "reason, payload, at, updated_at, unclaimed_at, tries, next_try_at) "
                "SELECT 'default', 's-' || number, number, (ARRAY['open', 'claimed', 'released'])"
                "[1 + number % 3], 'parcel', 0, 'r', '{}', '', '', '', 0, '' "
                f"FROM generate_series(1, {CALLS}) AS number"
            )
        store = (await parcel.manager._session()).store
        before = await rows_read(postgres_url, store)
        page = await Directory(store).escalations(["parcel"], status=status, limit=4)
        after = await rows_read(postgres_url, store)

    known = [number for number in range(CALLS, 0, -1) if status in ("", of_number(number))]
    waits = [number for number in known if status or of_number(number) != "released"]
    assert [one.entry.id for one in page] == [str(number) for number in waits[:4]]
    read = {table: after[table] - before[table] for table in ("escalations", "sessions")}
    assert {table: rows for table, rows in read.items() if rows > 12} == {}


def of_number(number: int) -> str:
    """The status of a call of the test."""
    return ("open", "claimed", "released")[number % 3]


async def test_a_pipeline_that_ends_without_a_result_is_tried_again(
    postgres_url: str, postgres_server: Postgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    lost: list[bool] = []

    async def ends(pipeline: Any, *error: Any) -> None:
        """End as psycopg does where the server closes the connection in the middle."""
        monkeypatch.undo()
        lost.append(True)
        await pipeline._conn.close()

    async with opened(postgres_server.fenced(postgres_url), "s-1", tenant="acme") as parcel:
        await parcel.start()
        await parcel.process_message("hello")
        monkeypatch.setattr(AsyncPipeline, "__aexit__", ends)
        state = await parcel.get_session_state()
    assert lost
    assert state is not None


async def test_a_connection_whose_user_was_cancelled_in_a_pipeline_serves_no_other(
    postgres_url: str, postgres_server: Postgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    left: list[Any] = []

    async def ends(pipeline: Any, *error: Any) -> None:
        """End as it does where the task is cancelled before the connection leaves its pipeline."""
        monkeypatch.undo()
        left.append(pipeline._conn)
        raise asyncio.CancelledError

    url = postgres_server.fenced(postgres_url)
    async with opened(url, "s-1") as own, opened(url, "s-1", tenant="acme") as parcel:
        await own.start()
        await parcel.start()
        monkeypatch.setattr(AsyncPipeline, "__aexit__", ends)
        with pytest.raises(asyncio.CancelledError):
            await parcel.get_session_state()
        assert [connection.closed for connection in left] == [True]
        for each in (own, parcel):
            assert await each.get_session_state() is not None


async def test_a_look_for_expired_sessions_asks_once_for_all_tenants(
    postgres_url: str, postgres_server: Postgres
) -> None:
    url = postgres_server.fenced(postgres_url)
    for tenant in ("default", "acme", "acme-corp"):
        async with opened(url, "s-1", tenant=tenant) as parcel:
            await parcel.start()
    with connected(postgres_url) as connection:
        connection.execute(
            "INSERT INTO tenants "
            f"SELECT 't-' || number, '' FROM generate_series(1, {MANY}) AS number"
        )
        connection.execute("UPDATE sessions SET expires_at = '2020' WHERE tenant <> 'acme'")
    async with opened(url, "s-1", tenant="acme") as parcel:
        store = (await parcel.manager._session()).store
        [(before,)] = await counted(postgres_url, store, COMMITTED)
        await Expiry(store, lambda: ["parcel", "letter"]).run()
        [(after,)] = await counted(postgres_url, store, COMMITTED)

    assert after - before < MANY / 2
    stored = found(postgres_url, "SELECT tenant, status FROM sessions ORDER BY tenant")
    assert stored == [("acme", "active"), ("acme-corp", "expired"), ("default", "expired")]


async def test_a_rollback_whose_commit_prunes_keeps_what_it_goes_back_to(kept_url: str) -> None:
    async with opened(kept_url) as parcel:
        await parcel.start()
        for number in range(111):
            await parcel.process_message("street=Elm" if number == 3 else "hello")
        await parcel.rollback(5)  # makes version 112, which prunes what is older than version 13
        assert await parcel.snapshot() == {"street": "Elm"}
        assert (await parcel.process_message("hello")).metadata["version"] == 113


@pytest.mark.parametrize("password", ["12/s3cret", "s3cret/", "/s3cret"])
async def test_a_password_with_a_slash_is_never_shown(password: str) -> None:
    with pytest.raises(ConfigurationError) as refused:
        JourneyConfig(persistence=f"postgresql://ada:{password}@127.0.0.1/db")
    assert "s3cret" not in str(refused.value)
    assert "%2F" in str(refused.value)


@pytest.mark.parametrize("url", ["postgresql:ada:s3cret@h/db", "ada:s3cret@h", "s3cret@h"])
def test_what_is_no_url_shows_no_password_either(url: str) -> None:
    with pytest.raises(ConfigurationError, match="is not a supported store") as refused:
        JourneyConfig(persistence=url)
    assert "s3cret" not in str(refused.value)


async def test_settings_show_no_password(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DATABASE_URL", "JOURNEYGRAPH_STORE"):
        monkeypatch.setenv(name, "postgresql://ada:s3cret@127.0.0.1/db")
    assert "s3cret" not in repr(Settings())


async def test_a_server_that_never_says_a_word_is_given_up_when_a_store_is_opened(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(connections, "CONNECT", 1.0)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        async with opened(f"postgresql://x@127.0.0.1:{silent.getsockname()[1]}/x") as parcel:
            with pytest.raises(StateError, match="timeout") as failed:
                await parcel.start()
            assert failed.value.retryable


@pytest.mark.slow
async def test_closing_waits_for_no_database_that_is_gone(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "TRUSTED", 0.0)
    async with Proxy.to(postgres_url) as network:
        parcel = opened(network.url)
        await parcel.start()
        network.silent = True
        await parcel.close()


async def test_a_commit_of_which_nothing_is_known_is_not_said_to_be_undone(
    network: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(network.url) as parcel:
        await parcel.start()
        network.loses = b"assistant"  # in the state, which the commit writes
        turn = asyncio.ensure_future(parcel.process_message("street=Main"))
        while not network.hit:  # noqa: ASYNC110
            await asyncio.sleep(0)
        network.silent = True
        with pytest.raises(StateError) as failed:
            await turn
        network.silent = False
        monkeypatch.setattr(connections, "DEADLINE", 60.0)  # to connect again may take a while
        assert "is unchanged" not in str(failed.value)
        assert "Read the state of the session" in str(failed.value)
        assert (await parcel.versions())[-1].message == "street=Main"


async def test_a_start_that_has_begun_is_not_said_to_have_failed(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(postgres_url) as parcel:
        monkeypatch.setattr(StoredSession, "values", unanswered)
        with pytest.raises(StateError, match="Read the state of the session"):
            await parcel.start()
        assert found(postgres_url, "SELECT version FROM sessions") == [(0,)]


async def test_a_turn_whose_callback_fails_stands_also_if_that_cannot_be_audited(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def ended(response: Any) -> None:
        raise ValueError("no bell to ring")

    async with opened(postgres_url, on_end=ended) as parcel:
        await parcel.start()
        await parcel.process_message("street=Elm")
        monkeypatch.setattr(StoredSession, "audited", unanswered)
        assert (await parcel.process_message("card=1")).is_journey_complete


async def test_a_rollback_gives_its_own_version_though_another_process_moved_on(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    roll = StoredSession.rolled_back

    async def overtaken(self: StoredSession, *args: Any) -> Any:
        made = await roll(self, *args)
        elsewhere = Elsewhere(postgres_url)
        elsewhere._open.set()
        async with elsewhere.turn() as turn:
            await turn
        return made

    async with opened(postgres_url) as parcel:
        await parcel.start()
        await parcel.process_message("street=Elm")
        monkeypatch.setattr(StoredSession, "rolled_back", overtaken)
        session = await parcel.rollback(0)
        assert (session.version, session.accumulated_context) == (2, {})
        assert (await parcel.versions())[-1].version == 3


async def test_what_a_server_will_never_do_is_not_to_be_tried_again(postgres_url: str) -> None:
    async with opened(postgres_url) as parcel:
        await parcel.start()
        with connected(postgres_url) as connection:
            connection.execute("ALTER TABLE turns RENAME TO turned")
        with pytest.raises(StateError, match='"turns" does not exist') as refused:
            await parcel.process_message("hello")
        assert not refused.value.retryable


@pytest.mark.parametrize("encoding", ["LATIN1", "SQL_ASCII"])
async def test_a_database_that_cannot_hold_every_character_is_refused(
    postgres_server: Postgres, encoding: str
) -> None:
    name = f"journey_{encoding.lower()}"
    url = urlsplit(postgres_server.url)._replace(path=f"/{name}").geturl()
    with connected(postgres_server.url) as connection:
        how = f"ENCODING '{encoding}' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0"
        connection.execute(f"CREATE DATABASE {name} {how}")
    try:
        with pytest.raises(StateError, match=f"{encoding}.*ENCODING 'UTF8'"):
            migrate_postgres(url)
        async with opened(url) as parcel:
            with pytest.raises(StateError, match=encoding):
                await parcel.start()
    finally:
        postgres_server.drop(url)
