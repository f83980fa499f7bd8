"""Close a turn: what was said becomes one message, and its record is done."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from journeys import ConversationPhase
from nodes.messages import OPERATOR, TAKEN, Message, mark
from nodes.phases import closing_facts, next_phase
from nodes.services import Services
from nodes.state import PARTING, Position, Turn, Update

if TYPE_CHECKING:
    from nodes.features import Features


def closed(services: Services, state: Mapping[str, Any], turn: Turn, features: Features) -> Update:
    """Close the record; the replies of all hops become one message.

    Args:
        services: What the turn works with.
        state: The state as the turn leaves it.
        turn: Its record.
        features: What else closes it.

    Raises:
        InvalidPhaseError: The turn would bring the session into a phase that cannot follow.
    """
    position: Position = state["position"]
    for close in features.closes:
        position, turn = close(services, {**state, "position": position}, turn)
    phase = ConversationPhase(turn["phase"])
    next_phase(phase, closing_facts(position, state.get("messages", ()), turn))
    usage = services.usage.counted() if services.usage else None
    done: Turn = {**turn, "run": None, "usage": usage, "done": True}
    return {"turn": done, "position": position, "messages": _said(turn)}


def reply_id(turn: Turn) -> str:
    """Return the id of the message that a turn answers with, by which other programs know it."""
    return f"reply-{turn.get('id', turn['number'])}"


def _said(turn: Turn) -> list[Message]:
    """Return what was said in a turn, and where a person takes over."""
    reply = PARTING.join(turn["replies"])
    said: list[Message] = []
    if reply:
        said.append(Message(role="assistant", content=reply, id=reply_id(turn)))
    if said and turn["kind"] == "operator":
        said[0]["name"] = OPERATOR
    opened = any(change["status"] == "open" for change in turn.get("escalations", ()))
    return [*said, mark(TAKEN, turn)] if opened else said
