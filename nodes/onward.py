"""Where a session goes from a pathway that ran: it stays, returns, goes on, or has ended."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from journeys import NEVER, JourneySpec, PathwaySpec
from journeys.spec import MAX_HOPS
from nodes.authored import FAILURES
from nodes.context import Context
from nodes.moves import note
from nodes.plain import copied, words_of
from nodes.state import Position, Turn
from nodes.visits import completed, entered, old_names


def onward(
    spec: JourneySpec,
    pathway: PathwaySpec,
    position: Position,
    context: Context,
    turn: Turn,
    *,
    ended_well: bool = True,
) -> tuple[Position, Turn]:
    """Stay, return, go on, or end.

    Args:
        spec: The journey.
        pathway: The pathway that just ran.
        position: Where the session stands.
        context: What it knows now.
        turn: Its record; `run` is None after this, or the pathway that runs next.
        ended_well: Whether everything that it does was done: its fields are collected, its effects
            taken.
    """
    audit = list(turn["audit"])
    complete = _is_complete(pathway, context, turn["entered"], position, audit)
    turn = {**turn, "run": None, "audit": audit}
    if not complete or not ended_well:
        return position, turn
    position = completed(position, pathway)
    if pathway.is_detour:
        audit.append(note("completed", position, reason="it returns with the next message"))
        return {**position, "returning": True}, turn
    if pathway.next is None:
        audit.append(note("completed", position, reason="the journey ends here"))
        return {**position, "status": "complete"}, turn
    audit.append(note("completed", position))
    audit.append(note("advanced", position, to=pathway.next))
    arrived: Position = entered({**position, "pathway": pathway.next}, pathway.next)
    turn = {**turn, "moved": turn["moved"] or pathway.next != pathway.id}
    if not spec.pathways[pathway.next].runs_on_arrival:
        return arrived, turn
    if len(turn["ran"]) >= MAX_HOPS:
        reason = f"{MAX_HOPS} pathways ran in one turn; '{pathway.next}' waits for the user"
        audit.append(note("hop_limit", position, to=pathway.next, reason=reason))
        return arrived, turn
    audit.append(note("arrived", position, to=pathway.next))
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
        asks = pathway.form is not None
        return asks or pathway.is_detour or entered not in ("transition", "return")
    if criterion is NEVER:
        return False
    if isinstance(criterion, tuple):
        old = old_names(position, pathway.id)
        return all(context.get(n) is not None and n not in old for n in pathway.awaited)
    try:
        return bool(criterion(copied(context)))
    except FAILURES as error:
        reason = f"__complete_when__ raised {words_of(error)}"
        audit.append(note("condition_raised", position, reason=reason))
        return False
