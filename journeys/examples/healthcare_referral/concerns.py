"""Concerns that make a patient hesitate, and the answers to them."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from journeygraph import InputField, OutputField, Signature
from journeygraph.journeys.examples.healthcare_referral.clinic import FRONT_DESK

_CONCERNS = json.loads(Path(__file__).with_name("concerns.json").read_text("utf-8"))


class PersuasionSignature(Signature):
    """Take up what makes the patient hesitate, so that they can decide."""

    __intent__ = "Help a patient in doubt to a decision of their own"
    __guidelines__ = [
        "Show first that the doubt was heard",
        "Answer the very concern that the patient named",
        "Never press; a no is an answer",
    ]

    patient_message: str = InputField(description="What makes them hesitate", source="message")
    rejected_doctors: list[Any] = InputField(description="Doctors turned down", default=[])

    response: str = OutputField(description="What to say to the concern")
    resolution: Literal["resolved", "needs_alternatives", "escalate"] = OutputField(
        description="resolved if the patient agrees to go on with the booking;"
        " needs_alternatives if they hesitate or say no; escalate if only a person can help"
    )
    escalation_count: Literal[0, 1] = OutputField(
        description="1 if this message leaves a concern open, else 0; the turns are added up"
    )


def reassure(ask: dict[str, Any]) -> dict[str, Any]:
    """Take up a concern without pressing: agreeing resolves it, and a no is an answer."""
    said = ask["message"].lower()
    words = set(re.findall(r"[\w']+", said))
    doubts = words & {"but", "not", "still"}
    if words & {"ok", "okay", "yes", "fine", "thanks", "good"} and not doubts:
        return {"response": "Good.", "resolution": "resolved", "escalation_count": 0}
    if words & {"no", "stop", "cancel"} or "forget it" in said:
        said = f"That is all right: nothing is booked. Come back, or call {FRONT_DESK}."
        return {"response": said, "resolution": "needs_alternatives", "escalation_count": 0}
    fitting = (each["comfort"] for each in _CONCERNS if any(t in said for t in each["topics"]))
    comfort = next(fitting, "Of course, take your time. May I ask what makes you hesitate?")
    said = f"{comfort} There is no hurry: nothing is booked until you say so."
    return {"response": said, "resolution": "needs_alternatives", "escalation_count": 1}


def agreed(context: Mapping[str, Any]) -> bool:
    """Say whether the patient has agreed to go on."""
    return context.get("resolution") == "resolved"


def undecided(context: Mapping[str, Any]) -> bool:
    """Say whether a person should take over: after three open concerns, or as a model says."""
    resolution, count = context.get("resolution"), context.get("escalation_count", 0)
    return resolution == "escalate" or (resolution == "needs_alternatives" and count >= 3)
