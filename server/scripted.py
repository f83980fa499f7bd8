"""A scripted model behind a real socket, for clients of an OpenAI-compatible server."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
import threading
from collections.abc import Sequence
from typing import Any, Self

import uvicorn

from journeygraph.nodes.llm.client import IN_ORDER
from journeygraph.nodes.llm.scripted import Answer, Script
from journeygraph.nodes.llm.scripted.model import BrokenOff, Scripted, ScriptedApp

_START_SECONDS = 10.0
_TICK_SECONDS = 0.1
"""Interval of uvicorn's own duties, ten of which are a second."""
_LOOK_SECONDS = 0.002


class ScriptedServer(Scripted):
    """An OpenAI-compatible server on 127.0.0.1 that answers from a script.

    It serves POST /v1/chat/completions and GET /v1/models, on its own port and in its own thread,
    until the end of the `with` block; then it checks the script.

    Args:
        answers: The answers, each used once.
        always: Answers that are used when no other is left.
        understanding: Answers only for calls that understand a message.
        agent: Answers only for calls of agents.

    Attributes:
        script: The script; `will_answer`, `calls` and `check` are its own. Another one may take its
            place, so that one server can serve many tests.
        url: The value for OPENAI_BASE_URL or `base_url`. If no answer of the script names its
            kind, it says that answers come by order, and there are no speculative requests.

    Example:
        >>> import httpx2
        >>> asked = {"model": "any", "messages": [{"role": "user", "content": "Hi"}]}
        >>> with ScriptedServer("Hello!") as server:
        ...     answer = httpx2.post(f"{server.url}/chat/completions", json=asked)
        >>> answer.json()["choices"][0]["message"]["content"]
        'Hello!'
    """

    def __init__(
        self,
        *answers: Answer,
        always: Answer | None = None,
        understanding: Sequence[Answer] | None = None,
        agent: Sequence[Answer] | None = None,
    ) -> None:
        self.script = Script(*answers, always=always, understanding=understanding, agent=agent)
        self._place = ""
        self._server: _Server | None = None
        self._thread: threading.Thread | None = None

    @property
    def url(self) -> str:
        """URL of the API; empty before the start."""
        if not self._place:
            return ""
        return f"{self._place}{IN_ORDER if self.script.answers_in_order else '/'}v1"

    def start(self) -> None:
        """Listen on a free port; `url` says where.

        Raises:
            RuntimeError: It did not start, or is already running.
        """
        if self._server is not None:
            raise RuntimeError("the scripted server is already running")
        # With any other protocol number asyncio leaves Nagle's algorithm on: 40 ms a call.
        listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        listening.bind(("127.0.0.1", 0))
        self._server = server = _Server(ScriptedApp(lambda: self.script))
        self._thread = threading.Thread(
            target=server.run, args=([listening],), name="scripted-server", daemon=True
        )
        self._thread.start()
        server.ready.wait(_START_SECONDS)
        if not server.started:
            self._server = self._thread = None
            listening.close()
            raise RuntimeError("the scripted server did not start")
        self._place = f"http://127.0.0.1:{listening.getsockname()[1]}"

    def stop(self) -> None:
        """Close every connection, including one that waits for an answer."""
        if self._server is None or self._thread is None:
            return
        self._server.stop()
        self._thread.join()
        self._server = self._thread = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *error: Any) -> None:
        self.stop()
        super().__exit__(*error)

    async def __aenter__(self) -> Self:
        await asyncio.to_thread(self.start)
        return self

    async def __aexit__(self, *error: Any) -> None:
        await asyncio.to_thread(self.stop)
        super().__exit__(*error)


class PromptServer(uvicorn.Server):
    """A server within a test: it starts and stops without the pauses of uvicorn, 0.2 seconds."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self._asked = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None

    def stop(self) -> None:
        """Begin to stop, from any thread."""
        self.should_exit = True
        if self._loop:
            with contextlib.suppress(RuntimeError):  # its loop has ended
                self._loop.call_soon_threadsafe(self._asked.set)

    async def main_loop(self) -> None:
        """Serve until `stop` or a signal."""
        self._loop, tick = asyncio.get_running_loop(), 0
        while not await self.on_tick(tick):
            tick += 1
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._asked.wait(), _TICK_SECONDS)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Close all connections; running responses are finished."""
        for server in self.servers:
            server.close()
        for connection in list(self.server_state.connections):
            connection.shutdown()
        state = self.server_state
        while not self.force_exit and (state.connections or state.tasks):  # noqa: ASYNC110
            await asyncio.sleep(_LOOK_SECONDS)
        await self.lifespan.shutdown()


class _Server(PromptServer):
    """A server that reports when it listens, and ends waiting requests when it stops."""

    def __init__(self, app: ScriptedApp) -> None:
        self.ready, self.app = threading.Event(), app
        super().__init__(
            uvicorn.Config(app, loop="asyncio", lifespan="off", ws="none", log_config=None)
        )

    def run(self, sockets: list[socket.socket] | None = None) -> None:
        try:
            super().run(sockets)
        finally:
            self.ready.set()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        logging.getLogger("uvicorn.error").addFilter(_unexpected)
        await super().startup(sockets)
        self.ready.set()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self.app.close()
        await super().shutdown(sockets)


def _unexpected(record: logging.LogRecord) -> bool:
    """Keep connections that a script breaks out of the error log."""
    return not (record.exc_info and isinstance(record.exc_info[1], BrokenOff))
