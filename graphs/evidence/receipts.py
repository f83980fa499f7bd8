"""Receipts of deleted users: who asked, when, how many sessions; no words, and no id of a user.

The id of the user is an HMAC with a random salt. The complete receipts of a tenant are in a hash
chain, so that a receipt that was changed, or removed before another one, is found. Anchors have the
last one, so that its removal is found too.
"""

from __future__ import annotations

import hmac
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from sqlalchemy import (
    Integer,
    String,
    bindparam,
    delete,
    exists,
    func,
    literal_column,
    select,
    update,
)

from journeygraph.graphs.records.chain import hash_of
from journeygraph.graphs.storage.errors import AlreadyThere
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
from journeygraph.graphs.storage.store import Store
from journeygraph.graphs.storage.tables import api_keys, receipts, sessions
from journeygraph.journeys.config import EncryptionKeys
from journeygraph.nodes.json_data import canonical, stamp

_TRIES = 100
"""Tries to complete a receipt; at least one writer succeeds in each."""
_AT_ONCE = 1_000
_SALT = 16
_RECORDS = TableMapper(receipts)
_ID = receipts.c.id == bindparam("id_is")
_OPEN = receipts.c.number.is_(None)
_MINE = of_tenant(receipts)
_OF_USER = of_tenant(api_keys) & (api_keys.c.user_id == bindparam("user", type_=String))
_ONE = Sql.of(select(receipts).where(_MINE, _ID))
# Whether a receipt was written whose acknowledgement was lost.
_ADDED = Sql.of(select(receipts.c.id).where(_MINE, receipts.c.id == bindparam("id")))
_UNFINISHED = Sql.of(select(receipts).where(_MINE, _OPEN).order_by(receipts.c.begun_at))
_PAGE = Sql.of(
    first(
        select(receipts)
        .where(_MINE, receipts.c.number > bindparam("after", type_=Integer))
        .order_by(receipts.c.number)
    )
)
_LAST = Sql.of(
    first(
        select(receipts)
        .where(_MINE, receipts.c.number.is_not(None))
        .order_by(receipts.c.number.desc())
    )
)
_COUNT_SESSION = Sql.of(
    update(receipts)
    .where(_MINE, _ID, _OPEN, exists(select(sessions.c.session_id).where(SESSION)))
    .values(sessions=receipts.c.sessions + literal_column("1"))
)
# Whether a session was deleted by the very transaction whose acknowledgement was lost.
_COUNTED = Sql.of(
    select(receipts.c.id).where(_MINE, _ID, ~exists(select(sessions.c.session_id).where(SESSION)))
)
_COUNT_KEYS = Sql.of(
    update(receipts)
    .where(_MINE, _ID, _OPEN)
    .values(
        keys=receipts.c["keys"]
        + select(func.count()).select_from(api_keys).where(_OF_USER).scalar_subquery()
    )
)
_IS_OPEN = exists(select(receipts.c.id).where(_MINE, _ID, _OPEN))
_DROP_KEYS = Sql.of(delete(api_keys).where(_OF_USER, _IS_OPEN))
_COMPLETE = Sql.of(
    update(receipts)
    # Another call for the same user may count in it.
    .where(
        _MINE,
        _ID,
        _OPEN,
        receipts.c.sessions == bindparam("of_sessions", type_=Integer),
        receipts.c["keys"] == bindparam("of_keys", type_=Integer),
    )
    .values(
        ended_at=bindparam("until"),
        number=bindparam("new_number", type_=Integer),
        root=bindparam("new_root"),
    )
)


@dataclass(frozen=True, slots=True)
class Receipt:
    """The receipt of the deletion of a user.

    Attributes:
        id: Its id, which is random.
        number: Its number among the complete ones of the tenant, from 1; None: the deletion is not
            complete.
        digest: HMAC-SHA256 of the id of the user.
        asked_by: Id of the key of the client who asked; empty: no key was required.
        begun_at: Begin of the deletion, ISO 8601 in UTC.
        ended_at: Its end; None: it is not complete.
        sessions: Number of the deleted sessions.
        keys: Number of the deleted keys and tokens.
        root: Hash of this receipt and of all before it; None: it is not complete.
    """

    id: str
    number: int | None
    digest: str
    asked_by: str
    begun_at: str
    ended_at: str | None
    sessions: int
    keys: int
    root: str | None


_SHOWN = tuple(field.name for field in fields(Receipt))


async def begin(store: Store, user: str, asked_by: str, keys: EncryptionKeys | None) -> Receipt:
    """Write the receipt of a deletion that begins.

    Args:
        store: The store.
        user: The user.
        asked_by: Id of the key of the client who asks.
        keys: The keys of the settings; the first one is in the digest.

    Raises:
        StateError: The store failed.
    """
    salt = os.urandom(_SALT).hex()
    row: Row = {
        "id": os.urandom(8).hex(),
        "salt": salt,
        "digest": _digest(store.tenant, user, salt, keys.first[1] if keys else b""),
        "asked_by": asked_by,
        "begun_at": stamp(now()),
        "sessions": 0,
        "keys": 0,
    }
    added = _RECORDS.adding([row], Seal(store.tenant))
    await store.write(replace(added, proof=_ADDED))
    return _receipt({**dict.fromkeys(_SHOWN), **row})


