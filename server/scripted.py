"""A scripted model behind a real socket, for whatever talks to an OpenAI-compatible server."""

from __future__ import annotations

import asyncio
import logging
import socket
import threading
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Self

import uvicorn
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Mount, Route, Router
from starlette.types import Receive, Scope, Send

from nodes.llm.client import IN_ORDER
from nodes.llm.scripted import Answer, Call, Script
from nodes.llm.scripted.wire import Reply

_START_SECONDS = 10.0


class ScriptedServer:
    """An OpenAI-compatible server on 127.0.0.1 that answers from a script.

    It serves POST /v1/chat/completions and GET /v1/models, on a port of its own, in a thread of
    its own, for as long as the `with` block lasts; then it checks the script.

    Args:
        answers: The answers, each used once.
        always: Answers when no other is left.
        understanding: Answers to the calls that understand a message alone.
        agent: Answers to the calls of agents alone; as of a `Script`.

    Attributes:
        script: The script; `will_answer`, `calls` and `check` are its own. Another one may take its
            place, so that one server can serve many tests.
        url: What OPENAI_BASE_URL or `base_url` has to be. Where no answer of the script names its
            kind, it says that answers come by order, for whom an agent would be asked ahead.

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
    def calls(self) -> list[Call]:
        """What was asked so far, oldest first."""
        return self.script.calls

    @property
    def url(self) -> str:
        """Where it serves the API; empty before it started."""
        if not self._place:
            return ""
        return f"{self._place}{IN_ORDER if self.script.answers_in_order else '/'}v1"

    def will_answer(
        self,
        *answers: Answer,
        understanding: Sequence[Answer] = (),
        agent: Sequence[Answer] = (),
    ) -> None:
        """Add answers behind those that are left, of any kind or of one."""
        self.script.will_answer(*answers, understanding=understanding, agent=agent)

    def check(self) -> None:
        """See that every call had an answer and every answer its call.

        Raises:
            AssertionError: As `Script.check` says.
        """
        self.script.check()

    def start(self) -> None:
        """Listen on a free port; `url` says where.

        Raises:
            RuntimeError: It did not come up, or runs already.
        """
        if self._server is not None:
            raise RuntimeError("the scripted server runs already")
        # With any other protocol number asyncio leaves Nagle's algorithm on: 40 ms a call.
        listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        listening.bind(("127.0.0.1", 0))
        self._server = server = _Server(lambda: self.script)
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
        """Close every connection, also one that waits for an answer."""
        if self._server is None or self._thread is None:
            return
        self._server.should_exit = True
        self._thread.join()
        self._server = self._thread = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()
        self.script.__exit__(kind, error, trace)

    async def __aenter__(self) -> Self:
        await asyncio.to_thread(self.start)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await asyncio.to_thread(self.stop)
        self.script.__exit__(kind, error, trace)


class _Broken(Exception):
    """The connection is to be closed as if it broke."""


class _Server(uvicorn.Server):
    """A server that tells when it listens, and lets go of whoever waits when it stops."""

    def __init__(self, script: Callable[[], Script]) -> None:
        self.ready, self.closing = threading.Event(), asyncio.Event()
        app = _routes(script, self.closing)
        super().__init__(
            uvicorn.Config(app, loop="asyncio", lifespan="off", ws="none", log_config=None)
        )

    def run(self, sockets: list[socket.socket] | None = None) -> None:
        """Serve until it is told to stop."""
        try:
            super().run(sockets)
        finally:
            self.ready.set()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen, and say so."""
        logging.getLogger("uvicorn.error").addFilter(_unexpected)
        await super().startup(sockets)
        self.ready.set()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End the answers that are under way, and stop."""
        self.closing.set()
        await super().shutdown(sockets)


def _unexpected(record: logging.LogRecord) -> bool:
    """Keep the connections that a script breaks out of the log of errors."""
    return not (record.exc_info and isinstance(record.exc_info[1], _Broken))


def _routes(script: Callable[[], Script], closing: asyncio.Event) -> Router:
    async def completions(request: Request) -> Response:
        body = await request.body()
        reply = script().reply(body, authorized="authorization" in request.headers)
        return _Paced(reply, closing)

    async def models(request: Request) -> Response:
        model = {"id": "scripted", "object": "model", "created": 0, "owned_by": "journeygraph"}
        return JSONResponse({"object": "list", "data": [model]})

    routes = [
        Route("/v1/chat/completions", completions, methods=["POST"]),
        Route("/v1/models", models, methods=["GET"]),
    ]
    return Router([*routes, Mount(IN_ORDER.rstrip("/"), routes=routes)])


class _Paced(Response):
    """Send a reply at its own pace, for as long as the caller stays and the server runs."""

    def __init__(self, reply: Reply, closing: asyncio.Event) -> None:
        super().__init__()
        self.reply, self.closing = reply, closing

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        sending = asyncio.ensure_future(self._send(send))
        tasks = [sending, *map(asyncio.ensure_future, (_gone(receive), self.closing.wait()))]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            if not (sending.done() and sending.result()):
                raise _Broken
        finally:
            for task in tasks:
                task.cancel()

    async def _send(self, send: Send) -> bool:
        """Send all that is planned; say whether that was the whole response."""
        reply = self.reply
        await asyncio.sleep(reply.wait)
        headers = [(name.encode(), value.encode()) for name, value in reply.headers.items()]
        await send({"type": "http.response.start", "status": reply.status, "headers": headers})
        for piece in reply.pieces:
            await asyncio.sleep(piece.wait)
            await send({"type": "http.response.body", "body": piece.data, "more_body": True})
        if reply.whole:
            await send({"type": "http.response.body", "body": b"", "more_body": False})
        return reply.whole


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
