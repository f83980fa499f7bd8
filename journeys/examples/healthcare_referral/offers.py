"""How the booking desk puts doctors and times to a patient."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from journeys.examples.healthcare_referral.clinic import Clinic
from journeys.examples.healthcare_referral.conversation import Known
from journeys.examples.healthcare_referral.material import COORDINATION, Doctor, Slot, doctors
from journeys.examples.healthcare_referral.preferences import Match, in_words, ranked, updated
from journeys.examples.healthcare_referral.request import Request

_SHOWN = 3


def proposal(facts: Known, request: Request, clinic: Clinic, reason: str = "") -> dict[str, Any]:
    """Return the best doctors with the reasons for them, the first of them as the one at hand.

    Args:
        facts: What is known of the patient.
        request: What the patient asks for.
        clinic: The appointment book.
        reason: Why doctors are proposed although the patient asked for something else.
    """
    matches = _matches(facts, request, clinic)[:_SHOWN]
    if not matches:
        return {"response": f"{reason} {_nobody_left(facts, request)}".strip()}
    heading = f"{reason} Instead I suggest:" if reason else _heading(facts, request, matches[0])
    lines = [f"{number}. {_described(match)}" for number, match in enumerate(matches, 1)]
    question = "Which doctor and time would you like? I can also look for something else."
    return {
        "response": "\n".join([heading, *lines, question]),
        "selected_doctor": facts.chosen(matches[0].doctor),
        "available_slots": [row for match in matches for row in rows(match.doctor, match.slots)],
    }


def rows(doctor: Doctor, slots: Sequence[Slot]) -> list[dict[str, str]]:
    """Return slots in the form in which a context remembers what was offered."""
    return [
        {"doctor_id": doctor.id, "doctor": doctor.name, "day": slot.day, "time": slot.time}
        for slot in slots
    ]


def standing_offer(facts: Known) -> str:
    """Return in one sentence what was offered last; empty if nothing stands."""
    doctor = facts.standing
    if doctor is None:
        return ""
    slots = [str(slot) for other, slot in facts.offered if other == doctor]
    free = f", free on {listed(slots, 'or')}" if slots else ""
    return f"My suggestion still stands: {doctor.name} in {doctor.place}{free}."


def introduced(doctor: Doctor) -> str:
    """Return a sentence on who a doctor is."""
    return (
        f"{doctor.name}, {doctor.place}: {doctor.years} years in {doctor.specialty}, works most on"
        f" {doctor.focus}, speaks {listed(doctor.languages)}."
    )


def listed(words: Sequence[object], last: str = "and") -> str:
    """Return words as a list in a sentence.

    Example:
        >>> listed(["Monday", "Tuesday", "Friday"], "or")
        'Monday, Tuesday or Friday'
    """
    *rest, final = [str(word) for word in words] or [""]
    return f"{', '.join(rest)} {last} {final}" if rest else final


def _matches(facts: Known, request: Request, clinic: Clinic) -> list[Match]:
    left_out = {*request.rejected, *(facts.offered_doctors() if request.more else ())}
    pool = [
        doctor
        for doctor in doctors()
        if doctor.specialty == request.specialty
        and doctor not in left_out
        and doctor.id not in facts.rejections
    ]
    return ranked(pool, updated(facts.preferences, facts.text), clinic, facts.patient)


def _heading(facts: Known, request: Request, best: Match) -> str:
    wishes = in_words(updated(facts.preferences, facts.text))
    if best.missed:
        heading = (
            f"Nobody free for {request.specialty} meets all your wishes ({wishes})."
            " These come closest:"
        )
    else:
        heading = f"For {request.specialty}{f' ({wishes})' if wishes else ''} I suggest:"
    return f"{_set_aside(facts, request)} {heading}".strip()


def _set_aside(facts: Known, request: Request) -> str:
    names = [doctor.name for doctor in request.rejected]
    if not names and facts.proposed is not None and facts.standing is None:
        names = [facts.proposed.name]
    return f"I will not suggest {listed(names, 'or')} again." if names else ""


def _described(match: Match) -> str:
    fits = f" Fits because the doctor {listed(match.met)}." if match.met else ""
    lacks = f" But the doctor {listed(match.missed)}." if match.missed else ""
    free = ", ".join(str(slot) for slot in match.slots)
    return f"{introduced(match.doctor)}{fits}{lacks} Free: {free}."


def _nobody_left(facts: Known, request: Request) -> str:
    if request.more:
        return f"That was everybody who has a free time. {standing_offer(facts)}"
    return (
        f"There is nobody left for {request.specialty} whom you have not turned down and who has a"
        " free time. You may come back to one of them by name, or call care coordination on"
        f" {COORDINATION}: they can look further than I can."
    )
