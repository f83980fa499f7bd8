"""Failures and questions of agents: one error type for all failures, and who asked."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from typing import Any

from langgraph.errors import (
    GraphDrained,
    GraphInterrupt,
    NodeCancelledError,
    NodeTimeoutError,
    is_invalid_resume,
)
from langgraph.types import Interrupt

from journeygraph.journeys import ModelError, PathwayExecutionError
from journeygraph.nodes.agents.adapters import PipelineFailed
from journeygraph.nodes.authored import BreakerOpenError
from journeygraph.nodes.json_data import words_of
from journeygraph.nodes.pipelines.work import Member
from journeygraph.nodes.services import Services
from journeygraph.nodes.state.session import (
    AgentError,
    AgentOutput,
    OpenQuestion,
)
from journeygraph.nodes.turn.run_agent import (
    brief_of,
    result_of,
)

# The process, the turn's caller, or LangGraph itself wants an end or a pause; no agent failed.
_NOT_THE_AGENTS = (
    KeyboardInterrupt,
    GeneratorExit,
    asyncio.CancelledError,
    GraphDrained,
    GraphInterrupt,
)


class InnerFailed(PipelineFailed):
    """An inner pipeline failed as a whole; `output` is its partial result."""

    def __init__(self, member: Member, output: AgentOutput) -> None:
        super().__init__(output["error"]["message"])
        self.member = member
        self.output = output


def is_no_failure(error: BaseException) -> bool:
    """Return whether an error must pass: a cancelled or waiting run, or a wrong answer.

    A cancellation without a request is an agent's own error.
    """
    task = asyncio.current_task()
    if isinstance(error, asyncio.CancelledError) and task is not None:
        return task.cancelling() > 0
    return isinstance(error, _NOT_THE_AGENTS) or is_invalid_resume(error)


def take_note_of_asker(services: Services, member: Member, error: BaseException) -> None:
    """Record the agent that paused the run, in the innermost pipeline.

    A breakpoint in an agent's graph has no question, so it has no id.
    """
    if services.running.askers is not None and isinstance(error, GraphInterrupt):
        ids = [asked.id for asked in error.args[0]] if error.args else []
        for id_ in ids or [""]:
            services.running.askers.setdefault(id_, (member.pathway.id, member.path))


def asks_of(
    interrupts: Iterable[Interrupt], services: Services, pathway: str = ""
) -> list[OpenQuestion]:
    """Return the open questions without duplicates, in the declared order of the agents.

    Args:
        interrupts: Interrupts of LangGraph; empty for breakpoints of graphs.
        pathway: Pathway of a question that no agent asked.
    """
    askers = services.running.askers or {}
    known = {asked.id: asked for asked in interrupts}
    if not known and "" in askers:
        known = {"": Interrupt(None, id="")}
    places = {place: number for number, place in enumerate(services.agents)}
    asks = [_ask(asked, askers, pathway) for asked in known.values()]
    return sorted(
        asks, key=lambda ask: places.get((ask["pathway"], ask["agent"] or ""), len(places))
    )


def _ask(asked: Interrupt, askers: Mapping[str, tuple[str, str]], pathway: str) -> OpenQuestion:
    where, agent = askers.get(asked.id, (pathway, None))
    ask = OpenQuestion(id=asked.id, value=asked.value, pathway=where, agent=agent)
    if isinstance(asked.response_schema, Mapping):
        ask["schema"] = dict(asked.response_schema)
    return ask


def is_worth_another_try(error: Exception) -> bool:
    """Return whether to retry a failed agent; calls of models have their own retries."""
    kinds = (PathwayExecutionError, NodeCancelledError, NodeTimeoutError)
    final = (ModelError, BreakerOpenError)
    return isinstance(error, kinds) and not isinstance(error.__cause__, final)


def failure_at(
    services: Services, member: Member, error: BaseException, *, overdue: bool
) -> PathwayExecutionError:
    """Return one error type for all failures of agents, and report it.

    LangGraph retries by type and would not retry a plain ValueError or RuntimeError.
    """
    if isinstance(error, PathwayExecutionError):  # told where it came from
        return error
    reason = reason_of(error, overdue=overdue)
    if not isinstance(error, InnerFailed):  # its agents told of it
        event = {"agent": member.path, "pathway": member.pathway.id, "kind": reason["kind"]}
        services.tell("agent_failed", **event, error=reason["message"])
    failure = PathwayExecutionError(member.pathway.id, member.path, reason["message"])
    failure.__cause__ = error
    return failure


def result_of_failure(
    state: Any,
    services: Services,
    member: Member,
    failure: PathwayExecutionError,
    *,
    overdue: bool,
) -> AgentOutput:
    """Return the record of a failed agent."""
    cause = failure.__cause__
    if isinstance(cause, InnerFailed) and cause.member == member:
        return cause.output
    # What it was asked for is known of a failure too, such as the part of a plan.
    asked = brief_of(state, member, services)
    reason = reason_of(failure, overdue=overdue)
    return result_of(state, member, error=reason, **(asked.notes if asked else {}))


def reason_of(error: BaseException, *, overdue: bool) -> AgentError:
    """Return the kind and the text of an agent's error."""
    cause = error.__cause__ if isinstance(error, PathwayExecutionError) else error
    if overdue:
        return AgentError(kind="timeout", message="it exceeded its timeout")
    if isinstance(cause, BreakerOpenError):
        return AgentError(kind="unavailable", message=str(cause))
    if cause is None or isinstance(cause, PipelineFailed):
        return AgentError(kind="pipeline", message=str(cause or error))
    return AgentError(kind=type(cause).__name__, message=words_of(cause))
