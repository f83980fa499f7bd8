"""A journey's spec in, a LangGraph graph out.

START -> understand -(route)-> pathway -> settle -(onward)-> next pathway | END
                    '-> settle, when there is nothing to run

Where replies are checked, settle leads to check_reply, and that to END.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import Annotated, Any

from langgraph.channels.ephemeral_value import EphemeralValue
from langgraph.config import get_config
from langgraph.graph import END, START, StateGraph
from langgraph.types import Send

from graphs.agents import services_of, timeout_of
from graphs.as_node import JourneyNode, check_kept
from graphs.binding import Step, bind
from graphs.chat import ChatInput, ChatState, StepState
from graphs.concierge import reception_subgraph
from graphs.pathway_node import Alone, pathway_node
from graphs.patterns import PathwayOutput, PatternGraph
from graphs.stages import (
    LONGEST_PAUSE,
    MOST_STEPS,
    Graph,
    Plan,
    at_most,
    build_pattern,
    lone_agent,
)
from graphs.standalone import AsyncGraph, compiled_with
from journeys import (
    JourneyConfig,
    JourneyDefinitionError,
    JourneySpec,
    PathwaySpec,
    PatternPipeline,
    ReturnToSpecific,
)
from journeys.locale import NOWHERE, in_force
from journeys.spec import MAX_HOPS
from nodes.call_tools import call_tools
from nodes.checking.scope import checks_of
from nodes.collect import collect, is_collected
from nodes.effect_outcome import went_well
from nodes.features import Features, features_of
from nodes.language import load as load_hearing
from nodes.llm.models import open_models
from nodes.matching.index import index_of
from nodes.services import Services
from nodes.settle import settle
from nodes.state import Output, PathwayState, SessionInput, SessionState, Update
from nodes.take_effects import take_effects
from nodes.telemetry import PathwayRun
from nodes.understand import understand
from nodes.values import load as load_values

RECURSION_LIMIT = MOST_STEPS
"""Most supersteps of a turn, and of each graph within it; the hops of a turn have a limit of
their own, and so have the rounds of a pipeline."""


class GraphState(SessionState):
    """The session's state, and what the pathway that just ran came to."""

    results: Annotated[list[Output], EphemeralValue]
    progress: Annotated[dict[str, Any], EphemeralValue]


GoesOn = Callable[[Mapping[str, Any]], bool]
"""Decides from the progress of a pathway whether its next step is taken."""
_IN_ROUNDS = ("consensus", "debate")
"""Patterns that ask everybody more than once."""


def build(
    spec: JourneySpec,
    config: JourneyConfig,
    default: Services | None = None,
    *,
    chat: bool = False,
    checkpointer: Any = None,
) -> Any:
    """Return the graph of a journey, not compiled yet.

    Args:
        spec: The journey.
        config: Its timeout and retries go into the nodes; everything else comes at run time.
        default: Services for runs that bring none, as in Studio.
        chat: Whether programs of LangGraph talk to it themselves, as Studio does.
        checkpointer: What such a graph will be compiled with.
    """
    if not spec.entry:
        raise JourneyDefinitionError([spec.why_abstract])
    if spec.uses_dialogue or spec.can_escalate:
        for part in (spec, *spec.parts.values()):
            load_hearing(in_force(part.locale, NOWHERE, config.locale).language or "en")
    index_of(spec.guidelines)  # thousands take a second, which no message should have to wait for
    graph: Any = StateGraph(GraphState, input_schema=SessionInput)
    features = features_of(spec)
    begin: Step = partial(understand, features=features)
    reads = None
    if chat:
        graph = StateGraph(ChatState, input_schema=ChatInput)
        begin, reads = _kept(spec, checkpointer, begin), StepState
    graph.add_node("understand", bind(begin, default), input_schema=reads)
    graph.add_node("settle", bind(partial(settle, features=features), default), input_schema=reads)
    for pathway in spec.pathways.values():
        if pathway.id in spec.reachable:
            node = _pathway_node(spec, pathway, config, default)
            timeout = _whole_timeout(pathway, config)
            graph.add_node(pathway.id, node, timeout=timeout, input_schema=reads)
            graph.add_edge(pathway.id, "settle")
    graph.add_edge(START, "understand")
    awaited = awaiting(spec)
    graph.add_conditional_edges("understand", route_to(awaited), [*awaited, "settle"])
    last = _checking(graph, spec, features, default, reads)
    if arrivals := arriving(spec):
        graph.add_conditional_edges("settle", onward_to(last), [*arrivals, last])
    else:
        graph.add_edge("settle", last)
    return graph


