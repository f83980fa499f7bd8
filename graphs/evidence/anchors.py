"""Anchors: one hash over the heads of all sessions, so that a removed session is found.

The anchored heads are in a separate table. An anchor is the hash of all of them, chained
to the anchor before. To prove that a store was not replaced as a whole, keep a root elsewhere.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from itertools import pairwise

from sqlalchemy import Integer, and_, bindparam, delete, insert, literal_column, or_, select

from graphs.records.chain import hash_of
from graphs.storage.errors import AlreadyThere
from graphs.storage.statements import ENDS, Row, Sql, Statement, first, now, of_tenant
from graphs.storage.store import Store
from graphs.storage.tables import anchored_heads, anchors, sessions, tombstones
from nodes.json_data import stamp

EVERY = 60.0
"""Seconds between two anchors of a server."""
KEPT = 7 * 24 * 60
"""Number of anchors that are kept: one week of minutes."""
STONES_KEPT = timedelta(days=400)
"""Time for which the tombstone of a deleted session is kept."""
_AT_ONCE = 1_000
_MOST_CHANGED = 2_000
"""Heads that change in one anchor; the next one has the others."""
_KEY = ("tenant", "session_id", "created_at")
_HEAD = (*_KEY, *ENDS)
_OF_TENANT = of_tenant(anchored_heads)
_SAME = and_(*(anchored_heads.c[name] == sessions.c[name] for name in _KEY))
_CHANGED = Sql.of(
    first(
        select(*(sessions.c[name] for name in _HEAD))
        .outerjoin(anchored_heads, _SAME)
        .where(
            of_tenant(sessions),
            sessions.c.status != literal_column("'expired'"),
            (sessions.c.chain != literal_column("''")) | (sessions.c.late > literal_column("0")),
            or_(
                anchored_heads.c.session_id.is_(None),
                *(anchored_heads.c[name] != sessions.c[name] for name in ("chain", "late_chain")),
            ),
        )
        .order_by(sessions.c.session_id)
    )
)
_ENDED = Sql.of(
    first(
        select(*(anchored_heads.c[name] for name in _KEY))
        .join(tombstones, and_(*(tombstones.c[n] == anchored_heads.c[n] for n in _KEY)))
        .where(_OF_TENANT)
        .order_by(anchored_heads.c.session_id)
    )
)
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
_COLUMNS = [str(one.name) for one in anchors.c]
_ADD = Sql.of(insert(anchors).inline().values({name: bindparam(name) for name in _COLUMNS}))
_NEWEST_FIRST = Sql.of(
    first(select(anchors).where(of_tenant(anchors)).order_by(anchors.c.number.desc()))
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

    Raises:
        AlreadyThere: Another process wrote an anchor at the same time.
        StateError: The store failed.
    """
    last: Anchor | None = None
    while made := await _anchored(store):
        last, is_whole = made
        if is_whole:
            break
    return last


async def _anchored(store: Store) -> tuple[Anchor, bool] | None:
    """Write one anchor, and return it and whether it has all changes; None without any change."""
    before = await store.read(_NEWEST_FIRST, most=1)
    known = {"most": _MOST_CHANGED}
    changed = await store.read(_CHANGED, **known)
    ended = await store.read(_ENDED, **known)
    if not changed and not ended:
        return None
    hashes = await _hashes(store)
    hashes |= {_key(row): _hash(row) for row in changed}
    for head in ended:
        hashes.pop(_key(head), None)
    number, root = (before[0]["number"], before[0]["root"]) if before else (0, "")
    number, at = number + 1, stamp(now())
    row: Row = {"tenant": store.tenant, "number": number, "at": at, "total": len(hashes)}
    row["heads"] = hash_of(*sorted(hashes.values()))
    row["root"] = _root(root, row)
    old: Row = {"oldest": number - KEPT}
    stones: Row = {"since": stamp(now() - STONES_KEPT)}
    added = [one for one in changed if _key(one) in hashes]
    written = [
        Statement(_ADD, [row]),
        Statement(_ADD_HEAD, added),
        Statement(_DROP_HEAD, ended),
        Statement(_DROP_OLD, [old]),
        Statement(_DROP_STONES, [stones]),
    ]
    await store.write(*(one for one in written if one.rows))
    return _anchor(row), max(len(changed), len(ended)) < _MOST_CHANGED


def _root(before: str, row: Row) -> str:
    return hash_of(before, *(row[name] for name in _COLUMNS if name != "root"))


def _key(row: Row) -> tuple[str, str]:
    return row["session_id"], row["created_at"]


def _hash(row: Row) -> str:
    return hash_of(*(row[name] for name in _HEAD))


async def _hashes(store: Store) -> dict[tuple[str, str], str]:
    """Return the hash of each anchored head."""
    hashes: dict[tuple[str, str], str] = {}
    after = ("", "")
    while rows := await store.read(_HEADS, after=after[0], after_begun=after[1], most=_AT_ONCE):
        hashes |= {_key(row): _hash(row) for row in rows}
        after = _key(rows[-1])
    return hashes


async def fault_of(store: Store) -> tuple[str, int | None, str] | None:
    """Return the table, no turn, and the fault of the first anchor that differs; None: all agree.

    Raises:
        StateError: The store could not be read.
    """
    while True:
        rows = await store.read(_NEWEST_FIRST, most=KEPT + 1)
        hashes = await _hashes(store)
        again = await newest(store)
        if again == (_anchor(rows[0]) if rows else None):
            break
    for row, before in pairwise(rows):
        if row["number"] != before["number"] + 1:
            return anchors.name, None, f"anchor {before['number'] + 1} is missing"
        if row["root"] != _root(before["root"], row):
            return anchors.name, None, f"anchor {row['number']} or the one before was changed"
    if rows and rows[0]["heads"] != hash_of(*sorted(hashes.values())):
        then = f"anchor {rows[0]['number']} has {rows[0]['total']}"
        fault = f"the heads are not those of the last anchor: {then}, and {len(hashes)} are there"
        return anchored_heads.name, None, fault
    if not rows and hashes:
        return anchors.name, None, "there are anchored heads, but no anchor"
    return None


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
        for store in await self._store.tenants():
            last = await newest(store)
            # Of several servers, one is enough.
            if last is None or last.at < stamp(now() - timedelta(seconds=self.pause / 2)):
                with suppress(AlreadyThere):
                    await anchor(store)
        return self.pause
