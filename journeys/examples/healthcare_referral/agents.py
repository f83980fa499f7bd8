"""The eight agents by name, as ordinary functions over one appointment book."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from journeys.examples.healthcare_referral import answers, booking, intake
from journeys.examples.healthcare_referral.clinic import Clinic

Agent = Callable[[dict[str, Any]], dict[str, Any]]


def build_agents(clinic: Clinic | None = None) -> dict[str, Agent]:
    """Return the agents, to be registered with a journey.

    Args:
        clinic: The appointment book they share; a new, empty one if none is given.
    """
    book = clinic if clinic is not None else Clinic()

    def slot_finder(payload: dict[str, Any]) -> dict[str, Any]:
        return booking.find_slots(payload, book)

    def doctor_matcher(payload: dict[str, Any]) -> dict[str, Any]:
        return booking.match_doctor(payload, book)

    return {
        "document_processor": intake.read_documents,
        "eligibility_checker": intake.check_eligibility,
        "slot_finder": slot_finder,
        "doctor_matcher": doctor_matcher,
        "preference_analyzer": booking.analyze_preferences,
        "rag_faq_agent": answers.answer_from_handbook,
        "persuasion_agent": answers.reassure,
        "confirmation_agent": answers.confirm,
    }


AGENTS = build_agents()
"""The agents with an appointment book of this process."""
