"""Visits of pathways: a pathway that was complete, and is entered again, starts anew.

Of each name that completes a pathway it is remembered whether the pathway wrote its value itself,
and whether on a visit that is over: such a value does not complete it again. Values of others count
as always. What a concierge shares stays known beyond its journey, and so beyond a visit.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from journeys import JourneySpec, PathwaySpec
from journeys.spec import Update
from nodes.context import Op
from nodes.state import Frame, Position, Visit

Visits = Mapping[str, Visit]


def entered(position: Position, pathway: str) -> Position:
    """Return a position that has come to a pathway, and not back to it."""
    visit = position.get("visits", {}).get(pathway)
    if visit is None or not visit["done"]:
        return position
    return _with(position, pathway, Visit(own=visit["own"], old=visit["own"], done=False))


def come_to(position: Position, pathway: PathwaySpec, updates: Iterable[Update]) -> Position:
    """Return a position that a transition has led to a pathway.

    One that takes back a name which completes the pathway opens it again for that name alone; what
    else the pathway wrote stands.
    """
    taken_back = {update.target for update in updates if update.how == "clear"}
    if taken_back.isdisjoint(pathway.awaited):
        return entered(position, pathway.id)
    visit = position.get("visits", {}).get(pathway.id) or _begun()
    return _with(position, pathway.id, Visit(own=visit["own"], old=visit["old"], done=False))


def completed(position: Position, pathway: PathwaySpec) -> Position:
    """Return a position in which a pathway that begins anew was complete."""
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
        spec: The journey.
        position: Where the session stands.
        pathway: The pathway that ran.
        names: What it wrote.
        changes: Whether the message that led to it is what it wrote them from: then it changes
            these, as in "make it Sunday instead", and what else it wrote stands.
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
