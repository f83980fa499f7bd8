"""Checks of replies in the store: written with their turn, and read again."""

from __future__ import annotations

from sqlalchemy import Integer, bindparam, literal_column, select, update

from graphs.storage.sealing import Seal
from graphs.storage.statements import TURNS, Records, Row, Sql, Statement, first
from graphs.storage.tables import USAGE, turns, validation_audit
from journeys import CheckEntry
from nodes.journal import Usage
from nodes.state.session import Check, Turn

PENDING = "pending"
"""Outcome of a pending check by a model."""
CHECKS = Records(validation_audit)
_OF_TURN = (CHECKS.mine, validation_audit.c.turn == bindparam("number"))
OF_TURN = Sql.of(select(validation_audit).where(*_OF_TURN))
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
        select(validation_audit)
        .where(
            validation_audit.c.journey_id == bindparam("journey"),
            validation_audit.c.review,
            validation_audit.c.id < bindparam("before", type_=Integer),
        )
        .order_by(validation_audit.c.id.desc())
    )
)
JOURNEYS = Sql.of(select(validation_audit.c.journey_id).where(validation_audit.c.review).distinct())


def added(session_id: str, journey_id: str, turn: Turn, at: str, seal: Seal) -> Statement:
    """Return the statement that adds the check of a turn's reply."""
    of_turn = {"session_id": session_id, "journey_id": journey_id, "turn": turn["number"]}
    rows = [
        {**of_turn, "pathway_id": check["pathway"], **_judgement(check), "at": at}
        for check in turn.get("checks", ())
    ]
    return CHECKS.adding(rows, seal)


def _judgement(check: Check) -> Row:
    row: Row = {name: check.get(name) for name in _JUDGED}
    return {**row, "outcome": PENDING} if check.get("pending") else row


def judged(session_id: str, turn: int, check: Check, usage: Usage, seal: Seal) -> list[Statement]:
    """Return the statements that write the pending judgement of a reply.

    The first fails if another process was faster.
    """
    mine: Row = {"session": session_id, "number": turn}
    row = {"session_id": session_id, "turn": turn, **_judgement(check)}
    stored, counted = CHECKS.stored(row, seal), usage.counted()
    new: Row = {**mine, **{f"new_{name}": stored[name] for name in _JUDGED}}
    spent: Row = {**mine, **{f"new_{name}": counted[name] for name in USAGE}}
    return [Statement(JUDGED, [new], exactly_one=True), Statement(SPENT, [spent])]


def entry(row: Row, seal: Seal) -> CheckEntry:
    """Return the public record of a row."""
    return CheckEntry(**CHECKS.opened(row, seal))
