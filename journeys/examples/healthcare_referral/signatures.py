"""The contracts of the pathways: what each is told, what it must say, and in which manner.

Functions and models keep them alike. Where several models share a pathway, each has a part of
its contract: see `model_signatures.py`.
"""

from __future__ import annotations

from typing import Any, Literal

from journeys import InputField, OutputField, Signature

KNOWN = "All that is known so far of the patient and the booking"
EligibilityStatus = Literal["eligible", "pending", "ineligible"]
Resolution = Literal["resolved", "needs_alternatives", "escalate"]


class IntakeSignature(Signature):
    """Note who the patient is and what they were referred for, and judge whether they may book."""

    __intent__ = "Know enough of the patient to book for them, and that their plan will pay"
    __guidelines__ = [
        "Settle the insurance before anything is booked",
        "Name everything that is still missing in one go",
        "Speak of a doubt about eligibility at once, and say what would remove it",
    ]

    patient_message: str = InputField(description="What the patient just wrote", source="message")
    documents: str = InputField(description="Text of uploaded papers", default="")
    known: dict[str, Any] = InputField(description=KNOWN, source="context", default={})

    response: str = OutputField(description="What was noted, and what comes next")
    patient_info: dict[str, Any] = OutputField(
        description="Facts that the patient told: name, specialty, insurance_id, referral (whether"
        " there is one), self_pay; only those that were said"
    )
    eligibility_status: EligibilityStatus = OutputField(
        description="eligible once the insurance is known to pay and a referral is there where the"
        " plan asks for one; pending while something is missing; ineligible if the plan does not"
        " pay"
    )


class BookingSignature(Signature):
    """Find a specialist who suits the patient, and book one appointment."""

    __intent__ = "Bring the patient together with the specialist who fits best"
    __guidelines__ = [
        "Put what the patient prefers first: district, time, gender, language",
        "Give the reason for every doctor that is suggested",
        "Do not bring up again a doctor whom the patient turned down",
    ]

    patient_message: str = InputField(description="What the patient just wrote", source="message")
    preferences: dict[str, Any] = InputField(description="What the patient prefers", default={})
    rejected_doctors: list[dict[str, Any]] = InputField(
        description="Doctors whom the patient turned down; not to be suggested again", default=[]
    )
    known: dict[str, Any] = InputField(description=KNOWN, source="context", default={})

    response: str = OutputField(description="Suggestions with reasons, or the booking")
    selected_doctor: dict[str, Any] = OutputField(
        description="The one doctor who is proposed or chosen now; null if there is none"
    )
    available_slots: list[dict[str, Any]] = OutputField(
        description="The free times shown to the patient; null if none were"
    )
    booking_details: dict[str, Any] = OutputField(
        description="Doctor, specialty, place, day and time of the appointment that was booked in"
        " this turn, after the patient asked for it; null in every other turn"
    )


class FAQSignature(Signature):
    """Answer a question about referrals, costs and visits from the handbook."""

    __intent__ = "Let no question stand between the patient and the appointment"
    __guidelines__ = [
        "Keep it short, but leave nothing out that the patient needs",
        "Cite the policy that the answer comes from",
        "Offer to go on with the booking afterwards",
    ]

    question: str = InputField(description="What the patient asks", source="message")
    context: dict[str, Any] = InputField(description=KNOWN, source="context", default={})

    response: str = OutputField(
        description="The answer with its policy; where there is none, who will know"
    )
    follow_up_needed: bool = OutputField(
        description="true if the question is still open, else false"
    )


class PersuasionSignature(Signature):
    """Take up what makes the patient hesitate, so that they can decide."""

    __intent__ = "Help a patient in doubt to a decision of their own"
    __guidelines__ = [
        "Show first that the doubt was heard",
        "Answer the very concern that the patient named",
        "Never press; a no is an answer",
    ]

    patient_message: str = InputField(description="What makes them hesitate", source="message")
    rejected_doctors: list[dict[str, Any]] = InputField(
        description="Doctors whom the patient turned down", default=[]
    )
    known: dict[str, Any] = InputField(description=KNOWN, source="context", default={})

    response: str = OutputField(description="What to say to the concern")
    resolution: Resolution = OutputField(
        description="resolved if the patient agrees to go on with the booking;"
        " needs_alternatives if they still hesitate or say no; escalate if only a person can help"
    )
    escalation_count: Literal[0, 1] = OutputField(
        description="1 if this message leaves a concern open, else 0; the turns are added up for"
        " you"
    )


class EscalationSignature(Signature):
    """Hand the patient over to a person."""

    __intent__ = "Let a person take over where a machine does not help"
    __guidelines__ = [
        "Say who takes over, how and when",
        "In an emergency, name the emergency number first",
        "Leave the way back open",
    ]

    patient_message: str = InputField(description="What the patient just wrote", source="message")
    desk: str = InputField(description="Who takes over", default="care coordination desk")
    known: dict[str, Any] = InputField(description=KNOWN, source="context", default={})

    response: str = OutputField(description="Who takes over, and how to reach them")
    handover: dict[str, Any] = OutputField(
        description="What the person needs to know of the case: reference, specialty, names of the"
        " rejected doctors, and the doctor proposed last"
    )


class ConfirmationSignature(Signature):
    """Confirm the appointment and see the patient off well prepared."""

    __intent__ = "Leave the patient knowing when, where, and how to prepare"
    __guidelines__ = [
        "Repeat every detail of the appointment",
        "Say how to prepare for this kind of visit",
        "Make it easy to choose another time",
    ]

    booking_details: dict[str, Any] = InputField(description="The appointment that was booked")

    response: str = OutputField(description="The confirmation")
    confirmation_number: str = OutputField(
        description="The number of the booking; null if nothing could be confirmed"
    )
