"""Phases of a conversation, and the moves between them; pure.

| from       | to         | by                                                   |
|------------|------------|------------------------------------------------------|
| greeting   | any other  | the user speaks                                      |
| collecting | escalated  | a person is called                                   |
| collecting | completed  | the journey ends                                     |
| completed  | escalated  | a person is called                                   |
| completed  | collecting | the journey is reopened: something of it runs again  |
| escalated  | collecting | the conversation is released                         |
| escalated  | completed  | it is released, and the journey had ended            |

Nothing else is a move. A phase may always stay. A rollback is no move either: it brings back an
older state, and with it its phase.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from journeygraph.journeys import ConversationPhase, InvalidPhaseError
from journeygraph.nodes.state.escalation import takeover_of
from journeygraph.nodes.state.messages import WINDOW, Message
from journeygraph.nodes.state.session import Position, Turn

GREETING, COLLECTING = ConversationPhase.GREETING, ConversationPhase.COLLECTING
ESCALATED, COMPLETED = ConversationPhase.ESCALATED, ConversationPhase.COMPLETED

_Move = tuple[ConversationPhase, ConversationPhase]
_MOVES: Mapping[_Move, str] = {
    (GREETING, COLLECTING): "spoken",
    (GREETING, ESCALATED): "spoken",
    (GREETING, COMPLETED): "spoken",
    (COLLECTING, ESCALATED): "taken_over",
    (COLLECTING, COMPLETED): "complete",
    (COMPLETED, ESCALATED): "taken_over",
    (COMPLETED, COLLECTING): "reopened",
    (ESCALATED, COLLECTING): "released",
    (ESCALATED, COMPLETED): "released",
}
_MISSING = {
    "spoken": "the user has not sent a message",
    "reopened": "no part of the journey ran again",
    "released": "it was not released",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class PhaseFacts:
    """Facts that decide the phase after a turn.

    Attributes:
        spoken: True if the user has sent a message.
        taken_over: A person has the conversation, or is called for.
        complete: The journey has reached its goal.
        reopened: Something of the journey ran, or was changed, in this turn.
        released: The conversation was given back to the assistant in this turn.
    """

    spoken: bool = True
    taken_over: bool = False
    complete: bool = False
    reopened: bool = False
    released: bool = False


def next_phase(phase: ConversationPhase, facts: PhaseFacts) -> ConversationPhase:
    """Return the phase that follows, which may be the same.

    Raises:
        InvalidPhaseError: It cannot follow this one, by the table of this module.

    Example:
        >>> next_phase(ConversationPhase.GREETING, PhaseFacts())
        <ConversationPhase.COLLECTING: 'collecting'>
    """
    target = _shown(facts.taken_over, facts.complete, facts.spoken)
    if target is phase:
        return target
    by = _MOVES.get((phase, target))
    if by is None:
        raise InvalidPhaseError(phase, target, "this move is not allowed")
    if not getattr(facts, by):
        raise InvalidPhaseError(phase, target, _MISSING[by])
    return target


def phase_of(position: Position, messages: Sequence[Message]) -> ConversationPhase:
    """Return the phase of a session by its position and messages."""
    taken_over, complete = _is_taken_over(position), position["status"] == "complete"
    return _shown(taken_over, complete, has_spoken(messages))


def has_spoken(messages: Sequence[Message]) -> bool:
    """Return whether the user has sent a message; the first messages of a full window are gone."""
    said = [message for message in messages if message["role"] == "user"]
    return len(messages) >= WINDOW or bool(said)


def closing_facts(position: Position, messages: Sequence[Message], turn: Turn) -> PhaseFacts:
    """Return what a turn that is closed says about the phase after it."""
    moved = turn["transition"] or turn["moved"] or turn["ran"] or turn.get("attempts")
    kinds = {event["kind"] for event in turn["audit"]}
    return PhaseFacts(
        spoken=has_spoken(messages),
        taken_over=_is_taken_over(position),
        complete=position["status"] == "complete",
        reopened=turn["kind"] in ("turn", "event", "timer") and bool(moved or kinds),
        released="released" in kinds,
    )


def _is_taken_over(position: Position) -> bool:
    return "talk" in position and takeover_of(position) is not None


def _shown(taken_over: bool, complete: bool, spoken: bool) -> ConversationPhase:
    if taken_over:
        return ESCALATED
    if complete:
        return COMPLETED
    return COLLECTING if spoken else GREETING
