"""What is talked about: a journey of five pathways, and things said of everyday length."""

from __future__ import annotations

import random
from typing import Any

from journeys import (
    InputField,
    IntentTrigger,
    Journey,
    JourneyConfig,
    OutputField,
    Pathway,
    ReturnToPrevious,
    Signature,
    Transition,
)

WORDS = (
    *("appointment", "morning", "doctor", "referral", "evening", "insurance", "letter", "clinic"),
    *("number", "question", "answer", "please", "could", "would", "about", "later", "sooner"),
    *("which", "change", "nearest", "available", "knee", "shoulder", "back", "week"),
)
CONTEXT = {
    "insurance_id": "INS-123456",
    "patient": {"name": "Ada Park", "age": 44, "town": "Leiden"},
    "rejected": ["dr-meyer", "dr-okafor"],
    "language": "en",
}


def sentence(dice: random.Random, least: int, most: int) -> str:
    """Words of that many characters in all; none of them is a pattern of the journey."""
    wanted, said = dice.randint(least, most), ""
    while len(said) < wanted:
        said += f"{dice.choice(WORDS)} "
    return said[:wanted].strip().capitalize()


def question(dice: random.Random) -> str:
    return sentence(dice, 60, 100)


def answer(dice: random.Random) -> str:
    return sentence(dice, 150, 300)


class Desk(Signature):
    """Answer what was asked, and note what it is about."""

    said: str = InputField(description="what the patient said", source="message")
    response: str = OutputField(description="what to say back")
    topic: str = OutputField(description="what it is about")


class Referral(Journey):
    """Talk about a referral, in five pathways."""

    class IntakePath(Pathway):
        __signature__ = Desk
        __agents__ = ["intake_desk"]
        __accumulate__ = ["topic"]
        __complete_when__ = ["visit"]

    class BookingPath(Pathway):
        __signature__ = Desk
        __agents__ = ["booking_desk"]
        __accumulate__ = ["topic"]
        __complete_when__ = ["visit"]

    class FAQPath(Pathway):
        __signature__ = Desk
        __agents__ = ["faq_desk"]
        __accumulate__ = ["topic"]
        __return_behavior__ = ReturnToPrevious()

    class BillingPath(Pathway):
        __signature__ = Desk
        __agents__ = ["billing_desk"]
        __accumulate__ = ["topic"]
        __complete_when__ = ["visit"]

    class HumanPath(Pathway):
        __signature__ = Desk
        __agents__ = ["human_desk"]
        __accumulate__ = ["topic"]
        __complete_when__ = ["visit"]

    __transitions__ = [
        Transition(IntentTrigger(patterns=["copay", "parking"]), to_pathway="faq", priority=10),
        Transition(IntentTrigger(patterns=["book a visit", "slot"]), to_pathway="booking"),
        Transition(IntentTrigger(patterns=["invoice", "bill"]), to_pathway="billing"),
        Transition(IntentTrigger(patterns=["start over"]), to_pathway="intake"),
        Transition(IntentTrigger(patterns=["a person"]), to_pathway="human"),
    ]


async def desk(payload: dict[str, Any]) -> dict[str, Any]:
    """The one agent of all pathways; it answers at once, so that only what is around it counts."""
    dice = random.Random(len(payload["history"]) + len(payload["message"]))
    return {"response": answer(dice), "topic": payload["message"][:20]}


AGENTS = dict.fromkeys(Referral.spec.agents, desk)


async def session(url: str, session_id: str = "bench") -> Referral:
    """A session of the journey, started."""
    journey = Referral(session_id, JourneyConfig(persistence=url), agents=AGENTS)
    await journey.start(CONTEXT)
    return journey
