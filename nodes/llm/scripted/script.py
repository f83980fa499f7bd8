"""The script of a model: which answers it gives, in order, and what it was asked."""

from __future__ import annotations

import inspect
import reprlib
import threading
from collections import deque
from collections.abc import Callable
from types import TracebackType
from typing import Self, TypeAlias

from nodes.llm.scripted import wire
from nodes.llm.scripted.call import Call
from nodes.llm.scripted.faults import Fault
from nodes.llm.scripted.slow import Slow
from nodes.llm.scripted.speech import Speech, Spoken
from nodes.llm.scripted.strictness import refusals
from nodes.llm.scripted.wire import Reply

Answer: TypeAlias = Spoken | Fault | Slow | Callable[[Call], "Answer"]
"""What a script may answer with; a function is given the call and decides."""


class Script:
    """Answers in the order in which they are given, and a record of every call.

    Args:
        answers: The answers, each used once.
        always: Answers when no other is left; without it a call too many is answered by HTTP 500,
            and `check` tells of it.

    It may be asked from several threads.

    >>> with Script("Hello!") as script:
    ...     reply = script.reply(b'{"model": "m", "messages": [{"role": "user", "content": "Hi"}]}')
    >>> script.calls[0].message
    'Hi'
    """

    def __init__(self, *answers: Answer, always: Answer | None = None) -> None:
        self._lock = threading.Lock()
        self._answers: deque[Answer] = deque()
        self._calls: list[Call] = []
        self._faults: list[str] = []
        self._cause: Exception | None = None
        self._always = None if always is None else _accepted(always)
        self.will_answer(*answers)

    def will_answer(self, *answers: Answer) -> None:
        """Add answers behind those that are left.

        Raises:
            TypeError: One of them is nothing that a model can answer.
        """
        accepted = [_accepted(answer) for answer in answers]
        with self._lock:
            self._answers.extend(accepted)

    @property
    def calls(self) -> list[Call]:
        """What was asked so far, oldest first."""
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
                *(f"answer left over: {reprlib.repr(left)}" for left in self._answers),
            ]
        if faults:
            raise AssertionError("\n".join(faults)) from self._cause

    def reply(self, request: bytes, *, authorized: bool = False) -> Reply:
        """Return what a request is answered by.

        Args:
            request: The JSON body of a chat completions request.
            authorized: Whether a key came with it.
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
            return call, self._answers.popleft() if self._answers else self._always

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

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.__exit__(kind, error, trace)


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
        raise TypeError(f"{answer!r} is no answer of a model")
    if not callable(answer):
        Speech.of(answer)
    return answer
