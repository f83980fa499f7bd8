"""The results of threads that a turn went on without."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from graphs.session import Session

_REASON = "its thread ended after the turn; the result was discarded"
_Report = Callable[[str], None]
_reporting: ContextVar[_Report | None] = ContextVar("late results of the turn", default=None)


def overdue(agent: str) -> Callable[[], None]:
    """Return what reports the end of an agent's thread to the turn that goes on without it."""
    report = _reporting.get()
    return lambda: report(agent) if report else None


class LateResults:
    """Audits each thread that ends after its turn, for as long as the session is open."""

    def __init__(self) -> None:
        self._opened = object()
        self._reports: set[asyncio.Task[Any]] = set()

    @contextmanager
    def of_turn(self, session: Session, turn: int) -> Iterator[None]:
        """Take the reports of the threads that this turn leaves behind."""
        opened = self._opened

        def report(agent: str) -> None:
            if opened is self._opened:
                event = {"kind": "late_result", "trigger": agent, "reason": _REASON}
                self._reports.add(asyncio.ensure_future(session.audited(turn, event)))

        token = _reporting.set(report)
        try:
            yield
        finally:
            _reporting.reset(token)

    async def written(self) -> None:
        """Wait for what is being written; that the store could not take it is no error here."""
        reports, self._reports = self._reports, set()
        await asyncio.gather(*reports, return_exceptions=True)

    async def end(self) -> None:
        """Write what has been reported, and report no more."""
        self._opened = object()
        await self.written()
