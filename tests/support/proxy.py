"""A network between a client and its server that is slow, breaks, falls silent, or lies."""

from __future__ import annotations

import asyncio
import contextlib
import subprocess
import sys
from collections.abc import AsyncIterator
from typing import Self
from urllib.parse import urlsplit

_CHUNK = 1 << 16


def through(url: str, port: int) -> str:
    """Return a database's URL by way of a port on this machine."""
    parts = urlsplit(url)
    account = f"{parts.netloc.rpartition('@')[0]}@" if "@" in parts.netloc else ""
    return parts._replace(netloc=f"{account}127.0.0.1:{port}").geturl()


class Proxy:
    """Passes bytes on, with faults on demand.

    Attributes:
        delay: Seconds that what a client sends takes on its way, as a statement does.
        silent: True: sent data is dropped, and every connection stays open.
        loses: A text in the data of a client: the data arrives, its answer does not, and the
            connection is cut. Only the first time.
        drops: The same, but it does not arrive either; as often as `times` says.
        refuses: True: every connection is refused at once.
        garbles: The data that a client gets in place of every answer.
        cuts_after: Bytes of an answer after which the connection is cut.
        lags: True: every request gets the answer to the request before it.
        connected: The number of connections of clients.
        asked: The number of times that a client sent data.
    """

    def __init__(self, url: str, delay: float = 0.0) -> None:
        parts = urlsplit(url)
        self._target = (parts.hostname or "127.0.0.1", parts.port or 5432)
        self._url = url
        self.delay = delay
        self.silent = False
        self.loses: bytes | None = None
        self.drops: bytes | None = None
        self.times = 0
        self.hit = 0
        self.refuses = False
        self.garbles: bytes | None = None
        self.cuts_after: int | None = None
        self.lags = False
        self._before = b""
        self.connected = 0
        self.asked = 0
        self._ends: set[asyncio.StreamWriter] = set()

    @classmethod
    @contextlib.asynccontextmanager
    async def to(cls, url: str, delay: float = 0.0) -> AsyncIterator[Self]:
        proxy = cls(url, delay)
        server = await asyncio.start_server(proxy._serve, "127.0.0.1", 0)
        proxy.port = server.sockets[0].getsockname()[1]
        try:
            yield proxy
        finally:
            server.close()
            proxy.cut()

    port = 0

    @property
    def url(self) -> str:
        return through(self._url, self.port)

    def cut(self) -> None:
        """Cut every connection there is; new ones are accepted."""
        for end in list(self._ends):
            end.transport.abort()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connected += 1
        if self.refuses:
            writer.transport.abort()
            return
        with contextlib.suppress(OSError):
            behind, before = await asyncio.open_connection(*self._target)
            self._ends |= {writer, before}
            doomed = asyncio.Event()
            try:
                await asyncio.gather(
                    self._up(reader, before, doomed), self._down(behind, writer, doomed)
                )
            finally:
                for end in (writer, before):
                    self._ends.discard(end)
                    end.transport.abort()

    async def _up(
        self, reader: asyncio.StreamReader, server: asyncio.StreamWriter, doomed: asyncio.Event
    ) -> None:
        while data := await reader.read(_CHUNK):
            self.asked += 1
            if self.delay:
                await asyncio.sleep(self.delay)
            if self.drops and self.drops in data and self.times:
                self.times, self.hit = self.times - 1, self.hit + 1
                break
            if self.loses and self.loses in data:
                self.loses, self.hit = None, self.hit + 1
                doomed.set()
            if not self.silent:
                server.write(data)
                await server.drain()
        server.transport.abort()

    async def _down(
        self, reader: asyncio.StreamReader, client: asyncio.StreamWriter, doomed: asyncio.Event
    ) -> None:
        while data := await reader.read(_CHUNK):
            if doomed.is_set():
                break
            if self.cuts_after is not None:
                client.write(data[: self.cuts_after])
                await client.drain()
                client.close()
                return
            if not self.silent:
                client.write(self._told(data))
                await client.drain()
        client.transport.abort()

    def _told(self, answer: bytes) -> bytes:
        """The data that a client gets in place of an answer."""
        if self.garbles is not None:
            return self.garbles
        before, self._before = self._before, answer
        return before if self.lags else answer


@contextlib.contextmanager
def slow(url: str, delay: float):
    """Start a proxy with a delay in a separate process, which does the work; yield its URL."""
    command = [sys.executable, "-m", "tests.support.proxy", url, str(delay)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        try:
            yield process.stdout.readline().strip()
        finally:
            process.terminate()


async def _run(url: str, delay: str) -> None:
    async with Proxy.to(url, float(delay)) as proxy:
        print(proxy.url, flush=True)  # noqa: T201
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(_run(*sys.argv[1:3]))
