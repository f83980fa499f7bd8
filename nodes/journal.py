"""Keep a journal of a running turn: its events, what its tools gave, and what models cost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from journeygraph.nodes.json_data import digest_of
from journeygraph.nodes.telemetry.span import Trail

Event = dict[str, Any]
KINDS = ("retried", "tool_done", "tool_failed", "tool_not_called")
"""Kinds of events of a journal."""


WAITING = "waiting"
"""Flag of a turn that waits for an answer to what an agent asked by `interrupt()`."""
ASKED = "it asked, and waits for the answer"
"""Outcome of a call that paused the run."""
# By their names: the steps of a turn do not know LangGraph.
_PAUSES = {("langgraph.errors", "GraphInterrupt"), ("langgraph.errors", "GraphDrained")}


def is_pause(error: BaseException) -> bool:
    """Return whether an error only ends a run of LangGraph's early, without a failure."""
    return any((kind.__module__, kind.__name__) in _PAUSES for kind in type(error).__mro__)


@dataclass(slots=True)
class Journal:
    """Journal of a running turn, in order.

    Attributes:
        errors: Task of an agent -> kind of the error of its last try.
    """

    events: list[Event] = field(default_factory=list)
    errors: dict[str, str] = field(default_factory=dict)
    trail: Trail | None = None
    decision: dict[str, list[Any]] = field(default_factory=dict)
    _written: int = 0

    def add(self, kind: str, pathway: str, trigger: str, reason: str = "") -> None:
        """Add an event."""
        event = {"kind": kind, "from": pathway, "trigger": trigger, "reason": reason}
        self.events.append(event)

    def new_events(self) -> list[Event]:
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
    """Return what takes the ends of calls in a pathway; None if they are not stored."""
    return ToolLog(journal, pathway) if journal else None


_MOST_RUNS = 4096
Given = list[str]
"""A call that was made: the tool, the digest of its arguments, and what it gave, as text."""


@dataclass(slots=True)
class CallsOfRun:
    """The calls of tools in one run of an agent; those of the run before it count, each once."""

    made: list[Given]
    _used: set[int] = field(default_factory=set)

    def given(self, tool: str, arguments: Mapping[str, Any]) -> str | None:
        """Return what a tool gave before the agent asked; None if it was not called like this."""
        if len(self._used) == len(self.made):  # as for nearly all calls: nothing was kept
            return None
        call = [tool, digest_of(arguments)]
        for number, made in enumerate(self.made):
            if number not in self._used and made[:2] == call:
                self._used.add(number)
                return made[2]
        return None

    def keep(self, tool: str, arguments: Mapping[str, Any], result: str) -> None:
        """Note what a tool gave."""
        self._used.add(len(self.made))
        self.made.append([tool, digest_of(arguments), result])


class KeptCalls:
    """The calls of tools in runs of agents that wait, by the tasks that LangGraph runs them as.

    A task that continues has the same id as before.
    """

    def __init__(self) -> None:
        self._runs: dict[str, list[Given]] = {}

    def of(self, task: str) -> CallsOfRun:
        """Return the calls of a run that begins."""
        return CallsOfRun([*self._runs.get(task, ())])

    def keep(self, task: str, calls: CallsOfRun, error: BaseException) -> None:
        """Keep the calls of a run that ends with a question; the oldest run falls out."""
        if calls.made and is_pause(error):
            self._runs.pop(task, None)
            self._runs[task] = calls.made
            if len(self._runs) > _MOST_RUNS:
                del self._runs[next(iter(self._runs))]

    def forget(self, task: str) -> None:
        """Forget the calls of a run that is over."""
        self._runs.pop(task, None)

    def plain(self) -> dict[str, list[Given]]:
        """Return all of them as plain data."""
        return dict(self._runs)

    def restore(self, runs: Mapping[str, list[Given]]) -> None:
        """Take up those of a turn that waited."""
        self._runs.update(runs)


@dataclass(slots=True)
class Usage:
    """Counts the calls of one turn; every try counts, also one that failed.

    Attributes:
        discarded: Tokens of answers that were asked for ahead, and not used; None: none was.
    """

    model_calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    discarded: int | None = None

    def add_tokens(self, said: Mapping[str, Any] | None) -> None:
        """Add what an answer says of its tokens (LangChain's `usage_metadata`)."""
        if said:
            self.input_tokens += said.get("input_tokens") or 0
            self.output_tokens += said.get("output_tokens") or 0

    def add(self, other: Usage) -> None:
        """Add what was counted elsewhere."""
        self.model_calls += other.model_calls
        self.input_tokens += other.input_tokens
        self.output_tokens += other.output_tokens

    def discard(self, other: Usage) -> None:
        """Note what was counted elsewhere, and was for nothing."""
        self.discarded = (self.discarded or 0) + other.input_tokens + other.output_tokens

    def counted(self) -> dict[str, int]:
        """Return the counts as plain data."""
        counts = {
            "model_calls": self.model_calls,
            "input_tokens": self.input_tokens,
            "output_tokens": self.output_tokens,
        }
        return counts if self.discarded is None else {**counts, "discarded": self.discarded}
