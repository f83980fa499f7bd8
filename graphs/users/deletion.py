"""Delete the data of a user: sessions, keys and tokens; count what was deleted.

Each session is deleted in its own transaction, between two of its turns. A deletion that was
stopped is continued by the next call.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from sqlalchemy import Integer, String, bindparam, delete, func, literal_column, select

from journeygraph.graphs.storage.errors import WriteConflict
from journeygraph.graphs.storage.sealing import Seals
from journeygraph.graphs.storage.statements import (
    Row,
    Sql,
    Statement,
    TableMapper,
    first,
    of_tenant,
)
from journeygraph.graphs.storage.store import Store
from journeygraph.graphs.storage.tables import api_keys, metadata, running_turns, sessions
from journeygraph.journeys import SessionBusyError, StateError, TooManyWaitingError

Erase = Callable[[str], Awaitable[None]]
"""Deletes the copies of a session outside the store."""
AT_ONCE = 100
"""Number of sessions that are found by one query."""
PASSES = 3
"""Maximum number of passes of a deletion, each over the sessions that there are when it begins."""
_USER = bindparam("user", type_=String)
_MINE = (of_tenant(sessions), sessions.c.user_id == _USER)
_NEWEST = Sql.of(select(func.max(sessions.c.created_at).label("newest")).where(*_MINE))
_SESSIONS = Sql.of(
    first(
        select(sessions.c.session_id, sessions.c.key_id)
        .where(*_MINE, sessions.c.session_id > bindparam("after"))
        .where(sessions.c.created_at <= bindparam("newest"))
        .order_by(sessions.c.session_id)
    )
)
_COUNT = Sql.of(select(func.count().label("sessions")).select_from(sessions).where(*_MINE))
_RECORDS = [
    TableMapper(table)
    for table in metadata.tables.values()
    if table.foreign_keys and table is not running_turns  # which is no record of what was
]
_ROWS = Sql.of(
    select(
        sum(
            (select(func.count()).where(one.mine).scalar_subquery() for one in _RECORDS),
            start=literal_column("0", Integer),
        ).label("rows")
    )
)
_OF_USER = of_tenant(api_keys) & (api_keys.c.user_id == _USER)
_KEYS = Sql.of(select(func.count().label("keys")).where(_OF_USER))
_DROP_KEYS = Sql.of(delete(api_keys).where(_OF_USER))


@dataclass(slots=True)
class Deletion:
    """The data of a user that one call has deleted.

    Attributes:
        sessions: Number of the sessions, also of expired ones.
        rows: Number of the records of these sessions: turns, audit, checks, attempts, effects,
            answers, timers and calls for a person.
        keys: Number of the keys and tokens of the user.
    """

    sessions: int = 0
    rows: int = 0
    keys: int = 0


class DeletionUnfinishedError(StateError):
    """A part of the data of a user is not deleted yet; the next call continues."""

    def __init__(self, reason: str) -> None:
        super().__init__(
            f"The data of the user is not deleted as a whole: {reason} Delete the user again: "
            "this continues.",
            retryable=True,
        )


async def count_sessions(store: Store, user: str) -> int:
    """Return the number of sessions of a user, also of expired ones.

    Raises:
        StateError: The store failed.
    """
    [row] = await store.read(_COUNT, user=user)
    return int(row["sessions"])


async def is_known(store: Store, user: str) -> bool:
    """Return whether the store has a session or a key of a user.

    Raises:
        StateError: The store failed.
    """
    return bool(await _newest(store, user) or await _count_keys(store, user))


async def _count_keys(store: Store, user: str) -> int:
    [row] = await store.read(_KEYS, user=user)
    return int(row["keys"])


async def _newest(store: Store, user: str) -> str | None:
    """Return the time at which the newest session of a user began; None if there is no session."""
    [row] = await store.read(_NEWEST, user=user)
    newest: str | None = row["newest"]
    return newest


async def delete_user(
    store: Store,
    seals: Seals,
    user: str,
    erase: Erase,
    gone: Callable[[str], None],
) -> Deletion | None:
    """Delete all that a store has of a user, and return what was deleted.

    A running turn of a session is waited for. Sessions that begin meanwhile are deleted too, up to
    `PASSES` times.

    Args:
        store: The store, for the tenant of the user.
        seals: The keys of the settings. No key is needed to delete.
        user: The user.
        erase: Called with the id of each session before it is deleted. If it raises a StateError,
            the session stays.
        gone: Called with the id of each session after it was deleted.

    Returns:
        What this call has deleted; None: there is nothing of this user.

    Raises:
        DeletionUnfinishedError: A session was busy for too long or a copy of it could not be
            erased, a client continues to begin sessions, or a file could not be rewritten.
        StateError: The store failed.
    """
    is_there = await is_known(store, user)
    done = Deletion()
    if is_there:
        await _delete_all(store, seals, user, done, erase, gone)
    try:
        # Also if nothing is there: an earlier call may have been stopped before this.
        await store.compact()
    except StateError as error:
        raise DeletionUnfinishedError(f"the file cannot be rewritten. {error}") from error
    return done if is_there else None


async def _delete_all(
    store: Store,
    seals: Seals,
    user: str,
    done: Deletion,
    erase: Erase,
    gone: Callable[[str], None],
) -> None:
    await _drop_keys(store, user, done)  # so that they begin no session
    for _ in range(PASSES):
        if not (newest := await _newest(store, user)):
            break
        await _delete_found(store, seals, user, newest, done, erase, gone)
    if await _newest(store, user):
        raise DeletionUnfinishedError(
            "what there was is deleted, but a client of the user continues to begin sessions. Stop "
            "it first: revoke the key that it uses, or refuse the user where its tokens are made."
        )
    await _drop_keys(store, user, done)


async def _drop_keys(store: Store, user: str, done: Deletion) -> None:
    done.keys += await _count_keys(store, user)
    await store.write(Statement(_DROP_KEYS, [{"user": user}]))


async def _delete_found(
    store: Store,
    seals: Seals,
    user: str,
    newest: str,
    done: Deletion,
    erase: Erase,
    gone: Callable[[str], None],
) -> None:
    """Delete the sessions of a user that began up to a time.

    A busy session does not keep the others.
    """
    of: Row = {"user": user, "newest": newest, "after": "", "most": AT_ONCE}
    left = ""
    while rows := await store.read(_SESSIONS, **of):
        of["after"] = rows[-1]["session_id"]
        for row in rows:
            session_id = row["session_id"]
            mine = store if row["key_id"] is None else store.with_keys(seals.keys)
            try:
                await _delete(mine, session_id, user, done, erase)
            except WriteConflict:
                left = "another request deleted one of the user's sessions, or the user, meanwhile."
            except (SessionBusyError, TooManyWaitingError, StateError) as error:
                left = str(error)
            else:
                gone(session_id)
    if left:
        raise DeletionUnfinishedError(left)


async def _delete(store: Store, session_id: str, user: str, done: Deletion, erase: Erase) -> None:
    async with store.turn(session_id) as head:
        if head is not None and head["user_id"] == user:
            [found] = await store.read(_ROWS, session=session_id)
            await erase(session_id)
            await store.forget(session_id)
            done.sessions += 1
            done.rows += found["rows"]
