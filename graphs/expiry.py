"""When a session is over by time, and what is cleaned up then."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from graphs import statements
from graphs.ledger import now, stamp
from graphs.session import Session
from graphs.statements import Row
from journeys import SessionExpiredError

SWEEP = 20
"""Most expired sessions that one start cleans up."""

Callback = Callable[[Any], Any]


async def refuse_expired(session: Session, head: Row, on_expire: Callback | None) -> None:
    """Clean up a session that outlived its time to live, and refuse to go on with it.

    Raises:
        SessionExpiredError: It did.
    """
    if head["status"] != "expired" and head["expires_at"] >= stamp(now()):
        return
    await _expire(session, session.session_id, on_expire)
    raise SessionExpiredError(
        f"Session '{session.session_id}' has expired. Start another one, or delete() it to use "
        "its id again."
    )


async def sweep(session: Session, on_expire: Callback | None) -> None:
    """Clean up some of the sessions that have expired meanwhile, oldest first."""
    found = await session.store.read(statements.EXPIRED, now=stamp(now()))
    for row in found[:SWEEP]:
        await _expire(session, row["session_id"], on_expire)


async def _expire(session: Session, session_id: str, on_expire: Callback | None) -> None:
    """Remove what a session kept; its row stays, so that it is never taken for a fresh one."""
    head = await session.store.head(session_id)
    if head and head["status"] != "expired":
        await session.forget(session_id, tombstone=True)
        await call_back(session, head["version"], on_expire, session_id)


async def call_back(
    session: Session, version: int, callback: Callback | None, argument: Any
) -> None:
    """Call back; what a callback raises is audited, for what it is told of stands."""
    try:
        result = callback(argument) if callback else None
        if inspect.isawaitable(result):
            await result
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"
        await session.audited(version, {"kind": "callback_failed", "reason": reason})
