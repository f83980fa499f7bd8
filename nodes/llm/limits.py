"""The HTTP client of OpenAI's models: no redirects, and no answer without an end."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from typing import Any

MOST_BYTES = 8 * 1024 * 1024
"""Largest answer on the wire; a stream spends a few hundred bytes on each token."""


class OversizedError(OSError):
    """An answer is over the limit; what follows of it is not read."""


class _Limited:
    """The stream of a response, up to a limit."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        left = MOST_BYTES
        async for piece in self._stream:
            left -= len(piece)
            if left < 0:
                raise OversizedError(f"over {MOST_BYTES} bytes")
            yield piece

    async def aclose(self) -> None:
        await self._stream.aclose()


def client_of(*, keeps_alive: bool) -> Any:
    """Return a new client; whoever makes it closes it.

    Args:
        keeps_alive: Whether connections are used again, which only one event loop can do.
    """
    from httpx2 import AsyncByteStream, Limits  # noqa: PLC0415 - as heavy as the library it belongs to
    from openai import DEFAULT_CONNECTION_LIMITS, DefaultAsyncHttpxClient  # noqa: PLC0415

    class LimitedStream(_Limited, AsyncByteStream):
        pass

    async def limit(response: Any) -> None:
        response.stream = LimitedStream(response.stream)

    return DefaultAsyncHttpxClient(
        event_hooks={"response": [limit]},
        follow_redirects=False,
        limits=DEFAULT_CONNECTION_LIMITS if keeps_alive else Limits(max_keepalive_connections=0),
        proxy=os.environ.get("OPENAI_PROXY") or None,
    )
