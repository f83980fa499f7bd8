"""What an agent failed at: one error for all of it, its result, and whether it is tried again."""

from __future__ import annotations

import asyncio
from typing import Any

from langgraph.errors import (
    GraphDrained,
    GraphInterrupt,
    NodeCancelledError,
    NodeTimeoutError,
    is_invalid_resume,
)

from journeys import ModelError, PathwayExecutionError
from nodes.agent import brief_of, result_of
from nodes.breaker import RestsError
from nodes.calling import PipelineFailed
from nodes.patterns.work import Seat
from nodes.plain import words_of
from nodes.services import Services
from nodes.state import AgentError, Output

# The process, the turn's caller, or LangGraph itself wants an end or a pause; no agent failed.
_NOT_THE_AGENTS = (
    KeyboardInterrupt,
    GeneratorExit,
    asyncio.CancelledError,
    GraphDrained,
    GraphInterrupt,
)


class InnerFailed(PipelineFailed):
    """A pipeline within a pipeline failed as a whole; `output` is what it gave nevertheless."""

    def __init__(self, seat: Seat, output: Output) -> None:
        super().__init__(output["error"]["message"])
        self.seat = seat
        self.output = output


def is_no_failure(error: BaseException) -> bool:
    """Whether the run is given up or waits, or an answer does not fit what an agent asked.

    A cancellation that nobody asked for is an agent's own error.
    """
    task = asyncio.current_task()
    if isinstance(error, asyncio.CancelledError) and task is not None:
        return task.cancelling() > 0
    return isinstance(error, _NOT_THE_AGENTS) or is_invalid_resume(error)


def take_note_of_asker(services: Services, seat: Seat, error: BaseException) -> None:
    """Note who asked, where an agent paused the run; of pipelines within pipelines the innermost.

    A breakpoint of an agent that is a graph asks nothing, so it has no id.
    """
    if services.running.askers is not None and isinstance(error, GraphInterrupt):
        ids = [asked.id for asked in error.args[0]] if error.args else []
        for id_ in ids or [""]:
            services.running.askers.setdefault(id_, (seat.pathway.id, seat.path))


def is_worth_another_try(error: Exception) -> bool:
    """Whether a failed agent is tried again: what a model failed at was tried where it is asked."""
    kinds = (PathwayExecutionError, NodeCancelledError, NodeTimeoutError)
    final = (ModelError, RestsError)
    return isinstance(error, kinds) and not isinstance(error.__cause__, final)


def failure_at(
    services: Services, seat: Seat, error: BaseException, *, overdue: bool
) -> PathwayExecutionError:
    """Return one error for whatever an agent raises, and tell of it.

    LangGraph retries by type, and would not retry the ValueError or RuntimeError that it most
    likely is.
    """
    if isinstance(error, PathwayExecutionError):  # told where it came from
        return error
    reason = reason_of(error, overdue=overdue)
    if not isinstance(error, InnerFailed):  # its agents told of it
        event = {"agent": seat.path, "pathway": seat.pathway.id, "kind": reason["kind"]}
        services.tell("agent_failed", **event, error=reason["message"])
    failure = PathwayExecutionError(seat.pathway.id, seat.path, reason["message"])
    failure.__cause__ = error
    return failure


def result_of_failure(
    state: Any, services: Services, seat: Seat, failure: PathwayExecutionError, *, overdue: bool
) -> Output:
    """Return what is noted of an agent that failed."""
    cause = failure.__cause__
    if isinstance(cause, InnerFailed) and cause.seat == seat:
        return cause.output
    # What it was asked for is known of a failure too, such as the part of a plan.
    asked = brief_of(state, seat, services)
    reason = reason_of(failure, overdue=overdue)
    return result_of(state, seat, error=reason, **(asked.notes if asked else {}))


def reason_of(error: BaseException, *, overdue: bool) -> AgentError:
    """Return the kind of an agent's error, and what it says."""
    cause = error.__cause__ if isinstance(error, PathwayExecutionError) else error
    if overdue:
        return AgentError(kind="timeout", message="it took longer than it may")
    if isinstance(cause, RestsError):
        return AgentError(kind="unavailable", message=str(cause))
    if cause is None or isinstance(cause, PipelineFailed):
        return AgentError(kind="pipeline", message=str(cause or error))
    return AgentError(kind=type(cause).__name__, message=words_of(cause))
