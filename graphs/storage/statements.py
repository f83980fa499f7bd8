"""Statements and records on a saver's connection, made from one schema.

Statements share the transaction of the checkpoint, so they cannot use a connection of SQLAlchemy:
each is compiled once to the SQL of each database, with named parameters.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import count
from typing import Any

import orjson
from sqlalchemy import (
    BinaryExpression,
    Boolean,
    Column,
    ColumnElement,
    Float,
    Insert,
    Integer,
    LargeBinary,
    String,
    Table,
    Text,
    and_,
    any_,
    bindparam,
    cast,
    column,
    delete,
    exists,
    func,
    insert,
    literal_column,
    null,
    select,
    table,
    text,
    true,
    tuple_,
    union_all,
    update,
)
from sqlalchemy.dialects import postgresql as postgres
from sqlalchemy.dialects import sqlite
from sqlalchemy.dialects.postgresql import psycopg
from sqlalchemy.sql import operators, visitors

from journeygraph.graphs.storage.sealing import MARK, RefusedError, Seal
from journeygraph.graphs.storage.tables import (
    audit,
    escalations,
    field_attempts,
    metadata,
    running_turns,
    sessions,
    tenants,
    timers,
    turns,
)
from journeygraph.journeys.config import TENANT
from journeygraph.nodes.json_data import now as now

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Sql:
    """One statement in the SQL of each database; None if a database needs none.

    The store gives it the parameter `tenant`, and with a parameter `session` also `thread`, which
    names the session in LangGraph's tables.

    Attributes:
        all_tenants: True if it is about rows of all tenants.
        names_tenant: True if it tells Postgres itself of which tenant it is.
    """

    sqlite: str | None
    postgres: str | None
    all_tenants: bool = False
    names_tenant: bool = False

    @classmethod
    def of(cls, statement: Any, *, all_tenants: bool = False) -> Sql:
        """Compile a statement of SQLAlchemy's for both.

        Raises:
            ValueError: It is about rows of one tenant, and a table in it is not bound to a tenant.
        """
        on_sqlite = statement.compile(dialect=sqlite.dialect(paramstyle="named"))
        on_postgres = _on_postgres(statement, all_tenants=all_tenants).postgres
        return cls(str(on_sqlite), on_postgres, all_tenants)

    def followed_by(self, text: str) -> Sql:
        """Return it with more text, which both databases know."""
        on_sqlite, on_postgres = (one and f"{one} {text}" for one in (self.sqlite, self.postgres))
        return Sql(on_sqlite, on_postgres, self.all_tenants)


def of_tenant(table: Any) -> ColumnElement[bool]:
    """Return the condition that a row of a table belongs to the tenant of the store."""
    condition: ColumnElement[bool] = table.c.tenant == bindparam("tenant", type_=String)
    return condition


def thread_of(tenant: str, session_id: str) -> str:
    """Return the name of a session in LangGraph's tables, which have no column for a tenant."""
    return session_id if tenant == TENANT else f"{tenant}/{session_id}"


