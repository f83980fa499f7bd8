"""Readiness of a server: its faults, looked for once a second at most."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from http import HTTPStatus

from journeygraph.graphs.storage.errors import logged_reason
from journeygraph.journeys import StateError
from journeygraph.journeys.faults import Fault
from journeygraph.nodes.telemetry import report
from journeygraph.server.http.problems import RETRY_AFTER, Problem

READY_SECONDS = 2.0
"""Seconds within which the store must respond."""
AGAIN_SECONDS = 1.0
"""Seconds for which a result counts, however often it is asked for."""


@dataclass(slots=True)
class Readiness:
    """The faults that keep a server from serving.

    Args:
        look: Looks for them; raises `StateError` if the store does not respond.
    """

    look: Callable[[], Awaitable[list[Fault]]]
    _looking: asyncio.Future[list[Fault]] | None = None
    _until: float = 0.0
    _told: list[Fault] = field(default_factory=list)

    async def faults(self) -> list[Fault]:
        """Return the faults; an empty list: the server is ready. Changes of them are logged."""
        clock = asyncio.get_running_loop().time
        if self._looking is None or (self._looking.done() and clock() >= self._until):
            self._looking = asyncio.ensure_future(self._found())
            self._until = clock() + AGAIN_SECONDS
        # Shielded: to cancel what a database does not answer takes longer than to leave it alone.
        done, _ = await asyncio.wait([self._looking], timeout=READY_SECONDS)
        found = self._looking.result() if done else [_SILENT]
        for fault in found:
            if fault not in self._told:
                report(logging.WARNING, "not_ready", reason=str(fault))
        self._told = found
        return found

    async def _found(self) -> list[Fault]:
        try:
            return await self.look()
        except StateError as error:
            report(logging.WARNING, "store_failed", reason=logged_reason(error))
            return [_SILENT]


_SILENT = Fault("it does not respond.", remedy="Start it, or look at its log.", where="store")


def not_ready(faults: list[Fault]) -> Problem:
    """Return the problem of a server that is not ready."""
    code, detail = "not_ready", "The server is not ready; `faults` has each reason."
    if _SILENT in faults:
        code, detail = "store_unavailable", "The store does not respond."
    return Problem(
        HTTPStatus.SERVICE_UNAVAILABLE,
        code,
        detail,
        headers={"Retry-After": str(RETRY_AFTER)},
        faults=faults,
    )


def not_served(definition: str) -> Fault:
    """Return the fault of a definition that was refused when the server started."""
    return Fault(
        "its definition was refused, and there is no earlier version to serve.",
        remedy="Load it again without its faults, or retire it: journeygraph load, definitions.",
        where=definition,
    )
