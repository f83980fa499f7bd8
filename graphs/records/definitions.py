"""Definitions in the database: journeys, concierges and guidelines as text, with their versions.

A definition is the text of an author, not a compiled form, and refers to no code. Every change
increases the epoch of its tenant in the same transaction, so that other processes detect changes by
one number.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple, Self

from sqlalchemy import (
    ColumnElement,
    bindparam,
    false,
    insert,
    literal_column,
    not_,
    select,
    update,
)

from journeygraph.graphs.records.listing import checked_limit, paged
from journeygraph.graphs.storage.errors import AlreadyThere, WriteConflict
from journeygraph.graphs.storage.sealing import Seal
from journeygraph.graphs.storage.statements import (
    SESSION,
    Row,
    Sql,
    Statement,
    TableMapper,
    first,
    now,
    of_tenant,
)
from journeygraph.graphs.storage.store import Store, open_store
from journeygraph.graphs.storage.tables import definition_epoch as epochs
from journeygraph.graphs.storage.tables import definitions, sessions
from journeygraph.journeys import JourneyConfig, Page, StateError
from journeygraph.journeys.errors import did_you_mean
from journeygraph.nodes.json_data import stamp

LARGEST = 2**20
"""Maximum size of a definition with its further files, in bytes of UTF-8."""
_TRIES = 8
"""Tries of a change that conflicts with other changes."""

_RECORDS = TableMapper(definitions)
_MINE = of_tenant(definitions)
_ONE = definitions.c.id == bindparam("id_is")
_ACTIVE: ColumnElement[Any] = definitions.c.active
_ONE_MORE: ColumnElement[int] = literal_column("1")
_WITHOUT_BODY = [column for column in definitions.c if column.name not in ("tenant", "body")]
_UNCHANGED = (of_tenant(epochs), epochs.c.epoch == bindparam("seen"))

EPOCH = Sql.of(select(epochs.c.epoch, epochs.c.dropped).where(of_tenant(epochs)))
_EPOCH_TOO = [
    select(column)
    .where(epochs.c.tenant == bindparam("defined_by"))
    .scalar_subquery()
    .label(f"definitions_{column.name}")
    for column in (epochs.c.epoch, epochs.c.dropped)
]
# A session's row alone, and with it the epoch, so that to look for changes costs no query.
FOUND = Sql.of(select(*sessions.c, *_EPOCH_TOO).where(SESSION))
BEGIN_EPOCH = Sql.of(insert(epochs))
BUMP = Sql.of(update(epochs).where(*_UNCHANGED).values(epoch=epochs.c.epoch + _ONE_MORE))
BUMP_AND_DROP = Sql.of(
    update(epochs)
    .where(*_UNCHANGED)
    .values(epoch=epochs.c.epoch + _ONE_MORE, dropped=epochs.c.dropped + _ONE_MORE)
)
ALL = Sql.of(select(*_WITHOUT_BODY).where(_MINE).order_by(definitions.c.id, definitions.c.version))
HISTORY = Sql.of(select(*_WITHOUT_BODY).where(_MINE, _ONE).order_by(definitions.c.version))
ACTIVE = Sql.of(select(*_WITHOUT_BODY).where(_MINE, _ACTIVE).order_by(definitions.c.id))
PAGE = Sql.of(
    first(
        select(*_WITHOUT_BODY)
        .where(_MINE, _ACTIVE, definitions.c.id > bindparam("above"))
        .order_by(definitions.c.id)
    )
)
BODY = Sql.of(
    select(definitions.c.body).where(_MINE, _ONE, definitions.c.version == bindparam("version_is"))
)
RETIRE = Sql.of(update(definitions).where(_MINE, _ONE, _ACTIVE).values(active=false()))
# New sessions begin in the active version; those of another version continue in it.
SERVED = Sql.of(
    select(*_WITHOUT_BODY)
    .where(_MINE, definitions.c.served)
    .order_by(definitions.c.id, definitions.c.version)
)
# One for the active version and one for the others, because Postgres may run both at once.
END = Sql.of(update(definitions).where(_MINE, _ONE, _ACTIVE).values(active=false(), served=false()))
WITHDRAW = Sql.of(update(definitions).where(_MINE, _ONE, not_(_ACTIVE)).values(served=false()))
DROP = Sql.of(
    update(definitions)
    .where(_MINE, _ONE, _ACTIVE)
    .values(dropped=definitions.c.dropped + _ONE_MORE)
)


@dataclass(frozen=True, slots=True)
class DefinitionDraft:
    """A definition to be stored.

    Attributes:
        kind: "journey", "agent", "concierge" or "guidelines".
        id: Names it; one kind each.
        name: Name of its file, for faults.
        text: Content of the file.
        beside: Content of the files that it refers to, by their names in it.
        journey_version: The version of the journey that it defines; empty: not known yet.
    """

    kind: str
    id: str
    name: str
    text: str = field(repr=False)
    beside: Mapping[str, str] = field(default_factory=dict, repr=False)
    journey_version: str = ""

    @property
    def body(self) -> str:
        """The texts as they are stored: canonical JSON."""
        texts = {"text": self.text, "beside": dict(self.beside)}
        return json.dumps(texts, ensure_ascii=False, sort_keys=True)

    @classmethod
    def of(cls, definition: DefinitionVersion, body: str) -> Self:
        """Return the draft of a stored definition."""
        texts = json.loads(body)
        return cls(
            definition.kind,
            definition.id,
            definition.name,
            texts["text"],
            texts["beside"],
            definition.journey_version or "",
        )


@dataclass(frozen=True, slots=True)
class DefinitionVersion:
    """One version of a definition, without its text.

    Attributes:
        digest: sha256 of its body.
        active: True if new sessions begin in this version.
        dropped: Number of manual invalidations of its cached copies.
        loaded_at: The time of storing, in UTC.
        served: True if sessions of this version continue in it.
        journey_version: The version of the journey that it defines, as sessions name it; None: it
            was not known when the definition was stored.
    """

    id: str
    version: int
    kind: str
    name: str
    digest: str
    active: bool
    dropped: int
    loaded_at: str
    served: bool = True
    journey_version: str | None = None


class Epoch(NamedTuple):
    """Two counters: of changes, and of invalidations of all cached copies."""

    epoch: int
    dropped: int


class LoadedDefinition(NamedTuple):
    """Result of loading a draft: the active version, and whether the load made it."""

    definition: DefinitionVersion
    is_new: bool


def digest_of(body: str) -> str:
    """Return the sha256 of a body."""
    return hashlib.sha256(body.encode("utf-8")).hexdigest()


def planned(
    drafts: Sequence[DefinitionDraft], versions: Sequence[DefinitionVersion]
) -> tuple[list[tuple[DefinitionVersion, DefinitionDraft]], list[DefinitionVersion]]:
    """Return the additions of a load and the active versions after it, the oldest first.

    Raises:
        StateError: An id belongs to a definition of another kind.
    """
    newest = {one.id: one for one in versions}
    at = stamp(now())
    new: list[tuple[DefinitionVersion, DefinitionDraft]] = []
    loaded: list[DefinitionVersion] = []
    for draft in drafts:
        there, digest = newest.get(draft.id), digest_of(draft.body)
        if there and there.active and there.kind != draft.kind:
            raise StateError(
                f"{draft.name}: '{draft.id}' is {_a(there.kind)} in the store, but "
                f"{_a(draft.kind)} here. Retire the stored one first, or choose another id."
            )
        if there and there.active and there.digest == digest:
            loaded.append(there)
            continue
        version = there.version + 1 if there else 1
        made = draft.journey_version or None
        added = DefinitionVersion(
            draft.id, version, draft.kind, draft.name, digest, True, 0, at, True, made
        )
        new.append((added, draft))
        loaded.append(added)
    return new, loaded


def check(drafts: Sequence[DefinitionDraft]) -> None:
    """Refuse drafts that cannot be stored together.

    Raises:
        StateError: Two have one id, or one is too large.
    """
    names: dict[str, str] = {}
    for draft in drafts:
        if other := names.get(draft.id):
            raise StateError(f"{draft.name} and {other} both have the id '{draft.id}'.")
        names[draft.id] = draft.name
        if (size := len(draft.body.encode("utf-8"))) > LARGEST:
            raise StateError(
                f"{draft.name} has {size} bytes; the limit of a definition is {LARGEST}."
            )


def _a(kind: str) -> str:
    return {"guidelines": "guidelines", "agent": "an agent"}.get(kind, f"a {kind}")


class UnknownDefinitionError(StateError):
    """A definition does not exist, or its stored text was changed."""


class Definitions:
    """The definitions of one tenant in a store, which stays open until `close()`.

    Every method raises `StateError` if the store fails.
    """

    def __init__(self, store: Store) -> None:
        self._store = store

    @classmethod
    async def open(cls, config: JourneyConfig) -> Self:
        """Open the store of a config."""
        size, tenant = config.database_pool_size, config.tenant
        return cls(await open_store(config.persistence, None, size, tenant))

    async def load(
        self, drafts: Sequence[DefinitionDraft], *, replace: bool = False
    ) -> list[LoadedDefinition]:
        """Store all drafts or none; a draft equal to the active version changes nothing.

        Concurrent loads are applied one after the other.

        Args:
            drafts: The definitions.
            replace: True: sessions of older versions continue in the new ones. Default: they
                continue in their own.

        Raises:
            StateError: Two drafts have one id, an id belongs to another kind, a draft is too large,
                or other processes changed the definitions in every try.
        """
        check(drafts)
        seen: set[tuple[str, int]] | None = None
        for _ in range(_TRIES):
            epoch, versions = await self.epoch(), await self._read(ALL)
            seen = {(one.id, one.version) for one in versions} if seen is None else seen
            new, loaded = planned(drafts, versions)
            written = self._adding(new, END if replace else RETIRE)
            if replace:
                written += self._withdrawing(drafts, versions)
            if not written or await self._changed(epoch, written):
                # What counted although nobody said so is there when it is looked for again.
                return [LoadedDefinition(one, (one.id, one.version) not in seen) for one in loaded]
        raise StateError(
            "Other processes kept changing the definitions of the store; nothing was loaded. "
            "Try again.",
            retryable=True,
        )

    async def epoch(self) -> Epoch:
        """Return the epoch; one small query."""
        rows = await self._store.read(EPOCH)
        return Epoch(**rows[0]) if rows else Epoch(0, 0)

    async def active(self) -> list[DefinitionVersion]:
        """Return the active definitions by id."""
        return await self._read(ACTIVE)

    async def served(self) -> list[DefinitionVersion]:
        """Return the active definitions, and the older versions that sessions continue in.

        Sorted by id, then version.
        """
        return await self._read(SERVED)

    async def page(self, limit: int = 100, after: str = "") -> Page[DefinitionVersion]:
        """Return a page of the active definitions by id, after an id.

        Raises:
            ConfigurationError: The limit is no number from 1 to 1000.
        """
        most = checked_limit(limit)
        found = await self._read(PAGE, above=after, most=most + 1)
        return paged(found, most, lambda one: one.id)

    async def history(self, definition_id: str) -> list[DefinitionVersion]:
        """Return every version of a definition, oldest first; empty if there was none."""
        return await self._read(HISTORY, id_is=definition_id)

    async def body(self, definition: DefinitionVersion) -> str:
        """Return the stored text of a version, as `DefinitionDraft.of` reads it.

        Raises:
            UnknownDefinitionError: It was removed, or its stored text was changed.
        """
        rows = await self._store.read(
            BODY,
            id_is=definition.id,
            version_is=definition.version,
        )
        if not rows or digest_of(rows[0]["body"]) != definition.digest:
            raise UnknownDefinitionError(
                f"Version {definition.version} of '{definition.id}' was removed from the store "
                f"or changed manually. Retire the definition, and load it again."
            )
        body: str = rows[0]["body"]
        return body

    async def retire(self, definition_id: str) -> None:
        """Stop serving a definition with all its versions; they remain, and a new load restores it.

        Sessions of these versions then continue in the version that was loaded.

        Raises:
            UnknownDefinitionError: No definition of that id is active.
        """
        await self._change_one(END, definition_id, WITHDRAW)

    async def invalidate(self, definition_id: str | None = None) -> None:
        """Invalidate cached copies in every process: those of one definition, or all.

        Raises:
            UnknownDefinitionError: No definition of that id is active.
        """
        if definition_id is not None:
            await self._change_one(DROP, definition_id)
            return
        for _ in range(_TRIES):
            if await self._changed(await self.epoch(), [], BUMP_AND_DROP):
                return
        raise _contended()

    async def close(self) -> None:
        """Close the store."""
        await self._store.close()

    async def _read(self, query: Any, **parameters: Any) -> list[DefinitionVersion]:
        rows = await self._store.read(query, **parameters)
        return [DefinitionVersion(**_RECORDS.opened(row, Seal())) for row in rows]

    async def _change_one(self, change: Any, definition_id: str, *more: Any) -> None:
        for _ in range(_TRIES):
            epoch, known = await self.epoch(), [one.id for one in await self.active()]
            if definition_id not in known:
                there = (
                    f" Active: {', '.join(known)}."
                    if known
                    else " There are no active definitions."
                )
                raise UnknownDefinitionError(
                    f"No definition '{definition_id}' is active."
                    f"{did_you_mean(definition_id, known)}{there}"
                )
            row: Row = {"id_is": definition_id}
            also = [Statement(one, [row]) for one in more]
            if await self._changed(epoch, [Statement(change, [row], exactly_one=True), *also]):
                return
        raise _contended()

    async def _changed(self, epoch: Epoch, written: list[Statement], bump: Any = BUMP) -> bool:
        """Write and increase the epoch in one transaction; False if another process was first."""
        row: Row = {"seen": epoch.epoch}
        moved = Statement(bump, [row], exactly_one=True)
        if epoch == (0, 0):
            dropped = int(bump is BUMP_AND_DROP)
            first: Row = {"epoch": 1, "dropped": dropped}
            moved = Statement(BEGIN_EPOCH, [first])
        try:
            await self._store.write(moved, *written)
        except (WriteConflict, AlreadyThere):
            return False
        return True

    def _adding(
        self, new: Sequence[tuple[DefinitionVersion, DefinitionDraft]], end: Sql
    ) -> list[Statement]:
        if not new:
            return []
        ended: list[Row] = [{"id_is": one.id} for one, _ in new]
        added: list[Row] = [{**asdict(one), "body": draft.body} for one, draft in new]
        return [Statement(end, ended), _RECORDS.adding(added, Seal())]

    def _withdrawing(
        self, drafts: Sequence[DefinitionDraft], versions: Sequence[DefinitionVersion]
    ) -> list[Statement]:
        """Return the statement that takes older versions of these definitions out of service."""
        older = {one.id for one in versions if one.served and not one.active}
        rows: list[Row] = [{"id_is": draft.id} for draft in drafts if draft.id in older]
        return [Statement(WITHDRAW, rows)] if rows else []


def _contended() -> StateError:
    return StateError(
        "Other processes kept changing the definitions of the store. Try again.",
        retryable=True,
    )