def refuse_unbound(statement: Any) -> None:
    """Refuse a statement that reads or writes rows without regard to their tenant.

    Raises:
        ValueError: A table with a column `tenant` is neither compared by it nor filled with it.
    """
    used: set[Any] = set()
    bound: set[Any] = set()
    for part in visitors.iterate(statement):
        if isinstance(part, Table) and "tenant" in part.c:
            used.add(part)
        elif isinstance(part, BinaryExpression) and part.operator is operators.eq:
            sides = (part.left, part.right)
            bound |= {one.table for one in sides if isinstance(one, Column) and one.key == "tenant"}
        elif isinstance(part, Insert) and "tenant" in part.compile().params:
            bound.add(part.table)
    if unbound := sorted(table.name for table in used - bound):
        raise ValueError(f"A statement has no condition for the tenant of: {', '.join(unbound)}.")


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement with its parameters; `exactly_one` asks for one changed row.

    `proof` finds, with the first row's parameters, whether it counted already.
    """

    sql: Sql
    rows: list[Row]
    exactly_one: bool = False
    proof: Sql | None = None


def _on_postgres(statement: Any, *, all_tenants: bool = False) -> Sql:
    if not all_tenants:
        refuse_unbound(statement)
    dialect: Any = psycopg.dialect
    made = statement.compile(dialect=dialect(paramstyle="pyformat"))
    return Sql(None, str(made), all_tenants)


def first(rows: Any) -> Any:
    """Return a statement that reads only the first `most` rows."""
    return rows.limit(bindparam("most", type_=Integer)).offset(literal_column("0"))


def in_span(turn: ColumnElement[Any]) -> ColumnElement[Any]:
    """Return the condition for turns after the previous page, up to the last one."""
    low, high = bindparam("low", type_=Integer), bindparam("high", type_=Integer)
    return (turn > low) & (turn <= high)


class TableMapper:
    """Records of one table of `tables`: statements, writing, sealing and reading.

    Attributes:
        name: The table's name.
        columns: The table's columns.
    """

    def __init__(self, table: Table, add: Sql | None = None) -> None:
        self._table, self.columns, self.name = table, table.c, table.name
        self._add = add
        names = [
            str(one.name)
            for one in table.c
            if one.autoincrement is not True and not one.info.get("internal")
        ]
        self._written = [name for name in names if name != "tenant"]
        self._places = {str(one.name): one.info["place"] for one in table.c if "place" in one.info}
        self._empty = dict.fromkeys(self._written)
        self._json = [one.name for one in table.c if one.info.get("json")]
        self._digests = [one.name for one in table.c if one.info.get("digest")]
        self._flags = {one.name for one in table.c if isinstance(one.type, Boolean)}

    @cached_property
    def mine(self) -> ColumnElement[bool]:
        """Condition that a row belongs to a session of the tenant."""
        return of_tenant(self._table) & (self.columns.session_id == bindparam("session"))

    @cached_property
    def add(self) -> Sql:
        """Statement that adds a row of `stored`."""
        if self._add:
            return self._add
        # Inline: SQLAlchemy would have the number returned, and the store adds a RETURNING of its
        # own.
        values: Row = {name: bindparam(name) for name in ("tenant", *self._written)}
        return Sql.of(insert(self._table).inline().values(values))

    @cached_property
    def turn(self) -> ColumnElement[Any]:
        """Column with the number of the turn of a row."""
        return self.columns["turn" if "turn" in self.columns else "version"]

    @cached_property
    def of_turns(self) -> Sql:
        """Statement that reads the rows of a session's turns, from `low` to `high`, in order."""
        rows = select(self._table).where(self.mine, in_span(self.turn))
        return Sql.of(rows.order_by(list(self._table.primary_key)[-1]))

    @cached_property
    def next_turn(self) -> Sql:
        """Statement for the first turn of a session, from `low` to `high`, that has rows."""
        rows = select(func.min(self.turn).label("turn"))
        return Sql.of(rows.where(self.mine, in_span(self.turn)))

    @cached_property
    def all(self) -> Sql:
        """Statement that reads all rows of a session."""
        return Sql.of(select(self._table).where(self.mine))

    @cached_property
    def page(self) -> Sql:
        """Statement that reads the next `most` rows of a session, in the order of `last_key`.

        `after` is this key of the row before them, or empty.
        """
        key = self.columns[self.last_key]
        return Sql.of(
            first(select(self._table).where(self.mine, key > bindparam("after")).order_by(key))
        )

    @property
    def last_key(self) -> str:
        """Name of the last column of the primary key."""
        return str([*self._table.primary_key][-1].name)

    @property
    def has_turns(self) -> bool:
        """True if each row belongs to a turn."""
        return not {"turn", "version"}.isdisjoint(self.columns.keys())

    @cached_property
    def fitting(self) -> Sql:
        """Statement for the last turn up to which the rows of a span have `most` bytes."""
        return last_fitting(self)

    def sizes(self, octets: Callable[[ColumnElement[Any]], ColumnElement[int]]) -> Any:
        """Return a query for the turn and the bytes of each row of a span of turns.

        Args:
            octets: Returns the expression for the length of a text in bytes.
        """
        texts = [
            func.coalesce(octets(self.columns[name]), literal_column("0")) for name in self._places
        ]
        size = sum(texts, start=literal_column(str(ROW_BYTES), Integer))
        return select(self.turn.label("turn"), size.label("size")).where(
            self.mine, in_span(self.turn)
        )

    @cached_property
    def forget(self) -> Sql:
        """Statement that removes all rows of a session."""
        return Sql.of(delete(self._table).where(self.mine))

    def adding(self, rows: Iterable[Row], seal: Seal) -> Statement:
        """Return the statement that adds rows."""
        return Statement(self.add, [self.stored(row, seal) for row in rows])

    def stored(self, row: Row, seal: Seal) -> Row:
        """Return a row in its stored form; a missing column is null."""
        made: Row = {**self._empty, **row}
        for name in self._json:
            if name in row:
                made[name] = orjson.dumps(row[name]).decode()
        if seal.hides:
            for name, place in self._places.items():
                if made[name] is not None:
                    made[name] = seal.close(made[name], self._at(place, made, seal))
        return made

    def opened(self, row: Row, seal: Seal) -> Row:
        """Return the original columns of a stored row, without its number.

        Raises:
            ConfigurationError: The row is sealed, and no key is set.
            RefusedError: It is not sealed, was changed or moved, or has another key.
        """
        return {name: self.value(row, name, seal) for name in self._written if name in row}

    def value(self, row: Row, name: str, seal: Seal) -> Any:
        """Return one original column of a stored row; see `opened`."""
        found = row[name]
        if found is None:
            return None
        if place := self._places.get(name):
            try:
                found = seal.open(found, self._at(place, row, seal))
            except RefusedError as error:
                raise error.of(self._named(row, name)) from error
        if name in self._json:
            return json.loads(found)
        return bool(found) if name in self._flags else found

    def _at(self, place: str, row: Row, seal: Seal) -> str:
        """Return the place of a value of a row of the tenant whose seal it is."""
        return place.format_map({**row, "tenant": seal.tenant})

    def _named(self, row: Row, name: str) -> str:
        """Return the place of a stored value, for errors."""
        keys = [one.name for one in self._table.primary_key if one.name in row]
        keys = [name for name in keys if name != "tenant" or row[name] != TENANT]
        if "session_id" in row:
            keys = ["session_id", *(key for key in keys if key != "session_id")]
        place = ", ".join(f"{key} {row[key]!r}" for key in keys)
        return f"The column {name} of the table {self._table.name}, row {place},"


