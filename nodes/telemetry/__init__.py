"""Telemetry: spans, metrics and log lines.

A step opens what it does as a block, and the block reports how long it took and how it ended.
Nothing of what a user, an agent or a model says is ever reported: names that an author gave, kinds
of errors, counts and times alone. docs/how-to/observability.md lists all there is.
"""

from journeygraph.nodes.telemetry.otel import (
    JOURNEY,
    continuing,
    measure,
    part_raised,
    raised,
    report,
    takes_metrics,
    waiting_turn,
)
from journeygraph.nodes.telemetry.span import (
    AgentSpan,
    PathwaySpan,
    PipelineSpan,
    ToolSpan,
    TurnSpan,
    no_steps,
    phase,
    pseudonym,
)

__all__ = [
    "JOURNEY",
    "AgentSpan",
    "PathwaySpan",
    "PipelineSpan",
    "ToolSpan",
    "TurnSpan",
    "continuing",
    "measure",
    "no_steps",
    "part_raised",
    "phase",
    "pseudonym",
    "raised",
    "report",
    "takes_metrics",
    "waiting_turn",
]
