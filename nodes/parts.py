"""What begins and ends with a journey of a concierge; pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from journeys import JourneySpec, PathwaySpec, TransitionSpec
from journeys.spec import ACTIVATION, MOVE
from nodes.commands import Verdict
from nodes.context import Op
from nodes.moves import note
from nodes.state import Completed, Position, Turn


def nearest(
    spec: JourneySpec, candidates: Sequence[TransitionSpec], verdicts: Sequence[Verdict]
) -> tuple[str, ...]:
    """Return the journeys that verdicts hold likely, the likeliest first."""
    starts = {
        move.id: spec.pathways[move.target].journey
        for move in candidates
        if move.kind == ACTIVATION
    }
    likely = [v for v in verdicts if v.holds and v.question in starts and 0 < v.confidence <= 1]
    likely.sort(key=lambda verdict: -verdict.confidence)
    return tuple(dict.fromkeys(starts[verdict.question] for verdict in likely))


def dated(spec: JourneySpec, position: Position, turn: Turn) -> Position:
    """Return a position that tells since when its journey has been active."""
    active = spec.pathways[position["pathway"]].journey
    if not active or active == spec.pathways[turn["begun_in"]].journey:
        return position
    return {**position, "activated_at": turn["at"]}


def left(spec: JourneySpec, position: Position, place: str) -> Position:
    """Return a position without what belongs to a journey that is left.

    Its conditions are armed again, and what it asked the user about is not done any more.

    Args:
        spec: The concierge.
        position: Where the session is now.
        place: The pathway in which the journey is left.
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


def finished(
    spec: JourneySpec,
    pathway: PathwaySpec,
    position: Position,
    context: Mapping[str, Any],
    turn: Turn,
) -> tuple[Position, Turn, list[Op]]:
    """Free the session of a journey that a pathway has just completed.

    Returns:
        The position, the record of the turn, and what forgets the names of the journey.
    """
    if not pathway.journey or position["pathway"] != spec.reception:
        return position, turn, []
    values = {name: context[name] for name in pathway.forgets if name in context}
    ops: list[Op] = [["clear", name, None, pathway.id] for name in values]
    reason = f"'{pathway.journey}' is complete"
    event = note("journey_completed", position, to=spec.reception, reason=reason)
    event["from"] = pathway.id
    heard: Turn = {
        **turn,
        "ops": [*turn["ops"], *ops],
        "audit": [*turn["audit"], event],
        "completed": Completed(journey=pathway.journey, values=values),
    }
    return left(spec, position, pathway.id), heard, ops
