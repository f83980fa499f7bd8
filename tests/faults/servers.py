"""Processes of `journeygraph serve` that share a store, are killed, and are started again."""

from __future__ import annotations

import asyncio
import random
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

import httpx2

from tests.support import command
from tests.support.ports import free_port

PAUSE = 0.02
_SECONDS = 30.0
_NO_STORE = "✗ The store"
_NONE: Mapping[str, str] = MappingProxyType({})


class Servers:
    """Several servers of one store, and requests to any of them.

    Args:
        number: The number of servers.
        folder: The folder for their output.
        environment: Returns the settings of a server that starts.
        key: The key of clients that send no other one.

    Attributes:
        counts: The numbers of requests that were sent again, replayed, or refused for now, and of
            servers that were started again because there was no store at their start.
        longest: Seconds of the request that took longest, with all its repetitions.
    """

    def __init__(
        self, number: int, folder: Path, environment: Callable[[], Mapping[str, str]], key: str
    ) -> None:
        self._folder, self._environment = folder, environment
        self.ports = [free_port() for _ in range(number)]
        self._running: list[Any] = [None] * number
        self._words: list[Sequence[str]] = [()] * number
        self._told = [0] * number
        self._headers = {"Authorization": f"Bearer {key}"}
        self._client = httpx2.AsyncClient(timeout=_SECONDS, headers=self._headers)
        self.counts: Counter[str] = Counter()
        self.longest = 0.0

    def start(self, number: int, words: Sequence[str]) -> None:
        """Start a server with these words on its command line."""
        place = ("--port", str(self.ports[number]))
        self._words[number], self._told[number] = words, len(self.log(number))
        with (self._folder / f"log-{number}").open("ab") as log:
            streams: Any = {"stdin": subprocess.DEVNULL, "stdout": log, "stderr": log}
            self._running[number] = command.start(
                self._folder, "serve", *words, *place, env=self._environment(), **streams
            )

    async def end(self, number: int, how: signal.Signals = signal.SIGKILL) -> None:
        """End a server, and wait until it has ended."""
        process = self._running[number]
        if process and process.poll() is None:
            process.send_signal(how)
            code = await asyncio.to_thread(process.wait, 60)
            assert code == (0 if how == signal.SIGTERM else -how)

    async def up(self, number: int) -> None:
        """Wait until a server answers; start it again if its store failed when it began."""
        while True:
            if self._running[number].poll() is not None:
                assert _NO_STORE in self.log(number)[self._told[number] :], self.log(number)
                self.counts["started again"] += 1
                self.start(number, self._words[number])
            try:
                await self._client.get(f"http://127.0.0.1:{self.ports[number]}/healthz")
            except httpx2.HTTPError:
                await asyncio.sleep(PAUSE)
            else:
                return

    async def metrics(self) -> str:
        """Return the metrics of all servers."""
        places = [f"http://127.0.0.1:{port}/metrics" for port in self.ports]
        answers = [await self._client.get(place) for place in places]
        assert all(answer.is_success for answer in answers)
        return "".join(answer.text for answer in answers)

    def log(self, number: int) -> str:
        """Return the output of a server."""
        log = self._folder / f"log-{number}"
        return log.read_text() if log.exists() else ""

    def died(self, number: int, how: signal.Signals) -> bool:
        """Return whether a server was ended by a signal."""
        return bool(self._running[number].poll() == -how)

    async def ask(
        self, number: int, path: str, body: Mapping[str, Any], headers: Mapping[str, str] = _NONE
    ) -> Any:
        """Send a request to one server, once; return the answer."""
        place = f"http://127.0.0.1:{self.ports[number]}/v1/sessions{path}"
        return await self._client.post(place, json=body, headers=headers)

    async def post(
        self, path: str, body: Mapping[str, Any], key: str, access: Mapping[str, str] = _NONE
    ) -> Any:
        """Send a request, with its key, to any server until it is answered; return the answer."""
        begun, headers = time.monotonic(), {"Idempotency-Key": key, **access}
        while True:
            number = random.randrange(len(self.ports))
            try:
                answer = await self.ask(number, path, body, headers)
            except httpx2.HTTPError:
                self.counts["sent again"] += 1
            else:
                if not self._is_passing(answer):
                    break
            await asyncio.sleep(PAUSE)
        self.longest = max(self.longest, time.monotonic() - begun)
        self.counts["replayed"] += "idempotent-replay" in answer.headers
        return answer

    def _is_passing(self, answer: Any) -> bool:
        """Return whether another try, or another server, may give another answer."""
        if answer.status_code in (429, 503):
            self.counts["answered 429 or 503"] += 1
            return True
        code = answer.json()["code"] if answer.status_code == 409 else ""
        self.counts["of another release"] += code == "needs_migration"
        return code in ("needs_migration", "session_busy")

    async def stop(self) -> None:
        """End all servers as a machine does; they finish their turns."""
        for number in range(len(self.ports)):
            await self.end(number, signal.SIGTERM)

    async def close(self) -> None:
        """Kill the servers that still run."""
        for number in range(len(self.ports)):
            await self.end(number)
        await self._client.aclose()