async def unfinished(store: Store, user: str, keys: EncryptionKeys | None) -> Receipt | None:
    """Return the receipt of a deletion of a user that was not completed; None: there is none.

    Raises:
        StateError: The store failed.
    """
    rows = await store.read(_UNFINISHED)
    return next((_receipt(row) for row in rows if _is_of(row, user, keys)), None)


def counted(receipt: Receipt, session_id: str) -> Statement:
    """Return the statement that counts a session in the transaction that deletes it.

    It fails if the receipt is complete, or the session is not there.
    """
    row: Row = {"id_is": receipt.id, "session": session_id}
    return Statement(_COUNT_SESSION, [row], exactly_one=True, proof=_COUNTED)


async def drop_keys(store: Store, receipt: Receipt, user: str) -> None:
    """Delete the keys and tokens of a user, and count them, unless the receipt is complete.

    Raises:
        StateError: The store failed.
    """
    row: Row = {"id_is": receipt.id, "user": user}
    await store.write(Statement(_COUNT_KEYS, [row]), Statement(_DROP_KEYS, [row]))


async def complete(store: Store, receipt: Receipt) -> Receipt:
    """End a receipt, with its place in the chain, and return it.

    Raises:
        StateError: The store failed, or other writers were always first.
    """
    for tries_left in reversed(range(_TRIES)):
        [row] = await store.read(_ONE, id_is=receipt.id)
        if row["number"] is not None:  # another process has completed it
            break
        before = await store.read(_LAST, most=1)
        last, root = (before[0]["number"], before[0]["root"]) if before else (0, "")
        row |= {"number": last + 1, "ended_at": stamp(now())}
        row["root"] = _root(root, row)
        end: Row = {"id_is": receipt.id, "until": row["ended_at"]}
        end |= {"of_sessions": row["sessions"], "of_keys": row["keys"]}
        end |= {"new_number": row["number"], "new_root": row["root"]}
        try:
            await store.write(Statement(_COMPLETE, [end]))
        except AlreadyThere:  # another receipt has this number
            if not tries_left:
                raise
    return _receipt(row)


async def read(
    store: Store, keys: EncryptionKeys | None, user: str | None, after: int, limit: int
) -> list[Receipt]:
    """Return complete receipts in their order.

    Args:
        store: The store.
        keys: The keys of the settings.
        user: Only those of this user; None: all.
        after: Number of the last one of the previous page; 0: the first page.
        limit: Maximum number of receipts.

    Raises:
        StateError: The store failed.
    """
    found: list[Receipt] = []
    while rows := await store.read(_PAGE, after=after, most=_AT_ONCE):
        after = rows[-1]["number"]
        found += [_receipt(row) for row in rows if user is None or _is_of(row, user, keys)]
        if len(found) >= limit:
            break
    return found[:limit]


async def last_root(store: Store) -> str:
    """Return the hash of the last complete receipt and of all before it; empty: there is none.

    Raises:
        StateError: The store could not be read.
    """
    found = await store.read(_LAST, most=1)
    return str(found[0]["root"]) if found else ""


async def fault_of(
    store: Store, is_anchored: Callable[[str], bool]
) -> tuple[str, int | None, str] | None:
    """Return the table, no turn, and the fault of the first receipt that differs; None: all agree.

    Args:
        store: The store.
        is_anchored: Tells of what `last_root` has returned once whether the newest anchor has it.

    Raises:
        StateError: The store could not be read.
    """
    number, root = 0, ""
    is_there = is_anchored(root)
    while rows := await store.read(_PAGE, after=number, most=_AT_ONCE):
        for row in rows:
            number += 1
            if row["number"] != number:
                return receipts.name, None, f"receipt {number} is missing"
            root = _root(root, row)
            if row["root"] != root:
                return receipts.name, None, f"receipt {number} or the one before was changed"
            is_there = is_there or is_anchored(root)
    if not is_there:
        return receipts.name, None, f"a receipt after {number} is in the last anchor, but missing"
    return None


def _digest(tenant: str, user: str, salt: str, secret: bytes) -> str:
    return hmac.digest(secret + bytes.fromhex(salt), canonical([tenant, user]), "sha256").hex()


def _is_of(row: Row, user: str, keys: EncryptionKeys | None) -> bool:
    """Return whether a receipt is that of a user, with any key that may have been the first."""
    secrets = [b"", *(key for _, key in (keys.keys if keys else ()))]
    made: Sequence[str] = [_digest(row["tenant"], user, row["salt"], one) for one in secrets]
    return any(hmac.compare_digest(one, row["digest"]) for one in made)


def _root(before: str, row: Row) -> str:
    names: list[Any] = [str(one.name) for one in receipts.c if one.name != "root"]
    return hash_of(before, *(row[name] for name in names))


def _receipt(row: Row) -> Receipt:
    return Receipt(**{name: row[name] for name in _SHOWN})
