"""The booking desk: three agents side by side, of whom exactly one speaks.

`find_slots` proposes doctors, `match_doctor` deals with the doctor whom the patient picked and
books, `analyze_preferences` keeps the wishes and speaks when there is nobody to propose or pick.
"""

from __future__ import annotations

from typing import Any

from journeys.examples.healthcare_referral.appointment import details_of
from journeys.examples.healthcare_referral.clinic import Clinic
from journeys.examples.healthcare_referral.conversation import Known, Payload, known
from journeys.examples.healthcare_referral.hearing import says
from journeys.examples.healthcare_referral.material import COORDINATION, Doctor, Slot, specialties
from journeys.examples.healthcare_referral.naming import payment_named, unknown_doctor
from journeys.examples.healthcare_referral.offers import (
    introduced,
    listed,
    proposal,
    rows,
    standing_offer,
)
from journeys.examples.healthcare_referral.preferences import suits, times_in, updated, when
from journeys.examples.healthcare_referral.request import Request, understand
from journeys.examples.healthcare_referral.smalltalk import declines, thanks


def find_slots(payload: Payload, clinic: Clinic) -> dict[str, Any]:
    """Propose the doctors who fit best, never one who was turned down."""
    facts = known(payload)
    request = understand(facts)
    if request.kind != "propose":
        return {}
    return proposal(facts, request, clinic, _why_others(facts, request))


def _why_others(facts: Known, request: Request) -> str:
    """Return that the one doctor in question has no such time; empty if that is not the matter."""
    doctor, wishes = facts.standing, times_in(facts.text)
    alone = doctor is not None and facts.offered_doctors() == [doctor]
    if doctor is None or not alone or not wishes or request.rejected or request.more:
        return ""
    if doctor.specialty != request.specialty or any(suits(slot, wishes) for slot in doctor.slots):
        return ""
    return f"{doctor.name} has nothing {when(wishes)}."


def match_doctor(payload: Payload, clinic: Clinic) -> dict[str, Any]:
    """Deal with the doctor whom the patient picked: show the free slots, or book the one meant."""
    facts = known(payload)
    request = understand(facts)
    if request.kind == "doctor_unknown":
        return _no_such_doctor(facts, request, clinic)
    if request.kind == "withdraw":
        return _withdraw(facts, clinic)
    if request.doctor is None:
        return {}
    if request.kind == "other_specialty":
        return {"response": _not_of_the_field(request.doctor, request)}
    if request.kind == "book":
        return _book(facts, request, request.doctor, clinic)
    return _show_times(facts, request, request.doctor, clinic)


def analyze_preferences(payload: Payload) -> dict[str, Any]:
    """Keep wishes, the specialty and who was turned down; ask if nothing could be understood."""
    facts = known(payload)
    request = understand(facts)
    settled = {"specialty": request.specialty} if request.specialty != facts.specialty else {}
    told = {**({} if request.kind == "not_covered" else settled), **_payment(facts)}
    wishes = facts.preferences if request.kind == "book" else updated(facts.preferences, facts.text)
    return {
        "response": _question(facts, request),
        "preferences": dict(wishes) if wishes != facts.preferences else None,
        "patient_info": told or None,
        "rejected_doctors": [facts.rejected(doctor) for doctor in request.rejected] or None,
    }


def _payment(facts: Known) -> dict[str, Any]:
    return payment_named(facts.text, str(facts.patient_info.get("patient_number") or ""))


def _question(facts: Known, request: Request) -> str | None:
    if request.kind == "specialty_unknown":
        fields = listed(list(specialties()), "or")
        return f"Which kind of specialist do you need? I can book for {fields}."
    if request.kind == "not_covered" and facts.plan is not None:
        return (
            f"Your plan {facts.plan.name} does not pay for {request.specialty}, so I cannot book it"
            " here. Say self-pay to pay for it yourself, or ask care coordination on"
            f" {COORDINATION}."
            f"{f' Shall we go on with {facts.specialty}?' if facts.specialty else ''}"
        )
    return _unclear(facts) if request.kind == "unclear" else None


def _unclear(facts: Known) -> str:
    if declines(facts.text) and not thanks(facts.text):
        return "All right. What would suit you better: another doctor, day, time or district?"
    offer = standing_offer(facts)
    hint = (
        "Name a doctor and a time to book, or say what should be different."
        if offer
        else f"Shall I show you the available doctors for {facts.specialty}?"
    )
    return " ".join(part for part in (_taken_note(facts.text), offer, hint) if part)


def _taken_note(text: str) -> str:
    if thanks(text):
        return "You are welcome."
    if payment_named(text):
        return "I have noted how you pay."
    if says(text, ("today", "tomorrow", "this week", "next week")):
        return "I book by days of the week, from Monday to Saturday."
    return "I did not quite understand that."


def _show_times(facts: Known, request: Request, doctor: Doctor, clinic: Clinic) -> dict[str, Any]:
    free = clinic.free_slots(doctor, facts.patient)
    if not free:
        return proposal(facts, request, clinic, f"{doctor.name} has no free time at present.")
    fitting = [slot for slot in free if slot in request.slots]
    slots = fitting or free
    missing = "" if fitting else f"{doctor.name} has nothing free at the time you name. "
    ask = (
        f"Free is {slots[0]}. Shall I book it?"
        if len(slots) == 1
        else f"Free are {listed(slots)}. Which one shall I book?"
    )
    return _with_times(facts, f"{missing}{introduced(doctor)} {ask}", doctor, slots)


def _with_times(facts: Known, response: str, doctor: Doctor, slots: list[Slot]) -> dict[str, Any]:
    return {
        "response": response,
        "selected_doctor": facts.chosen(doctor),
        "available_slots": rows(doctor, slots),
    }


def _book(facts: Known, request: Request, doctor: Doctor, clinic: Clinic) -> dict[str, Any]:
    slot = request.slots[0]
    if not clinic.book(facts.patient, doctor, slot):
        return _taken(facts, request, doctor, slot, clinic)
    return {
        "response": f"Done: {slot} with {doctor.name} is yours.",
        "selected_doctor": facts.chosen(doctor),
        "booking_details": details_of(facts.patient, doctor, slot),
    }


def _withdraw(facts: Known, clinic: Clinic) -> dict[str, Any]:
    clinic.cancel(facts.patient, facts.specialty)
    return {
        "response": "All right: nothing is booked any more, and your referral stays valid. If"
        " another doctor, day or time would suit you better, just say which."
    }


def _taken(
    facts: Known, request: Request, doctor: Doctor, slot: Slot, clinic: Clinic
) -> dict[str, Any]:
    sorry = f"I am sorry, {slot} with {doctor.name} is already taken."
    free = clinic.free_slots(doctor, facts.patient)
    if not free:
        return proposal(facts, request, clinic, sorry)
    question = "Which one shall I book, or shall I look for another doctor?"
    return _with_times(facts, f"{sorry} Still free there: {listed(free)}. {question}", doctor, free)


def _no_such_doctor(facts: Known, request: Request, clinic: Clinic) -> dict[str, Any]:
    sorry = f"I have no Dr. {unknown_doctor(facts.text)} in the directory."
    if not request.specialty:
        return {"response": f"{sorry} Which kind of specialist do you need?"}
    return proposal(facts, request, clinic, sorry)


def _not_of_the_field(doctor: Doctor, request: Request) -> str:
    return (
        f"{doctor.name} works in {doctor.specialty}, and you asked for {request.specialty}. Say"
        f" '{doctor.specialty}' if that is what you need, or pick one of the others."
    )
