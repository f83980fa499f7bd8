"""The script of a model: which answers it gives, in order, what it was asked, what it refuses.

An answer may also fail, or take its time.
"""

from __future__ import annotations

import inspect
import math
import re
import reprlib
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from email.utils import format_datetime
from types import TracebackType
from typing import Any, Self, TypeAlias

from pydantic import BaseModel

from journeygraph.nodes.llm.scripted import wire
from journeygraph.nodes.llm.scripted.wire import (
    Call,
    Json,
    Reply,
    Speech,
    StreamedReply,
    UseTool,
    WirePiece,
)

Text: TypeAlias = str | Mapping[str, Any] | BaseModel
_SENTENCE = "Your parcel left the depot this morning and will be with you tomorrow."


@dataclass(frozen=True, slots=True)
class Fault:
    """One way to fail; made by the class methods below.

    Each works whether the caller wants a stream or not. `of` is what the model was about to say,
    and `pieces` how many pieces of it (about a word each) come through.

    Attributes:
        name: The name of the failure, for a message or a test.
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
            retry_after: Time of the next try: seconds, or a moment in UTC (sent as an HTTP date).
            message: The text of the error.
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
            return replace(begun, pieces=(*begun.pieces, WirePiece(b"", wait=math.inf)))

        return cls("stall", stalled)

    @classmethod
    def error_event(cls, *, pieces: int = 3, of: StreamedReply = _SENTENCE) -> Self:
        """Send an error inside a response that began with 200."""
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
            field: For a JSON answer: the text is the value of this field.
        """
        text = ("far too much " * (size // 13 + 1))[:size]
        said = Speech.of({field: text} if field else text)
        return cls._saying("huge", replace(said, tokens=pieces))

    @classmethod
    def unclean(cls, *, field: str = "") -> Self:
        """Say text that no store takes: half a surrogate pair, and the character NUL.

        Args:
            field: For a JSON answer: the text is the value of this field.
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
        return Reply.of_events(iter([WirePiece(b'data: {"id": "chatcmpl-scripted", "choi\n\n')]))
    return Reply.of_body(b'{"id": "chatcmpl-scripted", "choices": [{"index": 0, "mess')


def _choices(call: Call, choices: list[Json] | None) -> Reply:
    if call.stream:
        chunk = {**wire.chunk(call, None), "choices": choices}
        return Reply.of_events(iter([wire.event(chunk), wire.DONE]))
    return Reply.of_body(wire.encoded({**wire.body(Speech(""), call), "choices": choices}))


def _begun(speech: Speech, call: Call, pieces: int) -> Reply:
    planned = wire.reply(speech, call)
    if not call.stream:
        data = planned.pieces[0].data
        return replace(planned, pieces=(WirePiece(data[: len(data) // 2]),))
    spoken = [place for place, piece in enumerate(planned.pieces) if piece.spoken]
    end = spoken[pieces] if pieces < len(spoken) else spoken[-1] + 1
    return replace(planned, pieces=planned.pieces[:end])


@dataclass(frozen=True, slots=True)
class Slow:
    """An answer at the pace of a model: `Slow("...", before=0.2, over=1.0, tokens=50)`.

    Attributes:
        answer: The answer, or the failure.
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
            said = Speech.of(self.answer).within(call.max_tokens)
            planned = wire.reply(replace(said, tokens=self.tokens), call)
        if not call.stream:
            return replace(planned, wait=planned.wait + self.before + self.over)
        spoken = [place for place, piece in enumerate(planned.pieces) if piece.spoken]
        pieces = list(planned.pieces)
        for place in spoken:
            if place + 1 < len(pieces):
                later = pieces[place + 1].wait + self.over / len(spoken)
                pieces[place + 1] = replace(pieces[place + 1], wait=later)
        return replace(planned, pieces=tuple(pieces), wait=planned.wait + self.before)


Answer: TypeAlias = StreamedReply | Fault | Slow | Callable[[Call], "Answer"]
"""Types of scripted answers; a function gets the call and decides."""

_KINDS = {"understanding": "understanding", "answer": "agent"}
"""Names of schemas -> the kinds that answers may name."""


class Script:
    """Answers in the order in which they are given, and a record of every call.

    Args:
        answers: The answers, each used once.
        always: Answers when no other is left; without it a call too many is answered by HTTP 500,
            and `check` reports it.
        understanding: Answers only for calls that understand a message.
        agent: Answers to the calls of agents alone. If one of these two is given, even as an empty
            list, calls may come in any order, and agents get speculative requests.

    It may be asked from several threads.

    >>> with Script("Hello!") as script:
    ...     reply = script.reply(b'{"model": "m", "messages": [{"role": "user", "content": "Hi"}]}')
    >>> script.calls[0].message
    'Hi'
    """

    def __init__(
        self,
        *answers: Answer,
        always: Answer | None = None,
        understanding: Sequence[Answer] | None = None,
        agent: Sequence[Answer] | None = None,
    ) -> None:
        self._lock = threading.Lock()
        self._answers: deque[Answer] = deque()
        self._of_kind: dict[str, deque[Answer]] = {name: deque() for name in _KINDS.values()}
        self._is_by_kind = understanding is not None or agent is not None
        self._calls: list[Call] = []
        self._faults: list[str] = []
        self._cause: Exception | None = None
        self._always = None if always is None else _accepted(always)
        self.will_answer(*answers, understanding=understanding or (), agent=agent or ())

    def will_answer(
        self,
        *answers: Answer,
        understanding: Sequence[Answer] = (),
        agent: Sequence[Answer] = (),
    ) -> None:
        """Add answers behind those that are left, of any kind or of one.

        Raises:
            TypeError: One of them is nothing that a model can answer.
        """
        accepted = [_accepted(answer) for answer in answers]
        named = {"understanding": understanding, "agent": agent}
        of_kind = {kind: [_accepted(one) for one in given] for kind, given in named.items()}
        with self._lock:
            self._answers.extend(accepted)
            for kind, given in of_kind.items():
                self._of_kind[kind].extend(given)
                self._is_by_kind = self._is_by_kind or bool(given)

    @property
    def answers_in_order(self) -> bool:
        """Return whether its answers depend only on the order of calls, without kinds."""
        return not self._is_by_kind

    @property
    def calls(self) -> list[Call]:
        """Return the calls so far, oldest first."""
        with self._lock:
            return list(self._calls)

    def check(self) -> None:
        """See that every call had an answer and every answer its call.

        Raises:
            AssertionError: A call too many, an answer left over, a request that OpenAI would
                refuse, or an answer function that failed.
        """
        with self._lock:
            faults = [
                *self._faults,
                *(
                    f"unused answer: {reprlib.repr(left)}"
                    for queue in (*self._of_kind.values(), self._answers)
                    for left in queue
                ),
            ]
        if faults:
            raise AssertionError("\n".join(faults)) from self._cause

    def reply(self, request: bytes, *, authorized: bool = False) -> Reply:
        """Return what a request is answered by.

        Args:
            request: The JSON body of a chat completions request.
            authorized: True if a key came with it.
        """
        try:
            call, answer = self._next(request, authorized)
        except (ValueError, LookupError, TypeError, AttributeError) as fault:
            return self._refused(f"OpenAI would refuse the request: {fault}", 400)
        if answer is None:
            said = f"call {call.number} has no answer in the script; its message: {call.message!r}"
            return self._refused(said, 500)
        try:
            return reply_to(answer, call)
        except Exception as error:  # what a test's own function raised must reach the test
            said = f"the answer to call {call.number} failed: {type(error).__name__}: {error}"
            return self._refused(said, 500, error)

    def _next(self, request: bytes, authorized: bool) -> tuple[Call, Answer | None]:
        with self._lock:
            call = Call.read(request, number=len(self._calls) + 1, authorized=authorized)
            if refused := refusals(call.body):
                raise ValueError("; ".join(refused))
            self._calls.append(call)
            own = self._of_kind.get(_KINDS.get(call.schema_name, ""))
            queue = own or self._answers
            return call, queue.popleft() if queue else self._always

    def _refused(self, fault: str, status: int, cause: Exception | None = None) -> Reply:
        """Record a fault of the test itself, and report it to the caller."""
        with self._lock:
            self._faults.append(fault)
            self._cause = self._cause or cause
        return wire.problem(status, fault, "scripted")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if error is None:
            self.check()
        elif self._faults:  # most likely what the test's own assertion tripped over
            error.add_note("The script: " + "; ".join(self._faults))

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: Any) -> None:
        self.__exit__(*error)


def reply_to(answer: Answer, call: Call) -> Reply:
    """Return how an answer is sent to this caller."""
    if isinstance(answer, (Fault, Slow)):
        return answer.reply(call)
    if callable(answer):
        return reply_to(answer(call), call)
    return wire.reply(Speech.of(answer).within(call.max_tokens), call)


def _accepted(answer: Answer) -> Answer:
    """Return an answer that can be given, so that a mistake shows where it is written."""
    if isinstance(answer, (Fault, Slow)):
        return answer
    if isinstance(answer, type) or inspect.iscoroutinefunction(answer):
        raise TypeError(f"{answer!r} is not a valid answer of a model")
    if not callable(answer):
        Speech.of(answer)
    return answer


_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_NAMING = "its name may contain at most 64 letters, digits, _ and -"


def refusals(body: dict[str, Any]) -> list[str]:
    """Return why the real server would refuse a request; nothing if it would take it.

    Args:
        body: The request.
    """
    return [*_of_messages(body["messages"]), *_of_tools(body), *_of_format(body), *_of_limits(body)]


def _of_messages(messages: list[dict[str, Any]]) -> Iterator[str]:
    """Check that each result of a tool answers a call before it, and each call is answered."""
    open_calls: set[str] = set()
    for place, message in enumerate(messages):
        where = f"messages[{place}]"
        if message.get("role") == "tool":
            if message.get("tool_call_id") not in open_calls:
                yield f"{where}: a tool's result without a call of that tool before it"
            open_calls.discard(message.get("tool_call_id", ""))
            continue
        if open_calls:
            yield f"{where}: calls of tools before it have no result: {sorted(open_calls)}"
        open_calls = {call["id"] for call in message.get("tool_calls") or ()}
        if message.get("content") is None and not open_calls and not message.get("refusal"):
            yield f"{where}: the content is null"
    if open_calls:
        yield f"calls of tools have no result: {sorted(open_calls)}"


def _of_tools(body: dict[str, Any]) -> Iterator[str]:
    functions = [tool["function"] for tool in body.get("tools") or ()]
    for function in functions:
        name = function["name"]
        if not _NAME.fullmatch(name):
            yield f"tool {name!r}: {_NAMING}"
        if function.get("strict"):
            yield from _of_schema(function["parameters"], f"tool {name!r}")
    if body.get("tools") == []:
        yield "tools is an empty list"


def _of_format(body: dict[str, Any]) -> Iterator[str]:
    wanted = body.get("response_format") or {}
    if wanted.get("type") == "json_object" and "json" not in str(body["messages"]).lower():
        yield "response_format json_object: no message contains the word json"
    if wanted.get("type") != "json_schema":
        return
    given = wanted["json_schema"]
    if not _NAME.fullmatch(given.get("name") or ""):
        yield f"schema {given.get('name')!r}: {_NAMING}"
    if given.get("strict"):
        schema = given["schema"]
        if schema.get("type") != "object" or "anyOf" in schema:
            yield "schema: its root is not an object"
        yield from _of_schema(schema, "schema")


def _of_limits(body: dict[str, Any]) -> Iterator[str]:
    given = [name for name in ("max_tokens", "max_completion_tokens") if body.get(name) is not None]
    if len(given) > 1:
        yield "max_tokens and max_completion_tokens are set at the same time"
    for name in given:
        if not isinstance(body[name], int) or body[name] < 1:
            yield f"{name} is not a number above 0"


def _of_schema(schema: Any, where: str) -> Iterator[str]:
    """Strict mode: every object is closed, and all its properties are required."""
    if not isinstance(schema, dict):
        return
    if "properties" in schema or schema.get("type") == "object":
        if schema.get("additionalProperties") is not False:
            yield f"{where}: additionalProperties must be false"
        missing = set(schema.get("properties", ())) - set(schema.get("required", ()))
        if missing:
            yield f"{where}: required must name every property, also {sorted(missing)}"
    for name, part in _parts(schema):
        yield from _of_schema(part, f"{where}.{name}")


def _parts(schema: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    for group in ("properties", "$defs"):
        yield from schema.get(group, {}).items()
    yield from ((f"anyOf[{place}]", part) for place, part in enumerate(schema.get("anyOf", ())))
    yield "items", schema.get("items")
