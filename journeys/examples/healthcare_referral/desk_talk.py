"""Tell talk of doctors and times from questions for the handbook."""

from __future__ import annotations

import re

from journeys.examples.healthcare_referral import smalltalk
from journeys.examples.healthcare_referral.conversation import Known
from journeys.examples.healthcare_referral.hearing import clock, says
from journeys.examples.healthcare_referral.material import Slot, handbook_topics
from journeys.examples.healthcare_referral.naming import doctors_named, specialty_named
from journeys.examples.healthcare_referral.preferences import preferences_in, suits, times_in

_DESK = re.compile(
    r"\b(?:available|availability|openings?|slots?|appointment times?|free times?|my options"
    r"|(?:other|another|different|more|next) (?:doctors?|drs?|options?|times?|days?)"
    r"|(?:any|some)(?:body|one|thing) (?:else|earlier|later|sooner|free|open)"
    r"|alternatives?"
    r"|show me|list|recommend|suggest|book|the doctors)\b"
)
_FAREWELL = re.compile(r"\b(?:nice|good|great|lovely|pleasant) (?:\w+day|weekend|evening)\b")
_SEEKS = re.compile(
    r"\b(?:find|see|book|have|any|available|looking for|get an? appointment|make an?)\b"
)


def is_for_the_desk(facts: Known) -> bool:
    """Say whether a message is about doctors or times, and not about a topic of the handbook."""
    text = facts.text
    if says(text, handbook_topics()):
        return False
    wanted, unwanted = doctors_named(text, facts.specialty)
    seeks_specialist = bool(specialty_named(text, plainly=True)) and bool(_SEEKS.search(text))
    return (
        bool(wanted or unwanted or preferences_in(text) or clock(text))
        or seeks_specialist
        or bool(smalltalk.counted(text))
        or bool(_DESK.search(text))
        or smalltalk.wants_other_doctor(text)
        or smalltalk.wants_none_of_them(text)
    )


def turns_down_somebody_else(facts: Known) -> bool:
    """Say whether a doctor is turned down by name who is not the one at hand."""
    _, unwanted = doctors_named(facts.text, facts.specialty)
    return bool(unwanted) and facts.proposed is not None and facts.proposed not in unwanted


def wants_something_else(facts: Known) -> bool:
    """Say whether a time or a doctor is named that is not the booked one."""
    text = _FAREWELL.sub("", facts.text)
    if says(text, handbook_topics()):
        return False
    wanted, unwanted = doctors_named(text, facts.specialty)
    booked = facts.booking.get("doctor_id")
    others = any(doctor.id != booked for doctor in wanted)
    return others or bool(unwanted) or _is_another_time(facts, text)


def _is_another_time(facts: Known, text: str) -> bool:
    booked = Slot(str(facts.booking.get("day")), str(facts.booking.get("time")))
    time, wishes = clock(text), times_in(text)
    if not time and not wishes:
        return False
    return time not in (None, booked.time) or not suits(booked, wishes)
