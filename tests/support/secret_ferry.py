"""The ferry as a sensitive journey, and stores that an older release wrote.

That release had no data keys. Its session was led up to a yes, and its process was killed after it
had reserved and charged, before it noted the charge.
"""

from __future__ import annotations

import asyncio
import sqlite3
from pathlib import Path
from typing import Any

from journeygraph import JourneyConfig
from journeygraph.graphs.records.data_keys import rotate
from journeygraph.graphs.storage import connections
from journeygraph.graphs.storage.migrate_postgres import migrate_postgres
from journeygraph.graphs.storage.store import open_store
from journeygraph.journeys.config import EncryptionKeys
from tests.support import crash_child
from tests.support.ferry import Ferry, World
from tests.support.postgres import Postgres, connected

CENTURY = 100 * 365 * 24 * 3600
"""The stored session has the times of its recording; they must not age with the calendar."""
OLDER_KEY = bytes(range(32))
"""The key of the older release."""
_DATA = Path(__file__).parents[1] / "storage" / "data"


class SecretFerry(Ferry):
    """Sell a crossing in secret."""

    __sensitive__ = True


def secret_ferry(
    url: str, world: World, key: bytes | str | None, session_id: str = "s-1"
) -> SecretFerry:
    """Take a handle on a session of SecretFerry."""
    config = JourneyConfig(
        persistence=url,
        encryption_key=key,
        resume_after_seconds=CENTURY,
        session_ttl_seconds=CENTURY,
    )
    return SecretFerry(
        session_id,
        config,
        agents={"purser": world.purser},
        model=False,
        tools={"reserve": world.reserve, "charge": world.charge},
    )


def rotate_and_die(url: str, keys: str, statement: int) -> None:
    """Rotate the sessions of a store; die before a statement is executed."""
    connections.LEASE = crash_child.LEASE
    asyncio.run(_rotate_and_die(url, keys, statement))


async def _rotate_and_die(url: str, keys: str, statement: int) -> None:
    store = await open_store(url, EncryptionKeys.of(keys))
    crash_child.dies_before(store, statement)
    await rotate(store, lambda done: None)
    await store.close()


def older_file(folder: Path) -> str:
    """Return the URL of a SQLite file of the older release."""
    with sqlite3.connect(folder / "older.db") as connection:
        connection.executescript((_DATA / "older_release_sealed.sql").read_text())
        _keep(connection)
    connection.close()
    return f"sqlite:///{folder / 'older.db'}"


def older_database(server: Postgres) -> str:
    """Return the URL of a database of the older release, after `journeygraph migrate`."""
    url = server.made()
    with connected(url) as connection:
        connection.execute((_DATA / "older_release_sealed_postgres.sql").read_text())
        connection.execute("SET search_path TO public")
        _keep(connection)
    migrate_postgres(url)
    return url


def _keep(connection: Any) -> None:
    """Let the session live: the file has the times of its recording."""
    connection.execute("UPDATE sessions SET expires_at = '2999-01-01T00:00:00.000000+00:00'")
