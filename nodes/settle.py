"""Settle what a pathway gave: outputs checked and kept, the way on decided, the turn recorded."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from journeys import NEVER, JourneySpec, PathwaySpec
from journeys.spec import MAX_HOPS
from nodes.context import Context, Op, checked, how_to_merge
from nodes.moves import note, pruned
from nodes.plain import copied, words_of
from nodes.services import Services
from nodes.state import PARTING, Output, Position, SessionState, Turn, Update


async def settle(state: SessionState, services: Services) -> Update:
    """Keep what the pathway gave, and decide whether the turn goes on or ends.

    Raises:
        ContextMergeError: An output does not fit its merge strategy.
        ContextSizeExceededError: The context would be too large.
    """
    turn = state["turn"]
    if turn["run"] is None:
        return _ended(services, turn)
    pathway = services.spec.pathways[turn["run"]]
    outputs: list[Output] = dict(state).get("outputs") or []  # type: ignore[assignment]
    values = _values(pathway, outputs)
    ops = _accumulated(services.spec, pathway, values)
    config = services.config
    context, pruning = checked(
        state["context"], ops, config.max_context_size_bytes, config.prunable
    )
    ops += [[*op, pathway.id] for op in pruning]
    heard = _heard(turn, outputs, pathway, values, ops)
    heard["audit"] = [*heard["audit"], *pruned(state["position"], pruning)]
    _tell(services, turn, heard, outputs)
    position, heard = _onward(services.spec, pathway, state["position"], context, heard)
    if heard["run"]:
        services.emit({"type": "pathway", "pathway": heard["run"]})
    update: Update = {"context": ops, "position": position, "turn": heard}
    return update if heard["run"] else {**update, **_ended(services, heard)}


def _values(pathway: PathwaySpec, outputs: list[Output]) -> list[dict[str, Any]]:
    """Return the agents' values: merged where each saw those before, else one by one, in order."""
    listed = [output["values"] for output in sorted(outputs, key=lambda output: output["place"])]
    if pathway.pipeline == "parallel":
        return listed
    merged: dict[str, Any] = {}
    for values in listed:
        merged.update(values)
    return [merged] if merged else []


def _accumulated(spec: JourneySpec, pathway: PathwaySpec, values: list[dict[str, Any]]) -> list[Op]:
    names = set(pathway.accumulate) | spec.kept
    return [
        [how_to_merge(spec.strategies.get(name)), name, value, pathway.id]
        for given in values
        for name, value in given.items()
        if name in names
    ]


def _heard(
    turn: Turn,
    outputs: list[Output],
    pathway: PathwaySpec,
    values: list[dict[str, Any]],
    ops: list[Op],
) -> Turn:
    """Write the hop into the record of the turn."""
    said = [str(given["response"]) for given in values if given.get("response")]
    flags = [flag for output in outputs for flag in output["flags"]]
    if not said:
        flags.append(f"no_reply:{pathway.id}")
    return {
        **turn,
        "ran": [*turn["ran"], pathway.id],
        "replies": [*turn["replies"], PARTING.join(said)] if said else turn["replies"],
        "ops": [*turn["ops"], *ops],
        "flags": list(dict.fromkeys([*turn["flags"], *flags])),
    }


def _tell(services: Services, turn: Turn, heard: Turn, outputs: list[Output]) -> None:
    """Let listeners hear the reply of this hop, unless they heard it while it was made."""
    news = heard["replies"][len(turn["replies"]) :]
    if news and not any(output["streamed"] for output in outputs):
        parting = PARTING if turn["replies"] else ""
        services.emit({"type": "token", "text": parting + news[0]})


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
    """Close the record; the replies of all hops become one message."""
    reply = PARTING.join(turn["replies"])
    # With an id, a graph that holds this one as a node knows the message again.
    message = {"role": "assistant", "content": reply, "id": f"reply-{turn['number']}"}
    messages = [message] if reply else []
    usage = services.usage.counted() if services.usage else None
    ended: Turn = {**turn, "run": None, "usage": usage, "done": True}
    return {"turn": ended, "messages": messages}
