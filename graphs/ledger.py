"""What is written when a turn is done: the head, the row of the ledger, and the audit."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from graphs import escalations, field_attempts, statements, validation_audit
from graphs.sealing import Seal
from graphs.statements import Row, Statement
from graphs.tables import USAGE
from journeys import AuditEntry, FieldVersion, JourneySpec, TranscriptEntry, VersionInfo
from nodes.context import apply_ops
from nodes.plain import stamp
from nodes.state import PARTING, Position, Turn

PRUNE_EVERY = 16
"""Versions between two prunings: often enough to be cheap, seldom enough to be free."""


def now() -> datetime:
    """Return the time, in UTC."""
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class Scribe:
    """Writes rows for one session of one journey."""

    spec: JourneySpec
    session_id: str
    seal: Seal
    ttl: float
    keep: int

    def begun(self, turn: Turn, position: Position, checkpoint_id: str) -> list[Statement]:
        """Return the statements that begin a session."""
        at = now()
        row: Row = {
            "session_id": self.session_id,
            "journey_id": self.spec.id,
            "journey_version": self.spec.version,
            "status": position["status"],
            "pathway_id": position["pathway"],
            "version": 0,
            "created_at": stamp(at),
            "updated_at": stamp(at),
            "expires_at": stamp(at + timedelta(seconds=self.ttl)),
        }
        begun = Statement(statements.BEGIN_SESSION, [row])
        written = [begun, self._turn(turn, position, checkpoint_id, at)]
        return [*written, self._attempted(turn)] if turn.get("attempts") else written

    def advanced(
        self,
        turn: Turn,
        position: Position,
        checkpoint_id: str,
        head: Row,
        rolled_back_to: int | None = None,
    ) -> list[Statement]:
        """Return the statements that move the head by one; they fail if another moved it first."""
        at = now()
        row: Row = {
            "session": self.session_id,
            "head": head["version"],
            "begun": head["created_at"],
            "held": head["fence"],
            "new_version": turn["number"],
            "new_status": position["status"],
            "new_pathway": position["pathway"],
            "new_journey_version": self.spec.version,
            "now": stamp(at),
            "until": stamp(at + timedelta(seconds=self.ttl)),
        }
        written = [
            Statement(statements.ADVANCE, [row], exactly_one=True),
            self._turn(turn, position, checkpoint_id, at, rolled_back_to),
        ]
        if turn["audit"]:
            written.append(self.audited(turn["number"], turn["audit"]))
        if turn.get("checks"):
            written.append(self._checked(turn, at))
        if turn.get("escalations"):
            sent = (self.session_id, self.spec.id, turn, stamp(at), self.seal)
            written += escalations.written(*sent)
        if turn.get("attempts"):
            written.append(self._attempted(turn))
        if turn["number"] % PRUNE_EVERY == 0:
            oldest = turn["number"] - self.keep
            kept: Row = {"session": self.session_id, "oldest": oldest, "head": checkpoint_id}
            written.append(Statement(statements.PRUNE, [kept]))
            written.append(Statement(statements.PRUNE_BLOBS, [kept]))
        return written

    def _turn(
        self,
        turn: Turn,
        position: Position,
        checkpoint_id: str,
        at: datetime,
        rolled_back_to: int | None = None,
    ) -> Statement:
        place = f"{self.session_id}|{turn['number']}"
        ops = json.dumps(turn["ops"], ensure_ascii=False)
        row: Row = {
            "session_id": self.session_id,
            "version": turn["number"],
            "kind": "rollback" if rolled_back_to is not None else turn["kind"],
            "checkpoint_id": checkpoint_id,
            "rolled_back_to": rolled_back_to,
            "pathway_id": position["pathway"],
            "message": self._closed(turn["message"], f"{place}|message"),
            "reply": self._closed(PARTING.join(turn["replies"]), f"{place}|reply"),
            "operations": self._closed(ops, f"{place}|operations"),
            "begun_at": turn["at"],
            "at": stamp(at),
            "flags": json.dumps(turn["flags"], ensure_ascii=False),
            **{name: (turn["usage"] or {}).get(name, 0) for name in USAGE},
        }
        return Statement(statements.ADD_TURN, [row])

    def audited(self, turn: int, events: Iterable[Mapping[str, Any]]) -> Statement:
        """Return the statement that adds audit events of a turn."""
        at = stamp(now())
        place = f"{self.session_id}|{turn}|audit"
        rows: list[Row] = [
            {
                "session_id": self.session_id,
                "turn": turn,
                "kind": event["kind"],
                "from_pathway": event.get("from"),
                "to_pathway": event.get("to"),
                "trigger": self._closed(event.get("trigger"), place),
                "reason": self._closed(event.get("reason", ""), place),
                "confidence": event.get("confidence"),
                "at": at,
            }
            for event in events
        ]
        return Statement(statements.ADD_AUDIT, rows)

    def _checked(self, turn: Turn, at: datetime) -> Statement:
        """Return the statement that adds how a turn's reply was checked."""
        return validation_audit.added(self.session_id, self.spec.id, turn, stamp(at), self.seal)

    def _attempted(self, turn: Turn) -> Statement:
        """Return the statement that adds a turn's attempts at fields."""
        return field_attempts.added(self.session_id, self.spec, turn, self.seal)

    def _closed(self, text: str | None, place: str) -> str | None:
        return self.seal.close(text, place) if text is not None and self.seal.hides else text

    def version(self, row: Row) -> VersionInfo:
        """Return a row of the ledger as its reader sees it."""
        return version_info(row, self.seal, self.spec.active_in(row["pathway_id"]))

    def history_of(self, name: str, rows: Iterable[Row]) -> list[FieldVersion]:
        """Return every value that a context name had, from the operations in the ledger."""
        values: dict[int, Any] = {}
        history: list[FieldVersion] = []
        before: Any = None
        for row in rows:
            version, back = row["version"], row["rolled_back_to"]
            sealed = row["operations"]
            ops = json.loads(self.seal.open(sealed, f"{self.session_id}|{version}|operations"))
            mine = [op for op in ops if op[1] == name]
            held = before if back is None else values.get(back)
            known = {} if held is None else {name: held}
            value = apply_ops(known, mine).get(name)
            values[version] = value
            if mine or value != before:
                by = mine[-1][3] if mine else row["pathway_id"]
                history.append(FieldVersion(name, value, version, by, row["at"]))
            before = value
        return history


