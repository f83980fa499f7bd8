"""Anchors: one hash over the heads of all sessions, so that a removed session is found.

The anchored heads are in a separate table. An anchor is the hash of all of them, chained
to the anchor before. To prove that a store was not replaced as a whole, keep a root elsewhere.

An anchor also has the last receipt of a deleted user, so that this is found if it was removed.

The hash is kept up to date by the heads that change (`set_hash.py`), and an index has the sessions
whose head is not anchored. So an anchor costs as much as has changed, whatever the store has.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from itertools import pairwise
from random import Random
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Integer,
    and_,
    bindparam,
    case,
    delete,
    insert,
    literal_column,
    null,
    or_,
    select,
    true,
    union,
    update,
)

from journeygraph.graphs.evidence import receipts
from journeygraph.graphs.evidence.set_hash import EMPTY, changed
from journeygraph.graphs.records.chain import hash_of
from journeygraph.graphs.storage.errors import AlreadyThere
from journeygraph.graphs.storage.statements import (
    ENDS,
    Row,
    Sql,
    Statement,
    by_key,
    first,
    now,
    of_tenant,
)
from journeygraph.graphs.storage.store import Store
from journeygraph.graphs.storage.tables import anchored_heads, anchors, sessions, tombstones
from journeygraph.nodes.json_data import stamp

EVERY = 60.0
"""Seconds between two anchors of a server."""
KEPT = 7 * 24 * 60
"""Number of anchors that are kept: one week of minutes."""
STONES_KEPT = timedelta(days=400)
"""Time for which the tombstone of a deleted session is kept."""
_AT_ONCE = 1_000
"""Heads that are read at once, and that change in one anchor; the next one has the others."""
_MARKED_AT_ONCE = 100
"""Sessions that are marked in one transaction, for which a turn of one of them has to wait."""
_KEY = ("tenant", "session_id", "created_at")
_HEAD = (*_KEY, *ENDS)
_STEPS = ("version", "late")
"""Columns that grow with each link of the two chains of a session."""
_WAS = "was_"
"""Beginning of the names of columns of the anchored head of a session."""
_OF_TENANT = of_tenant(anchored_heads)
_ZERO: ColumnElement[int] = literal_column("0")
_ONE: ColumnElement[int] = literal_column("1")
_IS_AFTER = case((sessions.c.version + sessions.c.late > sessions.c.anchored, _ONE), else_=_ZERO)
_CHANGED = (
    _IS_AFTER == _ONE,
    sessions.c.status != literal_column("'expired'"),
    (sessions.c.chain != literal_column("''")) | (sessions.c.late > _ZERO),
)
"""The condition of the index `sessions_to_anchor`."""
_ENDED = tombstones.c.anchor.is_(None)
"""The condition of the index `tombstones_to_anchor`."""


def _same(table: Any) -> Any:
    return and_(*(anchored_heads.c[name] == table.c[name] for name in _KEY))


def _with_heads(table: Any, names: Sequence[str], *where: Any) -> Sql:
    """Return the statement that reads rows, each with the anchored head of its session."""
    were = [anchored_heads.c[name].label(f"{_WAS}{name}") for name in ENDS]
    rows = first(select(*(table.c[name] for name in names)).where(of_tenant(table), *where))
    known = by_key("known", were, _same(table))
    on_sqlite = rows.add_columns(*were).outerjoin(anchored_heads, _same(table))
    on_postgres = rows.add_columns(*known.c).outerjoin(known, true())
    return Sql(Sql.of(on_sqlite).sqlite, Sql.of(on_postgres).postgres)


_CHANGED_HEADS = _with_heads(sessions, _HEAD, *_CHANGED)
_ENDED_HEADS = _with_heads(tombstones, _KEY, _ENDED)
_TENANTS = Sql.of(
    union(
        select(sessions.c.tenant).where(*_CHANGED),
        select(tombstones.c.tenant).where(_ENDED),
    ),
    all_tenants=True,
)
"""Find the tenants with a session that has changed or ended since it was anchored."""
_HEADS = Sql.of(
    first(
        select(anchored_heads)
        .where(
            _OF_TENANT,
            or_(
                anchored_heads.c.session_id > bindparam("after"),
                and_(
                    anchored_heads.c.session_id == bindparam("after"),
                    anchored_heads.c.created_at > bindparam("after_begun"),
                ),
            ),
        )
        .order_by(anchored_heads.c.session_id, anchored_heads.c.created_at)
    )
)
_ADD_HEAD = Sql.of(
    insert(anchored_heads).inline().values({name: bindparam(name) for name in _HEAD})
).followed_by(
    "ON CONFLICT (tenant, session_id, created_at) DO UPDATE SET "
    + ", ".join(f"{name} = excluded.{name}" for name in ENDS)
)
_DROP_HEAD = Sql.of(
    delete(anchored_heads).where(
        _OF_TENANT, *(anchored_heads.c[name] == bindparam(name) for name in _KEY[1:])
    )
)


# What has changed meanwhile is after its mark.
_MARK = Sql.of(
    update(sessions)
    .where(of_tenant(sessions), *(sessions.c[name] == bindparam(name) for name in _KEY[1:]))
    .values(anchored=bindparam("up_to"))
)
_MARK_ENDED = Sql.of(
    update(tombstones)
    .where(of_tenant(tombstones), *(tombstones.c[name] == bindparam(name) for name in _KEY[1:]))
    .values(anchor=bindparam("left_out"))
)
_COLUMNS = [str(one.name) for one in anchors.c]
_ADD = Sql.of(insert(anchors).inline().values({name: bindparam(name) for name in _COLUMNS}))
_NEWEST_FIRST = Sql.of(
    first(select(anchors).where(of_tenant(anchors)).order_by(anchors.c.number.desc()))
)
_DROP_PRODUCT = Sql.of(
    update(anchors)
    .where(of_tenant(anchors), anchors.c.number == bindparam("known", type_=Integer))
    .values(product=null())
)
_DROP_OLD = Sql.of(
    delete(anchors).where(
        of_tenant(anchors),
        anchors.c.number <= bindparam("oldest", type_=Integer),
    )
)
_DROP_STONES = Sql.of(
    delete(tombstones).where(
        of_tenant(tombstones),
        tombstones.c.reason == literal_column("'deleted'"),
        tombstones.c.at < bindparam("since"),
    )
)
# Of its own, so that it takes no number from a program that has seeded the module.
_chance = Random()


@dataclass(frozen=True, slots=True)
class Anchor:
    """An anchor of all heads.

    Attributes:
        number: Its number, from 1.
        at: Its time, ISO 8601 in UTC.
        total: Number of the heads.
        root: Hash of these heads and of the anchor before.
    """

    number: int
    at: str
    total: int
    root: str


async def newest(store: Store) -> Anchor | None:
    """Return the newest anchor; None if there is none.

    Raises:
        StateError: The store could not be read.
    """
    found = await store.read(_NEWEST_FIRST, most=1)
    return _anchor(found[0]) if found else None


def _anchor(row: Row) -> Anchor:
    return Anchor(row["number"], row["at"], row["total"], row["root"])


async def anchor(store: Store) -> Anchor | None:
    """Anchor the heads of all sessions; return the anchor, or None if no head has changed.

    Only the sessions that have changed or ended since the last anchor are read.

    Raises:
        AlreadyThere: Another process wrote an anchor at the same time.
        StateError: The store failed.
    """
    last: Anchor | None = None
    is_whole = False
    while not is_whole:
        made, is_whole = await _anchored(store)
        last = made or last
    return last


async def _anchored(store: Store) -> tuple[Anchor | None, bool]:
    """Write one anchor; return it, or None if no head has changed, and whether it has all changes.

    It is read after the newest anchor, so that of two processes only one writes.
    """
    before = await store.read(_NEWEST_FIRST, most=1)
    later = await store.read(_CHANGED_HEADS, most=_AT_ONCE)
    ended = await store.read(_ENDED_HEADS, most=_AT_ONCE)
    gone = {_key(row) for row in ended}
    left = [row for row in later if _key(row) not in gone]
    heads = [row for row in left if _goes_on(row)]
    made = await _written(store, before, heads, ended) if heads or ended else None
    marks = [{**row, "up_to": row["version"] + row["late"]} for row in left]
    for done in range(0, len(marks), _MARKED_AT_ONCE):
        await store.write(Statement(_MARK, marks[done : done + _MARKED_AT_ONCE]))
    return made, max(len(later), len(ended)) < _AT_ONCE


def _goes_on(row: Row) -> bool:
    """Return whether a session has a new head; one that went back keeps the anchored one."""
    if row[f"{_WAS}version"] is None:
        return True
    steps: list[int] = [row[name] - row[f"{_WAS}{name}"] for name in _STEPS]
    return min(steps) >= 0 and max(steps) > 0


async def _written(
    store: Store, before: Sequence[Row], heads: Sequence[Row], ended: Sequence[Row]
) -> Anchor:
    """Write an anchor after the one before; return it.

    Args:
        store: The store.
        before: The newest anchor; empty: there is none.
        heads: New heads of sessions.
        ended: Sessions that have ended.
    """
    known: Row = before[0] if before else {"number": 0, "root": "", "product": None}
    if known["product"] is None:  # there is no anchor, or an older release wrote it
        product, total = await _whole(store)
    else:
        product, total = known["product"], known["total"]
    replaced = [was for row in heads if (was := _head_before(row))]
    dropped = [was for row in ended if (was := _head_before(row))]
    number, at = known["number"] + 1, stamp(now())
    row: Row = {"tenant": store.tenant, "number": number, "at": at}
    row["product"] = changed(product, map(_hash, heads), map(_hash, [*replaced, *dropped]))
    row["total"] = total + len(heads) - len(replaced) - len(dropped)
    row["heads"] = _heads(row["product"], await receipts.last_root(store))
    row["root"] = _root(known["root"], row)
    written = [
        Statement(_ADD, [row]),
        Statement(_DROP_PRODUCT, [{"known": known["number"]}]),
        Statement(_ADD_HEAD, [*heads]),
        Statement(_DROP_HEAD, dropped),
        Statement(_MARK_ENDED, [{**one, "left_out": number} for one in ended]),
        Statement(_DROP_OLD, [{"oldest": number - KEPT}]),
        Statement(_DROP_STONES, [{"since": stamp(now() - STONES_KEPT)}]),
    ]
    await store.write(*(one for one in written if one.rows))
    return _anchor(row)


def _root(before: str, row: Row) -> str:
    told = [row[name] for name in _COLUMNS if name not in ("root", "product")]
    return hash_of(before, *told)


def _key(row: Row) -> tuple[str, str]:
    return row["session_id"], row["created_at"]


def _hash(row: Row) -> str:
    return hash_of(*(row[name] for name in _HEAD))


def _head_before(row: Row) -> Row | None:
    """Return the anchored head that was read with a session; None if it has none."""
    if row[f"{_WAS}version"] is None:
        return None
    key = {name: row[name] for name in _KEY}
    return {**key, **{name: row[f"{_WAS}{name}"] for name in ENDS}}


async def _hashes(store: Store) -> AsyncIterator[list[str]]:
    """Yield the hashes of all anchored heads, some at a time."""
    after = ("", "")
    while rows := await store.read(_HEADS, after=after[0], after_begun=after[1], most=_AT_ONCE):
        yield [_hash(row) for row in rows]
        after = _key(rows[-1])


async def _whole(store: Store) -> tuple[str, int]:
    """Return the product and the number of all anchored heads."""
    product, total = EMPTY, 0
    async for some in _hashes(store):
        product, total = changed(product, some), total + len(some)
    return product, total


async def fault_of(store: Store) -> tuple[str, int | None, str] | None:
    """Return the table, no turn, and the fault of the first anchor that differs; None: all agree.

    Raises:
        StateError: The store could not be read.
    """
    while True:
        rows = await store.read(_NEWEST_FIRST, most=KEPT + 1)
        hashes = [one async for some in _hashes(store) for one in some]
        again = await newest(store)
        if again == (_anchor(rows[0]) if rows else None):
            break
    for row, before in pairwise(rows):
        if row["number"] != before["number"] + 1:
            return anchors.name, None, f"anchor {before['number'] + 1} is missing"
        if row["root"] != _root(before["root"], row):
            return anchors.name, None, f"anchor {row['number']} or the one before was changed"
    if rows and not _has(rows[0], hashes):
        then = f"anchor {rows[0]['number']} has {rows[0]['total']}"
        fault = f"the heads are not those of the last anchor: {then}, and {len(hashes)} are there"
        return anchored_heads.name, None, fault
    if not rows and hashes:
        return anchors.name, None, "there are anchored heads, but no anchor"
    return None


def _has(row: Row, hashes: Sequence[str]) -> bool:
    """Return whether an anchor is of these heads."""
    if row["product"] is None:  # an older release wrote it
        return bool(row["heads"] == hash_of(*sorted(hashes)))
    product = changed(EMPTY, hashes)
    return (row["product"], row["total"]) == (product, len(hashes))


async def receipt_in_newest(store: Store) -> Callable[[str], bool]:
    """Return what tells whether a root of receipts is in the newest anchor; always, without one.

    Raises:
        StateError: The store could not be read.
    """
    rows = await store.read(_NEWEST_FIRST, most=1)
    known = [row for row in rows if row["product"] is not None]  # not of an older release

    def is_anchored(root: str) -> bool:
        return all(row["heads"] == _heads(row["product"], root) for row in known)

    return is_anchored


def _heads(product: str, receipt: str) -> str:
    """Return the hash in an anchor: of the product of the heads, and of the root of receipts."""
    return hash_of(product, receipt) if receipt else hash_of(product)


class Anchoring:
    """The job that anchors the heads of each tenant every minute, if one has changed.

    Args:
        store: The store.
        every: Seconds between two anchors.
    """

    name = "anchors"

    def __init__(self, store: Store, every: float = EVERY) -> None:
        self._store, self.pause = store, every

    async def run(self) -> float:
        """Write an anchor, unless another server has written one; return the pause until the next.

        Raises:
            StateError: The store failed.
        """
        tenants = [row["tenant"] for row in await self._store.read(_TENANTS)]
        # Servers that begin at the same time take different tenants, and leave out those of others.
        _chance.shuffle(tenants)
        for store in map(self._store.of, tenants):
            last = await newest(store)
            if last is None or last.at < stamp(now() - timedelta(seconds=self.pause / 2)):
                with suppress(AlreadyThere):
                    await anchor(store)
        return self.pause
