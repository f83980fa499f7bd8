"""Phases of a conversation."""

from __future__ import annotations

from enum import StrEnum


class ConversationPhase(StrEnum):
    """How far along a conversation is (collecting agent, FSM).

    It is worked out from where a session stands, never kept beside it:

    - `GREETING`: the user has not said anything yet.
    - `COLLECTING`: the talk goes on.
    - `ESCALATED`: a person has it, or is called for, and the assistant is silent.
    - `COMPLETED`: the journey has reached its goal.
    """

    GREETING = "greeting"
    COLLECTING = "collecting"
    ESCALATED = "escalated"
    COMPLETED = "completed"
