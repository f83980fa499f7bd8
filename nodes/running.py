"""Know what works in a running turn, such as the agents that work when its time is up."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from journeygraph.journeys import PatternPipeline
from journeygraph.nodes.journal import Journal, KeptCalls, Usage
from journeygraph.nodes.telemetry.span import SLACK

if TYPE_CHECKING:
    from journeygraph.nodes.agents.model_agent import Speculation
    from journeygraph.nodes.pipelines.work import Member


@dataclass(slots=True)
class Running:
    """Data of a running turn, available even if the turn fails; it is not in the state.

    Its agents that work, or were cut off while they did, are known by `working`.

    Attributes:
        journal: Takes what is audited even if the turn fails; None without an audit.
        askers: Takes who asked by LangGraph's `interrupt()`: its id -> pathway and path of the
            agent. None without a listener.
        calls: The results of tools for the agents that wait.
        speculation: The request to an agent while the message is still being understood.
        sized: The context that was copied last, and its size.
    """

    pathway: str = ""
    journal: Journal | None = None
    askers: dict[str, tuple[str, str]] | None = None
    calls: KeptCalls = field(default_factory=KeptCalls)
    speculation: Speculation | None = None
    sized: tuple[Any, int] | None = None
    _begun: dict[tuple[str, str], tuple[Member, float]] = field(default_factory=dict)

    def at(self, member: Member) -> _AtWork:
        """Return a block in which a member works; one that is cut off stays noted."""
        return _AtWork(self._begun, member)

    def asked_ahead(self, place: tuple[str, str]) -> Speculation | None:
        """Return the speculative request to the agent at a place; None if there is none."""
        ahead = self.speculation
        return ahead if ahead and ahead.is_open and ahead.place == place else None

    async def ended(self, usage: Usage | None) -> None:
        """Leave no request behind that was sent ahead."""
        ahead, self.speculation = self.speculation, None
        if ahead:
            await ahead.ended(usage)

    def working(self, name: str = "", *, overdue: bool = False) -> tuple[str, list[str]]:
        """Return the pathway that runs, and the paths of the agents in it that work.

        For an agent that is a pipeline, its agents that work are named.

        Args:
            name: Only agents of this name; empty returns all.
            overdue: Only agents whose own time is up.
        """
        chosen = [
            member
            for member, begun in self._begun.values()
            if name in ("", member.name) and not (overdue and not _is_up(member, begun))
        ]
        at_work = [member.path for member, _ in self._begun.values()]
        paths = [
            path
            for path in at_work
            if not any(other.startswith(f"{path}/") for other in at_work)
            and any(f"{path}/".startswith(f"{member.path}/") for member in chosen)
        ]
        return (chosen[0].pathway.id if chosen else self.pathway), paths

    @property
    def reports_itself(self) -> bool:
        """Return whether an agent works whose own time is up; it is reported when it is cut off."""
        return any(
            _is_up(member, begun) and not isinstance(_called(member), PatternPipeline)
            for member, begun in self._begun.values()
        )


class _AtWork:
    __slots__ = ("_begun", "_key", "_work")

    def __init__(self, begun: dict[tuple[str, str], tuple[Member, float]], member: Member) -> None:
        self._begun = begun
        self._key = (member.pathway.id, member.path)
        self._work = (member, asyncio.get_running_loop().time())

    def __enter__(self) -> None:
        self._begun[self._key] = self._work

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        if isinstance(error, asyncio.CancelledError):
            task = asyncio.current_task()
            if task is not None and task.cancelling() > 0:
                return
        if self._begun.get(self._key) is self._work:
            del self._begun[self._key]


def _is_up(member: Member, begun: float) -> bool:
    passed = asyncio.get_running_loop().time() - begun
    return member.timeout is not None and passed + SLACK >= member.timeout


def _called(member: Member) -> Any:
    found = member.pipeline.members.get(member.name)
    return found.call if found else None
