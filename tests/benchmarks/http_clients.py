"""Clients that talk over HTTP, each on a connection of its own: a round for each line they read.

At the line "go" each sends its next message as soon as the last one is answered. At a number, which
is a rate, messages are sent at that rate, and the seconds count from the moment of sending in this
plan: a server that falls behind does not slow the plan down.

They know just enough of HTTP to cost little compared with the server, whose cores they share.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import re
import sys
import time
from typing import Any

_LENGTH = re.compile(rb"content-length: (\d+)", re.IGNORECASE)
_KEPT = 3.0
"""Seconds for which a connection is used again; servers close one that nobody uses."""


class Client:
    """One connection, which is opened again after a pause."""

    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, access: str = ""
    ) -> None:
        self._reader = reader
        self._access = f"Authorization: Bearer {access}\r\n" if access else ""
        self._writer = writer
        self._used = time.perf_counter()

    def close(self) -> None:
        self._writer.close()

    async def post(self, path: str, body: Any, key: str = "") -> None:
        if time.perf_counter() > self._used + _KEPT:
            self.close()
            place = self._writer.get_extra_info("peername")
            self._reader, self._writer = await asyncio.open_connection(*place)
        content = json.dumps(body).encode()
        keyed = f"Idempotency-Key: {key}\r\n" if key else ""
        head = (
            f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(content)}\r\n{self._access}{keyed}\r\n"
        )
        self._writer.write(head.encode() + content)
        answer = await self._reader.readuntil(b"\r\n\r\n")
        assert answer.split()[1] in (b"200", b"201"), answer
        (length,) = _LENGTH.findall(answer)
        await self._reader.readexactly(int(length))
        self._used = time.perf_counter()


async def main(port: int, plan: dict[str, Any]) -> None:
    clients = []
    for number in range(plan["sessions"]):
        client = Client(*await asyncio.open_connection("127.0.0.1", port), plan["access"])
        await client.post(
            "/v1/sessions",
            {"session_id": f"{plan['of']}-{number}", "context": plan["context"]},
        )
        clients.append(client)
    count = itertools.count()
    took: list[float] = []

    async def say(number: int, begun: float) -> None:
        # Of everyday length, as what is said in process.
        said = plan["says"] or (
            f"Could I see the nearest clinic {next(count)} days sooner or later than this week?"
        )
        key = f"key-{next(count)}" if plan["keys"] else ""
        path = f"/v1/sessions/{plan['of']}-{number}/messages"
        await clients[number].post(path, {"message": said}, key)
        took.append(time.perf_counter() - begun)

    async def talk(number: int, start: float, rate: float) -> None:
        for turn in range(plan["turns"]):
            begun = time.perf_counter()
            if rate:
                begun = start + (turn * plan["sessions"] + number) / rate
                await asyncio.sleep(begun - time.perf_counter())
            await say(number, begun)

    while line := await asyncio.to_thread(sys.stdin.readline):
        rate = 0.0 if line.strip() == "go" else float(line)
        start = time.perf_counter()
        await asyncio.gather(*(talk(number, start, rate) for number in range(plan["sessions"])))
        print(json.dumps(took), flush=True)
        took.clear()


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]), json.loads(sys.argv[2])))
