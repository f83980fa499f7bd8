"""One request of an agent, sent before it is known whether that agent answers."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from cachetools import LRUCache

from journeys import JourneySpec
from nodes.llm.asking import Hear, Question, ask
from nodes.llm.chat import Answer, Chat
from nodes.llm.usage import Usage

COUNTED = 20
"""Speculations of a journey, the last ones, of which a share may be wrong."""
REST = 100
"""Turns of a journey in which nothing is speculated after too many were wrong."""


@dataclass(slots=True)
class Record:
    """How speculations of a journey came out of late, in this process."""

    _wrong: deque[bool] = field(default_factory=lambda: deque(maxlen=COUNTED))
    _rest: int = 0

    def allows(self) -> bool:
        """Say whether the turn that begins may speculate; each asks once, which counts it."""
        self._rest = max(self._rest - 1, 0)
        return not self._rest

    def add(self, *, wrong: bool, most: float) -> None:
        """Add how one came out; rest if more than a share of the last ones was wrong."""
        self._wrong.append(wrong)
        if sum(self._wrong) > most * COUNTED:
            self._wrong.clear()
            self._rest = REST + 1


_records: LRUCache[tuple[str, str], Record] = LRUCache(4_096)


def record_of(spec: JourneySpec) -> Record:
    """Return the record of a journey, which all its sessions share."""
    key = (spec.id, spec.version)
    if key not in _records:
        _records[key] = Record()
    return _records[key]


class CameOut(Protocol):
    """Takes whether a speculation was wrong."""

    def __call__(self, *, wrong: bool) -> None:
        """Take it."""


@dataclass(slots=True)
class Speculation:
    """A request under way. Nobody hears a word of it before the agent itself asks the same.

    Attributes:
        place: Pathway, and path of the agent in it.
        question: What the model is asked.
        rules: The guidelines that it is asked under; those that a model still judges are `unsure`.
        came_out: Takes whether it was wrong.
        usage: Counts the request alone.
    """

    place: tuple[str, str]
    question: Question
    rules: Sequence[Mapping[str, Any]]
    came_out: CameOut
    usage: Usage = field(default_factory=Usage)
    _task: asyncio.Task[Answer] | None = None
    _is_sent: bool = False
    _is_over: bool = False
    _pieces: list[str] = field(default_factory=list)
    _listen: Callable[[], Hear] | None = None
    _hear: Hear | None = None

    def begin(self, chat: Chat, seconds: float, *, live: bool) -> None:
        """Ask the model, in a task of its own.

        Args:
            chat: The model.
            seconds: Longest that it may take.
            live: Whether the answer is wanted piece by piece.
        """
        until = asyncio.get_running_loop().time() + seconds
        listen = self._tried if live else None

        async def asked() -> Answer:
            self._is_sent = True
            return await ask(chat, self.question, until, self.usage, listen)

        self._task = asyncio.create_task(asked(), name="speculation")
        self._task.add_done_callback(_retrieved)

    @property
    def is_open(self) -> bool:
        """Whether nobody has taken it yet."""
        return not self._is_over

    def is_for(self, rules: Sequence[Mapping[str, Any]]) -> bool:
        """Say whether it was made under the guidelines that hold, as far as they are certain."""
        shown = {rule["id"] for rule in self.rules}
        sure = {rule["id"] for rule in self.rules if not rule.get("unsure")}
        return sure <= {rule.get("id") for rule in rules} <= shown

    async def answer(self, listen: Callable[[], Hear] | None, usage: Usage) -> Answer:
        """Return the answer to the agent that asks the same; its words are heard from now on.

        Args:
            listen: Called for what takes the words.
            usage: Takes over what was counted.

        Raises:
            ModelError: There is no usable answer; `kind` says why.
        """
        assert self._task is not None
        self._is_over = True
        self.came_out(wrong=False)
        if listen is not None:
            self._listen, self._hear = listen, listen()
            for piece in self._pieces:
                self._hear(piece)
        try:
            return await self._task
        finally:
            usage.add(self.usage)

    def discard(self, usage: Usage | None, *, wrong: bool = True) -> None:
        """Stop the request, unless its answer was taken; its tokens are all that is kept of it.

        Args:
            usage: Takes the tokens.
            wrong: Whether the message led elsewhere; a turn that is cut off says nothing of that.
        """
        if self._is_over:
            return
        self._is_over = True
        if self._task is not None:
            self._task.cancel()
        if self._is_sent:  # a judgement that was remembered came before it was
            if wrong:
                self.came_out(wrong=True)
            if usage is not None:
                usage.discard(self.usage)

    async def ended(self, usage: Usage | None) -> None:
        """Wait for the end of the request, which is stopped if nobody took its answer."""
        self.discard(usage, wrong=False)
        if self._task is not None and not self._task.done():
            await asyncio.wait([self._task])

    def _tried(self) -> Hear:
        self._pieces.clear()
        if self._listen is not None:
            self._hear = self._listen()
        return self._take

    def _take(self, piece: str) -> bool:
        if self._hear is not None:
            return self._hear(piece)
        if piece:
            self._pieces.append(piece)
        else:
            self._pieces.clear()
        return False


def _retrieved(task: asyncio.Task[Any]) -> None:
    """Look at the error of a request that nobody waits for, or asyncio would report it."""
    if not task.cancelled():
        task.exception()
