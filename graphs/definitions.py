"""Definitions in the database: journeys, concierges and guidelines as text, with their versions.

A definition is what an author wrote, never what was made of it, and names no code. Every change
moves the epoch of its tenant in the same transaction, so that another process sees by one number
that there is something new.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

from graphs import definition_statements as statements
from graphs.drafts import TENANT, Definition, Draft, Epoch, Loaded, check, digest_of, planned
from graphs.faults import AlreadyThere, LostRace
from graphs.listing import checked_limit, paged
from graphs.statements import Row, Statement
from graphs.stores import Store, open_store
from journeys import JourneyConfig, Page, StateError
from journeys.errors import did_you_mean

_TRIES = 8
"""How often a change is tried anew that others came before."""


class UnknownDefinitionError(StateError):
    """There is no such definition, or it is not what was stored."""


class Definitions:
    """The definitions of one tenant in a store, which stays open until `close()`.

    Every method raises `StateError` if the store fails.
    """

    def __init__(self, store: Store, tenant: str = TENANT) -> None:
        self._store = store
        self._tenant = tenant

    @classmethod
    async def open(cls, config: JourneyConfig, tenant: str = TENANT) -> Self:
        """Open the store that a config names."""
        store = await open_store(config.persistence, None, config.database_pool_size)
        return cls(store, tenant)

    async def load(self, drafts: Sequence[Draft]) -> list[Loaded]:
        """Store drafts, all or none of them; one that says what is active already is left alone.

        Loads at the same time count one after the other.

        Raises:
            StateError: Two drafts have one id, an id belongs to another kind, a draft is too large,
                or others kept changing the definitions.
        """
        check(drafts)
        seen: set[tuple[str, int]] | None = None
        for _ in range(_TRIES):
            epoch, versions = await self.epoch(), await self._read(statements.ALL)
            seen = {(one.id, one.version) for one in versions} if seen is None else seen
            new, loaded = planned(drafts, versions)
            if not new or await self._changed(epoch, self._adding(new)):
                # What counted although nobody said so is there when it is looked for again.
                return [Loaded(one, (one.id, one.version) not in seen) for one in loaded]
        raise StateError(
            "The definitions of the store were changed by others again and again; nothing was "
            "loaded. Try again.",
            retryable=True,
        )

    async def epoch(self) -> Epoch:
        """Return the epoch; one tiny query."""
        rows = await self._store.read(statements.EPOCH, tenant_is=self._tenant)
        return Epoch(**rows[0]) if rows else Epoch(0, 0)

    async def active(self) -> list[Definition]:
        """Return what is served, by id."""
        return await self._read(statements.ACTIVE)

    async def page(self, limit: int = 100, after: str = "") -> Page[Definition]:
        """Return what is served, by id, from behind an id on.

        Raises:
            ConfigurationError: The limit is no number from 1 to 1000.
        """
        most = checked_limit(limit)
        found = await self._read(statements.PAGE, above=after, most=most + 1)
        return paged(found, most, lambda one: one.id)

    async def history(self, definition_id: str) -> list[Definition]:
        """Return every version of a definition, oldest first; empty if there was none."""
        return await self._read(statements.HISTORY, id_is=definition_id)

    async def body(self, definition: Definition) -> str:
        """Return the stored text of a version, as `Draft.of` reads it.

        Raises:
            UnknownDefinitionError: It is not there any more, or not what was stored.
        """
        rows = await self._store.read(
            statements.BODY,
            tenant_is=self._tenant,
            id_is=definition.id,
            version_is=definition.version,
        )
        if not rows or digest_of(rows[0]["body"]) != definition.digest:
            raise UnknownDefinitionError(
                f"Version {definition.version} of '{definition.id}' was removed from the store, or "
                "changed in it by hand. Retire that definition, and load it again."
            )
        body: str = rows[0]["body"]
        return body

    async def retire(self, definition_id: str) -> None:
        """Serve a definition no more; its versions stay, and loading it again brings it back.

        Raises:
            UnknownDefinitionError: No definition of that id is active.
        """
        await self._change_one(statements.RETIRE, definition_id)

    async def invalidate(self, definition_id: str | None = None) -> None:
        """Make cached copies void, in every process: those of one definition, or everything.

        Raises:
            UnknownDefinitionError: No definition of that id is active.
        """
        if definition_id is not None:
            await self._change_one(statements.DROP, definition_id)
            return
        for _ in range(_TRIES):
            if await self._changed(await self.epoch(), [], statements.BUMP_AND_DROP):
                return
        raise _contended()

    async def close(self) -> None:
        """Let go of the store."""
        await self._store.close()

    async def _read(self, query: Any, **parameters: Any) -> list[Definition]:
        rows = await self._store.read(query, tenant_is=self._tenant, **parameters)
        return [Definition(**{**row, "active": bool(row["active"])}) for row in rows]

    async def _change_one(self, change: Any, definition_id: str) -> None:
        for _ in range(_TRIES):
            epoch, known = await self.epoch(), [one.id for one in await self.active()]
            if definition_id not in known:
                there = f" There are: {', '.join(known)}." if known else " There is none."
                raise UnknownDefinitionError(
                    f"No definition '{definition_id}' is active."
                    f"{did_you_mean(definition_id, known)}{there}"
                )
            row: Row = {"tenant_is": self._tenant, "id_is": definition_id}
            if await self._changed(epoch, [Statement(change, [row], exactly_one=True)]):
                return
        raise _contended()

    async def _changed(
        self, epoch: Epoch, written: list[Statement], bump: Any = statements.BUMP
    ) -> bool:
        """Write and move the epoch on, in one transaction; False if somebody moved it first."""
        row: Row = {"tenant_is": self._tenant, "seen": epoch.epoch}
        moved = Statement(bump, [row], exactly_one=True)
        if epoch == (0, 0):
            dropped = int(bump is statements.BUMP_AND_DROP)
            first: Row = {"tenant": self._tenant, "epoch": 1, "dropped": dropped}
            moved = Statement(statements.BEGIN_EPOCH, [first])
        try:
            await self._store.write(moved, *written)
        except (LostRace, AlreadyThere):
            return False
        return True

    def _adding(self, new: Sequence[tuple[Definition, Draft]]) -> list[Statement]:
        retired: list[Row] = [{"tenant_is": self._tenant, "id_is": one.id} for one, _ in new]
        added: list[Row] = [
            {
                "tenant": self._tenant,
                "id": one.id,
                "version": one.version,
                "kind": one.kind,
                "name": one.name,
                "body": draft.body,
                "digest": one.digest,
                "active": True,
                "dropped": 0,
                "loaded_at": one.loaded_at,
            }
            for one, draft in new
        ]
        return [Statement(statements.RETIRE, retired), Statement(statements.ADD, added)]


def _contended() -> StateError:
    return StateError(
        "The definitions of the store were changed by others again and again. Try again.",
        retryable=True,
    )