ROW_BYTES = 200
"""Size of a row apart from its longer texts, as counted for pages."""


def last_fitting(*read: TableMapper) -> Sql:
    """Return the statement for the last turn up to which the rows of a span have `most` bytes.

    Args:
        read: Records whose rows count.
    """
    on_sqlite = _last_fitting(read, lambda text: func.length(cast(text, LargeBinary)))
    on_postgres = _last_fitting(read, func.octet_length)
    return Sql(Sql.of(on_sqlite).sqlite, _on_postgres(on_postgres).postgres)


def _last_fitting(read: Iterable[TableMapper], octets: Any) -> Any:
    rows = union_all(*(records.sizes(octets) for records in read)).subquery("found")
    each = select(rows.c.turn, func.sum(rows.c.size).label("size")).group_by(rows.c.turn)
    turn = each.subquery("each_turn")
    total = func.sum(turn.c.size).over(order_by=turn.c.turn).label("total")
    with_all_before = select(turn.c.turn, total).subquery("with_all_before")
    fits = with_all_before.c.total <= bindparam("most", type_=Integer)
    return select(func.max(with_all_before.c.turn).label("last")).where(fits)


TENANT_SETTING = "journeygraph.tenant"
"""Setting of a transaction with the tenant whose rows the database shows."""
_NAMED = re.compile(r"%\((\w+)\)s")
# The saver's own tables; the values are apart from the checkpoints, which share them.
_checkpoints = table(
    "checkpoints",
    *map(column, ("thread_id", "checkpoint_ns", "checkpoint_id", "parent_checkpoint_id")),
    *map(column, ("type", "checkpoint", "metadata")),
)
_blobs = table("checkpoint_blobs", column("thread_id"), column("channel"), column("version"))
_THREAD: ColumnElement[str] = bindparam("thread", type_=String)
SESSION = of_tenant(sessions) & (sessions.c.session_id == bindparam("session"))
"""Condition for the row of a session of the tenant."""
_ROOT: ColumnElement[str] = literal_column("''")
_AT_ONCE: ColumnElement[int] = literal_column("0")
"""OFFSET with which a subquery is planned and run by itself."""
_ONE: ColumnElement[int] = literal_column("1")
_EXPIRED: ColumnElement[str] = literal_column("'expired'")
_LIVE = sessions.c.status != _EXPIRED

_NOT_GIVEN = {sessions.c[name] for name in ("fence", "lease_until", "unwanted_fence")}
BEGIN_SESSION = Sql.of(
    insert(sessions).values({c: bindparam(c.name) for c in sessions.c if c not in _NOT_GIVEN})
)
UNCHANGED_SINCE_READ = (
    SESSION,
    sessions.c.version == bindparam("head"),
    # Deleted and started again, a session of that id and version is another one.
    sessions.c.created_at == bindparam("begun"),
    # Another one has taken the session since: what it does, this turn has not seen.
    sessions.c.fence == bindparam("held"),
    _LIVE,
)
"""Condition that no other turn has changed the session."""
ADVANCE = Sql.of(
    update(sessions)
    .where(*UNCHANGED_SINCE_READ)
    .values(
        version=bindparam("new_version"),
        status=bindparam("new_status"),
        pathway_id=bindparam("new_pathway"),
        journey_version=bindparam("new_journey_version"),
        updated_at=bindparam("now"),
        expires_at=bindparam("until"),
        lease_until=null(),
    )
)
TURNS = TableMapper(turns)
_AUDITED = [column for column in audit.c if column.name not in ("id", "unsent")]


