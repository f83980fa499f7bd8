"""Agents: each try of one, the tools that it calls, and what is left alone after failures."""

from __future__ import annotations

import logging

from nodes.telemetry.activity import CANCELLED, FAILED, Activity
from nodes.telemetry.logs import report, scope
from nodes.telemetry.otel import telemetry

_OPERATION, _AGENT, _TOOL = "gen_ai.operation.name", "gen_ai.agent.name", "gen_ai.tool.name"
_PATHWAY = "journeygraph.pathway.id"
SLACK = 0.05
"""Seconds by which the clock of an agent's limit may have begun before ours."""


class AgentRun(Activity):
    """One try of an agent; in a pipeline, under the path of names that leads to it."""

    def __init__(self, path: str, timeout: float | None = None) -> None:
        """Open a try.

        Args:
            path: Where it stands.
            timeout: The seconds that it has; who cancels it then does so because its time is up.
        """
        name = path.rpartition("/")[2]
        super().__init__(
            f"invoke_agent {name}",
            {
                _OPERATION: "invoke_agent",
                _AGENT: name,
                "journeygraph.agent.path": path,
                **_where(),
            },
        )
        self._agent = name
        self._path = path
        self._timeout = timeout

    def failed(self, error: BaseException) -> None:
        """Take note of what it raised, or that it had no time any more."""
        super().failed(error)
        overdue = self._timeout is not None and self.seconds + SLACK >= self._timeout
        if self.outcome == CANCELLED and overdue:
            self.outcome, self.fault = FAILED, "timeout"

    def told(self) -> None:
        """Say which agent failed, and how; never why, for that may be in the user's words."""
        if self.outcome == FAILED:
            details = {"error": self.fault, "seconds": round(self.seconds, 4)}
            report(logging.WARNING, "agent_failed", agent=self._path, **details)

    def measured(self) -> None:
        """Take its time, by how it ended."""
        labels = {_AGENT: self._agent, "journeygraph.outcome": self.outcome}
        self.took("gen_ai.invoke_agent.duration", labels)


class ToolRun(Activity):
    """One call of a tool by an agent's model."""

    def __init__(self, tool: str, agent: str) -> None:
        super().__init__(
            f"execute_tool {tool}",
            {
                _OPERATION: "execute_tool",
                _TOOL: tool,
                _AGENT: agent,
                "gen_ai.tool.type": "function",
            },
        )
        self._labels = {_TOOL: tool, _AGENT: agent}

    def measured(self) -> None:
        """Take its time."""
        self.took("gen_ai.execute_tool.duration", self._labels)


def agent_rests(path: str, *, opened: bool) -> None:
    """Tell that an agent failed so often that it is left alone, or that it answers again."""
    _rests({"agent": path}, {_AGENT: path.rpartition("/")[2], **_where()}, opened=opened)


def model_rests(model: str, *, opened: bool) -> None:
    """Tell that a model does not answer and is left alone, or that it answers again."""
    _rests({"model": model}, {"gen_ai.request.model": model}, opened=opened)


def _rests(who: dict[str, str], labels: dict[str, str], *, opened: bool) -> None:
    if not opened:
        report(logging.INFO, "breaker_closed", **who)
        return
    report(logging.WARNING, "breaker_opened", **who)
    if seen := telemetry():
        seen.count("journeygraph.breaker.opened", labels)


def _where() -> dict[str, str]:
    """Return the pathway that runs here; nothing outside of a journey."""
    pathway = scope.get().get("pathway")
    return {_PATHWAY: pathway} if pathway else {}
