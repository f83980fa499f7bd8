"""A pipeline in, the graph of its pattern out; pipelines within it are graphs within that graph."""

from __future__ import annotations

import asyncio
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.errors import (
    GraphDrained,
    GraphInterrupt,
    NodeCancelledError,
    NodeTimeoutError,
)
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime
from langgraph.types import RetryPolicy

from graphs.binding import services_in
from graphs.patterns import PATTERNS, PatternGraph, Stage
from journeys import ModelError, PathwayExecutionError, PathwaySpec, PatternPipeline
from nodes.agent import After, brief_of, guarded, noted, result_of, run_agent
from nodes.calling import PipelineFailed
from nodes.inputs import base_of, payload_of
from nodes.patterns import conclude_as_one
from nodes.patterns.breaker import AgentUnavailable
from nodes.patterns.reports import ended_as, own_flags, within
from nodes.patterns.seat import Seat
from nodes.patterns.work import Work, merged
from nodes.plain import words_of
from nodes.services import Services
from nodes.state import AgentError, InnerState, Output, Update
from nodes.telemetry import PipelineRun

LONGEST_PAUSE = 128.0
"""Seconds between two tries, at most."""
MOST_STEPS = 10_000
"""Most supersteps of a pipeline: its own limits end it long before."""
_UNLIMITED = 10_000
Graph = CompiledStateGraph[Any, Any, Any, Any]

