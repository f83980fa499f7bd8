"""Data of the benchmarks: a journey of five pathways, and messages of usual length."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from itertools import cycle
from typing import Any

from journeygraph import (
    NEVER,
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
from journeygraph.nodes.json_data import size

WORDS = (
    *("appointment", "morning", "doctor", "referral", "evening", "insurance", "letter", "clinic"),
    *("number", "question", "answer", "please", "could", "would", "about", "later", "sooner"),
    *("which", "change", "nearest", "available", "knee", "shoulder", "back", "week"),
)
MEGABYTE = 1_000_000
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


# Made beforehand, so that making them is not measured.
_ANSWERS = [answer(random.Random(seed)) for seed in range(64)]


def questions(seed: int) -> Iterator[str]:
    """Questions without end."""
    dice = random.Random(seed)
    return cycle([question(dice) for _ in range(256)])


def records() -> list[Any]:
    """A megabyte of small records, less a little."""
    return _filled(record)


def texts() -> list[Any]:
    """A megabyte of notes, less a little."""
    return _filled(lambda number: sentence(random.Random(number), 60, 300))


def small_values() -> dict[str, Any]:
    """900 kB of values of a few characters each."""
    return {
        f"topic-{n}": {"name": f"name {n}", "count": n, "seen": [n, n + 1, "x"], "ok": True}
        for n in range(11_200)
    }


def record(number: int) -> dict[str, Any]:
    note = {"id": f"e-{number}", "text": sentence(random.Random(number), 60, 300)}
    return {**note, "score": number % 7, "tags": ["a", "b"], "by": {"name": "desk", "shift": 2}}


def _filled(entry: Callable[[int], Any]) -> list[Any]:
    listed: list[Any] = []
    total = 0
    while total < MEGABYTE:
        listed.append(entry(len(listed)))
        total += size(listed[-1]) + 1
    return listed


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
        __complete_when__ = NEVER

    class BookingPath(Pathway):
        __signature__ = Desk
        __agents__ = ["booking_desk"]
        __accumulate__ = ["topic"]
        __complete_when__ = NEVER

    class FAQPath(Pathway):
        __signature__ = Desk
        __agents__ = ["faq_desk"]
        __accumulate__ = ["topic"]
        __return_behavior__ = ReturnToPrevious()

    class BillingPath(Pathway):
        __signature__ = Desk
        __agents__ = ["billing_desk"]
        __accumulate__ = ["topic"]
        __complete_when__ = NEVER

    class HumanPath(Pathway):
        __signature__ = Desk
        __agents__ = ["human_desk"]
        __accumulate__ = ["topic"]
        __complete_when__ = NEVER

    __transitions__ = [
        Transition(IntentTrigger(patterns=["copay", "parking"]), to_pathway="faq", priority=10),
        Transition(IntentTrigger(patterns=["book a visit", "slot"]), to_pathway="booking"),
        Transition(IntentTrigger(patterns=["invoice", "bill"]), to_pathway="billing"),
        Transition(IntentTrigger(patterns=["start over"]), to_pathway="intake"),
        Transition(IntentTrigger(patterns=["a person"]), to_pathway="human"),
    ]


async def desk(payload: dict[str, Any]) -> dict[str, Any]:
    """The one agent of all pathways; it answers at once, so that only what is around it counts."""
    said = payload["message"]
    return {"response": _ANSWERS[len(said) % len(_ANSWERS)], "topic": said[:20]}


AGENTS = dict.fromkeys(Referral.spec.agents, desk)


class SecretReferral(Referral):
    """Refer patients in secret."""

    __sensitive__ = True


async def session(
    url: str,
    session_id: str = "bench",
    context: dict[str, Any] = CONTEXT,
    kind: type[Referral] = Referral,
) -> Referral:
    """A session of the journey, started."""
    config = JourneyConfig(persistence=url, encryption_key=bytes(32))
    journey = kind(session_id, config, agents=AGENTS)
    await journey.start(context)
    return journey
