"""Process that deletes a user, and is killed."""

from __future__ import annotations

import asyncio

from journeygraph import JourneyConfig
from journeygraph.graphs.session.directory import Directory
from journeygraph.graphs.storage import leases
from tests.support import crash_child


def delete_and_die(url: str, user: str, statement: int) -> None:
    """Delete a user; die before a statement is executed."""
    leases.LEASE = crash_child.LEASE
    asyncio.run(_delete_and_die(url, user, statement))


async def _delete_and_die(url: str, user: str, statement: int) -> None:
    directory = await Directory.open(JourneyConfig(persistence=url))
    crash_child.dies_before(directory.store, statement)
    await directory.delete_user(user, _erase, lambda session_id: None)
    await directory.close()


async def _erase(session_id: str) -> None:
    """Do nothing: there is no copy."""
