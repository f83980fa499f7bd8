"""A Postgres database is set up by one command, once, and refused until it is."""

from __future__ import annotations

import asyncio
import concurrent.futures
import functools
import os
import sqlite3
from pathlib import Path
from typing import Any

import psycopg
import pytest
import sqlalchemy
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext

from journeygraph import JourneyConfig, JourneyError, StateError
from journeygraph.graphs.records.definitions import Definitions
from journeygraph.graphs.session.directory import Directory
from journeygraph.graphs.storage import migrations
from journeygraph.graphs.storage.migrations import migrate as migrate_module
from journeygraph.graphs.storage.migrations import migrate_postgres as migrate_postgres_module
from journeygraph.graphs.storage.migrations.migrate import HEAD, migrate
from journeygraph.graphs.storage.migrations.migrate_postgres import (
    ALONE,
    SAVER_HEAD,
    MigrationHeads,
    migrate_postgres,
)
from journeygraph.graphs.storage.tables import metadata
from tests.support.command import flat, run
from tests.support.post_office import database, found, opened
from tests.support.postgres import TABLES, Postgres, connected
from tests.support.stored_claims import CLAIM, draft


@pytest.fixture
def empty_url(postgres_server: Postgres) -> str:
    """A database without a table."""
    return postgres_server.made()


def tables(url: str) -> set[str]:
    with connected(url) as connection:
        found = connection.execute(
            "SELECT table_name FROM information_schema.tables WHERE table_schema = 'public'"
        )
        return {name for (name,) in found}


async def test_a_database_that_is_not_set_up_says_what_to_run(empty_url: str) -> None:
    for _ in range(2):
        async with opened(empty_url) as parcel:
            with pytest.raises(StateError, match="journeygraph migrate") as refused:
                await parcel.start()
            assert not refused.value.retryable
    assert tables(empty_url) == set()

    migrate_postgres(empty_url)
    async with opened(empty_url) as parcel:
        await parcel.start()
        assert (await parcel.process_message("street=Main")).pathway_id == "payment"


def test_the_command_says_what_it_did(empty_url: str) -> None:
    first = run("migrate", "--store", empty_url)
    assert first.exit_code == 0, first.output
    assert f"sessions, turns and audit: from nothing to {HEAD}" in first.stdout
    assert f"checkpoints: from nothing to {SAVER_HEAD}" in first.stdout
    assert set(TABLES) <= tables(empty_url)
    steps = first.stderr.splitlines()
    assert f"sessions, turns and audit, {HEAD} is done" in steps[-2]
    assert "of LangGraph's checkpoints" in steps[-1]

    again = run("migrate", "--store", empty_url)
    assert again.exit_code == 0
    assert again.stderr == ""
    assert "up to date; nothing was changed" in again.stdout