# The process, the turn's caller, or LangGraph itself wants an end or a pause; no agent failed.
_NOT_THE_AGENTS = (
    KeyboardInterrupt,
    SystemExit,
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


@dataclass(frozen=True, slots=True)
class Plan:
    """How the agents of a pathway's pipelines are run.

    Attributes:
        pathway: The pathway.
        timeout: Longest try, in seconds, where a pipeline does not say; None for no limit.
        retries: Further tries, where a pipeline does not say.
        backoff: Seconds before the second try, where a pipeline does not say.
        default: Services of a graph that brings its own.
    """

    pathway: PathwaySpec
    timeout: float | None = None
    retries: int = 0
    backoff: float = 0.5
    default: Services | None = None


def build_pattern(
    graph: PatternGraph,
    pipeline: PatternPipeline,
    plan: Plan,
    *,
    prefix: str = "",
    has_word: bool = True,
    begin: str = START,
    end: str = END,
) -> None:
    """Add a pipeline's pattern to a graph: its agents, and what leads where."""
    retries = retry_policy(pipeline, plan)

    def make(seat: Seat, after: After | None) -> Any:
        inner = pipeline.members[seat.name].call
        graph = _inner_graph(seat, inner, plan) if isinstance(inner, PatternPipeline) else None
        return _node(seat, after, plan.default, retries.max_attempts if retries else 1, graph)

    stage = Stage(
        graph=graph,
        pipeline=pipeline,
        pathway=plan.pathway,
        make=make,
        default=plan.default,
        begin=begin,
        end=end,
        prefix=prefix,
        has_word=has_word,
        timeout=pipeline.limits.timeout or plan.timeout,
        retries=retries,
    )
    PATTERNS[pipeline.pattern](stage)


def retry_policy(pipeline: PatternPipeline, plan: Plan) -> RetryPolicy | None:
    """Return how an agent is tried again; None: never. A failure has one owner of its retries."""
    limits = pipeline.limits
    retries = plan.retries if limits.retries is None else limits.retries
    if not retries:
        return None
    return RetryPolicy(
        initial_interval=plan.backoff if limits.retries is None else limits.backoff,
        max_attempts=retries + 1,
        max_interval=LONGEST_PAUSE,
        jitter=False,  # it would add up to a second to each pause that is configured
        retry_on=_is_worth_another_try,
    )


def _is_worth_another_try(error: Exception) -> bool:
    """Whether a failed agent is tried again: what a model failed at was tried where it is asked."""
    kinds = (PathwayExecutionError, NodeCancelledError, NodeTimeoutError)
    final = (ModelError, AgentUnavailable)
    return isinstance(error, kinds) and not isinstance(error.__cause__, final)


def at_most(pipeline: PatternPipeline, *, within: bool = False) -> RunnableConfig:
    """Return LangGraph's configuration of a pipeline's run: how long, how many work at a time.

    Args:
        pipeline: The pipeline.
        within: Whether it runs within another run, whose limit it would have otherwise.
    """
    workers = pipeline.settings.get("max_workers", _UNLIMITED)
    if within or workers < len(pipeline.agents):
        return {"recursion_limit": MOST_STEPS, "max_concurrency": workers}
    return {"recursion_limit": MOST_STEPS}


def _inner_graph(seat: Seat, pipeline: PatternPipeline, plan: Plan) -> Graph:
    """Return the graph of a pipeline within a pipeline."""
    graph: PatternGraph = StateGraph(InnerState)
    # Its members are no tries of the outer one's, which does not know how long they may take.
    plan = replace(plan, timeout=None, retries=0)
    build_pattern(graph, pipeline, plan, prefix=f"{seat.path}/", has_word=seat.has_word)
    return graph.compile(name=seat.name)


def _node(
    seat: Seat, after: After | None, default: Services | None, tries: int, inner: Graph | None
) -> Any:
    """Return the node of an agent, or of a pipeline that is one, whose graph is `inner`."""
    forgives = seat.pipeline.error_handling == "graceful"

    async def node(state: Any, runtime: Runtime[Any]) -> Update:
        services = services_in(runtime, default)
        timing = asyncio.timeout(seat.timeout) if forgives and seat.timeout else _untimed
        try:
            async with timing:
                # Handed over here, as drawings look for graphs in what a node itself refers to.
                return await _worked(state, services, seat, after, inner)
        except BaseException as error:
            if _is_no_failure(error):
                raise
            failure = _failure(services, seat, error, overdue=_expired(timing))
            # Forgiven here, and not by LangGraph's error handler: that is a node which nothing
            # leads to, and drawings do not open a graph that has one.
            if forgives and (_attempt(runtime) >= tries or not _is_worth_another_try(failure)):
                failed = _failed(state, services, seat, failure, overdue=_expired(timing))
                return await noted(state, services, seat, failed, after)
            raise failure from failure.__cause__

    return node


async def _worked(
    state: Any, services: Services, seat: Seat, after: After | None, inner: Graph | None
) -> Update:
    if inner is None:
        return await run_agent(state, services, seat, after)
    brief = brief_of(state, seat, services)
    if brief is None:
        return {}
    payload, _ = payload_of(None, base_of(state), brief)
    # In a journey, with the turn: what the user was asked about is in it.
    turn = {"turn": state["turn"]} if "turn" in state else {}
    start: Any = {"inputs": payload, **turn}
    pipeline = seat.pipeline.members[seat.name].call

    async def ran() -> Output:
        with PipelineRun(seat.path, pipeline.pattern) as seen:
            run = await inner.ainvoke(start, at_most(pipeline, within=True))
            given = _given_by(seat, pipeline, run, services)
            output = result_of(state, seat, **given, **brief.notes)
            seen.ended(ended_as(output))
        if "error" in output:
            raise InnerFailed(seat, output)
        return output

    output = await guarded(ran, seat, asyncio.get_running_loop().time())
    return await noted(state, services, seat, output, after)


def _failed(
    state: Any, services: Services, seat: Seat, failure: PathwayExecutionError, *, overdue: bool
) -> Output:
    """Return what is noted of an agent that failed."""
    cause = failure.__cause__
    if isinstance(cause, InnerFailed) and cause.seat == seat:
        return cause.output
    # What it was asked for is known of a failure too, such as the part of a plan.
    asked = brief_of(state, seat, services)
    reason = _reason(failure, overdue=overdue)
    return result_of(state, seat, error=reason, **(asked.notes if asked else {}))


_untimed = nullcontext()


def _expired(timing: Any) -> bool:
    return timing is not _untimed and timing.expired()


def _is_no_failure(error: BaseException) -> bool:
    """Whether the run is given up; a cancellation that nobody asked for is an agent's own error."""
    task = asyncio.current_task()
    if isinstance(error, asyncio.CancelledError) and task is not None:
        return task.cancelling() > 0
    return isinstance(error, _NOT_THE_AGENTS)


def _attempt(runtime: Runtime[Any]) -> int:
    return runtime.execution_info.node_attempt if runtime.execution_info else 1


def _failure(
    services: Services, seat: Seat, error: BaseException, *, overdue: bool
) -> PathwayExecutionError:
    """Return one error for whatever an agent raises, and tell of it.

    LangGraph retries by type, and would not retry the ValueError or RuntimeError that it most
    likely is.
    """
    if isinstance(error, PathwayExecutionError):  # told where it came from
        return error
    reason = _reason(error, overdue=overdue)
    if not isinstance(error, InnerFailed):  # its agents told of it
        event = {"agent": seat.path, "pathway": seat.pathway.id, "kind": reason["kind"]}
        services.tell("agent_failed", **event, error=reason["message"])
    failure = PathwayExecutionError(seat.pathway.id, seat.path, reason["message"])
    failure.__cause__ = error
    return failure


def _given_by(
    seat: Seat, pipeline: PatternPipeline, run: Any, services: Services
) -> dict[str, Any]:
    """Return what a pipeline gave, as one of the results of the one it stands in."""
    results = run["results"]
    work = Work(pipeline, results, run.get("progress") or {}, services.registered)
    ended = conclude_as_one(work)
    parts = within(seat.name, results)
    given = {
        "values": merged(ended.values),
        "flags": [*own_flags(results), *ended.report.get("flags", ())],
        "streamed": any(result["streamed"] for result in results),
        "parts": parts,
    }
    if ended.blame is None:
        return given
    return {**given, "error": AgentError(kind="pipeline", message=f"{ended.blame}: {ended.error}")}


def _reason(error: BaseException, *, overdue: bool) -> AgentError:
    cause = error.__cause__ if isinstance(error, PathwayExecutionError) else error
    if overdue:
        return AgentError(kind="timeout", message="it took longer than it may")
    if isinstance(cause, AgentUnavailable):
        return AgentError(kind="unavailable", message=str(cause))
    if cause is None or isinstance(cause, PipelineFailed):
        return AgentError(kind="pipeline", message=str(cause or error))
    return AgentError(kind=type(cause).__name__, message=words_of(cause))
