"""Records of the turns of a session: attempts at fields, checks of replies, versions, audit.

Attempts and checks are written with their turn. For a sensitive field, the attempt and its result
are stored, but not the value and not the user's words, because no reader of attempts may show them.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from types import MappingProxyType
from typing import Any

from sqlalchemy import BigInteger, Integer, and_, bindparam, literal_column, select, update

from journeygraph.graphs.records.listing import last_that_fits
from journeygraph.graphs.storage.errors import WriteConflict
from journeygraph.graphs.storage.sealing import Seal
from journeygraph.graphs.storage.statements import (
    ALL_TURNS,
    AUDIT,
    TURNS,
    Row,
    Sql,
    Statement,
    TableMapper,
    first,
    in_span,
    last_fitting,
    of_tenant,
)
from journeygraph.graphs.storage.store import Store
from journeygraph.graphs.storage.tables import (
    USAGE,
    field_attempts,
    sessions,
    turns,
    validation_audit,
)
from journeygraph.journeys import (
    AuditedTurn,
    AuditEntry,
    Candidate,
    CheckEntry,
    CommandEntry,
    FieldAttemptEntry,
    JourneySpec,
    TranscriptEntry,
    TurnDecision,
    TurnStep,
    VersionInfo,
)
from journeygraph.nodes.journal import Usage
from journeygraph.nodes.state.session import ReplyCheck, Turn

ATTEMPTS = TableMapper(field_attempts)
_CHANGES = ("session_id", "version", "rolled_back_to", "pathway_id", "operations", "at")
CHANGES = Sql.of(
    select(*(turns.c[name] for name in _CHANGES))
    .where(TURNS.mine, in_span(turns.c.version))
    .order_by(turns.c.version)
)


def add_attempts(session_id: str, spec: JourneySpec, turn: Turn, seal: Seal) -> Statement:
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


def attempt_entry(row: Row, seal: Seal) -> FieldAttemptEntry:
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


PENDING = "pending"
"""Outcome of a pending check by a model."""
CHECKS = TableMapper(validation_audit)
_OF_TURN = (CHECKS.mine, validation_audit.c.turn == bindparam("number"))
SIZES_OF_ALL = last_fitting(TURNS, AUDIT, CHECKS, ATTEMPTS)
"""Statement for the size of turns with all their records."""
CHECKS_OF_TURN = Sql.of(select(validation_audit).where(*_OF_TURN).order_by(validation_audit.c.id))
_JUDGED = ("is_valid", "violations", "confidence", "latency_ms", "outcome", "bypassed", "review")
JUDGED = Sql.of(
    update(validation_audit)
    .where(*_OF_TURN, validation_audit.c.outcome == literal_column(f"'{PENDING}'"))
    .values(
        {name: bindparam(f"new_{name}", type_=validation_audit.c[name].type) for name in _JUDGED}
    )
)
SPENT = Sql.of(
    update(turns)
    .where(TURNS.mine, turns.c.version == bindparam("number"))
    .values({name: turns.c[name] + bindparam(f"new_{name}", type_=Integer) for name in USAGE})
)
# Rows of one journey that somebody should look at, newest first, from a place on.
REVIEWS = Sql.of(
    first(
        select(validation_audit, sessions.c.data_key, sessions.c.key_id)
        .join(
            sessions,
            and_(*(sessions.c[n] == validation_audit.c[n] for n in ("tenant", "session_id"))),
        )
        .where(
            of_tenant(validation_audit),
            validation_audit.c.journey_id == bindparam("journey"),
            validation_audit.c.review,
            validation_audit.c.id < bindparam("before", type_=BigInteger),
        )
        .order_by(validation_audit.c.id.desc())
    )
)
REVIEWED_JOURNEYS = Sql.of(
    select(validation_audit.c.journey_id)
    .where(of_tenant(validation_audit), validation_audit.c.review)
    .distinct()
)


def check_rows(session_id: str, journey_id: str, turn: Turn, at: str) -> list[Row]:
    """Return the checks of a turn's reply as rows."""
    of_turn = {"session_id": session_id, "journey_id": journey_id, "turn": turn["number"]}
    return [
        {**of_turn, "pathway_id": check["pathway"], **_judgement(check), "at": at}
        for check in turn.get("checks", ())
    ]


def _judgement(check: ReplyCheck) -> Row:
    row: Row = {name: check.get(name) for name in _JUDGED}
    return {**row, "outcome": PENDING} if check.get("pending") else row


