"""Pathways as nodes of their journey: a subgraph of fields, effects, tools and agents."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import Any

from langgraph.graph import END, START, StateGraph

from journeygraph.graphs.agents.registry import timeout_of
from journeygraph.graphs.pipelines.build import (
    LONGEST_PAUSE,
    Plan,
    build_pattern,
    lone_agent,
)
from journeygraph.graphs.pipelines.running_nodes import First, at_most, pathway_node
from journeygraph.graphs.pipelines.stage import PathwayOutput, PatternGraph
from journeygraph.graphs.steps import bind
from journeygraph.journeys import (
    JourneyConfig,
    JourneySpec,
    PathwaySpec,
    PatternPipeline,
)
from journeygraph.journeys.spec.capability_table import part
from journeygraph.nodes.capability import Capabilities, PathwayStep
from journeygraph.nodes.services import Services
from journeygraph.nodes.state.session import PathwayState, Update
from journeygraph.nodes.telemetry import PathwaySpan

GoesOn = Callable[[Mapping[str, Any]], bool]
"""Decides from the progress of a pathway whether its next step is taken."""
_IN_ROUNDS = ("consensus", "debate")
"""Patterns that call every agent more than once."""


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
