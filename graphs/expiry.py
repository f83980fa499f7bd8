"""When a session is over by time, and what is cleaned up then."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable
from typing import Any, NoReturn

from graphs import statements
from graphs.faults import LostRace
from graphs.ledger import now
from graphs.session import Session
from graphs.statements import Row
from journeys import SessionExpiredError, StateError
from nodes.authored import contained
from nodes.plain import stamp, words_of

SWEEP = 20
"""Most expired sessions that one start cleans up."""

Callback = Callable[[Any], Any]


def is_over(head: Row) -> bool:
    """Say whether a session outlived its time to live."""
    return bool(head["status"] == "expired" or head["expires_at"] < stamp(now()))


async def refuse(session: Session, head: Row, on_expire: Callback | None) -> NoReturn:
    """Clean up a session that is over, and refuse to go on with it.

    Raises:
        SessionExpiredError: Always.
    """
    if head["status"] != "expired":
        await _expire(session, head, on_expire)
    raise SessionExpiredError(
        f"Session '{session.session_id}' has expired. Start another one, or delete() it to use "
        "its id again."
    )


async def sweep(session: Session, on_expire: Callback | None) -> None:
    """Clean up some of the journey's sessions that have expired meanwhile, oldest first."""
    # What cannot be cleaned up now is left to the next one: this session has begun.
    with contextlib.suppress(StateError):
        found = await session.store.read(
            statements.EXPIRED, now=stamp(now()), journey=session.spec.id, most=SWEEP
        )
        for row in found:
            await _expire(session, row, on_expire)


async def _expire(session: Session, row: Row, on_expire: Callback | None) -> None:
    """Remove what a session kept; its row stays, so that it is never taken for a fresh one."""
    with contextlib.suppress(LostRace):
        await session.forget(row["session_id"], expired_at=stamp(now()))
        await call_back(session, row["version"], on_expire, row["session_id"])


async def call_back(
    session: Session, version: int, callback: Callback | None, argument: Any
) -> None:
    """Call back; what a callback raises is audited, for what it is told of stands."""
    try:
        with contained():
            result = callback(argument) if callback else None
            if inspect.isawaitable(result):
                await result
    except Exception as error:
        event = {"kind": "callback_failed", "reason": words_of(error)}
        # The turn stands, so its caller must not be told that it failed.
        with contextlib.suppress(StateError):
            await session.audited(version, event)