def _given(target: Column[Any]) -> ColumnElement[Any]:
    """Return a column's parameter; for a null float, Postgres needs the type."""
    given = bindparam(target.name, type_=target.type)
    return cast(given, target.type) if isinstance(target.type, Float) else given


# What is reported after a session was deleted must not stay behind; nor what is sealed with a key
# that went with an expired one, since nothing could read it.
_REMAINS = exists().where(
    of_tenant(sessions),
    sessions.c.session_id == bindparam("session_id"),
    _LIVE | ~bindparam("reason", type_=Text).like(literal_column(f"'{MARK}%'")),
)
AUDIT = TableMapper(
    audit,
    Sql.of(
        insert(audit).from_select(_AUDITED, select(*map(_given, _AUDITED)).where(_REMAINS)),
    ),
)
# What a row of a version has besides, so that its state is read with it, in one statement.
# As bytes or text: a turn that fails is run a second time from it, and LangGraph changes what it is
# given.
_STATE = tuple(
    _checkpoints.c[name] for name in ("thread_id", "checkpoint_ns", "parent_checkpoint_id")
)
_STATE_ON_SQLITE = tuple(_checkpoints.c[name] for name in ("type", "checkpoint", "metadata"))
_STATE_ON_POSTGRES: tuple[ColumnElement[Any], ...] = (
    literal_column("checkpoint::text").label("checkpoint"),
    literal_column("metadata::text").label("metadata"),
    literal_column(
        "(SELECT array_agg(array[v.key::bytea, b.type::bytea, b.blob]) "
        "FROM jsonb_each_text(checkpoint -> 'channel_versions') AS v CROSS JOIN LATERAL "
        "(SELECT type, blob FROM checkpoint_blobs WHERE thread_id = checkpoints.thread_id "
        "AND checkpoint_ns = checkpoints.checkpoint_ns AND channel = v.key "
        "AND version = v.value OFFSET 0) AS b)"
    ).label("channel_values"),
)


def by_key(name: str, columns: Any, *where: Any) -> Any:
    """Return a subquery for Postgres that reads the one row of a key.

    A join may read all rows of a session or of a table, and compare the tenant of each.
    """
    return select(*columns).where(*where).offset(_AT_ONCE).lateral(name)


def with_values(versions: str) -> str:
    """Return the statement for SQLite that reads versions, with a row for each value of a state.

    The checkpoint names its values in its metadata.
    """
    return (
        f"SELECT one.*, b.channel, b.type AS value_type, b.blob FROM ({versions}) AS one "
        "LEFT JOIN json_each(CAST(one.metadata AS TEXT), '$.__values') AS v "
        "LEFT JOIN checkpoint_blobs AS b ON b.thread_id = one.thread_id "
        "AND b.checkpoint_ns = one.checkpoint_ns AND b.channel = v.key AND b.version = v.value"
    )


def _is_state_of(turn: Any) -> ColumnElement[bool]:
    return and_(
        _checkpoints.c.thread_id == _THREAD,
        _checkpoints.c.checkpoint_ns == _ROOT,
        _checkpoints.c.checkpoint_id == turn.c.checkpoint_id,
    )


def _is_head_of(session: Any) -> ColumnElement[bool]:
    names = ("tenant", "session_id", "version")
    return and_(*(turns.c[name] == session.c[name] for name in names))


def _with_states(columns: Any, rows: Any, turn: Any) -> Any:
    """Return the statement for Postgres that reads rows, each with the state of a turn."""
    state = by_key("state", (*_STATE, *_STATE_ON_POSTGRES), _is_state_of(turn))
    return select(*columns, *state.c).select_from(rows.outerjoin(state, true()))


def _with_head(session: Any, *more: Any) -> Any:
    """Return the statement for Postgres that reads a session's row with its head, and more rows."""
    head = by_key("head", _OF_HEAD, _is_head_of(session))
    rows = session.outerjoin(head, true())
    for each in more:
        rows = rows.outerjoin(each, true())
    return _with_states(
        (session, *(column for one in (head, *more) for column in one.c)), rows, head
    )


def _with_state(columns: Any, rows: Any, on_postgres: Any, *where: Any) -> Sql:
    """Return the statement that reads rows of versions, each with its state."""
    with_states = rows.outerjoin(_checkpoints, _is_state_of(turns))
    read = select(*columns, *_STATE, *_STATE_ON_SQLITE).select_from(with_states).where(*where)
    read_there = _on_postgres(on_postgres.where(*where)).postgres
    return Sql(with_values(Sql.of(read).sqlite or ""), read_there)


