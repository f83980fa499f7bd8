"""Moves of a session: onto the stack of paused pathways, along it, and back; visits of pathways."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from journeygraph.journeys import JourneySpec, PathwaySpec, TransitionSpec
from journeygraph.journeys.declarations.behaviors import ReturnToSpecific
from journeygraph.journeys.spec.spec import MOVE, Update
from journeygraph.nodes.authored import FAILURES
from journeygraph.nodes.json_data import copied
from journeygraph.nodes.state.context import Op, apply_ops, names_changed, restoring
from journeygraph.nodes.state.session import Frame, Position, Visit

Entered = Literal["stay", "transition", "return", "arrival"]


@dataclass(frozen=True, slots=True)
class Situation:
    """Input of `steer`: position and stored data of the session."""

    position: Position
    context: Mapping[str, Any] = field(default_factory=dict)
    question: str = ""
    turn: int = 0
    message: str = ""

    def at(self, position: Position) -> Situation:
        """Return the same session in another position."""
        return self if position is self.position else replace(self, position=position)


@dataclass(frozen=True, slots=True)
class Moved:
    """A move that was made, or a depth that was refused."""

    position: Position
    ops: list[Op] = field(default_factory=list)
    audit: list[dict[str, Any]] = field(default_factory=list)
    refused_depth: tuple[int, int] | None = None


def note(kind: str, position: Position, **details: Any) -> dict[str, Any]:
    """Return one audit event, seen from a position."""
    return {"kind": kind, "from": position["pathway"], **details}


def pruned(position: Position, ops: Sequence[Op]) -> list[dict[str, Any]]:
    """Return the audit event of entries that were dropped, if any were."""
    names = ", ".join(names_changed(ops))
    return [note("pruned", position, reason=f"oldest entries dropped: {names}")] if ops else []


def move(spec: JourneySpec, situation: Situation, transition: TransitionSpec, depth: int) -> Moved:
    """Follow a transition. The context update reads the context after what returning undoes."""
    position, target = situation.position, transition.target
    paused = [frame["pathway"] for frame in position["stack"]]
    if target == position["pathway"]:
        status = position["status"] if paused else "active"
        again: Position = {**position, "returning": False, "status": status}
        moved = Moved(come_to(again, spec.pathways[target], transition.updates))
    elif target in paused:
        moved = _reopened(resumed_frame(situation, target))
    elif spec.pathways[target].is_detour:
        moved = _detour(spec, situation, transition, depth)
    else:
        moved = _moved_on(situation, target)
        arrived = come_to(moved.position, spec.pathways[target], transition.updates)
        moved = replace(moved, position=arrived)
    return moved if moved.refused_depth else _updated(spec, situation, transition, moved)


def back(spec: JourneySpec, situation: Situation) -> Moved:
    """Leave a finished detour for where it returns to."""
    position = situation.position
    returns = spec.pathways[position["pathway"]].returns
    paused = [frame["pathway"] for frame in position["stack"]]
    if isinstance(returns, ReturnToSpecific):
        target = returns.target_pathway
        if target in paused:
            return _returned(position, _reopened(resumed_frame(situation, target)))
        frames = position["stack"][-1:]
        moved = _moved_on(situation, target, undo=frames)
        return _returned(position, replace(moved, ops=_undo(situation.context, frames)))
    if not paused:
        return Moved({**position, "returning": False})
    return _returned(position, resumed_frame(situation, paused[-1]))


def _returned(before: Position, moved: Moved) -> Moved:
    event = note("returned", before, to=moved.position["pathway"])
    return replace(moved, audit=[*moved.audit, event])


def _reopened(moved: Moved) -> Moved:
    if moved.position["stack"]:
        return moved
    return replace(moved, position={**moved.position, "status": "active"})


def resumed_frame(situation: Situation, target: str) -> Moved:
    """Resume a paused pathway; the frames above it are left, the last one first."""
    position, stack = situation.position, situation.position["stack"]
    place = next(i for i, frame in enumerate(stack) if frame["pathway"] == target)
    left = [position["pathway"], *(frame["pathway"] for frame in reversed(stack[place + 1 :]))]
    ops = _undo(situation.context, stack[place:])
    arrived: Position = {
        **undone(position, stack[place:]),
        "pathway": target,
        "stack": stack[:place],
        "returning": False,
    }
    return Moved(arrived, ops, _left(left, target))


def _left(detours: list[str], target: str) -> list[dict[str, Any]]:
    return [{"kind": "detour_left", "from": detour, "to": target} for detour in detours]


def _undo(context: Mapping[str, Any], frames: list[Frame]) -> list[Op]:
    images = [frame["before"] for frame in frames if frame["before"] is not None]
    # Left from the top down, so that the lowest image is the last one to count.
    return restoring(context, images[0]) if images else []


def _detour(
    spec: JourneySpec, situation: Situation, transition: TransitionSpec, limit: int
) -> Moved:
    """Pause the present pathway; a finished detour gives its place to the next one."""
    position, stack = situation.position, list(situation.position["stack"])
    ops: list[Op] = []
    audit: list[dict[str, Any]] = []
    frame = Frame(
        pathway=position["pathway"], turn=situation.turn, question=situation.question, before=None
    )
    if position["returning"] and stack:
        frame = stack.pop()
        ops = _undo(situation.context, [frame])
        position = undone(position, [frame])
        audit.append(note("detour_left", position, to=transition.target))
        frame = Frame(**{**frame, "before": None})
        frame.pop("visits", None)
    returns = spec.pathways[transition.target].returns
    own = returns.max_depth if returns else None
    most = limit if own is None else min(limit, own)
    if len(stack) + 1 > most:
        return Moved(position, refused_depth=(len(stack) + 1, most))
    audit.append(note("detour_entered", position, to=transition.target))
    arrived: Position = {
        **position,
        "pathway": transition.target,
        "stack": [*stack, frame],
        "returning": False,
    }
    target = spec.pathways[transition.target]
    return Moved(come_to(arrived, target, transition.updates), ops, audit)


def _moved_on(situation: Situation, target: str, undo: Sequence[Frame] = ()) -> Moved:
    """Go to a pathway that is not paused: the conversation moved on, so the stack is cleared."""
    position = situation.position
    audit = []
    if position["stack"]:
        paused = [frame["pathway"] for frame in position["stack"]]
        audit = _left([position["pathway"], *reversed(paused[1:])], target)
        reason = f"left for good: {', '.join(paused)}"
        audit.append(note("stack_cleared", position, to=target, reason=reason))
    arrived: Position = {
        **undone(position, undo),
        "pathway": target,
        "stack": [],
        "returning": False,
        "status": "active",
    }
    return Moved(arrived, [], audit)


def _updated(
    spec: JourneySpec, situation: Situation, transition: TransitionSpec, moved: Moved
) -> Moved:
    """Add the transition's update, then the image to which a detour without traces returns."""
    context = apply_ops(situation.context, moved.ops)
    updates = _updates(transition, context, situation.message)
    position = overwritten(moved.position, written_names(updates))
    returns = spec.pathways[transition.target].returns
    pushed = any(event["kind"] == "detour_entered" for event in moved.audit)
    if pushed and returns and not returns.preserve_context:
        *below, top = position["stack"]
        visits = position.get("visits", {})
        image: Frame = {**top, "before": apply_ops(context, updates), "visits": visits}
        position = {**position, "stack": [*below, image]}
    return replace(moved, position=position, ops=[*moved.ops, *updates])


