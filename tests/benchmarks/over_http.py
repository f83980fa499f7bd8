"""Turns a second over HTTP, from one server process, against the same turns in process.

The clients are a process of their own, so that what is measured of the server is the server. They
keep their connections, and as many talk at once as sessions do in process.
"""

from __future__ import annotations

import asyncio
import json
import socket
import sys
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import uvicorn

from journeys import JourneyConfig
from server.app import app_of
from server.auth import Keys
from server.patience import PatientProtocol
from server.served import Served
from server.turns import Turns
from server.wiring import Wiring
from tests.benchmarks.material import AGENTS, CONTEXT, Referral, questions, session
from tests.benchmarks.measure import Action, Figure, Steps, alternate, duration, scratch

ROUNDS = 40
SESSIONS, TURNS = 8, 10
"""Who talks at once, and how often each of them in a round."""
SHARE = 0.6
"""Turns a second to reach, of those in process."""


async def over_http(steps: Steps) -> list[Figure]:
    """The same journey on SQLite, asked by HTTP and by `process_message`."""
    with scratch() as folder:
        url = f"sqlite:///{folder / 'http.db'}"
        journeys = [await session(url, f"in-process-{n}") for n in range(SESSIONS)]
        said = questions(1)

        async def talk(number: int) -> None:
            for _ in range(TURNS):
                await journeys[number].process_message(next(said))

        async def in_process() -> None:
            await asyncio.gather(*map(talk, range(SESSIONS)))

        async with served(url) as port, clients(port) as by_http:
            pairs = await alternate(
                by_http, in_process, steps("HTTP", ROUNDS), calls=SESSIONS * TURNS
            )
        for journey in journeys:
            await journey.close()
    what = f"a turn over HTTP, {SESSIONS} clients at once ({1 / pairs.ratio:.2f}x turns a second)"
    return [pairs.figure(what, "the same turns in process", round(1 / SHARE, 3), duration)]


@asynccontextmanager
async def served(url: str) -> AsyncIterator[int]:
    """Serve the journey as `journeygraph serve` does; gives the port."""
    wiring = Wiring(
        config=JourneyConfig(persistence=url),
        journeys={Referral.spec.id: Served(Referral, AGENTS)},
        keys=Keys(),
        shows_docs=False,
        turns=Turns(),
        model=False,
    )
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.bind(("127.0.0.1", 0))
    config = uvicorn.Config(
        app_of(wiring), http=PatientProtocol, loop="asyncio", access_log=False, log_config=None
    )
    server = uvicorn.Server(config)
    running = asyncio.create_task(server.serve([listener]))
    while not server.started:  # noqa: ASYNC110
        await asyncio.sleep(0.01)
    yield listener.getsockname()[1]
    server.should_exit = True
    await running


@asynccontextmanager
async def clients(port: int) -> AsyncIterator[Action]:
    """Start the process of the clients; gives what lets them talk for a round."""
    command = [sys.executable, str(Path(__file__).with_name("http_clients.py")), str(port)]
    begin = json.dumps({"sessions": SESSIONS, "turns": TURNS, "context": CONTEXT})
    process = await asyncio.create_subprocess_exec(*command, begin, stdin=PIPE, stdout=PIPE)
    assert process.stdin is not None
    assert process.stdout is not None
    told, heard = process.stdin, process.stdout

    async def round_() -> None:
        told.write(b"go\n")
        assert await heard.readline() == b"done\n"

    yield round_
    told.close()
    await process.wait()
