"""Results of tool calls of agents that wait: such an agent runs again from its top."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from nodes.pausing import is_pause
from nodes.plain import digest_of

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