def _updates(transition: TransitionSpec, context: Mapping[str, Any], message: str) -> list[Op]:
    """Return the operations of a context update. All sources are read before any is written."""
    ops: list[Op] = []
    for update in transition.updates:
        value = _source(update, context, message)
        if update.how == "clear":
            ops.append(["clear", update.target, None])
        elif value is not None:
            ops.append(["append" if update.how == "append" else "replace", update.target, value])
    return ops


def _source(update: Update, context: Mapping[str, Any], message: str) -> Any:
    """Return the value that an update takes; None if there is none, which changes nothing."""
    if update.function is None:
        return update.argument if update.how == "set" else context.get(update.argument)
    try:
        return update.function(message, copied(dict(context)))
    except FAILURES:  # whatever an author's function raises: what it reads is not known yet
        return None


def at_entry(spec: JourneySpec, position: Position) -> Position:
    """Return a position at the entry, with an empty stack."""
    begun: Position = {
        **position,
        "pathway": spec.entry,
        "stack": [],
        "returning": False,
        "status": "active",
    }
    return entered(begun, spec.entry)


def left(spec: JourneySpec, position: Position, place: str) -> Position:
    """Return a position without what belongs to a journey that is left.

    Its conditions are armed again, and what it asked the user about is not done any more.
    """
    journey = spec.pathways[place].journey
    own = {
        move.id
        for move in spec.transitions
        if move.kind == MOVE and spec.pathways[move.target].journey == journey
    }
    fired = [name for name in position["fired"] if name not in own]
    kept: Position = {**position, "fired": fired}
    kept.pop("activated_at", None)
    kept.pop("pending", None)
    return kept


