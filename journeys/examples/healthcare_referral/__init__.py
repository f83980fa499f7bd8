"""The healthcare referral: from a referral letter to a confirmed appointment with a specialist.

Read `journey.py` first, then `fields.py` and `suggesting.py`. The clinic's papers are beside it:
its doctors (`doctors.json`), handbook (`handbook.json`) and insurance rules (`eligibility.json`).
"""

from journeygraph import ModelAgent
from journeygraph.journeys.examples.healthcare_referral.clinic import (
    CLINIC,
    cancel,
    check_eligibility,
    confirm,
)
from journeygraph.journeys.examples.healthcare_referral.concerns import reassure
from journeygraph.journeys.examples.healthcare_referral.handbook import (
    answer_from_handbook,
    search_handbook,
)
from journeygraph.journeys.examples.healthcare_referral.journey import HealthcareReferral

AGENTS = {
    "eligibility_checker": check_eligibility,
    "rag_faq_agent": answer_from_handbook,
    "persuasion_agent": reassure,
    "confirmation_agent": confirm,
    "cancellation_agent": cancel,
}
_READER = ModelAgent(tools=[search_handbook])
MODEL_AGENTS = {**AGENTS, "rag_faq_agent": _READER, "persuasion_agent": _READER}
"""Models talk and understand; who may book, and what is booked, stays with the clinic's rules."""

SAMPLE_CONTEXT = {"insurance_id": "INS-123456", "referral_source": "primary_care"}
DEMO_MESSAGES = (
    "Hi, I need to book an appointment with a cardiologist. Here's my referral.",
    "Wait, what is the copay for specialist visits?",
    "Thanks! Now show me the available doctors.",
    "I don't want Dr. Smith. Can you show me another option?",
    "Dr. Johnson looks great. Book the Tuesday 2pm slot.",
    "Yes, that is right.",
)

__all__ = [
    "AGENTS",
    "CLINIC",
    "DEMO_MESSAGES",
    "MODEL_AGENTS",
    "SAMPLE_CONTEXT",
    "HealthcareReferral",
]
