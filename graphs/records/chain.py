"""Hash chains of a session: each row of its ledger, audit and checks is in one of two.

A link has a salted digest of each row that it covers. Its hash covers these and the link before it.
The salt is in the link and is deleted with the rows: so nothing of a row can be guessed from a hash
that stays.

- The chain of turns has one link for each version, written in the transaction of the version. Its
  first link begins with the tenant, the session and its birth; that of a fork also with the link of
  the version from which it was taken.
- The late chain covers rows that are written after their turn, and rows that are changed
  then. The writer needs no lease: a link is added only after the one that was read. The link of a
  turn has the hash of the newest late link that was read with its head.
"""

from __future__ import annotations

import hashlib
import hmac
import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from journeygraph.graphs.storage import statements
from journeygraph.graphs.storage.errors import WriteConflict
from journeygraph.graphs.storage.sealing import Seal
from journeygraph.graphs.storage.statements import LATE, TURNS, Row, Statement, TableMapper
from journeygraph.graphs.storage.store import Store
from journeygraph.nodes.json_data import canonical

_PLAIN = Seal()
_SALT = 16
"""Bytes of a salt."""
_TRIES = 100
"""Tries to add a late link; at least one writer succeeds in each."""

Rows = Mapping[TableMapper, Sequence[Row]]
"""Rows of tables, in the order in which they are written."""
Late = Callable[[Row], Awaitable[list[Statement]]]
"""Returns the statements that write late rows after a row of `LATE_HEAD`; empty: none are due."""


def digest(records: TableMapper, made: Row, salt: str, seal: Seal = _PLAIN) -> str:
    """Return the salted digest of a row, stored or of `texts`, without its link.

    A column that a later release adds is empty in older rows, so it changes no digest of them.

    Raises:
        ConfigurationError: The row is sealed, and no key is set.
        StateError: It was sealed with another key, or changed.
    """
    told = canonical((records.name, records.told(made, seal)))
    return hmac.digest(bytes.fromhex(salt), told, "sha256").hex()


def hash_of(*parts: Any) -> str:
    """Return the sha256 of plain data as canonical JSON."""
    return hashlib.sha256(canonical(parts)).hexdigest()


def link_hash(before: str, number: int, link: Mapping[str, Any]) -> str:
    """Return the hash of a link.

    Args:
        before: Hash of the link before it, or what the chain begins with.
        number: Version of its turn, or its number among the late links.
        link: The link.
    """
    known = {name: value for name, value in link.items() if name != "hash"}
    return hash_of(before, number, known)


def begins(
    tenant: str, session_id: str, birth: str, origin: Sequence[Any] | None = None
) -> list[Any]:
    """Return what the chain of a session begins with.

    Args:
        tenant: The tenant.
        session_id: The session.
        birth: Id of its birth.
        origin: For a fork: the other session, its version, and the hash of the link of that.
    """
    return [tenant, session_id, birth, *(origin or ())]


def late_begin(tenant: str, session_id: str, created_at: str) -> str:
    """Return what the late links of a session begin with."""
    return hash_of(tenant, session_id, created_at, "late")


def linked(rows: Rows, head: Row, birth: list[Any], seal: Seal) -> tuple[str, list[Statement]]:
    """Return the hash of the link of a version, and the statements that add its rows.

    Args:
        rows: The row of the version in `TURNS`, and all other rows of its turn.
        head: `chain` and `late_chain` of the session before.
        birth: The values of `begins`, for the first link of a chain.
        seal: Encryption of the session.
    """
    salt = os.urandom(_SALT).hex()
    made = {records: [records.texts(row) for row in some] for records, some in rows.items()}
    link: Row = {
        "salt": salt,
        "late": head["late_chain"],
        "rows": [[r.name, digest(r, one, salt)] for r, some in made.items() for one in some],
    }
    if not head["chain"]:
        link["begins"] = birth
    [turn] = made[TURNS]
    link["hash"] = link_hash(head["chain"], turn["version"], link)
    turn["link"] = canonical(link).decode()
    added = [
        Statement(records.add, [records.closed(one, seal) for one in some])
        for records, some in made.items()
        if some
    ]
    return link["hash"], added


def late_added(rows: Rows, head: Row, seal: Seal) -> list[Statement]:
    """Return the statements that add rows after their turn.

    Args:
        rows: The rows.
        head: A row of `LATE_HEAD`. The first statement fails if it is not the newest any more.
        seal: Encryption of the session.
    """
    added = [(records, records.adding(some, seal)) for records, some in rows.items()]
    entries = [(records, row, None) for records, adding in added for row in adding.rows]
    return [*late_link(entries, head, seal), *(adding for _, adding in added)]


def late_link(
    entries: Sequence[tuple[TableMapper, Row, int | None]], head: Row, seal: Seal
) -> list[Statement]:
    """Return the statements that add a late link.

    Args:
        entries: Rows as they are stored. A changed row comes with its place among the rows of its
            table in the link of its turn, an added one with None.
        head: A row of `LATE_HEAD`.
        seal: Encryption of the session.
    """
    salt, number, id_ = os.urandom(_SALT).hex(), head["late"] + 1, head["session_id"]
    rows: list[list[Any]] = []
    for records, row, place in entries:
        turn = row["version" if records is TURNS else "turn"]
        given = [] if place is None else [place]
        rows.append([records.name, turn, digest(records, row, salt, seal), *given])
    link = {"salt": salt, "version": head["version"], "rows": rows}
    before = head["late_chain"] or late_begin(seal.tenant, id_, head["created_at"])
    hash_ = link_hash(before, number, link)
    late: Row = {"session_id": id_, "number": number, "link": link}
    end: Row = {"session": id_, "begun": head["created_at"], "known": head["late"]}
    end |= {"new_late": number, "new_late_chain": hash_}
    return [
        Statement(statements.ADD_LATE, [end], exactly_one=True),
        LATE.adding([{**late, "hash": hash_}], seal),
    ]


async def write_late(store: Store, session_id: str, late: Late) -> None:
    """Write rows after their turn; nothing is written if the session was deleted.

    Raises:
        StateError: The store failed, or other writers were always first.
    """
    for tries_left in reversed(range(_TRIES)):
        head = await store.read(statements.LATE_HEAD, session=session_id)
        written = await late(head[0]) if head else []
        try:
            if written:
                await store.write(*written)
        except WriteConflict:
            if not tries_left:
                raise
        else:
            return
