"""What can fail a turn, and what is said and recorded of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from langgraph.errors import GraphRecursionError, NodeCancelledError, NodeTimeoutError
from pydantic import ValidationError

from journeys import (
    ContextMergeError,
    ContextSizeExceededError,
    InvalidPhaseError,
    JourneyError,
    MaxPathwayDepthError,
    PathwayExecutionError,
    PathwayNotFoundError,
)
from nodes.plain import words_of
from nodes.running import Running
from nodes.state import Turn

BYPASSED = "journey_bypassed"
"""Flag of a turn that was answered without the journey."""


class TurnOverdue(RuntimeError):
    """A turn took longer than a turn may."""


OVERDUE = (TurnOverdue, NodeTimeoutError)
"""Raised where a turn, a pathway or an agent took longer than it may."""
PATHWAY_FAILURES = (
    TurnOverdue,
    PathwayExecutionError,
    ContextMergeError,
    ContextSizeExceededError,
    MaxPathwayDepthError,
    PathwayNotFoundError,
    InvalidPhaseError,
    NodeCancelledError,
    NodeTimeoutError,
    GraphRecursionError,
)
"""What fails a turn; anything else is a fault of the runtime or of the store."""


def fails_the_turn(error: Exception, *, fails_fast: bool) -> bool:
    """Say whether an error is a turn's, which is answered all the same, and not the store's.

    A fault of the runtime itself is a failed turn as well, for whoever talks to it; but to a caller
    who wants failures raised it is shown as it is.
    """
    if isinstance(error, PATHWAY_FAILURES):
        return True
    return not fails_fast and not isinstance(error, JourneyError)


def failure_of(error: Exception, running: Running) -> JourneyError:
    """Return what failed a turn as one of our errors, with the pathway and agent that ran."""
    if isinstance(error, JourneyError):
        return error
    if isinstance(error, NodeTimeoutError):
        return _overdue(error, running)
    if isinstance(error, TurnOverdue):
        return _at(running.working(), str(error))
    if isinstance(error, NodeCancelledError):
        return _at(running.working(), "it was cancelled from within")
    return _at(running.working(), f"the turn did not end: {words_of(error)}")


def _overdue(error: NodeTimeoutError, running: Running) -> PathwayExecutionError:
    """Return the end of an agent's time, or of the time of a pathway with all of its agents."""
    late = running.working(str(error.node), overdue=True)
    if not late[1]:  # the pathway as a whole is late, perhaps by an agent of it
        late = running.working(overdue=True)
    at = late if late[1] else running.working()
    return _at(at, f"ran out of time: it took longer than {error.timeout:g} s")


def _at(working: tuple[str, Sequence[str]], reason: str) -> PathwayExecutionError:
    pathway, agents = working
    return PathwayExecutionError(pathway, ", ".join(agents), reason)


def faults_in(error: Exception) -> str:
    """Return what is wrong with an answer: where and what, and never what was given."""
    if not isinstance(error, ValidationError):
        return type(error).__name__
    faults = error.errors(include_url=False, include_context=False, include_input=False)
    return "; ".join(
        f"{'.'.join(map(str, fault['loc'])) or 'it'}: {fault['msg']}" for fault in faults
    )


def failure_event(pathway: str, failure: JourneyError) -> dict[str, Any]:
    """Return the audit event of a failed turn."""
    kind = type(failure).__name__
    return {"kind": "failure", "from": pathway, "trigger": kind, "reason": str(failure)}


def degraded(turn: Turn, reply: str, pathway: str, failure: JourneyError) -> Turn:
    """Return the record of a turn that failed: message, answer and audit, and no move."""
    return {
        **turn,
        "kind": "failure",
        "audit": [*turn["audit"], failure_event(pathway, failure)],
        "replies": [reply],
        "flags": ["failed", BYPASSED],
        "error": {"type": type(failure).__name__, "message": str(failure)},
    }
