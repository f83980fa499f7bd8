"""A connection to an MCP server, kept by a task of its own."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING, Any, TextIO, TypeVar

from langchain_core.tools import ToolException

from journeys import ConfigurationError
from nodes.plain import cleaned

if TYPE_CHECKING:
    from mcp import Client

CLOSING_SECONDS = 10.0
"""How long a server may take to end: to leave by itself, to be told to, and to be killed."""
MOST_SAID = 500
"""Characters of a server's own words that are passed on in an error."""
MOST_NAME = 64
"""Characters of what a server calls itself."""
_T = TypeVar("_T")


def require_mcp() -> None:
    """Say what to install where the official SDK is not there.

    Raises:
        ConfigurationError: It is missing.
    """
    try:
        import mcp  # noqa: F401, PLC0415
    except ImportError as error:
        raise ConfigurationError(
            "MCP needs its SDK, which is not installed: pip install journeygraph[mcp]"
        ) from error


class Connection:
    """What talks to one server.

    The SDK ties a connection to the task that opened it: when it breaks, that task is cancelled,
    and no other may close it. So the task is our own, and everybody else only asks it.

    Attributes:
        name: What the server calls itself; until it has said so, its program or place, without
            arguments, which may hold a secret.
        seconds: How long an answer may take.
        refusal: The status of the last answer over HTTP that was none, which the SDK keeps back.
    """

    def __init__(self, name: str, seconds: float) -> None:
        self.name = name
        self.seconds = seconds
        self.refusal = ""
        self._client: Client | None = None
        self._close = asyncio.Event()
        self._ready = asyncio.Event()

    @asynccontextmanager
    async def opened(self, open_client: Callable[[AsyncExitStack], Client]) -> AsyncIterator[None]:
        """Keep the connection open.

        Raises:
            ConnectionError: The server does not start, or does not speak MCP in time.
        """
        import anyio  # noqa: PLC0415

        scope = anyio.CancelScope()
        keeper = asyncio.create_task(self._kept(open_client, scope), name=f"mcp-{self.name}")
        try:
            await self._until_ready(keeper)
            yield
        finally:
            self._close.set()
            if not self._ready.is_set():
                scope.cancel()
            await _ended(keeper, scope.cancel)

    async def ask(self, question: Callable[[Client], Awaitable[_T]]) -> _T:
        """Ask the server something, from whatever task.

        Raises:
            ToolException: It is gone, gives no answer in time, refuses, or answers nonsense.
        """
        if self._client is None:
            raise ToolException(f"The MCP server '{self.name}' is gone.")
        try:
            async with asyncio.timeout(self.seconds):
                return await question(self._client)
        except TimeoutError:
            raise ToolException(
                f"The MCP server '{self.name}' gave no answer within {self.seconds:g} seconds."
            ) from None
        except Exception as error:  # the SDK passes on what its transports raise, of any kind
            raise ToolException(f"The MCP server '{self.name}' {self._wrong(error)}") from error

    def _wrong(self, error: BaseException | None) -> str:
        """Say what went wrong; of a group of errors, the first."""
        while isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        kind, said = type(error).__name__, cleaned(str(error or "")).strip()[:MOST_SAID]
        if isinstance(error, FileNotFoundError):
            return "cannot be started: there is no such program."
        if kind == "ValidationError":
            return "gave an answer that is not MCP."
        if kind != "MCPError":
            return f"failed: {said or kind}"
        if said == "Connection closed":
            return "is gone."
        return f"says: {said}{self.refusal}"

    async def _kept(self, open_client: Callable[[AsyncExitStack], Client], scope: Any) -> None:
        with scope:
            async with AsyncExitStack() as open_:
                self._client = await open_.enter_async_context(open_client(open_))
                if info := self._client.server_info:
                    self.name = cleaned(info.name)[:MOST_NAME] or self.name
                self._ready.set()
                try:
                    await self._close.wait()
                finally:
                    self._client = None

    async def _until_ready(self, keeper: asyncio.Task[None]) -> None:
        ready = asyncio.ensure_future(self._ready.wait())
        try:
            await asyncio.wait(
                {ready, keeper}, timeout=self.seconds, return_when=asyncio.FIRST_COMPLETED
            )
        finally:
            ready.cancel()
        if keeper.done():
            error = keeper.exception()
            raise ConnectionError(f"The MCP server '{self.name}' {self._wrong(error)}") from error
        if not self._ready.is_set():
            raise ConnectionError(
                f"The MCP server '{self.name}' was not ready within {self.seconds:g} seconds."
            )


async def _ended(keeper: asyncio.Task[None], hurry: Callable[[], None]) -> None:
    """Wait until the connection is closed, also if we are cancelled: a process may hang on it."""
    cancelled: asyncio.CancelledError | None = None
    asyncio.get_running_loop().call_later(CLOSING_SECONDS, hurry)
    while not keeper.done():
        try:
            await asyncio.wait({keeper})
        except asyncio.CancelledError as error:
            cancelled = error
    if not keeper.cancelled():
        keeper.exception()  # what broke it was told to whoever asked
    if cancelled:
        raise cancelled


def over_stdio(command: Sequence[str], env: Mapping[str, str] | None) -> Any:
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


def over_http(connection: Connection, url: str, headers: Mapping[str, str] | None) -> Any:
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
