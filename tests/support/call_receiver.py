"""A receiver of webhooks on a loopback socket, which answers what a test says."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Receiver:
    """What came in; `answers` are used up one by one, the last one stays.

    `held` keeps every answer back until it is set.
    """

    answers: list[str]
    url: str = ""
    held: asyncio.Event = field(default_factory=asyncio.Event)
    posts: list[tuple[dict[str, str], bytes]] = field(default_factory=list)
    came: asyncio.Condition = field(default_factory=asyncio.Condition)

    async def until(self, number: int) -> None:
        """Wait until so many posts came in."""
        async with self.came:
            await self.came.wait_for(lambda: len(self.posts) >= number)

    def body(self, number: int) -> Any:
        """The JSON of a post."""
        return json.loads(self.posts[number][1])

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Read posts of a connection and answer them."""
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                lines = head.decode("latin-1").strip().split("\r\n")
                pairs = (line.partition(": ") for line in lines[1:])
                headers = {name.lower(): value for name, _, value in pairs}
                body = await reader.readexactly(int(headers["content-length"]))
                async with self.came:
                    self.posts.append(({**headers, "line": lines[0]}, body))
                    self.came.notify_all()
                await self.held.wait()
                said = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
                writer.write(f"HTTP/1.1 {said}\r\nContent-Length: 0\r\n\r\n".encode())
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()


@asynccontextmanager
async def receiving(
    answers: Sequence[str] = ("200 OK",), *, held: bool = False
) -> AsyncIterator[Receiver]:
    """Receive on a port of its own until the block ends."""
    receiver = Receiver(list(answers))
    if not held:
        receiver.held.set()
    server = await asyncio.start_server(receiver.answer, "127.0.0.1", 0)
    receiver.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/calls?desk=1"
    try:
        yield receiver
    finally:
        receiver.held.set()
        server.close()
        server.close_clients() if hasattr(server, "close_clients") else None
        await server.wait_closed()
