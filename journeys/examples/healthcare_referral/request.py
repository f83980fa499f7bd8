"""What a message asks of the booking desk.

The three booking agents run side by side and cannot hear each other. Each reads the message by
this one function, so all of them come to the same answer, and exactly one of them speaks.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from journeys.examples.healthcare_referral import smalltalk
from journeys.examples.healthcare_referral.conversation import Known
from journeys.examples.healthcare_referral.hearing import clock, says
from journeys.examples.healthcare_referral.material import Doctor, Slot, doctors
from journeys.examples.healthcare_referral.naming import (
    doctors_named,
    payment_named,
    specialty_named,
    unknown_doctor,
)
from journeys.examples.healthcare_referral.phrases import WITHDRAWALS
from journeys.examples.healthcare_referral.preferences import (
    preferences_in,
    relaxed,
    suits,
    times_in,
)

Kind = Literal[
    "specialty_unknown",
    "not_covered",
    "doctor_unknown",
    "other_specialty",
    "book",
    "choose",
    "withdraw",
    "propose",
    "unclear",
]


@dataclass(frozen=True, slots=True)
class Request:
    """One message, understood.

    Attributes:
        kind: What is to be done; each kind is answered by one agent.
        specialty: The specialty in question; empty while unknown.
        doctor: The doctor in question, for "book", "choose" and "other_specialty".
        slots: The slots in question: exactly one for "book", those that fit for "choose".
        rejected: Doctors turned down by this message.
        more: Whether further doctors are wanted beside those shown.
    """

    kind: Kind
    specialty: str = ""
    doctor: Doctor | None = None
    slots: tuple[Slot, ...] = ()
    rejected: tuple[Doctor, ...] = ()
    more: bool = False


def understand(facts: Known) -> Request:
    """Read the message of a conversation for the booking desk."""
    named, unwanted = doctors_named(facts.text, facts.specialty)
    specialty = _specialty(facts, named)
    rejected = tuple(unwanted) or _turned_down_unnamed(facts)
    wanted = [doctor for doctor in named if doctor not in rejected]
    request = (
        _obstacle(facts, specialty, wanted)
        or _withdrawal(facts, wanted, rejected)
        or _choice(facts, specialty, wanted, rejected)
        or _proposal(facts, specialty, rejected)
    )
    return replace(request, specialty=specialty, rejected=rejected)


def _specialty(facts: Known, wanted: list[Doctor]) -> str:
    # Once it is settled, a complaint in passing ("my knee hurts too") does not change it.
    named = specialty_named(facts.text, plainly=bool(facts.specialty))
    return named or facts.specialty or (wanted[0].specialty if wanted else "")


def _turned_down_unnamed(facts: Known) -> tuple[Doctor, ...]:
    if smalltalk.wants_none_of_them(facts.text):
        return tuple(facts.offered_doctors())
    if smalltalk.wants_other_doctor(facts.text) and facts.proposed is not None:
        return (facts.proposed,)
    return ()


def _obstacle(facts: Known, specialty: str, wanted: list[Doctor]) -> Request | None:
    if unknown_doctor(facts.text) and not wanted:
        return Request("doctor_unknown")
    if not specialty:
        return Request("specialty_unknown")
    if wanted and wanted[0].specialty != specialty:
        return Request("other_specialty", doctor=wanted[0])
    if facts.plan is not None and not facts.plan.pays_for(specialty):
        return None if payment_named(facts.text) else Request("not_covered")
    return None


def _withdrawal(facts: Known, wanted: list[Doctor], rejected: tuple[Doctor, ...]) -> Request | None:
    goes_on = wanted or rejected or clock(facts.text) or times_in(facts.text)
    return Request("withdraw") if not goes_on and says(facts.text, WITHDRAWALS) else None


def _choice(
    facts: Known, specialty: str, wanted: list[Doctor], rejected: tuple[Doctor, ...]
) -> Request | None:
    named = wanted or _counted_doctor(facts)
    if not named and (rejected or specialty != facts.specialty or not _is_choosing(facts)):
        return None
    shown = named or _shown(facts)
    fitting = [(doctor, _pointed_at(facts, doctor)) for doctor in shown]
    doctor, slots = next((pair for pair in fitting if pair[1]), (shown[0], ()))
    if not slots and not named and (len(shown) > 1 or _others_could(facts, specialty)):
        return None
    kind: Kind = "book" if len(slots) == 1 and _is_firm(facts, bool(named)) else "choose"
    return Request(kind, doctor=doctor, slots=slots)


def _others_could(facts: Known, specialty: str) -> bool:
    """Say whether some other doctor works at the time that is named."""
    wishes = times_in(facts.text)
    return bool(wishes) and any(
        suits(slot, wishes)
        for doctor in doctors()
        if doctor.specialty == specialty and not facts.is_out(doctor)
        for slot in doctor.slots
    )


def _shown(facts: Known) -> list[Doctor]:
    first = [facts.standing] if facts.standing is not None else []
    return list(dict.fromkeys([*first, *facts.offered_doctors()]))


def _counted_doctor(facts: Known) -> list[Doctor]:
    shown, counted = facts.offered_doctors(), smalltalk.counted(facts.text)
    several = len(shown) > 1
    number = counted.get("doctor", counted.get("one") if several else None)
    return [shown[number]] if number is not None and number < len(shown) else []


def _counted_time(facts: Known) -> int | None:
    counted, several = smalltalk.counted(facts.text), len(facts.offered_doctors()) > 1
    return counted.get("time", None if several else counted.get("one"))


def _is_choosing(facts: Known) -> bool:
    text = facts.text
    if facts.standing is None:
        return False
    agrees = smalltalk.agrees(text) and not smalltalk.wants_list(text)
    acts = smalltalk.wants_booking(text) or smalltalk.wants_other_time(text)
    narrows = len(facts.offered_doctors()) == 1 and bool(times_in(text))
    return agrees or acts or narrows or _points_at_a_time(facts)


def _points_at_a_time(facts: Known) -> bool:
    return clock(facts.text) is not None or _counted_time(facts) is not None


def _pointed_at(facts: Known, doctor: Doctor) -> tuple[Slot, ...]:
    """Return the doctor's slots that the message points at; without pointing, those shown."""
    time, wishes = clock(facts.text), times_in(facts.text)
    if time or wishes:
        return tuple(
            slot for slot in doctor.slots if time in (None, slot.time) and suits(slot, wishes)
        )
    shown = tuple(slot for other, slot in facts.offered if other == doctor)
    if not shown or smalltalk.wants_other_time(facts.text):
        return doctor.slots
    if smalltalk.wants_soonest(facts.text):
        return shown[:1]
    number = _counted_time(facts)
    return (shown[number],) if number is not None and number < len(shown) else shown


