"""One OpenAI-compatible server as an ASGI application, and the model that asks it in process."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from itertools import count
from typing import TYPE_CHECKING, Any, Self

import httpx2
from anyio.from_thread import BlockingPortal, start_blocking_portal
from langchain_openai import ChatOpenAI
from pydantic import PrivateAttr

from journeygraph.nodes.llm.scripted.script import Answer, Script
from journeygraph.nodes.llm.scripted.wire import Call, Reply, encoded, problem

Event = Mapping[str, Any]
Receive = Callable[[], Awaitable[Event]]
Send = Callable[[Event], Awaitable[None]]
"""The terms of ASGI."""

_MODELS = {
    "object": "list",
    "data": [{"id": "scripted", "object": "model", "created": 0, "owned_by": "journeygraph"}],
}
_numbers = count(1)


class BrokenOff(Exception):
    """The connection is to be closed as if it broke."""


class ScriptedApp:
    """The chat completions API, answered from a script: POST /v1/chat/completions, GET /v1/models.

    Args:
        script: Gives the script that answers the next call.
    """

    def __init__(self, script: Callable[[], Script]) -> None:
        self._script = script
        self._under_way: set[asyncio.Task[Any] | None] = set()
        self._is_closed = False

    def close(self) -> None:
        """Break off the answers that are under way."""
        self._is_closed = True
        for task in filter(None, self._under_way):
            task.cancel()

    async def __call__(self, scope: Event, receive: Receive, send: Send) -> None:
        """Answer one request.

        Raises:
            BrokenOff: The connection is to be closed as if it broke.
        """
        body, more = b"", True
        while more:
            event = await receive()
            if event["type"] != "http.request":
                return
            body, more = body + event.get("body", b""), event.get("more_body", False)
        if self._is_closed:
            raise BrokenOff
        task = asyncio.current_task()
        self._under_way.add(task)
        try:
            whole = await _send(self._reply(scope, body), send)
        except asyncio.CancelledError:
            if not self._is_closed:
                raise
            whole = False
        finally:
            self._under_way.discard(task)
        if not whole:
            raise BrokenOff

    def _reply(self, scope: Event, body: bytes) -> Reply:
        asked = scope["method"], scope["path"].rpartition("/v1/")[2]
        if asked == ("POST", "chat/completions"):
            authorized = any(name == b"authorization" for name, _ in scope["headers"])
            return self._script().reply(body, authorized=authorized)
        if asked == ("GET", "models"):
            return Reply.of_body(encoded(_MODELS))
        return problem(404, "there is nothing here")


async def _send(reply: Reply, send: Send) -> bool:
    """Send a reply at its own pace; return whether that was the whole response."""
    headers = [(name.encode(), value.encode()) for name, value in reply.headers.items()]
    if reply.wait:
        await asyncio.sleep(reply.wait)
    await send({"type": "http.response.start", "status": reply.status, "headers": headers})
    for piece in reply.pieces:
        if piece.wait:
            await asyncio.sleep(piece.wait)
        await send({"type": "http.response.body", "body": piece.data, "more_body": True})
    if reply.whole:
        await send({"type": "http.response.body", "body": b"", "more_body": False})
    return reply.whole


class _Transport(httpx2.BaseTransport, httpx2.AsyncBaseTransport):
    """Ask an application without a socket; what it sends arrives piece by piece."""

    def __init__(self, app: ScriptedApp) -> None:
        self._app = app

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        exchange = _Exchange(self._app, request, await request.aread())
        status, headers = await exchange.begun()
        return httpx2.Response(status, headers=headers, stream=exchange)

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        request.read()
        with ExitStack() as opened:
            portal = opened.enter_context(start_blocking_portal())
            answer = portal.call(self.handle_async_request, request)
            stream = _Blocking(portal, answer.stream, opened.pop_all())
        return httpx2.Response(answer.status_code, headers=answer.headers, stream=stream)


class _Blocking(httpx2.SyncByteStream):
    """The body of a response for a caller without a loop; the loop is that of a portal."""

    def __init__(self, portal: BlockingPortal, stream: Any, opened: ExitStack) -> None:
        self._portal, self._pieces, self._opened = portal, aiter(stream), opened

    def __iter__(self) -> Iterator[bytes]:
        while (piece := self._portal.call(self._following)) is not None:
            yield piece

    async def _following(self) -> bytes | None:
        return await anext(self._pieces, None)

    def close(self) -> None:
        self._opened.close()


class _Exchange(httpx2.AsyncByteStream):
    """One request, and the body of its response; the caller's read timeout ends each wait."""

    def __init__(self, app: ScriptedApp, request: httpx2.Request, body: bytes) -> None:
        self._request = request
        self._patience = request.extensions.get("timeout", {}).get("read")
        self._events: asyncio.Queue[Event] = asyncio.Queue()
        self._ended = False
        headers = [(name.lower(), value) for name, value in request.headers.raw]
        scope = {"type": "http", "method": request.method, "path": request.url.path}
        given: Iterator[Event] = iter([{"type": "http.request", "body": body}])

        async def receive() -> Event:
            event = next(given, None)
            return event or await asyncio.get_running_loop().create_future()

        self._task = asyncio.ensure_future(
            app({**scope, "headers": headers}, receive, self._events.put)
        )
        self._task.add_done_callback(self._over)

    def _over(self, task: asyncio.Task[None]) -> None:
        error = None if task.cancelled() else task.exception()
        self._events.put_nowait({"type": "over", "error": error})

    async def begun(self) -> tuple[int, Any]:
        event = await self._next()
        return event["status"], event["headers"]

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while not self._ended:
            event = await self._next()
            self._ended = not event["more_body"]
            if event["body"]:
                yield event["body"]

    async def _next(self) -> Event:
        try:
            async with asyncio.timeout(self._patience):
                event = await self._events.get()
        except BaseException as error:
            await self.aclose()
            if isinstance(error, TimeoutError):
                raise httpx2.ReadTimeout("timed out", request=self._request) from None
            raise
        if event["type"] == "over":
            self._ended = True
            if not isinstance(event["error"], BrokenOff | None):
                raise event["error"]
            broken = "peer closed connection without sending complete message body"
            raise httpx2.RemoteProtocolError(broken, request=self._request)
        return event

    async def aclose(self) -> None:
        self._ended = True
        self._task.cancel()


