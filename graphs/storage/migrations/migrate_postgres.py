"""Bring a Postgres database up to date: our tables, and those of LangGraph's saver."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import psycopg
import sqlalchemy
from langgraph.checkpoint.postgres import PostgresSaver
from psycopg.rows import dict_row
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.pool import StaticPool

from journeygraph.graphs.storage.connections import database_name
from journeygraph.graphs.storage.errors import reason_of
from journeygraph.graphs.storage.migrations.migrate import (
    HEAD,
    OLDEST,
    refuse_newer,
    refuse_older,
    upgrade,
)
from journeygraph.journeys import StateError

SAVER_HEAD = len(PostgresSaver.MIGRATIONS) - 1
"""The newest migration of LangGraph's own tables."""
ALONE = 7_410_229_635_552_301_109
"""Key of the advisory lock that one migration at a time holds."""
_PAUSE = 0.1
_LEFT_BROKEN = (
    "SELECT indexrelid::regclass::text AS name FROM pg_index "
    "WHERE NOT indisvalid AND indrelid = to_regclass(%s)"
)
_THEIR_TABLES = ("checkpoints", "checkpoint_blobs", "checkpoint_writes")
_TABLES_THERE = (
    "SELECT to_regclass('journeygraph_version'), to_regclass('checkpoint_migrations'), "
    "to_regclass('journeygraph_range')"
)
_NAME = "coalesce(nullif(current_setting('journeygraph.tenant', true), ''), 'default')"
# First the test that most rows of a tenant pass: it is made for each row that a statement reads.
_OF_TENANT = f"""
starts_with(thread_id, {_NAME} || '/') OR CASE {_NAME} WHEN '*' THEN true
WHEN 'default' THEN strpos(thread_id, '/') = 0
    OR NOT journeygraph_is_tenant(split_part(thread_id, '/', 1))
ELSE false END
"""
_RANGE = OLDEST.replace("oldest", "oldest AS version", 1)
_OURS_AND_THEIRS = (
    "SELECT version_num AS version FROM journeygraph_version",
    "SELECT max(v) AS version FROM checkpoint_migrations",
)


@dataclass(frozen=True, slots=True)
class MigrationHeads:
    """The newest migrations of a database; None if it has none.

    Attributes:
        ours: Name of the one for sessions, turns and audit.
        savers: Number of the one for LangGraph's checkpoints.
    """

    ours: str | None
    savers: int | None

    @property
    def is_newer(self) -> bool:
        """Return whether a newer release has migrated the database."""
        return self.ours is not None and self.ours > HEAD

    @property
    def current(self) -> bool:
        """Return whether this release can work on it; of a newer one, the range says so."""
        ours = self.ours == HEAD or self.is_newer
        return ours and (self.savers or 0) >= SAVER_HEAD


@dataclass(frozen=True, slots=True)
class Migration:
    """Result of a migration: the versions before and after it."""

    database: str
    before: MigrationHeads
    after: MigrationHeads


def migrate_postgres(
    url: str, patience: float = 60.0, watch: Callable[[str], None] | None = None
) -> Migration:
    """Run the missing migrations of a Postgres database; safe in several processes at once.

    Indexes are created without locking the tables; this waits for running transactions.

    Args:
        url: "postgresql://USER:PASSWORD@HOST:PORT/DATABASE".
        patience: Seconds to wait for another migration of the same database.
        watch: Called with a description of each step that is done or begins.

    Raises:
        StateError: The database cannot be reached or changed, a newer release migrated it, or
            it has the tables of an early 0.1.
    """
    watch = watch or (lambda _: None)
    try:
        with (
            psycopg.connect(url, autocommit=True, row_factory=dict_row) as connection,
            _one_at_a_time(connection, patience, watch),
        ):
            before = versions(connection)
            name = f"The database {database_name(url)}"
            _refuse_encoding(connection, database_name(url))
            refuse_older(name, before.ours)
            if before.is_newer:
                refuse_newer(name, before.ours, _version(connection, _RANGE))
            if not before.current:
                _upgrade(connection, url, watch)
            return Migration(database_name(url), before, versions(connection))
    except (psycopg.Error, SQLAlchemyError) as error:
        raise StateError(
            f"The database {database_name(url)} cannot be migrated: {reason_of(error)}.",
            retryable=isinstance(error, psycopg.OperationalError),
        ) from None


def versions(connection: psycopg.Connection[Any]) -> MigrationHeads:
    """Return the newest migrations of a database."""
    ours, savers = (_version(connection, query) for query in _OURS_AND_THEIRS)
    return MigrationHeads(ours, savers)


