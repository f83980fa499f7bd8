"""Effects are taken once: the port to where that is kept, and its twin in memory."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol

from cachetools import LRUCache

from nodes.state.session import Turn


@dataclass(frozen=True, slots=True)
class Step:
    """A step that is to be taken.

    Attributes:
        turn: The turn that takes it.
        birth: Of the session, which tells it apart from others of the same id; empty: it is older
            than that.
        name: `pathway.tool`.
        digest: Of the arguments; only what was taken with the same ones counts.
    """

    turn: Turn
    birth: str
    name: str
    digest: str

    @property
    def place(self) -> str:
        """Parts of a key after the session's id: birth, turn and name."""
        return "/".join(filter(None, (self.birth, str(self.turn["number"]), self.name)))


@dataclass(frozen=True, slots=True)
class Taken:
    """Record of a step, with the key under which it is taken.

    `state` is free (the caller takes it now), done, or begun (outcome unknown). `apart` are the
    keys under which it was taken, or may have been, with other arguments, in turns that were not
    kept.
    """

    key: str
    state: Literal["free", "begun", "done"]
    result: Any = None
    apart: Sequence[str] = ()


class Effects(Protocol):
    """Keeps, outside of the turn, which steps of a session were taken."""

    async def begin(self, step: Step, known: Collection[str]) -> Taken:
        """Note that a step is about to be taken, unless it was; return what is known of it.

        A step that failed before is free again, under the key that it had.

        Args:
            step: The step.
            known: Keys that the session's state knows of: they are over, and count no more.

        Raises:
            StateError: The session has moved on without this turn, or the store failed.
        """

    async def done(self, key: str, result: Any) -> None:
        """Record a taken step and its result."""

    async def failed(self, key: str, reason: str) -> None:
        """Record a failed step and its reason."""


@dataclass(frozen=True, slots=True)
class _Noted:
    digest: str
    taken: Taken


class EffectsOfRun:
    """Effects of a run without a session: no step is taken twice in one turn.

    That covers steps that are run again within a turn. A turn that is sent again, manually or after
    a crash, is another turn here: only a manager's store knows what the one before it did.
    """

    def __init__(self) -> None:
        self._steps: LRUCache[str, _Noted] = LRUCache(4096)

    async def begin(self, step: Step, known: Collection[str]) -> Taken:
        """Note that a step is about to be taken, unless it was in this turn."""
        # A graph without a manager does not know its thread. The birth is that of the thread, or
        # of the run where nothing is kept; when the turn began tells its turns apart, also after
        # a fork.
        key = f"default/{step.turn['at']}/{step.place}"
        found = self._steps.get(key)
        if found and found.digest == step.digest and found.taken.state != "free":
            return found.taken
        self._steps[key] = _Noted(step.digest, Taken(key, "begun"))
        return Taken(key, "free")

    async def done(self, key: str, result: Any) -> None:
        """Record a taken step and its result."""
        self._end(key, Taken(key, "done", result))

    async def failed(self, key: str, reason: str) -> None:
        """Note that a step was not taken."""
        self._end(key, Taken(key, "free"))

    def _end(self, key: str, taken: Taken) -> None:
        if key in self._steps:
            self._steps[key] = replace(self._steps[key], taken=taken)
