"""The ferry as a sensitive journey, and stores that an older release wrote.

That release had no data keys. Its session was led up to a yes, and its process was killed after it
had reserved and charged, before it noted the charge.
"""

from __future__ import annotations

import asyncio
import sqlite3
from pathlib import Path

from journeygraph import JourneyConfig
from journeygraph.graphs.records.data_keys import rotate
from journeygraph.graphs.storage import leases
from journeygraph.graphs.storage.migrations.migrate_postgres import migrate_postgres
from journeygraph.graphs.storage.store import open_store
from journeygraph.journeys.config import EncryptionKeys
from tests.support import crash_child
from tests.support.clocks import Clock
from tests.support.ferry import Ferry, World
from tests.support.post_office import back_at
from tests.support.postgres import Postgres, connected

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
    config = JourneyConfig(persistence=url, encryption_key=key)
    return SecretFerry(
        session_id,
        config,
        agents={"purser": world.purser},
        model=False,
        tools={"reserve": world.reserve, "charge": world.charge},
    )


def rotate_and_die(url: str, keys: str, statement: int) -> None:
    """Rotate the sessions of a store; die before a statement is executed."""
    leases.LEASE = crash_child.LEASE
    asyncio.run(_rotate_and_die(url, keys, statement))


async def _rotate_and_die(url: str, keys: str, statement: int) -> None:
    store = await open_store(url, EncryptionKeys.of(keys))
    crash_child.dies_before(store, statement)
    await rotate(store, lambda done: None)
    await store.close()


def older_file(folder: Path, clock: Clock) -> str:
    """Return the URL of a SQLite file of the older release, and go back to its time."""
    with sqlite3.connect(folder / "older.db") as connection:
        connection.executescript((_DATA / "older_release_sealed.sql").read_text())
    connection.close()
    return back_at(f"sqlite:///{folder / 'older.db'}", clock)


def older_database(server: Postgres, clock: Clock) -> str:
    """Return the URL of a database of the older release, migrated, and go back to its time."""
    url = server.made()
    with connected(url) as connection:
        connection.execute((_DATA / "older_release_sealed_postgres.sql").read_text())
    migrate_postgres(url)
    return back_at(url, clock)
