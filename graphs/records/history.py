"""Public records of the turns and the audit of a session."""

from __future__ import annotations

from collections.abc import Iterable

from graphs.storage.sealing import Seal
from graphs.storage.statements import AUDIT, TURNS, Row
from graphs.storage.tables import USAGE
from journeys import (
    AuditedTurn,
    AuditEntry,
    CheckEntry,
    FieldAttemptEntry,
    TranscriptEntry,
    VersionInfo,
)

_SHOWN = [name for name in VersionInfo.__dataclass_fields__ if name in TURNS.columns]


def version_info(row: Row, seal: Seal, journey_id: str | None) -> VersionInfo:
    """Return the public record of a row of the ledger."""
    shown = {name: TURNS.value(row, name, seal) for name in _SHOWN}
    return VersionInfo(**shown, usage={name: row[name] for name in USAGE}, journey_id=journey_id)


def audit_entry(row: Row, seal: Seal) -> AuditEntry:
    """Return the public record of a row of the audit."""
    return AuditEntry(**AUDIT.opened(row, seal))


def transcript_of(versions: Iterable[VersionInfo]) -> list[TranscriptEntry]:
    """Return all messages, in order."""
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


def audited_turns(
    turns: Iterable[VersionInfo],
    events: Iterable[AuditEntry],
    checked: Iterable[CheckEntry],
    attempts: Iterable[FieldAttemptEntry],
) -> list[AuditedTurn]:
    """Return the turns of a session, each with its records.

    Records of a turn that was not committed (as under fail_fast) are shown with the turn that got
    its number later; without such a turn they are omitted.
    """
    known = {turn.version: AuditedTurn(turn, [], []) for turn in turns}
    for event in events:
        if event.turn in known:
            known[event.turn].events.append(event)
    for check in checked:
        if check.turn in known:
            known[check.turn].checks.append(check)
    for attempt in attempts:
        if attempt.turn in known:
            known[attempt.turn].attempts.append(attempt)
    return list(known.values())
