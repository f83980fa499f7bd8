"""The statements that note effects, and find what is known of them."""

from __future__ import annotations

from sqlalchemy import ColumnElement, Integer, bindparam, delete, insert, null, select, update

from graphs.statements import Sql
from graphs.tables import effects, sessions

_OF_SESSION = effects.c.session_id == bindparam("session")
_THIS = (_OF_SESSION, effects.c.key == bindparam("this"))
_WRITTEN = ("session_id", "key", "step", "digest", "state", "begun_at")
# As when the turn is committed: one that the session has moved on without takes no step.
_STANDS: ColumnElement[bool] = (
    (sessions.c.session_id == bindparam("session"))
    & (sessions.c.version == bindparam("head", type_=Integer))
    & (sessions.c.created_at == bindparam("begun"))
    & (sessions.c.fence == bindparam("held", type_=Integer))
    & (sessions.c.status != bindparam("over"))
)

OF_STEP = Sql.of(
    select(effects)
    .where(_OF_SESSION, effects.c.step == bindparam("of_step"))
    .order_by(effects.c.begun_at)
)
BEGIN = Sql.of(
    insert(effects).from_select(
        _WRITTEN,
        select(*(bindparam(name, type_=effects.c[name].type) for name in _WRITTEN)).where(
            select(sessions.c.session_id).where(_STANDS).exists()
        ),
    )
)
BEGIN_AGAIN = Sql.of(
    update(effects)
    .where(*_THIS, effects.c.state == bindparam("was"))
    .where(select(sessions.c.session_id).where(_STANDS).exists())
    .values(state=bindparam("now"), begun_at=bindparam("at"), ended_at=null(), reason=null())
)
# Whether it was noted by the very transaction whose acknowledgement was lost.
BEGUN = Sql.of(select(effects.c.key).where(*_THIS, effects.c.begun_at == bindparam("at")))
END = Sql.of(
    update(effects)
    .where(*_THIS)
    .values(
        state=bindparam("now"),
        result=bindparam("gave"),
        reason=bindparam("why"),
        ended_at=bindparam("at"),
    )
)
FORGET = Sql.of(delete(effects).where(_OF_SESSION))
