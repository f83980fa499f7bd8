"""A connection to an MCP server, which any task may use."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING, TypeVar

from langchain_core.tools import ToolException

from nodes.json_data import cleaned
from nodes.llm.mcp.link import Link, Opening

if TYPE_CHECKING:
    from mcp import Client

MOST_SAID = 500
"""Characters of a server's own words that are passed on in an error."""
MOST_NAME = 64
"""Characters of what a server calls itself."""
_NOT_FOUND = " (HTTP 404)"
_T = TypeVar("_T")


class Connection:
    """Connection to one server.

    Attributes:
        name: What the server calls itself; until it has said so, its program or place, without
            arguments, which may hold a secret.
        seconds: How long an answer may take.
        lasting: True if a server that was lost is looked for again when it is next asked: one at a
            URL may be back, while a process that died took with it what it knew.
        refusal: The status of the last answer over HTTP that was none, which the SDK keeps back.
    """

    def __init__(self, name: str, seconds: float, *, lasting: bool) -> None:
        self.name = name
        self.seconds = seconds
        self.lasting = lasting
        self.refusal = ""
        self._links: list[Link] = []
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
        """Ask the server something, from whatever task.

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
            if self.refusal == _NOT_FOUND:  # it may have been begun anew, and not know us any more
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
        link = Link(self._opening)
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
        """Say what went wrong; of a group of errors, the first."""
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
