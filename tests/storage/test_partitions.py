"""Postgres beyond one table: all tables of sessions in partitions, and PgBouncer in front."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote, urlsplit

import psycopg
import pytest

from tests.support.api import serving, wired
from tests.support.command import ROOT
from tests.support.ports import free_port
from tests.support.post_office import opened
from tests.support.postgres import Postgres, _account, connected

PARTS = 8
KEYS = ("session_id", "thread_id")
"""The column of a session: in our tables, and in those of LangGraph."""
WHOLE = {"api_keys", "escalations"}
"""Small tables that name a session, but are unique by something else."""
_TABLES = "SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY tablename"
_COLUMNS = (
    "SELECT attname FROM pg_attribute WHERE attrelid = %s::regclass AND attnum > 0 "
    "AND NOT attisdropped"
)
_PRIMARY = (
    "SELECT attname FROM pg_index JOIN pg_attribute ON attrelid = indrelid "
    "AND attnum = ANY(indkey) WHERE indrelid = %s::regclass AND indisprimary"
)
_INDEXES = (
    "SELECT pg_get_indexdef(indexrelid) FROM pg_index "
    "WHERE indrelid = %s::regclass AND NOT indisprimary"
)
_REFERENCES = (
    "SELECT pg_get_constraintdef(oid) FROM pg_constraint "
    "WHERE conrelid = %s::regclass AND contype = 'f'"
)
_OTHERS = (
    "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
)
_FENCES = "SELECT tablename, policyname, qual FROM pg_policies WHERE schemaname = 'public'"


def partitioned(url: str) -> list[str]:
    """Copy the tables of a database as partitioned ones; return their names.

    This is what docs/how-to/scale.md says, for an empty database: the tables of sessions are
    partitioned by the hash of the session, and each primary key contains it.
    """
    made = []
    with connected(url) as connection:
        connection.execute("CREATE SCHEMA parted")
        tables = [name for (name,) in connection.execute(_TABLES)]
        for name in tables:
            columns = {column for (column,) in connection.execute(_COLUMNS, [name])}
            key = None if name in WHOLE else next(iter(columns & {*KEYS}), None)
            by = f"PARTITION BY HASH ({key})" if key else ""
            # Before version 17, a partitioned table has no identity; its numbers are shared anyway.
            connection.execute(
                f"CREATE TABLE parted.{name} (LIKE public.{name} INCLUDING DEFAULTS) {by}"
            )
            primary = [column for (column,) in connection.execute(_PRIMARY, [name])]
            if primary:
                keys = ", ".join(dict.fromkeys([*([key] if key else []), *primary]))
                connection.execute(f"ALTER TABLE parted.{name} ADD PRIMARY KEY ({keys})")
            for (index,) in connection.execute(_INDEXES, [name]).fetchall():
                connection.execute(
                    re.sub(r" ON (ONLY )?(public\.)?", " ON parted.", index, count=1)
                )
            if not key:
                connection.execute(f"INSERT INTO parted.{name} SELECT * FROM public.{name}")
                continue
            made.append(name)
            for part in range(PARTS):
                connection.execute(
                    f"CREATE TABLE parted.{name}_{part} PARTITION OF parted.{name} "
                    f"FOR VALUES WITH (MODULUS {PARTS}, REMAINDER {part})"
                )
        for name in made:
            for (told,) in connection.execute(_REFERENCES, [name]).fetchall():
                told = re.sub(r"REFERENCES (public\.)?", "REFERENCES parted.", told)
                connection.execute(f"ALTER TABLE parted.{name} ADD {told}")
    return made


def fenced(server: Postgres, url: str) -> str:
    """Repeat row-level security, and return the URL for a role that it binds.

    The role reaches no partition by its name.
    """
    role = urlsplit(server.fenced(url)).username
    with connected(url) as connection:
        for name, policy, condition in connection.execute(_FENCES).fetchall():
            connection.execute(f"ALTER TABLE parted.{name} ENABLE ROW LEVEL SECURITY")
            connection.execute(f"ALTER TABLE parted.{name} FORCE ROW LEVEL SECURITY")
            connection.execute(f"CREATE POLICY {policy} ON parted.{name} USING ({condition})")
        connection.execute(f"GRANT USAGE ON SCHEMA parted TO {role}")
        for (name,) in connection.execute(_TABLES).fetchall():
            connection.execute(f"GRANT SELECT, INSERT, UPDATE, DELETE ON parted.{name} TO {role}")
    return there(server.fenced(url))


def there(url: str) -> str:
    """The URL of a database whose tables are the partitioned ones."""
    return f"{url}?options={quote('-c search_path=parted')}"


def left_alone(url: str) -> None:
    """Wait until no process of the server works for this database.

    A process counts the rows it read when it ends, and it ends some time after its client.
    """
    with psycopg.connect(url, autocommit=True) as connection:
        while connection.execute(_OTHERS).fetchone() is not None:
            time.sleep(0.02)


def scanned(url: str, tables: list[str]) -> dict[str, set[str]]:
    """The partitions of each table that were read or written so far."""
    found: dict[str, set[str]] = {name: set() for name in tables}
    with connected(url) as connection:
        connection.execute("SELECT pg_stat_force_next_flush()")
        rows = connection.execute(
            "SELECT relname FROM pg_stat_user_tables WHERE schemaname = 'parted' "
            "AND coalesce(seq_scan, 0) + coalesce(idx_scan, 0) + n_tup_ins + n_tup_upd > 0"
        )
        for (part,) in rows.fetchall():
            table, _, number = part.rpartition("_")
            if table in found and number.isdecimal():
                found[table].add(number)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("tenant", ["default", "acme"])
async def test_a_turn_on_partitioned_tables_touches_one_partition_of_each(
    postgres_url: str, postgres_server: Postgres, tenant: str
) -> None:
    tables = await asyncio.to_thread(partitioned, postgres_url)
    assert {"sessions", "turns", "audit", "checkpoints", "checkpoint_blobs"} <= set(tables)
    url = fenced(postgres_server, postgres_url)
    async with opened(url, "s-1", tenant=tenant) as parcel:
        await parcel.start()
        await parcel.process_message("street=Main")
    await asyncio.to_thread(left_alone, postgres_url)
    with connected(postgres_url) as connection:
        connection.execute("SELECT pg_stat_reset()")
    async with opened(url, "s-1", tenant=tenant) as parcel:
        assert (await parcel.process_message("how much?")).message
        assert len(await parcel.versions()) == 3

    await asyncio.to_thread(left_alone, postgres_url)
    found = await asyncio.to_thread(scanned, postgres_url, tables)

    assert {name: parts for name, parts in found.items() if len(parts) > 1} == {}
    assert sum(map(len, found.values())) >= 5
    async with opened(url, "s-2", tenant=tenant) as parcel:  # of another partition
        await parcel.start()
        assert sorted(await parcel.list()) == ["s-1", "s-2"]
        await parcel.delete()
        assert await parcel.list() == ["s-1"]
    async with opened(url, "s-1", tenant="other") as parcel:
        assert await parcel.list() == []
    with connected(url) as connection:  # without a condition: the fence alone
        for name in ("sessions", "turns", "checkpoints", "checkpoint_blobs"):
            for own in (tenant, "other"):
                connection.execute(f"SET journeygraph.tenant = '{own}'")
                [(rows,)] = connection.execute(f"SELECT count(*) FROM {name}").fetchall()
                assert (own, name, rows > 0) == (own, name, own == tenant)


@pytest.mark.slow
async def test_a_plan_names_the_one_partition_of_a_session(postgres_url: str) -> None:
    await asyncio.to_thread(partitioned, postgres_url)

    def plan(query: str) -> list[str]:
        with connected(there(postgres_url)) as connection:
            lines = connection.execute(f"EXPLAIN {query}").fetchall()
        return sorted(set(re.findall(r" on (\w+_\d+)\b", "\n".join(line for (line,) in lines))))

    mine = plan("SELECT * FROM turns WHERE session_id = 's-1' AND version = 3")
    threads = plan("SELECT * FROM checkpoints WHERE thread_id = 's-1'")
    everyone = plan("SELECT count(*) FROM sessions WHERE status = 'active'")

    assert (len(mine), len(threads), len(everyone)) == (1, 1, PARTS)


# --- PgBouncer -----------------------------------------------------------------------------------

PAGE = (ROOT / "docs" / "how-to" / "scale.md").read_text()
(SETTINGS,) = re.findall(
    r"^```ini\n(\[pgbouncer\]\npool_mode = transaction\n.*?)^```", PAGE, re.M | re.S
)
OLDEST = (1, 22)
"""The first PgBouncer with prepared statements of psycopg in a pool of transactions."""


def bouncer() -> str:
    """The program; without it, or with an older one, the test is skipped."""
    program = shutil.which("pgbouncer", path=f"{os.defpath}:/usr/sbin:{os.environ['PATH']}")
    if program is None:
        pytest.skip("pgbouncer is not installed, and no wheel has it")
    told = subprocess.run([program, "--version"], capture_output=True, text=True, check=True)
    version = tuple(map(int, re.findall(r"PgBouncer (\d+)\.(\d+)", told.stdout)[0]))
    if version < OLDEST:
        pytest.skip(f"pgbouncer {version} has no prepared statements in a pool of transactions")
    return program


@contextmanager
def pooled(program: str, url: str, folder: Path) -> Iterator[str]:
    """Run PgBouncer in front of a database, as docs/how-to/scale.md says; give its URL."""
    place, port = urlsplit(url), free_port()
    (folder / "users").write_text('"postgres" ""\n')
    (folder / "pgbouncer.ini").write_text(
        "[databases]\n"
        f"* = host={place.hostname} port={place.port}\n"
        f"{SETTINGS}"
        f"listen_addr = 127.0.0.1\nlisten_port = {port}\nunix_socket_dir =\n"
        f"auth_type = trust\nauth_file = {folder / 'users'}\n"
        "default_pool_size = 4\n"
    )
    for path in (folder, *folder.iterdir()):
        path.chmod(0o755)
    process = subprocess.Popen([program, str(folder / "pgbouncer.ini")], **_account())
    pool = place._replace(netloc=f"postgres@127.0.0.1:{port}").geturl()
    try:
        while process.poll() is None:
            try:
                psycopg.connect(pool).close()
                break
            except psycopg.OperationalError:
                time.sleep(0.02)
        yield pool
    finally:
        process.terminate()
        process.wait(20)


@pytest.mark.slow
async def test_sessions_go_on_behind_pgbouncer(postgres_url: str, tmp_path: Path) -> None:
    program = bouncer()
    with pooled(program, postgres_url, tmp_path) as url:
        await conversations(url)


async def conversations(url: str) -> None:
    """Hold more conversations at once than the pool has connections."""

    async def talk(number: int) -> None:
        async with opened(url, f"s-{number}") as parcel:
            await parcel.start()
            for _ in range(3):
                assert (await parcel.process_message("how much?")).message

    await asyncio.gather(*(talk(number) for number in range(12)))


# --- Rights --------------------------------------------------------------------------------------


@pytest.fixture
def clerk(postgres_url: str) -> Iterator[str]:
    """The URL of a user that reads and writes rows, and owns no table."""
    name = f"clerk_{urlsplit(postgres_url).path[1:]}"
    with connected(postgres_url) as connection:
        connection.execute(f"CREATE ROLE {name} LOGIN")
        connection.execute(
            f"GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO {name}"
        )
        connection.execute(f"GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO {name}")
    place = urlsplit(postgres_url)
    yield place._replace(netloc=f"{name}@{place.hostname}:{place.port}").geturl()
    with connected(postgres_url) as connection:
        connection.execute(f"DROP OWNED BY {name}")
        connection.execute(f"DROP ROLE {name}")


async def test_a_server_needs_no_more_rights_than_those_to_rows(clerk: str) -> None:
    async with serving(wired(url=clerk)) as api:
        assert (await api.client.get("/readyz")).status_code == 200
        session = await api.begin()
        assert (await api.says(session, "street=Main"))["message"]
        assert (await api.client.delete(session)).status_code == 204
    with connected(clerk) as connection, pytest.raises(psycopg.errors.InsufficientPrivilege):
        connection.execute("ALTER TABLE sessions ADD COLUMN more text")
