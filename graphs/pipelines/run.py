"""Run a pipeline by itself: once, as a stream, or as a compiled LangGraph graph."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager, suppress
from contextvars import ContextVar
from dataclasses import replace
from typing import Annotated, Any

from langchain_core.messages import AIMessage, AnyMessage
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages
from langgraph.types import Interrupt, Overwrite
from pydantic import Field
from typing_extensions import TypedDict

from journeygraph.graphs.agents.models import opened
from journeygraph.graphs.agents.registry import services_of
from journeygraph.graphs.chat_state import FOR_CHATS
from journeygraph.graphs.pipelines.build import Plan, build_pattern
from journeygraph.graphs.pipelines.failures import asks_of
from journeygraph.graphs.pipelines.running_nodes import at_most
from journeygraph.graphs.pipelines.stage import PatternGraph
from journeygraph.graphs.reply_stream import show_whole
from journeygraph.graphs.standalone import compiled_with
from journeygraph.graphs.steps import (
    INTERRUPT,
    REPLY,
    Graph,
    event_in,
    reply_in,
    serving,
    showing_here,
)
from journeygraph.journeys import (
    Agent,
    ConfigurationError,
    JourneyConfig,
    JourneySpec,
    ModelAgent,
    PathwaySpec,
    PatternPipeline,
    Pipeline,
)
from journeygraph.journeys.pipelines.pattern import MOST_LEVELS
from journeygraph.journeys.spec.spec import frozen
from journeygraph.nodes.journal import Usage
from journeygraph.nodes.llm.models import Models
from journeygraph.nodes.payloads import inputs_of
from journeygraph.nodes.pipelines.report import outcome_of, waiting_of
from journeygraph.nodes.pipelines.rules import conclude_as_one
from journeygraph.nodes.pipelines.work import RESPONSE, Work
from journeygraph.nodes.running import Running
from journeygraph.nodes.services import Services
from journeygraph.nodes.state.messages import Message, said
from journeygraph.nodes.state.session import (
    AgentOutput,
    OpenQuestion,
    PipelineState,
    Update,
    add_notes,
    add_results,
)
from journeygraph.nodes.telemetry import PipelineSpan

_NEW = "__new"
"""Marks the inputs of this run, because a saver also has those of the last run."""


def _as_new(old: dict[str, Any], new: Mapping[str, Any] | None) -> dict[str, Any]:
    return {**(new or {}), _NEW: True}


_Inputs = Annotated[
    dict[str, Any], Field(description="Named inputs, which every agent gets."), _as_new
]
_Messages = Annotated[
    list[AnyMessage],
    Field(
        description="A conversation instead of inputs: the last message is the task, and the reply "
        "is added.",
        json_schema_extra={**FOR_CHATS},
    ),
    add_messages,
]


class PipelineInput(TypedDict, total=False):
    """Input of a compiled pipeline: inputs, or messages, or both."""

    inputs: _Inputs
    messages: _Messages


class CompiledState(TypedDict, total=False):
    """State of a compiled pipeline: its inputs, the results of its agents, and its outputs."""

    inputs: _Inputs
    results: Annotated[
        list[AgentOutput], Field(description="Results of the agents, in their order."), add_results
    ]
    progress: Annotated[
        dict[str, Any],
        Field(description="Notes of the pattern, such as votes or rounds."),
        add_notes,
    ]
    messages: _Messages
    outputs: Annotated[
        dict[str, Any],
        Field(description="Outputs of the pipeline: the reply, and which agents ran or failed."),
    ]


async def begin(state: Any) -> Update:
    """Take the inputs or the messages; drop the state of an earlier run of the thread."""
    turn = (state.get("progress") or {}).get("turn")
    kept = {} if turn is None else {"turn": turn + 1}
    return {
        "inputs": Overwrite(inputs_of(_given(state))),
        "results": Overwrite([]),
        "progress": Overwrite({**kept, REPLY: str(uuid.uuid4())}),
    }


def answered(state: Mapping[str, Any], reply: Any) -> Update:
    """Return the reply as an update of the messages; empty if the run got no messages."""
    if not state.get("messages") or not reply:
        return {}
    return {"messages": [AIMessage(content=str(reply), id=reply_in(state))]}


def _given(state: Mapping[str, Any]) -> dict[str, Any]:
    kept = state.get("inputs") or {}
    inputs = {name: value for name, value in kept.items() if name != _NEW} if _NEW in kept else {}
    talk = said(state.get("messages") or [])
    # The thread of a run that was given inputs alone may end with what was answered before.
    if not talk or "message" in inputs or (inputs and _is_answered(talk)):
        return inputs
    return {**inputs, "message": talk[-1]["content"], "history": talk[:-1]}


def _is_answered(talk: list[Message]) -> bool:
    return talk[-1]["role"] == "assistant"


BEGIN, CONCLUDE = "__begin", "__conclude"
"""Nodes of a compiled pipeline before and after its pattern; no agent can have these names."""
_level: ContextVar[int] = ContextVar("level", default=0)


async def run(pipeline: PatternPipeline, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Run a pipeline once and return its outputs; see `PatternPipeline.run`."""
    given = inputs_of(inputs)
    usage = Usage()
    async with _one_level_deeper(pipeline), _served(pipeline) as services:
        start: Any = {"inputs": given}
        counted = replace(services, usage=usage, running=Running(askers={}))
        with PipelineSpan(pipeline.name, pipeline.pattern) as seen:
            values = await _graph(pipeline).ainvoke(start, serving(counted, at_most(pipeline)))
            asks = asks_of(values.get(INTERRUPT, ()), counted)
            outputs = _told(pipeline, values, usage, asks)
            seen.answered(outputs["pipeline"]["status"])
    return outputs


