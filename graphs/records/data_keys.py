"""Data keys of sensitive sessions: the keys they need, and a new key for all of them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from sqlalchemy import bindparam, func, select, tuple_, update

from journeygraph.graphs.records.effects import EFFECTS
from journeygraph.graphs.records.escalations import CALLS
from journeygraph.graphs.records.history import ATTEMPTS, CHECKS
from journeygraph.graphs.records.idempotency import ANSWERS
from journeygraph.graphs.storage.sealing import Seals
from journeygraph.graphs.storage.statements import (
    RUNNING,
    SESSION,
    TURNS,
    Row,
    Sql,
    Statement,
    TableMapper,
    first,
)
from journeygraph.graphs.storage.store import Store
from journeygraph.graphs.storage.tables import audit, sessions
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
        key_id: Id of the key.
        state: Its state among the keys of the settings.
    """

    journey_id: str
    key_id: str
    state: KeyState

    @property
    def fault(self) -> str:
        """The reason why these sessions cannot be decrypted; empty: they can."""
        needs = (
            f"Stored sessions of the journey '{self.journey_id}' need the encryption key "
            f"'{self.key_id}'"
        )
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
    if keys is None or keys.get(id_) is None:
        return KeyState.MISSING
    # Of several, because a single row may be damaged.
    for row in await store.read(OF_KEY, **of, **FROM_START, most=SAMPLES):
        if _opens(seals, row):
            return KeyState.FIRST if id_ == keys.first[0] else KeyState.SET
    return KeyState.WRONG


def _opens(seals: Seals, row: Row) -> bool:
    """Return whether the data key of a session can be decrypted."""
    try:
        replace(seals, tenant=row["tenant"]).of(row)
    except StateError:
        return False
    return True


async def sessions_by_key(store: Store) -> dict[str, int]:
    """Return the number of sessions of each key id.

    Raises:
        StateError: The store failed.
    """
    return {row["key_id"]: row["sessions"] for row in await store.read(COUNTS)}


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

    Data of the sessions is not encrypted again. If it ends early, the next call continues.

    Args:
        store: The store of sensitive journeys, with its keys.
        watch: Called with the number of sessions after each step.

    Returns:
        The reasons for which sessions were left as they are, at most 5.

    Raises:
        ConfigurationError: No key is set.
        StateError: The store failed.
    """
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
