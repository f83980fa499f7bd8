"""The healthcare referral: from a referral letter to a confirmed appointment with a specialist.

The agents work on the clinic's own papers: the directory of doctors (`doctors.json`), the handbook
(`handbook.json`) and the insurance rules (`eligibility.json`). They are there twice: as ordinary
functions (`AGENTS`), and as models that call the clinic's functions (`MODEL_AGENTS`). Read
`journey.py` first.
"""

from journeys.examples.healthcare_referral.agents import AGENTS, build_agents
from journeys.examples.healthcare_referral.clinic import Clinic
from journeys.examples.healthcare_referral.journey import HealthcareReferral
from journeys.examples.healthcare_referral.model_agents import MODEL_AGENTS, build_model_agents

SAMPLE_CONTEXT = {"insurance_id": "INS-123456", "referral_source": "primary_care"}
"""What is known of the patient before the first word."""

DEMO_MESSAGES = (
    "Hi, I need an appointment with a cardiologist. Here is my referral.",
    "Wait, what is the copay for specialist visits?",
    "Thanks! Now show me the available doctors.",
    "I don't want Dr. Smith. Can you show me another option?",
    "Dr. Johnson looks great. Book the Tuesday 2pm slot.",
)
"""Five turns that lead to a confirmed appointment."""

__all__ = [
    "AGENTS",
    "DEMO_MESSAGES",
    "MODEL_AGENTS",
    "SAMPLE_CONTEXT",
    "Clinic",
    "HealthcareReferral",
    "build_agents",
    "build_model_agents",
]
