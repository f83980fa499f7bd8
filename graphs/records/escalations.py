"""Escalations: written in the transaction of their turn, read by operators."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import (
    BigInteger,
    Integer,
    String,
    bindparam,
    exists,
    func,
    literal_column,
    select,
    union_all,
    update,
)

from journeygraph.graphs.records.history import ATTEMPTS, transcript_of, version_info
from journeygraph.graphs.records.listing import END_OF_TIME
from journeygraph.graphs.storage.errors import DamagedError
from journeygraph.graphs.storage.sealing import Seal, Seals
from journeygraph.graphs.storage.statements import (
    TURNS,
    Row,
    Sql,
    Statement,
    TableMapper,
    first,
    in_span,
    last_message,
    now,
    of_tenant,
)
from journeygraph.graphs.storage.store import Store
from journeygraph.graphs.storage.tables import escalations, field_attempts, sessions, turns
from journeygraph.journeys import EscalationCase, EscalationEntry, TranscriptEntry
from journeygraph.nodes.json_data import stamp
from journeygraph.nodes.state.dialogue_state import EscalationChange, Takeover
from journeygraph.nodes.state.session import Turn

MOST_ENTRIES = 200
"""Maximum number of transcript entries in a payload; the last ones are used."""
MOST_CHARACTERS = 256 * 1024
"""Maximum number of characters of these entries."""
HIDDEN = "[hidden]"
"""Replaces a message of the user that contains a sensitive value."""
_HELD = ("open", "claimed")
_SHOWN = tuple(EscalationEntry.__dataclass_fields__)

CALLS = TableMapper(escalations)
_ONE = of_tenant(escalations) & (escalations.c.id == bindparam("id_is"))
_WAITING = escalations.c.status.in_([literal_column("'open'"), literal_column("'claimed'")])
_UNDELIVERED = escalations.c.delivered_at.is_(None)
_WITHOUT_PAYLOAD = [column for column in escalations.c if column.name != "payload"]
_OF_LIVE = (
    sessions.c.tenant == escalations.c.tenant,
    sessions.c.session_id == escalations.c.session_id,
    sessions.c.status != literal_column("'expired'"),
    sessions.c.expires_at >= bindparam("now"),
)
_IN_FORCE = exists().where(*_OF_LIVE)


def _page(*where: Any) -> tuple[Sql, Sql]:
    """Return the statements for a page, newest first: of one status, and of the waiting ones."""
    asked = _of_status(escalations.c.status == bindparam("status_is"), *where)
    waiting = [
        _of_status(escalations.c.status == literal_column(f"'{name}'"), *where) for name in _HELD
    ]
    both = union_all(*(select(one.subquery()) for one in waiting)).subquery()
    return Sql.of(asked), Sql.of(first(select(both).order_by(both.c.number.desc())))


def _of_status(*where: Any) -> Any:
    """Return the statement that reads the newest escalations of one status, as an index has them.

    With OFFSET, Postgres looks for the session of each, and does not read all sessions first.
    """
    lives = select(sessions.c.session_id).where(*_OF_LIVE)
    lives = lives.limit(literal_column("1")).offset(literal_column("0"))
    return first(
        select(*_WITHOUT_PAYLOAD, last_message(escalations.c.session_id))
        .where(of_tenant(escalations), *where, exists(lives.correlate(escalations)))
        .where(escalations.c.number < bindparam("before", type_=BigInteger))
        .order_by(escalations.c.number.desc())
    )


CHANGE = Sql.of(
    update(escalations)
    .where(_ONE, CALLS.mine)
    .values(
        status=bindparam("new_status"),
        claimed_by=bindparam("new_claimed_by", type_=String),
        updated_at=bindparam("now"),
    )
)
# What a rollback leaves without a person.
RELEASE_OTHERS = Sql.of(
    update(escalations)
    .where(CALLS.mine, _WAITING, escalations.c.id != bindparam("id_is"))
    .values(status=literal_column("'released'"), updated_at=bindparam("now"))
)
OF_SESSION = Sql.of(
    select(*_WITHOUT_PAYLOAD)
    .where(CALLS.mine, in_span(escalations.c.turn))
    .order_by(escalations.c.number)
)
OF_JOURNEY, WAITING_OF_JOURNEY = _page(escalations.c.journey_id == bindparam("journey"))
OF_ALL, WAITING_OF_ALL = _page()
ONE = Sql.of(select(escalations, sessions.c.data_key, sessions.c.key_id).where(_ONE, *_OF_LIVE))
_TO_SEND = (
    _WAITING,
    _UNDELIVERED,
    _IN_FORCE,
    escalations.c.tries < bindparam("most_tries", type_=Integer),
)
NEXT_DUE = Sql.of(
    select(func.min(escalations.c.next_try_at).label("at")).where(*_TO_SEND), all_tenants=True
)
DUE = Sql.of(
    first(
        select(*_WITHOUT_PAYLOAD)
        .where(
            *_TO_SEND,
            escalations.c.next_try_at <= bindparam("until"),
            escalations.c.number > bindparam("after", type_=BigInteger),
        )
        .order_by(escalations.c.number)
    ),
    all_tenants=True,
)
# Whoever counts the try first makes it; others leave it alone until the next one is due.
TRY = Sql.of(
    update(escalations)
    .where(_ONE, _UNDELIVERED, escalations.c.tries == bindparam("tried", type_=Integer))
    .values(tries=bindparam("tries_now", type_=Integer), next_try_at=bindparam("next_at"))
)
DELIVERED = Sql.of(update(escalations).where(_ONE).values(delivered_at=bindparam("now")))


def _newest(*where: Any) -> Sql:
    """Return the newest of the given rows of a session's ledger."""
    return Sql.of(first(select(turns).where(TURNS.mine, *where).order_by(turns.c.version.desc())))


