"""The script of a model: which answers it gives, in order, what it was asked, what it refuses."""

from __future__ import annotations

import inspect
import re
import reprlib
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from types import TracebackType
from typing import Any, Self, TypeAlias

from nodes.llm.scripted import wire
from nodes.llm.scripted.faults import Fault, Slow
from nodes.llm.scripted.wire import Call, Reply, Speech, StreamedReply

Answer: TypeAlias = StreamedReply | Fault | Slow | Callable[[Call], "Answer"]
"""Types of scripted answers; a function gets the call and decides."""

_KINDS = {"understanding": "understanding", "answer": "agent"}
"""Names of schemas -> the kinds that answers may name."""


class Script:
    """Answers in the order in which they are given, and a record of every call.

    Args:
        answers: The answers, each used once.
        always: Answers when no other is left; without it a call too many is answered by HTTP 500,
            and `check` tells of it.
        understanding: Answers only for calls that understand a message.
        agent: Answers to the calls of agents alone. Where one of these two is given, if only as an
            empty list, calls may come in any order, and agents are asked ahead.

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
                    f"answer left over: {reprlib.repr(left)}"
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
            said = f"call {call.number} is one too many; the user said {call.message!r}"
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
        """Remember what went wrong with the test itself, and tell the caller."""
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
    return wire.reply(Speech.of(answer), call)


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
_NAMING = "its name may hold letters, digits, _ and -, 64 at most"


def refusals(body: dict[str, Any]) -> list[str]:
    """Return why the real server would refuse a request; nothing if it would take it.

    Args:
        body: The request.
    """
    return [*_of_messages(body["messages"]), *_of_tools(body), *_of_format(body)]


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
        yield "response_format json_object: no message says the word json"
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
    """Yield the schemas inside a schema."""
    for group in ("properties", "$defs"):
        yield from schema.get(group, {}).items()
    yield from ((f"anyOf[{place}]", part) for place, part in enumerate(schema.get("anyOf", ())))
    yield "items", schema.get("items")
