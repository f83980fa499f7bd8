"""Settle what a pathway gave: outputs checked and kept, the way on decided, the turn recorded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from journeygraph.journeys import NEVER, ConversationPhase, PathwayExecutionError, PathwaySpec
from journeygraph.journeys.spec.spec import MAX_HOPS
from journeygraph.nodes.authored import FAILURES
from journeygraph.nodes.capability import Capabilities
from journeygraph.nodes.draft import PathwayRun
from journeygraph.nodes.json_data import copied, words_of
from journeygraph.nodes.pipelines.rules import rules_of
from journeygraph.nodes.pipelines.work import Conclusion, Work, flags_of, leaves
from journeygraph.nodes.services import Services
from journeygraph.nodes.state.context import Op, checked, how_to_merge
from journeygraph.nodes.state.messages import OPERATOR, TAKEN, Message, mark
from journeygraph.nodes.state.phases import closing_facts, next_phase
from journeygraph.nodes.state.session import (
    PARTING,
    AgentOutput,
    Position,
    SessionState,
    Turn,
    Update,
)
from journeygraph.nodes.state.stack import completed, entered, note, pruned, written_names, wrote
from journeygraph.nodes.telemetry import part_raised


async def settle(state: SessionState, services: Services, capabilities: Capabilities) -> Update:
    """Store the outputs of the pathway, and decide whether the turn continues or ends.

    Raises:
        ContextMergeError: An output does not fit its merge strategy.
        ContextSizeExceededError: The context would be too large.
        PathwayExecutionError: The pathway's pipeline failed.
    """
    if state["turn"]["run"] is None:
        return await _ended(state, services, state["turn"], capabilities)
    run = _open_run(state, services)
    for one in capabilities:
        one.gather(run)
    _keep(run, _concluded(run))
    for one in capabilities:
        one.record(run)
    if not run.is_aside:
        _advance(run)
    for one in capabilities:
        one.lead(run)
    _tell(run)
    if run.turn["run"]:
        services.emit({"type": "pathway", "pathway": run.turn["run"]})
        return run.update()
    return {**run.update(), **await _ended(run.after(), services, run.turn, capabilities)}


def _open_run(state: SessionState, services: Services) -> PathwayRun:
    given: Mapping[str, Any] = state
    turn: Turn = {**state["turn"], "audit": [*state["turn"]["audit"]]}
    assert turn["run"] is not None
    return PathwayRun(
        services,
        state,
        services.spec.pathways[turn["run"]],
        given.get("results") or [],
        given.get("progress") or {},
        turn,
        state["position"],
        state["context"],
    )


def _concluded(run: PathwayRun) -> Conclusion:
    pathway, results = run.pathway, run.results
    if pathway.pipeline is None or run.is_idle:
        return Conclusion([result["values"] for result in results])
    work = Work(pathway.pipeline, results, run.progress, run.services.registered)
    ended = rules_of(pathway.pipeline.pattern).conclude(work)
    if ended.blame is not None:
        raise PathwayExecutionError(pathway.id, ended.blame, ended.error)
    return ended


def _keep(run: PathwayRun, ended: Conclusion) -> None:
    pathway, services, turn = run.pathway, run.services, run.turn
    config = services.config
    run.ops += _accumulated(run, ended.values)
    given = list(run.ops)
    limit, sized = config.max_context_size_bytes, services.running.sized
    context, pruning = checked(run.context, run.ops, limit, config.prunable, sized)
    run.context = context
    run.ops += [[*op, pathway.id] for op in pruning]
    said = [str(given["response"]) for given in ended.values if given.get("response")]
    quiet = pathway.form is not None or len(turn["replies"]) > len(run.state["turn"]["replies"])
    outputs = list(leaves(run.results)) if run.results else []
    wrong = [output for output in outputs if "error" in output]
    own = flags_of(run.results) if wrong else [flag for one in run.results for flag in one["flags"]]
    flags = [*turn["flags"], *own, *ended.report.get("flags", ())]
    if not said and not quiet:
        flags.append(f"no_reply:{pathway.id}")
    turn["ran"] = [*turn["ran"], pathway.id]
    if said:
        turn["replies"] = [*turn["replies"], PARTING.join(said)]
    if any(result["streamed"] for result in run.results):
        run.heard = len(turn["replies"])
    turn["ops"] = [*turn["ops"], *run.ops]
    turn["flags"] = list(dict.fromkeys(flags))
    done = services.running.journal.new_events() if services.running.journal else []
    failed = [_failure(run.position, output) for output in wrong]
    turn["audit"] = [*turn["audit"], *done, *failed, *pruned(run.position, pruning)]
    if pathway.anew or "visits" in run.position:
        names = [name for name in written_names(given) if name not in run.known]
        changes = turn["entered"] == "transition"
        run.position = wrote(services.spec, run.position, pathway, names, changes=changes)
    if any("pending" in output for output in outputs):
        from journeygraph.nodes.state.confirmation import waiting  # noqa: PLC0415 - few agents ask

        run.position = waiting(run.position, outputs, turn["at"])


def _failure(position: Position, result: AgentOutput) -> dict[str, Any]:
    return note("agent_failed", position, agent=result["agent"], reason=result["error"]["message"])


def _accumulated(run: PathwayRun, values: Sequence[Mapping[str, Any]]) -> list[Op]:
    journey = run.services.spec.part_of(run.pathway.id)
    names = set(run.pathway.accumulate) | journey.kept
    return [
        [how_to_merge(journey.strategies.get(name)), name, value, run.pathway.id]
        for given in values
        for name, value in given.items()
        if name in names
    ]


def _advance(run: PathwayRun) -> None:
    """Stay, return, continue, or end; `run` of the turn is the pathway that runs next, or None."""
    run.turn["run"] = None
    if not _is_complete(run) or run.is_idle:
        return
    pathway, spec = run.pathway, run.services.spec
    run.is_complete = True
    if pathway.anew:
        run.position = completed(run.position, pathway)
    if pathway.is_detour:
        run.note("completed", reason="it returns with the next message")
        run.position = {**run.position, "returning": True}
    elif pathway.next is None:
        run.note("completed", reason="the journey ends here")
        run.position = {**run.position, "status": "complete"}
    else:
        run.note("completed")
        run.note("advanced", to=pathway.next)
        run.turn["moved"] = run.turn["moved"] or pathway.next != pathway.id
        _arrive(run, spec.pathways[pathway.next])


def _arrive(run: PathwayRun, target: PathwaySpec) -> None:
    before = run.position
    run.position = entered({**before, "pathway": target.id}, target.id)
    if not target.runs_on_arrival:
        return
    if len(run.turn["ran"]) >= MAX_HOPS:
        reason = f"{MAX_HOPS} pathways ran in one turn; '{target.id}' waits for the user"
        run.turn["audit"].append(note("hop_limit", before, to=target.id, reason=reason))
        return
    run.turn["audit"].append(note("arrived", before, to=target.id))
    run.turn["run"], run.turn["entered"] = target.id, "arrival"


def _is_complete(run: PathwayRun) -> bool:
    pathway, context = run.pathway, run.context
    criterion = pathway.complete_when
    if criterion is None:
        asks = pathway.form is not None
        return asks or pathway.is_detour or run.turn["entered"] not in ("transition", "return")
    if criterion is NEVER:
        return False
    if isinstance(criterion, tuple):
        visit = run.position.get("visits", {}).get(pathway.id)
        old = visit["old"] if visit else ()
        return all(context.get(n) is not None and n not in old for n in pathway.awaited)
    try:
        return bool(criterion(copied(context)))
    except FAILURES as error:
        part_raised("condition", "__complete_when__", error)
        reason = f"__complete_when__ raised {words_of(error)}"
        run.note("condition_raised", reason=reason)
        return False


def _tell(run: PathwayRun) -> None:
    before, turn = max(len(run.state["turn"]["replies"]), run.heard), run.turn
    worded = turn.get("worded", [])
    for place, reply in enumerate(turn["replies"][before:], before):
        parting = PARTING if place else ""
        run.services.say(parting + reply, None if place in worded else turn["ran"][-1])


async def _ended(
    state: SessionState, services: Services, turn: Turn, capabilities: Capabilities
) -> Update:
    """Close the turn, unless its reply is checked first."""
    for one in capabilities:
        turn = await one.reword(state, services, turn)
    if services.checks:
        return {"turn": turn}
    if services.holds and turn["replies"]:
        services.emit({"type": "token", "text": PARTING.join(turn["replies"])})
    return closed(services, state, turn, capabilities)


def closed(
    services: Services, state: Mapping[str, Any], turn: Turn, capabilities: Capabilities
) -> Update:
    """Close the record; the replies of all runs become one message.

    Raises:
        InvalidPhaseError: The turn would bring the session into a phase that cannot follow.
    """
    position: Position = state["position"]
    for one in capabilities:
        position, turn = one.close(services, {**state, "position": position}, turn)
    phase = ConversationPhase(turn["phase"])
    next_phase(phase, closing_facts(position, state.get("messages", ()), turn))
    usage = services.usage.counted() if services.usage else None
    done: Turn = {**turn, "run": None, "usage": usage, "done": True}
    return {"turn": done, "position": position, "messages": _said(turn)}


def reply_id(turn: Turn) -> str:
    """Return the id of the message that a turn answers with, by which other programs know it."""
    return f"reply-{turn.get('id', turn['number'])}"


def _said(turn: Turn) -> list[Message]:
    reply = PARTING.join(turn["replies"])
    said: list[Message] = []
    if reply:
        said.append(Message(role="assistant", content=reply, id=reply_id(turn)))
    if said and turn["kind"] == "operator":
        said[0]["name"] = OPERATOR
    opened = any(change["status"] == "open" for change in turn.get("escalations", ()))
    return [*said, mark(TAKEN, turn)] if opened else said
