"""Bring our tables in a database up to date."""

from __future__ import annotations

import functools
import os
import sqlite3
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

import sqlalchemy
from alembic import command
from alembic.config import Config
from sqlalchemy.pool import StaticPool

from journeygraph.journeys import StateError

BASELINE = "0100"
"""The first migration. Stores with earlier ones, of early releases of 0.1, are not read."""
HEAD = "0100"
"""The newest migration of this release; a database that has it is not changed."""
FOLDERS = (Path(__file__).with_name("versions"),)
"""Folders with migrations."""
OLDEST = "SELECT oldest FROM journeygraph_range"
"""Reads the oldest newest migration of a release that can work on the database."""

# Alembic keeps the migration that runs in a global: two databases at once would mix them up.
_alone = threading.Lock()


def fits(version: str | None, oldest: str | None) -> bool:
    """Return whether this release can work on a database.

    A newer release that only adds to the tables leaves the range as it is; one that removes or
    changes something raises its lower end.

    Args:
        version: The newest migration of the database; None: it has none.
        oldest: The lower end of its range; None: it has none, only that release itself fits.
    """
    if version is None or version <= HEAD:
        return version == HEAD
    return oldest is not None and oldest <= HEAD


def up_to_date(connection: sqlite3.Connection) -> bool:
    """Return whether this release can work on a database as it is.

    Raises:
        StateError: A newer release has migrated it, and this one is too old for it; or it has the
            tables of an early 0.1.
    """
    version = _first(connection, "SELECT version_num FROM journeygraph_version")
    refuse_older("The database", version)
    if version is None or version <= HEAD:
        return version == HEAD
    refuse_newer("The database", version, _first(connection, OLDEST))
    return True


def _first(connection: sqlite3.Connection, query: str) -> str | None:
    try:
        row = connection.execute(query).fetchone()
    except sqlite3.OperationalError:
        return None
    return row[0] if row else None


def refuse_older(name: str, version: str | None) -> None:
    """Refuse a database with the tables of an early 0.1.

    Args:
        name: The subject of the error, such as "The database x".
        version: Its newest migration; None: it has none.

    Raises:
        StateError: It has migrations from before the first one of this release.
    """
    if version is not None and version < BASELINE:
        raise StateError(
            f"{name} has the tables of an early JourneyGraph 0.1, which this release does not "
            "read. Name another file or an empty database; sessions that are to be finished need "
            "the release that made them."
        )


def refuse_newer(name: str, version: str | None, oldest: str | None) -> None:
    """Refuse a database that a newer release has migrated, if this release is too old for it.

    Args:
        name: The subject of the error, such as "The database x".
        version: Its newest migration, later than `HEAD`.
        oldest: The lower end of its range, as for `fits`.

    Raises:
        StateError: This release is too old.
    """
    if not fits(version, oldest):
        raise StateError(
            f"{name} was migrated by a newer release of JourneyGraph: it needs a release with the "
            f"migrations up to {oldest or version} at least, and this one has them up to {HEAD}. "
            "Use the newer release."
        )


def migrate(connect: Callable[[], sqlite3.Connection]) -> None:
    """Run the missing migrations of a SQLite database; safe in several processes at once.

    Args:
        connect: Opens a connection to the database.

    Raises:
        sqlite3.Error: The file is not a database, or cannot be written.
        sqlalchemy.exc.SQLAlchemyError: A foreign table has the name of one of ours.
        StateError: A newer release has migrated the database, and this one is too old for it; or
            it has the tables of an early 0.1.
    """
    connection = connect()
    try:
        if up_to_date(connection):
            return
        connection.isolation_level = None
        connection.execute("PRAGMA journal_mode=WAL")
        _make(connection)
        if not up_to_date(connection):
            with _alone:
                _upgrade(connection)
    finally:
        connection.close()


def _make(connection: sqlite3.Connection) -> None:
    """Create the tables of an empty database, in one transaction."""
    statements = _statements()
    connection.execute("BEGIN EXCLUSIVE")
    try:
        if not connection.execute("SELECT 1 FROM sqlite_master").fetchone():
            for statement in statements:
                connection.execute(statement)
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise


@functools.cache
def _statements() -> Sequence[str]:
    """Return the statements for an empty database: the migrations take 50 times as long."""
    connection = sqlite3.connect(":memory:", check_same_thread=False)
    with _alone:
        _upgrade(connection)
    statements = list(connection.iterdump())
    connection.close()
    return statements[1:-1]  # without the transaction around them


def _upgrade(connection: sqlite3.Connection) -> None:
    """Run the migrations in one transaction: a crash leaves the database unchanged."""
    engine = sqlalchemy.create_engine("sqlite://", creator=lambda: connection, poolclass=StaticPool)
    with engine.connect() as connected:
        # Only now: connecting ends whatever transaction there was. A second process waits here,
        # and then finds the work done.
        connected.exec_driver_sql("BEGIN EXCLUSIVE")
        if not up_to_date(connection):
            upgrade(connected)
        connected.commit()


def upgrade(connection: sqlalchemy.Connection, watch: Callable[[str], None] | None = None) -> None:
    """Run the missing migrations of a connection's database, in its transaction.

    Args:
        connection: The connection.
        watch: Called after each migration with its name.
    """
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent))
    config.set_main_option("path_separator", "os")
    config.set_main_option("version_locations", os.pathsep.join(map(str, FOLDERS)))
    config.attributes |= {"connection": connection, "watch": watch}
    command.upgrade(config, "head")
