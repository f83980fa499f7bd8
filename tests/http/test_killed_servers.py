"""kill -9 of servers on one Postgres: each message is answered once, and in order."""

from __future__ import annotations

import asyncio
import random
import signal
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest

from journeys import JourneyConfig
from tests.support import forked, server_child
from tests.support.post_office import found
from tests.support.server_child import DIE, Log

pytestmark = [pytest.mark.slow, pytest.mark.real_time]


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port: int = taken.getsockname()[1]
        return port


KILLS = 6


class Servers:
    """Two servers of one database, which are killed and started again."""

    def __init__(self, url: str, folder: Path) -> None:
        self._args = url, str(folder)
        self.ports = [free_port(), free_port()]
        self.killed = 0
        self._running: list[Any] = [None, None]

    def start(self, number: int) -> None:
        url, folder = self._args
        process = forked.process(server_child.serve, url, self.ports[number], folder)
        process.start()
        self._running[number] = process

    def kill(self, number: int) -> None:
        self._running[number].kill()
        self._running[number].join()
        self.killed += 1

    async def ended(self, number: int) -> None:
        """Wait until a server has killed itself."""
        await asyncio.to_thread(self._running[number].join)
        assert self._running[number].exitcode == -signal.SIGKILL

    async def up(self, number: int) -> None:
        """Wait until a server answers."""
        async with httpx2.AsyncClient(timeout=20) as client:
            while True:
                try:
                    await client.get(f"http://127.0.0.1:{self.ports[number]}/healthz")
                except httpx2.HTTPError:
                    await asyncio.sleep(0.02)
                else:
                    return

    async def post(self, path: str, body: Any, key: str, number: int | None = None) -> Any:
        """Send a request until it is answered, to any server; return the answer."""
        async with httpx2.AsyncClient(timeout=20) as client:
            while True:
                port = self.ports[random.randrange(2) if number is None else number]
                place = f"http://127.0.0.1:{port}/v1/sessions{path}"
                try:
                    headers = {"Idempotency-Key": key}
                    answer = await client.post(place, json=body, headers=headers)
                except httpx2.HTTPError:
                    await asyncio.sleep(0.02)
                    continue
                if answer.status_code < 500 and answer.status_code != 429:
                    return answer
                await asyncio.sleep(0.02)


@pytest.fixture
def servers(postgres_url: str, tmp_path: Path) -> Callable[[], Any]:
    @asynccontextmanager
    async def opened() -> AsyncIterator[Servers]:
        both = Servers(postgres_url, tmp_path)
        both.start(0)
        both.start(1)
        try:
            yield both
        finally:
            both.kill(0)
            both.kill(1)

    return opened


async def begun(servers: Servers, session_id: str) -> None:
    body = {"journey_id": "log", "session_id": session_id}
    answer = await servers.post("", body, f"start-{session_id}")
    assert answer.status_code == 201, answer.text


async def checked(url: str, session_id: str, tokens: list[str]) -> None:
    """Hold the ledger of a session against its acknowledged messages."""
    async with Log(session_id, JourneyConfig(persistence=url), agents={}) as journey:
        versions = await journey.versions()
        assert [one.message for one in versions if one.message is not None] == tokens
        assert [one.version for one in versions] == list(range(len(tokens) + 1))
        assert (await journey.snapshot()).get("heard", []) == tokens
        replies = [one.content for one in await journey.transcript() if one.role == "assistant"]
        assert replies == [f"noted {token}" for token in tokens]


async def test_killed_servers_answer_each_message_once_and_in_order(
    servers: Callable[[], Any], postgres_url: str
) -> None:
    rounds, acknowledged = 30, {f"s-{number}": list[str]() for number in range(6)}
    async with servers() as both:

        async def talk(session_id: str) -> None:
            await begun(both, session_id)
            for number in range(rounds):
                token = f"{session_id}:{number}"
                answer = await both.post(f"/{session_id}/messages", {"message": token}, token)
                assert answer.status_code == 200, answer.text
                assert answer.json()["message"] == f"noted {token}"
                acknowledged[session_id].append(token)

        async def kill() -> None:
            for number in range(KILLS):
                await both.up(number % 2)
                await asyncio.sleep(random.uniform(0, 0.2))
                await asyncio.to_thread(both.kill, number % 2)
                both.start(number % 2)

        await asyncio.gather(kill(), *map(talk, acknowledged))
    for session_id, tokens in acknowledged.items():
        assert len(tokens) == rounds
        await checked(postgres_url, session_id, tokens)


async def test_a_storm_of_retries_under_one_key_is_one_turn(
    servers: Callable[[], Any], postgres_url: str
) -> None:
    async with servers() as both:
        await begun(both, "s-1")
        body = {"message": f"{DIE} 1"}

        answers = await asyncio.gather(*(both.post("/s-1/messages", body, "k") for _ in range(12)))

        # One of the servers died in the first of them.
        replies = {answer.json()["message"] for answer in answers if answer.status_code == 200}
        assert replies == {f"noted {DIE} 1"}
        assert {answer.status_code for answer in answers} == {200}
    await checked(postgres_url, "s-1", [f"{DIE} 1"])


async def test_the_other_server_takes_the_turn_of_a_killed_one(
    servers: Callable[[], Any], postgres_url: str
) -> None:
    async with servers() as both:
        await begun(both, "s-1")
        async with httpx2.AsyncClient(timeout=20) as client:
            place = f"http://127.0.0.1:{both.ports[0]}/v1/sessions/s-1/messages"
            await both.up(0)
            with pytest.raises(httpx2.HTTPError):
                await client.post(place, json={"message": f"{DIE} 1"})
        await both.ended(0)
        while found(postgres_url, "SELECT version FROM sessions") != [(1,)]:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        both.start(0)
    await checked(postgres_url, "s-1", [f"{DIE} 1"])
    assert found(postgres_url, "SELECT count(*) FROM running_turns") == [(0,)]
    assert ("taken_over",) in found(postgres_url, "SELECT kind FROM audit")