KEY_OF_SESSION = Sql.of(
    select(sessions.c.session_id, *(sessions.c[name] for name in Seal.columns)).where(SESSION)
)
"""Read the columns of the seal of a session."""

_OF_HEAD = (turns.c.checkpoint_id, turns.c.flags)
HEAD = _with_state(
    (sessions, *_OF_HEAD),
    sessions.outerjoin(turns, _is_head_of(sessions)),
    _with_head(sessions),
    SESSION,
)

ALL_TURNS: Row = {"low": -1, "high": 2**31 - 1}
"""The span of a whole session."""
TURN = _with_state(
    (turns,),
    turns,
    _with_states((turns,), turns, turns),
    TURNS.mine,
    turns.c.version == bindparam("number"),
)
_OVER = (_LIVE, sessions.c.expires_at < bindparam("now"))
EXPIRED = Sql.of(
    first(
        select(sessions.c.session_id, sessions.c.version)
        .where(of_tenant(sessions), *_OVER, sessions.c.journey_id == bindparam("journey"))
        .order_by(sessions.c.expires_at)
    )
)
_named = union_all(
    select(literal_column(f"'{TENANT}'").label("name")), select(tenants.c.name)
).subquery("named")
_IS_OF_NAMED = (sessions.c.tenant == _named.c.name, sessions.c.journey_id == bindparam("journey"))
# With OFFSET, Postgres looks into the index for each tenant, and does not read all sessions.
_one_over = select(sessions.c.session_id).where(*_IS_OF_NAMED, *_OVER).limit(_ONE).offset(_AT_ONCE)
TENANTS_OVER = Sql.of(
    select(_named.c.name.label("tenant")).where(exists(_one_over.correlate(_named))),
    all_tenants=True,
)
"""Find the tenants with expired sessions of a journey."""
_LISTED = (
    *("session_id", "journey_id", "journey_version", "pathway_id", "version"),
    *("created_at", "updated_at"),
)


_BEGINNING: ColumnElement[int] = literal_column("200")


def last_message(session_id: ColumnElement[str]) -> ColumnElement[str]:
    """Return the beginning of the last message of a session's user; null: there is none.

    A message that gave the value of a sensitive field is skipped. It may be sealed.

    Args:
        session_id: The column with the session, of the row that it is read with.
    """
    gave = (field_attempts.c.session_id == turns.c.session_id) & (
        field_attempts.c.turn == turns.c.version
    )
    hidden = exists().where(of_tenant(field_attempts), gave, field_attempts.c.raw.is_(None))
    return (
        select(func.substr(turns.c.message, literal_column("1"), _BEGINNING))
        .where(of_tenant(turns), turns.c.session_id == session_id)
        .where(turns.c.message != literal_column("''"), ~hidden.correlate(turns))
        .order_by(turns.c.version.desc())
        .limit(_ONE)
        .offset(_AT_ONCE)
        .scalar_subquery()
        .label("last_message")
    )


_TEXT = bindparam("text", type_=String)
_ESCAPE = "|"


def containing(text: str) -> str:
    """Return the pattern `text` of a page; without a text, it finds every session at no cost."""
    escaped = re.sub("[|%_]", r"|\g<0>", text)
    return f"%{escaped}%" if text else "%"


def _said() -> ColumnElement[bool]:
    """Return whether the id or a message of a session fits the pattern; not those sealed."""
    sealed: ColumnElement[str] = literal_column(f"'{MARK}%'")
    words = [
        one.ilike(_TEXT, escape=_ESCAPE) & ~one.like(sealed)
        for one in (turns.c.message, turns.c.reply)
    ]
    of_turns = exists().where(
        of_tenant(turns), turns.c.session_id == sessions.c.session_id, words[0] | words[1]
    )
    return (
        (literal_column("'%'") == _TEXT)
        | sessions.c.session_id.ilike(_TEXT, escape=_ESCAPE)
        | of_turns.correlate(sessions)
    )


def _page(status: Any, *where: Any, journey: ColumnElement[Any] = sessions.c.journey_id) -> Sql:
    """Return one journey's sessions from a place on, newest activity first."""
    return Sql.of(
        first(
            select(
                *(sessions.c[name] for name in _LISTED),
                status.label("status"),
                last_message(sessions.c.session_id),
            )
            .where(of_tenant(sessions), journey == bindparam("journey"), *where)
            # The first of them bounds the index that is walked, the second parts those of one time.
            .where(sessions.c.updated_at <= bindparam("before"))
            .where(
                (sessions.c.updated_at < bindparam("before"))
                | (
                    (sessions.c.updated_at == bindparam("tie"))
                    & (sessions.c.session_id > bindparam("above"))
                )
            )
            .where(_said())
            .order_by(sessions.c.updated_at.desc(), sessions.c.session_id)
        )
    )


