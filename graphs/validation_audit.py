"""The checks of replies in the store: written with their turn, and read again."""

from __future__ import annotations

import json

from sqlalchemy import Integer, bindparam, delete, insert, literal_column, select

from graphs.sealing import Seal
from graphs.statements import Row, Sql, Statement, in_span
from graphs.tables import validation_audit
from journeys import CheckEntry
from nodes.state import Turn

LAST = 2**31 - 1
"""No row has a higher number."""
_WRITTEN = [column.name for column in validation_audit.c if column.name != "id"]
# Inline: SQLAlchemy would have the id returned, and the store adds a RETURNING of its own.
ADD = Sql.of(insert(validation_audit).inline().values({name: bindparam(name) for name in _WRITTEN}))
_OF_SESSION = validation_audit.c.session_id == bindparam("session")
OF_SESSION = Sql.of(
    select(validation_audit)
    .where(_OF_SESSION, in_span(validation_audit.c.turn))
    .order_by(validation_audit.c.id)
)
FORGET = Sql.of(delete(validation_audit).where(_OF_SESSION))
# Rows of one journey that somebody should look at, newest first, from a place on.
REVIEWS = Sql.of(
    select(validation_audit)
    .where(
        validation_audit.c.journey_id == bindparam("journey"),
        validation_audit.c.review,
        validation_audit.c.id < bindparam("before", type_=Integer),
    )
    .order_by(validation_audit.c.id.desc())
    .limit(bindparam("most", type_=Integer))
    .offset(literal_column("0"))
)
JOURNEYS = Sql.of(select(validation_audit.c.journey_id).where(validation_audit.c.review).distinct())


def added(session_id: str, journey_id: str, turn: Turn, at: str, seal: Seal) -> Statement:
    """Return the statement that adds how the reply of a turn was checked."""
    place = _place(session_id, turn["number"])
    rows: list[Row] = [
        {
            "session_id": session_id,
            "journey_id": journey_id,
            "turn": turn["number"],
            "pathway_id": check["pathway"],
            "is_valid": check["is_valid"],
            "violations": seal.close(json.dumps(check["violations"], ensure_ascii=False), place),
            "confidence": check["confidence"],
            "latency_ms": check["latency_ms"],
            "outcome": check["outcome"],
            "bypassed": check["bypassed"],
            "review": check["review"],
            "at": at,
        }
        for check in turn.get("checks", ())
    ]
    return Statement(ADD, rows)


def entry(row: Row, seal: Seal) -> CheckEntry:
    """Return a row as its reader sees it."""
    sealed = row["violations"]
    return CheckEntry(
        session_id=row["session_id"],
        journey_id=row["journey_id"],
        turn=row["turn"],
        pathway_id=row["pathway_id"],
        is_valid=bool(row["is_valid"]),
        violations=json.loads(seal.open(sealed, _place(row["session_id"], row["turn"]))),
        confidence=row["confidence"],
        latency_ms=row["latency_ms"],
        outcome=row["outcome"],
        bypassed=bool(row["bypassed"]),
        review=bool(row["review"]),
        at=row["at"],
    )


def _place(session_id: str, turn: int) -> str:
    return f"{session_id}|{turn}|checks"
