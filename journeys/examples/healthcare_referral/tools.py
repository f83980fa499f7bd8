"""The clinic's functions as tools: what a model may look up, and the few things it may do.

The docstrings are written for models, who see them with the names and types of the parameters.
A tool refuses in what it returns, with the reason and the way on, and raises nothing: a model can
go on from a refusal. Facts and rules are those of the function agents.

For whom a tool works is no question for a model, which may be talked into naming somebody else: the
patient's number comes from the conversation's context. Only `check_insurance`, which tells nothing
about a person, judges any number.
"""

from __future__ import annotations

from typing import Annotated, Any

from journeys import FromContext
from journeys.examples.healthcare_referral.answers import own_terms
from journeys.examples.healthcare_referral.appointment import case_reference
from journeys.examples.healthcare_referral.conversation import patient_number_in, payer
from journeys.examples.healthcare_referral.hearing import plain
from journeys.examples.healthcare_referral.intake import judge
from journeys.examples.healthcare_referral.material import COORDINATION, FRONT_DESK, specialties
from journeys.examples.healthcare_referral.naming import new_patient_number, specialty_named
from journeys.examples.healthcare_referral.search import answering

Answer = dict[str, Any]
"""What a tool returns: JSON."""
PatientNumber = Annotated[str, FromContext(patient_number_in)]
"""The number of whoever the conversation is with, as known before this message; may be empty."""


def search_handbook(question: str, patient_number: PatientNumber = "") -> Answer:
    """Search the clinic's handbook for the entry that answers a question.

    Use it for every question about referrals, costs, insurance, appointments, documents, privacy
    or the visit, and answer only from what it returns: `answer`, the `policy` to cite, and in
    `on_your_plan` what it comes to for this patient. If `found` is false the handbook has no
    answer; then name the front desk, and guess nothing.

    Args:
        question: The patient's question, in full and in English.
        patient_number: The insurance or SELF number.
    """
    entry = answering(question)
    if entry is None:
        return {"found": False, "front_desk": FRONT_DESK}
    own = own_terms(entry, payer(patient_number).plan)
    return {
        "found": True,
        "policy": entry.policy,
        "question": entry.question,
        "answer": entry.answer,
        **({"on_your_plan": own} if own else {}),
    }


def check_insurance(
    patient_number: str | None, specialty: str | None = None, has_referral: bool | None = None
) -> Answer:
    """Judge by the clinic's rules whether a patient may book.

    Use it whenever the insurance number, the specialty or the referral is new. Returns `status`
    (eligible, pending or ineligible), the `reason` in words for the patient, what is `missing`
    (insurance, referral, specialty, or empty) and the `plan`. Take the status over as it is.

    Args:
        patient_number: The insurance number, such as INS-123456; for a patient who pays alone the
            number that open_self_pay_account gave; null if neither is known.
        specialty: What the patient needs, such as cardiology; null if it is not known.
        has_referral: Whether there is a referral, said by the patient or on file; null if unknown.
    """
    try:
        field = read_specialty(specialty) if specialty else ""
    except ValueError as refusal:
        return {"status": "pending", "reason": str(refusal), "missing": "specialty", "plan": ""}
    facts = payer(patient_number or "", specialty=field, referral=has_referral)
    verdict = judge(facts, {})
    return {
        "status": verdict.status,
        "reason": verdict.reason,
        "missing": verdict.asked_for,
        "plan": facts.plan.name if facts.plan is not None else "",
    }


def open_self_pay_account() -> Answer:
    """Give a patient number to somebody who wants to pay for the visit themselves.

    Use it once, when the patient says so and has no number that begins with SELF yet. Returns the
    `patient_number`, to be kept as a fact about the patient; it can be booked under from the
    patient's next message on.
    """
    return {"patient_number": new_patient_number(), "self_pay": True}


def open_handover_case(patient_number: PatientNumber, specialty: str | None = None) -> Answer:
    """Pass the patient's case to the care coordination desk, where people work.

    Use it when the patient is handed over to a person. Returns the `reference` to name, the
    `phone` of the desk, when they `call_back`, and the `emergency_number`. Asking again returns
    the same case.

    Args:
        patient_number: The insurance or SELF number.
        specialty: What the patient needs; null if it is not known.
    """
    field = specialty_named(plain(specialty))
    return {
        "reference": case_reference(payer(patient_number).patient, field),
        "phone": COORDINATION,
        "call_back": "on the same working day",
        "emergency_number": "911",
    }


def read_specialty(said: str) -> str:
    """Return a specialty by its own name, from that or from words for it such as "heart doctor".

    Raises:
        ValueError: There is no such specialty; the text lists those that there are.
    """
    field = specialty_named(plain(said))
    if not field:
        raise ValueError(f"{said!r} is no specialty here; known are {', '.join(specialties())}")
    return field
