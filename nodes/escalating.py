"""Hand a conversation to a person: a status of the session, not a move; pure.

Stack and pathway stay as they are while a person has the conversation.
"""

from __future__ import annotations

import uuid
from typing import Any

from journeys import Escalation, JourneySpec
from nodes.moves import note
from nodes.state import Position, Turn
from nodes.talk import Takeover, Talk

CALLING = ("human", "unclaimed")
"""Kinds of questions that are about the call for a person itself."""

Change = tuple[Position, list[dict[str, Any]]]
"""A position, and the audit events of how it came about."""


def escalation_of(spec: JourneySpec, position: Position) -> Escalation | None:
    """Return the policies that hold where a session stands; None: there is nobody to call.

    While a person has the conversation they are those by which that came about, also where the
    journey of a concierge that called is over.
    """
    takeover = takeover_of(position)
    called = spec.parts.get(takeover.get("journey", "")) if takeover else None
    at = position["pathway"]
    active = called or (spec.part_of(at) if at in spec.pathways else spec)
    return active.escalation or spec.escalation


def takeover_of(position: Position) -> Takeover | None:
    """Return who has the conversation; None if that is the assistant."""
    talk = position.get("talk")
    return talk.get("takeover") if talk else None


def escalated(spec: JourneySpec, position: Position, reason: str, turn: Turn) -> Change:
    """Call a person, for a reason as of `policy_met`.

    Nothing changes where there is nobody to call, or a person has the conversation already.
    """
    completed = turn.get("completed")
    policy = escalation_of(spec, position) or completed
    if policy is None or takeover_of(position) is not None:
        return position, []
    called = Takeover(id=str(uuid.uuid4()), reason=reason, since=turn["at"], by=None)
    if completed:
        called["journey"] = completed["journey"]
    talk = with_talk(position, takeover=called)
    return asked_nothing_of(talk, CALLING), [note("escalated", position, reason=reason)]


def released(position: Position, reason: str) -> Change:
    """Give the conversation back to the assistant, which has another try at everything."""
    if takeover_of(position) is None:
        return position, []
    freed = with_talk(position, takeover=None, retries={}, failures=0, unclear=0, off_topic=0)
    after: Position = {**freed, "failures": 0}
    return asked_nothing_of(after, CALLING), [note("released", position, reason=reason)]


def asked_nothing_of(position: Position, kinds: tuple[str, ...]) -> Position:
    """Return a position in which no question of these kinds is open."""
    talk = position.get("talk") or Talk()
    asked = talk.get("asked")
    return with_talk(position, asked=None) if asked and asked["kind"] in kinds else position


def with_talk(position: Position, **changes: Any) -> Position:
    """Return a position whose talk differs in some names."""
    talk: Any = {**(position.get("talk") or {}), **changes}
    return {**position, "talk": talk}
