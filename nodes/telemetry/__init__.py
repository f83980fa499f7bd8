"""Telemetry: spans, metrics and log lines.

A step opens what it does as a block, and the block reports how long it took and how it ended.
Nothing of what a user, an agent or a model says is ever reported: names that an author gave, kinds
of errors, counts and times alone. docs/how-to/observability.md lists all there is.
"""

from journeygraph.nodes.telemetry.activity import (
    AgentRun,
    ModelCall,
    PathwayRun,
    PipelineRun,
    ToolRun,
    TurnRun,
    agent_rests,
    model_breaker_changed,
    no_steps,
    phase,
    pseudonym,
)
from journeygraph.nodes.telemetry.otel import (
    cache_read,
    continuing,
    counted_open,
    escalation_sent,
    guidelines_settled,
    limit_refused,
    part_raised,
    person_called,
    raised,
    reply_checked,
    report,
    takes_metrics,
    waiting_turn,
)

__all__ = [
    "AgentRun",
    "ModelCall",
    "PathwayRun",
    "PipelineRun",
    "ToolRun",
    "TurnRun",
    "agent_rests",
    "cache_read",
    "continuing",
    "counted_open",
    "escalation_sent",
    "guidelines_settled",
    "limit_refused",
    "model_breaker_changed",
    "no_steps",
    "part_raised",
    "person_called",
    "phase",
    "pseudonym",
    "raised",
    "reply_checked",
    "report",
    "takes_metrics",
    "waiting_turn",
]
