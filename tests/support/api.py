"""A server on a loopback socket, and ways to talk to it: as a client does, and byte by byte."""

from __future__ import annotations

import asyncio
import json
import socket
import uuid
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any

import httpx2
import pytest
import uvicorn

from journeygraph import Journey, JourneyConfig
from journeygraph.journeys.config import TENANT
from journeygraph.server.access.limits import RateLimits
from journeygraph.server.app import app_of
from journeygraph.server.discover.journeys import Served
from journeygraph.server.http.app_state import AppState
from journeygraph.server.http.auth import Keys
from journeygraph.server.http.turns import RunningTurns
from journeygraph.server.scripted import PromptServer
from journeygraph.server.telemetry import Metrics
from tests.support.clerks import staff
from tests.support.post_office import Letter, Parcel

KEY = "a-key-for-the-tests-0123456789"
Answer = tuple[int, dict[str, str], bytes]
EVENTS = {"Accept": "text/event-stream"}


@dataclass
class Api:
    """A server that runs, and a client of it."""

    app_state: AppState
    port: int
    client: httpx2.AsyncClient

    async def begin(self, journey: str = "parcel", session_id: str = "s-1", **more: Any) -> str:
        """Begin a session; return the path of it."""
        body = {"journey_id": journey, "session_id": session_id, **more}
        begun = await self.client.post("/v1/sessions", json=body)
        assert begun.status_code == 201, begun.text
        return f"/v1/sessions/{session_id}"

    async def says(self, session: str, message: str) -> Any:
        """Say something in a session; return the reply."""
        reply = await self.client.post(f"{session}/messages", json={"message": message})
        assert reply.status_code == 200, reply.text
        return reply.json()

    async def hears(self, session: str, message: str) -> list[tuple[str, Any]]:
        """Say something, and return the events that tell of it."""
        body = {"message": message}
        told = await self.client.post(f"{session}/messages", json=body, headers=EVENTS)
        assert told.status_code == 200, told.text
        assert told.headers["content-type"].startswith("text/event-stream")
        return events_in(told.text)

    async def raw(self, body: bytes, *headers: str, line: str = "POST /v1/sessions") -> Answer:
        """Send a request byte by byte; its length is declared unless a header says otherwise."""
        given = [f"Host: 127.0.0.1:{self.port}", *headers]
        if not any(name.lower().startswith(("content-length", "transfer")) for name in given):
            given.append(f"Content-Length: {len(body)}")
        if not any(name.lower().startswith("content-type") for name in given):
            given.append("Content-Type: application/json")
        head = "\r\n".join([f"{line} HTTP/1.1", *given, "", ""])
        async with self.connected() as (reader, writer):
            writer.write(head.encode("latin-1") + body)
            return await answer_in(reader)

    @asynccontextmanager
    async def connected(
        self, **options: Any
    ) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
        """Open a connection of one's own."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port, **options)
        try:
            yield reader, writer
        finally:
            writer.close()


async def answer_in(reader: asyncio.StreamReader) -> Answer:
    """Read an answer of known length: status, headers, body."""
    head = await reader.readuntil(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").strip().split("\r\n")
    headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
    body = await reader.readexactly(int(headers.get("content-length", 0)))
    return int(first.split()[1]), headers, body


def events_in(text: str) -> list[tuple[str, Any]]:
    """The events of a stream: names, and what they hold."""
    found = []
    for block in text.split("\n\n"):
        fields = dict(line.split(": ", 1) for line in block.splitlines() if line[:1] != ":")
        if fields:
            found.append((fields["event"], json.loads(fields["data"])))
    return found


def message_request(api: Api, session: str, message: str) -> bytes:
    """The bytes of a request for a streamed turn."""
    body = json.dumps({"message": message})
    lines = (
        f"POST {session}/messages HTTP/1.1",
        f"Host: 127.0.0.1:{api.port}",
        "Accept: text/event-stream",
        "Content-Type: application/json",
        f"Content-Length: {len(body)}",
    )
    return "\r\n".join([*lines, "", body]).encode()


@asynccontextmanager
async def serving(
    app_state: AppState, protocol: Any = "auto", **headers: str
) -> AsyncIterator[Api]:
    """Serve what is wired until the block ends."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.bind(("127.0.0.1", 0))
    port = listener.getsockname()[1]
    config = uvicorn.Config(
        app_of(app_state), http=protocol, log_config=None, server_header=False, lifespan="on"
    )
    server = PromptServer(config)
    running = asyncio.create_task(server.serve([listener]))
    try:
        while not server.started:  # noqa: ASYNC110
            await asyncio.sleep(0.002)
        place = f"http://127.0.0.1:{port}"
        async with httpx2.AsyncClient(base_url=place, headers=headers, timeout=110) as client:
            yield Api(app_state, port, client)
    finally:
        server.stop()
        await running


def wired(
    *served: Served,
    url: str | None = None,
    keys: tuple[str, ...] | Keys = (),
    model: Any = False,
    versions: Sequence[Served] = (),
    metrics: Metrics | None = None,
    limits: RateLimits | None = None,
    cors_origins: Sequence[str] = (),
    tenant: str = TENANT,
    **config: Any,
) -> AppState:
    """Join journeys as the command would; by default the two of the post office, in memory."""
    older = {(one.journey.spec.id, one.journey.spec.version): one for one in versions}
    post_office = (Served(Parcel, staff(Parcel)), Served(Letter, staff(Letter)))
    return AppState(
        config=JourneyConfig(
            persistence=url or f"memory://{uuid.uuid4()}", tenant=tenant, **config
        ),
        journeys={one.journey.spec.id: one for one in served or post_office},
        keys=keys if isinstance(keys, Keys) else Keys(keys, limits=limits, tenant=tenant),
        limits=limits,
        cors_origins=cors_origins,
        shows_docs=not keys,
        shows_page=not keys,
        turns=RunningTurns(tenant=tenant),
        versions=older,
        model=model,
        metrics=metrics,
    )


def one(journey: type[Journey], **agents: Any) -> Served:
    """A journey with these agents."""
    return Served(journey, agents)


@pytest.fixture
async def serve(request: pytest.FixtureRequest) -> AsyncIterator[Callable[..., Any]]:
    """Start servers: `api = await serve(journey, keys=(...))`; they end with the test.

    A test that tries each protocol of the server has a fixture `protocol`.
    """
    protocol = "auto"
    if "protocol" in request.fixturenames:
        protocol = request.getfixturevalue("protocol")
    async with AsyncExitStack() as stack:

        async def start(*served: Served, client: dict[str, str] | None = None, **o: Any) -> Api:
            begun = serving(wired(*served, **o), protocol, **(client or {}))
            return await stack.enter_async_context(begun)

        yield start


@pytest.fixture
async def api(serve: Callable[..., Any]) -> Api:
    """The post office, served without a key."""
    api: Api = await serve()
    return api
