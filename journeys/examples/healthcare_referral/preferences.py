"""What a patient prefers, and how well each doctor fits it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from journeys.examples.healthcare_referral.clinic import Clinic
from journeys.examples.healthcare_referral.hearing import (
    PARTS,
    Mention,
    bounds,
    days,
    parts,
    says,
)
from journeys.examples.healthcare_referral.material import Doctor, Slot
from journeys.examples.healthcare_referral.naming import gender_named, language_named, place_named
from journeys.examples.healthcare_referral.smalltalk import wants_soonest

Preferences = dict[str, Any]
"""Any of: days, not_days, part, not_parts, after, before, language, gender, place, soonest."""

_TIMES = ("part", "not_parts", "after", "before")
_DAYS = ("days", "not_days")
_RELAXED: Mapping[tuple[str, ...], tuple[str, ...]] = {
    ("any day", "day doesn't matter", "whatever day"): _DAYS,
    ("any time", "anytime", "whenever", "time doesn't matter"): (*_DAYS, *_TIMES),
    ("anywhere", "any place", "any district", "place doesn't matter"): ("place",),
    ("any language", "english is fine", "language doesn't matter"): ("language",),
    ("man or woman", "gender doesn't matter", "either gender"): ("gender",),
    ("any doctor", "no preference", "no preferences", "it doesn't matter", "don't mind", "relax",
     "forget my preferences", "drop my preferences", "flexible", "drop that"): (
        *_DAYS, *_TIMES, "language", "gender", "place",
    ),
}  # fmt: skip


def preferences_in(text: str) -> Preferences:
    """Return what a plain text says about the wanted doctor and time."""
    named_days, named_parts = days(text), parts(text)
    heard: Preferences = {
        "days": _names(named_days, refused=False),
        "not_days": _names(named_days, refused=True),
        "part": next(iter(_names(named_parts, refused=False)), ""),
        "not_parts": _names(named_parts, refused=True),
        **bounds(text),
        "language": language_named(text),
        "gender": gender_named(text),
        "place": place_named(text),
        "soonest": wants_soonest(text),
    }
    return {name: value for name, value in heard.items() if value}


def times_in(text: str) -> Preferences:
    """Return only what a plain text says about days and times."""
    heard = preferences_in(text)
    return {name: heard[name] for name in (*_DAYS, *_TIMES) if name in heard}


def relaxed(text: str) -> set[str]:
    """Return the names of the preferences that a plain text gives up."""
    return {name for said, names in _RELAXED.items() if says(text, said) for name in names}


def updated(known: Mapping[str, Any], text: str) -> Preferences:
    """Return the preferences after a message: the newest word on each matter holds."""
    heard = preferences_in(text)
    gone = relaxed(text)
    if any(name in heard for name in _TIMES):
        gone |= set(_TIMES)
    kept = {name: value for name, value in known.items() if name not in gone}
    merged = {**kept, **heard}
    for wanted, unwanted in (("days", "not_days"), ("not_days", "days")):
        if wanted in heard and unwanted not in heard and unwanted in merged:
            merged[unwanted] = [day for day in merged[unwanted] if day not in merged[wanted]]
    return {name: value for name, value in merged.items() if value}


def _names(found: Iterable[Mention], *, refused: bool) -> list[str]:
    return list(dict.fromkeys(hit.name for hit in found if hit.refused is refused))


@dataclass(frozen=True, slots=True)
class Match:
    """How a doctor fits: the free slots to offer, the wishes met, and those that are not."""

    doctor: Doctor
    slots: tuple[Slot, ...]
    met: tuple[str, ...]
    missed: tuple[str, ...]


def ranked(
    pool: Iterable[Doctor], wishes: Mapping[str, Any], clinic: Clinic, patient: str = ""
) -> list[Match]:
    """Return the doctors who have a free slot, the best fit first.

    Fewest missed wishes first, then (where an early time matters) the earliest slot, then the
    longest experience.
    """
    found = [_match(doctor, wishes, clinic.free_slots(doctor, patient)) for doctor in pool]
    soon = bool(wishes.get("soonest"))
    return sorted(
        (match for match in found if match.slots),
        key=lambda match: (
            len(match.missed),
            match.slots[0].order if soon else (),
            -match.doctor.years,
        ),
    )


def suits(slot: Slot, wishes: Mapping[str, Any]) -> bool:
    """Say whether a slot meets the wishes about days and times."""
    begin, end = PARTS.get(wishes.get("part", ""), ("00:00", "24:00"))
    in_time = (
        max(begin, wishes.get("after", begin)) <= slot.time < min(end, wishes.get("before", end))
    )
    unwanted = [PARTS[part] for part in wishes.get("not_parts", ()) if part in PARTS]
    return (
        in_time
        and slot.day in (wishes.get("days") or [slot.day])
        and slot.day not in wishes.get("not_days", ())
        and not any(start <= slot.time < stop for start, stop in unwanted)
    )


def _match(doctor: Doctor, wishes: Mapping[str, Any], free: list[Slot]) -> Match:
    fitting = [slot for slot in free if suits(slot, wishes)]
    tests = _tests(doctor, wishes, bool(fitting))
    return Match(
        doctor=doctor,
        slots=tuple(fitting or free),
        met=tuple(yes for holds, yes, _ in tests if holds),
        missed=tuple(no for holds, _, no in tests if not holds),
    )


def _tests(
    doctor: Doctor, wishes: Mapping[str, Any], has_time: bool
) -> list[tuple[bool, str, str]]:
    language, gender, place = (wishes.get(name, "") for name in ("language", "gender", "place"))
    tests = [
        (
            language in doctor.languages,
            f"speaks {language}",
            f"does not speak {language}",
            language,
        ),
        (gender == doctor.gender, f"is {gender}", f"is {doctor.gender}", gender),
        (place == doctor.place, f"practises in {place}", f"practises in {doctor.place}", place),
        (
            has_time,
            f"has a time that suits ({when(wishes)})",
            f"has no free time that suits ({when(wishes)})",
            when(wishes),
        ),
    ]
    return [(holds, yes, no) for holds, yes, no, asked in tests if asked]


def when(wishes: Mapping[str, Any]) -> str:
    """Return the wishes about days and times in words; empty without any.

    Example:
        >>> when({"days": ["Tuesday"], "part": "morning", "before": "11:00"})
        'on Tuesday in the morning before 11:00'
    """
    words = [
        f"on {' or '.join(wishes.get('days', ()))}" if wishes.get("days") else "",
        f"not on {' or '.join(wishes.get('not_days', ()))}" if wishes.get("not_days") else "",
        f"in the {wishes['part']}" if wishes.get("part") else "",
        f"not in the {' or '.join(wishes.get('not_parts', ()))}" if wishes.get("not_parts") else "",
        f"from {wishes['after']}" if wishes.get("after") else "",
        f"before {wishes['before']}" if wishes.get("before") else "",
    ]
    return " ".join(word for word in words if word)


def in_words(wishes: Mapping[str, Any]) -> str:
    """Return all wishes in words, for the patient to check; empty without any."""
    words = [
        f"a {wishes['gender']} doctor" if wishes.get("gender") else "",
        f"{wishes['language']} spoken" if wishes.get("language") else "",
        f"in {wishes['place']}" if wishes.get("place") else "",
        when(wishes),
        "as soon as possible" if wishes.get("soonest") else "",
    ]
    return ", ".join(word for word in words if word)