async def stream(pipeline: Pipeline, inputs: Mapping[str, Any]) -> AsyncIterator[dict[str, Any]]:
    """Run a pipeline once and yield its events, the last of them `outputs`.

    Closing the iterator cancels the run.
    """
    if not isinstance(pipeline, PatternPipeline):
        yield {"type": "outputs", "outputs": await pipeline.run(**inputs)}
        return
    given = inputs_of(inputs)
    values: Mapping[str, Any] = {}
    usage = Usage()
    asked: list[Interrupt] = []
    async with _one_level_deeper(pipeline), _served(pipeline) as services:
        heard = replace(services, usage=usage, listening=True, running=Running(askers={}))
        modes: dict[str, Any] = {"stream_mode": ["custom", "values"], "subgraphs": True}
        events: Any = _graph(pipeline).astream(
            {"inputs": given}, serving(heard, at_most(pipeline)), **modes
        )
        with PipelineSpan(pipeline.name, pipeline.pattern).aside() as seen:
            async with aclosing(events) as listed:
                async for namespace, mode, data in seen.carrying(listed):
                    if event := event_in(mode, data):
                        yield _without_pathway(event)
                    elif mode == "values" and not namespace:
                        values = data
                        asked += data.get(INTERRUPT, ())
            outputs = _told(pipeline, values, usage, asks_of(asked, heard))
            seen.answered(outputs["pipeline"]["status"])
    yield {"type": "outputs", "outputs": outputs}


def compile_pipeline(pipeline: Pipeline, **options: Any) -> Graph:
    """Return a pipeline as a compiled LangGraph graph; see `PatternPipeline.compile`."""
    if not isinstance(pipeline, PatternPipeline):
        pipeline = _as_pattern(pipeline)
    # Models of the environment here: the graph may run in an event loop that is not there yet.
    services = services_of(_spec(pipeline), _config(pipeline), {}, _models(pipeline))
    graph: Any = StateGraph(CompiledState, input_schema=PipelineInput)
    graph.add_node(BEGIN, begin, metadata={"about": "Takes the inputs or the messages."})
    joined = {"about": "Makes the outputs and the reply from the results of the agents."}
    graph.add_node(CONCLUDE, _concluding(pipeline), metadata=joined)
    graph.add_edge(START, BEGIN)
    graph.add_edge(CONCLUDE, END)
    plan = Plan(_pathway(pipeline), default=services)
    build_pattern(graph, pipeline, plan, begin=BEGIN, end=CONCLUDE)
    return compiled_with(graph, pipeline.name, options).with_config(at_most(pipeline))


def _told(
    pipeline: PatternPipeline,
    values: Mapping[str, Any],
    usage: Usage | None = None,
    asks: Sequence[OpenQuestion] = (),
) -> dict[str, Any]:
    work = Work(pipeline, values.get("results") or (), values.get("progress") or {})
    if asks:
        outputs = waiting_of(work, [_without_pathway(ask) for ask in asks])
    else:
        outputs = outcome_of(work, conclude_as_one(work))
    if usage and usage.model_calls:
        outputs["pipeline"]["usage"] = usage.counted()
    return outputs


