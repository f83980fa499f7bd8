"""Journeys of one agent, and why their last turn failed."""

from __future__ import annotations

from typing import Any

from journeygraph import NEVER, EventTrigger, Journey, Pathway, Texts, Transition

Payload = dict[str, Any]
APOLOGY = Texts().apology


class Solo(Journey):
    """One pathway, one agent."""

    class TalkPath(Pathway):
        __agents__ = ["clerk"]
        __accumulate__ = ["mood"]
        __complete_when__ = NEVER


class Courier(Journey):
    """Take a payment."""

    class WaitPath(Pathway):
        __agents__ = ["cashier"]
        __complete_when__ = NEVER

    class PaidPath(Pathway):
        __agents__ = ["cashier"]
        __complete_when__ = NEVER

    __transitions__ = [Transition(EventTrigger("payment_received"), to_pathway="paid")]


def reason(chat: Any) -> str:
    """Why the last turn failed."""
    error = chat.last.metadata["error"]
    assert error is not None
    assert chat.last.message == APOLOGY
    said: str = error["message"]
    return said


def function(payload: Payload) -> Payload:
    return {"response": f"heard {payload['message']}", "mood": "good"}
