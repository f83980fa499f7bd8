"""The script of a model: which answers it gives, in order, and what it was asked."""

from __future__ import annotations

import inspect
import reprlib
import threading
from collections import deque
from collections.abc import Callable, Sequence
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

_KINDS = {"understanding": "understanding", "answer": "agent"}
"""Names of schemas -> the kinds that answers may name."""


class Script:
    """Answers in the order in which they are given, and a record of every call.

    Args:
        answers: The answers, each used once.
        always: Answers when no other is left; without it a call too many is answered by HTTP 500,
            and `check` tells of it.
        understanding: Answers to the calls that understand a message alone.
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
        """Whether its answers belong to calls by their order alone, since none names its kind."""
        return not self._is_by_kind

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
