"""Connections to MCP servers: a child process or a URL, kept by a task, used by any task."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING, Any, TextIO, TypeVar

import anyio
from langchain_core.tools import ToolException

from journeygraph.nodes.json_data import cleaned

if TYPE_CHECKING:
    from mcp import Client
if TYPE_CHECKING:
    from mcp import Client


CLOSING_SECONDS = 10.0
"""Seconds for the end of a server: by itself, after a signal, and after a kill."""
Opening = Callable[[AsyncExitStack], "Client"]
"""Makes a client that is not open yet, and leaves with the stack what must be closed after it."""


class ConnectionTask:
    """Own task for the SDK's connection, which is bound to one task.

    When a connection breaks, the SDK cancels the task that opened it, and no other task may close
    it: neither is fit for the task of a user.
    """

    def __init__(self, opening: Opening) -> None:
        self.client: Client | None = None
        self._opening = opening
        self._ready = asyncio.Event()
        self._close = asyncio.Event()
        self._scope = anyio.CancelScope()
        self._task = asyncio.create_task(self._kept(), name="mcp-link")

    @property
    def over(self) -> bool:
        """Return whether it is closed, or broke."""
        return self._task.done()

    async def ready(self, seconds: float) -> Client:
        """Return the client when it is connected.

        Raises:
            Exception: It cannot be; any error of the SDK and its transports.
        """
        ready = asyncio.ensure_future(self._ready.wait())
        both = {ready, self._task}
        try:
            await asyncio.wait(both, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        finally:
            ready.cancel()
        if self.client is not None:
            return self.client
        if self._task.done():
            raise self._task.exception() or ConnectionError("it was closed")
        raise TimeoutError

    def leave(self) -> None:
        """Start to close it; what is not connected yet is given up."""
        self._close.set()
        self.client = None
        if not self._ready.is_set():
            self._scope.cancel()

    async def closed(self) -> None:
        """Close it, and return when it is: also if we are cancelled, or a process would be left."""
        self.leave()
        cancelled: asyncio.CancelledError | None = None
        hurry = asyncio.get_running_loop().call_later(CLOSING_SECONDS, self._scope.cancel)
        while not self._task.done():
            try:
                await asyncio.wait({self._task})
            except asyncio.CancelledError as error:
                cancelled = error
        hurry.cancel()
        if not self._task.cancelled():
            self._task.exception()  # what broke it was told to whoever asked
        if cancelled:
            raise cancelled

    async def _kept(self) -> None:
        with self._scope:
            async with AsyncExitStack() as open_:
                self.client = await open_.enter_async_context(self._opening(open_))
                self._ready.set()
                try:
                    await self._close.wait()
                finally:
                    self.client = None


MOST_SAID = 500
"""Characters of a server's own words that are passed on in an error."""
MOST_NAME = 64
"""Characters of what a server calls itself."""
_NOT_FOUND = " (HTTP 404)"
_T = TypeVar("_T")


class Connection:
    """Connection to one server.

    Attributes:
        name: The server's own name; before this is known, its program or address, without
            arguments, which may hold a secret.
        lasting: True if a server that was lost is looked for again when it is next asked: one at a
            URL may be back, while a process that died took with it what it knew.
        refusal: The status of the last answer over HTTP that was none, which the SDK keeps back.
    """

    def __init__(self, name: str, seconds: float, *, lasting: bool) -> None:
        self.name = name
        self.seconds = seconds
        self.lasting = lasting
        self.refusal = ""
        self._links: list[ConnectionTask] = []
        self._over = False
        self._one_at_a_time = asyncio.Lock()

    @asynccontextmanager
    async def opened(self, opening: Opening) -> AsyncIterator[None]:
        """Keep the connection open.

        Raises:
            ConnectionError: The server does not start, or does not speak MCP in time.
        """
        self._opening = opening
        async with AsyncExitStack() as closing:
            closing.push_async_callback(self._closed)
            await self._linked()
            yield

    async def ask(self, question: Callable[[Client], Awaitable[_T]]) -> _T:
        """Send a request to the server, from any task.

        Raises:
            ToolException: It is gone, gives no answer in time, refuses, or answers nonsense.
        """
        client = await self._connected()
        try:
            async with asyncio.timeout(self.seconds):
                return await question(client)
        except TimeoutError:
            raise ToolException(
                f"The MCP server '{self.name}' did not answer within {self.seconds:g} seconds."
            ) from None
        except Exception as error:  # the SDK passes on what its transports raise, of any kind
            if self.refusal == _NOT_FOUND:  # it may have been started again without our session
                self._links[-1].leave()
            raise ToolException(f"The MCP server '{self.name}' {self._wrong(error)}") from error

    async def _connected(self) -> Client:
        async with self._one_at_a_time:
            client = self._links[-1].client
            if client is None and self.lasting and not self._over:
                try:
                    client = await self._linked()
                except ConnectionError as error:
                    raise ToolException(str(error)) from error
        if client is None:
            raise ToolException(f"The connection to the MCP server '{self.name}' is closed.")
        return client

    async def _linked(self) -> Client:
        link = ConnectionTask(self._opening)
        self._links = [*(old for old in self._links if not old.over), link]
        try:
            client = await link.ready(self.seconds)
        except TimeoutError:
            link.leave()
            raise ConnectionError(
                f"The MCP server '{self.name}' was not ready within {self.seconds:g} seconds."
            ) from None
        except Exception as error:  # as above
            raise ConnectionError(f"The MCP server '{self.name}' {self._wrong(error)}") from error
        if info := client.server_info:
            self.name = " ".join(cleaned(info.name).split())[:MOST_NAME] or self.name
        return client

    async def _closed(self) -> None:
        self._over = True
        for link in reversed(self._links):
            await link.closed()

    def _wrong(self, error: BaseException | None) -> str:
        while isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        kind, said = type(error).__name__, cleaned(str(error or "")).strip()[:MOST_SAID]
        if isinstance(error, FileNotFoundError):
            return "cannot be started: there is no such program."
        if kind == "ValidationError":
            return "sent data that is not MCP."
        if kind != "MCPError":
            return f"failed: {said or kind}"
        if said == "Connection closed":
            return "has closed the connection."
        return f"says: {said}{self.refusal}"


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
