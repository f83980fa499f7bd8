"""The eight agents by name, as models with the tools of one appointment book."""

from __future__ import annotations

from journeys import ModelAgent, Tool
from journeys.examples.healthcare_referral.booking_tools import BookingTools
from journeys.examples.healthcare_referral.clinic import Clinic
from journeys.examples.healthcare_referral.model_signatures import (
    DocumentSignature,
    EligibilitySignature,
    PreferenceSignature,
    SlotSignature,
    confirmation_signature,
    matching_signature,
)
from journeys.examples.healthcare_referral.tools import (
    check_insurance,
    open_handover_case,
    open_self_pay_account,
    search_handbook,
)


def build_model_agents(clinic: Clinic | None = None) -> dict[str, ModelAgent]:
    """Return the agents, to be registered with a journey that has a model.

    Each has the tools that it needs and no more: only one can book, and only one confirms.

    Args:
        clinic: The appointment book they share; a new, empty one if none is given.
    """
    book = clinic if clinic is not None else Clinic()
    desk = BookingTools(book)
    return {
        "document_processor": ModelAgent(
            tools=[open_self_pay_account], signature=DocumentSignature
        ),
        "eligibility_checker": ModelAgent(tools=[check_insurance], signature=EligibilitySignature),
        "slot_finder": ModelAgent(tools=[desk.find_slots], signature=SlotSignature),
        "doctor_matcher": ModelAgent(
            tools=[
                desk.find_doctors,
                desk.find_slots,
                desk.book_appointment,
                Tool(desk.cancel_appointment, confirm=True),
                open_self_pay_account,
            ],
            signature=matching_signature(book),
        ),
        "preference_analyzer": ModelAgent(signature=PreferenceSignature),
        "rag_faq_agent": ModelAgent(tools=[search_handbook]),
        # It serves persuasion and escalation, and keeps the contract of the one it is in.
        "persuasion_agent": ModelAgent(tools=[search_handbook, open_handover_case]),
        "confirmation_agent": ModelAgent(
            tools=[desk.confirm_appointment], signature=confirmation_signature(book)
        ),
    }


MODEL_AGENTS = build_model_agents()
"""The agents with an appointment book of this process."""