_IN_TIME = sessions.c.expires_at >= bindparam("now")
_OF_STATUS = sessions.c.status == bindparam("status")
_MARKED = sessions.c.status == _EXPIRED
_NOT_MARKED = (
    sessions.c.status.in_(
        [literal_column(f"'{name}'") for name in ("active", "complete", "closed")]
    ),
    sessions.c.expires_at < bindparam("now"),
)
# Few, and found by the index of times: that of journeys would be walked to its end.
_BY_TIME = func.coalesce(sessions.c.journey_id, literal_column("''"))
PAGE = _page(sessions.c.status, _LIVE, _IN_TIME)
PAGE_OF = _page(sessions.c.status, _OF_STATUS, _IN_TIME)
PAGE_MARKED = _page(sessions.c.status, _MARKED)
PAGE_OVER = _page(_EXPIRED, *_NOT_MARKED, journey=_BY_TIME)
_THERE = sessions.c.pathway_id == bindparam("pathway")
PAGE_AT = _page(sessions.c.status, _LIVE, _IN_TIME, _THERE)
PAGE_AT_OF = _page(sessions.c.status, _LIVE, _OF_STATUS, _IN_TIME, _THERE)
PAGE_AT_MARKED = _page(sessions.c.status, _MARKED, _THERE)
PAGE_AT_OVER = _page(_EXPIRED, *_NOT_MARKED, _THERE, journey=_BY_TIME)
# Without its data key, no row of the session can be read any more, also none in a backup.
MARK_EXPIRED = Sql.of(
    update(sessions).where(SESSION, *_OVER).values(status=_EXPIRED, data_key=null(), key_id=null())
)
FORGET_SESSION = Sql.of(delete(sessions).where(SESSION))
FORGET_RECORDS = [
    TableMapper(owned).forget for owned in reversed(metadata.tables.values()) if owned.foreign_keys
]
"""Remove all that belongs to a session, in the reverse order of the tables."""


def _as_tenant(read: Any) -> Any:
    """Return a statement that names its tenant to the database, and then reads.

    A row that is read depends on the name, so that no table is touched before.
    """
    name = func.set_config(literal_column(f"'{TENANT_SETTING}'"), bindparam("tenant"), true())
    named = select(name.label("tenant")).offset(_AT_ONCE).subquery("named")
    rows = read.where(named.c.tenant.is_not(None)).offset(_AT_ONCE).lateral("rows")
    return select(literal_column("rows.*")).select_from(named.join(rows, true()))


# A lease is on the database's clock: the clocks of two machines need not agree.
_NOW: ColumnElement[Any] = func.clock_timestamp()
_LATER = _NOW + bindparam("seconds", type_=Float()) * literal_column("interval '1 second'")
_NEXT_FENCE = sessions.c.fence + literal_column("1")
_FREE = sessions.c.lease_until.is_(None) | (sessions.c.lease_until < _NOW)
_MINE = (SESSION, sessions.c.fence == bindparam("held"))

_GIVES_UP: ColumnElement[int] = bindparam("gives_up", type_=Integer())

RUNNING = TableMapper(running_turns)
_RUNS = (RUNNING.mine,)
_OF_FENCE = running_turns.c.fence == bindparam("held")
# The lease was given, and the answer was lost: the same request takes it again.
_IS_LOST = exists().where(*_RUNS, running_turns.c.asked == bindparam("asked"))

