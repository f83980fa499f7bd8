"""Progress notifications for a waiting client."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

MOST_WAITING = 64
"""Size of the buffer of events for a slow client; later events are dropped."""
# What an event says of the work, and not of what was said: words come with the result.
_SHOWN = {
    "transition": ("from", "to"),
    "pathway": ("pathway",),
    "agent_started": ("agent",),
    "agent_finished": ("agent",),
    "agent_failed": ("agent", "kind"),
    "selected": ("agents",),
    "voted": ("agent", "vote"),
}


class ProgressSender:
    """Sender of progress notifications; the work never waits for it.

    Args:
        session: The SDK's session of the request.
    """

    def __init__(self, session: Any) -> None:
        self._session = session
        self._waiting: asyncio.Queue[str | None] = asyncio.Queue(MOST_WAITING + 1)

    def hear(self, kind: str, event: Mapping[str, Any]) -> None:
        """Take an event."""
        if kind in _SHOWN and self._waiting.qsize() < MOST_WAITING:
            said = " ".join(_words(event.get(name)) for name in _SHOWN[kind])
            self._waiting.put_nowait(f"{kind} {said}".strip())

    async def during(self, work: asyncio.Task[Any]) -> None:
        """Send events until the work is done."""
        work.add_done_callback(lambda _: self._waiting.put_nowait(None))
        sent = 0
        while (said := await self._waiting.get()) is not None:
            sent += 1
            await self._session.report_progress(sent, message=said)


def _words(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return ", ".join(map(_words, value))
    return str(value)
