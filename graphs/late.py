"""The results of threads that a turn went on without."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from graphs.session import Session

_REASON = "its thread ended after the turn; the result was discarded"


class LateResults:
    """Audits each thread that ends after its turn, for as long as the session is open."""

    def __init__(self) -> None:
        self._turn: tuple[Session, int] | None = None
        self._reports: set[asyncio.Task[Any]] = set()

    def begin(self, session: Session, turn: int) -> None:
        """Take note of the turn that begins; what is left behind from now on belongs to it."""
        self._turn = (session, turn)

    def overdue(self, agent: str) -> Callable[[], None]:
        """Return what audits the end of an agent's thread."""
        left_in = self._turn

        def report() -> None:
            if left_in and self._turn:
                session, turn = left_in
                event = {"kind": "late_result", "trigger": agent, "reason": _REASON}
                self._reports.add(asyncio.ensure_future(session.audited(turn, event)))

        return report

    async def written(self) -> None:
        """Wait for what is being written; that the store could not take it is no error here."""
        reports, self._reports = self._reports, set()
        await asyncio.gather(*reports, return_exceptions=True)

    async def end(self) -> None:
        """Write what has been reported, and report no more."""
        self._turn = None
        await self.written()
