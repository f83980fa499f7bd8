"""All that goes over the wire between the product and a model's server: requests and answers."""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx2
from jsonschema import Draft202012Validator

Json = dict[str, Any]


@dataclass
class Exchange:
    """One request, and its answer as far as it came.

    Attributes:
        body: The request.
        status: The status of the answer; 0 if there was none.
        raw: The body of the answer.
        seconds: From the request to the end of the answer.
    """

    body: Json
    status: int = 0
    raw: bytearray = field(default_factory=bytearray)
    seconds: float = 0.0

    @property
    def purpose(self) -> str:
        """The purpose of the answer."""
        return str(self.body["response_format"]["json_schema"]["name"])

    @property
    def limit(self) -> int | None:
        """The largest number of tokens that the answer may have."""
        limit: int | None = self.body.get("max_tokens")
        return limit

    def tokens(self, kind: str) -> int:
        """The number of tokens that the server counted: "prompt" or "completion"."""
        counted = [part["usage"] for part in self._parts() if part.get("usage")]
        return int(counted[-1][f"{kind}_tokens"]) if counted else 0

    @property
    def finish(self) -> str | None:
        """Why the answer ended; None if it did not."""
        reasons = [choice.get("finish_reason") for choice in self._choices()]
        return next(filter(None, reasons), None)

    @property
    def is_refused(self) -> bool:
        """Return whether the server answered with an error."""
        return self.status >= 400

    @property
    def is_valid(self) -> bool:
        """Return whether the answer follows the schema, or calls tools that were offered."""
        if self.status != 200:
            return False
        messages = [choice.get("message") or choice["delta"] for choice in self._choices()]
        called = [call for said in messages for call in said.get("tool_calls") or ()]
        if called:
            offered = {tool["function"]["name"] for tool in self.body.get("tools", ())}
            names = {name for call in called if (name := call["function"].get("name"))}
            return bool(names) and names <= offered
        text = "".join(said.get("content") or "" for said in messages)
        schema = self.body["response_format"]["json_schema"]["schema"]
        try:
            return Draft202012Validator(schema).is_valid(json.loads(text))
        except ValueError:
            return False

    def _parts(self) -> list[Json]:
        text = self.raw.decode("utf-8", "replace")
        if not self.body.get("stream"):
            return [json.loads(text)] if text else []
        lines = [line.removeprefix("data: ") for line in text.splitlines() if "data: {" in line]
        return [json.loads(line) for line in lines]

    def _choices(self) -> Iterator[Json]:
        for part in self._parts():
            yield from part.get("choices") or ()


class _Kept(httpx2.AsyncByteStream):
    """The body of an answer, which is kept while it is read."""

    def __init__(self, stream: Any, exchange: Exchange, began: float) -> None:
        self._stream, self._exchange, self._began = stream, exchange, began

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for piece in self._stream:
            self._exchange.raw += piece
            self._exchange.seconds = time.perf_counter() - self._began
            yield piece

    async def aclose(self) -> None:
        await self._stream.aclose()


@contextmanager
def watched(url: str) -> Iterator[list[Exchange]]:
    """Keep the exchanges with a server, oldest first."""
    exchanges: list[Exchange] = []
    send = httpx2.AsyncHTTPTransport.handle_async_request

    async def kept(transport: Any, request: httpx2.Request) -> httpx2.Response:
        if not str(request.url).startswith(url):
            return await send(transport, request)
        exchange = Exchange(_body(await request.aread()))
        exchanges.append(exchange)
        began = time.perf_counter()
        response = await send(transport, request)
        exchange.status = response.status_code
        response.stream = _Kept(response.stream, exchange, began)
        return response

    httpx2.AsyncHTTPTransport.handle_async_request = kept  # type: ignore[method-assign,assignment]
    try:
        yield exchanges
    finally:
        httpx2.AsyncHTTPTransport.handle_async_request = send  # type: ignore[method-assign]


def _body(raw: bytes) -> Json:
    body: Mapping[str, Any] = json.loads(raw)
    return dict(body)