class Scripted:
    """Whatever answers from a script: it checks the script at the end of its `with` block."""

    if TYPE_CHECKING:  # an annotation of a model would be one of its fields
        script: Script

    @property
    def calls(self) -> list[Call]:
        """Return the calls so far, oldest first."""
        return self.script.calls

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

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: Any) -> None:
        self.script.__exit__(*error)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: Any) -> None:
        self.script.__exit__(*error)


class ScriptedModel(Scripted, ChatOpenAI):
    """A LangChain chat model that answers from a script; no key, no network.

    It is the real client, and a scripted server without a socket: tools, structured output,
    streaming, errors and timeouts are those of a model behind the API.

    Args:
        answers: The answers, each used once.
        always: Answers that are used when no other is left.
        understanding: Answers only for calls that understand a message.
        agent: Answers only for calls of agents.
        settings: Any setting of ChatOpenAI, such as `model` or `temperature`.

    Example:
        >>> model = ScriptedModel("Hello!")
        >>> model.invoke("Hi").content
        'Hello!'
        >>> model.calls[0].message
        'Hi'
    """

    _script: Script = PrivateAttr()

    def __init__(
        self,
        *answers: Answer,
        always: Answer | None = None,
        understanding: Sequence[Answer] | None = None,
        agent: Sequence[Answer] | None = None,
        **settings: Any,
    ) -> None:
        script = Script(*answers, always=always, understanding=understanding, agent=agent)
        transport = _Transport(ScriptedApp(lambda: script))
        given: dict[str, Any] = {
            "model": "scripted",
            "api_key": "none",
            # A server of its own: one that fails is no other one's breaker.
            "base_url": f"http://scripted-{next(_numbers)}.invalid/v1",
            "openai_proxy": None,
            "max_retries": 0,
            "stream_usage": True,
            **settings,
        }
        super().__init__(
            http_client=httpx2.Client(transport=transport, trust_env=False),
            http_async_client=httpx2.AsyncClient(transport=transport, trust_env=False),
            **given,
        )
        self._script = script

    @classmethod
    def is_lc_serializable(cls) -> bool:
        """Say that a script cannot be written down."""
        return False

    @property
    def script(self) -> Script:  # type: ignore[override]
        """The script; `will_answer`, `calls` and `check` are its own."""
        return self._script

    @property
    def answers_in_order(self) -> bool:
        """Return whether its answers depend on the order of calls, which forbids speculation."""
        return self._script.answers_in_order