def entered(position: Position, pathway: str) -> Position:
    """Return a position that newly enters a pathway."""
    visit = position.get("visits", {}).get(pathway)
    if visit is None or not visit["done"]:
        return position
    return _with(position, pathway, Visit(own=visit["own"], old=visit["own"], done=False))


def come_to(position: Position, pathway: PathwaySpec, updates: Iterable[Update]) -> Position:
    """Return a position that a transition has led to a pathway.

    One that takes back a name which completes the pathway opens it again for that name alone; what
    else the pathway wrote stays.
    """
    taken_back = {update.target for update in updates if update.how == "clear"}
    if taken_back.isdisjoint(pathway.awaited):
        return entered(position, pathway.id)
    visit = position.get("visits", {}).get(pathway.id) or _begun()
    return _with(position, pathway.id, Visit(own=visit["own"], old=visit["old"], done=False))


def completed(position: Position, pathway: PathwaySpec) -> Position:
    """Return a position in which a pathway that starts again was complete."""
    visit = position.get("visits", {}).get(pathway.id) or _begun()
    return _with(position, pathway.id, Visit(own=visit["own"], old=visit["old"], done=True))


def wrote(
    spec: JourneySpec,
    position: Position,
    pathway: PathwaySpec,
    names: Sequence[str],
    *,
    changes: bool = False,
) -> Position:
    """Return a position after a pathway gave these names their values.

    Args:
        changes: True if the message that led to it is what it wrote them from: then it changes
            these, as in "make it Sunday instead", and other values that it wrote stay.
    """
    position = overwritten(position, names)
    shared = (*spec.part_of(pathway.id).shared, *spec.shared)
    fresh = [name for name in pathway.anew if name in names and name not in shared]
    if not fresh:
        return position
    visit = position.get("visits", {}).get(pathway.id) or _begun()
    own = [*visit["own"], *fresh]
    old = [] if changes else visit["old"]
    return _with(position, pathway.id, Visit(own=own, old=old, done=visit["done"]))


def overwritten(position: Position, names: Iterable[str]) -> Position:
    """Return a position after these names got values, or lost them, by whomever it was."""
    changed = set(names)
    visits = position.get("visits", {})
    if not any(changed.intersection(visit["own"]) for visit in visits.values()):
        return position
    kept = {id_: _without(visit, changed) for id_, visit in visits.items()}
    return {**position, "visits": kept}


def undone(position: Position, frames: Sequence[Frame]) -> Position:
    """Return a position that forgets who wrote what since the first image of these frames."""
    image = next((frame for frame in frames if frame["before"] is not None), None)
    if image is None or "visits" not in image:
        return position
    return {**position, "visits": image["visits"]}


def written_names(ops: Iterable[Op]) -> list[str]:
    """Return the names that operations change; a None changes nothing."""
    return [op[1] for op in ops if op[0] == "clear" or op[2] is not None]


def _begun() -> Visit:
    return Visit(own=[], old=[], done=False)


def _without(visit: Visit, names: set[str]) -> Visit:
    own = [name for name in visit["own"] if name not in names]
    old = [name for name in visit["old"] if name not in names]
    return Visit(own=own, old=old, done=visit["done"])


def _with(position: Position, pathway: str, visit: Visit) -> Position:
    return {**position, "visits": {**position.get("visits", {}), pathway: visit}}