def test_the_command_takes_the_store_of_the_settings(
    empty_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JOURNEYGRAPH_STORE", empty_url)
    assert run("migrate").exit_code == 0
    assert set(TABLES) <= tables(empty_url)


def test_the_command_migrates_a_file_as_well(tmp_path: Path) -> None:
    done = run("migrate", "--store", f"sqlite:///{tmp_path / 'a.db'}")
    assert done.exit_code == 0
    assert "up to date" in done.stdout
    assert (tmp_path / "a.db").exists()


def test_an_empty_file_gets_what_the_migrations_make(tmp_path: Path) -> None:
    """A file with a foreign table in it is migrated step by step, an empty one at once."""
    found = []
    for name in ("empty", "shared"):
        path = tmp_path / name
        with sqlite3.connect(path) as connection:
            if name == "shared":
                connection.execute("CREATE TABLE theirs (a)")
        migrate(functools.partial(sqlite3.connect, path))
        made = connection.execute("SELECT type, name, sql FROM sqlite_master ORDER BY type, name")
        found.append([row for row in made if row[1] != "theirs"])
        version = connection.execute("SELECT version_num FROM journeygraph_version").fetchall()
        connection.close()
        assert version == [(HEAD,)]

    assert found[0] == found[1]
    assert len(found[0]) > 20


def test_migrations_at_the_same_time_do_the_work_once(empty_url: str) -> None:
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        done = list(pool.map(migrate_postgres, [empty_url] * 4))
    assert sum(item.before != item.after for item in done) == 1
    assert {item.after for item in done} == {MigrationHeads(HEAD, SAVER_HEAD)}


def test_a_migration_that_hangs_is_not_waited_for_for_ever(empty_url: str) -> None:
    with connected(empty_url) as other:
        other.execute("SELECT pg_advisory_lock(%s)", [ALONE])
        with pytest.raises(StateError, match="still runs after") as refused:
            migrate_postgres(empty_url, patience=0.2)
        assert refused.value.retryable
    migrate_postgres(empty_url)


def test_an_index_that_was_left_half_made_is_made_again(postgres_url: str) -> None:
    index = "checkpoints_thread_id_idx"
    with connected(postgres_url) as connection:
        connection.execute(
            "UPDATE pg_index SET indisvalid = false WHERE indexrelid = %s::regclass", [index]
        )
        connection.execute("DELETE FROM checkpoint_migrations WHERE v = %s", [SAVER_HEAD])
        migrate_postgres(postgres_url)
        found = connection.execute(
            "SELECT indisvalid FROM pg_index WHERE indexrelid = %s::regclass", [index]
        )
        assert found.fetchone() == (True,)


NEWER = """
import sqlalchemy as sa
from alembic import op

revision = "9998"
down_revision = "{head}"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table("moods", sa.Column("name", sa.String(20), primary_key=True))
    for table in ("sessions", "turns", "audit", "definitions", "answers", "escalations"):
        op.add_column(table, sa.Column("mood", sa.Text))
        op.add_column(table, sa.Column("tries_more", sa.Integer, server_default="0"))
    op.create_index("sessions_by_mood", "sessions", ["mood"])
"""
"""A migration of a release to come, which only adds."""
NEEDS_ITSELF = NEWER + """    op.execute("UPDATE journeygraph_range SET oldest = '9998'")\n"""


def migrated_by_newer(url: str, folder: Path, text: str) -> None:
    """Bring a database of this release up to date as a newer release does."""
    (folder / "later").mkdir()
    (folder / "later" / "9998_moods.py").write_text(text.format(head=HEAD))
    ours = Path(migrations.__file__).parent
    config = Config()
    config.set_main_option("script_location", str(ours))
    config.set_main_option("path_separator", "os")
    places = (ours / "versions", folder / "later")
    config.set_main_option("version_locations", os.pathsep.join(map(str, places)))
    place = url.replace("postgresql://", "postgresql+psycopg://")
    engine = sqlalchemy.create_engine(place)
    with engine.begin() as connection:
        config.attributes |= {"connection": connection, "watch": None}
        command.upgrade(config, "head")
    engine.dispose()


async def test_a_release_works_on_what_the_next_one_has_added(
    kept_url: str, tmp_path: Path
) -> None:
    async with opened(kept_url) as parcel:
        await parcel.start()
        await parcel.process_message("street=Main")
    migrated_by_newer(kept_url, tmp_path, NEWER)

    async with opened(kept_url) as parcel:
        assert (await parcel.process_message("how much is it?")).metadata["version"] == 2
        await parcel.rollback(0)
        assert (await parcel.process_message("street=Side")).pathway_id == "payment"
        assert len(await parcel.turns()) == 5
    async with opened(kept_url, "s-2") as parcel:
        await parcel.manager.start_session(idempotency_key="a")
        assert (await parcel.manager.start_session(idempotency_key="a")).replayed
        await parcel.process_message("a person")
        await parcel.manager.delete()
    definitions = await Definitions.open(JourneyConfig(persistence=kept_url))
    assert [one.is_new for one in await definitions.load([draft("claim.yaml", CLAIM)])] == [True]
    await definitions.close()
    directory = await Directory.open(JourneyConfig(persistence=kept_url))
    assert await directory.faults([]) == []
    await directory.close()
    done = await asyncio.to_thread(run, "migrate", "--store", kept_url)
    if kept_url.startswith("postgresql"):
        assert "a newer release migrated it, and this one fits it" in flat(done.stdout)


@pytest.fixture
def next_release(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Let this release have one migration more."""
    (tmp_path / "9998_moods.py").write_text(NEWER.format(head=HEAD))
    monkeypatch.setattr(migrate_module, "FOLDERS", (*migrate_module.FOLDERS, tmp_path))
    for module in (migrate_module, migrate_postgres_module):
        monkeypatch.setattr(module, "HEAD", "9998")


async def test_a_store_moves_forward_and_keeps_its_sessions(
    kept_url: str, request: pytest.FixtureRequest
) -> None:
    async with opened(kept_url) as parcel:
        await parcel.start({"customer": "C-1"})
        await parcel.process_message("street=Main")
    request.getfixturevalue("next_release")

    done = flat((await asyncio.to_thread(run, "migrate", "--store", kept_url)).stdout)

    if kept_url.startswith("postgresql"):
        assert f"sessions, turns and audit: from {HEAD} to 9998" in done
    assert found(kept_url, "SELECT mood, tries_more FROM sessions") == [(None, 0)]
    async with opened(kept_url) as parcel:
        assert await parcel.snapshot() == {"customer": "C-1", "street": "Main"}
        await parcel.rollback(0)
        assert (await parcel.process_message("street=Side")).metadata["version"] == 3
    again = flat((await asyncio.to_thread(run, "migrate", "--store", kept_url)).stdout)
    assert "up to date" in again


async def test_a_database_without_a_new_migration_says_what_to_run(
    postgres_url: str, next_release: None
) -> None:
    async with opened(postgres_url) as parcel:
        with pytest.raises(StateError, match="journeygraph migrate"):
            await parcel.start()


async def test_the_tables_of_an_early_release_are_refused_with_the_way_out(kept_url: str) -> None:
    async with opened(kept_url) as parcel:
        await parcel.start()
    change = "UPDATE journeygraph_version SET version_num = '0028'"
    with (connected if kept_url.startswith("postgresql") else database)(kept_url) as connection:
        connection.execute(change)

    async with opened(kept_url) as parcel:
        with pytest.raises(StateError, match="an early JourneyGraph") as refused:
            await parcel.process_message("street=Main")
    assert not refused.value.retryable
    assert "another file or an empty database" in str(refused.value)
    done = await asyncio.to_thread(run, "migrate", "--store", kept_url, code=1)
    assert "another file or an empty database" in flat(done.stderr)
    assert found(kept_url, "SELECT count(*) FROM sessions") == [(1,)]


async def test_the_tables_are_those_that_the_code_describes(kept_url: str) -> None:
    async with opened(kept_url) as parcel:
        await parcel.start()
    engine = sqlalchemy.create_engine(kept_url.replace("postgresql://", "postgresql+psycopg://"))
    with engine.connect() as connection:
        options = {"compare_type": True, "target_metadata": metadata}
        context = MigrationContext.configure(connection, opts=options)
        found = compare_metadata(context, metadata)
    ours = [one for one in found if isinstance(one, tuple) and not _is_theirs(*one[:2])]
    types = [one for one in found if isinstance(one, list) and one[0][0] != "modify_comment"]
    engine.dispose()
    assert (ours, types) == ([], [])


def _is_theirs(kind: str, thing: Any) -> bool:
    """Return whether a difference is a table that our metadata does not describe."""
    name = str(getattr(thing, "table", thing))
    is_there = kind in ("remove_table", "remove_index")
    return is_there and name.startswith(("checkpoint", "writes", "journeygraph_"))


async def test_a_database_that_needs_a_newer_release_is_left_alone(
    kept_url: str, tmp_path: Path
) -> None:
    async with opened(kept_url) as parcel:
        await parcel.start()
    migrated_by_newer(kept_url, tmp_path, NEEDS_ITSELF)

    async with opened(kept_url) as parcel:
        with pytest.raises(StateError, match="newer release") as refused:
            await parcel.process_message("street=Main")
    assert f"up to 9998 at least, and this one has them up to {HEAD}" in str(refused.value)
    assert not refused.value.retryable
    done = await asyncio.to_thread(run, "migrate", "--store", kept_url, code=1)
    assert "newer release" in flat(done.stderr)


async def test_a_database_of_a_newer_release_without_a_range_is_left_alone(
    postgres_url: str,
) -> None:
    with connected(postgres_url) as connection:
        connection.execute("UPDATE journeygraph_version SET version_num = '9999'")
        connection.execute("DROP TABLE journeygraph_range")
    with pytest.raises(StateError, match="newer release"):
        migrate_postgres(postgres_url)
    async with opened(postgres_url) as parcel:
        with pytest.raises(StateError, match="newer release"):
            await parcel.start()


def test_a_foreign_table_in_the_way_is_an_error_and_nothing_is_half_made(empty_url: str) -> None:
    with connected(empty_url) as connection:
        connection.execute("CREATE TABLE turns (mine text)")
    with pytest.raises(StateError, match=r"cannot be migrated.*turns"):
        migrate_postgres(empty_url)
    assert tables(empty_url) == {"turns"}


@pytest.mark.parametrize(
    ("url", "code"),
    [
        ("postgresql://ann:hunter2@127.0.0.1:1/x", 1),
        ("postgresql://ann:hun%ter2@127.0.0.1:1/x", 1),
        ("postgresql://127.0.0.1:1/x?user=ann&password=hunter2", 1),
        ("postgresql://ann:hunter2@127.0.0.1:1/x?nonsense=1", 1),
        ("postgresqll://ann:hunter2@127.0.0.1:1/x", 2),
        ("postgres://ann:p@ss/hunter2@127.0.0.1:1/x", 2),
        ("postgresql://ann:hunter2 and more@127.0.0.1:port/x", 1),
    ],
)
async def test_a_password_is_never_shown(
    url: str, code: int, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG")
    shown: list[str] = []
    try:
        async with opened(url) as parcel:
            shown += [repr(parcel.config), repr(parcel.manager.config)]
            await parcel.start()
    except JourneyError as error:
        failed: BaseException | None = error
        while failed:
            shown += [repr(failed), str(failed)]
            failed = failed.__cause__ or failed.__context__
    shown.append(run("migrate", "--store", url, code=code).output)
    assert len(shown) > 2
    assert not [text for text in (*shown, caplog.text) if "hunter2" in text or "hun%ter2" in text]


def test_a_server_that_is_not_there_is_an_error_to_try_again() -> None:
    with pytest.raises(StateError, match=r"127.0.0.1:1/x cannot be migrated") as refused:
        migrate_postgres("postgresql://127.0.0.1:1/x")
    assert refused.value.retryable
    assert isinstance(refused.value.__context__, psycopg.OperationalError)
