"""Rows of a fork: copied from the session that it is taken from, up to the version of the fork.

The turns and their records are copied, so that they can be read in the fork. The states of earlier
versions are not, and calls for a person stay with the other session. All effects that were taken
are copied, also those of later turns: what was done is done, and must not be done again.
"""

from __future__ import annotations

from collections.abc import Iterable

from sqlalchemy import Integer, bindparam, func, literal_column, select, update

from journeygraph.graphs.records.effects import EFFECTS
from journeygraph.graphs.records.history import ATTEMPTS, CHECKS
from journeygraph.graphs.records.ledger import LedgerWriter
from journeygraph.graphs.storage.sealing import Seal
from journeygraph.graphs.storage.statements import (
    ALL_TURNS,
    AUDIT,
    BEGIN_SESSION,
    TURNS,
    UNCHANGED_SINCE_READ,
    Row,
    Sql,
    Statement,
    TableMapper,
    first,
)
from journeygraph.graphs.storage.store import Store
from journeygraph.graphs.storage.tables import audit, effects, sessions

FORKED_FROM, FORKED_TO = "forked_from", "forked_to"
"""Kinds of audit rows: in a fork, and in the session that it was taken from."""
# A fork has no row yet when its audit is written, which the other statement asks for.
_AUDIT = TableMapper(audit)
_EFFECTS_OF_SESSION = Sql.of(select(effects).where(EFFECTS.mine).order_by(effects.c.begun_at))
_mine = EFFECTS.mine
# An effect that another process begins while these are copied would be taken twice.
HOLD = Sql.of(
    update(sessions)
    .where(
        *UNCHANGED_SINCE_READ,
        select(func.count()).where(_mine).scalar_subquery() == bindparam("effects", type_=Integer),
        select(func.coalesce(func.max(effects.c.begun_at), literal_column("''")))
        .where(_mine)
        .scalar_subquery()
        == bindparam("last_begun"),
    )
    .values(fence=sessions.c.fence)  # for the lock of the row alone
)
_ORIGIN = Sql.of(
    first(
        select(audit)
        .where(
            AUDIT.mine,
            audit.c.kind == literal_column(f"'{FORKED_FROM}'"),
            audit.c.turn >= bindparam("turn_is", type_=Integer),
        )
        .order_by(audit.c.turn, audit.c.id)
    )
)


async def statements_of_fork(
    store: Store,
    writer: LedgerWriter,
    fork_writer: LedgerWriter,
    head: Row,
    begun: Row,
    events: Iterable[Row],
) -> list[Statement]:
    """Return the statements that begin a fork, and note it in both sessions.

    The first fails if the session has moved on since its rows were read.

    Args:
        store: The store of both.
        writer: Writes the rows of the session.
        fork_writer: Writes those of the fork. Sealed data is bound to its session, so it is sealed
            again for the fork.
        head: Row of the session.
        begun: Row of the fork, with the last version that is copied.
        events: Audit events of the fork.

    Raises:
        StateError: The store failed, or a row was changed.
    """
    seal, version, id_, fork = writer.seal, begun["version"], writer.session_id, begun["session_id"]
    fork_seal = fork_writer.seal
    taken = await store.read(_EFFECTS_OF_SESSION, session=id_)
    held: Row = {
        "session": id_,
        "head": head["version"],
        "begun": head["created_at"],
        "held": head["fence"],
        "effects": len(taken),
        "last_begun": max((row["begun_at"] for row in taken), default=""),
    }
    span = {**ALL_TURNS, "high": version}
    rows = {
        records: await store.read(records.of_turns, session=id_, **span)
        for records in (TURNS, _AUDIT, CHECKS, ATTEMPTS)
    }
    copies = {
        records: [_copy(records.opened(row, seal), fork) for row in found]
        for records, found in {**rows, EFFECTS: [*filter(_counts, taken)]}.items()
    }
    for row in copies[EFFECTS]:
        row["digest"] = seal.digest_for(fork_seal, row["digest"])
    came = _event(FORKED_FROM, id_, f"from version {version} of session '{id_}'")
    went = _event(FORKED_TO, fork, f"from version {version} to session '{fork}'")
    kept = [row for row in copies[_AUDIT] if row["kind"] != FORKED_TO]
    noted = fork_writer.audit_rows(version, [came, *events])
    copies[_AUDIT] = [*kept, *noted]
    return [
        Statement(HOLD, [held], exactly_one=True),
        Statement(BEGIN_SESSION, [begun]),
        *(records.adding(copied, fork_seal) for records, copied in copies.items() if copied),
        AUDIT.adding(writer.audit_rows(version, [went]), seal),
    ]


def _counts(effect: Row) -> bool:
    """Return whether an effect was taken, or may have been: one that failed has done nothing."""
    return bool(effect["state"] != "failed")


def _copy(row: Row, session_id: str) -> Row:
    copied: Row = {**row, "session_id": session_id}
    return {**copied, "review": False} if "review" in row else copied  # one review is enough


def _event(kind: str, other: str, reason: str) -> Row:
    return {"kind": kind, "trigger": other, "reason": reason}


async def origin(store: Store, seal: Seal, session_id: str, version: int) -> str | None:
    """Return the id of the session that has the state of a version from before a fork."""
    rows = await store.read(_ORIGIN, session=session_id, turn_is=version + 1, most=1)
    return AUDIT.value(rows[0], "trigger", seal) if rows else None