SAID_UNTIL = _newest(turns.c.version <= bindparam("turn_is"))
SAID_SINCE = _newest(
    turns.c.version > bindparam("turn_is"), turns.c.begun_at <= bindparam("ended_at")
)
TOLD_IN = Sql.of(
    select(field_attempts.c.turn)
    .where(ATTEMPTS.mine, field_attempts.c.field == bindparam("field_is"))
    .distinct()
)


def written(session_id: str, journey_id: str, turn: Turn, at: str, seal: Seal) -> list[Statement]:
    """Return the statements for the escalations that a turn changes."""
    changes = turn.get("escalations", ())
    opened = [_row(session_id, journey_id, turn, at, c) for c in changes if c["payload"]]
    others: list[Row] = [
        {
            "id_is": change["id"],
            "session": session_id,
            "new_status": change["status"],
            "new_claimed_by": change["by"],
            "now": at,
        }
        for change in changes
        if not change["payload"]
    ]
    statements = [CALLS.adding(opened, seal)] if opened else []
    return [*statements, Statement(CHANGE, others)] if others else statements


def _row(session_id: str, journey_id: str, turn: Turn, at: str, opened: EscalationChange) -> Row:
    payload: Mapping[str, Any] = opened["payload"] or {}
    waits = payload["metadata"]["unclaimed_seconds"]
    return {
        "id": opened["id"],
        "session_id": session_id,
        "journey_id": journey_id,
        "turn": turn["number"],
        "reason": opened["reason"],
        "status": opened["status"],
        "claimed_by": opened["by"],
        "payload": payload,
        "at": at,
        "updated_at": at,
        "unclaimed_at": stamp(datetime.fromisoformat(at) + timedelta(seconds=waits)),
        "tries": 0,
        "next_try_at": at,
    }


def rolled_back(session_id: str, takeover: Takeover | None, at: str) -> list[Statement]:
    """Return the statements that adapt the rows to the state after a rollback."""
    of: Row = {"session": session_id, "now": at, "id_is": takeover["id"] if takeover else ""}
    statements = [Statement(RELEASE_OTHERS, [of])]
    if takeover:
        by = takeover["by"]
        again = {**of, "new_status": "claimed" if by else "open", "new_claimed_by": by}
        statements.append(Statement(CHANGE, [again]))
    return statements


def entry(row: Row) -> EscalationEntry:
    """Return the public record of a row."""
    return EscalationEntry(**{name: row[name] for name in _SHOWN})


def changed(before: EscalationEntry, turn: Turn) -> EscalationEntry:
    """Return an escalation after a turn."""
    for change in turn.get("escalations", ()):
        if change["id"] == before.id:
            status, by = change["status"], change["by"]
            before = replace(before, status=status, claimed_by=by, updated_at=turn["at"])
    return before


async def read_entry(store: Store, id_: str) -> EscalationEntry:
    """Return the escalation of a live session.

    Raises:
        DamagedError: Its row was removed.
        StateError: The store failed.
    """
    rows = await store.read(ONE, id_is=id_, now=stamp(now()))
    if not rows:
        raise DamagedError(f"The escalation '{id_}' is not in the store: its row was removed.")
    return entry(rows[0])


async def read_case(store: Store, id_: str, seals: Seals) -> EscalationCase | None:
    """Return one escalation with its payload; None if there is none with this id.

    Raises:
        ConfigurationError: Its journey is sensitive, and no key is set.
        StateError: The store failed, or the key of the session is not set.
    """
    rows = await store.read(ONE, id_is=id_, now=stamp(now()))
    if not rows:
        return None
    [row] = rows
    found, seal = entry(row), seals.reader(row)
    payload = CALLS.value(row, "payload", seal)
    hidden = await _told_in(store, found.session_id, payload)
    ended = END_OF_TIME if found.status in _HELD else found.updated_at
    until = await _said(store, SAID_UNTIL, found, seal, hidden)
    since = await _said(store, SAID_SINCE, found, seal, hidden, ended)
    return EscalationCase(found, payload, until, since)


async def _told_in(store: Store, session: str, payload: Mapping[str, Any]) -> frozenset[int]:
    """Return the turns in which the user gave sensitive values."""
    told: set[int] = set()
    for field in payload["fields"]:
        if field["sensitive"]:
            rows = await store.read(TOLD_IN, session=session, field_is=field["name"])
            told |= {row["turn"] for row in rows}
            told |= {attempt["turn"] for attempt in field["attempts"]}
    return frozenset(told)


async def _said(
    store: Store,
    query: Sql,
    found: EscalationEntry,
    seal: Seal,
    hidden: frozenset[int],
    ended_at: str = END_OF_TIME,
) -> list[TranscriptEntry]:
    turn: Row = {"session": found.session_id, "turn_is": found.turn, "ended_at": ended_at}
    rows = await store.read(query, **turn, most=MOST_ENTRIES)
    versions = [version_info(row, seal, None) for row in reversed(rows)]
    entries = [
        replace(said, content=HIDDEN) if said.role == "user" and said.turn in hidden else said
        for said in transcript_of(versions)
        if said.timestamp <= ended_at
    ]
    return _last(entries)


def _last(entries: Sequence[TranscriptEntry]) -> list[TranscriptEntry]:
    """Return the last entries within the limits of a payload."""
    kept: list[TranscriptEntry] = []
    left = MOST_CHARACTERS
    for said in reversed(entries[-MOST_ENTRIES:]):
        left -= len(said.content)
        if left < 0:
            break
        kept.insert(0, said)
    return kept
