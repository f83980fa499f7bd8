"""The contracts of the agents that are models, where several of them share a pathway.

Functions that share a contract agree in silence on who of them speaks; models cannot. So one
model in each pathway has the word, and the others keep what they are good at: `DocumentSignature`
and `EligibilitySignature` divide the intake, the other three the booking, where only
`matching_signature` speaks and books.
"""

from __future__ import annotations

from typing import Any

from journeys import InputField, OutputField, Signature
from journeys.examples.healthcare_referral.clinic import Clinic
from journeys.examples.healthcare_referral.shapes import (
    DoctorCard,
    DoctorCards,
    PatientFacts,
    PatientWishes,
    SlotRows,
    booking_in,
    confirmation_number_in,
)
from journeys.examples.healthcare_referral.signatures import (
    KNOWN,
    BookingSignature,
    ConfirmationSignature,
    EligibilityStatus,
    IntakeSignature,
)


class DocumentSignature(Signature):
    """Note what the patient's message and papers say of them; a colleague answers the patient.

    Who wants to pay for the visit themselves and has no patient number yet is given one by
    open_self_pay_account.
    """

    __intent__ = IntakeSignature.__intent__
    __guidelines__ = [
        "Note only what was said or written, never what is likely",
        "Repeat what is known already, unless the patient corrects it",
    ]

    patient_message: str = InputField(description="What the patient just wrote", source="message")
    documents: str = InputField(description="Text of uploaded papers", default="")
    known: dict[str, Any] = InputField(description=KNOWN, source="context")

    patient_info: PatientFacts = OutputField(
        description="Facts about the patient, those known already included; null if none is known"
    )
    preferences: PatientWishes = OutputField(
        description="What the patient prefers, known wishes included; null without any"
    )


class EligibilitySignature(Signature):
    """Judge by check_insurance whether the patient may book, and answer the patient.

    Say what was noted, then what is settled. If something is missing ask for it; if nothing is,
    offer to show the available doctors, and suggest none yourself.
    """

    __intent__ = IntakeSignature.__intent__
    __guidelines__ = IntakeSignature.__guidelines__

    patient_message: str = InputField(description="What the patient just wrote", source="message")
    patient_info: dict[str, Any] = InputField(
        description="Facts about the patient, with those of this message", default={}
    )
    preferences: dict[str, Any] = InputField(description="What the patient prefers", default={})
    known: dict[str, Any] = InputField(
        description=f"{KNOWN}; an insurance number or a referral source in it is on file",
        source="context",
    )

    response: str = OutputField(description="What was noted, and what comes next")
    eligibility_status: EligibilityStatus = OutputField(
        description="The status that check_insurance returned; pending if it was not called"
    )


class PreferenceSignature(Signature):
    """Keep up to date what the patient prefers and whom they turn down; a colleague answers."""

    __intent__ = BookingSignature.__intent__
    __guidelines__ = [
        "The newest word on each matter holds; a wish that is given up is left out",
        "A doctor is turned down only if the patient says so; to ask for other times is none",
    ]

    patient_message: str = InputField(description="What the patient just wrote", source="message")
    known: dict[str, Any] = InputField(description=KNOWN, source="context")

    preferences: PatientWishes = OutputField(
        description="All wishes as they stand after this message; null if it changes none"
    )
    patient_info: PatientFacts = OutputField(
        description="Facts about the patient that this message adds or corrects; null without any"
    )
    rejected_doctors: DoctorCards = OutputField(
        description="The doctors whom this message turns down, by id, the selected_doctor included"
        " if that is the one meant; null if it turns nobody down"
    )


class SlotSignature(Signature):
    """Look up by find_slots which times come into question now; a colleague answers the patient.

    Look at the one doctor whom the patient names, else at the specialty of patient_info. Leave out
    the doctors who were turned down, by this message as well.
    """

    __intent__ = BookingSignature.__intent__
    __guidelines__ = ["Give times as find_slots returned them, and no others"]

    patient_message: str = InputField(description="What the patient just wrote", source="message")
    known: dict[str, Any] = InputField(description=KNOWN, source="context")

    available_slots: SlotRows = OutputField(
        description="The free times, best first; null if there are none or none are asked for"
    )


def matching_signature(clinic: Clinic) -> type[Signature]:
    """Return the contract of the agent that has the word in the booking, and books.

    Args:
        clinic: Where the booking must stand: one that is not in its book is refused.
    """
    return Signature.define(
        "MatchingSignature",
        instructions="Answer the patient: suggest doctors, tell their free times, and book the one"
        " appointment that the patient asks for.\n\n"
        "Suggest only doctors that find_doctors returned, with the wishes in preferences and in"
        " the message, and without those who were turned down, by this message as well. Book by"
        " book_appointment, and only once the patient has said yes to one doctor at one time; if"
        " it refuses, say why and offer what is free. Your tools work for the patient by the number"
        " that was known before this message: an insurance number that is only given in it counts"
        " from the next one on, so book then. If the patient gives the appointment up, free"
        " it by cancel_appointment. If they want to pay alone and have no such number yet, call"
        " open_self_pay_account.",
        intent=BookingSignature.__intent__,
        guidelines=BookingSignature.__guidelines__,
        inputs={
            "patient_message": (
                str,
                InputField(description="What the patient just wrote", source="message"),
            ),
            "known": (dict[str, Any], InputField(description=KNOWN, source="context")),
        },
        outputs={
            "response": (str, OutputField(description="Suggestions with reasons, or the booking")),
            "selected_doctor": (
                DoctorCard,
                OutputField(description="The first doctor suggested, or the one chosen, by id"),
            ),
            "patient_info": (
                PatientFacts,
                OutputField(description="self_pay and patient_number if opened now, else null"),
            ),
            "booking_details": (
                booking_in(clinic),
                OutputField(
                    description="What book_appointment returned as `booking` in this turn; null in"
                    " every other turn"
                ),
            ),
        },
    )


def confirmation_signature(clinic: Clinic) -> type[Signature]:
    """Return the contract of the agent that confirms.

    Args:
        clinic: Whose confirmation numbers count.
    """
    return ConfirmationSignature.define(
        "ConfirmationInTheBook",
        instructions="Confirm the appointment that confirm_appointment returns for the specialty"
        " and the patient of booking_details, and see the patient off well prepared. If it returns"
        " none, say that nothing is confirmed.",
        intent=ConfirmationSignature.__intent__,
        guidelines=ConfirmationSignature.__guidelines__,
        inputs={},
        outputs={
            "confirmation_number": (
                confirmation_number_in(clinic),
                OutputField(description="The number that it returned; null if it returned none"),
            )
        },
    )