# A sensitive session is given only to a request that has sealed its message with the key of it.
_GIVEN_KEY = bindparam("data_key", type_=Text())
_HAS_KEY = _GIVEN_KEY.is_(None) | (
    func.coalesce(sessions.c.data_key, literal_column("''")) == _GIVEN_KEY
)
_taken = (
    update(sessions)
    .where(SESSION, _FREE | _IS_LOST, _HAS_KEY)
    .values(fence=_NEXT_FENCE, lease_until=_LATER)
    .returning(*sessions.c)
    .cte("taken")
)
DIED = "died"
"""Key of the fence of a turn whose process died, in the row of a session whose lease is taken."""
# Kept only where this store seals as the journey asks for.
_kept = (
    postgres.insert(running_turns)
    .from_select(
        ["tenant", "session_id", "fence", "version", "asked", "message", "tries"],
        select(
            _taken.c.tenant,
            _taken.c.session_id,
            _taken.c.fence,
            _taken.c.version,
            bindparam("asked", type_=String()),
            bindparam("kept", type_=Text()),
            literal_column("0"),
        ).where(
            bindparam("kept", type_=Text()).is_not(None),
            _taken.c.journey_id == any_(bindparam("journeys", type_=postgres.ARRAY(Text()))),
        ),
    )
    .on_conflict_do_nothing()
    .cte("kept_message")
)
_died = by_key(
    "died",
    (
        running_turns.c.fence.label(DIED),
        running_turns.c.version.label("died_version"),
        running_turns.c.asked.label("died_asked"),
        running_turns.c.tries.label("died_tries"),
    ),
    running_turns.c.tenant == _taken.c.tenant,
    running_turns.c.session_id == _taken.c.session_id,
)
_leased = _with_head(_taken, _died)
LEASE = _on_postgres(_leased.add_cte(_kept))
"""Take a lease, and keep the message of its turn; with it comes that of a turn that died."""
LEASE_AS_TENANT = replace(_on_postgres(_as_tenant(_leased).add_cte(_kept)), names_tenant=True)
"""The same for a tenant that is not `default`."""
# A renewal that comes late must not take up again what the commit has ended.
RENEW = _on_postgres(
    update(sessions)
    .where(*_MINE, sessions.c.lease_until.is_not(None))
    .values(lease_until=_LATER)
    .returning((sessions.c.unwanted_fence == sessions.c.fence).label("is_unwanted"))
)
# A commit that is still on its way when its turn is given up has its fence taken away.
RELEASE = _on_postgres(
    update(sessions)
    .where(*_MINE)
    .values(fence=_NEXT_FENCE, lease_until=null())
    .add_cte(delete(running_turns).where(*_RUNS, _OF_FENCE).cte("given_up"))
)
INTERRUPT = _on_postgres(
    update(sessions)
    .where(SESSION, sessions.c.lease_until >= _NOW)
    .where(sessions.c.fence == func.coalesce(_GIVES_UP, sessions.c.fence))
    .values(unwanted_fence=sessions.c.fence)
)
"""Ask the process that holds the lease to give up its turn."""
ADOPT = _on_postgres(update(running_turns).where(*_RUNS).values(fence=bindparam("new_fence")))
"""Bind the kept message of a lost lease to the one that its request has taken again."""
RUNNING_TURN = Sql.of(select(running_turns.c.version).where(*_RUNS))
"""Find the turn of a session that a process of this database runs."""
FORGET_RUNNING = _on_postgres(delete(running_turns).where(*_RUNS))
FORGET_DIED = _on_postgres(delete(running_turns).where(*_RUNS, _OF_FENCE))
TRY_DIED = _on_postgres(
    update(running_turns)
    .where(*_RUNS, _OF_FENCE)
    .values(tries=running_turns.c.tries + literal_column("1"))
)
UNFINISHED = _on_postgres(
    first(
        select(sessions.c.tenant, sessions.c.session_id, sessions.c.journey_id)
        .join_from(
            running_turns,
            sessions,
            and_(*(running_turns.c[n] == sessions.c[n] for n in ("tenant", "session_id"))),
        )
        .where(_FREE)
    ),
    all_tenants=True,
)
"""Find sessions with a turn whose process died."""


def _counted(what: str, of: Any, *conditions: ColumnElement[bool]) -> Any:
    """Return the statement that counts `most` rows of a table by their journey."""
    found = first(select(of.c.journey_id).where(*conditions)).subquery()
    number = func.count().label("number")
    return select(literal_column(f"'{what}'").label("what"), found.c.journey_id, number).group_by(
        found.c.journey_id
    )