def _without_pathway(said: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in said.items() if name != "pathway"}


def _as_pattern(pipeline: Pipeline) -> PatternPipeline:
    return Pipeline.sequential([Agent(pipeline)], name=pipeline.name, error_handling="fail-fast")


@asynccontextmanager
async def _one_level_deeper(pipeline: PatternPipeline) -> AsyncIterator[None]:
    """Refuse endless nesting, such as an agent that runs its own pipeline."""
    level = _level.get() + 1
    if level > MOST_LEVELS:
        raise ConfigurationError(
            f"{pipeline!r}: runs of pipelines are nested more than {MOST_LEVELS} deep. "
            "Check that no agent runs its own pipeline."
        )
    token = _level.set(level)
    try:
        yield
    finally:
        with suppress(ValueError):  # a stream may be closed in another task than it began in
            _level.reset(token)


@asynccontextmanager
async def _served(pipeline: PatternPipeline) -> AsyncIterator[Services]:
    models = _models(pipeline) if _asks_models(pipeline) else None
    if models is None:
        yield _without_model(pipeline)
        return
    try:
        yield services_of(_spec(pipeline), _config(pipeline), {}, models)
    finally:
        await models.close()


def _asks_models(pipeline: PatternPipeline) -> bool:
    called = [agent.call for agent in pipeline.members.values()]
    inner = any(isinstance(call, PatternPipeline) and _asks_models(call) for call in called)
    return (
        inner
        or "llm" in pipeline.settings.values()
        or any(isinstance(call, ModelAgent) for call in called)
    )


def _models(pipeline: PatternPipeline) -> Models | None:
    return opened(pipeline.model, _config(pipeline))


def _config(pipeline: PatternPipeline) -> JourneyConfig:
    return pipeline.config or JourneyConfig(persistence="memory://")


def _without_model(pipeline: PatternPipeline) -> Services:
    def make() -> Services:
        return replace(services_of(_spec(pipeline), _config(pipeline), {}), listening=False)

    services: Services = _kept(pipeline, "_services", make)
    return services


def _graph(pipeline: PatternPipeline) -> Graph:
    def make() -> Graph:
        graph: PatternGraph = StateGraph(PipelineState)
        build_pattern(graph, pipeline, Plan(_pathway(pipeline)))
        return graph.compile(name=pipeline.name)

    compiled: Graph = _kept(pipeline, "_graph", make)
    return compiled


def _kept(pipeline: PatternPipeline, name: str, make: Callable[[], Any]) -> Any:
    """Return the cached parts of a pipeline.

    The pipeline itself holds them: they refer to it, and a global table would never release both.
    """
    if name not in vars(pipeline):
        object.__setattr__(pipeline, name, make())
    return vars(pipeline)[name]


def _pathway(pipeline: PatternPipeline) -> PathwaySpec:
    return PathwaySpec(
        pipeline.name, pipeline.name, purpose=pipeline.description, pipeline=pipeline
    )


def _spec(pipeline: PatternPipeline) -> JourneySpec:
    pathway = _pathway(pipeline)
    left = [path for path, agent in pipeline.leaves if agent.call is None]
    if left:
        raise ConfigurationError(
            f"{pipeline!r}: the names {', '.join(left)} are known only in a journey. Give the "
            f"agents "
            "themselves, or use the pipeline in a pathway."
        )
    return JourneySpec(
        id=pipeline.name,
        name=pipeline.name,
        purpose=pipeline.description,
        entry=pathway.id,
        pathways=frozen({pathway.id: pathway}),
        transitions=(),
        strategies=frozen({}),
        kept=frozenset(),
        reachable=frozenset({pathway.id}),
        sensitive=False,
        version="",
    )


def _concluding(pipeline: PatternPipeline) -> Any:
    async def conclude_run(state: Any) -> Update:
        outputs = _told(pipeline, state)
        reply = str(outputs.get(RESPONSE) or "")
        if reply:
            await _shown(state, reply)
        return {"outputs": outputs, **answered(state, reply)}

    return conclude_run


async def _shown(state: Any, reply: str) -> None:
    """Emit a reply that was not streamed, even if no message contains it."""
    showing = showing_here(shows=True)
    if showing is not None and not any(result["streamed"] for result in state["results"]):
        async with showing as show:
            show(reply_in(state), reply)
    await show_whole(reply_in(state), reply)
