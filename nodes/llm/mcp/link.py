"""One connection of the SDK, kept by a task of its own from its opening to its end."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING

import anyio

if TYPE_CHECKING:
    from mcp import Client

CLOSING_SECONDS = 10.0
"""Seconds for the end of a server: by itself, after a signal, and after a kill."""
Opening = Callable[[AsyncExitStack], "Client"]
"""Makes a client that is not open yet, and leaves with the stack what must be closed after it."""


class Link:
    """Own task for the SDK's connection, which is bound to one task.

    When a connection breaks, the SDK cancels the task that opened it, and no other task may close
    it: neither is fit for the task of a user.

    Attributes:
        client: The client while it is connected.
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
            TimeoutError: It is not by then.
            Exception: It cannot be; whatever the SDK and its transports raise.
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
