"""A pipeline in, the graph of its pattern out; pipelines within it are graphs within that graph."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.errors import (
    GraphDrained,
    GraphInterrupt,
    NodeCancelledError,
    NodeError,
    NodeTimeoutError,
)
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime
from langgraph.types import RetryPolicy

from graphs.binding import bind, services_in
from graphs.patterns import PATTERNS, PatternGraph, Stage
from journeys import ModelError, PathwayExecutionError, PathwaySpec, PatternPipeline
from nodes.agent import After, brief_of, noted, run_agent
from nodes.inputs import base_of, payload_of
from nodes.patterns import conclude
from nodes.patterns.breaker import AgentUnavailable
from nodes.patterns.reports import within
from nodes.patterns.seat import Seat
from nodes.patterns.work import Work, merged
from nodes.plain import words_of
from nodes.services import Services
from nodes.state import AgentError, Output, PipelineState, Update

LONGEST_PAUSE = 128.0
"""Seconds between two tries, at most."""
MOST_STEPS = 10_000
"""Most supersteps of a pipeline: its own limits end it long before."""
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

    def make(seat: Seat, after: After | None) -> Any:
        inner = pipeline.members[seat.name].call
        if isinstance(inner, PatternPipeline):
            return _pipeline_node(seat, inner, after, plan)
        return _agent_node(seat, after, plan.default)

    stage = Stage(
        graph=graph,
        pipeline=pipeline,
        pathway=plan.pathway,
        make=make,
        failed=_failed if pipeline.error_handling == "graceful" else None,
        default=plan.default,
        begin=begin,
        end=end,
        prefix=prefix,
        has_word=has_word,
        timeout=pipeline.limits.timeout or plan.timeout,
        retries=retry_policy(pipeline, plan),
    )
    PATTERNS[pipeline.pattern](stage)
    stage.forgive()


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


def at_most(pipeline: PatternPipeline) -> RunnableConfig:
    """Return LangGraph's configuration of a pipeline's run: how many work at a time, how long."""
    members = len(pipeline.members)
    return {
        "max_concurrency": pipeline.settings.get("max_workers", max(members, 50)),
        "recursion_limit": MOST_STEPS,
    }


def _agent_node(seat: Seat, after: After | None, default: Services | None) -> Any:
    async def agent(state: Any, services: Services) -> Update:
        # One name for whatever an agent raises: LangGraph retries by type, and would not retry
        # the ValueError or RuntimeError that it most likely is.
        try:
            return await run_agent(state, services, seat, after)
        except (PathwayExecutionError, *_NOT_THE_AGENTS):
            raise
        except BaseException as error:
            _tell_failure(services, seat, error)
            raise PathwayExecutionError(seat.pathway.id, seat.path, words_of(error)) from error

    return bind(agent, default)


def _pipeline_node(seat: Seat, pipeline: PatternPipeline, after: After | None, plan: Plan) -> Any:
    """Return the node of a pipeline within a pipeline, which is a graph of its own."""
    graph: PatternGraph = StateGraph(PipelineState)
    # Its members are no tries of the outer one's, which does not know how long they may take.
    inner_plan = replace(plan, timeout=None, retries=0)
    build_pattern(graph, pipeline, inner_plan, prefix=f"{seat.path}/", has_word=seat.has_word)
    inner: Graph = graph.compile(name=seat.name)
    limits = at_most(pipeline)

    async def run(state: Any, runtime: Runtime[Any]) -> Update:
        services = services_in(runtime, plan.default)
        brief = brief_of(state, seat)
        payload, _ = payload_of(None, base_of(state), brief)
        start: Any = {"inputs": payload}
        # Named in this very function, or drawings of the graph would not show what is in it.
        output = _output_of(seat, pipeline, await inner.ainvoke(start, limits))
        if "error" in output and seat.pipeline.error_handling != "graceful":
            error = output["error"]
            raise PathwayExecutionError(seat.pathway.id, seat.path, error["message"])
        return await noted(state, services, seat, {**output, **brief.notes}, after)  # type: ignore[typeddict-item]

    return run


def _output_of(seat: Seat, pipeline: PatternPipeline, run: Any) -> Output:
    """Return what a pipeline gave as one of the results of the one it stands in."""
    ended = conclude(Work(pipeline, run["results"], run.get("progress") or {}))
    output = Output(
        agent=seat.name,
        place=seat.place,
        values=merged(ended.values),
        flags=[*_own_flags(run["results"]), *ended.report.get("flags", ())],
        streamed=any(result["streamed"] for result in run["results"]),
        parts=within(seat.name, run["results"]),
    )
    if ended.blame is not None:
        output["error"] = AgentError(kind="pipeline", message=f"{ended.blame}: {ended.error}")
    return output


def _own_flags(results: list[Output]) -> list[str]:
    return [flag for result in results for flag in result["flags"]]


def _failed(seat: Seat, error: NodeError, services: Services) -> Output:
    """Return the result of an agent that failed, after all its tries."""
    kind, said = _reason(error.error)
    if kind == "timeout":
        _tell(services, seat, kind, said)
    return Output(
        agent=seat.name,
        place=seat.place,
        values={},
        flags=[],
        streamed=False,
        error=AgentError(kind=kind, message=said),
    )


def _reason(error: BaseException) -> tuple[str, str]:
    if isinstance(error, NodeTimeoutError):
        return "timeout", "it took longer than it may"
    cause = error.__cause__ if isinstance(error, PathwayExecutionError) else error
    if isinstance(cause, AgentUnavailable):
        return "unavailable", str(cause)
    if cause is None:
        return "pipeline", str(error)
    return type(cause).__name__, words_of(cause)


def _tell_failure(services: Services, seat: Seat, error: BaseException) -> None:
    kind = "unavailable" if isinstance(error, AgentUnavailable) else type(error).__name__
    _tell(services, seat, kind, words_of(error))


def _tell(services: Services, seat: Seat, kind: str, said: str) -> None:
    event = {"agent": seat.path, "pathway": seat.pathway.id, "kind": kind, "error": said}
    services.emit({"type": "agent_failed", **event})
