"""Agents and pathways as nodes of a graph, while a turn runs."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import nullcontext
from functools import partial
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.errors import (
    NodeTimeoutError,
)
from langgraph.runtime import Runtime

from journeygraph.graphs.pipelines.failures import (
    InnerFailed,
    failure_at,
    is_no_failure,
    is_worth_another_try,
    reason_of,
    result_of_failure,
    take_note_of_asker,
)
from journeygraph.graphs.steps import (
    LEVELS,
    REPLY,
    SAVER,
    Graph,
    callbacks_here,
    opaque,
    passes_on,
    reply_in,
    services_in,
    showing_here,
)
from journeygraph.graphs.storage.checkpoints import commit_of
from journeygraph.journeys import PathwayExecutionError, PatternPipeline
from journeygraph.nodes.payloads import base_of, given_in_turn, payload_of
from journeygraph.nodes.pipelines.rules import conclude_as_one
from journeygraph.nodes.pipelines.work import Member, Work, ended_as, own_flags, within
from journeygraph.nodes.services import Services
from journeygraph.nodes.state.form_state import FORM, is_collected
from journeygraph.nodes.state.session import (
    AgentError,
    AgentOutput,
    Update,
)
from journeygraph.nodes.telemetry import PipelineSpan
from journeygraph.nodes.telemetry.span import Span
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

_STREAM = "__pregel_stream"
"""Key of the stream that a graph passes to inner graphs, if their events are wanted."""
MOST_STEPS = 10_000
"""Maximum supersteps of a pipeline; its own limits end it much earlier."""
_UNLIMITED = 10_000
AgentNode = Callable[[Any, Runtime[Any], RunnableConfig], Coroutine[Any, Any, Update]]
First = Callable[[Any, Runtime[Any], RunnableConfig], Awaitable[Update]]
"""Runs the first step of a pathway without a run of the subgraph: its form, or its only agent."""


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


def at_most(pipeline: PatternPipeline, *, within: bool = False) -> RunnableConfig:
    """Return LangGraph's configuration of a pipeline's run: step limit and concurrency.

    Args:
        within: True if it runs within another run, to override the limit of that run.
    """
    workers = pipeline.settings.get("max_workers", _UNLIMITED)
    if within or workers < len(pipeline.agents):
        return {"recursion_limit": MOST_STEPS, "max_concurrency": workers}
    return {"recursion_limit": MOST_STEPS}


def timed(node: AgentNode, name: str, seconds: float) -> AgentNode:
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


def agent_node(
    member: Member, after: After | None, default: Services | None, tries: int, inner: Graph | None
) -> Any:
    """Return the node of an agent, or of an inner pipeline with the graph `inner`."""
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
