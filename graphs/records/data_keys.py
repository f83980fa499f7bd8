"""Data keys of sensitive sessions: the keys they need, and a new key for all of them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from sqlalchemy import ColumnElement, bindparam, func, literal_column, select, tuple_, update

from journeygraph.graphs.records.effects import EFFECTS
from journeygraph.graphs.records.escalations import CALLS
from journeygraph.graphs.records.history import ATTEMPTS, CHECKS
from journeygraph.graphs.records.idempotency import ANSWERS
from journeygraph.graphs.storage.errors import WriteConflict
from journeygraph.graphs.storage.sealing import UNNAMED, AesSeal, Seals
from journeygraph.graphs.storage.statements import (
    RUNNING,
    SESSION,
    TURNS,
    UNCHANGED_SINCE_READ,
    Row,
    Sql,
    Statement,
    TableMapper,
    first,
)
from journeygraph.graphs.storage.store import Store
from journeygraph.graphs.storage.tables import audit, sessions, turns
from journeygraph.journeys import StateError

PAGE = 500
"""Number of data keys that are written in one transaction."""
SAMPLES = 20
"""Maximum number of sessions with which a key is tested."""
MOST_FAULTS = 5
"""Maximum number of reasons that a rotation returns."""
_AUDIT = TableMapper(audit)
_RECORDS = (TURNS, _AUDIT, CHECKS, ATTEMPTS, EFFECTS, ANSWERS, CALLS, RUNNING)
_SEALED = ("tenant", "session_id", "journey_id", "data_key", "key_id")
_columns = [sessions.c[name] for name in _SEALED]
_ENCRYPTED = sessions.c.key_id.is_not(None)
_KEY_AND_JOURNEY = tuple_(sessions.c.journey_id, sessions.c.key_id)
# One query for each journey and key, by the index, however many sessions have them.
NEXT = Sql.of(
    first(
        select(*_columns)
        .where(_ENCRYPTED, tuple_(bindparam("journey"), bindparam("key")) < _KEY_AND_JOURNEY)
        .order_by(sessions.c.journey_id, sessions.c.key_id)
    ),
    all_tenants=True,
)
COUNTS = Sql.of(
    select(sessions.c.key_id, func.count().label("sessions"))
    .where(_ENCRYPTED)
    .group_by(sessions.c.key_id)
    .order_by(sessions.c.key_id),
    all_tenants=True,
)
OF_KEY = Sql.of(
    first(
        select(*_columns)
        .where(
            _ENCRYPTED,
            sessions.c.journey_id == bindparam("journey"),
            sessions.c.key_id == bindparam("key"),
            tuple_(bindparam("after"), bindparam("after_of"))
            < tuple_(sessions.c.session_id, sessions.c.tenant),
        )
        .order_by(sessions.c.session_id, sessions.c.tenant)
    ),
    all_tenants=True,
)
FROM_START: Row = {"after": "", "after_of": ""}
# A session that was deleted and started again, or that another process did first, is left out.
WRAP_AGAIN = Sql.of(
    update(sessions)
    .where(SESSION, sessions.c.key_id == bindparam("was"), sessions.c.data_key == bindparam("held"))
    .values(data_key=bindparam("new_data_key"), key_id=bindparam("new_key_id"))
)
_UNMARKED = sessions.c.key_id.is_(None) | (sessions.c.key_id == literal_column("''"))
GIVE_KEY = Sql.of(
    update(sessions)
    .where(*UNCHANGED_SINCE_READ, _UNMARKED)
    .values(data_key=bindparam("new_data_key"), key_id=bindparam("new_key_id"))
)
# Sessions that an older release began after the columns were added.
_OF_OLDER_RELEASE: ColumnElement[bool] = (
    select(turns.c.version)
    .where(
        turns.c.tenant == sessions.c.tenant,
        turns.c.session_id == sessions.c.session_id,
        turns.c.version == sessions.c.version,
        func.substr(turns.c.operations, literal_column("1"), literal_column("10"))
        == literal_column("'aes256gcm:'"),
    )
    .exists()
)
MARK = Sql.of(
    update(sessions)
    .where(sessions.c.key_id.is_(None), _OF_OLDER_RELEASE)
    .values(key_id=literal_column("''")),
    all_tenants=True,
)


class KeyState(StrEnum):
    """State of a key that stored sessions need.

    Attributes:
        FIRST: It is the first key, which is for new sessions.
        SET: It is another key of the settings.
        MISSING: It is not set.
        WRONG: Another key has its id.
    """

    FIRST = "first"
    SET = "set"
    MISSING = "missing"
    WRONG = "wrong"


@dataclass(frozen=True, slots=True)
class KeyUse:
    """A key that stored sessions of a journey need.

    Attributes:
        journey_id: The journey.
        key_id: Id of the key; empty: rows are encrypted with a key of the settings itself, as in
            older releases.
        state: Its state among the keys of the settings.
    """

    journey_id: str
    key_id: str
    state: KeyState

    @property
    def fault(self) -> str:
        """The reason why these sessions cannot be decrypted; empty: they can."""
        key = f"the encryption key '{self.key_id}'" if self.key_id else "an older encryption key"
        needs = f"Stored sessions of the journey '{self.journey_id}' need {key}"
        if self.state == KeyState.MISSING:
            return f"{needs}, which is not set. Add it to JOURNEYGRAPH_ENCRYPTION_KEY."
        if self.state == KeyState.WRONG:
            return f"{needs}, and another key has this id in JOURNEYGRAPH_ENCRYPTION_KEY."
        return ""


async def keys_in_use(store: Store, seals: Seals) -> list[KeyUse]:
    """Return the keys that stored sessions need, and whether they are set.

    A key is tested with the data key of a session. The number of queries depends on the number of
    journeys and keys, not of sessions.

    Args:
        store: The store.
        seals: The keys that are set.

    Raises:
        StateError: The store failed.
    """
    found: list[KeyUse] = []
    of: Row = {"journey": "", "key": ""}
    while rows := await store.read(NEXT, **of, most=1):
        of = {"journey": rows[0]["journey_id"], "key": rows[0]["key_id"]}
        state = await _state(store, seals, of)
        found.append(KeyUse(of["journey"], of["key"], state))
    return found


async def key_faults(store: Store, seals: Seals, journeys: Collection[str]) -> list[str]:
    """Return the faults of the keys that stored sessions of these journeys need.

    Each is a sentence that names the journey and the key: it is not set, or another key has its id.

    Raises:
        StateError: The store failed.
    """
    uses = await keys_in_use(store, seals)
    return [use.fault for use in uses if use.fault and use.journey_id in journeys]


async def _state(store: Store, seals: Seals, of: Row) -> KeyState:
    keys, id_ = seals.keys, of["key"]
    if keys is None or (id_ and keys.get(id_) is None):
        return KeyState.MISSING
    # Of several, because a single row may be damaged.
    for row in await store.read(OF_KEY, **of, **FROM_START, most=SAMPLES):
        if await _opens(store, seals, row):
            return KeyState.FIRST if id_ == keys.first[0] else KeyState.SET
    return KeyState.WRONG if id_ else KeyState.MISSING


async def _opens(store: Store, seals: Seals, row: Row) -> bool:
    """Return whether the data of a session can be decrypted."""
    try:
        seal = replace(seals, tenant=row["tenant"]).of(row)
        if row["key_id"] == UNNAMED:
            span = {"low": -1, "high": 0}
            mine = store.of(row["tenant"])
            for turn in await mine.read(TURNS.of_turns, session=row["session_id"], **span):
                TURNS.value(turn, "operations", seal)
    except StateError:
        return False
    return True


async def sessions_by_key(store: Store) -> dict[str, int]:
    """Return the number of sessions of each key id; an empty id: without a data key.

    Raises:
        StateError: The store failed.
    """
    return {row["key_id"]: row["sessions"] for row in await store.read(COUNTS)}


async def with_data_key(store: Store, head: Row) -> Row:
    """Give a session of an older release a data key, and encrypt all of its rows with it.

    The caller holds the turn of the session. A session that has a data key is not changed.

    Args:
        store: The store of the session, with its keys.
        head: Row of the session.

    Returns:
        The row of the session, with its data key.

    Raises:
        StateError: The store failed, a row was changed, or the key of the session is not set.
    """
    if head["key_id"]:
        return head
    session, old = head["session_id"], store.seals.of(head)
    new = store.seals.new(session)
    assert isinstance(old, AesSeal)
    given: Row = {
        "session": session,
        "head": head["version"],
        "begun": head["created_at"],
        "held": head["fence"],
        **_new_columns(new.columns),
    }
    written = [Statement(GIVE_KEY, [given], exactly_one=True)]
    for records in _RECORDS:
        rows = await store.read(records.all, session=session)
        written.append(records.sealed_again(rows, old, new))
    written += await store.saver.sealed_again(session, old, new)
    with suppress(WriteConflict):  # another process was faster
        await store.write(*(statement for statement in written if statement.rows))
    found = await store.head(session)
    return head if found is None else found


def _new_columns(columns: Mapping[str, Any]) -> Row:
    return {f"new_{name}": value for name, value in columns.items()}


async def drop_sessions(store: Store, key_id: str) -> None:
    """Delete the sessions of a key that is lost, with their history.

    Raises:
        StateError: The store failed.
    """
    for use in await keys_in_use(store, store.seals):
        if use.key_id != key_id:
            continue
        of: Row = {"journey": use.journey_id, "key": key_id, **FROM_START, "most": PAGE}
        while rows := await store.read(OF_KEY, **of):
            for row in rows:
                await store.of(row["tenant"]).forget(row["session_id"])


async def rotate(store: Store, watch: Callable[[int], None]) -> list[str]:
    """Wrap the data keys of all sessions with the first key, while turns run.

    Data of the sessions is not encrypted again, except for sessions of older releases: these get a
    data key, one after another, each between two turns. If it ends early, the next call continues.

    Args:
        store: The store of sensitive journeys, with its keys.
        watch: Called with the number of sessions after each step.

    Returns:
        The reasons for which sessions were left as they are, at most 5.

    Raises:
        ConfigurationError: No key is set.
        StateError: The store failed.
    """
    await store.write(Statement(MARK, [{}]))
    faults: list[str] = []
    for use in await keys_in_use(store, store.seals):
        if use.fault:
            faults.append(use.fault)
        elif use.state != KeyState.FIRST:
            await _rotate(store, use, watch, faults)
    return faults[:MOST_FAULTS]


async def _rotate(
    store: Store, use: KeyUse, watch: Callable[[int], None], faults: list[str]
) -> None:
    of: Row = {"journey": use.journey_id, "key": use.key_id}
    after = FROM_START
    while rows := await store.read(OF_KEY, **of, **after, most=PAGE):
        after = {"after": rows[-1]["session_id"], "after_of": rows[-1]["tenant"]}
        if use.key_id == UNNAMED:
            for row in rows:
                await _give_key(store, row, faults)
                watch(1)
            continue
        await _wrap_again(store, rows, faults)
        watch(len(rows))


async def _wrap_again(store: Store, rows: list[Row], faults: list[str]) -> None:
    written: dict[str, list[Row]] = {}
    for row in rows:
        try:
            columns = store.of(row["tenant"]).seals.wrapped_again(row)
        except StateError as error:
            faults.append(str(error))
            continue
        was = {"session": row["session_id"], "was": row["key_id"], "held": row["data_key"]}
        mine = written.setdefault(row["tenant"], [])
        mine.append({**was, **_new_columns(columns)})
    for tenant, mine in written.items():
        await store.of(tenant).write(Statement(WRAP_AGAIN, mine))


async def _give_key(store: Store, row: Row, faults: list[str]) -> None:
    mine = store.of(row["tenant"])
    try:
        async with mine.turn(row["session_id"]) as head:
            if head is not None and head["key_id"] == UNNAMED:
                await with_data_key(mine, head)
    except StateError as error:
        faults.append(str(error))
