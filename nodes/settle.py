"""Settle what a pathway gave: outputs checked and kept, the way on decided, the turn recorded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from journeys import NEVER, JourneySpec, PathwayExecutionError, PathwaySpec
from journeys.spec import MAX_HOPS
from nodes.call_tools import saved
from nodes.checking.scope import is_own_voice
from nodes.closing import closed
from nodes.consent import waiting
from nodes.context import Context, Op, checked, how_to_merge
from nodes.moves import note, pruned
from nodes.parts import finished
from nodes.patterns import conclude
from nodes.patterns.reports import flags_of, leaves
from nodes.patterns.work import Conclusion, Work
from nodes.plain import copied, words_of
from nodes.services import Services
from nodes.state import PARTING, Output, Position, SessionState, Turn, Update


async def settle(state: SessionState, services: Services) -> Update:
    """Keep what the pathway gave, and decide whether the turn goes on or ends.

    Raises:
        ContextMergeError: An output does not fit its merge strategy.
        ContextSizeExceededError: The context would be too large.
        PathwayExecutionError: The pathway's pipeline came to nothing.
    """
    turn = state["turn"]
    if turn["run"] is None:
        return _ended(services, turn)
    pathway = services.spec.pathways[turn["run"]]
    given: Mapping[str, Any] = state
    results: list[Output] = given.get("results") or []
    progress: Mapping[str, Any] = given.get("progress") or {}
    ended = _concluded(services, pathway, results, progress)
    ops = [["replace", name, value, pathway.id] for name, value in saved(pathway, progress)]
    ops += _accumulated(services.spec, pathway, ended.values)
    config = services.config
    context, pruning = checked(
        state["context"], ops, config.max_context_size_bytes, config.prunable
    )
    ops += [[*op, pathway.id] for op in pruning]
    heard = _heard(turn, results, pathway, ended, ops)
    failed = [
        _failure(state["position"], result) for result in leaves(results) if "error" in result
    ]
    heard["audit"] = [*heard["audit"], *failed, *pruned(state["position"], pruning)]
    if is_own_voice(services.spec, services.texts, heard):
        heard["worded"] = [*range(len(heard["replies"]))]
    _tell(services, turn, heard, results)
    position = waiting(state["position"], leaves(results))
    position, heard = _onward(services.spec, pathway, position, context, heard)
    position, heard, forgotten = finished(services.spec, pathway, position, context, heard)
    ops += forgotten
    if heard["run"]:
        services.emit({"type": "pathway", "pathway": heard["run"]})
    update: Update = {"context": ops, "position": position, "turn": heard}
    return update if heard["run"] else {**update, **_ended(services, heard)}


def _concluded(
    services: Services,
    pathway: PathwaySpec,
    results: list[Output],
    progress: Mapping[str, Any],
) -> Conclusion:
    """Return what the pathway's pipeline came to."""
    if pathway.pipeline is None:
        return Conclusion([result["values"] for result in results])
    ended = conclude(Work(pathway.pipeline, results, progress, services.registered))
    if ended.blame is not None:
        raise PathwayExecutionError(pathway.id, ended.blame, ended.error)
    return ended


def _failure(position: Position, result: Output) -> dict[str, Any]:
    return note("agent_failed", position, agent=result["agent"], reason=result["error"]["message"])


def _accumulated(
    spec: JourneySpec, pathway: PathwaySpec, values: Sequence[Mapping[str, Any]]
) -> list[Op]:
    journey = spec.part_of(pathway.id)
    names = set(pathway.accumulate) | journey.kept
    return [
        [how_to_merge(journey.strategies.get(name)), name, value, pathway.id]
        for given in values
        for name, value in given.items()
        if name in names
    ]


def _heard(
    turn: Turn,
    results: list[Output],
    pathway: PathwaySpec,
    ended: Conclusion,
    ops: list[Op],
) -> Turn:
    """Write the hop into the record of the turn."""
    said = [str(given["response"]) for given in ended.values if given.get("response")]
    flags = [*flags_of(results), *ended.report.get("flags", ())]
    if not said:
        flags.append(f"no_reply:{pathway.id}")
    return {
        **turn,
        "ran": [*turn["ran"], pathway.id],
        "replies": [*turn["replies"], PARTING.join(said)] if said else turn["replies"],
        "ops": [*turn["ops"], *ops],
        "flags": list(dict.fromkeys([*turn["flags"], *flags])),
    }


def _tell(services: Services, turn: Turn, heard: Turn, results: list[Output]) -> None:
    """Let listeners hear the reply of this hop, unless they heard it while it was made."""
    news = heard["replies"][len(turn["replies"]) :]
    if news and not any(result["streamed"] for result in results):
        parting = PARTING if turn["replies"] else ""
        own = is_own_voice(services.spec, services.texts, heard)
        services.say(parting + news[0], None if own else heard["ran"][-1])


def _onward(
    spec: JourneySpec, pathway: PathwaySpec, position: Position, context: Context, turn: Turn
) -> tuple[Position, Turn]:
    """Stay, return, go on, or end."""
    audit = list(turn["audit"])
    complete = _is_complete(pathway, context, turn["entered"], position, audit)
    turn = {**turn, "run": None, "audit": audit}
    if not complete:
        return position, turn
    if pathway.is_detour:
        return {**position, "returning": True}, turn
    if pathway.next is None:
        return {**position, "status": "complete"}, turn
    arrived: Position = {**position, "pathway": pathway.next}
    turn = {**turn, "moved": turn["moved"] or pathway.next != pathway.id}
    if not spec.pathways[pathway.next].runs_on_arrival:
        return arrived, turn
    if len(turn["ran"]) >= MAX_HOPS:
        reason = f"{MAX_HOPS} pathways ran in one turn; '{pathway.next}' waits for the user"
        audit.append(note("hop_limit", position, to=pathway.next, reason=reason))
        return arrived, turn
    return arrived, {**turn, "run": pathway.next, "entered": "arrival"}


def _is_complete(
    pathway: PathwaySpec,
    context: Mapping[str, Any],
    entered: str,
    position: Position,
    audit: list[dict[str, Any]],
) -> bool:
    """Judge a pathway after its run."""
    criterion = pathway.complete_when
    if criterion is None:
        return pathway.is_detour or entered not in ("transition", "return")
    if criterion is NEVER:
        return False
    if isinstance(criterion, tuple):
        return all(context.get(name) is not None for name in criterion)
    try:
        return bool(criterion(copied(context)))
    except Exception as error:
        reason = f"__complete_when__ raised {words_of(error)}"
        audit.append(note("condition_raised", position, reason=reason))
        return False


def _ended(services: Services, turn: Turn) -> Update:
    """Close the turn, unless its reply is checked first."""
    return {"turn": turn} if services.checks else closed(services, turn)
