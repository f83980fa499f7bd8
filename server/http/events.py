"""A turn as server-sent events, for a client that may be slow or disconnected."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

from fastapi.sse import EventSourceResponse, ServerSentEvent

from journeys import JourneyEvent
from server.http.envelope import STALL_SECONDS
from server.http.problems import Problem
from server.http.schemas.sessions import Reply

AS_EVENTS: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "The reply; or, with `Accept: text/event-stream`, the events of the turn: "
        "`transition` {from, to, intent}, `pathway` {pathway}, `token` {text}, `waiting` "
        "{waiting} if an agent asks, then `done` with the whole reply, or `error` with a problem.",
        "content": {EventSourceResponse.media_type: {"schema": {"type": "string"}}},
    }
}
"""API description of a route that can also return events."""
MOST_WAITING = 64
"""Size of the buffer of events for a slow client."""
PUBLIC = ("transition", "pathway", "token", "waiting", "done")
"""Events of a turn that clients get.

Names of agents and their failures are not among them; an error is raised and described in our own
words.
"""


class Listener:
    """Listener to the events of a turn.

    The turn never waits for it: a listener that stops reading is dropped.
    """

    def __init__(self) -> None:
        self._waiting: asyncio.Queue[ServerSentEvent | None] = asyncio.Queue(MOST_WAITING)
        self._gone = self._over = False

    async def hear(self, event: ServerSentEvent) -> None:
        """Send an event; return at once if the listener is gone."""
        if self._gone:
            return
        try:
            async with asyncio.timeout(STALL_SECONDS if self._waiting.full() else None):
                await self._waiting.put(event)
        except TimeoutError:
            self._leave()

    def end(self) -> None:
        """End the stream after the events so far."""
        self._over = True
        if self._waiting.empty():
            self._waiting.put_nowait(None)  # wakes who waits for more

    async def events(self) -> AsyncIterator[ServerSentEvent]:
        """Yield the events; the turn continues if the caller stops early."""
        try:
            while not (self._over and self._waiting.empty()):
                if event := await self._waiting.get():
                    yield event
        finally:
            self._leave()

    def _leave(self) -> None:
        self._gone = True
        while not self._waiting.empty():
            self._waiting.get_nowait()
        self.end()


def sent(event: JourneyEvent, session_id: str) -> ServerSentEvent:
    """Return an event of a turn for clients; `done` has the same data as the JSON response."""
    if event.type == "done":
        reply = Reply.of(session_id, event.data["response"])
        return ServerSentEvent(event="done", data=reply)
    return ServerSentEvent(event=event.type, data=dict(event.data))


def failed(problem: Problem, request_id: str) -> ServerSentEvent:
    """Return the event that ends a turn which was not committed."""
    return ServerSentEvent(event="error", data=problem.body(request_id))
