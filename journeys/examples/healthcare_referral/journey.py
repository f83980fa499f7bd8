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
from journeys.examples.healthcare_referral.phrases import (
    A_PERSON,
    CHANGES,
    HESITATION,
    QUESTIONS,
    REJECTIONS,
    WITHDRAWALS,
)
from journeys.examples.healthcare_referral.signatures import (
    BookingSignature,
    ConfirmationSignature,
    EscalationSignature,
    FAQSignature,
    IntakeSignature,
    PersuasionSignature,
)
from journeys.examples.healthcare_referral.triggers import DeskTalk, OtherWish

REOPENED = {"booking_details": "clear:", "confirmation_number": "clear:"}
"""What becomes of the context when a confirmed appointment is in question again."""

SURE = 0.9
"""How sure a model must be, from 0 to 1, to put a confirmed appointment in question."""


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
            IntentTrigger(
                A_PERSON, description="wants to talk to a person, or tells of an emergency"
            ),
            to_pathway="escalation",
            priority=90,
        ),
        Transition(
            IntentTrigger(
                CHANGES,
                description="wants the confirmed appointment at another time or with another"
                " doctor",
                confidence_threshold=SURE,
            ),
            from_pathway="confirmation",
            to_pathway="booking",
            context_update=REOPENED,
            priority=20,
        ),
        Transition(
            OtherWish(description="names another time or doctor than the confirmed one"),
            from_pathway="confirmation",
            to_pathway="booking",
            context_update=REOPENED,
            priority=15,
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
            IntentTrigger(
                QUESTIONS,
                description="asks how something works: referral, insurance, costs, documents or the"
                " visit; not which doctors or times there are",
            ),
            to_pathway="faq",
            priority=10,
        ),
        Transition(
            IntentTrigger(
                REJECTIONS, description="turns down the doctor suggested last and wants another"
            ),
            from_pathway="booking",
            to_pathway="booking",
            context_update={"rejected_doctors": "append:selected_doctor"},
            priority=5,
        ),
        Transition(
            IntentTrigger(
                HESITATION,
                description="hesitates to book: has doubts or fears, or does not want to now",
            ),
            from_pathway="booking",
            to_pathway="persuasion",
            priority=5,
        ),
        Transition(
            IntentTrigger(
                WITHDRAWALS,
                description="gives up the confirmed appointment and wants no other",
                confidence_threshold=SURE,
            ),
            from_pathway="confirmation",
            to_pathway="booking",
            context_update=REOPENED,
            priority=5,
        ),
    ]
