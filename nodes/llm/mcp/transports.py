"""Transports to an MCP server: a child process, or a URL."""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING, Any, TextIO

from nodes.llm.mcp.connection import Connection
from nodes.llm.mcp.link import CLOSING_SECONDS, Opening

if TYPE_CHECKING:
    from mcp import Client


def over_stdio(command: Sequence[str], env: Mapping[str, str] | None) -> Opening:
    """Return what starts a server as a process and talks to its standard streams.

    Of our environment it gets what every program needs (PATH, HOME and the like) and `env`; keys
    of models and stores are not passed on.
    """
    from mcp import StdioServerParameters, stdio_client  # noqa: PLC0415

    given = StdioServerParameters(
        command=command[0], args=list(command[1:]), env=dict(env) if env else None
    )

    def opening(open_: AsyncExitStack) -> Client:
        return _client(stdio_client(given, _errors(open_)))

    return opening


def over_http(connection: Connection, url: str, headers: Mapping[str, str] | None) -> Opening:
    """Return what talks to a server at a URL by streamable HTTP."""
    import httpx2  # noqa: PLC0415
    from mcp.client.streamable_http import streamable_http_client  # noqa: PLC0415

    async def noted(answer: httpx2.Response) -> None:
        connection.refusal = f" (HTTP {answer.status_code})" if answer.is_error else ""

    @asynccontextmanager
    async def transport() -> AsyncIterator[Any]:
        # Reading has no limit of its own: a stream may be silent, and each question is timed.
        timeout = httpx2.Timeout(min(connection.seconds, CLOSING_SECONDS / 2), read=None)
        hooks: Any = {"response": [noted]}
        async with (
            httpx2.AsyncClient(
                headers=dict(headers or {}), timeout=timeout, event_hooks=hooks
            ) as http,
            streamable_http_client(url, http_client=http) as streams,
        ):
            yield streams

    def opening(_: AsyncExitStack) -> Client:
        return _client(transport())

    return opening


def _client(transport: Any) -> Client:
    from mcp import Client  # noqa: PLC0415

    return Client(transport, cache=None)


def _errors(open_: AsyncExitStack) -> TextIO:
    """Return where the server's standard error goes: to ours, if that is one a process can have."""
    try:
        sys.stderr.fileno()
    except (OSError, AttributeError, ValueError):  # a notebook, or a test, that catches it
        return open_.enter_context(open(os.devnull, "w"))
    return sys.stderr
