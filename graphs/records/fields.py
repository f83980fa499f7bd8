"""Attempts at fields in the store: written with their turn, and read again.

For a sensitive field, the attempt and its result are stored, but not the value and not the user's
words, because no reader of attempts may show them.
"""

from __future__ import annotations

from collections.abc import Collection

from graphs.storage.sealing import Seal
from graphs.storage.statements import Records, Row, Statement
from graphs.storage.tables import field_attempts
from journeys import FieldAttemptEntry, JourneySpec
from nodes.state.session import Turn

ATTEMPTS = Records(field_attempts)


def added(session_id: str, spec: JourneySpec, turn: Turn, seal: Seal) -> Statement:
    """Return the statement that adds the attempts of a turn."""
    secret = sensitive_in(spec)
    rows: list[Row] = []
    for attempt in turn.get("attempts", ()):
        row: Row = {**attempt, "session_id": session_id, "turn": turn["number"]}
        row["at"] = row.pop("timestamp")
        if attempt["field"] in secret:
            del row["value"], row["raw"]
        rows.append(row)
    return ATTEMPTS.adding(rows, seal)


def entry(row: Row, seal: Seal) -> FieldAttemptEntry:
    """Return the public record of a row."""
    opened, hidden = ATTEMPTS.opened(row, seal), row["raw"] is None
    shown = {"timestamp": opened.pop("at"), **opened, "raw": opened["raw"] or ""}
    return FieldAttemptEntry(**shown, hidden=hidden)


def names_in(spec: JourneySpec) -> list[str]:
    """Return the names of all fields of a journey, in order."""
    forms = [pathway.form for pathway in spec.pathways.values() if pathway.form]
    return list(dict.fromkeys(field.name for form in forms for field in form.fields))


def sensitive_in(spec: JourneySpec) -> Collection[str]:
    """Return the names of a journey's sensitive fields: sensitive in any pathway is in all."""
    forms = [pathway.form for pathway in spec.pathways.values() if pathway.form]
    return {field.name for form in forms for field in form.fields if field.sensitive}
