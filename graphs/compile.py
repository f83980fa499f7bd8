"""Compile the spec of a journey to a LangGraph graph.

START -> understand -(route)-> pathway -> settle -(advance)-> next pathway | END
                    '-> settle, when there is nothing to run

Where replies are checked, settle leads to check_reply, and that to END.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Annotated, Any

from langgraph.channels.ephemeral_value import EphemeralValue
from langgraph.config import get_config
from langgraph.graph import END, START, StateGraph

from journeygraph.graphs.agents.models import opened
from journeygraph.graphs.agents.registry import services_of
from journeygraph.graphs.pathway import node_of, whole_timeout
from journeygraph.graphs.pipelines.running_nodes import MOST_STEPS
from journeygraph.graphs.steps import Graph, NextStep, Step, bind
from journeygraph.journeys import (
    JourneyConfig,
    JourneyDefinitionError,
    JourneySpec,
    PathwaySpec,
    ReturnToSpecific,
)
from journeygraph.journeys.spec.capability_table import part
from journeygraph.journeys.spec.spec import MAX_HOPS
from journeygraph.nodes.capability import Capabilities, capabilities_of
from journeygraph.nodes.replies.scope import checks_of
from journeygraph.nodes.services import Services
from journeygraph.nodes.state.session import AgentOutput, SessionInput, SessionState, Update
from journeygraph.nodes.turn.settle import settle
from journeygraph.nodes.turn.understand import understand

RECURSION_LIMIT = MOST_STEPS
"""Maximum number of supersteps of a turn, and of each graph within it.

Hops of a turn and rounds of a pipeline have their own limits.
"""


UNDERSTANDS = "Reads the message: fields, corrections, intents. Decides which pathway runs."
SETTLES = "Stores the results of the pathway. Continues with the next one, or ends the turn."
CHECKS = "Checks the reply before it is sent: personal data by code, rules by a model."


class GraphState(SessionState):
    """The session's state, and the result of the pathway that just ran."""

    results: Annotated[list[AgentOutput], EphemeralValue]
    progress: Annotated[dict[str, Any], EphemeralValue]


def build(
    spec: JourneySpec,
    config: JourneyConfig,
    default: Services | None = None,
    *,
    chat: bool = False,
    checkpointer: Any = None,
) -> Any:
    """Return the uncompiled graph of a journey.

    Args:
        config: Source of timeout and retries of the nodes; the rest is used at run time.
        default: Services for runs without their own, as in Studio.
        chat: True if programs of LangGraph use it directly, as Studio does.
    """
    if not spec.entry:
        raise JourneyDefinitionError([spec.why_abstract])
    capabilities = capabilities_of(spec)
    for one in capabilities:
        one.load(config)
    state, given, reads = _schemas(chat=chat)
    graph: Any = StateGraph(state, input_schema=given)
    begin: Step = partial(understand, capabilities=capabilities)
    if chat:
        begin = _kept(spec, checkpointer, begin)
    begins = bind(begin, default, "understand")
    graph.add_node("understand", begins, input_schema=reads, **_about(UNDERSTANDS, chat))
    settles = bind(partial(settle, capabilities=capabilities), default, "settle")
    graph.add_node("settle", settles, input_schema=reads, **_about(SETTLES, chat))
    for pathway in spec.pathways.values():
        if pathway.id in spec.reachable:
            node = node_of(spec, pathway, config, default, capabilities)
            known = {"timeout": whole_timeout(pathway, config), **_about(summary(pathway), chat)}
            graph.add_node(pathway.id, node, input_schema=reads, **known)
            graph.add_edge(pathway.id, "settle")
    graph.add_edge(START, "understand")
    awaited = awaiting(spec)
    graph.add_conditional_edges("understand", NextStep("route", awaited), [*awaited, "settle"])
    last = _checking(graph, spec, capabilities, default, reads, chat=chat)
    if arrivals := arriving(spec):
        graph.add_conditional_edges(
            "settle", NextStep("advance", arrivals, last), [*arrivals, last]
        )
    else:
        graph.add_edge("settle", last)
    return graph


