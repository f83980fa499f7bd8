"""The statements that ride on a saver's connection, compiled from the one schema.

They share the transaction of the checkpoint, so they cannot go through a connection of
SQLAlchemy's own: each is compiled once to SQL with named parameters.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy import (
    ColumnElement,
    bindparam,
    column,
    delete,
    exists,
    insert,
    literal_column,
    select,
    table,
    update,
)
from sqlalchemy.dialects import sqlite

from graphs.tables import audit, sessions, turns

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement in SQL with its parameters; `exactly_one` asks for one changed row."""

    sql: str
    rows: list[Row]
    exactly_one: bool = False


def _sql(statement: Any) -> str:
    return str(statement.compile(dialect=sqlite.dialect(paramstyle="named")))


_SESSION = sessions.c.session_id == bindparam("session")
_EXPIRED: ColumnElement[str] = literal_column("'expired'")
_LIVE = sessions.c.status != _EXPIRED

BEGIN_SESSION = _sql(insert(sessions))
ADVANCE = _sql(
    update(sessions)
    .where(
        _SESSION,
        sessions.c.version == bindparam("head"),
        # Deleted and begun anew, a session of that id and version is another one.
        sessions.c.created_at == bindparam("begun"),
        _LIVE,
    )
    .values(
        version=bindparam("new_version"),
        status=bindparam("new_status"),
        pathway_id=bindparam("new_pathway"),
        journey_version=bindparam("new_journey_version"),
        updated_at=bindparam("now"),
        expires_at=bindparam("until"),
    )
)
ADD_TURN = _sql(insert(turns))
_AUDITED = [column.name for column in audit.c if column.name != "id"]
# What is reported after a session was deleted must not stay behind.
ADD_AUDIT = _sql(
    insert(audit).from_select(
        _AUDITED,
        select(*(bindparam(name, type_=audit.c[name].type) for name in _AUDITED)).where(
            exists().where(sessions.c.session_id == bindparam("session_id"))
        ),
    )
)
HEAD = _sql(
    select(sessions, turns.c.checkpoint_id)
    .join_from(
        sessions,
        turns,
        (turns.c.session_id == sessions.c.session_id) & (turns.c.version == sessions.c.version),
        isouter=True,
    )
    .where(_SESSION)
)
_TURNS = select(turns).where(turns.c.session_id == bindparam("session"))
TURN = _sql(_TURNS.where(turns.c.version == bindparam("number")))
TURNS = _sql(_TURNS.order_by(turns.c.version))
AUDIT = _sql(select(audit).where(audit.c.session_id == bindparam("session")).order_by(audit.c.id))
LIST = _sql(
    select(sessions.c.session_id)
    .where(sessions.c.journey_id == bindparam("journey"), _LIVE)
    .where(sessions.c.expires_at >= bindparam("now"))
    .order_by(sessions.c.updated_at.desc(), sessions.c.session_id)
)
_OVER = (_LIVE, sessions.c.expires_at < bindparam("now"))
EXPIRED = _sql(
    select(sessions.c.session_id, sessions.c.version)
    .where(*_OVER, sessions.c.journey_id == bindparam("journey"))
    .order_by(sessions.c.expires_at)
)
MARK_EXPIRED = _sql(update(sessions).where(_SESSION, *_OVER).values(status=_EXPIRED))
FORGET_TURNS = _sql(delete(turns).where(turns.c.session_id == bindparam("session")))
FORGET_AUDIT = _sql(delete(audit).where(audit.c.session_id == bindparam("session")))
FORGET_SESSION = _sql(delete(sessions).where(_SESSION))
# The saver's own table, of which we only ever remove rows by id.
_checkpoints = table("checkpoints", column("thread_id"), column("checkpoint_id"))
PRUNE = _sql(
    delete(_checkpoints).where(
        _checkpoints.c.thread_id == bindparam("session"),
        _checkpoints.c.checkpoint_id.not_in(
            select(turns.c.checkpoint_id).where(
                turns.c.session_id == bindparam("session"), turns.c.version > bindparam("oldest")
            )
        ),
    )
)
