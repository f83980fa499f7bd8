"""`journeygraph users`: the data of one user, exported or deleted."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import asdict
from typing import NamedTuple

from journeygraph.graphs.session.directory import Directory
from journeygraph.graphs.users.deletion import Deletion
from journeygraph.server.cache import Contexts, open_cache
from journeygraph.server.cli.terminal.rendering import (
    out,
    progress,
    write_json,
)
from journeygraph.server.discover.errors import CommandError
from journeygraph.server.settings import StorePlace


class _Opened(NamedTuple):
    directory: Directory
    contexts: Contexts | None


def export(user: str, place: StorePlace) -> None:
    """Write all that the store has of a user to standard output, as JSON lines."""
    asyncio.run(_export(user, place))


def delete(user: str, place: StorePlace, *, as_json: bool) -> None:
    """Delete the data of a user, and show the number of what was deleted."""
    deleted = asyncio.run(_delete(user, place, quiet=as_json))
    if as_json:
        write_json({"deleted": asdict(deleted)})
        return
    sessions = f"{deleted.sessions} sessions with {deleted.rows} rows"
    out.print(f"Deleted: {sessions}, {deleted.keys} keys and tokens.", markup=False)


async def _export(user: str, place: StorePlace) -> None:
    async with _opened(place) as (directory, _):
        records = await directory.export_user(user)
        if records is None:
            raise _no_user(user)
        total = await directory.sessions_of(user)
        with progress("Exporting", total, quiet=out.is_terminal) as step:
            async for record in records:
                out.raw(json.dumps(record, ensure_ascii=False))
                if record["type"] == "session":
                    step()


async def _delete(user: str, place: StorePlace, *, quiet: bool) -> Deletion:
    async with _opened(place) as (directory, contexts):
        total = await directory.sessions_of(user)
        with progress("Deleting", total, quiet=quiet) as step:

            async def erase(session_id: str) -> None:
                if contexts:
                    await contexts.erase(session_id)

            deleted = await directory.delete_user(user, erase, lambda _: step())
    if deleted is None:
        raise _no_user(user)
    return deleted


@asynccontextmanager
async def _opened(place: StorePlace) -> AsyncIterator[_Opened]:
    config = place.config()
    directory, cache = await Directory.open(config), open_cache(place.settings().redis())
    try:
        yield _Opened(directory, Contexts.of(cache, config) if cache else None)
    finally:
        if cache:
            await cache.close()
        await directory.close()


def _no_user(user: str) -> CommandError:
    return CommandError(f"There is no session and no key of the user '{user:.200}' in the store.")
