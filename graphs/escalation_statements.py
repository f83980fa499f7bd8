"""The statements that read and change calls for a person."""

from __future__ import annotations

from typing import Any

from sqlalchemy import (
    ColumnElement,
    Integer,
    String,
    bindparam,
    delete,
    exists,
    func,
    insert,
    literal_column,
    select,
    update,
)

from graphs.statements import Sql
from graphs.tables import escalations, field_attempts, sessions, turns

_WRITTEN = [column.name for column in escalations.c if column.name != "number"]
_OF_SESSION = escalations.c.session_id == bindparam("session")
_ONE = escalations.c.id == bindparam("id_is")
_WAITING = escalations.c.status.in_([literal_column("'open'"), literal_column("'claimed'")])
_UNDELIVERED = escalations.c.delivered_at.is_(None)
_WITHOUT_PAYLOAD = [column for column in escalations.c if column.name != "payload"]
_ASKED: ColumnElement[str] = bindparam("status_is", type_=String)
_IN_FORCE = exists().where(
    sessions.c.session_id == escalations.c.session_id,
    sessions.c.status != literal_column("'expired'"),
    sessions.c.expires_at >= bindparam("now"),
)


def _page(*where: Any) -> Sql:
    """Return a page, newest first, of those of a status; without one, of those that wait."""
    return Sql.of(
        select(*_WITHOUT_PAYLOAD)
        .where(
            *where,
            _IN_FORCE,
            (escalations.c.status == _ASKED) | ((literal_column("''") == _ASKED) & _WAITING),
            escalations.c.number < bindparam("before", type_=Integer),
        )
        .order_by(escalations.c.number.desc())
        .limit(bindparam("most", type_=Integer))
        .offset(literal_column("0"))
    )


# Inline: SQLAlchemy would have the number returned, and the store adds a RETURNING of its own.
ADD = Sql.of(insert(escalations).inline().values({name: bindparam(name) for name in _WRITTEN}))
CHANGE = Sql.of(
    update(escalations)
    .where(_ONE, _OF_SESSION)
    .values(
        status=bindparam("new_status"),
        claimed_by=bindparam("new_claimed_by", type_=String),
        updated_at=bindparam("now"),
    )
)
# What a rollback leaves without a person.
RELEASE_OTHERS = Sql.of(
    update(escalations)
    .where(_OF_SESSION, _WAITING, escalations.c.id != bindparam("id_is"))
    .values(status=literal_column("'released'"), updated_at=bindparam("now"))
)
OF_SESSION = Sql.of(select(*_WITHOUT_PAYLOAD).where(_OF_SESSION).order_by(escalations.c.number))
OF_JOURNEY = _page(escalations.c.journey_id == bindparam("journey"))
OF_ALL = _page()
ONE = Sql.of(select(escalations).where(_ONE, _IN_FORCE))
FORGET = Sql.of(delete(escalations).where(_OF_SESSION))
_TO_SEND = (
    _WAITING,
    _UNDELIVERED,
    _IN_FORCE,
    escalations.c.tries < bindparam("most_tries", type_=Integer),
)
NEXT_DUE = Sql.of(select(func.min(escalations.c.next_try_at).label("at")).where(*_TO_SEND))
DUE = Sql.of(
    select(*_WITHOUT_PAYLOAD)
    .where(
        *_TO_SEND,
        escalations.c.next_try_at <= bindparam("until"),
        escalations.c.number > bindparam("after", type_=Integer),
    )
    .order_by(escalations.c.number)
    .limit(bindparam("most", type_=Integer))
    .offset(literal_column("0"))
)
# Whoever counts the try first makes it; others leave it alone until the next one is due.
TRY = Sql.of(
    update(escalations)
    .where(_ONE, _UNDELIVERED, escalations.c.tries == bindparam("tried", type_=Integer))
    .values(tries=bindparam("tries_now", type_=Integer), next_try_at=bindparam("next_at"))
)
DELIVERED = Sql.of(update(escalations).where(_ONE).values(delivered_at=bindparam("now")))


def _said(*where: Any) -> Sql:
    """Return the newest of some rows of a session's ledger."""
    return Sql.of(
        select(turns)
        .where(turns.c.session_id == bindparam("session"), *where)
        .order_by(turns.c.version.desc())
        .limit(bindparam("most", type_=Integer))
        .offset(literal_column("0"))
    )


SAID_UNTIL = _said(turns.c.version <= bindparam("turn_is"))
SAID_SINCE = _said(turns.c.version > bindparam("turn_is"))
TOLD_IN = Sql.of(
    select(field_attempts.c.turn)
    .where(
        field_attempts.c.session_id == bindparam("session"),
        field_attempts.c.field == bindparam("field_is"),
    )
    .distinct()
)