def _pathway_node(
    spec: JourneySpec, pathway: PathwaySpec, config: JourneyConfig, default: Services | None
) -> Any:
    """Return the subgraph of a pathway, or of a concierge's reception, as a node."""
    alone: Alone | None = None
    if pathway.id == spec.reception:
        subgraph = reception_subgraph(default).compile()
    else:
        subgraph = pathway_subgraph(pathway, config, default).compile()
    if pathway.pipeline is not None:
        subgraph = subgraph.with_config(at_most(pathway.pipeline))
        if not (pathway.collects or pathway.effects or pathway.calls):
            alone = lone_agent(pathway.pipeline, _plan(pathway, config, default))
    pattern = pathway.pipeline.pattern if pathway.pipeline else ""
    run = partial(PathwayRun, pathway.id, pattern)
    return pathway_node(subgraph, run, alone, managed=default is None)


def _kept(spec: JourneySpec, checkpointer: Any, begin: Step) -> Step:
    """Return the first step of a graph without a manager, which others may hold as a node."""

    async def understand_kept(state: Any, services: Services) -> Update:
        check_kept(spec.name, checkpointer, get_config())
        return await begin(state, services)

    return understand_kept


def _checking(
    graph: Any, spec: JourneySpec, features: Features, default: Services | None, reads: Any
) -> str:
    """Add the check of replies where there is one; return what comes behind settle."""
    checks = checks_of(spec)
    if checks is None:
        return END
    # Half a second to import; here, and not in the first turn, where it would hold up all others.
    from nodes.checking.pii import load  # noqa: PLC0415
    from nodes.validate import validate  # noqa: PLC0415

    load(checks.pii)
    graph.add_node(
        "check_reply", bind(partial(validate, features=features), default), input_schema=reads
    )
    graph.add_edge("check_reply", END)
    return "check_reply"


def route_to(awaited: Sequence[str]) -> Callable[[Any], Awaitable[str | Send]]:
    """Return the edge that leads to the pathway to run, or to settle at once."""

    # Unnamed, or LangGraph would take the state of a manager's graph for that of every graph.
    async def route(state: Any) -> str | Send:
        run: str | None = state["turn"]["run"]
        if run is None or run in awaited:
            return run or "settle"
        # A session begun under an older version can wait where this version never does.
        return Send(run, state)

    return route


def onward_to(last: str) -> Callable[[Any], Awaitable[str]]:
    """Return the edge that leads to the pathway that runs on arrival, or to what comes last."""

    async def onward(state: Any) -> str:
        run: str | None = state["turn"]["run"]
        return run or last

    return onward


def arriving(spec: JourneySpec) -> list[str]:
    """Return the pathways that can run in the turn in which another one leads to them."""
    nexts = {p.next for p in spec.pathways.values() if p.id in spec.reachable and p.next}
    if spec.uses_dialogue:
        # A task that waited begins when another one ends, and a question is asked again.
        nexts |= {id_ for id_ in spec.reachable if id_ != spec.reception}
        return [id_ for id_ in spec.pathways if id_ in nexts]
    return [id_ for id_, p in spec.pathways.items() if id_ in nexts and p.runs_on_arrival]


def awaiting(spec: JourneySpec) -> list[str]:
    """Return the pathways that a message can run: all but those that only ever run on arrival."""
    returns = (p.returns for p in spec.pathways.values())
    returned_to = {r.target_pathway for r in returns if isinstance(r, ReturnToSpecific)}
    targets = {spec.entry, *(t.target for t in spec.transitions), *returned_to}
    arrivals = arriving(spec)
    return [
        id_
        for id_, pathway in spec.pathways.items()
        if id_ in spec.reachable
        if spec.uses_dialogue
        or id_ not in arrivals
        or id_ in targets
        or pathway.complete_when is not None
        or len(arrivals) >= MAX_HOPS
    ]


