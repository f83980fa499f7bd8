"""Agents: each try of one, the tools that it calls, and the breaker that leaves it alone."""

from __future__ import annotations

import logging
from typing import Any

from nodes.telemetry.logs import report
from nodes.telemetry.otel import telemetry
from nodes.telemetry.activity import FAILED, Activity

_OPERATION, _AGENT, _TOOL = "gen_ai.operation.name", "gen_ai.agent.name", "gen_ai.tool.name"
_PATHWAY = "journeygraph.pathway.id"


class AgentRun(Activity):
    """One try of an agent; in a pipeline, under the path of names that leads to it."""

    def __init__(self, path: str, pathway: str = "") -> None:
        name = path.rpartition("/")[2]
        super().__init__(
            f"invoke_agent {name}",
            {
                _OPERATION: "invoke_agent",
                _AGENT: name,
                "journeygraph.agent.path": path,
                **({_PATHWAY: pathway} if pathway else {}),
            },
        )
        self._name = name
        self._path = path
        self._pathway = pathway

    def told(self) -> None:
        """Say which agent failed, and how; never why, for that may be in the user's words."""
        if self.outcome == FAILED:
            where = {"pathway": self._pathway} if self._pathway else {}
            seconds = round(self.seconds, 4)
            report(
                logging.WARNING,
                "agent_failed",
                agent=self._path,
                **where,
                error=self.fault,
                seconds=seconds,
            )

    def measured(self) -> None:
        """Take its time, by how it ended."""
        labels = {_AGENT: self._name, "journeygraph.outcome": self.outcome}
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


def breaker_opened(agent: str, pathway: str = "") -> None:
    """Tell that an agent failed so often that it is left alone for a while."""
    report(logging.WARNING, "breaker_opened", agent=agent, **_where(pathway))
    if seen := telemetry():
        labels: dict[str, Any] = {_AGENT: agent.rpartition("/")[2]}
        seen.count("journeygraph.breaker.opened", labels | ({_PATHWAY: pathway} if pathway else {}))


def breaker_closed(agent: str, pathway: str = "") -> None:
    """Tell that an agent that was left alone answers again."""
    report(logging.INFO, "breaker_closed", agent=agent, **_where(pathway))


def _where(pathway: str) -> dict[str, str]:
    return {"pathway": pathway} if pathway else {}
