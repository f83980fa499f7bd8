"""Faults of a Postgres, or of the network to it, during a turn: the session stays consistent."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import AsyncCursor

from journeygraph import StateError
from journeygraph.graphs.storage import connections, statements
from journeygraph.graphs.storage.connections import Connections
from journeygraph.graphs.storage.migrations.migrate_postgres import migrate_postgres
from tests.sessions.test_session_faults import Gate, situation
from tests.support import forked, postgres, process_child
from tests.support.post_office import AGENTS, Parcel, opened, rows
from tests.support.postgres import connected
from tests.support.proxy import Proxy


@pytest.fixture(autouse=True)
def _short_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "ANSWER", 1.4)
    monkeypatch.setattr(connections, "LOCK", 0.2)
    monkeypatch.setattr(connections, "DEADLINE", 5.0)
    monkeypatch.setattr(connections, "CONNECT", 2.0)
    monkeypatch.setattr(connections, "_CHECK", 0.2)


@pytest.fixture
async def network(postgres_url: str) -> AsyncIterator[Proxy]:
    async with Proxy.to(postgres_url) as proxy:
        yield proxy


async def refused_and_unchanged(parcel: Parcel, before: Any, message: str = "how much") -> None:
    with pytest.raises(StateError, match=r"[Tt]ry again") as refused:
        await parcel.process_message(message)
    assert refused.value.retryable
    assert await situation(parcel) == before


# ------------------------------------------------------------------ how often it is asked


async def test_a_turn_is_two_statements_of_which_one_commits(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    execute = AsyncCursor.execute

    async def spied(self: Any, query: Any, *args: Any, **kwargs: Any) -> Any:
        # On a slow machine a lease is renewed, and a connection that was idle is checked.
        if query not in ("", statements.RENEW.postgres):
            asked.append(str(query).split()[0].upper())
        return await execute(self, query, *args, **kwargs)

    async with opened(postgres_url) as parcel:
        await parcel.start()
        await parcel.process_message("hello")
        monkeypatch.setattr(AsyncCursor, "execute", spied)
        for number in range(16):  # one of them prunes
            asked.clear()
            await parcel.process_message("how much" if number % 2 else "hello")
            assert asked == ["WITH", "WITH"]
        asked.clear()
        await parcel.rollback(1)
        assert asked == ["WITH", "SELECT", "WITH"]


async def test_a_turn_is_two_round_trips(network: Proxy) -> None:
    async with opened(network.url, database_pool_size=1) as parcel:
        await parcel.start({"customer": "C-1"})
        for _ in range(4):  # a statement that a connection does not know is prepared first
            await parcel.process_message("hello")
        for _ in range(10):
            before = network.asked
            await parcel.process_message("hello")
            assert network.asked - before == 2


# ------------------------------------------------------------------ the network


async def test_a_program_that_fails_with_an_open_store_ends(network: Proxy, tmp_path: Path) -> None:
    network.delay = 0.02  # so that connections are on their way
    log = tmp_path / "log"
    process = forked.process(process_child.leave_open, network.url, str(log))
    process.start()
    await asyncio.to_thread(process.join, 60)
    process.kill()
    assert log.read_text() == "ended"


@pytest.mark.parametrize("lost", [b"assistant", b'"text":"street=Main"'], ids=["commit", "lease"])
async def test_a_commit_whose_acknowledgement_is_lost_counts_once(
    network: Proxy, lost: bytes
) -> None:
    async with opened(network.url) as parcel:
        await parcel.start({"customer": "C-1"})
        network.loses = lost
        reply = await parcel.process_message("street=Main")
        assert network.hit == 1
        assert reply.metadata["version"] == 1
        assert [row.message for row in await parcel.versions()] == [None, "street=Main"]
        assert (await parcel.process_message("card=1")).metadata["version"] == 2


async def test_a_start_whose_acknowledgement_is_lost_is_no_second_one(network: Proxy) -> None:
    async with opened(network.url) as parcel:
        network.loses = b"C-lost"
        session = await parcel.start({"customer": "C-lost"})
        assert network.hit == 1
        assert session.version == 0


async def test_an_audit_whose_acknowledgement_is_lost_is_written_once(network: Proxy) -> None:
    def fails(payload: dict[str, Any]) -> str:
        raise ValueError("the-reason")

    agents = {**AGENTS, "address": fails}
    async with opened(network.url, agents=agents, error_recovery="fail_fast") as parcel:
        await parcel.start()
        network.loses = b"the-reason"
        with pytest.raises(Exception, match="the-reason"):
            await parcel.process_message("hello")
        assert network.hit == 1
        assert [row.kind for row in await parcel.audit()] == ["failure"]


async def test_a_commit_that_does_not_arrive_is_sent_again(network: Proxy) -> None:
    async with opened(network.url) as parcel:
        await parcel.start()
        network.drops, network.times = b"street=Main", 1
        assert (await parcel.process_message("street=Main")).metadata["version"] == 1
        assert network.hit == 1


async def test_a_commit_that_never_arrives_leaves_the_session_before(network: Proxy) -> None:
    async with opened(network.url) as parcel:
        await parcel.start()
        before = await situation(parcel)
        network.drops, network.times = b"how much", 2
        await refused_and_unchanged(parcel, before)
        assert network.hit == 2
        assert (await parcel.process_message("how much")).pathway_id == "prices"


@pytest.mark.long
async def test_a_network_that_falls_silent_is_given_up_in_time(network: Proxy) -> None:
    gate = Gate()
    async with opened(network.url, agents={**AGENTS, "address": gate}) as parcel:
        await parcel.start()
        before = await situation(parcel)
        turn = asyncio.ensure_future(parcel.process_message("hello"))
        await gate.reached.wait()
        network.silent = True
        gate.open.set()
        with pytest.raises(StateError, match=r"[Tt]ry again"):
            await turn
        network.silent = False
        assert await situation(parcel) == before
        assert (await parcel.process_message("hello")).metadata["version"] == 1


async def test_a_connection_that_was_cut_while_nobody_used_it_is_no_fault(
    postgres_url: str,
) -> None:
    async with opened(postgres_url) as parcel:
        await parcel.start()
        await asyncio.gather(*(parcel.versions() for _ in range(8)))
        for number in range(1, 4):
            cut_all(postgres_url)
            assert (await parcel.process_message("hello")).metadata["version"] == number


def cut_all(url: str) -> None:
    with connected(url) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid, 1000) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )


# ------------------------------------------------------------------ the server


@pytest.fixture
def own_server() -> Iterator[postgres.Server]:
    """A server that the test may stop."""
    server = postgres.Server()
    server.start()
    migrate_postgres(server.url)
    yield server
    server.end()


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGQUIT])
async def test_a_server_that_restarts_in_the_middle_of_a_turn_loses_nothing(
    own_server: postgres.Server, how: int
) -> None:
    gate = Gate()
    async with opened(own_server.url, agents={**AGENTS, "address": gate}) as parcel:
        await parcel.start()
        await asyncio.gather(*(parcel.versions() for _ in range(8)))
        turn = asyncio.ensure_future(parcel.process_message("hello"))
        await gate.reached.wait()
        own_server.stop(how)
        own_server.start()
        gate.open.set()
        assert (await turn).metadata["version"] == 1
        assert await parcel.snapshot() == {"street": "Main"}


@pytest.mark.long
async def test_a_server_that_is_gone_is_an_error_to_try_again(
    own_server: postgres.Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "DEADLINE", 3.0)
    gate = Gate()
    async with opened(own_server.url, agents={**AGENTS, "address": gate}) as parcel:
        await parcel.start()
        before = await situation(parcel)
        turn = asyncio.ensure_future(parcel.process_message("hello"))
        await gate.reached.wait()
        own_server.stop()
        gate.open.set()
        with pytest.raises(StateError, match=r"[Tt]ry again") as refused:
            await turn
        assert refused.value.retryable
        own_server.start()
        assert await situation(parcel) == before
        assert (await parcel.process_message("hello")).metadata["version"] == 1


# ------------------------------------------------------------------ what the server refuses


def failing(url: str, table: str, code: str, times: int) -> None:
    """Make the first insertions into a table fail with a SQLSTATE."""
    with connected(url) as connection:
        # A sequence is not rolled back, so it counts what failed as well.
        connection.execute(
            f"CREATE SEQUENCE tries; CREATE FUNCTION fail() RETURNS trigger AS $$ BEGIN "
            f"IF nextval('tries') <= {times} THEN RAISE EXCEPTION 'as told' "
            f"USING ERRCODE = '{code}'; END IF; RETURN NEW; END $$ LANGUAGE plpgsql; "
            f"CREATE TRIGGER failing BEFORE INSERT ON {table} EXECUTE FUNCTION fail()"
        )


CODES = {"40001": "serialization", "40P01": "deadlock", "53100": "disk full", "25006": "read only"}


@pytest.mark.parametrize("code", CODES, ids=CODES.values())
async def test_what_fails_once_in_passing_succeeds(postgres_url: str, code: str) -> None:
    async with opened(postgres_url) as parcel:
        await parcel.start()
        failing(postgres_url, "turns", code, times=1)
        assert (await parcel.process_message("street=Main")).metadata["version"] == 1
        assert len(await parcel.versions()) == 2


@pytest.mark.parametrize("table", ["turns", "audit", "checkpoints", "checkpoint_blobs"])
@pytest.mark.parametrize("code", CODES, ids=CODES.values())
async def test_what_fails_twice_leaves_the_session_before(
    postgres_url: str, code: str, table: str
) -> None:
    async with opened(postgres_url) as parcel:
        await parcel.start()
        await parcel.process_message("street=Main")
        before, kept = await situation(parcel), rows(postgres_url)
        failing(postgres_url, table, code, times=2)
        await refused_and_unchanged(parcel, before)
        assert rows(postgres_url) == kept
        assert (await parcel.process_message("how much")).pathway_id == "prices"


async def test_a_database_that_may_only_be_read_is_an_error_to_try_again(
    postgres_url: str,
) -> None:
    async with opened(postgres_url) as parcel:
        await parcel.start()
        before = await situation(parcel)
        name = postgres_url.rpartition("/")[2]
        with connected(postgres_url) as connection:
            connection.execute(f"ALTER DATABASE {name} SET default_transaction_read_only = on")
        cut_all(postgres_url)
        for call in (parcel.process_message("hello"), parcel.rollback(0), parcel.delete()):
            with pytest.raises(StateError, match="read-only") as refused:
                await call
            assert refused.value.retryable
        assert await situation(parcel) == before


async def test_a_table_that_stays_locked_is_an_error_to_try_again(postgres_url: str) -> None:
    async with opened(postgres_url) as parcel:
        await parcel.start()
        before = await situation(parcel)
        with psycopg.connect(postgres_url) as other:
            other.execute("LOCK TABLE checkpoint_blobs IN EXCLUSIVE MODE")
            await refused_and_unchanged(parcel, before, "hello")
            other.rollback()
        assert (await parcel.process_message("hello")).metadata["version"] == 1


async def test_a_short_lock_is_waited_for(postgres_url: str) -> None:
    async with opened(postgres_url) as parcel:
        await parcel.start()
        with psycopg.connect(postgres_url) as other:
            other.execute("LOCK TABLE sessions IN ACCESS EXCLUSIVE MODE")
            turn = asyncio.ensure_future(parcel.process_message("hello"))
            await asyncio.sleep(0.25)
            other.rollback()
        assert (await turn).metadata["version"] == 1


async def test_a_text_with_nul_is_kept_without_it(postgres_url: str) -> None:
    def says(payload: dict[str, Any]) -> dict[str, Any]:
        if payload["message"] == "fail":
            raise ValueError("g\0h")
        return {"response": "a\0b", "heard": "c\0d"}

    async with opened(postgres_url, agents={**AGENTS, "address": says}) as parcel:
        await parcel.start({"first": "e\0f"})
        reply = await parcel.process_message("hello")
        assert reply.message == "a\ufffdb"
        assert await parcel.snapshot() == {"first": "e\ufffdf", "heard": ["c\ufffdd"]}
        assert [item.content for item in await parcel.transcript()] == ["hello", "a\ufffdb"]
        await parcel.process_message("fail")
        assert "g\ufffdh" in (await parcel.audit())[-1].reason


async def test_no_connection_is_held_while_an_agent_works(postgres_url: str) -> None:
    gate = Gate()
    agents = {**AGENTS, "address": gate}
    parcels = [
        opened(postgres_url, f"s-{n}", agents=agents, database_pool_size=1) for n in range(5)
    ]
    for parcel in parcels:
        await parcel.start()
    turns = [asyncio.ensure_future(parcel.process_message("hello")) for parcel in parcels]
    await gate.reached.wait()
    assert len(await parcels[0].list()) == 5
    gate.open.set()
    assert [reply.metadata["version"] for reply in await asyncio.gather(*turns)] == [1] * 5
    for parcel in parcels:
        await parcel.close()


async def test_a_lease_that_waits_for_a_commit_sees_it_whole(postgres_url: str) -> None:
    """The lease's own statement sees the new version of the session, but not yet its turn."""
    async with opened(postgres_url) as parcel:
        await parcel.start()
        await parcel.process_message("street=Main")
        url = postgres_url
        with psycopg.connect(url) as other:
            other.execute(
                "INSERT INTO turns SELECT tenant, session_id, 2, kind, checkpoint_id, NULL, "
                "pathway_id, message, reply, operations, begun_at, at FROM turns WHERE version = 1"
            )
            other.execute("UPDATE sessions SET version = 2")
            turn = asyncio.ensure_future(parcel.process_message("card=1"))
            await asyncio.sleep(0.1)
            other.commit()
        reply = await turn
        assert (reply.metadata["version"], reply.is_journey_complete) == (3, True)
        assert reply.accumulated_context == {"street": "Main", "card": "1"}


async def test_a_pool_that_is_full_is_waited_for_and_then_an_error(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "DEADLINE", 0.5)
    async with opened(postgres_url, database_pool_size=1) as parcel:
        await parcel.start()
        session = await parcel.manager._session()
        pool: Connections = session.store.saver._connections  # type: ignore[union-attr]
        async with pool.connection():
            with pytest.raises(StateError, match="no connection to the database"):
                await parcel.versions()
        assert len(await parcel.versions()) == 1
