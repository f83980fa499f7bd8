"""Export the data of a user: one record after the other, decrypted, in constant memory."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import Any

from sqlalchemy import String, bindparam, select

from journeygraph.graphs.records.listing import last_that_fits
from journeygraph.graphs.storage.sealing import Seals
from journeygraph.graphs.storage.statements import (
    ALL_TURNS,
    Row,
    Sql,
    TableMapper,
    first,
    now,
    of_tenant,
)
from journeygraph.graphs.storage.store import Store
from journeygraph.graphs.storage.tables import (
    answers,
    api_keys,
    audit,
    effects,
    escalations,
    field_attempts,
    metadata,
    running_turns,
    sessions,
    timers,
    turns,
    validation_audit,
)
from journeygraph.nodes.json_data import stamp

Record = dict[str, Any]
"""A record of the export; `type` says what it is."""
AT_ONCE = 20
"""Number of rows, and of sessions, that are in memory at once."""
MOST_TURNS = 100
"""Number of turns whose rows are read at once, up to 1 MB."""
_NAMES = {
    turns: "turn",
    audit: "audit",
    validation_audit: "check",
    field_attempts: "field_attempt",
    effects: "effect",
    answers: "answer",
    timers: "timer",
    running_turns: "running_turn",
    escalations: "escalation",
}
"""Types of the records of a session."""
_PARTS = [
    (_NAMES.get(table, table.name), TableMapper(table))
    for table in metadata.tables.values()
    if table.foreign_keys
]
_INTERNAL = frozenset(
    ("session_id", "digest", "checkpoint_id", "fence", "asked", "tenant", "data_key")
)
"""Columns without data of the user: hashes, and names of the store for its own use."""
_OF_SESSION = (
    *("journey_id", "journey_version", "status", "pathway_id", "version"),
    *("created_at", "updated_at", "expires_at"),
)
_OF_KEY = ("id", "name", "scopes", "session_id", "created_at", "expires_at", "revoked_at")
_USER = bindparam("user", type_=String)
_SESSIONS = Sql.of(
    first(
        select(sessions.c.session_id)
        .where(
            of_tenant(sessions),
            sessions.c.user_id == _USER,
            sessions.c.session_id > bindparam("after"),
        )
        .order_by(sessions.c.session_id)
    )
)
_KEYS = Sql.of(
    first(
        select(*(api_keys.c[name] for name in _OF_KEY))
        .where(of_tenant(api_keys), api_keys.c.user_id == _USER, api_keys.c.id > bindparam("after"))
        .order_by(api_keys.c.id)
    )
)


async def export_user(store: Store, seals: Seals, user: str) -> AsyncIterator[Record]:
    """Yield all that a store has of a user, as records of plain JSON.

    The first record is `export`, the last one `end`. Between them are, for each session: `session`,
    `state` (the context, fields and last messages; not of an expired session), then its `turn`,
    `audit`, `check`, `field_attempt`, `effect`, `answer`, `timer`, `running_turn` and `escalation`
    records; then each `key`, without its secret. All but the first and the last name their session.

    A turn that is taken meanwhile may be in it or not.

    Args:
        store: The store, for the tenant of the user.
        seals: The keys of the settings.
        user: The user.

    Raises:
        ConfigurationError: A session is encrypted, and no key is set.
        StateError: The store failed, the key of a session is not set, or a row was changed.
    """
    yield {"type": "export", "tenant": store.tenant, "user": user, "at": stamp(now())}
    of: Row = {"user": user, "most": AT_ONCE}
    counts, after = {"sessions": 0, "records": 0}, ""
    while rows := await store.read(_SESSIONS, after=after, **of):
        after = rows[-1]["session_id"]
        for row in rows:
            async for record in _session(store, seals, row["session_id"], user):
                counts["sessions"] += record["type"] == "session"
                counts["records"] += 1
                yield record
    after = ""
    while rows := await store.read(_KEYS, after=after, **of):
        after = rows[-1]["id"]
        for row in rows:
            counts["records"] += 1
            yield {"type": "key", **row}
    yield {"type": "end", **counts}


async def _session(store: Store, seals: Seals, session_id: str, user: str) -> AsyncIterator[Record]:
    """Yield the records of a session; nothing if it was deleted meanwhile."""
    head = await store.head(session_id)
    if head is None or head["user_id"] != user:
        return
    yield _record("session", session_id, {name: head[name] for name in _OF_SESSION})
    seal = seals.reader(head)
    if state := await store.saver.state_in(head, seal):
        yield _record("state", session_id, {"values": state.checkpoint["channel_values"]})
    for name, records in _PARTS:
        async for row in _rows(store, records, session_id):
            yield _record(name, session_id, _shown(records.opened(row, seal)))


async def _rows(store: Store, records: TableMapper, session_id: str) -> AsyncIterator[Row]:
    """Yield the rows of a session; of a table with turns, in the order of these."""
    mine: Row = {"session": session_id}
    if records.has_turns:
        span = {**ALL_TURNS}
        while (turn := await _next_turn(store, records, session_id, span)) is not None:
            # Of a span without an end, the sizes of all rows would be added up each time.
            some = {"low": turn - 1, "high": turn - 1 + MOST_TURNS}
            some["high"] = await last_that_fits(store, session_id, some, records.fitting)
            for row in await store.read(records.of_turns, **mine, **some):
                yield row
            span["low"] = some["high"]
        return
    after = ""
    while rows := await store.read(records.page, **mine, after=after, most=AT_ONCE):
        for row in rows:
            yield row
        after = rows[-1][records.last_key]


async def _next_turn(store: Store, records: TableMapper, session_id: str, span: Row) -> int | None:
    [row] = await store.read(records.next_turn, session=session_id, **span)
    found: int | None = row["turn"]
    return found


def _shown(row: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name not in _INTERNAL}


def _record(type_: str, session_id: str, data: Mapping[str, Any]) -> Record:
    return {"type": type_, "session_id": session_id, **data}
