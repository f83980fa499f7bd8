"""The journey: how a patient with a referral comes to an appointment."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from journeys import (
    ConditionTrigger,
    IntentTrigger,
    Journey,
    MergeStrategy,
    Pathway,
    ReturnToPrevious,
    Transition,
)
from journeys.examples.healthcare_referral.answers import OPEN_CONCERNS_BEFORE_HANDOVER
from journeys.examples.healthcare_referral.signatures import (
    BookingSignature,
    ConfirmationSignature,
    EscalationSignature,
    FAQSignature,
    IntakeSignature,
    PersuasionSignature,
)
from journeys.examples.healthcare_referral.triggers import DeskTalk

QUESTIONS = [
    "question", "questions", "help", "wondering", "explain", "policy", "copay", "deductible",
    "parking", "interpreter", "telehealth", "video visit", "second opinion", "opening hours",
    "accessible", "what is", "what's", "what are", "what does", "what do", "what if",
    "what happens", "what should", "how do", "how does", "how can", "how much", "how long",
    "how many", "how soon", "why", "where", "when do", "when does", "when will", "when is",
    "do i", "does it", "does my", "does a", "does the", "do you", "can i", "may i", "should i",
    "am i", "is there", "are there", "who can", "who do", "which insurance", "will my",
    "is my data", "covered by", "insurance cover", "insurance pay", "is it free",
]  # fmt: skip
REJECTIONS = [
    "don't want dr", "don't want doctor", "don't want this", "don't want that", "don't want him",
    "don't want her", "don't want to see", "do not want dr", "do not want doctor",
    "do not want this", "different doctor", "another doctor", "different one", "another one",
    "another option", "different option", "someone else", "somebody else", "rather not see",
    "not him", "not her", "not this one", "next doctor",
]  # fmt: skip
HESITATION = [
    "not sure", "unsure", "maybe later", "let me think", "think about it", "think it over",
    "hesitant", "second thoughts", "not ready", "worried", "scared", "nervous", "anxious",
    "afraid of", "too expensive", "can't afford", "changed my mind", "cancel", "forget it",
    "don't want to go", "don't want an appointment", "don't know if", "not now",
]  # fmt: skip
A_PERSON = [
    "a person", "real person", "a human", "human being", "speak to someone", "speak with someone",
    "talk to someone", "talk to somebody", "coordinator", "operator", "representative",
    "call me back", "this is an emergency", "i have chest pain", "having chest pain",
    "heart attack", "having a stroke", "can't breathe", "cannot breathe",
]  # fmt: skip
CHANGES = [
    "reschedule", "another time", "different time", "another day", "different day",
    "another doctor", "different doctor", "change my appointment", "change the appointment",
    "move my appointment", "change the time", "other times",
]  # fmt: skip


def cleared_for_booking(context: Mapping[str, Any]) -> bool:
    """Say whether intake knows what the patient needs, and that it will be paid for."""
    return bool(context.get("patient_info")) and context.get("eligibility_status") == "eligible"


def concern_settled(context: Mapping[str, Any]) -> bool:
    """Say whether the patient has agreed to go on."""
    return context.get("resolution") == "resolved"


def concerns_stay_open(context: Mapping[str, Any]) -> bool:
    """Say whether so many concerns stayed open that a person should take over."""
    return (context.get("escalation_count") or 0) >= OPEN_CONCERNS_BEFORE_HANDOVER


class HealthcareReferral(Journey):
    """Take a patient from a referral to a confirmed appointment with a specialist."""

    __entry_pathway__ = "intake"

    class IntakePath(Pathway):
        """Find out what the patient needs, and whether their insurance pays for it."""

        __signature__ = IntakeSignature
        __agents__ = ["document_processor", "eligibility_checker"]
        __pipeline__ = "sequential"
        __accumulate__ = {
            "patient_info": MergeStrategy.MERGE_DICT,
            "eligibility_status": MergeStrategy.REPLACE,
            "preferences": MergeStrategy.REPLACE,
        }
        __complete_when__ = cleared_for_booking
        __next__ = "booking"

    class BookingPath(Pathway):
        """Suggest doctors until one suits, and book a time."""

        __signature__ = BookingSignature
        __agents__ = ["slot_finder", "doctor_matcher", "preference_analyzer"]
        __pipeline__ = "parallel"
        __accumulate__ = {
            "rejected_doctors": MergeStrategy.UNION,
            "preferences": MergeStrategy.REPLACE,
            "patient_info": MergeStrategy.MERGE_DICT,
            "selected_doctor": MergeStrategy.REPLACE,
            "available_slots": MergeStrategy.REPLACE,
            "booking_details": MergeStrategy.REPLACE,
        }
        __complete_when__ = ["booking_details"]
        __next__ = "confirmation"

    class FAQPath(Pathway):
        """Answer a question in passing, then go back to where the patient was."""

        __signature__ = FAQSignature
        __agents__ = ["rag_faq_agent"]
        __return_behavior__ = ReturnToPrevious()

    class PersuasionPath(Pathway):
        """Take up what makes the patient hesitate, for as long as it needs."""

        __signature__ = PersuasionSignature
        __agents__ = ["persuasion_agent"]
        __accumulate__ = {
            "resolution": MergeStrategy.REPLACE,
            "escalation_count": MergeStrategy.SUM,
        }
        __complete_when__ = concern_settled
        __next__ = "booking"

    class EscalationPath(Pathway):
        """Hand over to a person; the patient may still go on here."""

        __signature__ = EscalationSignature
        __agents__ = ["persuasion_agent"]
        __accumulate__ = {"handover": MergeStrategy.REPLACE}
        __return_behavior__ = ReturnToPrevious()

    class ConfirmationPath(Pathway):
        """Confirm the appointment and end."""

        __signature__ = ConfirmationSignature
        __agents__ = ["confirmation_agent"]
        __accumulate__ = {"confirmation_number": MergeStrategy.REPLACE}
        __runs_on_arrival__ = True

    __transitions__ = [
        Transition(
            ConditionTrigger(concerns_stay_open, description="concerns stay open"),
            to_pathway="escalation",
            context_update={"escalation_count": "clear:"},
            priority=100,
        ),
        Transition(
            IntentTrigger(A_PERSON, description="wants to talk to a person"),
            to_pathway="escalation",
            priority=90,
        ),
        Transition(
            IntentTrigger(CHANGES, description="wants to change the confirmed appointment"),
            from_pathway="confirmation",
            to_pathway="booking",
            context_update={"booking_details": "clear:"},
            priority=20,
        ),
        Transition(
            DeskTalk(unlike=QUESTIONS, description="asks for doctors or times"),
            from_pathway="booking",
            to_pathway="booking",
            priority=15,
        ),
        Transition(
            DeskTalk(unlike=QUESTIONS, description="asks for a specialist"),
            from_pathway="intake",
            to_pathway="intake",
            priority=15,
        ),
        Transition(
            DeskTalk(description="goes on with the booking"),
            from_pathway="persuasion",
            to_pathway="booking",
            priority=15,
        ),
        Transition(
            IntentTrigger(QUESTIONS, description="asks about the referral, costs or the visit"),
            to_pathway="faq",
            priority=10,
        ),
        Transition(
            IntentTrigger(REJECTIONS, description="turns down the doctor at hand"),
            from_pathway="booking",
            to_pathway="booking",
            context_update={"rejected_doctors": "append:selected_doctor"},
            priority=5,
        ),
        Transition(
            IntentTrigger(HESITATION, description="hesitates to book"),
            from_pathway="booking",
            to_pathway="persuasion",
            priority=5,
        ),
    ]