def pathway_subgraph(
    pathway: PathwaySpec, config: JourneyConfig, default: Services | None
) -> PatternGraph:
    """Return the graph of one pathway: its pipeline's pattern over its agents."""
    graph: PatternGraph = StateGraph(PathwayState, output_schema=PathwayOutput)
    begin = _prelude(graph, pathway, default)
    if pathway.pipeline is None:
        return _silent(graph, begin)
    build_pattern(graph, pathway.pipeline, _plan(pathway, config, default), begin=begin)
    return graph


def _plan(pathway: PathwaySpec, config: JourneyConfig, default: Services | None) -> Plan:
    retries = config.max_retries if config.error_recovery == "retry" else 0
    timeout = timeout_of(pathway, config)
    return Plan(pathway, timeout, retries, config.retry_backoff_seconds, default)


def _prelude(graph: PatternGraph, pathway: PathwaySpec, default: Services | None) -> str:
    """Add what comes before the agents: fields, effects, tools; return what the agents follow.

    While a field is open, or an effect was not taken, the pathway ends there.
    """
    steps: list[tuple[str, Any, GoesOn | None]] = []
    if pathway.form:
        # Here, as above: the first message with a date would hold up all others.
        load_values(pathway.form.fields)
    if pathway.collects:
        steps.append(("collect", bind(collect, default), is_collected))
    if pathway.effects:
        steps.append(("effects", bind(take_effects, default), went_well))
    if pathway.calls:
        steps.append(("tools", bind(call_tools, default), None))
    elif steps:
        steps.append(("ready", _ready, None))
    before: str = START
    goes_on: GoesOn | None = None
    for name, step, next_goes_on in steps:
        graph.add_node(name, step)
        if goes_on is None:
            graph.add_edge(before, name)
        else:
            graph.add_conditional_edges(before, _going_on(goes_on, name), [name, END])
        before, goes_on = name, next_goes_on
    return before


async def _ready(state: Any) -> Update:
    return {}


def _going_on(goes_on: GoesOn, target: str) -> Callable[[Any], Awaitable[str]]:
    async def onward(state: Any) -> str:
        return target if goes_on(state["progress"]) else END

    return onward


def _silent(graph: PatternGraph, begin: str) -> PatternGraph:
    async def listen(state: Any) -> Update:
        return {}

    graph.add_node("listen", listen)
    graph.add_edge(begin, "listen")
    graph.add_edge("listen", END)
    return graph


def _whole_timeout(pathway: PathwaySpec, config: JourneyConfig) -> float | None:
    """Return the longest run of a whole pathway: its timeout, once for each try of an agent.

    None where the timeouts of the agents say it already: one agent, or all at once.
    """
    if pathway.pipeline is None or _is_one_try(pathway.pipeline):
        return None
    if config.error_recovery != "retry":
        return timeout_of(pathway, config)
    first, tries = config.retry_backoff_seconds, range(config.max_retries)
    pauses: float = sum(min(first * 2**number, LONGEST_PAUSE) for number in tries)
    return timeout_of(pathway, config) * (config.max_retries + 1) + pauses


def _is_one_try(pipeline: PatternPipeline) -> bool:
    """Whether a run of a pipeline takes as long as one try of an agent, within the pathway's."""
    limits = pipeline.limits
    if pipeline.roles or pipeline.pattern in _IN_ROUNDS or limits.timeout or limits.retries:
        return False
    return bool(len(pipeline.agents) <= pipeline.settings.get("max_workers", 1))


def compile_standalone(
    spec: JourneySpec,
    *,
    agents: Mapping[str, Any],
    config: JourneyConfig,
    model: Any = None,
    tools: Mapping[str, Any] | None = None,
    **options: Any,
) -> Graph:
    """Return the compiled graph of a journey without a manager, its agents built in.

    Args:
        spec: The journey.
        agents: Agent name -> agent.
        config: Settings.
        model: As of the journey.
        tools: As of the journey.
        **options: For LangGraph's own `compile`: checkpointer, store, cache, name, ...
    """
    checkpointer = options.get("checkpointer")
    models = open_models(model, config, spec)
    services = services_of(spec, config, agents, models, tools=tools or {})
    graph = build(spec, config, services, chat=True, checkpointer=checkpointer)
    kind = JourneyNode if checkpointer is True else AsyncGraph
    return compiled_with(graph, spec.id, options, kind)
