"""Pathways as nodes of their journey: a subgraph of fields, effects, tools and agents."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime

from journeygraph.graphs.agents.registry import timeout_of
from journeygraph.graphs.pipelines.build import (
    LONGEST_PAUSE,
    MOST_STEPS,
    Plan,
    at_most,
    build_pattern,
    lone_agent,
    task_of,
)
from journeygraph.graphs.pipelines.stage import PathwayOutput, PatternGraph
from journeygraph.graphs.standalone import LEVELS, SAVER
from journeygraph.graphs.steps import bind, passes_on
from journeygraph.graphs.storage.checkpoints import commit_of
from journeygraph.journeys import (
    JourneyConfig,
    JourneySpec,
    PathwaySpec,
    PatternPipeline,
)
from journeygraph.journeys.spec.capability_table import part
from journeygraph.nodes.capability import Capabilities, PathwayStep
from journeygraph.nodes.services import Services
from journeygraph.nodes.state.form_state import FORM, is_collected
from journeygraph.nodes.state.session import PathwayState, Update
from journeygraph.nodes.telemetry import PathwaySpan
from journeygraph.nodes.telemetry.span import Span

GoesOn = Callable[[Mapping[str, Any]], bool]
"""Decides from the progress of a pathway whether its next step is taken."""
_IN_ROUNDS = ("consensus", "debate")
"""Patterns that call every agent more than once."""
_STREAM = "__pregel_stream"
"""Key of the stream that a graph passes to inner graphs, if their events are wanted."""

First = Callable[[Any, Runtime[Any], RunnableConfig], Awaitable[Update]]
"""Runs the first step of a pathway without a run of the subgraph: its form, or its only agent."""


def node_of(
    spec: JourneySpec,
    pathway: PathwaySpec,
    config: JourneyConfig,
    default: Services | None,
    capabilities: Capabilities,
) -> Any:
    """Return the subgraph of a pathway, or of a concierge's reception, as a node."""
    steps = [step for one in capabilities for step in one.steps(pathway)]
    collects = next((step for step in steps if step.name == "collect"), None)
    first: First | None = bind(collects.run, default, collects.about) if collects else None
    if pathway.id == spec.reception:
        subgraph = reception_subgraph(default).compile()
    else:
        subgraph = pathway_subgraph(pathway, config, default, steps).compile()
    if pathway.pipeline is not None:
        subgraph = subgraph.with_config(at_most(pathway.pipeline))
        if not steps:
            first = lone_agent(pathway.pipeline, _plan(pathway, config, default))
    pattern = pathway.pipeline.pattern if pathway.pipeline else ""
    run = partial(PathwaySpan, pathway.id, pattern)
    return pathway_node(subgraph, run, first, managed=default is None)


def pathway_subgraph(
    pathway: PathwaySpec,
    config: JourneyConfig,
    default: Services | None,
    steps: Sequence[PathwayStep],
) -> PatternGraph:
    """Return the graph of one pathway: its pipeline's pattern over its agents."""
    graph: PatternGraph = StateGraph(PathwayState, output_schema=PathwayOutput)
    begin = _prelude(graph, steps, default)
    if pathway.pipeline is None:
        return _silent(graph, begin)
    build_pattern(graph, pathway.pipeline, _plan(pathway, config, default), begin=begin)
    return graph


def _plan(pathway: PathwaySpec, config: JourneyConfig, default: Services | None) -> Plan:
    retries = config.max_retries if config.error_recovery == "retry" else 0
    timeout = timeout_of(pathway, config)
    return Plan(pathway, timeout, retries, config.retry_backoff_seconds, default)


def _prelude(graph: PatternGraph, steps: Sequence[PathwayStep], default: Services | None) -> str:
    """Add the steps before the agents: fields, effects, tools; return the last of them.

    While a field is open or an effect failed, the pathway ends there.
    """
    before: str = START
    goes_on: GoesOn | None = None
    for step in steps:
        graph.add_node(step.name, bind(step.run, default, step.about))
        _connect(graph, before, step.name, goes_on)
        before, goes_on = step.name, step.goes_on
    if goes_on is not None:
        graph.add_node("ready", _ready)
        _connect(graph, before, "ready", goes_on)
        before = "ready"
    return before


def _connect(graph: PatternGraph, before: str, after: str, goes_on: GoesOn | None) -> None:
    if goes_on is None:
        graph.add_edge(before, after)
    else:
        graph.add_conditional_edges(before, _going_on(goes_on, after), [after, END])


async def _ready(state: Any) -> Update:
    return {}