def _schemas(*, chat: bool) -> tuple[Any, Any, Any]:
    """Return the schemas of the state and of its input, and that of what nodes read, if it differs.

    A session has none of the state that programs of LangGraph use.
    """
    if not chat:
        return GraphState, SessionInput, None
    from journeygraph.graphs.chat_state import ChatInput, ChatState, StepState  # noqa: PLC0415

    return ChatState, ChatInput, StepState


def _kept(spec: JourneySpec, checkpointer: Any, begin: Step) -> Step:
    """Return the first step of a graph without a manager, also for use as a node."""
    from journeygraph.graphs.standalone import check_kept  # noqa: PLC0415 - no graph of a session

    async def understand_kept(state: Any, services: Services) -> Update:
        check_kept(spec.name, checkpointer, get_config())
        return await begin(state, services)

    return understand_kept


def _about(text: str, chat: bool) -> dict[str, Any]:
    """Return the description of a node, which Studio and tracers show; only for a chat graph.

    LangGraph writes it into Mermaid too, where brackets, quotes and semicolons end a node.
    """
    if not chat:
        return {}
    plain = re.sub(r"[^\w.,:'/-]+", " ", text.replace(";", ",")).replace(" .", ".")
    return {"metadata": {"about": plain.strip()}}


def summary(pathway: PathwaySpec) -> str:
    """Return what a pathway is for, in a line: its purpose, or else its fields and agents."""
    if purpose := " ".join(pathway.purpose.split("\n\n")[0].split()):
        return purpose
    if pathway.form:
        return f"Collects {', '.join(field.name for field in pathway.form.fields)}."
    kind = "A detour. " if pathway.returns else ""
    return f"{kind}Agents: {', '.join(pathway.agents) or 'none'}."


def _checking(
    graph: Any,
    spec: JourneySpec,
    capabilities: Capabilities,
    default: Services | None,
    reads: Any,
    *,
    chat: bool,
) -> str:
    """Add the check of replies if there is one; return the node after settle."""
    checks = checks_of(spec)
    if checks is None:
        return END
    # Half a second to import; here, and not in the first turn, where it would hold up all others.
    checking = part("checks")
    checking.load(checks.pii)
    checks_reply = bind(partial(checking.validate, capabilities=capabilities), default, "check")
    graph.add_node("check_reply", checks_reply, input_schema=reads, **_about(CHECKS, chat))
    graph.add_edge("check_reply", END)
    return "check_reply"


def arriving(spec: JourneySpec) -> list[str]:
    """Return the pathways that can run in the turn that enters them."""
    nexts = {p.next for p in spec.pathways.values() if p.id in spec.reachable and p.next}
    if spec.uses_dialogue:
        # A task that waited begins when another one ends, and a question is asked again.
        nexts |= {id_ for id_ in spec.reachable if id_ != spec.reception}
        return [id_ for id_ in spec.pathways if id_ in nexts]
    return [id_ for id_, p in spec.pathways.items() if id_ in nexts and p.runs_on_arrival]


def awaiting(spec: JourneySpec) -> list[str]:
    """Return the pathways that a message can run: all that do not only run on arrival."""
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
        **options: For LangGraph's own `compile`: checkpointer, store, cache, name, ...
    """
    from journeygraph.graphs.standalone import AsyncGraph, JourneyNode, compiled_with  # noqa: PLC0415

    checkpointer = options.get("checkpointer")
    models = opened(model, config, spec)
    services = services_of(spec, config, agents, models, tools=tools or {})
    services = replace(services, listening=False)  # but to runs whose stream somebody reads
    graph = build(spec, config, services, chat=True, checkpointer=checkpointer)
    kind = JourneyNode if checkpointer is True else AsyncGraph
    return compiled_with(graph, spec.id, options, kind)
