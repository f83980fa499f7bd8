"""The agents beside the booking: handbook, concerns, handing over, confirmation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from journeys.examples.healthcare_referral.appointment import (
    CHANGES,
    TO_BRING,
    case_reference,
    confirmation_number,
    how_to_come,
)
from journeys.examples.healthcare_referral.conversation import Known, Payload, known
from journeys.examples.healthcare_referral.hearing import plain, says
from journeys.examples.healthcare_referral.material import (
    COORDINATION,
    FRONT_DESK,
    Entry,
    Plan,
    doctor_by_id,
)
from journeys.examples.healthcare_referral.offers import standing_offer
from journeys.examples.healthcare_referral.search import answering
from journeys.examples.healthcare_referral.smalltalk import agrees, declines, thanks

OPEN_CONCERNS_BEFORE_HANDOVER = 3
"""After so many open concerns in a row a person takes over (the number is ADR-025's)."""

_CONCERNS: Mapping[tuple[str, ...], str] = {
    ("cost", "costs", "expensive", "afford", "money", "pay", "price"): (
        "Money is a fair thing to ask about first. The billing desk on 555-0143 can tell you your"
        " share before the visit, and bills over 200 dollars can be paid in parts."
    ),
    ("scared", "afraid", "fear", "nervous", "anxious", "worried", "hurt", "hurts", "pain",
     "painful", "needle", "needles"): (
        "It is quite usual to be nervous before such a visit. A first visit is a talk and an"
        " examination, nothing is done without your consent, and you may bring somebody along."
    ),
    ("time", "busy", "work", "job", "hours", "schedule"): (
        "There are times before work, in the evening and on Saturday morning; tell me which would"
        " suit you and I look only for those."
    ),
    ("far", "distance", "travel", "drive", "get there"): (
        "We have practices in five districts; name the one nearest to you and I look there."
    ),
    ("doctor", "trust", "experience", "second opinion", "young"): (
        "You choose the doctor, and you may change later without giving a reason."
    ),
    ("need", "necessary", "better", "better now", "point", "worth", "serious"): (
        "Whether the visit is needed is for you and your primary care doctor to say; a talk with a"
        " specialist commits you to nothing."
    ),
}  # fmt: skip
_RED_FLAGS = (
    "emergency",
    "chest pain",
    "can't breathe",
    "cannot breathe",
    "fainted",
    "stroke",
    "suicidal",
)


def answer_from_handbook(payload: Payload) -> dict[str, Any]:
    """Answer a question from the handbook and cite it, or say that the handbook has no answer."""
    facts = known(payload)
    question = str(payload.get("question") or payload.get("message") or "")
    if facts.booking and says(plain(question), ("my appointment", "my booking", "my visit")):
        own = f"Your appointment: {_summary(facts.booking)}"
        return {"response": f"{own} {_way_on(facts)}", "follow_up_needed": False}
    entry = answering(question)
    if entry is None:
        return {"response": f"{_no_answer(question)} {_way_on(facts)}", "follow_up_needed": True}
    return {
        "response": f"{_cited(entry, facts)} {_way_on(facts)}",
        "follow_up_needed": False,
    }


def _cited(entry: Entry, facts: Known) -> str:
    fact = own_terms(entry, facts.plan)
    own = f" With {facts.plan.name} it is {fact}." if fact and facts.plan is not None else ""
    return f"{entry.answer}{own} (Handbook, {entry.policy})"


def own_terms(entry: Entry, plan: Plan | None) -> str:
    """Return what an entry comes to on a patient's own plan, such as "40 dollars"; else empty."""
    return plan.facts.get(entry.plan_fact, "") if plan is not None else ""


def _no_answer(question: str) -> str:
    asked = plain(question)
    if len(asked.split()) < 6 and says(asked, ("help", "question", "questions")):
        return (
            "Gladly. I can tell you about costs, insurance, referrals, appointments, documents,"
            " parking, interpreters, video visits and more: what would you like to know?"
        )
    return f"The handbook has no answer to that. The front desk on {FRONT_DESK} will know."


def _way_on(facts: Known) -> str:
    if facts.booking:
        return "Is there anything else?"
    if facts.standing is not None:
        return f"Shall we go on with the booking? I had suggested {facts.standing.name}."
    if facts.patient_info:
        return "Shall we go on with the booking?"
    return "Shall we go on with your referral?"


def reassure(payload: Payload) -> dict[str, Any]:
    """Take up a concern without pressing; after the third open one, hand over to a person.

    In the escalation pathway the input `desk` is filled, and the patient is handed over at once.
    """
    facts = known(payload)
    desk = payload.get("desk")
    if desk:
        return _hand_over(facts, str(desk))
    if _is_settled(facts):
        return {"response": _go_on(facts), "resolution": "resolved"}
    if _is_a_no(facts):
        return {
            "response": "That is all right: nothing is booked, and your referral stays valid."
            f" Come back whenever you like, or call {FRONT_DESK}.",
            "resolution": "needs_alternatives",
        }
    if facts.escalation_count + 1 >= OPEN_CONCERNS_BEFORE_HANDOVER:
        return {
            "response": "I hear that this does not feel right yet, and I do not want to press you."
            " A care coordinator can talk it through with you: with your next message I hand you"
            f" over, or call {COORDINATION}.",
            "resolution": "escalate",
            "escalation_count": 1,
        }
    return {
        "response": f"{_comfort(facts)} There is no hurry: your referral stays valid, and nothing"
        " is booked until you say so.",
        "resolution": "needs_alternatives",
        "escalation_count": 1,
    }


def _is_settled(facts: Known) -> bool:
    return (agrees(facts.text) or thanks(facts.text)) and not says(
        facts.text, ("but", "not", "still")
    )


def _is_a_no(facts: Known) -> bool:
    refusals = ("cancel", "stop", "forget it", "leave it", "not interested", "don't want to go")
    return declines(facts.text) or says(facts.text, refusals)


def _go_on(facts: Known) -> str:
    offer = standing_offer(facts)
    ask = "Shall I book one of these times, or look for something else?"
    return f"Good. {offer} {ask}" if offer else "Good. Shall I show you the available doctors?"


def _comfort(facts: Known) -> str:
    for words, comfort in _CONCERNS.items():
        if says(facts.text, words):
            return comfort
    return "Of course, take the time you need. May I ask what makes you hesitate?"


def _hand_over(facts: Known, desk: str) -> dict[str, Any]:
    urgent = "If this is an emergency, call 911 now. " if says(facts.text, _RED_FLAGS) else ""
    turned_down = sorted(
        doctor.name for doctor in map(doctor_by_id, facts.rejections) if doctor is not None
    )
    case = {
        "reference": case_reference(facts.patient, facts.specialty),
        "specialty": facts.specialty,
        "rejected": turned_down,
        "proposed": facts.standing.name if facts.standing is not None else "",
    }
    return {
        "response": f"{urgent}I have passed your case to the {desk}, reference"
        f" {case['reference']}. They call you back on the same working day, or reach them on"
        f" {COORDINATION}. They see what we found so far, so you need not start again. If you would"
        " rather go on here, just write.",
        "handover": case,
    }


def confirm(payload: Payload) -> dict[str, Any]:
    """Confirm a booking: its number, date and place, how to prepare, and how to change it."""
    given = payload.get("booking_details")
    details = given if isinstance(given, Mapping) and given else known(payload).booking
    if not details:
        return {"response": "There is no appointment to confirm yet. Shall I show you the doctors?"}
    number = confirmation_number(details)
    return {
        "response": f"Your appointment is confirmed, number {number}: {_summary(details)}"
        f" To prepare: {how_to_come(details)['preparation']} Bring {TO_BRING}. If another time"
        f" suits you better, just say so here, or {CHANGES}.",
        "confirmation_number": number,
    }


def _summary(details: Mapping[str, Any]) -> str:
    way = how_to_come(details)["directions"]
    return (
        f"{details.get('doctor')} ({details.get('specialty')}), {details.get('day')} at"
        f" {details.get('time')}, {details.get('place')}{f' ({way})' if way else ''}."
    )
