"""`journeygraph users`: the data of one user, exported or deleted, and receipts of deletions."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import asdict
from typing import NamedTuple

from journeygraph.graphs.evidence.receipts import Receipt
from journeygraph.graphs.records.listing import cursor_behind, number_of
from journeygraph.graphs.session.directory import Directory
from journeygraph.journeys import Page
from journeygraph.server.cache import Contexts, open_cache
from journeygraph.server.cli.terminal.rendering import (
    listing,
    out,
    progress,
    row,
    show_next,
    write_json,
)
from journeygraph.server.discover.errors import CommandError
from journeygraph.server.settings import StorePlace

COMMAND = "command"
"""Name in receipts of a person who uses the command."""


class _Opened(NamedTuple):
    directory: Directory
    contexts: Contexts | None


def export(user: str, place: StorePlace) -> None:
    """Write all that the store has of a user to standard output, as JSON lines."""
    asyncio.run(_export(user, place))


def delete(user: str, place: StorePlace, *, as_json: bool) -> None:
    """Delete the data of a user, and show the receipt."""
    receipt = asyncio.run(_delete(user, place, quiet=as_json))
    if as_json:
        write_json({"receipt": asdict(receipt)})
        return
    ended = f"{receipt.ended_at:.19}Z"
    said = (
        f"Deleted: {receipt.sessions} sessions, {receipt.keys} keys and tokens. Receipt "
        f"{receipt.id} of {ended}, root {receipt.root}."
    )
    out.print(said, markup=False)


def listed(user: str | None, place: StorePlace, limit: int, after: str, *, as_json: bool) -> None:
    """List receipts of deletions, the oldest first."""
    found = asyncio.run(_listed(user, place, limit, after))
    if as_json:
        write_json({"receipts": [asdict(one) for one in found], "next": found.next})
        return
    if not found:
        out.print("There are no receipts.")
        return
    shown = listing("number", "receipt", "ended at", "sessions", "keys", "asked by")
    for one in found:
        cells = (one.number, one.id, f"{one.ended_at:.19}Z", one.sessions, one.keys, one.asked_by)
        shown.add_row(*row(*cells))
    out.print(shown)
    show_next(found.next)


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


async def _delete(user: str, place: StorePlace, *, quiet: bool) -> Receipt:
    async with _opened(place) as (directory, contexts):
        total = await directory.sessions_of(user)
        with progress("Deleting", total, quiet=quiet) as step:

            async def erase(session_id: str) -> None:
                if contexts:
                    await contexts.erase(session_id)

            receipt = await directory.delete_user(user, COMMAND, erase, lambda _: step())
    if receipt is None:
        raise _no_user(user)
    return receipt


async def _listed(user: str | None, place: StorePlace, limit: int, after: str) -> Page[Receipt]:
    behind = number_of(after) if after else 0
    async with _opened(place) as (directory, _):
        found = await directory.receipts(user, after=behind, limit=limit + 1)
    last = found[limit - 1].number if len(found) > limit else None
    return Page(found[:limit], None if last is None else cursor_behind(last))


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