def _going_on(goes_on: GoesOn, target: str) -> Callable[[Any], Awaitable[str]]:
    async def next_step(state: Any) -> str:
        return target if goes_on(state["progress"]) else END

    return next_step


def _silent(graph: PatternGraph, begin: str) -> PatternGraph:
    graph.add_node("listen", _ready)
    graph.add_edge(begin, "listen")
    graph.add_edge("listen", END)
    return graph


def whole_timeout(pathway: PathwaySpec, config: JourneyConfig) -> float | None:
    """Return the time limit of a whole pathway: its timeout, once for each try of an agent.

    None if the timeouts of the agents are enough: one agent, or all at once.
    """
    if pathway.pipeline is None or _is_one_try(pathway.pipeline):
        return None
    if config.error_recovery != "retry":
        return timeout_of(pathway, config)
    first, tries = config.retry_backoff_seconds, range(config.max_retries)
    pauses: float = sum(min(first * 2**number, LONGEST_PAUSE) for number in tries)
    return timeout_of(pathway, config) * (config.max_retries + 1) + pauses


def _is_one_try(pipeline: PatternPipeline) -> bool:
    """Return whether a run of a pipeline takes no longer than one try of an agent."""
    limits = pipeline.limits
    if pipeline.roles or pipeline.pattern in _IN_ROUNDS or limits.timeout or limits.retries:
        return False
    return bool(len(pipeline.agents) <= pipeline.settings.get("max_workers", 1))


def reception_subgraph(default: Services | None) -> PatternGraph:
    """Return the graph of the pathway of a concierge between its journeys.

    A message that starts a journey leaves it before it runs, as with every transition.
    """
    graph: PatternGraph = StateGraph(PathwayState, output_schema=PathwayOutput)
    graph.add_node("answer", bind(part("concierge").receive, default))
    graph.add_edge(START, "answer")
    graph.add_edge("answer", END)
    return graph


def pathway_node(graph: Any, run: Callable[[], Span], first: First | None, *, managed: bool) -> Any:
    """Return the node of a pathway, with a span of telemetry for each run.

    Reports of its inner nodes then belong to that span, because LangGraph copies the context into
    their tasks. LangGraph still finds the graph in the function, for drawings, streams and states.

    Args:
        first: Runs the first step without the subgraph, and with it the whole pathway, unless that
            is a form in which nothing is left to ask; None if the pathway needs the subgraph.
        managed: True if the journey serves sessions, so that only callbacks see its events.
    """

    async def node(state: Any, runtime: Runtime[Any], config: RunnableConfig) -> Any:
        with run():
            if first is not None and runs_in_place(runtime, config, managed=managed):
                done = await first(state, runtime, config)
                progress = done.get("progress", {})
                if FORM not in progress or not is_collected(progress):
                    return {"results": done.get("results", []), "progress": progress}
                state = {**state, **done}
                leave_place(runtime, config)
            return await graph.ainvoke(state, config)

    return node


def runs_in_place(runtime: Runtime[Any], config: RunnableConfig, *, managed: bool) -> bool:
    """Return whether the run of a subgraph has no observer, so that it can be skipped.

    A turn that resumes a waiting run keeps the form in which it stopped, because the ids of its
    questions and the checkpoints of its agent's graph depend on it.

    Args:
        config: Its configuration; three keys of it belong to LangGraph.
        managed: True if the journey serves sessions: only the session reads their streams, and
            their savers store a subgraph only while it waits.
    """
    place = config["configurable"]
    if managed and (commit := commit_of(config)):
        task = task_of(runtime)
        if commit.goes_on is not None:
            in_place = task in commit.goes_on.in_place
        else:
            in_place = not _is_traced(config)
        if in_place:
            commit.left.in_place.add(task)
        return in_place
    return not (
        managed
        or _is_traced(config)
        or _STREAM in place
        or place.get(SAVER) is not None
        or LEVELS in place.get("checkpoint_ns", LEVELS)
        or passes_on(runtime.stream_writer)
    )


def leave_place(runtime: Runtime[Any], config: RunnableConfig) -> None:
    """Record that the subgraph of a node runs after all."""
    if commit := commit_of(config):
        commit.left.in_place.discard(task_of(runtime))


def _is_traced(config: RunnableConfig) -> bool:
    """Return whether callbacks observe the run, or whether it raises the limit of the agent."""
    callbacks: Any = config.get("callbacks")
    handlers = getattr(callbacks, "handlers", callbacks)
    return bool(handlers) or config.get("recursion_limit", MOST_STEPS) < MOST_STEPS
