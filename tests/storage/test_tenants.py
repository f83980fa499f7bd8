"""Tenants in one store: the same ids and keys in several, and nothing of one in another."""

from __future__ import annotations

import logging
import re
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg._queries import MAX_CACHED_STATEMENT_LENGTH
from sqlalchemy import delete, exists, insert, select, update

from journeygraph import (
    ConfigurationError,
    JourneyConfig,
    SessionNotStartedError,
)
from journeygraph.graphs.session.directory import Directory
from journeygraph.graphs.storage.statements import HEAD, LEASE_AS_TENANT, Sql, of_tenant
from journeygraph.graphs.storage.tables import audit, metadata, sessions, turns
from tests.support.post_office import AGENTS, Parcel
from tests.support.postgres import Postgres, connected

TENANTS = ("default", "acme", "acme-corp")
STORES = ("memory", "sqlite", "postgres", "fenced")
# Servers compare them before they know a tenant.
OPEN = {"definition_epoch"}


@pytest.fixture(params=STORES)
def url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """Stores of each kind; the last one on Postgres for a role that row-level security binds."""
    if request.param == "memory":
        yield f"memory://{uuid.uuid4()}"
    elif request.param == "sqlite":
        yield f"sqlite:///{tmp_path / 'journeys.db'}"
    else:
        kept: str = request.getfixturevalue("postgres_url")
        server: Postgres = request.getfixturevalue("postgres_server")
        yield server.fenced(kept) if request.param == "fenced" else kept


def of(url: str, tenant: str, session_id: str = "s-1") -> Parcel:
    return Parcel(session_id, JourneyConfig(persistence=url, tenant=tenant), agents=AGENTS)


async def talked(url: str, tenants: tuple[str, ...] = TENANTS) -> None:
    for tenant in tenants:
        async with of(url, tenant) as parcel:
            await parcel.start({"customer": f"of {tenant}"})
            said = f"street={tenant}-street"
            await parcel.process_message(said)
            once = await parcel.manager.process_message("how much is it?", idempotency_key="k")
            assert not once.replayed


async def test_the_same_session_id_is_another_session_for_each_tenant(url: str) -> None:
    await talked(url)
    for tenant in TENANTS:
        async with of(url, tenant) as parcel:
            again = await parcel.manager.process_message("how much is it?", idempotency_key="k")
            assert again.replayed
            context = await parcel.snapshot()
            assert (context["customer"], context["street"]) == (f"of {tenant}", f"{tenant}-street")
            said = [one.content for one in await parcel.manager.transcript()]
            assert f"street={tenant}-street" in said
            assert not [t for t in TENANTS if t != tenant and f"street={t}-street" in said]
            await parcel.rollback(1)
            assert await parcel.manager.list() == ["s-1"]
            fork = await parcel.manager.fork(1, "s-2")
            assert fork.accumulated_context["customer"] == f"of {tenant}"
            assert sorted(await parcel.manager.list()) == ["s-1", "s-2"]


async def test_what_one_tenant_deletes_stays_with_the_others(url: str) -> None:
    await talked(url)
    async with of(url, "acme") as parcel:
        await parcel.manager.delete()
        with pytest.raises(SessionNotStartedError):
            await parcel.snapshot()
        await parcel.start({"customer": "anew"})
    for tenant in ("default", "acme-corp"):
        async with of(url, tenant) as parcel:
            assert (await parcel.snapshot())["street"] == f"{tenant}-street"
            done = await parcel.process_message("card=Visa")
            assert done.is_journey_complete


async def test_a_deletion_is_of_one_tenant(url: str) -> None:
    await talked(url)
    async with of(url, "acme") as parcel:
        await parcel.manager.delete()
    for tenant, total in (("default", 1), ("acme", 0), ("acme-corp", 1)):
        directory = await Directory.open(JourneyConfig(persistence=url, tenant=tenant))
        assert (await directory.find("s-1") is None) is (total == 0)
        await directory.close()


async def test_a_session_of_another_tenant_is_not_there(url: str) -> None:
    await talked(url, ("acme",))
    for tenant in ("default", "acme-corp"):
        async with of(url, tenant) as parcel:
            assert await parcel.manager.restore_session() is None
            assert await parcel.manager.list() == []
            with pytest.raises(SessionNotStartedError):
                await parcel.process_message("hello")


async def test_logs_name_the_tenant_and_no_session_has_the_pseudonym_of_another(
    memory_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "journeygraph")
    await talked(memory_url)

    turns = [one.getMessage() for one in caplog.records if "turn_finished" in one.getMessage()]
    seen = {
        (re.findall(r"tenant=(\S+)", line) or ["default"])[0]: re.findall(r"session=(\w+)", line)[0]
        for line in turns
    }
    assert seen.keys() == set(TENANTS)
    assert len({*seen.values()}) == 3
    assert not [line for line in turns if "street" in line]


@pytest.mark.parametrize("name", ["", "Acme", "a/b", "*", "a" * 64, "-a", "ä", None, 7])
def test_a_name_that_is_none_is_refused(name: Any) -> None:
    with pytest.raises(ConfigurationError, match="tenant is"):
        JourneyConfig(tenant=name)


