"""Clients that talk over HTTP, each on a connection of its own: a round for each line they read.

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


class Client:
    """One connection."""

    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, key: str = ""
    ) -> None:
        self._reader = reader
        self._key = f"Authorization: Bearer {key}\r\n" if key else ""
        self._writer = writer

    def close(self) -> None:
        self._writer.close()

    async def post(self, path: str, body: Any) -> None:
        content = json.dumps(body).encode()
        head = (
            f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(content)}\r\n{self._key}\r\n"
        )
        self._writer.write(head.encode() + content)
        answer = await self._reader.readuntil(b"\r\n\r\n")
        assert answer.split()[1] in (b"200", b"201"), answer
        (length,) = _LENGTH.findall(answer)
        await self._reader.readexactly(int(length))


async def main(port: int, plan: dict[str, Any]) -> None:
    clients = []
    for number in range(plan["sessions"]):
        client = Client(*await asyncio.open_connection("127.0.0.1", port), plan["key"])
        await client.post(
            "/v1/sessions",
            {"session_id": f"{plan['of']}-{number}", "context": plan["context"]},
        )
        clients.append(client)
    count = itertools.count()
    took: list[float] = []

    async def talk(number: int) -> None:
        for _ in range(plan["turns"]):
            # Of everyday length, as what is said in process.
            said = plan["says"] or (
                f"Could I see the nearest clinic {next(count)} days sooner or later than this week?"
            )
            begun = time.perf_counter()
            path = f"/v1/sessions/{plan['of']}-{number}/messages"
            await clients[number].post(path, {"message": said})
            took.append(time.perf_counter() - begun)

    while await asyncio.to_thread(sys.stdin.readline):
        await asyncio.gather(*map(talk, range(plan["sessions"])))
        print(json.dumps(took), flush=True)
        took.clear()


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]), json.loads(sys.argv[2])))
