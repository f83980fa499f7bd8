"""The wire of the chat completions API: a request as a call, a message as a body or as events."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, Self, TypeAlias

from pydantic import BaseModel

Json = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One request to a model, as a test wants to look at it.

    Attributes:
        number: 1 for the first call of a script.
        model: The model that was asked for.
        messages: The messages as they came: dicts with `role` and `content`.
        tools: Names of the tools offered.
        schema: The JSON schema that the answer has to follow, None for free text.
        schema_name: Its name, "" without one.
        stream: True if the answer is wanted piece by piece.
        temperature: As given, None if not.
        authorized: True if a key came along; the key itself is not kept.
        body: The whole request, for what has no attribute here.
    """

    number: int
    model: str
    messages: list[Json]
    tools: list[str]
    schema: Json | None
    schema_name: str
    stream: bool
    temperature: float | None
    authorized: bool
    body: Json = field(repr=False)

    @classmethod
    def read(cls, raw: bytes, *, number: int, authorized: bool) -> Self:
        """Read the body of a request.

        Raises:
            ValueError: It is no request for a chat completion.
        """
        body = json.loads(raw)
        if not isinstance(body, dict) or not isinstance(body.get("model"), str):
            raise ValueError("the request names no model")
        messages = body.get("messages")
        if not isinstance(messages, list) or not messages:
            raise ValueError("the request has no messages")
        if not all(isinstance(message, dict) for message in messages):
            raise ValueError("a message of the request is not an object")
        wanted = _schema(body)
        return cls(
            number=number,
            model=body["model"],
            messages=messages,
            tools=[tool["function"]["name"] for tool in body.get("tools") or ()],
            schema=wanted.get("schema"),
            schema_name=wanted.get("name", ""),
            stream=bool(body.get("stream")),
            temperature=body.get("temperature"),
            authorized=authorized,
            body=body,
        )

    @property
    def text(self) -> str:
        """All that the messages say, in one text, a line break between two."""
        return "\n".join(_said(message) for message in self.messages)

    @property
    def message(self) -> str:
        """Return the text of the last message of the user; "" if there is none."""
        users = [message for message in self.messages if message.get("role") == "user"]
        return _said(users[-1]) if users else ""

    @property
    def max_tokens(self) -> int | None:
        """The largest number of tokens of the answer, under either name; None if not given."""
        most = self.body.get("max_completion_tokens", self.body.get("max_tokens"))
        return most if isinstance(most, int) else None

    @property
    def wants_usage(self) -> bool:
        """Return whether a stream has to end with the number of tokens."""
        options = self.body.get("stream_options")
        return isinstance(options, Mapping) and bool(options.get("include_usage"))


def _schema(body: Json) -> Json:
    wanted = body.get("response_format") or {}
    if wanted.get("type") != "json_schema":
        return {}
    schema: Json = wanted["json_schema"]
    return schema


def _said(message: Json) -> str:
    content = message.get("content")
    if isinstance(content, list):
        return "".join(part.get("text", "") for part in content if isinstance(part, dict))
    return content if isinstance(content, str) else ""


_TOKENS = re.compile(r"\s*\S+")
_WORDS = re.compile(r"\s*\S{1,8}|\s+")
_ARGUMENT_PIECE = 5  # characters of a tool's arguments in one piece of a stream


@dataclass(frozen=True, slots=True, init=False)
class UseTool:
    """A call of a tool: `UseTool("find_order", number="P-17")`.

    Attributes:
        name: Name of the tool; it is not checked against the tools that were offered.
        arguments: Its arguments as JSON text.
    """

    name: str
    arguments: str

    def __init__(self, name: str, /, **arguments: Any) -> None:
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "arguments", json.dumps(arguments, ensure_ascii=False))

    @classmethod
    def raw(cls, name: str, arguments: str) -> Self:
        """Return a call with arguments that are any text, also no JSON at all."""
        call = cls(name)
        object.__setattr__(call, "arguments", arguments)
        return call

    def within(self, most: int) -> Self:
        """Return this call with its arguments as far as a number of tokens goes."""
        return self.raw(self.name, "".join(_TOKENS.findall(self.arguments)[:most]))


