"""The ferry as a sensitive journey, and a process that rotates its sessions and is killed."""

from __future__ import annotations

import asyncio

from journeygraph import JourneyConfig
from journeygraph.graphs.records import data_keys
from journeygraph.graphs.records.data_keys import rotate
from journeygraph.graphs.storage import leases
from journeygraph.graphs.storage.store import open_store
from journeygraph.journeys.config import EncryptionKeys
from tests.support import crash_child
from tests.support.ferry import Ferry, World


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
    data_keys.PAGE = 1  # one session a transaction
    asyncio.run(_rotate_and_die(url, keys, statement))


async def _rotate_and_die(url: str, keys: str, statement: int) -> None:
    store = await open_store(url, EncryptionKeys.of(keys))
    crash_child.dies_before(store, statement)
    await rotate(store, lambda done: None)
    await store.close()
