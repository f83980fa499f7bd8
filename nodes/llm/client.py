"""Reach a language model: its client, how it is asked, what its answer says, what it cost."""

from __future__ import annotations

import json
import os
import re
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from journeygraph.nodes.breaker import Breaker
from journeygraph.nodes.state.messages import text_of

if TYPE_CHECKING:
    from langchain_openai import ChatOpenAI

    from journeygraph.nodes.llm.call import Question
    from journeygraph.nodes.llm.cassette import Cassette


Message = Any
"""A message as OpenAI writes it, or one of LangChain's."""

RUN_CONFIG: Mapping[str, Any] = {"tags": ["nostream"]}
"""Keeps raw JSON out of LangGraph's own message stream; replies are sent as our tokens."""


IN_ORDER = "/answers-in-order/"
"""Part of the address of a server, such as a scripted one, that answers calls by their order."""


@dataclass(frozen=True, slots=True)
class ModelToolCall:
    """A tool that the model wants called; `arguments` is None if they are not a JSON object."""

    id: str
    name: str
    arguments: dict[str, Any] | None


@dataclass(frozen=True, slots=True)
class ChatAnswer:
    """Answer of a model: JSON text, or tool calls.

    `message` is the answer as it came, to be shown to the model again.
    """

    text: str
    calls: list[ModelToolCall]
    message: Message


MOST_TOKENS = 600
"""Largest number of tokens of an answer for which no setting says another."""
_OPENAI = re.compile(r"(.*\.)?(openai|azure)\.com")
_THINKING = re.compile(r"(.*/)?(o\d|gpt-[5-9])\b.*")
"""Names of OpenAI's models that refuse `max_tokens`, also behind a gateway."""
_AT_ONCE = "max_tokens"
_OWN_FIELDS = ("num_predict", "max_output_tokens", "max_new_tokens")
"""Fields of LangChain's models that take their limit there, and not with each call."""
_LIMITS = ("max_tokens", "max_completion_tokens")
"""Names of the limit in a request to OpenAI's API."""


