"""The booking desk: three agents side by side, of whom exactly one speaks.

`find_slots` proposes doctors, `match_doctor` deals with the doctor whom the patient picked and books,
`analyze_preferences` keeps the wishes and speaks when there is nothing to propose or pick.
"""

from __future__ import annotations

from typing import Any

from journeys.examples.healthcare_referral.clinic import Clinic
from journeys.examples.healthcare_referral.conversation import Known, Payload, known, offers
from journeys.examples.healthcare_referral.material import (
    COORDINATION,
    Doctor,
    Slot,
    doctors,
    specialties,
)
from journeys.examples.healthcare_referral.naming import unknown_doctor
from journeys.examples.healthcare_referral.preferences import (
    Match,
    in_words,
    ranked,
    updated,
)
from journeys.examples.healthcare_referral.request import Request, understand
from journeys.examples.healthcare_referral.smalltalk import declines

_SHOWN = 3


def find_slots(payload: Payload, clinic: Clinic) -> dict[str, Any]:
    """Propose the doctors who fit best, never one who was turned down."""
    facts = known(payload)
    request = understand(facts)
    return _proposal(facts, request, clinic) if request.kind == "propose" else {}


def match_doctor(payload: Payload, clinic: Clinic) -> dict[str, Any]:
    """Deal with the doctor whom the patient picked: show the free slots, or book the one meant."""
    facts = known(payload)
    request = understand(facts)
    if request.kind == "doctor_unknown":
        return _no_such_doctor(facts, request, clinic)
    doctor = request.doctor
    if doctor is None:
        return {}
    if request.kind == "other_specialty":
        return {"response": _not_of_the_field(doctor, request)}
    if request.kind == "book":
        return _book(facts, request, doctor, clinic)
    return _choose(facts, request, doctor, clinic)


def analyze_preferences(payload: Payload) -> dict[str, Any]:
    """Keep wishes, the specialty and who was turned down; ask if nothing could be understood."""
    facts = known(payload)
    request = understand(facts)
    changed = request.specialty != facts.specialty and request.kind != "not_covered"
    wishes = facts.preferences if request.kind == "book" else updated(facts.preferences, facts.text)
    return {
        "response": _question(facts, request),
        "preferences": dict(wishes) if wishes != facts.preferences else None,
        "patient_info": {"specialty": request.specialty} if changed else None,
        "rejected_doctors": [doctor.card() for doctor in request.rejected] or None,
    }


def standing_offer(facts: Known) -> str:
    """Return in one sentence what was offered last; empty if nothing stands."""
    doctor = facts.standing
    if doctor is None:
        return ""
    slots = [str(slot) for other, slot in facts.offered if other == doctor]
    free = f", free on {_or(slots)}" if slots else ""
    return f"My suggestion still stands: {doctor.name} in {doctor.place}{free}."


def _question(facts: Known, request: Request) -> str | None:
    if request.kind == "specialty_unknown":
        return (
            "Which kind of specialist do you need? I can book for " + _or(list(specialties())) + "."
        )
    if request.kind == "not_covered" and facts.plan is not None:
        return (
            f"Your plan {facts.plan.name} does not pay for {request.specialty}, so I cannot book it"
            f" here. Care coordination on {COORDINATION} can tell you what a visit would cost."
        )
    return _unclear(facts) if request.kind == "unclear" else None


def _unclear(facts: Known) -> str:
    if declines(facts.text):
        return "All right. What would suit you better: another doctor, day, time or district?"
    offer = standing_offer(facts)
    hint = (
        "Name a doctor and a time to book, or say what you would like to be different."
        if offer
        else f"Shall I show you the available doctors for {facts.specialty}?"
    )
    return " ".join(part for part in ("I did not quite understand that.", offer, hint) if part)


def _pool(facts: Known, request: Request) -> list[Doctor]:
    refused = facts.rejected | {doctor.id for doctor in request.rejected}
    return [
        doctor
        for doctor in doctors()
        if doctor.specialty == request.specialty and doctor.id not in refused
    ]


def _ranked(facts: Known, request: Request, clinic: Clinic) -> list[Match]:
    wishes = updated(facts.preferences, facts.text)
    return ranked(_pool(facts, request), wishes, clinic, facts.patient)


def _proposal(facts: Known, request: Request, clinic: Clinic) -> dict[str, Any]:
    matches = _ranked(facts, request, clinic)
    if request.more:
        seen = facts.offered_doctors()
        matches = [match for match in matches if match.doctor not in seen]
    if not matches:
        return {"response": _nobody_left(facts, request)}
    return _offer(matches[:_SHOWN], _heading(facts, request, matches[0]))


def _offer(matches: list[Match], heading: str) -> dict[str, Any]:
    lines = [f"{number}. {_described(match)}" for number, match in enumerate(matches, 1)]
    question = "Which doctor and time would you like? I can also look for something else."
    return {
        "response": "\n".join([heading, *lines, question]),
        "selected_doctor": matches[0].doctor.card(),
        "available_slots": [row for match in matches for row in offers(match.doctor, match.slots)],
    }


