"""The checks of replies in the store: written with their turn, and read again."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import TYPE_CHECKING

from sqlalchemy import Integer, bindparam, delete, insert, literal_column, select, update

from graphs.faults import LostRace
from graphs.sealing import Seal
from graphs.statements import Row, Sql, Statement, in_span
from graphs.tables import USAGE, turns, validation_audit
from journeys import CheckEntry, JourneyConfig
from nodes.checking.scope import checks_of, place_of
from nodes.llm.models import Models
from nodes.llm.usage import Usage
from nodes.services import Services, brought_locale
from nodes.speech import texts_of
from nodes.state import Check, Turn
from nodes.triggers import matcher_of

if TYPE_CHECKING:
    from graphs.session import Session

PENDING = "pending"
"""Outcome of a check that a model has still to make."""
CORRECTION = "correction"
"""Key of the text that the next reply begins with, in a session's row as a turn is given it."""
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
OF_TURN = Sql.of(
    select(validation_audit).where(_OF_SESSION, validation_audit.c.turn == bindparam("number"))
)
_JUDGED = ("is_valid", "violations", "confidence", "latency_ms", "outcome", "bypassed", "review")
JUDGED = Sql.of(
    update(validation_audit)
    .where(
        _OF_SESSION,
        validation_audit.c.turn == bindparam("number"),
        validation_audit.c.outcome == literal_column(f"'{PENDING}'"),
    )
    .values(
        {name: bindparam(f"new_{name}", type_=validation_audit.c[name].type) for name in _JUDGED}
    )
)
SPENT = Sql.of(
    update(turns)
    .where(turns.c.session_id == bindparam("session"), turns.c.version == bindparam("number"))
    .values({name: turns.c[name] + bindparam(f"new_{name}", type_=Integer) for name in USAGE})
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
            **_said(check, seal, place),
            "at": at,
        }
        for check in turn.get("checks", ())
    ]
    return Statement(ADD, rows)


def _said(check: Check, seal: Seal, place: str) -> Row:
    return {
        "is_valid": check["is_valid"],
        "violations": seal.close(json.dumps(check["violations"], ensure_ascii=False), place),
        "confidence": check["confidence"],
        "latency_ms": check["latency_ms"],
        "outcome": PENDING if check.get("pending") else check["outcome"],
        "bypassed": check["bypassed"],
        "review": check["review"],
    }


async def settled(session: Session, head: Row, config: JourneyConfig, models: Models | None) -> Row:
    """Return the head of a session once its last reply is checked, with the correction that is due.

    The session's turn has to be held. A reply that was sent before it was judged, and that nobody
    has judged since, is judged first; so it is judged once, whoever comes first.

    Raises:
        StateError: The store failed.
    """
    store, seal = session.store, session.scribe.seal
    mine = {"session": session.session_id, "number": head["version"]}
    rows = await store.read(OF_TURN, **mine)
    if not rows or (rows[-1]["is_valid"] and rows[-1]["outcome"] != PENDING):
        return head
    # Loaded when the graph was built; journeys that check nothing never need it.
    from nodes.validate import is_refused, judged  # noqa: PLC0415

    spec, values = session.spec, await session.values(head)
    turn: Turn = values["turn"]
    found = entry(rows[-1], seal)
    violations, confidence = found.violations, found.confidence
    matcher, texts, usage = matcher_of(spec), texts_of(spec, config), Usage()
    checks = checks_of(spec)
    known = Services(
        spec, config, {}, matcher, models=models, usage=usage, checks=checks, texts=texts
    )
    services = known.localized(brought_locale(values))
    if found.outcome == PENDING:
        check = await judged(services, turn)
        violations, confidence = check["violations"], check["confidence"]
        said = _said(check, seal, _place(session.session_id, turn["number"]))
        row = {**mine, **{f"new_{name}": value for name, value in said.items()}}
        counted = usage.counted()
        spent = {**mine, **{f"new_{name}": counted[name] for name in USAGE}}
        written = Statement(JUDGED, [row], exactly_one=True), Statement(SPENT, [spent])
        with suppress(LostRace):  # another process took this one for dead, or it was deleted
            await store.write(*written)
    if not is_refused(spec, turn, violations, confidence):
        return head
    return {**head, CORRECTION: services.texts_in(place_of(turn)).wrong_before}


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
