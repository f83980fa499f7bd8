"""The first token over the protocols of other products, against our own stream of events."""

from __future__ import annotations

import asyncio
import json
import time
import uuid
from collections.abc import AsyncIterator, Callable
from itertools import count
from statistics import median
from typing import Any

from tests.benchmarks.measure import WARM_UP, Figure, Pairs, Steps, Times, duration, scratch
from tests.benchmarks.over_http import served
from tests.support.solo import Solo

ROUNDS, TURNS = 40, 5
MOST = 1.1
"""Most that the first token takes over a protocol, of our own stream."""
_FIRST = b"Certainly"
_EARLIER = [
    {"role": role, "content": f"Something that was said before, {number}."}
    for number in range(5)
    for role in ("user", "assistant")
]
Asked = tuple[str, dict[str, Any]]


async def protocols(steps: Steps) -> list[Figure]:
    """Each protocol and our own stream in alternation, on SQLite, with ten earlier messages."""
    with scratch() as folder:
        async with served(f"sqlite:///{folder / 'protocols.db'}", Solo, talker) as port:
            return [await _first(steps, port, name, asked) for name, asked in _ASKED.items()]


async def talker(payload: dict[str, Any]) -> AsyncIterator[str]:
    for word in ("Certainly", ", ", "that ", "is ", "done."):
        await asyncio.sleep(0)
        yield word


async def _first(steps: Steps, port: int, name: str, asked: Callable[[str, str], Asked]) -> Figure:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    numbers, session = count(), str(uuid.uuid4())
    other = f"{session}-own"

    async def first_token(path: str, body: Any) -> Times:
        """Return the time until the first token; the rest is read after that."""
        content = json.dumps(body).encode()
        head = (
            f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
            f"Accept: text/event-stream\r\nContent-Length: {len(content)}\r\n\r\n"
        )
        request = head.encode() + content
        wall, cpu = time.perf_counter(), time.process_time()
        writer.write(request)
        await reader.readuntil(_FIRST)
        took = Times(time.perf_counter() - wall, time.process_time() - cpu)
        await reader.readuntil(b"\r\n0\r\n\r\n")
        return took

    async def turns(ask: Callable[[str, str], Asked], session_id: str) -> Times:
        took = [
            await first_token(*ask(session_id, f"Number {next(numbers)}")) for _ in range(TURNS)
        ]
        return Times(median(one.wall for one in took), median(one.cpu for one in took))

    await _begin(reader, writer, other)
    pairs = Pairs()
    for _ in range(WARM_UP):
        await turns(asked, session)
        await turns(_own, other)
    for _ in steps(f"protocols, {name}", ROUNDS):
        pairs.add_times(await turns(asked, session), await turns(_own, other))
    writer.close()
    await writer.wait_closed()
    return pairs.figure(f"first token over {name}", "our own stream", MOST, duration)


async def _begin(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, session_id: str
) -> None:
    content = json.dumps({"session_id": session_id}).encode()
    head = (
        "POST /v1/sessions HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(content)}\r\n\r\n"
    )
    writer.write(head.encode() + content)
    answer = await reader.readuntil(b"\r\n\r\n")
    assert answer.split()[1] == b"201", answer
    await reader.readuntil(b"}")


def _own(session_id: str, message: str) -> Asked:
    return f"/v1/sessions/{session_id}/messages", {"message": message}


def _chat(session_id: str, message: str) -> Asked:
    said = [*_EARLIER, {"role": "user", "content": message}]
    body = {"model": "solo", "messages": said, "user": session_id, "stream": True}
    return "/v1/chat/completions", body


def _responses(session_id: str, message: str) -> Asked:
    said = [*_EARLIER, {"role": "user", "content": message}]
    return "/v1/responses", {"model": "solo", "input": said, "user": session_id, "stream": True}


def _ag_ui(session_id: str, message: str) -> Asked:
    said = [{"id": str(n), **each} for n, each in enumerate(_EARLIER)]
    last = {"id": message, "role": "user", "content": message}
    return "/v1/ag-ui/solo", {"threadId": session_id, "runId": "r", "messages": [*said, last]}


def _ai_sdk(session_id: str, message: str) -> Asked:
    said = [
        {"id": str(n), "role": each["role"], "parts": [{"type": "text", "text": each["content"]}]}
        for n, each in enumerate([*_EARLIER, {"role": "user", "content": message}])
    ]
    said[-1]["id"] = message
    return "/v1/ai-sdk/solo", {"id": session_id, "messages": said}


_ASKED = {
    "chat completions": _chat,
    "responses": _responses,
    "AG-UI": _ag_ui,
    "the AI SDK": _ai_sdk,
}
