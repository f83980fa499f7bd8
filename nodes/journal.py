"""The journal of a running turn: rows of the audit that stand whether or not the turn does.

What was done outside of the state, such as the call of a tool or another try of an agent, is not
undone when a turn fails.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

Event = dict[str, Any]
KINDS = ("retried", "tool_done", "tool_failed", "tool_not_called")
"""Kinds of events of a journal."""


@dataclass(slots=True)
class Journal:
    """What happened in a running turn, in order.

    Attributes:
        events: All of it.
        errors: Task of an agent -> kind of the error of its last try.
    """

    events: list[Event] = field(default_factory=list)
    errors: dict[str, str] = field(default_factory=dict)
    _written: int = 0

    def add(self, kind: str, pathway: str, trigger: str, reason: str = "") -> None:
        """Add an event.

        Args:
            kind: Its kind.
            pathway: Where it happened.
            trigger: The agent or tool that it is about.
            reason: How it ended, or why.
        """
        event = {"kind": kind, "from": pathway, "trigger": trigger, "reason": reason}
        self.events.append(event)

    def unwritten(self) -> list[Event]:
        """Return the events since the last call, for the record of the turn."""
        events = self.events[self._written :]
        self._written = len(self.events)
        return events


@dataclass(frozen=True, slots=True)
class ToolLog:
    """Takes the ends of the calls of tools in one pathway."""

    journal: Journal
    pathway: str

    def __call__(self, end: str, tool: str, reason: str = "") -> None:
        """Note how a call ended: `done`, `failed` or `not_called`."""
        self.journal.add(f"tool_{end}", self.pathway, tool, reason)


def tool_log(journal: Journal | None, pathway: str) -> ToolLog | None:
    """Return what takes the ends of calls in a pathway; None where nobody keeps them."""
    return ToolLog(journal, pathway) if journal else None