def version_info(row: Row, seal: Seal, journey_id: str | None) -> VersionInfo:
    """Return a row of the ledger as its reader sees it."""
    place = f"{row['session_id']}|{row['version']}"
    return VersionInfo(
        version=row["version"],
        kind=row["kind"],
        pathway_id=row["pathway_id"],
        message=_opened(seal, row["message"], f"{place}|message"),
        reply=_opened(seal, row["reply"], f"{place}|reply"),
        rolled_back_to=row["rolled_back_to"],
        begun_at=row["begun_at"],
        at=row["at"],
        usage={name: row[name] for name in USAGE},
        journey_id=journey_id,
        flags=json.loads(row["flags"]),
    )


def audit_entry(row: Row, seal: Seal) -> AuditEntry:
    """Return a row of the audit as its reader sees it."""
    place = f"{row['session_id']}|{row['turn']}|audit"
    return AuditEntry(
        session_id=row["session_id"],
        turn=row["turn"],
        kind=row["kind"],
        from_pathway=row["from_pathway"],
        to_pathway=row["to_pathway"],
        trigger=_opened(seal, row["trigger"], place),
        reason=_opened(seal, row["reason"], place) or "",
        confidence=row["confidence"],
        at=row["at"],
    )


def _opened(seal: Seal, text: str | None, place: str) -> str | None:
    return None if text is None else seal.open(text, place)


def transcript_of(versions: Iterable[VersionInfo]) -> list[TranscriptEntry]:
    """Return all that was said, in order."""
    said = (
        (role, text, when, row.version)
        for row in versions
        if row.rolled_back_to is None
        for role, text, when in (
            ("user", row.message, row.begun_at),
            ("operator" if row.kind == "operator" else "assistant", row.reply, row.at),
        )
    )
    return [TranscriptEntry(role, text, when, turn) for role, text, when, turn in said if text]