OPEN = Sql.of(
    union_all(
        _counted(
            "session",
            sessions,
            sessions.c.status == literal_column("'active'"),
            sessions.c.expires_at >= bindparam("now"),
        ),
        _counted("escalation", escalations, escalations.c.status == literal_column("'open'")),
        _counted("timer", timers, timers.c.due_at <= bindparam("now")),
    ),
    all_tenants=True,
)
"""Count open sessions, calls for a person that are not taken, and due timers, by journey."""
# A rollback may go back to a version that is pruned by the same commit; on Postgres the row that
# points to it is not seen here yet.
PRUNE = Sql.of(
    delete(_checkpoints).where(
        _checkpoints.c.thread_id == _THREAD,
        _checkpoints.c.checkpoint_id != bindparam("head"),
        _checkpoints.c.checkpoint_id.not_in(
            select(turns.c.checkpoint_id).where(TURNS.mine, turns.c.version > bindparam("oldest"))
        ),
    )
)
_NAMED_BY = (
    "(SELECT v.key, v.value FROM checkpoints, "
    "json_each(CAST(metadata AS TEXT), '$.__values') AS v WHERE thread_id = :thread)",
    "(SELECT key, value FROM checkpoints, "
    "jsonb_each_text(checkpoint -> 'channel_versions') WHERE thread_id = :thread)",
)
_prune_on_sqlite, _prune_on_postgres = (
    delete(_blobs).where(
        _blobs.c.thread_id == _THREAD,
        tuple_(_blobs.c.channel, _blobs.c.version).not_in(text(named)),
    )
    for named in _NAMED_BY
)
PRUNE_BLOBS = Sql(Sql.of(_prune_on_sqlite).sqlite, _on_postgres(_prune_on_postgres).postgres)
_TURN_IS = ("tenant", "session_id", "version", "checkpoint_id", "at")
_AUDIT_IS = ("tenant", "session_id", "turn", "kind", "at")
SAVE_VALUE = Sql(
    "INSERT OR IGNORE INTO checkpoint_blobs (thread_id, checkpoint_ns, channel, version, type, "
    "blob) VALUES (:thread, :namespace, :channel, :version, :type, :blob)",
    "INSERT INTO checkpoint_blobs (thread_id, checkpoint_ns, channel, version, type, blob) VALUES "
    "(%(thread)s, %(namespace)s, %(channel)s, %(version)s, %(type)s, %(blob)s) "
    "ON CONFLICT (thread_id, checkpoint_ns, channel, version) DO NOTHING",
)
SAVE_CHECKPOINT = Sql(
    "INSERT OR REPLACE INTO checkpoints (thread_id, checkpoint_ns, checkpoint_id, "
    "parent_checkpoint_id, type, checkpoint, metadata) VALUES "
    "(:thread, :namespace, :id, :parent, :type, :checkpoint, :metadata)",
    "INSERT INTO checkpoints (thread_id, checkpoint_ns, checkpoint_id, parent_checkpoint_id, "
    "checkpoint, metadata) VALUES "
    "(%(thread)s, %(namespace)s, %(id)s, %(parent)s, %(checkpoint)s, %(metadata)s) "
    "ON CONFLICT (thread_id, checkpoint_ns, checkpoint_id) "
    "DO UPDATE SET checkpoint = EXCLUDED.checkpoint, metadata = EXCLUDED.metadata",
)
FORGET_STATE = (
    Sql.of(delete(_checkpoints).where(_checkpoints.c.thread_id == _THREAD)),
    Sql.of(delete(_blobs).where(_blobs.c.thread_id == _THREAD)),
    Sql(
        "DELETE FROM writes WHERE thread_id = :thread",
        "DELETE FROM checkpoint_writes WHERE thread_id = %(thread)s",
    ),
)
# Whether a transaction counted whose acknowledgement was lost: the row that it added is there.
ADDED = {
    TURNS.add: _on_postgres(
        select(turns.c.version).where(*(turns.c[name] == bindparam(name) for name in _TURN_IS))
    ),
    AUDIT.add: _on_postgres(
        select(audit.c.id).where(*(audit.c[name] == bindparam(name) for name in _AUDIT_IS))
    ),
}


def joined(written: list[Statement], tenant: str) -> tuple[str, list[Any]]:
    """Return all statements as one for Postgres, with its parameters.

    All see the database as it was before, and take effect together or not at all. Each runs when
    its changes are counted, so in the given order, after the tenant is named to the database. A
    statement that should change exactly one row and changes none divides by zero, and so fails the
    whole.

    Args:
        written: The statements.
        tenant: The tenant whose rows they are about.
    """
    parts = [(statement, row) for statement in written for row in statement.rows]
    is_named = tenant != TENANT
    kinds = tuple((part.sql.postgres, part.exactly_one) for part, _ in parts)
    query, names = _joined(kinds, is_named)
    values = [row[name] for (_, row), used in zip(parts, names, strict=True) for name in used]
    return query, [*values, tenant] if is_named else values


@lru_cache(maxsize=256)
def _joined(
    parts: tuple[tuple[str | None, bool], ...], is_named: bool
) -> tuple[str, list[list[str]]]:
    """Return the text, with numbered parameters, and the names of those of each part.

    Args:
        parts: The text of each part, and whether it should change exactly one row.
        is_named: True if the last parameter is the name of a tenant, which no connection has.
    """
    made: list[str] = []
    counts: list[str] = []
    names: list[list[str]] = []
    numbers = count(1)
    for number, (query, exactly_one) in enumerate(parts):
        assert query
        changed = f"(SELECT count(*) FROM part_{number})"
        counts.append(f"1 / {changed}" if exactly_one else changed)
        names.append(_NAMED.findall(query))
        numbered = _NAMED.sub(lambda _: f"${next(numbers)}", query)
        made.append(f"part_{number} AS ({numbered} RETURNING 1)")
    if is_named:
        counts.insert(0, f"set_config('{TENANT_SETTING}', ${next(numbers)}, true)")
    return f"WITH {', '.join(made)} SELECT {', '.join(counts)}", names
