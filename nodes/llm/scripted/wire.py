"""What goes over the wire: a message as one JSON body, or as the events of a stream."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Self

from nodes.llm.scripted.call import Call, Json
from nodes.llm.scripted.speech import Speech, UseTool, argument_pieces

JSON = "application/json"
EVENTS = "text/event-stream; charset=utf-8"


@dataclass(frozen=True, slots=True)
class Piece:
    """Bytes that are sent at once.

    Attributes:
        data: The bytes.
        wait: Seconds before them; infinite if they never come.
        spoken: Whether they carry a part of what the model says.
    """

    data: bytes
    wait: float = 0.0
    spoken: bool = False


@dataclass(frozen=True, slots=True)
class Reply:
    """An HTTP response as a plan: whoever sends it keeps its pace.

    Attributes:
        status: HTTP status.
        pieces: The body.
        headers: Its headers. Without a content-length the body is sent in chunks.
        wait: Seconds before the status line; infinite if it never comes.
        whole: False if the connection is closed after the last piece as if it broke.
    """

    status: int
    pieces: tuple[Piece, ...]
    headers: Mapping[str, str] = field(default_factory=dict)
    wait: float = 0.0
    whole: bool = True

    @classmethod
    def of_body(cls, body: bytes, *, status: int = 200, kind: str = JSON) -> Self:
        """Return a response that is sent at once."""
        headers = {"content-type": kind, "content-length": str(len(body))}
        return cls(status, (Piece(body, spoken=True),), headers)

    @classmethod
    def of_events(cls, pieces: Iterator[Piece]) -> Self:
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
    """Return the object that tells an error, in a body or in an event."""
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


def events(speech: Speech, call: Call) -> Iterator[Piece]:
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


def event(data: Json) -> Piece:
    """Return an object as one event of a stream."""
    return Piece(b"data: " + encoded(data) + b"\n\n")


DONE = Piece(b"data: [DONE]\n\n")


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
        for piece in argument_pieces(tool):
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
