"""`journeygraph load`, `definitions` and `invalidate`: what is kept in the database."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from journeys import Page
from server.cli.rendering import out, row, show_next, table
from server.settings import Settings

if TYPE_CHECKING:
    from graphs.definitions import Definition, Definitions, Loaded
    from server.cache import Cache

Store = Annotated[
    str | None,
    typer.Option(help="Which database: postgresql://... or sqlite:///FILE. Default: settings."),
]


def load(
    paths: Annotated[
        list[str], typer.Argument(metavar="PATH...", help="YAML and JSON files, and folders.")
    ],
    store: Store = None,
) -> None:
    """Put definitions of journeys, concierges and guidelines into the database.

    All files are read and judged first: if one has a fault, every fault of every file is shown, and
    nothing is stored. What is new becomes a version, which servers of definitions take up with
    their next turn; what is there already is left alone.
    """
    from graphs.definitions import Draft  # noqa: PLC0415 - the database takes a second to import
    from server.cache import Shelf  # noqa: PLC0415
    from server.stored.files import drafts_at  # noqa: PLC0415
    from server.stored.texts import SHELF  # noqa: PLC0415

    async def stored() -> list[Loaded]:
        async with _opened(store) as (definitions, cache):
            active = await definitions.active()
            there = [Draft.of(one, await definitions.body(one)) for one in active]
            loaded = await definitions.load(drafts_at(paths, there))
            shelf = Shelf(cache, SHELF)
            await shelf.drop([one.definition.id for one in loaded if one.is_new])
            return loaded

    loaded = asyncio.run(stored())
    shown = table("id", "kind", "version", "")
    for one, is_new in loaded:
        shown.add_row(*row(one.id, one.kind, one.version, "new" if is_new else "unchanged"))
    out.print(shown)


def definitions(
    retire: Annotated[
        str | None,
        typer.Option(metavar="ID", help="Serve this one no more; loading it brings it back."),
    ] = None,
    store: Store = None,
    limit: Annotated[int, typer.Option(min=1, max=1_000, help="Most of them.")] = 200,
    after: Annotated[
        str, typer.Option(metavar="ID", help="Go on behind this one.", show_default=False)
    ] = "",
) -> None:
    """List the definitions in the database that are served, by id."""

    async def listed() -> Page[Definition]:
        async with _opened(store) as (definitions, _):
            if retire is not None:
                await definitions.retire(retire)
            return await definitions.page(limit, after)

    found = asyncio.run(listed())
    if retire is not None:
        _say(f"'{retire}' is served no more.")
    if not found:
        _say("There are no definitions. Store some with: journeygraph load PATH")
        return
    shown = table("id", "kind", "version", "loaded at", "file")
    for one in found:
        shown.add_row(*row(one.id, one.kind, one.version, one.loaded_at[:19] + "Z", one.name))
    out.print(shown)
    show_next(found.next)


def invalidate(
    definition: Annotated[
        str | None,
        typer.Argument(metavar="[ID]", help="Of a definition. Default: all that is cached."),
    ] = None,
    store: Store = None,
) -> None:
    """Make cached values void, in the cache and in every process: of one definition, or all.

    That counts at once, whether the cache answers or not: servers compare what it holds with the
    database.
    """

    async def dropped() -> None:
        async with _opened(store) as (definitions, cache):
            await definitions.invalidate(definition)
            _say(f"Void from now on: what was cached of {definition or 'everything'}.")
            await _removed(cache, definition)

    asyncio.run(dropped())


async def _removed(cache: Cache, definition: str | None) -> None:
    from graphs.definitions import TENANT  # noqa: PLC0415
    from server.cache import Shelf  # noqa: PLC0415
    from server.cache.port import CacheUnavailableError  # noqa: PLC0415
    from server.stored.texts import SHELF  # noqa: PLC0415

    if definition is not None:
        await Shelf(cache, SHELF).drop([definition])
        return
    try:
        count = await cache.clear(f"jg:{TENANT}:")
    except CacheUnavailableError as error:
        _say(f"{error} What it holds counts for nothing all the same.")
    else:
        _say(f"Removed from the cache: {count}.")


@asynccontextmanager
async def _opened(store: str | None) -> AsyncIterator[tuple[Definitions, Cache]]:
    from graphs.definitions import Definitions  # noqa: PLC0415
    from server.cache import MemoryCache, open_cache  # noqa: PLC0415

    settings = Settings()
    config = settings.config(store)
    cache = open_cache(settings.redis()) or MemoryCache()
    try:
        definitions = await Definitions.open(config)
        try:
            yield definitions, cache
        finally:
            await definitions.close()
    finally:
        await cache.close()


def _say(text: str) -> None:
    out.print(text, markup=False, soft_wrap=True)
