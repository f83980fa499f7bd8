"""Timers: one row per session with the next time at which its silence has an effect.

The row is written with the turn, so a new message moves its time in the same transaction. Any
process takes it as a turn when it is due; the commit of that turn moves it on, so each timer is
taken once.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import timedelta

from sqlalchemy import (
    Integer,
    bindparam,
    delete,
    exists,
    func,
    insert,
    literal_column,
    select,
    update,
)

from journeygraph.graphs.storage.statements import Row, Sql, Statement, TableMapper, first, now
from journeygraph.graphs.storage.store import Store
from journeygraph.graphs.storage.tables import sessions, timers
from journeygraph.journeys import JourneySpec
from journeygraph.journeys.spec.capability_table import part
from journeygraph.nodes.json_data import stamp
from journeygraph.nodes.state.escalation import takeover_of
from journeygraph.nodes.state.session import Position, Timer, Turn

NEVER = "9999"
"""Time of a timer that is not due before the next message."""
FIRST_PAUSE, LONGEST_PAUSE = 15.0, 3_600.0
"""Seconds until a timer whose turn failed is tried again; they double with every try."""
_OUTSIDE = ("event", "timer")
"""Kinds of turns that do not end a silence."""
TIMERS = TableMapper(timers)
_NAMES = [str(one.name) for one in timers.c]
_SET = Sql.of(
    insert(timers).inline().values({name: bindparam(name) for name in _NAMES})
).followed_by(
    "ON CONFLICT (tenant, session_id) DO UPDATE SET "
    + ", ".join(f"{name} = excluded.{name}" for name in _NAMES[2:])
)
_DROP = Sql.of(delete(timers).where(TIMERS.mine))
_OF_SESSION = Sql.of(select(timers).where(TIMERS.mine))
_FREE = func.coalesce(timers.c.retry_at, literal_column("''")) <= bindparam("now")
_IS_DUE = timers.c.due_at <= bindparam("now")
# On Postgres, a lease that is over and was not given back is that of a process that died. Only the
# first try is followed so soon: a timer that ends each process must not end all of them.
_IS_LEFT = (timers.c.tries == literal_column("1")) & exists().where(
    sessions.c.tenant == timers.c.tenant,
    sessions.c.session_id == timers.c.session_id,
    sessions.c.lease_until < func.now(),
)
_DUE = Sql.of(
    first(
        select(timers.c.tenant, timers.c.session_id, timers.c.tries)
        .where(timers.c.journey_id == bindparam("journey"), _IS_DUE, _FREE | _IS_LEFT)
        .order_by(timers.c.due_at)
    ),
    all_tenants=True,
)
_CLAIM = Sql.of(
    update(timers)
    .where(TIMERS.mine, timers.c.tries == bindparam("tried", type_=Integer), _IS_DUE)
    .values(tries=bindparam("tries_now", type_=Integer), retry_at=bindparam("next_at"))
)


class NothingDueError(Exception):
    """A session has no timer that is due."""


def after_turn(
    session_id: str, spec: JourneySpec, position: Position, turn: Turn, before: Row | None
) -> Statement:
    """Return the statement that sets the timer of a session after a turn, or removes it.

    Without a timer are sessions that have ended, that a person has, or in which an agent waits for
    an answer.

    Args:
        session_id: The session.
        spec: Its journey.
        position: Its position after the turn.
        turn: The turn.
        before: Its row before an event or a timer; None for another turn, and if there was none.
    """
    is_silent = position["status"] == "active" and "waiting" not in turn
    if not is_silent or takeover_of(position):
        return dropped(session_id)
    since, moved = turn["at"], turn["at"]
    taken: list[str] = []
    if turn["kind"] in _OUTSIDE:
        is_moved = bool(turn["transition"] or turn["moved"])
        if before:
            since, taken = before["since"], json.loads(before["taken"])
            moved = turn["at"] if is_moved else before["moved"]
        elif not is_moved:  # no silence has begun, as after a rollback
            return dropped(session_id)
    if timer := turn.get("timer"):
        taken.append(timer["id"])
    due = part("silence").next_timer(spec, position, since, moved, taken)
    row: Row = {
        "session_id": session_id,
        "journey_id": spec.id,
        "timer": due.timer if due else "",
        "due_at": due.at if due else NEVER,
        "since": since,
        "moved": moved,
        "taken": json.dumps(taken),
        "tries": 0,
        "retry_at": None,
    }
    return Statement(_SET, [row])


def dropped(session_id: str) -> Statement:
    """Return the statement that removes the timer of a session."""
    return Statement(_DROP, [{"session": session_id}])


async def timer_of(store: Store, session_id: str) -> Row | None:
    """Return the row of a session; None if it has none.

    Raises:
        StateError: The store failed.
    """
    rows = await store.read(_OF_SESSION, session=session_id)
    return rows[0] if rows else None


def due_in(row: Mapping[str, str] | None) -> Timer:
    """Return the timer of a row.

    Raises:
        NothingDueError: There is none, or it is not due yet.
    """
    if row is None or row["due_at"] > stamp(now()):
        raise NothingDueError
    return Timer(id=row["timer"], since=row["since"])


async def due_sessions(store: Store, journey: str, most: int) -> list[Row]:
    """Return sessions of a journey, of all tenants, with a due timer and the number of its tries.

    The longest due come first; those that a process tries now, or that failed a moment ago, are
    left out.

    Raises:
        StateError: The store failed.
    """
    return await store.read(_DUE, journey=journey, now=stamp(now()), most=most)


async def claim(store: Store, row: Row) -> None:
    """Record a try of a timer, before its turn begins: no other process tries it for a time.

    Raises:
        WriteConflict: Another process was first, or the timer is not due any more.
        StateError: The store failed.
    """
    pause = min(FIRST_PAUSE * 2 ** min(row["tries"], 20), LONGEST_PAUSE)
    claimed: Row = {
        "session": row["session_id"],
        "tried": row["tries"],
        "tries_now": row["tries"] + 1,
        "now": stamp(now()),
        "next_at": stamp(now() + timedelta(seconds=pause)),
    }
    await store.write(Statement(_CLAIM, [claimed], exactly_one=True))