StreamedReply: TypeAlias = str | Mapping[str, Any] | BaseModel | UseTool | Sequence[str | UseTool]
"""Scripted answer: text, JSON, one or several tool calls (text before them if there is both)."""


@dataclass(frozen=True, slots=True)
class Speech:
    """One message of the assistant.

    Attributes:
        text: Its content; None is sent as null.
        tools: The tools it calls.
        refusal: The model's reason to decline, instead of a text.
        finish: The finish reason; None is sent as null, and not at all in a stream.
        tokens: Into how many pieces the text falls; None divides it into words.
    """

    text: str | None
    tools: tuple[UseTool, ...] = ()
    refusal: str | None = None
    finish: str | None = "stop"
    tokens: int | None = None

    @classmethod
    def of(cls, said: StreamedReply) -> Self:
        """Return an answer as a message.

        Raises:
            TypeError: It is not a valid answer.
        """
        if isinstance(said, str):
            return cls(said)
        if isinstance(said, BaseModel):
            said = said.model_dump(mode="json")
        if isinstance(said, Mapping):
            return cls(json.dumps(dict(said), ensure_ascii=False))
        parts = [said] if isinstance(said, UseTool) else said
        if not isinstance(parts, (list, tuple)) or not parts:
            raise TypeError(f"{said!r} is not a valid answer of a model")
        tools = tuple(part for part in parts if isinstance(part, UseTool))
        texts = [part for part in parts if isinstance(part, str)]
        if len(tools) + len(texts) != len(parts):
            raise TypeError(f"{parts!r} must contain only texts and tool calls")
        text = "".join(texts) if texts else None
        return cls(text, tools, finish="tool_calls" if tools else "stop")

    def within(self, most: int | None) -> Self:
        """Return this message as far as a number of tokens goes; None is no limit."""
        if most is None or self.words() <= most:
            return self
        said = _TOKENS.findall(self.text or "")[:most]
        text = None if self.text is None else "".join(said)
        cut = [tool.within(most - len(said)) for tool in self.tools[:1]]
        return replace(self, text=text, tools=tuple(cut), finish="length")

    def first(self, pieces: int) -> Self:
        """Return this message broken off after some pieces of its text."""
        return replace(self, text="".join(self.pieces()[:pieces]))

    def pieces(self) -> list[str]:
        """Return the text as the pieces of a stream; joined they are the text again."""
        text = self.text or ""
        if self.tokens is None:
            return _WORDS.findall(text)
        count = min(max(self.tokens, 1), len(text))
        edges = [len(text) * part // count for part in range(count + 1)] if count else []
        return [text[start:end] for start, end in pairwise(edges)]

    def words(self) -> int:
        """Return the number of words, which is what a scripted model counts as tokens."""
        said = (self.text, self.refusal, *(tool.arguments for tool in self.tools))
        return sum(len(text.split()) for text in said if text) + len(self.tools)


JSON = "application/json"
EVENTS = "text/event-stream; charset=utf-8"


@dataclass(frozen=True, slots=True)
class WirePiece:
    """Bytes that are sent at once.

    Attributes:
        data: The bytes.
        wait: Seconds before them; infinite if they never come.
        spoken: True if they carry a part of what the model says.
    """

    data: bytes
    wait: float = 0.0
    spoken: bool = False


@dataclass(frozen=True, slots=True)
class Reply:
    """An HTTP response as a plan: the sender controls the pace.

    Attributes:
        status: HTTP status.
        pieces: The body.
        headers: Its headers. Without a content-length the body is sent in chunks.
        wait: Seconds before the status line; infinite if it never comes.
        whole: False if the connection is closed after the last piece as if it broke.
    """

    status: int
    pieces: tuple[WirePiece, ...]
    headers: Mapping[str, str] = field(default_factory=dict)
    wait: float = 0.0
    whole: bool = True

    @classmethod
    def of_body(cls, body: bytes, *, status: int = 200, kind: str = JSON) -> Self:
        """Return a response that is sent at once."""
        headers = {"content-type": kind, "content-length": str(len(body))}
        return cls(status, (WirePiece(body, spoken=True),), headers)

    @classmethod
    def of_events(cls, pieces: Iterator[WirePiece]) -> Self:
        """Return a response that is sent event by event."""
        return cls(200, tuple(pieces), {"content-type": EVENTS})

    def with_headers(self, headers: Mapping[str, str]) -> Self:
        """Return the same response with further headers."""
        return replace(self, headers={**self.headers, **headers})


def reply(speech: Speech, call: Call) -> Reply:
    """Return how a message is sent to this caller: whole, or as a stream."""
    if call.stream:
        return Reply.of_events(events(speech, call))
    return Reply.of_body(encoded(body(speech, call)))


def problem(status: int, message: str, kind: str = "server_error") -> Reply:
    """Return an error as the API words it."""
    return Reply.of_body(encoded(error(message, kind)), status=status)


def error(message: str, kind: str = "server_error") -> Json:
    """Return the object of an error, for a body or an event."""
    return {"error": {"message": message, "type": kind, "param": None, "code": None}}


def body(speech: Speech, call: Call) -> Json:
    """Return a message as the object that a call without streaming is answered by."""
    message: Json = {"role": "assistant", "content": speech.text, "refusal": speech.refusal}
    if speech.tools:
        message["tool_calls"] = [
            _tool(tool, place, call) for place, tool in enumerate(speech.tools)
        ]
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": speech.finish}
    return {**_head(call, "chat.completion"), "choices": [choice], "usage": usage(speech, call)}


def events(speech: Speech, call: Call) -> Iterator[WirePiece]:
    """Yield a message as a stream: the role, each piece, the finish, the usage, the end."""
    yield event(chunk(call, {"role": "assistant", "content": None if speech.text is None else ""}))
    for delta in _deltas(speech, call):
        yield replace(event(chunk(call, delta)), spoken=True)
    if speech.finish is None:
        return
    yield event(chunk(call, {}, finish=speech.finish))
    if call.wants_usage:
        yield event({**chunk(call, None), "usage": usage(speech, call)})
    yield DONE


def chunk(call: Call, delta: Json | None, finish: str | None = None) -> Json:
    """Return one chunk of a stream; without a delta it holds no choice."""
    choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
    choices = [] if delta is None else [choice]
    return {**_head(call, "chat.completion.chunk"), "choices": choices, "usage": None}


def event(data: Json) -> WirePiece:
    """Return an object as one event of a stream."""
    return WirePiece(b"data: " + encoded(data) + b"\n\n")


DONE = WirePiece(b"data: [DONE]\n\n")


def usage(speech: Speech, call: Call) -> Json:
    """Return the tokens of a call: words, so that a test can count them."""
    asked, said = len(call.text.split()), speech.words()
    return {"prompt_tokens": asked, "completion_tokens": said, "total_tokens": asked + said}


def encoded(value: Any) -> bytes:
    """Return JSON in ASCII: text that is no Unicode, like a lone surrogate, stays an escape."""
    return json.dumps(value).encode("ascii")


def _deltas(speech: Speech, call: Call) -> Iterator[Json]:
    for piece in speech.pieces():
        yield {"content": piece}
    if speech.refusal is not None:
        yield {"refusal": speech.refusal}
    for place, tool in enumerate(speech.tools):
        begun = _tool(tool, place, call)
        begun["function"]["arguments"] = ""
        yield {"tool_calls": [{"index": place, **begun}]}
        for start in range(0, len(tool.arguments), _ARGUMENT_PIECE):
            piece = tool.arguments[start : start + _ARGUMENT_PIECE]
            yield {"tool_calls": [{"index": place, "function": {"arguments": piece}}]}


def _tool(tool: UseTool, place: int, call: Call) -> Json:
    function = {"name": tool.name, "arguments": tool.arguments}
    return {"id": f"call_{call.number}_{place}", "type": "function", "function": function}


def _head(call: Call, kind: str) -> Json:
    return {
        "id": f"chatcmpl-scripted-{call.number}",
        "object": kind,
        "created": 0,
        "model": call.model,
        "system_fingerprint": None,
    }
