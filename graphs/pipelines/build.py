"""Build the graph of a pipeline's pattern, with one error type for all failures of agents.

Pipelines within a pipeline are graphs within its graph.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.errors import (
    GraphDrained,
    GraphInterrupt,
    NodeCancelledError,
    NodeTimeoutError,
    is_invalid_resume,
)
from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime
from langgraph.types import Interrupt, RetryPolicy

from journeygraph.graphs.pipelines.stage import PatternGraph, Stage, build
from journeygraph.graphs.steps import (
    REPLY,
    Graph,
    callbacks_here,
    opaque,
    reply_in,
    services_in,
    showing_here,
)
from journeygraph.journeys import ModelError, PathwayExecutionError, PathwaySpec, PatternPipeline
from journeygraph.nodes.agents.adapters import PipelineFailed
from journeygraph.nodes.breaker import BreakerOpenError
from journeygraph.nodes.json_data import words_of
from journeygraph.nodes.payloads import base_of, given_in_turn, payload_of
from journeygraph.nodes.pipelines.rules import conclude_as_one
from journeygraph.nodes.pipelines.work import Member, Work, ended_as, own_flags, within
from journeygraph.nodes.services import Services
from journeygraph.nodes.state.session import (
    AgentError,
    AgentOutput,
    InnerState,
    OpenQuestion,
    Update,
)
from journeygraph.nodes.telemetry import PipelineSpan
from journeygraph.nodes.turn.run_agent import (
    SAID,
    After,
    brief_of,
    guarded,
    noted,
    result_of,
    run_agent,
    said_before,
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


LONGEST_PAUSE = 128.0
"""Maximum seconds between two tries."""
MOST_STEPS = 10_000
"""Maximum supersteps of a pipeline; its own limits end it much earlier."""
_UNLIMITED = 10_000
AgentNode = Callable[[Any, Runtime[Any], RunnableConfig], Coroutine[Any, Any, Update]]


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
        return _node(member, after, plan.default, retries.max_attempts if retries else 1, graph)

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
    node = _node(member, None, plan.default, 1, None)
    forgives = pipeline.error_handling == "graceful"  # then it is timed where it is forgiven
    return node if forgives or timeout is None else _timed(node, member.name, timeout)


def _timed(node: AgentNode, name: str, seconds: float) -> AgentNode:
    """Return a node with a timeout like that of a LangGraph node.

    It runs in its own task, so that the turn continues without an agent that ignores a
    cancellation.
    """

    async def timed(state: Any, runtime: Runtime[Any], config: RunnableConfig) -> Update:
        loop = asyncio.get_running_loop()
        task = loop.create_task(node(state, runtime, config))
        over: asyncio.Future[None] = loop.create_future()
        task.add_done_callback(lambda _: _end(over))
        timer = loop.call_later(seconds, _end, over)
        try:
            await over
        finally:
            timer.cancel()
            if not task.done():  # nobody waits for its end
                task.cancel()
                task.add_done_callback(lambda left: left.cancelled() or left.exception())
        if task.done():
            return task.result()
        raise NodeTimeoutError(name, seconds, kind="run", run_timeout=seconds)

    return timed


def _end(over: asyncio.Future[None]) -> None:
    if not over.done():
        over.set_result(None)


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


def at_most(pipeline: PatternPipeline, *, within: bool = False) -> RunnableConfig:
    """Return LangGraph's configuration of a pipeline's run: step limit and concurrency.

    Args:
        within: True if it runs within another run, to override the limit of that run.
    """
    workers = pipeline.settings.get("max_workers", _UNLIMITED)
    if within or workers < len(pipeline.agents):
        return {"recursion_limit": MOST_STEPS, "max_concurrency": workers}
    return {"recursion_limit": MOST_STEPS}


def _inner_graph(member: Member, pipeline: PatternPipeline, plan: Plan) -> Graph:
    graph: PatternGraph = StateGraph(InnerState)
    # Its members are no tries of the outer one's, which does not know how long they may take.
    plan = replace(plan, timeout=None, retries=0)
    build_pattern(graph, pipeline, plan, prefix=f"{member.path}/", has_word=member.has_word)
    return graph.compile(name=member.name)


def _node(
    member: Member, after: After | None, default: Services | None, tries: int, inner: Graph | None
) -> Any:
    forgives = member.pipeline.error_handling == "graceful"

    async def node(state: Any, runtime: Runtime[Any], config: RunnableConfig) -> Update:
        around = callbacks_here() if inner is not None else {}
        showing = showing_here(shows=default is not None)
        if showing is None:
            services = services_in(runtime, config, state, default)
            return await tried(state, runtime, services, around)
        async with showing as show:
            say = None if default is None else partial(show, reply_in(state))
            services = services_in(runtime, config, state, default, say)
            return await tried(state, runtime, services, around)

    async def tried(
        state: Any, runtime: Runtime[Any], services: Services, around: RunnableConfig
    ) -> Update:
        running, task = services.running, task_of(runtime)
        _note_retry(services, member, runtime, tries)
        timing = asyncio.timeout(member.timeout) if forgives and member.timeout else _UNTIMED
        calls = running.calls.of(task)
        try:
            with running.at(member):
                async with timing:
                    # Handed over here: drawings look for graphs in what a node itself refers to.
                    if inner is not None:
                        return await _inner_worked(state, services, member, after, inner, around)
                    update = await run_agent(state, services, member, after, calls)
                    running.calls.forget(task)
                    return update
        except BaseException as error:
            if is_no_failure(error):
                running.calls.keep(task, calls, error)
                take_note_of_asker(services, member, error)
                raise
            overdue = _expired(timing)
            failure = failure_at(services, member, error, overdue=overdue)
            _note_error(services, runtime, failure, overdue=overdue)
            # Forgiven here, and not by LangGraph's error handler: that is a node which nothing
            # leads to, and drawings do not open a graph that has one.
            if forgives and _is_final(failure, runtime, tries):
                failed = result_of_failure(state, services, member, failure, overdue=overdue)
                return await noted(state, services, member, failed, after)
            raise failure from failure.__cause__

    return opaque(node) if inner is None else node


async def _inner_worked(
    state: Any,
    services: Services,
    member: Member,
    after: After | None,
    inner: Graph,
    around: RunnableConfig,
) -> Update:
    brief = brief_of(state, member, services)
    if brief is None:
        return {}
    told = given_in_turn(state, member.pathway.id)
    payload, _ = payload_of(None, base_of(state, services) | told, brief)
    # In a journey, with the turn: what the user was asked about is in it.
    turn = {"turn": state["turn"]} if "turn" in state else {}
    start: Any = {"inputs": {**payload, **told}, **turn}
    progress = state.get("progress") or {}
    if REPLY in progress:
        start["progress"] = {REPLY: progress[REPLY]}
    if said := said_before(progress):
        start["progress"] = {**start.get("progress", {}), SAID: said}
    pipeline = member.pipeline.members[member.name].call

    async def ran() -> AgentOutput:
        with PipelineSpan(member.path, pipeline.pattern) as seen:
            run = await inner.ainvoke(start, {**at_most(pipeline, within=True), **around})
            given = _given_by(member, pipeline, run, services)
            output = result_of(state, member, **given, **brief.notes)
            seen.answered(ended_as(output))
        if "error" in output:
            raise InnerFailed(member, output)
        return output

    output = await guarded(ran, member, asyncio.get_running_loop().time())
    return await noted(state, services, member, output, after)


_UNTIMED = nullcontext()


def _expired(timing: Any) -> bool:
    return timing is not _UNTIMED and timing.expired()


def _is_final(failure: PathwayExecutionError, runtime: Runtime[Any], tries: int) -> bool:
    return _attempt(runtime) >= tries or not is_worth_another_try(failure)


def _attempt(runtime: Runtime[Any]) -> int:
    return runtime.execution_info.node_attempt if runtime.execution_info else 1


def _note_retry(services: Services, member: Member, runtime: Runtime[Any], tries: int) -> None:
    number = _attempt(runtime) if tries > 1 else 1
    if services.running.journal is None or number < 2:
        return
    # LangGraph itself ends a try that takes too long, and tells the agent nothing but to stop.
    kind = services.running.journal.errors.pop(task_of(runtime), "timeout")
    reason = f"try {number} of {tries}, after {kind}"
    services.running.journal.add("retried", member.pathway.id, member.path, reason)


def _note_error(
    services: Services, runtime: Runtime[Any], failure: PathwayExecutionError, *, overdue: bool
) -> None:
    """Record the error kind of a try, for the report of the next one."""
    if services.running.journal is not None:
        kind = reason_of(failure, overdue=overdue)["kind"]
        services.running.journal.errors[task_of(runtime)] = kind


def task_of(runtime: Runtime[Any]) -> str:
    """Return the id of the task that a run of a node is; empty if there is none."""
    return runtime.execution_info.task_id if runtime.execution_info else ""


def _given_by(
    member: Member, pipeline: PatternPipeline, run: Any, services: Services
) -> dict[str, Any]:
    results = run["results"]
    work = Work(pipeline, results, run.get("progress") or {}, services.registered)
    ended = conclude_as_one(work)
    parts = within(member.name, results)
    given = {
        "values": ended.values[0],
        "flags": [*own_flags(results), *ended.report.get("flags", ())],
        "streamed": any(result["streamed"] for result in results),
        "parts": parts,
    }
    if ended.blame is None:
        return given
    return {**given, "error": AgentError(kind="pipeline", message=f"{ended.blame}: {ended.error}")}
