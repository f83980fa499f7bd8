"""Messages that wait for one turn together (`when_busy="coalesce"`)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from journeygraph.graphs.session.input import MAX_MESSAGE_BYTES
from journeygraph.graphs.session.turn import Given, kept_of
from journeygraph.graphs.storage.store import SessionLock
from journeygraph.journeys import IdempotencyKeyError, JourneyResponse

Outcome = JourneyResponse | IdempotencyKeyError
"""The response to a message, or the refusal of its key."""
Outcomes = list[Outcome]
Take = Callable[["Gathering"], Coroutine[Any, Any, Outcomes]]
"""Takes the turn of gathered messages, and returns the outcome of each of them."""


class Gathering:
    """The messages of a session that are one turn together, in their order.

    A message can join until the turn begins, while all of them fit into the size of one message.
    """

    def __init__(self, lock: SessionLock) -> None:
        self.parts: list[Given] = []
        self._lock = lock
        self._callers = 0
        self._turn: asyncio.Task[Outcomes] | None = None

    def place_of(self, given: Given) -> int | None:
        """Return the place of a message after it joined; None if there is no room for it.

        Raises:
            IdempotencyKeyError: Another message here has its key.
        """
        for number, part in enumerate(self.parts):
            for known in part.requests:
                if any(map(known.is_named_as, given.requests)):
                    if known not in given.requests:
                        raise IdempotencyKeyError(
                            "The idempotency key belongs to another request of this session. Use "
                            "a new key for each request."
                        )
                    return number
        together = "\n".join(part.text or "" for part in (*self.parts, given))
        if self.parts and len(together.encode()) > MAX_MESSAGE_BYTES:
            return None
        self.parts.append(given)
        return len(self.parts) - 1

    def kept(self) -> Mapping[str, Any]:
        """Return what another process needs to take the turn."""
        return kept_of(self.parts)

    def close(self) -> Sequence[Given]:
        """Return the messages; none can join any more."""
        if self._lock.gathering is self:
            self._lock.gathering = None
        return self.parts

    def begin(self, take: Take) -> None:
        """Wait for the turn of the session, as one request."""
        self._turn = asyncio.ensure_future(take(self))
        self._turn.add_done_callback(lambda _: self.close())

    async def response(self, number: int) -> JourneyResponse:
        """Return the response to one message; the turn is cancelled after all its callers are."""
        assert self._turn is not None
        self._callers += 1
        try:
            outcome = (await asyncio.shield(self._turn))[number]
        except asyncio.CancelledError:
            if self._callers == 1 and not self._turn.done():
                self._turn.cancel()
                with suppress(asyncio.CancelledError):
                    await asyncio.wait([self._turn])
            raise
        finally:
            self._callers -= 1
        if isinstance(outcome, IdempotencyKeyError):
            raise outcome
        return outcome


async def joined(lock: SessionLock, given: Given, take: Take) -> JourneyResponse:
    """Return the response to a message that joins those that wait, or begins to wait itself."""
    gathering: Gathering | None = lock.gathering
    there = len(gathering.parts) if gathering else 0
    number = gathering.place_of(given) if gathering else None
    if gathering is None or number is None:
        gathering, there = Gathering(lock), 0
        lock.gathering = gathering
        number = gathering.place_of(given)
        gathering.begin(take)
    assert number is not None
    response = await gathering.response(number)
    return replace(response, replayed=True) if number < there else response
