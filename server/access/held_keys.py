"""The keys of open streams: all are looked at by one query, so that a stream ends with its key."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Iterator
from contextlib import contextmanager
from contextvars import Context

from journeygraph.nodes.telemetry import report
from journeygraph.server.access.callers import Caller
from journeygraph.server.access.keys import StoredKeys, is_key_id

LOOK_SECONDS = 5.0
"""Seconds between two looks at the keys of all open streams of a process."""


class HeldKey:
    """The key of one open stream.

    Attributes:
        is_revoked: True if the database says that it is over.
    """

    __slots__ = ("_ends", "_limit", "is_revoked")

    def __init__(self, ends: float | None = None) -> None:
        self.is_revoked = False
        self._ends = ends
        self._limit: asyncio.Timeout | None = None

    @property
    def is_over(self) -> bool:
        """Return whether the stream must end."""
        return self.is_revoked or (self._ends is not None and self._ends <= time.time())

    def revoke(self) -> None:
        """End what the stream waits for."""
        self.is_revoked = True
        if self._limit is not None:
            self._limit.reschedule(0.0)

    async def limits(self, waiting: Awaitable[None]) -> None:
        """Wait for something, at most until the key is over."""
        left = None if self._ends is None else max(0.0, self._ends - time.time())
        limit = self._limit = asyncio.timeout(0.0 if self.is_revoked else left)
        try:
            async with limit:
                await waiting
        except TimeoutError:
            if not limit.expired():
                raise
        finally:
            self._limit = None


class HeldKeys:
    """The keys of the open streams of a process. A stream that waits asks nothing."""

    def __init__(self) -> None:
        self._held: dict[str, set[HeldKey]] = {}
        self._looking: asyncio.Task[None] | None = None

    @contextmanager
    def hold(self, caller: Caller, stored: StoredKeys | None) -> Iterator[HeldKey]:
        """Look at the key of a client while the block lasts."""
        held = HeldKey(caller.ends)
        if stored is None or not is_key_id(caller.key_id):
            yield held
            return
        self._held.setdefault(caller.key_id, set()).add(held)
        if self._looking is None:
            # In an empty context: it is not part of the request that came first.
            looking = self._look_on(stored)
            self._looking = asyncio.get_running_loop().create_task(looking, context=Context())
        try:
            yield held
        finally:
            self._let_go(caller.key_id, held)

    def _let_go(self, key_id: str, held: HeldKey) -> None:
        holders = self._held[key_id]
        holders.discard(held)
        if not holders:
            del self._held[key_id]
        if not self._held and self._looking:
            self._looking.cancel()
            self._looking = None

    async def _look_on(self, stored: StoredKeys) -> None:
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            try:
                over = await stored.over(self._held)
            except Exception as error:  # of a store that does not answer, nothing is new
                report(logging.WARNING, "keys_not_watched", exc_info=error)
                continue
            for key_id in over & self._held.keys():
                for held in self._held[key_id]:
                    held.revoke()
