"""Record what happens in a running turn, such as which agents work when its time is up."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from journeys import PatternPipeline
from nodes.plain import digest_of
from nodes.telemetry.activity import SLACK

if TYPE_CHECKING:
    from nodes.llm.speculation import Speculation
    from nodes.llm.usage import Usage
    from nodes.patterns.work import Seat


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

    A task that goes on has the id that it had before.
    """

    def __init__(self) -> None:
        self._runs: dict[str, list[Given]] = {}

    def of(self, task: str) -> CallsOfRun:
        """Return the calls of a run that begins."""
        return CallsOfRun([*self._runs.get(task, ())])

    def keep(self, task: str, calls: CallsOfRun, error: BaseException) -> None:
        """Keep the calls of a run that ends because somebody asks; the oldest run falls out."""
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
class Running:
    """What is known of a turn while it runs, also if it fails: nothing of it is in the state.

    Its agents that work, or were cut off while they did, are known by `working`.

    Attributes:
        pathway: The pathway that runs.
        journal: Takes what is audited even if the turn fails; None where nobody keeps an audit.
        askers: Takes who asked by LangGraph's `interrupt()`: its id -> pathway and path of the
            agent. None where nobody wants to know.
        calls: What tools gave the agents that wait.
        speculation: What an agent was asked while the message was still being understood.
    """

    pathway: str = ""
    journal: Journal | None = None
    askers: dict[str, tuple[str, str]] | None = None
    calls: KeptCalls = field(default_factory=KeptCalls)
    speculation: Speculation | None = None
    _begun: dict[tuple[str, str], tuple[Seat, float]] = field(default_factory=dict)

    def at(self, seat: Seat) -> _AtWork:
        """Return a block in which the agent in a seat works; one that is cut off stays noted."""
        return _AtWork(self._begun, seat)

    def asked_ahead(self, place: tuple[str, str]) -> Speculation | None:
        """Return what the agent of a pathway, at a path in it, was asked ahead, if it was."""
        ahead = self.speculation
        return ahead if ahead and ahead.is_open and ahead.place == place else None

    async def ended(self, usage: Usage | None) -> None:
        """Leave no request behind that was sent ahead."""
        ahead, self.speculation = self.speculation, None
        if ahead:
            await ahead.ended(usage)

    def working(self, name: str = "", *, overdue: bool = False) -> tuple[str, list[str]]:
        """Return the pathway that runs, and the paths of the agents in it that work.

        For an agent that is a pipeline, those of its own agents that work are named.

        Args:
            name: Only agents of this name; empty returns all.
            overdue: Only agents whose own time is up.
        """
        chosen = [
            seat
            for seat, begun in self._begun.values()
            if name in ("", seat.name) and not (overdue and not _is_up(seat, begun))
        ]
        at_work = [seat.path for seat, _ in self._begun.values()]
        paths = [
            path
            for path in at_work
            if not any(other.startswith(f"{path}/") for other in at_work)
            and any(f"{path}/".startswith(f"{seat.path}/") for seat in chosen)
        ]
        return (chosen[0].pathway.id if chosen else self.pathway), paths

    @property
    def reports_itself(self) -> bool:
        """Whether an agent works whose own time is up; it is reported when it is cut off."""
        return any(
            _is_up(seat, begun) and not isinstance(_called(seat), PatternPipeline)
            for seat, begun in self._begun.values()
        )


class _AtWork:
    __slots__ = ("_begun", "_key", "_work")

    def __init__(self, begun: dict[tuple[str, str], tuple[Seat, float]], seat: Seat) -> None:
        self._begun = begun
        self._key = (seat.pathway.id, seat.path)
        self._work = (seat, asyncio.get_running_loop().time())

    def __enter__(self) -> None:
        self._begun[self._key] = self._work

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        if isinstance(error, asyncio.CancelledError):
            task = asyncio.current_task()
            if task is not None and task.cancelling() > 0:
                return
        if self._begun.get(self._key) is self._work:
            del self._begun[self._key]


def _is_up(seat: Seat, begun: float) -> bool:
    passed = asyncio.get_running_loop().time() - begun
    return seat.timeout is not None and passed + SLACK >= seat.timeout


def _called(seat: Seat) -> Any:
    member = seat.pipeline.members.get(seat.name)
    return member.call if member else None


Event = dict[str, Any]
KINDS = ("retried", "tool_done", "tool_failed", "tool_not_called")
"""Kinds of events of a journal."""


WAITING = "waiting"
"""Flag of a turn that waits for an answer to what an agent asked by `interrupt()`."""
ASKED = "it asked, and waits for the answer"
"""How a call ended that paused the run."""
# By their names: the steps of a turn do not know LangGraph.
_PAUSES = {("langgraph.errors", "GraphInterrupt"), ("langgraph.errors", "GraphDrained")}


def is_pause(error: BaseException) -> bool:
    """Say whether an error only ends a run of LangGraph's early, and nobody failed."""
    return any((kind.__module__, kind.__name__) in _PAUSES for kind in type(error).__mro__)
