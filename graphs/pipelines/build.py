"""Build the graph of a pipeline's pattern.

Pipelines within a pipeline are graphs within its graph.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from langgraph.graph import END, START, StateGraph
from langgraph.types import RetryPolicy

from journeygraph.graphs.pipelines.failures import is_worth_another_try
from journeygraph.graphs.pipelines.running_nodes import AgentNode, agent_node, timed
from journeygraph.graphs.pipelines.stage import PatternGraph, Stage, build
from journeygraph.graphs.steps import (
    Graph,
)
from journeygraph.journeys import PathwaySpec, PatternPipeline
from journeygraph.nodes.pipelines.work import Member
from journeygraph.nodes.services import Services
from journeygraph.nodes.state.session import (
    InnerState,
)
from journeygraph.nodes.turn.run_agent import (
    After,
)

LONGEST_PAUSE = 128.0
"""Maximum seconds between two tries."""


@dataclass(frozen=True, slots=True)
class Plan:
    """Settings for the agents of a pathway's pipelines.

    Attributes:
        timeout: Default limit of one try, in seconds; None for no limit.
        backoff: Default seconds before the second try.
        default: Services of a graph with its own.
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
    """Add a pipeline's pattern to a graph: its agents and edges."""
    retries = retry_policy(pipeline, plan)

    def make(member: Member, after: After | None) -> Any:
        inner = pipeline.members[member.name].call
        graph = _inner_graph(member, inner, plan) if isinstance(inner, PatternPipeline) else None
        tries = retries.max_attempts if retries else 1
        return agent_node(member, after, plan.default, tries, graph)

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
    build(stage)


def lone_agent(pipeline: PatternPipeline, plan: Plan) -> AgentNode | None:
    """Return the node of a pipeline's only agent, to run without a graph; None if it needs one."""
    (only, *more) = pipeline.members.values()
    if more or pipeline.pattern != "sequential" or isinstance(only.call, PatternPipeline):
        return None
    if retry_policy(pipeline, plan):
        return None
    timeout = pipeline.limits.timeout or plan.timeout
    member = Member(plan.pathway, pipeline, only.name, has_word=True, timeout=timeout)
    node = agent_node(member, None, plan.default, 1, None)
    forgives = pipeline.error_handling == "graceful"  # then it is timed where it is forgiven
    return node if forgives or timeout is None else timed(node, member.name, timeout)


def retry_policy(pipeline: PatternPipeline, plan: Plan) -> RetryPolicy | None:
    """Return the retry policy of an agent; None: no retries."""
    limits = pipeline.limits
    retries = plan.retries if limits.retries is None else limits.retries
    if not retries:
        return None
    return RetryPolicy(
        initial_interval=plan.backoff if limits.retries is None else limits.backoff,
        max_attempts=retries + 1,
        max_interval=LONGEST_PAUSE,
        jitter=False,  # it would add up to a second to each pause that is configured
        retry_on=is_worth_another_try,
    )


def _inner_graph(member: Member, pipeline: PatternPipeline, plan: Plan) -> Graph:
    graph: PatternGraph = StateGraph(InnerState)
    # Its members are no tries of the outer one's, which does not know how long they may take.
    plan = replace(plan, timeout=None, retries=0)
    build_pattern(graph, pipeline, plan, prefix=f"{member.path}/", has_word=member.has_word)
    return graph.compile(name=member.name)
