"""Definitions of journeys in a database, and the schema of definition files."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from journeygraph.graphs.records.definitions import (
    DefinitionDraft,
    Definitions,
    DefinitionVersion,
    LoadedDefinition,
)
from journeygraph.journeys import Page
from journeygraph.journeys.files.form import published, schema_of
from journeygraph.server.cache import Cache, MemoryCache, VersionedCache, open_cache
from journeygraph.server.cache.port import CacheUnavailableError
from journeygraph.server.cli.terminal.rendering import (
    listing,
    out,
    progress,
    row,
    show_next,
    write_json,
)
from journeygraph.server.definitions.loader import drafts_at
from journeygraph.server.definitions.stored_journeys import DEFINITION_KIND
from journeygraph.server.settings import Settings


def load(paths: Sequence[str], store: str | None, *, replace: bool) -> None:
    """Store definitions in the database, all of them or none."""

    async def stored() -> list[LoadedDefinition]:
        async with _opened(store) as (definitions, cache):
            active = await definitions.active()
            there = [DefinitionDraft.of(one, await definitions.body(one)) for one in active]
            loaded = await definitions.load(drafts_at(paths, there, _watched), replace=replace)
            versioned = VersionedCache(cache, DEFINITION_KIND)
            await versioned.drop([one.definition.id for one in loaded if one.is_new])
            return loaded

    loaded = asyncio.run(stored())
    shown = listing("id", "kind", "version", "")
    for one, is_new in loaded:
        shown.add_row(*row(one.id, one.kind, one.version, "new" if is_new else "unchanged"))
    out.print(shown)


def _watched(files: list[Path]) -> Iterator[Path]:
    with progress("Reading", len(files)) as step:
        for file in files:
            step(file.name, done=0)
            yield file
            step()


def definitions(
    retire: str | None, store: str | None, limit: int, after: str, *, as_json: bool = False
) -> None:
    """List the definitions that are served."""

    async def listed() -> Page[DefinitionVersion]:
        async with _opened(store) as (definitions, _):
            if retire is not None:
                await definitions.retire(retire)
            return await definitions.page(limit, after)

    found = asyncio.run(listed())
    if as_json:
        served = [asdict(one) for one in found]
        write_json({"definitions": served, "next": found.next})
        return
    if retire is not None:
        _say(f"'{retire}' is not served any more.")
    if not found:
        _say("There are no definitions. Store some with: journeygraph load PATH")
        return
    shown = listing("id", "kind", "version", "loaded at", "file")
    for one in found:
        shown.add_row(*row(one.id, one.kind, one.version, one.loaded_at[:19] + "Z", one.name))
    out.print(shown)
    show_next(found.next)


def invalidate(definition: str | None, store: str | None) -> None:
    """Invalidate the cached values of one definition, or of all."""

    async def dropped() -> None:
        async with _opened(store) as (definitions, cache):
            await definitions.invalidate(definition)
            _say(f"Cleared the cache of {definition or 'everything'}.")
            await _removed(cache, definition)

    asyncio.run(dropped())


def schema(kind: str | None) -> None:
    """Print the JSON Schema of definition files, or of files of tests."""
    out.raw(json.dumps(_schema(kind), indent=2))


def _schema(kind: str | None) -> dict[str, Any]:
    # Most calls are about journeys, and the files of tests bring the whole runtime along.
    if kind == "conversation":
        from journeygraph.server.conversations.conversation_form import Conversation  # noqa: PLC0415

        return schema_of(Conversation)
    return published(kind)


async def _removed(cache: Cache, definition: str | None) -> None:
    if definition is not None:
        await VersionedCache(cache, DEFINITION_KIND).drop([definition])
        return
    try:
        count = await cache.clear("jg:")
    except CacheUnavailableError as error:
        _say(f"{error} Its entries are not used any more.")
    else:
        _say(f"Removed from the cache: {count}.")


@asynccontextmanager
async def _opened(store: str | None) -> AsyncIterator[tuple[Definitions, Cache]]:
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
    out.print(text, markup=False)
