"""The server of the official SDK, and its transport over standard streams.

Journeys and pipelines are loaded on the first request that needs them, so that a client gets a
response at once.
"""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Any, Self

import mcp_types as types
from mcp.server import Server
from mcp.server.stdio import stdio_server

from journeygraph.server import installed_version

if TYPE_CHECKING:
    from journeygraph.server.mcp.offering import Offering

_ABOUT = (
    "Each tool is a conversation with a goal, or a group of agents for a task. To continue "
    "a conversation, send the session_id of its last response."
)


def server_of(offered: Callable[[], Awaitable[Offering]]) -> Server[Any]:
    """Return a server of tools and resources.

    Clients get errors in our own words; the details are in the log.
    """

    async def tools(_: Any, __: Any) -> types.ListToolsResult:
        return (await offered()).tools()

    async def call(asked: Any, given: types.CallToolRequestParams) -> types.CallToolResult:
        return await (await offered()).call(asked, given)

    async def resources(_: Any, __: Any) -> types.ListResourcesResult:
        return (await offered()).resources()

    async def templates(_: Any, __: Any) -> types.ListResourceTemplatesResult:
        return (await offered()).templates()

    async def read(asked: Any, given: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        return await (await offered()).read(asked, given)

    return Server(
        "journeygraph",
        version=installed_version(),
        instructions=_ABOUT,
        on_list_tools=tools,
        on_call_tool=call,
        on_list_resources=resources,
        on_list_resource_templates=templates,
        on_read_resource=read,
    )


Open = Callable[[], AbstractAsyncContextManager["Offering"]]


def over_streams(load: Callable[[], Open], fail: Callable[[Exception], Any]) -> None:
    """Serve one client until it closes our standard input.

    Prints of agents go to standard error meanwhile: standard output is only for the client. Without
    a client (a terminal, or empty input), the targets are loaded only to report their faults.

    Args:
        load: Imports the targets; returns a function that opens them.
        fail: Ends the process, with the error, if that cannot be done.
    """
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    if sys.stdin.isatty():
        loaded = load()
        asyncio.run(_serve(_Lazy(lambda: loaded, fail)))
    elif not asyncio.run(_serve(_Lazy(load, fail))):
        load()


async def _serve(lazy: _Lazy) -> bool:
    server = server_of(lazy.offered)
    async with stdio_server() as (reads, writes):
        heard = _Heard(reads)
        try:
            await server.run(heard, writes, server.create_initialization_options())
        finally:
            await lazy.close()
    return heard.anything


class _Heard:
    """A stream that records whether it received anything."""

    def __init__(self, stream: Any) -> None:
        self.anything = False
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Any:
        item = await anext(self._stream)
        self.anything = True
        return item

    async def __aenter__(self) -> Self:
        await self._stream.__aenter__()
        return self

    async def __aexit__(self, *error: Any) -> None:
        await self._stream.__aexit__(*error)


class _Lazy:
    """Opens the tools and resources once, on first use."""

    def __init__(self, load: Callable[[], Open], fail: Callable[[Exception], Any]) -> None:
        self._load, self._fail = load, fail
        self._ready: asyncio.Future[Offering] | None = None
        self._keeping: asyncio.Task[None] | None = None
        self._over = asyncio.Event()

    async def offered(self) -> Offering:
        if self._ready is None:
            self._ready = asyncio.get_running_loop().create_future()
            self._keeping = asyncio.create_task(self._keep(self._ready))
        return await asyncio.shield(self._ready)

    async def _keep(self, ready: asyncio.Future[Offering]) -> None:
        """Open them, and close them after the client disconnects, in the same task."""
        try:
            # In a thread: modules of authors may run a loop of their own while they are imported.
            opened = await asyncio.to_thread(self._load)
            async with opened() as offering:
                ready.set_result(offering)
                await self._over.wait()
        except Exception as error:
            self._fail(error)

    async def close(self) -> None:
        self._over.set()
        if self._keeping:
            await self._keeping