@dataclass(frozen=True, slots=True)
class ChatClient:
    """A LangChain chat model, by its own or another model name.

    OpenAI's models are held to a schema by `response_format`. Other providers share no such
    setting, but all of them call functions: there the answer is the call of one.

    Attributes:
        name: Name of a model to ask instead of the default; None: the default.
        is_openai: True if it speaks OpenAI's chat completions.
        retries_itself: True if its client tries again by itself.
        breaker: Leaves it alone where it does not answer; None: it is always asked.
        cassette: Has its answers, or records them; None: it is asked itself.
    """

    model: Any = field(repr=False)
    name: str | None = None
    is_openai: bool = False
    retries_itself: bool = False
    breaker: Breaker | None = field(default=None, repr=False, compare=False)
    cassette: Cassette | None = field(default=None, repr=False, compare=False)
    most_tokens: int = MOST_TOKENS

    @property
    def limit(self) -> int:
        """The largest number of tokens of each answer; a lower one of the model itself counts."""
        body = (self.model.extra_body or {}) if self.is_openai else {}
        own = [getattr(self.model, name, None) for name in (_AT_ONCE, *_OWN_FIELDS)]
        given = [*own, *(body.get(name) for name in _LIMITS)]
        # Below 1, a model's own limit means that it has none.
        return min([self.most_tokens, *(n for n in given if isinstance(n, int) and n > 0)])

    @property
    def called(self) -> str:
        """The name of the model that is asked; empty if it has none."""
        own = getattr(self.model, "model_name", None) or getattr(self.model, "model", None)
        return self.name or (own if isinstance(own, str) else "")

    @property
    def rests(self) -> bool:
        """Return whether it is not called now, or tried with one call."""
        return self.breaker is not None and not self.breaker.is_closed

    @property
    def answers_in_order(self) -> bool:
        """Return whether its answers depend on the order of calls, which forbids speculation."""
        if self.cassette is not None and self.cassette.in_order:
            return True
        client = getattr(self.model, "root_async_client", None)
        where = str(client.base_url) if client is not None else ""
        return bool(getattr(self.model, "answers_in_order", False)) or IN_ORDER in where

    def prepared(self, question: Question, *, streams: bool) -> tuple[Any, dict[str, Any]]:
        """Return what to run, and the options to run it with."""
        options: dict[str, Any] = {"model": self.name} if self.name else {}
        if not self.is_openai:
            tools = [*question.tools, _as_function(question)]
            model, limit = self._limited()
            return model.bind_tools(tools, tool_choice="any"), {**options, **limit}
        given = self.model.extra_body or {}
        body = {name: value for name, value in given.items() if name not in _LIMITS}
        # Under its own name, LangChain would send this by a helper that refuses open schemas,
        # and raises before the answer can be looked at.
        body["response_format"] = _response_format(question)
        # LangChain sends the newer name to everyone, and older servers ignore it.
        body["max_completion_tokens" if self._is_of_openai() else "max_tokens"] = self.limit
        options["extra_body"] = body
        if question.tools:
            options["tools"] = list(question.tools)
        if streams:
            options["stream_usage"] = True
        # Its own limit would be sent beside this one, under a name that may be another.
        own = self.model.max_tokens is None
        return self.model if own else self.model.model_copy(update={"max_tokens": None}), options

    def _limited(self) -> tuple[Any, dict[str, Any]]:
        """Return a model of another provider, and the options that limit its answer."""
        fields = type(self.model).model_fields
        name = next((name for name in _OWN_FIELDS if name in fields), None)
        if name is None or _AT_ONCE in fields:
            return self.model, {_AT_ONCE: self.limit}
        return self.model.model_copy(update={name: self.limit}), {}

    def _is_of_openai(self) -> bool:
        """Return whether a model wants the newer name of the limit; others may not know it."""
        host = urlsplit(str(self.model.root_async_client.base_url)).hostname or ""
        is_azure = hasattr(self.model, "azure_endpoint")
        return is_azure or bool(_OPENAI.fullmatch(host) or _THINKING.fullmatch(self.called))

    def listener(self, question: Question) -> Callable[[Any], str]:
        """Return what gives the text of the answer in each chunk of a stream."""
        return _text_in if self.is_openai else _ArgumentsOf(question.schema_name)

    def read(self, question: Question, message: Any) -> ChatAnswer:
        """Return the answer in a message."""
        calls = _calls_in(message)
        given = [call for call in calls if call.name == question.schema_name]
        # One given together with calls of tools was given without their results.
        if given and not self.is_openai and (len(given) == len(calls) or not question.tools):
            return ChatAnswer(json.dumps(given[0].arguments), [], message)
        return ChatAnswer(_text_in(message), calls, message)

    def corrected(self, answer: ChatAnswer, said: str) -> list[Message]:
        """Return the messages that show the model its answer and what is wrong with it."""
        called = [call.id for call in _calls_in(answer.message)]
        if called and not self.is_openai:
            return [answer.message, *(tool_result(id_, said) for id_ in called)]
        return [answer.message, {"role": "user", "content": said}]


def _calls_in(message: Any) -> list[ModelToolCall]:
    # Of a stream, LangChain completes arguments that break off: half a value would be acted upon.
    if pieces := getattr(message, "tool_call_chunks", None):
        return [
            ModelToolCall(p["id"] or "", p["name"] or "", _arguments(p["args"])) for p in pieces
        ]
    calls = [
        ModelToolCall(call["id"] or "", call["name"], call["args"]) for call in message.tool_calls
    ]
    broken = message.invalid_tool_calls
    return [*calls, *(ModelToolCall(call["id"] or "", call["name"] or "", None) for call in broken)]


def _arguments(text: str | None) -> dict[str, Any] | None:
    try:
        arguments = json.loads(text or "{}")
    except (ValueError, RecursionError):
        return None
    return arguments if isinstance(arguments, dict) else None