async def required(connection: psycopg.AsyncConnection[Any], name: str) -> None:
    """Refuse a database that this release cannot use.

    Raises:
        StateError: It lacks migrations, a newer release migrated it, it has the tables of an early
            0.1, or it is not in UTF-8.
    """
    _refuse_encoding(connection, name)
    found = await (await connection.execute(_TABLES_THERE)).fetchone()
    here = []
    for query, there in zip(_OURS_AND_THEIRS, (found or (None, None))[:2], strict=True):
        row = await (await connection.execute(query)).fetchone() if there else None
        here.append(row[0] if row else None)
    has = MigrationHeads(*here)
    refuse_older(f"The database {name}", has.ours)
    if has.is_newer:
        row = await (await connection.execute(_RANGE)).fetchone() if found and found[2] else None
        refuse_newer(f"The database {name}", has.ours, row[0] if row else None)
    if not has.current:
        raise StateError(
            f"The store {name} is not set up for this release of JourneyGraph. Run once: "
            "journeygraph migrate"
        )


def _refuse_encoding(
    connection: psycopg.Connection[Any] | psycopg.AsyncConnection[Any], name: str
) -> None:
    encoding = connection.info.parameter_status("server_encoding")
    if encoding != "UTF8":
        raise StateError(
            f"The database {name} has the text encoding {encoding}, which lacks characters. "
            "Create one with: CREATE DATABASE ... ENCODING 'UTF8' TEMPLATE template0"
        )


def _version(connection: psycopg.Connection[Any], query: str) -> Any:
    try:
        row = connection.execute(query).fetchone()
    except psycopg.errors.UndefinedTable:
        return None
    return row["version"] if row else None


@contextmanager
def _one_at_a_time(
    connection: psycopg.Connection[Any], patience: float, watch: Callable[[str], None]
) -> Iterator[None]:
    deadline = time.monotonic() + patience
    waits = False
    # Asked for again and again: a statement that waits for the lock would be waited for by the
    # index that the other one is making.
    while not _locked(connection):
        if not waits:
            watch("waiting for another migration")
            waits = True
        if time.monotonic() > deadline:
            raise StateError(
                f"Another migration of the database still runs after {patience:g} seconds. Try "
                f"again later.",
                retryable=True,
            )
        time.sleep(_PAUSE)
    try:
        yield
    finally:
        connection.execute("SELECT pg_advisory_unlock(%s)", [ALONE])


def _locked(connection: psycopg.Connection[Any]) -> bool:
    row = connection.execute("SELECT pg_try_advisory_lock(%s) AS locked", [ALONE]).fetchone()
    return bool(row and row["locked"])


def _upgrade(connection: psycopg.Connection[Any], url: str, watch: Callable[[str], None]) -> None:
    engine = sqlalchemy.create_engine(
        "postgresql+psycopg://",
        creator=lambda: _seeing_all(psycopg.connect(url)),
        poolclass=StaticPool,
    )
    try:
        with engine.begin() as connected:
            upgrade(connected, watch)
    finally:
        engine.dispose()
    watch("tables and indexes of LangGraph's checkpoints")
    PostgresSaver(connection).setup()
    _repair_indexes(connection)
    _fence(connection)


def _seeing_all(connection: psycopg.Connection[Any]) -> psycopg.Connection[Any]:
    """Return a connection that sees the rows of all tenants, for migrations that change rows."""
    connection.execute("SELECT set_config('journeygraph.tenant', '*', false)")
    connection.commit()
    return connection


def _fence(connection: psycopg.Connection[Any]) -> None:
    """Let a transaction see only the checkpoints of its tenant.

    Threads of other programs of LangGraph belong to no tenant of the table, so to `default`.
    """
    with connection.transaction():
        for table in _THEIR_TABLES:
            connection.execute(f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY")
            connection.execute(f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY")
            connection.execute(f"DROP POLICY IF EXISTS of_tenant ON {table}")
            connection.execute(f"CREATE POLICY of_tenant ON {table} USING ({_OF_TENANT})")


def _repair_indexes(connection: psycopg.Connection[Any]) -> None:
    """Rebuild indexes that a crashed migration left invalid."""
    for table in _THEIR_TABLES:
        for row in connection.execute(_LEFT_BROKEN, [table]).fetchall():
            connection.execute(f"REINDEX INDEX CONCURRENTLY {row['name']}")
