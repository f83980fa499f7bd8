"""Connections of clients: one that sends no request is closed, and each answer is one packet.

A connection whose answer comes before the end of the body is closed too: a client without a key
must not hold a file descriptor by a slow body.

A connection over the limits is answered by 503 and closed; nothing of it is read.

Requests are parsed by httptools where it is installed, else by h11, which takes longer.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Callable
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

try:
    import httptools
    from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
except ImportError:  # the extra `fast` is not installed
    httptools = None  # type: ignore[assignment]
    HttpToolsProtocol = object  # type: ignore[assignment,misc]

HEAD_SECONDS = 10.0
"""Seconds within which the head of a request must arrive."""
LINGER_SECONDS = 2.0
"""Seconds for which the rest of a body is read and discarded after its answer.

To close at once would reset the connection, and a client that still sends would lose the answer.
"""
MOST_HEAD_BYTES = 16 * 1024
"""Maximum size of a head, of trailers, and of what surrounds a chunk; the limit of h11 too."""


class ConnectionLimits:
    """Limits of the open connections of this process.

    Args:
        most: Maximum number in total.
        most_of_address: Maximum number per address of a client; None: no limit.
    """

    def __init__(self, most: int, most_of_address: int | None = None) -> None:
        self.most, self.most_of_address = most, most_of_address
        self.open: Counter[str] = Counter()

    def enter(self, address: str) -> bool:
        """Count a connection; return False if there is no room for it."""
        most = self.most if self.most_of_address is None else self.most_of_address
        if self.open[address] >= most or self.open.total() >= self.most:
            self.leave(address, 0)
            return False
        self.open[address] += 1
        return True

    def leave(self, address: str, number: int = 1) -> None:
        """Count connections no more."""
        self.open[address] -= number
        if not self.open[address]:
            del self.open[address]


_FULL = {
    "type": "about:blank",
    "title": "Service Unavailable",
    "status": 503,
    "detail": "This server has as many open connections as it may. Try again later.",
    "code": "too_many_connections",
    "request_id": "",
}
_REFUSAL = "\r\n".join(
    [
        "HTTP/1.1 503 Service Unavailable",
        "Content-Type: application/problem+json",
        "Retry-After: 1",
        "Connection: close",
        f"Content-Length: {len(json.dumps(_FULL))}",
        "",
        json.dumps(_FULL),
    ]
).encode()


class _Head:
    """The time limit for the head of a request; what protocols share.

    Between two requests of a connection, before the first byte of the next one, uvicorn's own
    keep-alive limit holds. The limit for the body is in `journeygraph.server.http.routing`.
    """

    loop: asyncio.AbstractEventLoop
    transport: asyncio.Transport
    limits: ConnectionLimits | None = None
    _address: str | None = None
    """Address for which the connection counts."""
    _waiting: asyncio.TimerHandle | None = None

    def is_admitted(self, transport: asyncio.Transport) -> bool:
        """Count the connection once; answer one over the limits, and close it."""
        if self.limits is None or self._address is not None:
            return True
        peer = transport.get_extra_info("peername")
        address = peer[0] if isinstance(peer, tuple) else ""
        if self.limits.enter(address):
            self._address = address
            return True
        transport.write(_REFUSAL)
        transport.close()
        return False

    def leave(self) -> None:
        """Count the connection no more."""
        if self.limits and self._address is not None:
            self.limits.leave(self._address)
            self._address = None

    def wait(self) -> None:
        """Start the timer, unless it runs: a head that comes in drops has no more time."""
        if self._waiting is None:
            self._waiting = self.loop.call_later(HEAD_SECONDS, self._end)

    def stop_waiting(self) -> None:
        """Stop the timer."""
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None

    def is_answering(self) -> bool:
        """Return whether the answer to an earlier request is not complete."""
        return False

    def is_sent_more(self) -> bool:
        """Return whether the client has more of a request to send."""
        return False

    def _end(self) -> None:
        self._waiting = None
        if self.is_answering():
            self.wait()
        else:
            self.transport.abort()


class H11(_Head, H11Protocol):
    """uvicorn's protocol on h11."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start to wait for a request."""
        if not self.is_admitted(transport):
            transport.set_protocol(asyncio.Protocol())
            return
        joined: Any = _Joined(transport, self.loop, self.is_sent_more)
        super().connection_made(joined)
        self.wait()

    def data_received(self, data: bytes) -> None:
        """Receive data; keep the timer until the head is complete."""
        if self.transport.is_closing():
            return
        super().data_received(data)
        if self.conn.their_state is h11.IDLE:
            self.wait()
        else:
            self.stop_waiting()

    def is_sent_more(self) -> bool:
        """Return whether the client has more of a request to send."""
        return self.conn.their_state in (h11.SEND_BODY, h11.ERROR)

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the timer."""
        self.leave()
        self.stop_waiting()
        super().connection_lost(exc)


class HttpTools(_Head, HttpToolsProtocol):
    """uvicorn's protocol on httptools, which by itself limits nothing and forgives more than h11.

    Like h11 it limits the head, refuses a request without one `Host`, ignores trailers, and never
    answers a request before an earlier one. It knows no method but those of the standards: a
    request with another one is left to h11.
    """

    _in_head, _in_body, _is_refused = True, False, False
    _hosts = _size = _begun = 0
    _unread = 0
    """Bytes since the last head, part of a body, or end of a request."""
    _earlier: Any = None
    """Cycle of the request before the last one."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start to wait for a request."""
        if not self.is_admitted(transport):
            transport.set_protocol(asyncio.Protocol())
            return
        joined: Any = _Joined(transport, self.loop, self.is_sent_more)
        super().connection_made(joined)
        self.wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the timer."""
        self.leave()
        self.stop_waiting()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Receive data; keep the timer until the head is complete."""
        self._unset_keepalive_if_required()
        if self._is_refused or self.transport.is_closing():
            return
        is_first = not (self._unread or self._in_body or self.is_answering())
        self._begun = 0
        self._unread += len(data)
        try:
            self.parser.feed_data(data)
            if self._unread > MOST_HEAD_BYTES:
                raise httptools.HttpParserError("too large")
        except httptools.HttpParserUpgrade as upgrade:
            lines = [self._request_line(), *(b"%s: %s" % header for header in self.headers)]
            self._hand_over(b"\r\n".join([*lines, b"", data[upgrade.args[0] :]]))
            return
        except httptools.HttpParserInvalidMethodError:
            if is_first and self._begun == 1:  # and nothing of the data was taken before
                self._hand_over(data)
                return
            self._refuse("Invalid HTTP request received.")
        except httptools.HttpParserError:
            self._refuse("Invalid HTTP request received.")
        if self._in_head or not (self._in_body or self.is_answering()):
            self.wait()
        else:
            self.stop_waiting()

    def is_answering(self) -> bool:
        """Return whether the answer to an earlier request is not complete."""
        return self.cycle is not None and not self.cycle.response_complete

    def is_sent_more(self) -> bool:
        """Return whether the client has more of a request to send."""
        return self._in_body or self._is_refused

    def on_message_begin(self) -> None:
        """Begin a request."""
        super().on_message_begin()
        self._in_head, self._hosts = True, 0
        self._begun += 1

    def on_url(self, url: bytes) -> None:
        """Take a part of the target."""
        super().on_url(url)
        self._size = len(self.url)

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a header, and no trailer."""
        if self._in_head:
            super().on_header(name, value)
            self._size += len(name) + len(value)
            self._hosts += name.lower() == b"host"

    def on_headers_complete(self) -> None:
        """Begin to answer.

        Raises:
            HttpParserError: The head is too large, or has not one `Host`.
        """
        no_host = self._hosts == 0 and self.parser.get_http_version() == "1.0"
        if self._size > MOST_HEAD_BYTES or not (self._hosts == 1 or no_host):
            raise httptools.HttpParserError("the head")
        if not self.parser.should_upgrade():
            self._earlier = self.cycle
            super().on_headers_complete()
        elif self.is_answering():
            raise httptools.HttpParserError("another protocol while an answer is on its way")
        self._in_head, self._in_body, self._unread = False, True, 0

    def on_body(self, body: bytes) -> None:
        """Take a part of a body."""
        self._unread = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        """End the body."""
        self._in_body, self._unread = False, 0
        if not self.parser.should_upgrade():
            super().on_message_complete()

    def _request_line(self) -> bytes:
        version = self.parser.get_http_version().encode()
        return b"%s %s HTTP/%s" % (self.parser.get_method(), self.url, version)

    def _hand_over(self, request: bytes) -> None:
        """Continue with h11 from a request on that httptools cannot read.

        That is one with a method that it does not know, or one that offers another protocol.
        """
        self.stop_waiting()
        self.connections.discard(self)
        transport: Any = self.transport
        other = H11(self.config, self.server_state, self.app_state)
        other.limits, other._address = self.limits, self._address
        transport.set_protocol(other)
        other.connection_made(transport.joined)
        other.data_received(request)

    def _refuse(self, reason: str) -> None:
        """Close the connection; an answer that is on its way comes first."""
        self.logger.warning(reason)
        self._is_refused = True
        if self.pipeline and self._in_body:
            self.pipeline.popleft()
            self.cycle, self._in_body = self._earlier, False
        if self.is_answering() and not self._in_body:
            self.cycle.keep_alive = False
        elif self.is_answering() and self.cycle.response_started:
            self.transport.close()
        else:
            self.send_400_response(reason)


PROTOCOLS = [H11] if httptools is None else [HttpTools, H11]
"""Protocols of a server, the quickest first."""


def limited(protocol: type[asyncio.Protocol], limits: ConnectionLimits) -> type[asyncio.Protocol]:
    """Return a protocol of a server with these limits."""
    return type(protocol.__name__, (protocol,), {"limits": limits})


class _Joined:
    """A transport that sends the head of an answer together with the first part of its body.

    uvicorn writes one after the other, and each write that is sent at once wakes the client.

    Args:
        transport: The transport of the connection.
        loop: The running event loop.
        is_sent_more: Returns whether the client has more of a request to send.
    """

    def __init__(
        self,
        transport: asyncio.Transport,
        loop: asyncio.AbstractEventLoop,
        is_sent_more: Callable[[], bool],
    ) -> None:
        self.joined = transport
        self._loop = loop
        self._is_sent_more = is_sent_more
        self._held = b""
        self._lingers = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self.joined, name)

    def write(self, data: bytes) -> None:
        """Hold the first part for the next one, which must follow in the same step of the loop."""
        if self._held:
            self._held += data
            self._send()
        elif data:
            self._held = data
            self._loop.call_soon(self._send)

    def is_closing(self) -> bool:
        """Return whether nothing more is read or written."""
        return self._lingers or self.joined.is_closing()

    def close(self) -> None:
        """Send what is held, and close; a body that still comes is discarded for a moment."""
        self._send()
        if self.is_closing() or not self._is_sent_more() or not self.joined.can_write_eof():
            self.joined.close()
            return
        self._lingers = True
        self.joined.write_eof()
        self.joined.resume_reading()
        self._loop.call_later(LINGER_SECONDS, self.joined.close)

    def _send(self) -> None:
        held, self._held = self._held, b""
        if held:
            self.joined.write(held)
