"""`journeygraph migrate`: bring a database up to date."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from journeygraph.graphs.storage.store import POSTGRES, open_store
from journeygraph.journeys.errors import require_extra
from journeygraph.journeys.store_url import is_server, masked
from journeygraph.server.cli.terminal.rendering import out, progress
from journeygraph.server.settings import Settings

if TYPE_CHECKING:
    from journeygraph.graphs.storage.migrations.migrate_postgres import Migration


def migrate(store: str | None) -> None:
    """Bring a database up to date."""

    async def opened_once() -> None:
        await (await open_store(url, None)).close()

    url = Settings().config(store).persistence
    if is_server(url):
        require_extra("postgres", "A Postgres store", *POSTGRES)
        from journeygraph.graphs.storage.migrations.migrate_postgres import migrate_postgres  # noqa: PLC0415

        with progress(f"Migrating {masked(url)}", pause=0) as step:
            done = migrate_postgres(url, watch=step)
        _say_done(done)
    else:
        asyncio.run(opened_once())
        _say(f"{masked(url)} is up to date; SQLite files migrate themselves when opened.")


def _say_done(done: Migration) -> None:
    if done.before == done.after:
        newer = ": a newer release migrated it, and this one fits it" if done.after.is_newer else ""
        _say(f"{done.database} is up to date{newer}; nothing was changed.")
        return
    kinds = (
        ("sessions, turns and audit", done.before.ours, done.after.ours),
        ("LangGraph's checkpoints", done.before.savers, done.after.savers),
    )
    _say(f"{done.database} was migrated:")
    for what, before, after in kinds:
        if before != after:
            _say(f"  {what}: from {'nothing' if before is None else before} to {after}")


def _say(text: str) -> None:
    out.print(text, markup=False)
