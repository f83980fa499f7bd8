"""A connection that does not say what it wants is closed; uvicorn itself would wait for ever."""

from __future__ import annotations

import asyncio

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

HEAD_SECONDS = 10.0
"""How long the head of a request may take to arrive."""


class PatientProtocol(H11Protocol):
    """uvicorn's protocol with a limit on the time until a request has begun.

    Between two requests of a connection, before the first byte of the next one, uvicorn's own
    keep-alive limit holds. A body has its limit where it is read (`server.http.routing`).
    """

    _waiting: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait."""
        super().connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        """Take what came; wait on if it was not yet a whole head."""
        super().data_received(data)
        if self.conn.their_state is h11.IDLE:
            self._wait()
        else:
            self._stop_waiting()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no more."""
        self._stop_waiting()
        super().connection_lost(exc)

    def _wait(self) -> None:
        # Not begun anew with every byte: a head that comes in drops has no more time.
        if self._waiting is None:
            self._waiting = self.loop.call_later(HEAD_SECONDS, self.transport.abort)

    def _stop_waiting(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None
