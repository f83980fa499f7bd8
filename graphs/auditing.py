"""A conversation from its rows: what was said and collected, what moved it, and its checks."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from graphs import field_attempts, statements, validation_audit
from graphs.ledger import audit_entry, version_info
from graphs.listing import span_after
from graphs.sealing import seal_of
from graphs.stores import Store
from journeys import AuditedTurn, AuditEntry, CheckEntry, FieldAttemptEntry, VersionInfo


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


def audited_turns(
    turns: Iterable[VersionInfo],
    events: Iterable[AuditEntry],
    checks: Iterable[CheckEntry],
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
    for check in checks:
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
    rows = await store.read(statements.TURNS, session=session_id, **span)
    events = await store.read(statements.AUDIT, session=session_id, **span)
    checks = await store.read(validation_audit.OF_SESSION, session=session_id, **span)
    attempts = await store.read(field_attempts.OF_SESSION, session=session_id, **span)
    turns = audited_turns(
        [version_info(row, seal_of(row["operations"], key), None) for row in rows],
        [audit_entry(row, seal_of(row["reason"], key)) for row in events],
        [validation_audit.entry(row, seal_of(row["violations"], key)) for row in checks],
        [field_attempts.entry(row, seal_of(row["reason"], key)) for row in attempts],
    )
    return SessionAudit(session_id, head["journey_id"], head["status"], turns, more)


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
            validation_audit.REVIEWS,
            journey=journey,
            before=validation_audit.LAST if before is None else before,
            most=limit,
        )
    ]
    newest = sorted(found, key=lambda row: -row["id"])[:limit]
    return [
        Review(row["id"], validation_audit.entry(row, seal_of(row["violations"], key)))
        for row in newest
    ]
