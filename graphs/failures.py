"""What can fail a turn, and what is said and recorded of it."""

from __future__ import annotations

from typing import Any

from langgraph.errors import GraphRecursionError, NodeTimeoutError

from journeys import (
    ContextMergeError,
    ContextSizeExceededError,
    JourneyConfig,
    JourneyError,
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
    NodeTimeoutError,
    GraphRecursionError,
)
"""What fails a turn; anything else is a fault of the runtime or of the store."""


def failure_of(error: Exception) -> JourneyError:
    """Return what failed a turn as one of our errors, with the node that it concerns."""
    if isinstance(error, JourneyError):
        return error
    if isinstance(error, NodeTimeoutError):
        return PathwayExecutionError(str(error.node), "", f"ran out of time: {error}")
    return PathwayExecutionError("", "", f"the turn did not end: {error}")


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