async def judge(
    store: Store, session_id: str, turn: int, check: ReplyCheck, usage: Usage, seal: Seal
) -> None:
    """Write the pending judgement of a reply, unless another process was faster.

    Raises:
        StateError: The store failed.
    """
    mine: Row = {"session": session_id, "number": turn}
    stored = CHECKS.stored({"session_id": session_id, "turn": turn, **_judgement(check)}, seal)
    judged: Row = {**mine, **{f"new_{name}": stored[name] for name in _JUDGED}}
    spent: Row = {**mine, **{f"new_{name}": usage.counted()[name] for name in USAGE}}
    with suppress(WriteConflict):
        await store.write(Statement(JUDGED, [judged], exactly_one=True), Statement(SPENT, [spent]))


def check_entry(row: Row, seal: Seal) -> CheckEntry:
    """Return the public record of a row."""
    return CheckEntry(**CHECKS.opened(row, seal))


_SHOWN = [name for name in VersionInfo.__dataclass_fields__ if name in TURNS.columns]


def version_info(row: Row, seal: Seal, journey_id: str | None) -> VersionInfo:
    """Return the public record of a row of the ledger."""
    shown = {name: TURNS.value(row, name, seal) for name in _SHOWN}
    return VersionInfo(**shown, usage={name: row[name] for name in USAGE}, journey_id=journey_id)


def audit_entry(row: Row, seal: Seal) -> AuditEntry:
    """Return the public record of a row of the audit."""
    return AuditEntry(**AUDIT.opened(row, seal))


async def read_changes(store: Store, session_id: str, high: int) -> AsyncIterator[Row]:
    """Yield the operations of all turns up to a number; few of them are in memory at once.

    Args:
        store: The store.
        session_id: The session.
        high: Number of the last turn.

    Raises:
        StateError: The store failed.
    """
    span: Row = {**ALL_TURNS, "high": high}
    while span["low"] < high:
        last = min(await last_that_fits(store, session_id, span, TURNS.fitting), high)
        for row in await store.read(CHANGES, session=session_id, **{**span, "high": last}):
            yield row
        span["low"] = last


def transcript_of(versions: Iterable[VersionInfo]) -> list[TranscriptEntry]:
    """Return all messages and rollbacks, in order."""
    return [entry for row in versions for entry in _entries_of(row)]


def _entries_of(row: VersionInfo) -> Iterator[TranscriptEntry]:
    back = row.rolled_back_to
    if back is not None:
        yield TranscriptEntry("rollback", f"Back to version {back}.", row.at, row.version, back)
        return
    if row.message:
        yield TranscriptEntry("user", row.message, row.begun_at, row.version)
    if row.reply:
        role = "operator" if row.kind == "operator" else "assistant"
        yield TranscriptEntry(role, row.reply, row.at, row.version)


async def read_turns(
    store: Store,
    session_id: str,
    span: Row,
    seal: Seal,
    active_in: Callable[[str], str | None] = lambda _: None,
) -> list[AuditedTurn]:
    """Return turns of a session, each with its records.

    Records of a turn that was not committed (as under fail_fast) are shown with the turn that got
    its number later; without such a turn they are omitted.

    Args:
        store: The store.
        session_id: The session.
        span: The turns: `low` and `high`.
        seal: Opens what is sealed.
        active_in: Returns the journey of a pathway.
    """
    rows, events, checked, attempts = [
        await store.read(records.of_turns, session=session_id, **span)
        for records in (TURNS, AUDIT, CHECKS, ATTEMPTS)
    ]
    found = {row["version"]: _audited(row, seal, active_in) for row in rows}
    for row in events:
        if audited := found.get(row["turn"]):
            audited.events.append(audit_entry(row, seal))
    for row in checked:
        if audited := found.get(row["turn"]):
            audited.checks.append(check_entry(row, seal))
    for row in attempts:
        if audited := found.get(row["turn"]):
            audited.attempts.append(attempt_entry(row, seal))
    return list(found.values())


def _audited(row: Row, seal: Seal, active_in: Callable[[str], str | None]) -> AuditedTurn:
    turn = version_info(row, seal, active_in(row["pathway_id"]))
    trail = TURNS.value(row, "trail", seal) or {}
    return AuditedTurn(
        turn,
        [],
        [],
        decision=TurnDecision(
            [Candidate(*one) for one in trail.get("candidates", ())],
            [CommandEntry(*one) for one in trail.get("commands", ())],
            trail.get("denied", []),
        ),
        steps=[
            _step(number, turn.reply or "", *step)
            for number, step in enumerate(trail.get("steps", ()))
        ],
        steps_dropped=trail.get("dropped", 0),
    )


def _step(
    number: int,
    reply: str,
    kind: str,
    name: str,
    parent: int | None,
    start: float,
    ms: float,
    details: Mapping[str, Any] = MappingProxyType({}),
) -> TurnStep:
    """Return a step as `Trail.plain` made it; words that are in the reply are taken from there."""
    known = dict(details)
    if isinstance(place := known.get("words"), list):
        known["words"] = reply[slice(*place)]
    return TurnStep(number, parent, kind, name, start, ms, **known)
