"""The lease of a session: one turn at a time, also where many processes share a database.

Who takes a session gets a number, the fence, which is higher than all before. A turn is committed
only if its fence is still the newest, so a process that was away for too long writes nothing. The
lease is on the database's clock and is renewed while the turn runs; a process that dies lets go of
it by not renewing it. No connection is held in the meantime.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING

from graphs import statements
from graphs.statements import Row, Statement
from journeys import StateError

if TYPE_CHECKING:
    from graphs.stores import Store

SECONDS = 10.0
"""How long a lease lasts that is not renewed: so long does a session wait after a crash."""
PATIENCE = 30.0
"""Seconds for which a turn waits for one of another process."""
_FIRST_PAUSE, _LONGEST_PAUSE = 0.01, 0.25


@asynccontextmanager
async def leased(store: Store, session_id: str) -> AsyncIterator[Row | None]:
    """Hold a session's lease and give its head; None if the session is not there.

    The commit of a turn ends the lease with it; one that ends without a commit lets go of it here.

    Raises:
        StateError: Another process keeps the session for too long; retryable.
    """
    head = await _taken(store, session_id)
    if head is None:
        yield None
        return
    mine = {"session": session_id, "held": head["fence"]}
    store.saver.leases.add((session_id, head["fence"]))
    renewing = asyncio.ensure_future(_renewed(store, mine))
    try:
        yield head
    finally:
        renewing.cancel()
        if (session_id, head["fence"]) in store.saver.leases:
            await asyncio.shield(asyncio.ensure_future(_let_go(store, mine)))


async def _taken(store: Store, session_id: str) -> Row | None:
    clock = asyncio.get_running_loop().time
    deadline, pause = clock() + PATIENCE, _FIRST_PAUSE
    while True:
        found = await store.read(statements.LEASE, session=session_id, seconds=SECONDS)
        if found:
            return found[0]
        if await store.head(session_id) is None:
            return None
        if clock() > deadline:
            raise StateError(
                f"Session '{session_id}' has been busy in another process for {PATIENCE:g} "
                "seconds; nothing was changed. Try again.",
                retryable=True,
            )
        await asyncio.sleep(pause * random.uniform(0.5, 1.0))
        pause = min(pause * 1.5, _LONGEST_PAUSE)


async def _renewed(store: Store, mine: Row) -> None:
    """Keep the lease alive; what fails now may succeed before it ends, and the commit tells."""
    while True:
        await asyncio.sleep(SECONDS / 3)
        with suppress(StateError):
            await store.write(Statement(statements.RENEW, [{**mine, "seconds": SECONDS}]))


async def _let_go(store: Store, mine: Row) -> None:
    store.saver.leases.discard((mine["session"], mine["held"]))
    # What cannot be written now ends by itself.
    with suppress(StateError):
        await store.write(Statement(statements.RELEASE, [mine]))
