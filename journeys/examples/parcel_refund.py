"""Refund a parcel that did not arrive: the journey of docs/start.md."""

import re
from typing import Any

from journeygraph import IntentTrigger, Journey, Pathway, ReturnToPrevious, Transition


class ParcelRefund(Journey):
    """Refund a parcel that did not arrive."""

    class FindPath(Pathway):
        __agents__ = ["order_clerk"]
        __accumulate__ = ["order"]
        __complete_when__ = ["order"]  # stays here until there is an order number
        __next__ = "refund"

    class RefundPath(Pathway):
        __agents__ = ["refund_clerk"]
        __accumulate__ = ["refunded"]
        __complete_when__ = ["refunded"]  # then the journey is complete

    class PolicyPath(Pathway):
        __agents__ = ["policy_clerk"]
        __return_behavior__ = ReturnToPrevious()  # a detour: answer, then back to where we were

    __transitions__ = [
        Transition(IntentTrigger(patterns=["how long", "how much"]), to_pathway="policy"),
    ]


def order_clerk(ask: dict[str, Any]) -> Any:
    """Ask for the order number until it is said."""
    number = re.search(r"\bP-\d+\b", ask["message"])
    if number:
        return {"response": f"Found {number[0]}. Refund it to your card?", "order": number[0]}
    return "Sorry to hear that. What is the order number?"


def refund_clerk(ask: dict[str, Any]) -> Any:
    """Refund once the customer agrees."""
    if "yes" in ask["message"].lower():
        return {"response": f"Done: {ask['context']['order']} is refunded.", "refunded": True}
    return "Shall I refund it to your card?"


def policy_clerk(ask: dict[str, Any]) -> str:
    """Say how refunds work."""
    return "A refund takes three working days and is for the full price."


AGENTS = {"order_clerk": order_clerk, "refund_clerk": refund_clerk, "policy_clerk": policy_clerk}
DEMO_MESSAGES = (
    "My parcel never came",
    "It is P-1042",
    "How long does a refund take?",
    "Good. Yes please.",
)