def _heading(facts: Known, request: Request, best: Match) -> str:
    noted = _set_aside(facts, request)
    wishes = in_words(updated(facts.preferences, facts.text))
    if best.missed:
        heading = (
            f"Nobody free for {request.specialty} meets all your wishes ({wishes})."
            " These come closest:"
        )
    else:
        heading = f"For {request.specialty}{f' ({wishes})' if wishes else ''} I suggest:"
    return f"{noted} {heading}".strip()


def _set_aside(facts: Known, request: Request) -> str:
    names = [doctor.name for doctor in request.rejected]
    if not names and facts.proposed is not None and facts.standing is None:
        names = [facts.proposed.name]
    return f"{_and(names)} will not be suggested again." if names else ""


def _described(match: Match) -> str:
    doctor = match.doctor
    who = (
        f"{doctor.name}, {doctor.place}: {doctor.years} years in {doctor.specialty}, works most on"
        f" {doctor.focus}, speaks {_and(list(doctor.languages))}."
    )
    fits = f" Fits because the doctor {_and(list(match.met))}." if match.met else ""
    lacks = f" But the doctor {_and(list(match.missed))}." if match.missed else ""
    return f"{who}{fits}{lacks} Free: {', '.join(map(str, match.slots))}."


def _nobody_left(facts: Known, request: Request) -> str:
    if request.more:
        return "That was everybody who has a free time. " + standing_offer(facts)
    return (
        f"There is nobody left for {request.specialty} whom you have not turned down and who has a"
        f" free time. You may come back to one of them by name, or call care coordination on"
        f" {COORDINATION}: they can look further than I can."
    )


def _choose(facts: Known, request: Request, doctor: Doctor, clinic: Clinic) -> dict[str, Any]:
    free = clinic.free_slots(doctor, facts.patient)
    fitting = [slot for slot in free if slot in request.slots]
    if not free:
        return _instead(facts, request, clinic, f"{doctor.name} has no free time at present.")
    slots = fitting or free
    missing = "" if fitting else f"{doctor.name} has nothing free at the time you name. "
    about = (
        f"{doctor.name}, {doctor.place}, {doctor.years} years in {doctor.specialty}, speaks"
        f" {_and(list(doctor.languages))}."
    )
    ask = (
        f"Free is {slots[0]}. Shall I book it?"
        if len(slots) == 1
        else f"Free are {_and([str(slot) for slot in slots])}. Which one shall I book?"
    )
    return {
        "response": f"{missing}{about} {ask}",
        "selected_doctor": doctor.card(),
        "available_slots": offers(doctor, slots),
    }


def _book(facts: Known, request: Request, doctor: Doctor, clinic: Clinic) -> dict[str, Any]:
    slot = request.slots[0]
    if not clinic.book(facts.patient, doctor, slot):
        return _taken(facts, request, doctor, slot, clinic)
    return {
        "response": f"Done: {slot} with {doctor.name} is yours.",
        "selected_doctor": doctor.card(),
        "booking_details": {
            "doctor_id": doctor.id,
            "doctor": doctor.name,
            "specialty": doctor.specialty,
            "place": doctor.place,
            "day": slot.day,
            "time": slot.time,
            "patient": facts.patient,
        },
    }


def _taken(
    facts: Known, request: Request, doctor: Doctor, slot: Slot, clinic: Clinic
) -> dict[str, Any]:
    sorry = f"I am sorry, {slot} with {doctor.name} has just been taken."
    free = clinic.free_slots(doctor, facts.patient)
    if not free:
        return _instead(facts, request, clinic, sorry)
    return {
        "response": f"{sorry} Still free with the same doctor: {_and([str(s) for s in free])}."
        " Which one shall I book, or shall I look for another doctor?",
        "selected_doctor": doctor.card(),
        "available_slots": offers(doctor, free),
    }


def _instead(facts: Known, request: Request, clinic: Clinic, reason: str) -> dict[str, Any]:
    matches = _ranked(facts, request, clinic)
    if not matches:
        return {"response": f"{reason} {_nobody_left(facts, request)}"}
    return _offer(matches[:_SHOWN], f"{reason} Instead I suggest:")


def _no_such_doctor(facts: Known, request: Request, clinic: Clinic) -> dict[str, Any]:
    sorry = f"I have no Dr. {unknown_doctor(facts.text)} in the directory."
    if not request.specialty:
        return {"response": f"{sorry} Which kind of specialist do you need?"}
    return _instead(facts, request, clinic, sorry)


def _not_of_the_field(doctor: Doctor, request: Request) -> str:
    return (
        f"{doctor.name} works in {doctor.specialty}, and you asked for {request.specialty}. Say"
        f" '{doctor.specialty}' if that is what you need, or pick one of the others."
    )


def _and(words: list[str]) -> str:
    return " and ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else "".join(words)


def _or(words: list[str]) -> str:
    return " or ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else "".join(words)
