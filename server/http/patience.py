"""Connections of clients: one that sends no request is closed, and each answer is one packet."""

from __future__ import annotations

import asyncio
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

HEAD_SECONDS = 10.0
"""Seconds within which the head of a request must arrive."""


class PatientProtocol(H11Protocol):
    """uvicorn's protocol with a time limit for the head of a request.

    Between two requests of a connection, before the first byte of the next one, uvicorn's own
    keep-alive limit holds. The limit for the body is in `server.http.routing`.
    """

    _waiting: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start to wait for a request."""
        joined: Any = _Joined(transport, self.loop)
        super().connection_made(joined)
        self._wait()

    def data_received(self, data: bytes) -> None:
        """Receive data; keep the timer until the head is complete."""
        super().data_received(data)
        if self.conn.their_state is h11.IDLE:
            self._wait()
        else:
            self._stop_waiting()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the timer."""
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


class _Joined:
    """A transport that sends the head of an answer together with the first part of its body.

    uvicorn writes one after the other, and each write that is sent at once wakes the client.
    """

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport = transport
        self._loop = loop
        self._held = b""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def write(self, data: bytes) -> None:
        """Hold the first part for the next one, which must follow in the same step of the loop."""
        if self._held:
            self._held += data
            self._send()
        elif data:
            self._held = data
            self._loop.call_soon(self._send)

    def close(self) -> None:
        """Send what is held, and close."""
        self._send()
        self._transport.close()

    def _send(self) -> None:
        held, self._held = self._held, b""
        if held:
            self._transport.write(held)
