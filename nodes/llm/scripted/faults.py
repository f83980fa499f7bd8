"""Answers that fail or take their time."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from email.utils import format_datetime
from typing import Any, Self, TypeAlias

from pydantic import BaseModel

from nodes.llm.scripted import wire
from nodes.llm.scripted.wire import Call, Json, Piece, Reply, Speech, StreamedReply, UseTool

Text: TypeAlias = str | Mapping[str, Any] | BaseModel
_SENTENCE = "Your parcel left the depot this morning and will be with you tomorrow."


@dataclass(frozen=True, slots=True)
class Fault:
    """One way to fail; made by the class methods below.

    Each works whether the caller wants a stream or not. `of` is what the model was about to say,
    and `pieces` how many pieces of it (about a word each) come through.

    Attributes:
        name: What fails, for a message or the name of a test.
        reply: Gives the response to a call.
    """

    name: str
    reply: Callable[[Call], Reply] = field(repr=False)

    @classmethod
    def status(
        cls, code: int, *, retry_after: float | datetime | None = None, message: str = ""
    ) -> Self:
        """Answer with an HTTP error, such as 429, 500, 503, 401 or 400.

        Args:
            code: The status.
            retry_after: When to try again: seconds, or a moment in UTC (sent as an HTTP date).
            message: What the error says.
        """
        kind = "server_error" if code >= 500 else "invalid_request_error"
        kind = "rate_limit_exceeded" if code == 429 else kind
        failed = wire.problem(code, message or f"scripted fault {code}", kind)
        if isinstance(retry_after, datetime):
            failed = failed.with_headers({"retry-after": format_datetime(retry_after, usegmt=True)})
        elif retry_after is not None:
            failed = failed.with_headers({"retry-after": f"{retry_after:g}"})
        return cls(f"status {code}", lambda call: failed)

    @classmethod
    def hang(cls) -> Self:
        """Take the request and never answer."""
        return cls("hang", lambda call: Reply(200, (), wait=math.inf))

    @classmethod
    def html(cls) -> Self:
        """Answer 200 with a web page, as a proxy or a login wall does."""
        page = b"<!doctype html><html><body><h1>Please sign in</h1></body></html>"
        return cls("html", lambda call: Reply.of_body(page, kind="text/html; charset=utf-8"))

    @classmethod
    def bad_json(cls) -> Self:
        """Answer 200 with JSON that breaks off."""
        return cls("bad json", _bad_json)

    @classmethod
    def no_choices(cls) -> Self:
        """Answer without a choice."""
        return cls("no choices", lambda call: _choices(call, []))

    @classmethod
    def null_choices(cls) -> Self:
        """Answer with null for the choices."""
        return cls("null choices", lambda call: _choices(call, None))

    @classmethod
    def null_content(cls) -> Self:
        """Say nothing: the content is null, and no tool is called."""
        return cls._saying("null content", Speech(None))

    @classmethod
    def empty_content(cls) -> Self:
        """Say nothing: the content is the empty text."""
        return cls._saying("empty content", Speech(""))

    @classmethod
    def content_filter(cls, *, pieces: int = 3, of: Text = _SENTENCE) -> Self:
        """Be stopped by the content filter after some pieces."""
        said = replace(Speech.of(of).first(pieces), finish="content_filter")
        return cls._saying("content filter", said)

    @classmethod
    def length(cls, *, pieces: int = 3, of: Text = _SENTENCE) -> Self:
        """Run out of tokens after some pieces."""
        return cls._saying("length", replace(Speech.of(of).first(pieces), finish="length"))

    @classmethod
    def refusal(cls, reason: str = "I cannot help with that.") -> Self:
        """Decline in the field that the API has for it; there is no content."""
        return cls._saying("refusal", Speech(None, refusal=reason))

    @classmethod
    def no_finish(cls, *, of: StreamedReply = _SENTENCE) -> Self:
        """Say all of it, but never why it ends: a stream just stops."""
        return cls._saying("no finish", replace(Speech.of(of), finish=None))

    @classmethod
    def cut_after(cls, *, pieces: int = 3, of: StreamedReply = _SENTENCE) -> Self:
        """Lose the connection after some pieces, or in the middle of a body that is no stream."""

        def broken(call: Call) -> Reply:
            return replace(_begun(Speech.of(of), call, pieces), whole=False)

        return cls("cut", broken)

    @classmethod
    def stall_after(cls, *, pieces: int = 3, of: StreamedReply = _SENTENCE) -> Self:
        """Fall silent after some pieces, or in the middle of a body; the connection stays open."""

        def stalled(call: Call) -> Reply:
            begun = _begun(Speech.of(of), call, pieces)
            return replace(begun, pieces=(*begun.pieces, Piece(b"", wait=math.inf)))

        return cls("stall", stalled)

    @classmethod
    def error_event(cls, *, pieces: int = 3, of: StreamedReply = _SENTENCE) -> Self:
        """Tell an error inside a response that began with 200."""
        told = wire.error("The server had an error while processing your request.")

        def failing(call: Call) -> Reply:
            if not call.stream:
                return Reply.of_body(wire.encoded(told))
            begun = _begun(Speech.of(of), call, pieces)
            return replace(begun, pieces=(*begun.pieces, wire.event(told)))

        return cls("error event", failing)

    @classmethod
    def huge(cls, *, size: int = 10_000_000, pieces: int = 1, field: str = "") -> Self:
        """Say far too much.

        Args:
            size: Characters of text.
            pieces: Pieces of a stream that they come in.
            field: Where the answer is to be JSON: the text is the value of this field.
        """
        text = ("far too much " * (size // 13 + 1))[:size]
        said = Speech.of({field: text} if field else text)
        return cls._saying("huge", replace(said, tokens=pieces))

    @classmethod
    def unclean(cls, *, field: str = "") -> Self:
        """Say text that no store takes: half a surrogate pair, and the character NUL.

        Args:
            field: Where the answer is to be JSON: the text is the value of this field.
        """
        text = "Your parcel \ud83d is \x00 here."
        return cls._saying("unclean text", Speech.of({field: text} if field else text))

    @classmethod
    def illegal_tool(cls, name: str = "no such tool; drop all") -> Self:
        """Call a tool that cannot exist."""
        return cls._saying("illegal tool", Speech.of(UseTool(name)))

    @classmethod
    def bad_arguments(cls, tool: str, arguments: str = '{"number": "P-1') -> Self:
        """Call a tool with arguments that are no JSON."""
        return cls._saying("bad arguments", Speech.of(UseTool.raw(tool, arguments)))

    @classmethod
    def _saying(cls, name: str, speech: Speech) -> Self:
        return cls(name, lambda call: wire.reply(speech, call))


def _bad_json(call: Call) -> Reply:
    if call.stream:
        return Reply.of_events(iter([Piece(b'data: {"id": "chatcmpl-scripted", "choi\n\n')]))
    return Reply.of_body(b'{"id": "chatcmpl-scripted", "choices": [{"index": 0, "mess')


def _choices(call: Call, choices: list[Json] | None) -> Reply:
    if call.stream:
        chunk = {**wire.chunk(call, None), "choices": choices}
        return Reply.of_events(iter([wire.event(chunk), wire.DONE]))
    return Reply.of_body(wire.encoded({**wire.body(Speech(""), call), "choices": choices}))


def _begun(speech: Speech, call: Call, pieces: int) -> Reply:
    """Return a response of which only the beginning is there."""
    planned = wire.reply(speech, call)
    if not call.stream:
        data = planned.pieces[0].data
        return replace(planned, pieces=(Piece(data[: len(data) // 2]),))
    spoken = [place for place, piece in enumerate(planned.pieces) if piece.spoken]
    end = spoken[pieces] if pieces < len(spoken) else spoken[-1] + 1
    return replace(planned, pieces=planned.pieces[:end])


@dataclass(frozen=True, slots=True)
class Slow:
    """An answer at the pace of a model: `Slow("...", before=0.2, over=1.0, tokens=50)`.

    Attributes:
        answer: What is said, or how it fails.
        before: Seconds until the first token.
        over: Seconds from the first token to the end, shared out evenly behind the tokens; a
            caller that wants no stream waits for both together.
        tokens: Pieces that a text is divided into, at most one a character; None: about a word
            each.
    """

    answer: StreamedReply | Fault
    before: float = 0.0
    over: float = 0.0
    tokens: int | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.answer, Fault):
            Speech.of(self.answer)
        elif self.tokens is not None:
            raise TypeError("a fault has its own pieces; omit tokens")

    def reply(self, call: Call) -> Reply:
        """Return the answer with its pauses."""
        if isinstance(self.answer, Fault):
            planned = self.answer.reply(call)
        else:
            planned = wire.reply(replace(Speech.of(self.answer), tokens=self.tokens), call)
        if not call.stream:
            return replace(planned, wait=planned.wait + self.before + self.over)
        spoken = [place for place, piece in enumerate(planned.pieces) if piece.spoken]
        pieces = list(planned.pieces)
        for place in spoken:
            if place + 1 < len(pieces):
                later = pieces[place + 1].wait + self.over / len(spoken)
                pieces[place + 1] = replace(pieces[place + 1], wait=later)
        return replace(planned, pieces=tuple(pieces), wait=planned.wait + self.before)
