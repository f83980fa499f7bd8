"""Turns by the input that their lease kept: those that run, and those whose process died.

Another process takes the turn of one that died.
"""

from __future__ import annotations

import logging
from collections.abc import Collection
from dataclasses import dataclass
from typing import Self

from journeygraph.graphs.records.idempotency import Request
from journeygraph.graphs.session.session import StoredSession
from journeygraph.graphs.session.turn import TurnRequest, died_in
from journeygraph.graphs.storage import statements
from journeygraph.graphs.storage.errors import WriteConflict
from journeygraph.graphs.storage.statements import DIED, RUNNING, Row, Sql, Statement
from journeygraph.nodes.json_data import words_of
from journeygraph.nodes.telemetry import report

MOST_TRIES = 3
"""Number of processes that take a turn again; afterwards it is given up, since it may end them."""


@dataclass(frozen=True, slots=True)
class OrphanedTurn:
    """A turn whose process died.

    Attributes:
        session_id: Its session.
        fence: That of the lease with which it began.
        tries: Number of processes that took it again.
    """

    session_id: str
    fence: int
    tries: int

    @classmethod
    def of(cls, head: Row) -> Self:
        """Return the one that came with a session's row when its lease was taken."""
        return cls(head["session_id"], head[DIED], head["died_tries"])

    def by(self, sql: Sql, *, exactly_one: bool = False) -> Statement:
        """Return a statement on what is kept of it."""
        row: Row = {"session": self.session_id, "held": self.fence}
        return Statement(sql, [row], exactly_one=exactly_one)


async def is_running(session: StoredSession, requests: Collection[Request]) -> bool:
    """Return whether a turn that runs, in any process, answers requests with one of these keys.

    Raises:
        StateError: The store failed, or what it keeps was changed.
    """
    kept = await _kept(session) if session.store.is_shared else []
    running = [request for given in kept for request in given.requests]
    # Nothing may wait after this: the next turn of this process may be one of them.
    here = session.lock.running
    running += here.requests if here else ()
    return any(one.is_named_as(request) for one in running for request in requests)


async def _kept(session: StoredSession) -> list[TurnRequest]:
    """Return the input that is kept of the session's turn."""
    seal = session.ledger_writer.seal
    rows = await session.store.read(RUNNING.all, session=session.session_id)
    return [died_in(RUNNING.value(row, "message", seal)) for row in rows]


async def given_of(session: StoredSession, head: Row, died: OrphanedTurn) -> TurnRequest | None:
    """Return the input of the turn that died, and count the try; None if it is given up.

    Args:
        session: The session.
        head: Its row, whose lease the caller holds.
        died: The turn.

    Raises:
        StateError: The store failed, or what it keeps was changed.
    """
    if died.tries >= MOST_TRIES:
        await drop(session, head, died, f"{MOST_TRIES + 1} processes ended in it")
        return None
    try:
        await session.store.write(died.by(statements.TRY_DIED, exactly_one=True))
    except WriteConflict:  # its process was only late, and has committed it
        return None
    return next(iter(await _kept(session)), None)


async def drop(
    session: StoredSession, head: Row, died: OrphanedTurn, reason: str | Exception
) -> None:
    """Give up the turn that died, with an audit event; of an error, only this has the text."""
    if isinstance(reason, str):
        report(logging.ERROR, "turn_abandoned", reason=reason)
    else:
        report(logging.ERROR, "turn_abandoned", exc_info=reason)
        reason = words_of(reason)
    event = {"kind": "turn_abandoned", "reason": reason}
    await session.audited(head["version"] + 1, event)
    await forget(session, died)


async def forget(session: StoredSession, died: OrphanedTurn) -> None:
    """Remove what is kept of the turn that died."""
    await session.store.write(died.by(statements.FORGET_DIED))
