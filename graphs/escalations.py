"""Calls for a person as rows of the store, written in the transaction of their turn."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from graphs import escalation_statements as sql
from graphs.sealing import Seal
from graphs.statements import Row, Statement
from journeys import EscalationEntry
from nodes.plain import stamp
from nodes.state import Turn
from nodes.talk import EscalationChange, Takeover

_SHOWN = tuple(EscalationEntry.__dataclass_fields__)


def written(session_id: str, journey_id: str, turn: Turn, at: str, seal: Seal) -> list[Statement]:
    """Return the statements that say what a turn changes about calls for a person."""
    changes = turn.get("escalations", ())
    opened = [_row(session_id, journey_id, turn, at, seal, c) for c in changes if c["payload"]]
    others: list[Row] = [
        {
            "id_is": change["id"],
            "session": session_id,
            "new_status": change["status"],
            "new_claimed_by": change["by"],
            "now": at,
        }
        for change in changes
        if not change["payload"]
    ]
    statements = [Statement(sql.ADD, opened)] if opened else []
    return [*statements, Statement(sql.CHANGE, others)] if others else statements


def _row(
    session_id: str,
    journey_id: str,
    turn: Turn,
    at: str,
    seal: Seal,
    opened: EscalationChange,
) -> Row:
    payload: Mapping[str, Any] = opened["payload"] or {}
    waits = payload["metadata"]["unclaimed_seconds"]
    told = json.dumps(payload, ensure_ascii=False)
    return {
        "id": opened["id"],
        "session_id": session_id,
        "journey_id": journey_id,
        "turn": turn["number"],
        "reason": opened["reason"],
        "status": opened["status"],
        "claimed_by": opened["by"],
        "payload": seal.close(told, place(session_id, opened["id"])),
        "at": at,
        "updated_at": at,
        "unclaimed_at": stamp(datetime.fromisoformat(at) + timedelta(seconds=waits)),
        "delivered_at": None,
        "tries": 0,
        "next_try_at": at,
    }


def rolled_back(session_id: str, takeover: Takeover | None, at: str) -> list[Statement]:
    """Return the statements that let the rows tell what the state tells after a rollback."""
    of: Row = {"session": session_id, "now": at, "id_is": takeover["id"] if takeover else ""}
    statements = [Statement(sql.RELEASE_OTHERS, [of])]
    if takeover:
        by = takeover["by"]
        again = {**of, "new_status": "claimed" if by else "open", "new_claimed_by": by}
        statements.append(Statement(sql.CHANGE, [again]))
    return statements


def entry(row: Row) -> EscalationEntry:
    """Return a row as its reader sees it."""
    return EscalationEntry(**{name: row[name] for name in _SHOWN})


def place(session_id: str, id_: str) -> str:
    """Return what the seal of a payload is bound to."""
    return f"{session_id}|{id_}|escalation"
