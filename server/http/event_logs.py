"""Events of turns and of sessions, for clients that read them late, slowly, or once more.

A turn writes its events to a log and never waits for a reader. The versions of a session are in the
store: a stream of a session only learns here that there is a new one.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import re
import time
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import Context
from typing import NamedTuple, Self

from fastapi.sse import ServerSentEvent

from journeygraph.graphs.records.listing import Head
from journeygraph.journeys.config import TENANT
from journeygraph.nodes.telemetry import raised, report

MOST_OF_TURN = 1024 * 1024
"""Maximum size of the events of one turn, in bytes; the oldest are dropped first."""
MOST_OF_ALL = 32 * 1024 * 1024
"""Maximum size of the events of all turns that are over, in bytes."""
KEPT_SECONDS = 300.0
"""Seconds for which the events of a turn are kept after its end."""
LOOK_SECONDS = 1.0
"""Seconds between two looks at the versions of all sessions that have streams."""
STORED = "stored"
"""Name of the run in the id of a reply that was read from the store."""
_OVERHEAD = 200
_ID = re.compile(r"(\d{1,9})(?::(\d{1,9}):([0-9a-z]{1,16}))?")


class EventId(NamedTuple):
    """The id of an event, `TURN:NUMBER:RUN`; of a version of a session, only its number.

    Attributes:
        turn: Number of the turn, which is the version that it makes.
        number: Place among the events of the turn; -1 before the first one.
        run: Name of the run. A turn that failed is run again under another name.
    """

    turn: int
    number: int = -1
    run: str = ""

    @classmethod
    def of(cls, text: str) -> Self | None:
        """Return the id in a text; None if the text is not an id."""
        if not (found := _ID.fullmatch(text)):
            return None
        turn, number, run = found.groups()
        return cls(int(turn), int(number), run) if run else cls(int(turn))

    def __str__(self) -> str:
        return f"{self.turn}:{self.number}:{self.run}" if self.run else str(self.turn)


class _Event(NamedTuple):
    type: str
    data: str


class TurnLog:
    """The events of one run of a turn, in order.

    Attributes:
        turn: Number of the turn; None until it has begun.
        replayed: True if the turn was taken before, for the same idempotency key.
        stands: True if the turn was committed.
    """

    def __init__(self, session_id: str, tenant: str = TENANT) -> None:
        self.session_id, self.tenant = session_id, tenant
        self.turn: int | None = None
        self.run = os.urandom(4).hex()
        self.replayed = self.stands = self.is_over = False
        self._events: deque[_Event] = deque()
        self._first = 0
        self._more = asyncio.Event()
        self.size = 0

    @property
    def last(self) -> int:
        """The number of the last event so far."""
        return self._first + len(self._events) - 1

    def add(self, type_: str, data: str) -> None:
        """Add an event; `data` is JSON."""
        self._events.append(_Event(type_, data))
        self.size += _OVERHEAD + len(data)
        # The last one stays, whatever its size: it has the whole reply.
        while self.size > MOST_OF_TURN and len(self._events) > 1:
            self._first += 1
            self.size -= _OVERHEAD + len(self._events.popleft().data)
        self._wake()

    def end(self) -> None:
        """End the log after the events so far."""
        self.is_over = True
        self._wake()

    async def events(self, after: int = -1) -> AsyncIterator[ServerSentEvent]:
        """Yield the events after a number, until the end of the turn.

        In the place of events that were dropped comes one event `gone`.
        """
        while True:
            more = self._more
            if after < self.last:
                if after + 1 < self._first:
                    after = self._first - 1
                    yield ServerSentEvent(event="gone", raw_data="{}", id=self._id(after))
                after += 1
                event = self._events[after - self._first]
                yield ServerSentEvent(event=event.type, raw_data=event.data, id=self._id(after))
            elif self.is_over:
                return
            else:
                await more.wait()

    def _id(self, number: int) -> str:
        return str(EventId(self.turn or 0, number, self.run))

    def _wake(self) -> None:
        self._more.set()
        self._more = asyncio.Event()


class TurnLogs:
    """The logs of a process: those of running turns, and for some minutes those of ended ones."""

    def __init__(self) -> None:
        self._of: dict[tuple[str, str], list[TurnLog]] = {}
        self._ended: deque[tuple[float, TurnLog]] = deque()
        self._size = 0

    def keep(self, log: TurnLog, turn: int) -> None:
        """Keep the log of a turn that has begun, with this number."""
        self._drop()
        log.turn = turn
        self._of.setdefault((log.tenant, log.session_id), []).append(log)

    def ended(self, log: TurnLog) -> None:
        """Keep an ended log for some minutes, while there is room, unless it was dropped."""
        if log in self._of.get((log.tenant, log.session_id), ()):
            self._ended.append((time.monotonic(), log))
            self._size += log.size
            self._drop()

    def find(self, tenant: str, session_id: str, turn: int, run: str = "") -> TurnLog | None:
        """Return the log of a turn; None if this process has none.

        Args:
            run: Name of the run; default: the last one that did not fail.
        """
        self._drop()
        for log in reversed(self._of.get((tenant, session_id), ())):
            if log.turn == turn and (log.run == run if run else log.stands or not log.is_over):
                return log
        return None

    def forget(self, tenant: str, session_id: str) -> None:
        """Drop the logs of a deleted session."""
        if gone := self._of.pop((tenant, session_id), []):
            self._size -= sum(log.size for _, log in self._ended if log in gone)
            self._ended = deque(one for one in self._ended if one[1] not in gone)

    def _drop(self) -> None:
        since = time.monotonic() - KEPT_SECONDS
        while self._ended and (self._ended[0][0] < since or self._size > MOST_OF_ALL):
            _, log = self._ended.popleft()
            self._size -= log.size
            kept = self._of[log.tenant, log.session_id]
            kept.remove(log)
            if not kept:
                del self._of[log.tenant, log.session_id]


class KnownVersion:
    """The last known version of a session, for the streams that wait for the next one.

    Attributes:
        version: The version; None until the first look.
        end: Reason for which there will be no more: deleted, expired, or stopping (of the server).
    """

    def __init__(self) -> None:
        self.version: int | None = None
        self.end = ""
        self.streams = 0
        self._changed = asyncio.Event()

    async def beyond(self, version: int) -> None:
        """Wait for a version after this one, or for the end."""
        while not self.end and (self.version is None or self.version <= version):
            await self._changed.wait()

    def change(self, head: Head | None) -> None:
        """Take over what the store says of the session; None: it is not there any more."""
        end = "deleted" if head is None else "expired" if head.is_over else ""
        version = head.version if head else self.version
        if (end, version) != (self.end, self.version):
            self.version = version
            self.stop(end)

    def stop(self, end: str) -> None:
        """Wake the streams."""
        self.end = end
        self._changed.set()
        self._changed = asyncio.Event()


_Read = Callable[[Sequence[str]], Awaitable[Mapping[str, Head]]]


class Watched:
    """The sessions that have streams in this process.

    One query looks at all of them: a stream that waits asks nothing.
    """

    def __init__(self) -> None:
        self._seen: dict[str, KnownVersion] = {}
        self._due: set[str] = set()
        self._asked = asyncio.Event()
        self._looking: asyncio.Task[None] | None = None
        self._is_closed = False

    def __len__(self) -> int:
        return len(self._seen)

    @contextmanager
    def watch(self, session_id: str, read: _Read) -> Iterator[KnownVersion]:
        """Watch a session while the block lasts."""
        seen = self._seen.get(session_id)
        if seen is None or seen.end:  # what was deleted may have been started again
            seen = self._seen[session_id] = KnownVersion()
        seen.streams += 1
        if self._is_closed:
            seen.end = "stopping"
        elif self._looking is None:
            looking = self._look_on(read)
            # In an empty context: it is not part of the request that came first.
            self._looking = asyncio.get_running_loop().create_task(looking, context=Context())
        self.look(session_id)
        try:
            with raised("journeygraph.stream.active"):
                yield seen
        finally:
            seen.streams -= 1
            if not seen.streams and self._seen.get(session_id) is seen:
                del self._seen[session_id]
            if not self._seen and self._looking:
                self._looking.cancel()
                self._looking = None

    def look(self, session_id: str) -> None:
        """Look at a session at once, if it is watched: it may have changed."""
        if session_id in self._seen:
            self._due.add(session_id)
            self._asked.set()

    def close(self) -> None:
        """End all streams: the server stops."""
        self._is_closed = True
        for seen in self._seen.values():
            seen.stop("stopping")

    async def _look_on(self, read: _Read) -> None:
        while True:
            due, self._due = self._due or set(self._seen), set()
            self._asked.clear()
            try:
                heads = await read([one for one in due if one in self._seen])
            except Exception as error:  # of a store that does not answer, nothing is new
                report(logging.WARNING, "sessions_not_watched", exc_info=error)
            else:
                for session_id in due & self._seen.keys():
                    self._seen[session_id].change(heads.get(session_id))
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(LOOK_SECONDS):
                    await self._asked.wait()