def tool_result(call_id: str, content: str) -> Message:
    """Return the message with the result of a tool for the model."""
    return {"role": "tool", "tool_call_id": call_id, "content": content}


def _text_in(message: Any) -> str:
    return text_of(message.content)


class _ArgumentsOf:
    """The arguments of one function's call, as they are written; none behind another call."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._index: Any = None
        self._others = False

    def __call__(self, chunk: Any) -> str:
        pieces = []
        # A model that cannot stream gives its whole message instead.
        for piece in getattr(chunk, "tool_call_chunks", ()):
            if piece["name"]:
                self._index = piece["index"] if piece["name"] == self._name else None
                self._others = self._others or self._index is None
            heard = self._index is not None and not self._others
            if heard and piece["index"] == self._index:
                pieces.append(piece["args"] or "")
        return "".join(pieces)


def _response_format(question: Question) -> dict[str, Any]:
    schema = {
        "name": question.schema_name,
        "schema": dict(question.schema),
        "strict": question.strict,
    }
    return {"type": "json_schema", "json_schema": schema}


def _as_function(question: Question) -> dict[str, Any]:
    function = {
        "name": question.schema_name,
        "description": "Give your answer. Call this once, when you are done.",
        "parameters": dict(question.schema),
    }
    return {"type": "function", "function": function}


MOST_BYTES = 8 * 1024 * 1024
"""Largest answer on the wire; a stream spends a few hundred bytes on each token."""
KEPT_SECONDS = 120.0
"""Seconds that an idle connection stays open, so that users who think for a while need no new one.

The client's default is 5 seconds; networks forget connections that are idle for some minutes.
"""


class OversizedError(OSError):
    """An answer is over the limit; what follows of it is not read."""


class _Limited:
    """The stream of a response, up to a limit."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        left = MOST_BYTES
        async for piece in self._stream:
            left -= len(piece)
            if left < 0:
                raise OversizedError(f"over {MOST_BYTES} bytes")
            yield piece

    async def aclose(self) -> None:
        await self._stream.aclose()


def client_of(*, keeps_alive: bool) -> Any:
    """Return a new client; its creator closes it.

    Args:
        keeps_alive: True if connections are used again, which only one event loop can do.
    """
    from httpx2 import AsyncByteStream, Limits  # noqa: PLC0415 - as heavy as the library it belongs to
    from openai import DEFAULT_CONNECTION_LIMITS as DEFAULT  # noqa: PLC0415
    from openai import DefaultAsyncHttpxClient  # noqa: PLC0415

    class LimitedStream(_Limited, AsyncByteStream):
        pass

    async def limit(response: Any) -> None:
        response.stream = LimitedStream(response.stream)

    limits = Limits(
        max_connections=DEFAULT.max_connections,
        max_keepalive_connections=DEFAULT.max_keepalive_connections if keeps_alive else 0,
        keepalive_expiry=KEPT_SECONDS,
    )
    return DefaultAsyncHttpxClient(
        event_hooks={"response": [limit]},
        follow_redirects=False,
        limits=limits,
        proxy=os.environ.get("OPENAI_PROXY") or None,
    )


@cache
def quick_chat() -> type[ChatOpenAI]:
    """Return the class of OpenAI's chat models as we use them; a second to import."""
    from langchain_openai import ChatOpenAI  # noqa: PLC0415

    class QuickChatOpenAI(ChatOpenAI):
        """A ChatOpenAI whose messages go into the body as they are.

        The client would compare each message with the types of all messages there are, which
        takes longer than all else in a turn; LangChain has given them their form already.
        """

        def _get_request_payload(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
            payload = super()._get_request_payload(*args, **kwargs)
            body = {**(payload.get("extra_body") or {}), "messages": payload["messages"]}
            return {**payload, "messages": [], "extra_body": body}

    return QuickChatOpenAI
