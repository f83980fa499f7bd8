"""Hand a conversation to a person, and take it back: a status of the session, not a move.

Stack and pathway stay as they are while a person has the conversation.
"""

from __future__ import annotations

import uuid
from typing import Any

from journeys import Escalation, JourneySpec
from nodes.moves import note
from nodes.state import Position, Turn
from nodes.talk import DialogueState, Takeover

CALLING = ("human", "unclaimed")
"""Kinds of questions that are about the call for a person itself."""


def escalation_of(
    spec: JourneySpec, position: Position, takeover: Takeover | None
) -> Escalation | None:
    """Return the policies that hold where a session stands; None: there is nobody to call.

    While a person has the conversation they are those by which that came about, also where the
    journey of a concierge that called is over.
    """
    called = spec.parts.get(takeover.get("journey", "")) if takeover else None
    at = position["pathway"]
    active = called or (spec.part_of(at) if at in spec.pathways else spec)
    return active.escalation or spec.escalation


def takeover_of(position: Position) -> Takeover | None:
    """Return who has the conversation; None if that is the assistant."""
    talk = position.get("talk")
    return talk.get("takeover") if talk else None


def escalate(
    spec: JourneySpec, position: Position, dialogue: DialogueState, reason: str, turn: Turn
) -> list[dict[str, Any]]:
    """Call a person, for a reason as of `policy_met`; return the audit events.

    Nothing changes where there is nobody to call, or a person has the conversation already.
    """
    completed = turn.get("completed")
    policy = escalation_of(spec, position, dialogue.takeover) or completed
    if policy is None or dialogue.takeover is not None:
        return []
    called = Takeover(id=str(uuid.uuid4()), reason=reason, since=turn["at"], by=None)
    if completed:
        called["journey"] = completed["journey"]
    dialogue.takeover = called
    _close_question(dialogue)
    return [note("escalated", position, reason=reason)]


def release(position: Position, dialogue: DialogueState, reason: str) -> list[dict[str, Any]]:
    """Give the conversation back to the assistant, which has another try at everything."""
    dialogue.takeover = None
    dialogue.try_again()
    _close_question(dialogue)
    return [note("released", position, reason=reason)]


def _close_question(dialogue: DialogueState) -> None:
    """Close a question that is about the call for a person."""
    if dialogue.asked and dialogue.asked["kind"] in CALLING:
        dialogue.asked = None
