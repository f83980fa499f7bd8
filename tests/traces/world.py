"""The world outside of a conversation: what effects do to it is counted here, and it can fail."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Done:
    """An effect that was executed: by which tool, with what, and under which key."""

    tool: str
    arguments: Mapping[str, Any]
    key: str = ""


@dataclass
class World:
    """Remembers all that was done to it.

    `fails` are the errors that the next uses of a tool raise; `tried` counts all uses.
    """

    calls: list[Done] = field(default_factory=list)
    fails: dict[str, list[Exception]] = field(default_factory=dict)
    tried: Counter[str] = field(default_factory=Counter)

    def do(self, tool: str, key: str = "", **arguments: Any) -> str:
        """Execute an effect, unless it is to fail; return a number for it."""
        self.tried[tool] += 1
        if left := self.fails.get(tool):
            raise left.pop(0)
        self.calls.append(Done(tool, arguments, key))
        return f"{tool}-{len(self.calls)}"

    def count(self, tool: str) -> int:
        """How often a tool was executed."""
        return sum(call.tool == tool for call in self.calls)

    def args(self, tool: str) -> dict[str, Any]:
        """What a tool was executed with last."""
        return dict(next(call.arguments for call in reversed(self.calls) if call.tool == tool))

    def check(self) -> None:
        """See that no effect was executed twice."""
        keys = [(call.tool, call.key) for call in self.calls if call.key]
        assert len(keys) == len(set(keys)), f"done twice under one key: {keys}"
