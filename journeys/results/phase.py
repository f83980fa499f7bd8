"""Phases of a conversation."""

from __future__ import annotations

from enum import StrEnum


class ConversationPhase(StrEnum):
    """Progress of a conversation (collecting agent, FSM).

    It is derived from the position of a session, never stored:

    - `GREETING`: the user has not said anything yet.
    - `COLLECTING`: the talk goes on.
    - `ESCALATED`: a person has it, or is called for, and the assistant is silent.
    - `COMPLETED`: the journey has reached its goal.
    """

    GREETING = "greeting"
    COLLECTING = "collecting"
    ESCALATED = "escalated"
    COMPLETED = "completed"
