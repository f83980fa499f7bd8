"""What can fail a turn, and what is said and recorded of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from langgraph.errors import GraphRecursionError, NodeCancelledError, NodeTimeoutError

from journeys import (
    ContextMergeError,
    ContextSizeExceededError,
    JourneyConfig,
    JourneyError,
    JourneySpec,
    MaxPathwayDepthError,
    PathwayExecutionError,
    PathwayNotFoundError,
)
from nodes.state import Turn

PATHWAY_FAILURES = (
    PathwayExecutionError,
    ContextMergeError,
    ContextSizeExceededError,
    MaxPathwayDepthError,
    PathwayNotFoundError,
    NodeCancelledError,
    NodeTimeoutError,
    GraphRecursionError,
)
"""What fails a turn; anything else is a fault of the runtime or of the store."""


def failure_of(error: Exception, spec: JourneySpec) -> JourneyError:
    """Return what failed a turn as one of our errors, with the pathway or agent it concerns."""
    if isinstance(error, JourneyError):
        return error
    if isinstance(error, (NodeTimeoutError, NodeCancelledError)):
        node = str(error.node)
        late = isinstance(error, NodeTimeoutError)
        reason = f"ran out of time: {error}" if late else "it was cancelled from within"
        if node in spec.pathways:
            return PathwayExecutionError(node, "", reason)
        return PathwayExecutionError("', '".join(spec.agents.get(node, [])), node, reason)
    return PathwayExecutionError("", "", f"the turn did not end: {error}")


def refuse_unfinished(values: Mapping[str, Any]) -> None:
    """Refuse a run that stopped before its turn was done: nothing of it is committed.

    Raises:
        PathwayExecutionError: An agent called `interrupt()`.
    """
    turn = values["turn"]
    if not turn["done"]:
        reason = "it called interrupt(). Ask in the reply instead, and wait for the next message"
        raise PathwayExecutionError(turn["run"] or "", "", reason)


def failure_event(pathway: str, failure: JourneyError) -> dict[str, Any]:
    """Return the audit event of a failed turn."""
    kind = type(failure).__name__
    return {"kind": "failure", "from": pathway, "trigger": kind, "reason": str(failure)}


def apology(turn: Turn, config: JourneyConfig, pathway: str, failure: JourneyError) -> Turn:
    """Return the record of a turn that failed: message, apology and audit, and no move."""
    return {
        **turn,
        "kind": "failure",
        "audit": [*turn["audit"], failure_event(pathway, failure)],
        "replies": [config.texts.apology],
        "flags": ["failed"],
        "error": {"type": type(failure).__name__, "message": str(failure)},
    }
