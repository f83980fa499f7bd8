"""Read a session's records: its versions, its transcript, its audit, its checks and attempts."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from graphs import checks, fields
from graphs.listing import span_after
from graphs.sealing import Seal, SealOfReader
from graphs.statements import AUDIT, TURNS, Row
from graphs.store import Store
from graphs.tables import USAGE
from journeys import (
    AuditedTurn,
    AuditEntry,
    CheckEntry,
    FieldAttemptEntry,
    TranscriptEntry,
    VersionInfo,
)

_SHOWN = [name for name in VersionInfo.__dataclass_fields__ if name in TURNS.columns]


@dataclass(frozen=True, slots=True)
class SessionAudit:
    """A session as it was recorded; `next` is where the turns go on, None behind the last."""

    session_id: str
    journey_id: str
    status: str
    turns: list[AuditedTurn]
    next: str | None = None


@dataclass(frozen=True, slots=True)
class Review:
    """A check that somebody should look at; `number` is its place among all checks."""

    number: int
    check: CheckEntry


def version_info(row: Row, seal: Seal, journey_id: str | None) -> VersionInfo:
    """Return a row of the ledger as its reader sees it."""
    shown = {name: TURNS.value(row, name, seal) for name in _SHOWN}
    return VersionInfo(**shown, usage={name: row[name] for name in USAGE}, journey_id=journey_id)


def audit_entry(row: Row, seal: Seal) -> AuditEntry:
    """Return a row of the audit as its reader sees it."""
    return AuditEntry(**AUDIT.opened(row, seal))


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


def audited_turns(
    turns: Iterable[VersionInfo],
    events: Iterable[AuditEntry],
    checked: Iterable[CheckEntry],
    attempts: Iterable[FieldAttemptEntry],
) -> list[AuditedTurn]:
    """Return the turns of a session, each with what is recorded of it.

    What was recorded of a turn that was not kept, as under fail_fast, stands with the turn that
    took its number; if none did yet, it is left out.
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


async def read_session(
    store: Store,
    session_id: str,
    key: bytes | None,
    limit: int | None = None,
    after: str | None = None,
) -> SessionAudit | None:
    """Read a session without its journey; None if there is none of this id.

    Raises:
        InvalidCursorError: `after` is no `next` of a page.
        ConfigurationError: Its journey is sensitive, and there is no key.
        StateError: The store failed, or the key is another one.
    """
    head = await store.head(session_id)
    if head is None:
        return None
    span, more = span_after(after, limit, head["version"])
    turns, events, checked, attempts = [
        await store.read(records.of_turns, session=session_id, **span)
        for records in (TURNS, AUDIT, checks.CHECKS, fields.ATTEMPTS)
    ]
    seal = SealOfReader(key)
    found = audited_turns(
        [version_info(row, seal, None) for row in turns],
        [audit_entry(row, seal) for row in events],
        [checks.entry(row, seal) for row in checked],
        [fields.entry(row, seal) for row in attempts],
    )
    return SessionAudit(session_id, head["journey_id"], head["status"], found, more)


async def read_reviews(
    store: Store,
    journeys: Iterable[str],
    key: bytes | None,
    *,
    before: int | None = None,
    limit: int = 50,
) -> list[Review]:
    """Return checks that somebody should look at, newest first.

    Args:
        store: Where they are.
        journeys: Ids of the journeys whose replies they are of.
        key: Opens those of sensitive journeys.
        before: Number of the last one of the page before.
        limit: Most of them.

    Raises:
        ConfigurationError: A journey is sensitive, and there is no key.
        StateError: The store failed, or the key is another one.
    """
    found = [
        row
        for journey in journeys
        for row in await store.read(
            checks.REVIEWS,
            journey=journey,
            before=checks.LAST if before is None else before,
            most=limit,
        )
    ]
    newest = sorted(found, key=lambda row: -row["id"])[:limit]
    seal = SealOfReader(key)
    return [Review(row["id"], checks.entry(row, seal)) for row in newest]
