"""The texts of definitions, from the cache if it has these versions, else from the database."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

from graphs.records.definitions import (
    Definition,
    Definitions,
    Draft,
    Epoch,
    UnknownDefinitionError,
    digest_of,
)
from journeys.faults import Fault
from server.cache import Shelf

SHELF = "definition"
"""Kind of the cached values."""


class Texts:
    """Reader of the texts of definitions, with a cache.

    Args:
        definitions: Their records in the database.
        shelf: Their place in the cache.
    """

    def __init__(self, definitions: Definitions, shelf: Shelf) -> None:
        self.shelf = shelf
        self._definitions = definitions

    async def drafts(
        self, active: Sequence[Definition], epoch: Epoch, faults: dict[str, list[Fault]]
    ) -> list[Draft]:
        """Return definitions with their texts; missing ones get faults instead.

        Args:
            active: The active definitions in the database.
            epoch: The epoch before that read.
            faults: Gets the fault of each missing definition, by id.

        Raises:
            StateError: The store failed.
        """
        versions = {one.id: _version(one, epoch) for one in active}
        bodies = await self._kept(active, versions)
        found = await self._stored([one for one in active if one.id not in bodies], faults)
        sealed = {id_: self.shelf.seal(id_, versions[id_], body) for id_, body in found.items()}
        await self.shelf.put(sealed)
        bodies |= found
        return [Draft.of(one, bodies[one.id]) for one in active if one.id in bodies]

    async def _kept(
        self, active: Sequence[Definition], versions: Mapping[str, str]
    ) -> dict[str, str]:
        bodies: dict[str, str] = {}
        for one, kept in zip(active, await self.shelf.fetch(list(versions)), strict=True):
            body = self.shelf.judge(kept, versions[one.id])
            if isinstance(body, str) and digest_of(body) == one.digest:
                bodies[one.id] = body
        return bodies

    async def _stored(
        self, missing: Sequence[Definition], faults: dict[str, list[Fault]]
    ) -> dict[str, str]:
        reads = (self._definitions.body(one) for one in missing)
        found = await asyncio.gather(*reads, return_exceptions=True)
        bodies: dict[str, str] = {}
        for one, body in zip(missing, found, strict=True):
            if isinstance(body, UnknownDefinitionError):
                faults[one.id] = [Fault(str(body))]
            elif isinstance(body, BaseException):
                raise body
            else:
                bodies[one.id] = body
        return bodies


def _version(definition: Definition, epoch: Epoch) -> str:
    """Return the version that a cached body must have."""
    dropped = f"{definition.dropped}|{epoch.dropped}"
    return f"{definition.version}|{definition.digest}|{dropped}"
