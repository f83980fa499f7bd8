"""The conversations that are held with a real model, and what must be so after each turn.

What is checked is state: the pathway, the context, the clinic's book. Never the wording.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from journeygraph import Journey, JourneyResponse
from journeygraph.journeys.examples import parcel_refund
from journeygraph.journeys.examples.healthcare_referral import (
    CLINIC,
    DEMO_MESSAGES,
    MODEL_AGENTS,
    SAMPLE_CONTEXT,
    HealthcareReferral,
)

Check = Callable[[JourneyResponse], bool]


@dataclass(frozen=True, slots=True)
class Step:
    """One message, and what must hold after it: words for it -> the check."""

    message: str
    checks: Mapping[str, Check]


@dataclass(frozen=True, slots=True)
class Scene:
    """One conversation."""

    name: str
    journey: type[Journey]
    agents: Mapping[str, Any]
    steps: Sequence[Step]
    context: Mapping[str, Any] = field(default_factory=dict)


def scenes() -> list[Scene]:
    """Return all scenes, each with agents of its own."""
    return [healthcare_referral(), parcel()]


def healthcare_referral() -> Scene:
    """Return the referral, which a model understands, and where models answer questions."""
    CLINIC.clear()
    checks: list[dict[str, Check]] = [
        {
            "the specialty is cardiology": lambda r: _kept(r, "specialty") == "cardiology",
            "the patient may book": lambda r: _kept(r, "eligibility_status") == "eligible",
            "it goes on to the booking": lambda r: r.pathway_id == "booking",
        },
        {
            "the question is a detour": lambda r: r.pathway_id == "faq",
            "the booking waits": lambda r: r.metadata["pathway_stack"] == ["booking"],
        },
        {
            "it is back in the booking": lambda r: r.pathway_id == "booking",
            "nothing waits": lambda r: r.metadata["pathway_stack"] == [],
            "nothing is booked yet": lambda r: not _booked(),
        },
        {
            "it stays in the booking": lambda r: r.pathway_id == "booking",
            "Dr. Smith is turned down": lambda r: _rejected(r) == ["dr-smith"],
            "nobody is chosen yet": lambda r: _kept(r, "selected_doctor") is None,
        },
        {"it is read back first": lambda r: not _booked()},
        {
            "the journey is complete": lambda r: r.is_journey_complete,
            "the clinic's book has it": lambda r: _booked() == [_WANTED],
            "the context has the same": lambda r: _details(r).get("doctor") == _WANTED[0],
            "its number is that of the booking": lambda r: (
                _kept(r, "confirmation_number") == _details(r).get("number")
            ),
        },
    ]
    steps = [Step(said, holds) for said, holds in zip(DEMO_MESSAGES, checks, strict=True)]
    return Scene("healthcare_referral", HealthcareReferral, MODEL_AGENTS, steps, SAMPLE_CONTEXT)


def parcel() -> Scene:
    """Return the refund, whose agents are functions: the model only hears where to go."""
    steps = [
        Step("My parcel never came", {"it asks for the order": lambda r: r.pathway_id == "find"}),
        Step("It is P-1042", {"it has the order": lambda r: _kept(r, "order") == "P-1042"}),
        Step(
            "When can I expect to see the money on my account?",
            {
                "the question is a detour": lambda r: r.pathway_id == "policy",
                "the model heard it": lambda r: r.metadata["tier"] == "model",
            },
        ),
        Step(
            "Good. Yes please.",
            {
                "the journey is complete": lambda r: r.is_journey_complete,
                "the parcel is refunded": lambda r: _kept(r, "refunded") is True,
            },
        ),
    ]
    return Scene("parcel_refund", parcel_refund.ParcelRefund, parcel_refund.AGENTS, steps)


_WANTED = ("Dr. Rebecca Johnson", "Tuesday 14:00")


def _kept(reply: JourneyResponse, name: str) -> Any:
    return reply.accumulated_context.get(name)


def _rejected(reply: JourneyResponse) -> list[str]:
    return [row["id"] for row in _kept(reply, "rejected_doctors") or []]


def _details(reply: JourneyResponse) -> Mapping[str, Any]:
    return _kept(reply, "booking_details") or {}


def _booked() -> list[tuple[str, str]]:
    return CLINIC.appointments(SAMPLE_CONTEXT["insurance_id"])