def test_a_statement_that_forgets_the_tenant_is_refused() -> None:
    forgetful: list[Any] = [
        select(turns).where(exists().where(of_tenant(sessions))),
        select(turns).outerjoin(sessions, turns.c.version == 1).where(of_tenant(turns)),
        select(turns).where(of_tenant(turns), turns.c.version.in_(select(audit.c.turn))),
        insert(audit).values(kind="x"),
        update(sessions).values(status="x"),
        delete(turns).where(turns.c.tenant != "acme"),
    ]
    for statement in forgetful:
        with pytest.raises(ValueError, match="no condition for the tenant of"):
            Sql.of(statement)


def fenced_tables(url: str) -> dict[str, bool]:
    with connected(url) as connection:
        found = connection.execute(
            "SELECT relname, relrowsecurity AND relforcerowsecurity FROM pg_class "
            "WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace"
        )
        return dict(found.fetchall())


def test_row_level_security_is_on_for_every_table_with_a_tenant(postgres_url: str) -> None:
    fenced = fenced_tables(postgres_url)
    with_tenant = {table.name for table in metadata.tables.values() if "tenant" in table.c}
    theirs = {"checkpoints", "checkpoint_blobs", "checkpoint_writes"}

    assert {name for name, is_fenced in fenced.items() if is_fenced} == with_tenant - OPEN | theirs


async def test_a_role_sees_only_the_tenant_of_its_transaction(
    postgres_url: str, postgres_server: Postgres
) -> None:
    await talked(postgres_url)
    tables = ("sessions", "turns", "audit", "answers")
    with psycopg.connect(postgres_server.fenced(postgres_url), autocommit=True) as role:
        for tenant in (*TENANTS, ""):
            with role.transaction():
                role.execute("SELECT set_config('journeygraph.tenant', %s, true)", [tenant])
                seen = tenant or "default"
                for table in tables:
                    rows = role.execute(f"SELECT DISTINCT tenant FROM {table}").fetchall()
                    assert rows == [(seen,)], table
                threads = role.execute("SELECT DISTINCT thread_id FROM checkpoints").fetchall()
                assert threads == [("s-1" if seen == "default" else f"{seen}/s-1",)]
                blobs = role.execute("SELECT DISTINCT thread_id FROM checkpoint_blobs").fetchall()
                assert blobs == threads
        with role.transaction():
            role.execute("SELECT set_config('journeygraph.tenant', '*', true)")
            assert role.execute("SELECT count(DISTINCT tenant) FROM sessions").fetchone() == (3,)
        assert role.execute("UPDATE sessions SET status = 'expired'").rowcount == 1
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            role.execute(
                "INSERT INTO probes (tenant, process, at) VALUES ('acme', 'p', '2030-01-01')"
            )


async def test_a_thread_of_another_program_belongs_to_default(
    postgres_url: str, postgres_server: Postgres
) -> None:
    await talked(postgres_url, ("default", "acme"))
    named = {"bare", "other/one", "acme-corp/one", "default/one", "acme/one", "acme/", "/b", "*/"}
    with connected(postgres_url) as connection:
        for thread in named:
            connection.execute(
                "INSERT INTO checkpoint_blobs (thread_id, checkpoint_ns, channel, version, type) "
                "VALUES (%s, '', 'messages', '1', 'empty')",
                [thread],
            )
    with psycopg.connect(postgres_server.fenced(postgres_url), autocommit=True) as role:
        for tenant, mine in (
            ("default", (named | {"s-1"}) - {"acme/one", "acme/"}),
            ("acme", {"acme/one", "acme/", "acme/s-1"}),
            ("acme-corp", {"acme-corp/one"}),
            ("*", named | {"s-1", "acme/s-1"}),
        ):
            role.execute("SELECT set_config('journeygraph.tenant', %s, false)", [tenant])
            seen = role.execute("SELECT DISTINCT thread_id FROM checkpoint_blobs").fetchall()
            assert {thread for (thread,) in seen} == mine, tenant
        role.execute("SELECT set_config('journeygraph.tenant', 'acme', false)")
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            role.execute("INSERT INTO checkpoint_writes VALUES ('other/one', '', '1', 't', 0, 'c')")


async def test_a_state_is_read_by_the_keys_of_its_values_alone(
    postgres_url: str, postgres_server: Postgres
) -> None:
    await talked(postgres_url, ("acme",))
    names = ("tenant", "session", "thread")
    wanted = dict(zip(names, ("acme", "s-1", "acme/s-1"), strict=True))
    with psycopg.connect(postgres_server.fenced(postgres_url), autocommit=True) as role:
        plan = role.execute(f"EXPLAIN (COSTS OFF) {HEAD.postgres}", wanted).fetchall()

    [key] = [line for (line,) in plan if "Index Cond" in line and "channel" in line]
    assert "channel = v.key" in key
    assert "version = v.value" in key
    assert not [line for (line,) in plan if " on tenants" in line]


def test_the_statement_of_each_turn_is_not_parsed_anew() -> None:
    # Psycopg keeps the numbered form of shorter statements only; of a longer one it costs 70 µs.
    assert len(LEASE_AS_TENANT.postgres or "") <= MAX_CACHED_STATEMENT_LENGTH
