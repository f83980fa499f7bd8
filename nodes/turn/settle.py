"""Settle what a pathway gave: outputs checked and kept, the way on decided, the turn recorded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from journeygraph.journeys import NEVER, ConversationPhase, PathwayExecutionError, PathwaySpec
from journeygraph.journeys.spec.spec import MAX_HOPS
from journeygraph.nodes.authored import FAILURES
from journeygraph.nodes.capability import Capabilities
from journeygraph.nodes.draft import Hop
from journeygraph.nodes.json_data import copied, words_of
from journeygraph.nodes.pipelines.rules import rules_of
from journeygraph.nodes.pipelines.work import Conclusion, Work, flags_of, leaves
from journeygraph.nodes.services import Services
from journeygraph.nodes.state.confirmation import waiting
from journeygraph.nodes.state.context import Op, checked, how_to_merge
from journeygraph.nodes.state.messages import OPERATOR, TAKEN, Message, mark
from journeygraph.nodes.state.phases import closing_facts, next_phase
from journeygraph.nodes.state.session import PARTING, Output, Position, SessionState, Turn, Update
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
    hop = _open_hop(state, services)
    for one in capabilities:
        one.gather(hop)
    _keep(hop, _concluded(hop))
    for one in capabilities:
        one.record(hop)
    if not hop.is_aside:
        _advance(hop)
    for one in capabilities:
        one.lead(hop)
    _tell(hop)
    if hop.turn["run"]:
        services.emit({"type": "pathway", "pathway": hop.turn["run"]})
        return hop.update()
    return {**hop.update(), **await _ended(hop.after(), services, hop.turn, capabilities)}


def _open_hop(state: SessionState, services: Services) -> Hop:
    given: Mapping[str, Any] = state
    turn: Turn = {**state["turn"], "audit": [*state["turn"]["audit"]]}
    assert turn["run"] is not None
    return Hop(
        services,
        state,
        services.spec.pathways[turn["run"]],
        given.get("results") or [],
        given.get("progress") or {},
        turn,
        state["position"],
        state["context"],
    )


def _concluded(hop: Hop) -> Conclusion:
    """Return the result of the pathway's pipeline.

    Raises:
        PathwayExecutionError: An agent failed in a way that the pattern cannot do without.
    """
    pathway, results = hop.pathway, hop.results
    if pathway.pipeline is None or hop.is_idle:
        return Conclusion([result["values"] for result in results])
    work = Work(pathway.pipeline, results, hop.progress, hop.services.registered)
    ended = rules_of(pathway.pipeline.pattern).conclude(work)
    if ended.blame is not None:
        raise PathwayExecutionError(pathway.id, ended.blame, ended.error)
    return ended


def _keep(hop: Hop, ended: Conclusion) -> None:
    """Write into the turn and the context what the pathway gave."""
    pathway, services, turn = hop.pathway, hop.services, hop.turn
    config = services.config
    hop.ops += _accumulated(hop, ended.values)
    given = list(hop.ops)
    limit, sized = config.max_context_size_bytes, services.running.sized
    context, pruning = checked(hop.context, hop.ops, limit, config.prunable, sized)
    hop.context = context
    hop.ops += [[*op, pathway.id] for op in pruning]
    said = [str(given["response"]) for given in ended.values if given.get("response")]
    quiet = pathway.form is not None or len(turn["replies"]) > len(hop.state["turn"]["replies"])
    outputs = list(leaves(hop.results)) if hop.results else []
    wrong = [output for output in outputs if "error" in output]
    own = flags_of(hop.results) if wrong else [flag for one in hop.results for flag in one["flags"]]
    flags = [*turn["flags"], *own, *ended.report.get("flags", ())]
    if not said and not quiet:
        flags.append(f"no_reply:{pathway.id}")
    turn["ran"] = [*turn["ran"], pathway.id]
    if said:
        turn["replies"] = [*turn["replies"], PARTING.join(said)]
    if any(result["streamed"] for result in hop.results):
        hop.heard = len(turn["replies"])
    turn["ops"] = [*turn["ops"], *hop.ops]
    turn["flags"] = list(dict.fromkeys(flags))
    done = services.running.journal.new_events() if services.running.journal else []
    failed = [_failure(hop.position, output) for output in wrong]
    turn["audit"] = [*turn["audit"], *done, *failed, *pruned(hop.position, pruning)]
    if pathway.anew or "visits" in hop.position:
        names = [name for name in written_names(given) if name not in hop.known]
        changes = turn["entered"] == "transition"
        hop.position = wrote(services.spec, hop.position, pathway, names, changes=changes)
    if any("pending" in output for output in outputs):
        hop.position = waiting(hop.position, outputs, turn["at"])


def _failure(position: Position, result: Output) -> dict[str, Any]:
    return note("agent_failed", position, agent=result["agent"], reason=result["error"]["message"])


def _accumulated(hop: Hop, values: Sequence[Mapping[str, Any]]) -> list[Op]:
    journey = hop.services.spec.part_of(hop.pathway.id)
    names = set(hop.pathway.accumulate) | journey.kept
    return [
        [how_to_merge(journey.strategies.get(name)), name, value, hop.pathway.id]
        for given in values
        for name, value in given.items()
        if name in names
    ]


def _advance(hop: Hop) -> None:
    """Stay, return, continue, or end; `run` of the turn is the pathway that runs next, or None."""
    hop.turn["run"] = None
    if not _is_complete(hop) or hop.is_idle:
        return
    pathway, spec = hop.pathway, hop.services.spec
    hop.is_complete = True
    if pathway.anew:
        hop.position = completed(hop.position, pathway)
    if pathway.is_detour:
        hop.note("completed", reason="it returns with the next message")
        hop.position = {**hop.position, "returning": True}
    elif pathway.next is None:
        hop.note("completed", reason="the journey ends here")
        hop.position = {**hop.position, "status": "complete"}
    else:
        hop.note("completed")
        hop.note("advanced", to=pathway.next)
        hop.turn["moved"] = hop.turn["moved"] or pathway.next != pathway.id
        _arrive(hop, spec.pathways[pathway.next])


def _arrive(hop: Hop, target: PathwaySpec) -> None:
    """Stand in the pathway that follows; it runs at once where it does so on arrival."""
    before = hop.position
    hop.position = entered({**before, "pathway": target.id}, target.id)
    if not target.runs_on_arrival:
        return
    if len(hop.turn["ran"]) >= MAX_HOPS:
        reason = f"{MAX_HOPS} pathways ran in one turn; '{target.id}' waits for the user"
        hop.turn["audit"].append(note("hop_limit", before, to=target.id, reason=reason))
        return
    hop.turn["audit"].append(note("arrived", before, to=target.id))
    hop.turn["run"], hop.turn["entered"] = target.id, "arrival"


def _is_complete(hop: Hop) -> bool:
    """Judge a pathway after its run."""
    pathway, context = hop.pathway, hop.context
    criterion = pathway.complete_when
    if criterion is None:
        asks = pathway.form is not None
        return asks or pathway.is_detour or hop.turn["entered"] not in ("transition", "return")
    if criterion is NEVER:
        return False
    if isinstance(criterion, tuple):
        visit = hop.position.get("visits", {}).get(pathway.id)
        old = visit["old"] if visit else ()
        return all(context.get(n) is not None and n not in old for n in pathway.awaited)
    try:
        return bool(criterion(copied(context)))
    except FAILURES as error:
        part_raised("condition", "__complete_when__", error)
        reason = f"__complete_when__ raised {words_of(error)}"
        hop.note("condition_raised", reason=reason)
        return False


def _tell(hop: Hop) -> None:
    """Send the reply of this hop to listeners, unless it was streamed."""
    before, turn = max(len(hop.state["turn"]["replies"]), hop.heard), hop.turn
    worded = turn.get("worded", [])
    for place, reply in enumerate(turn["replies"][before:], before):
        parting = PARTING if place else ""
        hop.services.say(parting + reply, None if place in worded else turn["ran"][-1])


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
    """Close the record; the replies of all hops become one message.

    Args:
        services: Services of the turn.
        state: The state as the turn leaves it.
        turn: Its record.
        capabilities: The capabilities of the journey.

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
    """Return the messages of a turn, with marks where a person takes over."""
    reply = PARTING.join(turn["replies"])
    said: list[Message] = []
    if reply:
        said.append(Message(role="assistant", content=reply, id=reply_id(turn)))
    if said and turn["kind"] == "operator":
        said[0]["name"] = OPERATOR
    opened = any(change["status"] == "open" for change in turn.get("escalations", ()))
    return [*said, mark(TAKEN, turn)] if opened else said
