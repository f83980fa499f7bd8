"""The attempts at fields in the store: written with their turn, and read again.

Of a sensitive field it is kept that there was an attempt, and what became of it, but neither the
value nor what was said: nothing that reads attempts may show them, so there is no use in a second
copy. A journey marked sensitive seals the rest as it seals what was said.
"""

from __future__ import annotations

import json
from collections.abc import Collection

from sqlalchemy import bindparam, delete, insert, select

from graphs.sealing import Seal
from graphs.statements import Row, Sql, Statement, in_span
from graphs.tables import field_attempts
from journeys import FieldAttemptEntry, JourneySpec
from nodes.state import Turn

_WRITTEN = [column.name for column in field_attempts.c if column.name != "id"]
# Inline: SQLAlchemy would have the id returned, and the store adds a RETURNING of its own.
ADD = Sql.of(insert(field_attempts).inline().values({name: bindparam(name) for name in _WRITTEN}))
_OF_SESSION = field_attempts.c.session_id == bindparam("session")
OF_SESSION = Sql.of(
    select(field_attempts)
    .where(_OF_SESSION, in_span(field_attempts.c.turn))
    .order_by(field_attempts.c.id)
)
FORGET = Sql.of(delete(field_attempts).where(_OF_SESSION))


def added(session_id: str, spec: JourneySpec, turn: Turn, seal: Seal) -> Statement:
    """Return the statement that adds the attempts of a turn."""
    place, secret = _place(session_id, turn["number"]), sensitive_in(spec)
    rows: list[Row] = []
    for attempt in turn.get("attempts", ()):
        hidden = attempt["field"] in secret
        value = json.dumps(attempt["value"], ensure_ascii=False)
        rows.append(
            {
                "session_id": session_id,
                "turn": turn["number"],
                "field": attempt["field"],
                "value": None if hidden else seal.close(value, place),
                "raw": None if hidden else seal.close(attempt["raw"], place),
                "confidence": attempt["confidence"],
                "validation_status": attempt["validation_status"],
                "source": attempt["source"],
                "reason": seal.close(attempt["reason"], place),
                "at": attempt["timestamp"],
            }
        )
    return Statement(ADD, rows)


def entry(row: Row, seal: Seal) -> FieldAttemptEntry:
    """Return a row as its reader sees it."""
    place = _place(row["session_id"], row["turn"])
    hidden = row["raw"] is None
    return FieldAttemptEntry(
        session_id=row["session_id"],
        turn=row["turn"],
        field=row["field"],
        value=None if hidden else json.loads(seal.open(row["value"], place)),
        raw="" if hidden else seal.open(row["raw"], place),
        hidden=hidden,
        timestamp=row["at"],
        confidence=row["confidence"],
        validation_status=row["validation_status"],
        source=row["source"],
        reason=seal.open(row["reason"], place),
    )


def names_in(spec: JourneySpec) -> list[str]:
    """Return the names of all fields of a journey, in order."""
    forms = [pathway.form for pathway in spec.pathways.values() if pathway.form]
    return list(dict.fromkeys(field.name for form in forms for field in form.fields))


def sensitive_in(spec: JourneySpec) -> Collection[str]:
    """Return the names of a journey's sensitive fields: sensitive in any pathway is in all."""
    forms = [pathway.form for pathway in spec.pathways.values() if pathway.form]
    return {field.name for form in forms for field in form.fields if field.sensitive}


def _place(session_id: str, turn: int) -> str:
    return f"{session_id}|{turn}|attempts"
