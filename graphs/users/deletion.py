"""Delete the data of a user: sessions, keys and tokens, with a receipt.

Each session is deleted in its own transaction, between two of its turns, and counted in the receipt
by the same transaction. A deletion that was stopped is continued by the next call.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from sqlalchemy import String, bindparam, func, select

from journeygraph.graphs.evidence import receipts
from journeygraph.graphs.evidence.receipts import Receipt
from journeygraph.graphs.storage.errors import WriteConflict
from journeygraph.graphs.storage.sealing import Seals
from journeygraph.graphs.storage.statements import Row, Sql, first, of_tenant
from journeygraph.graphs.storage.store import Store
from journeygraph.graphs.storage.tables import api_keys, sessions
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
_KEYS = Sql.of(first(select(api_keys.c.id).where(of_tenant(api_keys), api_keys.c.user_id == _USER)))


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
    return bool(await _newest(store, user) or await store.read(_KEYS, user=user, most=1))


async def _newest(store: Store, user: str) -> str | None:
    """Return the time at which the newest session of a user began; None if there is no session."""
    [row] = await store.read(_NEWEST, user=user)
    newest: str | None = row["newest"]
    return newest


async def delete_user(
    store: Store,
    seals: Seals,
    user: str,
    asked_by: str,
    erase: Erase,
    gone: Callable[[str], None],
) -> Receipt | None:
    """Delete all that a store has of a user, and return the receipt.

    A running turn of a session is waited for. Sessions that begin meanwhile are deleted too, up to
    `PASSES` times.

    Args:
        store: The store, for the tenant of the user.
        seals: The keys of the settings. No key is needed to delete.
        user: The user.
        asked_by: Id of the key of the client who asks; empty: no key was required.
        erase: Called with the id of each session before it is deleted. If it raises a StateError,
            the session stays.
        gone: Called with the id of each session after it was deleted.

    Returns:
        The receipt; None: there is nothing of this user.

    Raises:
        DeletionUnfinishedError: A session was busy for too long or a copy of it could not be
            erased, a client continues to begin sessions, or a file could not be rewritten.
        StateError: The store failed.
    """
    receipt = await receipts.unfinished(store, user, seals.keys)
    if receipt is None:
        if not await is_known(store, user):
            return None
        receipt = await receipts.begin(store, user, asked_by, seals.keys)
    await receipts.drop_keys(store, receipt, user)  # so that they begin no session
    for _ in range(PASSES):
        if not (newest := await _newest(store, user)):
            break
        await _delete_found(store, seals, receipt, user, newest, erase, gone)
    if await _newest(store, user):
        raise DeletionUnfinishedError(
            "what there was is deleted, but a client of the user continues to begin sessions. Stop "
            "it first: revoke the key that it uses, or refuse the user where its tokens are made."
        )
    await receipts.drop_keys(store, receipt, user)
    try:
        await store.compact()
    except StateError as error:
        raise DeletionUnfinishedError(f"the file cannot be rewritten. {error}") from error
    return await receipts.complete(store, receipt)


async def _delete_found(
    store: Store,
    seals: Seals,
    receipt: Receipt,
    user: str,
    newest: str,
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
                await _delete(mine, receipt, session_id, user, erase)
            except WriteConflict:
                left = "another request deleted one of the user's sessions, or the user, meanwhile."
            except (SessionBusyError, TooManyWaitingError, StateError) as error:
                left = str(error)
            else:
                gone(session_id)
    if left:
        raise DeletionUnfinishedError(left)


async def _delete(store: Store, receipt: Receipt, session_id: str, user: str, erase: Erase) -> None:
    async with store.turn(session_id) as head:
        if head is not None and head["user_id"] == user:
            await erase(session_id)
            await store.forget(session_id, first=[receipts.counted(receipt, session_id)])
