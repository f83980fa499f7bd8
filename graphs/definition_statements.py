"""The statements that read and change definitions."""

from __future__ import annotations

from typing import Any

from sqlalchemy import (
    ColumnElement,
    Integer,
    bindparam,
    false,
    insert,
    literal_column,
    select,
    update,
)

from graphs.statements import Sql
from graphs.tables import definition_epoch as epochs
from graphs.tables import definitions, sessions

_MINE = definitions.c.tenant == bindparam("tenant_is")
_ONE = definitions.c.id == bindparam("id_is")
_ACTIVE: ColumnElement[Any] = definitions.c.active
_ONE_MORE: ColumnElement[int] = literal_column("1")
_WITHOUT_BODY = [column for column in definitions.c if column.name not in ("tenant", "body")]
_UNCHANGED = (epochs.c.tenant == bindparam("tenant_is"), epochs.c.epoch == bindparam("seen"))

EPOCH = Sql.of(
    select(epochs.c.epoch, epochs.c.dropped).where(epochs.c.tenant == bindparam("tenant_is"))
)
_EPOCH_TOO = [
    select(column)
    .where(epochs.c.tenant == bindparam("tenant_is"))
    .scalar_subquery()
    .label(f"definitions_{column.name}")
    for column in (epochs.c.epoch, epochs.c.dropped)
]
# A session's row alone, and with it the epoch, so that to look for changes costs no query.
FOUND = Sql.of(
    select(*sessions.c, *_EPOCH_TOO).where(sessions.c.session_id == bindparam("session"))
)
BEGIN_EPOCH = Sql.of(insert(epochs))
BUMP = Sql.of(update(epochs).where(*_UNCHANGED).values(epoch=epochs.c.epoch + _ONE_MORE))
BUMP_AND_DROP = Sql.of(
    update(epochs)
    .where(*_UNCHANGED)
    .values(epoch=epochs.c.epoch + _ONE_MORE, dropped=epochs.c.dropped + _ONE_MORE)
)
ALL = Sql.of(select(*_WITHOUT_BODY).where(_MINE).order_by(definitions.c.id, definitions.c.version))
HISTORY = Sql.of(select(*_WITHOUT_BODY).where(_MINE, _ONE).order_by(definitions.c.version))
ACTIVE = Sql.of(select(*_WITHOUT_BODY).where(_MINE, _ACTIVE).order_by(definitions.c.id))
PAGE = Sql.of(
    select(*_WITHOUT_BODY)
    .where(_MINE, _ACTIVE, definitions.c.id > bindparam("above"))
    .order_by(definitions.c.id)
    .limit(bindparam("most", type_=Integer))
    .offset(literal_column("0"))
)
BODY = Sql.of(
    select(definitions.c.body).where(_MINE, _ONE, definitions.c.version == bindparam("version_is"))
)
ADD = Sql.of(insert(definitions))
RETIRE = Sql.of(update(definitions).where(_MINE, _ONE, _ACTIVE).values(active=false()))
DROP = Sql.of(
    update(definitions)
    .where(_MINE, _ONE, _ACTIVE)
    .values(dropped=definitions.c.dropped + _ONE_MORE)
)
