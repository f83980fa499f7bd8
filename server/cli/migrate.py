"""`journeygraph migrate`: bring a database up to date."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Annotated

import typer

from journeys.errors import require_extra
from journeys.store_url import is_server, masked
from server.cli.rendering import out
from server.settings import Settings

if TYPE_CHECKING:
    from graphs.migrate_postgres import Migration


def migrate(
    store: Annotated[
        str | None,
        typer.Option(help="Which database: postgresql://... or sqlite:///FILE. Default: settings."),
    ] = None,
) -> None:
    """Make or change the tables that this release needs, and say what was done.

    A Postgres database is migrated by nothing else; SQLite files also migrate themselves when they
    are opened. It may run while the database is used, and in several places at once.
    """
    # The other commands start quicker without what is only needed here.
    from graphs.store import POSTGRES, open_store  # noqa: PLC0415

    async def opened_once() -> None:
        await (await open_store(url, None)).close()

    url = Settings().config(store).persistence
    if is_server(url):
        require_extra("postgres", "A Postgres store", *POSTGRES)
        from graphs.migrate_postgres import migrate_postgres  # noqa: PLC0415

        _say(migrate_postgres(url))
    else:
        asyncio.run(opened_once())
        _print(f"{masked(url)} is up to date; SQLite files migrate themselves when opened.")


def _say(done: Migration) -> None:
    if done.before == done.after:
        _print(f"{done.database} is up to date; nothing was changed.")
        return
    kinds = (
        ("sessions, turns and audit", done.before.ours, done.after.ours),
        ("LangGraph's checkpoints", done.before.savers, done.after.savers),
    )
    _print(f"{done.database} was migrated:")
    for what, before, after in kinds:
        if before != after:
            _print(f"  {what}: from {'nothing' if before is None else before} to {after}")


def _print(text: str) -> None:
    out.print(text, markup=False, soft_wrap=True)