def _is_firm(facts: Known, named: bool) -> bool:
    """Say whether the one slot is asked for, not only asked about."""
    text = facts.text
    if smalltalk.wants_booking(text):
        return True
    if smalltalk.asks(text) or smalltalk.wants_other_time(text):
        return False
    return _points_at_a_time(facts) or (smalltalk.agrees(text) and _leaves_no_choice(facts, named))


def _leaves_no_choice(facts: Known, named: bool) -> bool:
    """Say whether a yes can only mean one slot: one doctor in question, a day or nothing named."""
    alone = len(facts.offered_doctors()) == 1
    wishes = times_in(facts.text)
    clear = ("days" in wishes and (alone or named)) or (alone and not wishes)
    return clear and " but " not in facts.text


def _proposal(facts: Known, specialty: str, rejected: tuple[Doctor, ...]) -> Request:
    more = not rejected and bool(facts.offered) and smalltalk.wants_more(facts.text)
    if rejected or more or specialty != facts.specialty or _is_heard(facts):
        return Request("propose", more=more)
    return Request("unclear")


def _is_heard(facts: Known) -> bool:
    text = facts.text
    if preferences_in(text) or relaxed(text) or smalltalk.wants_list(text):
        return True
    # A "thanks" after a question leads back to what was shown; it need not be shown again.
    polite = smalltalk.thanks(text) and facts.standing is None
    return polite or smalltalk.wants_booking(text) or smalltalk.agrees(text)
