"""Who and what is named in a message: doctors, specialties, districts, languages, numbers."""

from __future__ import annotations

import re
import secrets
from functools import cache
from typing import Any

from rapidfuzz import fuzz, process

from journeys.examples.healthcare_referral.hearing import Mention, mentions, plain, refused, says
from journeys.examples.healthcare_referral.material import (
    Doctor,
    doctors,
    languages,
    places,
    plans,
    specialties,
)

_TITLED = re.compile(r"\b(?P<title>dr|doctor) (?P<name>[a-z][\w'-]+)")
_INSURANCE = re.compile(r"\b(?P<prefix>[a-z]{3})(?P<gap>[- ]?)(?P<digits>\d{1,9})\b")
_NO_NAMES = frozenset({
    "who", "that", "which", "with", "in", "on", "at", "for", "near", "please", "appointment", "is",
    "and", "or", "to", "speaking", "i", "you", "from", "the",
})  # fmt: skip
# What follows "dr" is nearly sure to be a name; elsewhere only a close spelling counts.
_LIKENESS_AFTER_TITLE = 75
_LIKENESS = 88

_GENDERS = {
    "female": ("female", "woman", "women", "lady"),
    "male": ("male", "a man", "gentleman"),
}
_TONGUES = {"Mandarin": ("chinese",), "Norwegian": ("norsk",), "Dutch": ("flemish",)}
_SELF_PAY = (
    "self-pay", "self pay", "pay myself", "pay for it myself", "pay privately", "out of pocket",
    "no insurance", "not insured", "uninsured", "without insurance", "don't have insurance",
    "pay for myself",
)  # fmt: skip
_REFERRAL = {"referral": ("referral", "referred", "refers", "sent me", "sent by")}


def doctors_named(text: str, specialty: str = "") -> tuple[list[Doctor], list[Doctor]]:
    """Return the doctors whom a plain text wants, and those whom it turns down.

    Small misspellings are read. Of namesakes the one of the given specialty is meant, and of
    those the one whose first name is said.
    """
    # Of one who is named twice, the last word holds.
    turned_down = {
        _of_that_name(mention.name, text, specialty): mention.refused for mention in _surnames(text)
    }
    wanted = [doctor for doctor, out in turned_down.items() if not out]
    return wanted, [doctor for doctor in turned_down if doctor not in wanted]


def unknown_doctor(text: str) -> str:
    """Return a name that follows "Dr." and is nobody's in the directory; else an empty text."""
    known = {mention.start for mention in _surnames(text)}
    for hit in _TITLED.finditer(text):
        # "doctor" is also an ordinary word: "a heart doctor soon".
        is_name = hit["title"] == "dr" and hit["name"] not in _NO_NAMES
        if is_name and hit.start("name") not in known:
            return hit["name"].capitalize()
    return ""


@cache
def _by_surname() -> dict[str, str]:
    return {plain(doctor.surname): doctor.surname for doctor in doctors()}


def _surnames(text: str) -> list[Mention]:
    titled = {hit.start("name") for hit in _TITLED.finditer(text)}
    known = _by_surname()
    found: list[Mention] = []
    for word in re.finditer(r"[a-z][\w'-]+", text):
        likeness = _LIKENESS_AFTER_TITLE if word.start() in titled else _LIKENESS
        heard = word[0].removesuffix("'s")
        match = process.extractOne(heard, known.keys(), scorer=fuzz.ratio, score_cutoff=likeness)
        if match and heard not in _NO_NAMES:
            turned_down = refused(text, word.start(), word.end())
            found.append(Mention(known[match[0]], word.start(), word.end(), turned_down))
    return found


def _of_that_name(surname: str, text: str, specialty: str) -> Doctor:
    namesakes = [doctor for doctor in doctors() if doctor.surname == surname]
    by_field = [doctor for doctor in namesakes if doctor.specialty == specialty] or namesakes
    by_first_name = [doctor for doctor in by_field if says(text, [plain(doctor.name.split()[1])])]
    return (by_first_name or by_field)[0]


def specialty_named(text: str, *, plainly: bool = False) -> str:
    """Return the specialty that a plain text asks for, else an empty text.

    Args:
        text: The message in plain form.
        plainly: Whether only a doctor's title counts ("skin doctor"), not a complaint ("rash").
    """
    words = {
        name: [word for word in said if _is_title(word) or not plainly]
        for name, said in specialties().items()
    }
    return next((hit.name for hit in mentions(text, words) if not hit.refused), "")


def _is_title(word: str) -> bool:
    if word in specialties() or word == "ent":
        return True
    return word.endswith(("ist", "ists")) or " doctor" in word or " physician" in word


def language_named(text: str) -> str:
    """Return a language that some doctor speaks and the text asks for, else an empty text."""
    words = {name: (name, *_TONGUES.get(name, ())) for name in languages()}
    return _wanted(mentions(text, words))


def place_named(text: str) -> str:
    """Return the district that a plain text asks for, else an empty text."""
    return _wanted(mentions(text, places()))


def gender_named(text: str) -> str:
    """Return the gender of the doctor that is asked for; who says "I'm a woman" asks for none."""
    found = mentions(re.sub(r"\bi(?:'m| am) a \w+", "", text), _GENDERS)
    unwanted = next((mention.name for mention in found if mention.refused), "")
    return _wanted(found) or {"male": "female", "female": "male"}.get(unwanted, "")


def _wanted(found: list[Mention]) -> str:
    return next((mention.name for mention in found if not mention.refused), "")


def insurance_id(text: str) -> str:
    """Return an insurance number in its usual form, else an empty text.

    Example:
        >>> insurance_id("my number is ins 123456"), insurance_id("call me on 555-0142")
        ('INS-123456', '')
    """
    for hit in _INSURANCE.finditer(plain(text)):
        unknown_but_likely = hit["gap"] == "-" and len(hit["digits"]) >= 5
        if unknown_but_likely or hit["prefix"].upper() in plans():
            return f"{hit['prefix'].upper()}-{hit['digits']}"
    return ""


def pays_alone(text: str) -> bool:
    """Say whether the patient wants to pay without an insurance."""
    return says(text, _SELF_PAY)


def payment_named(text: str, patient_number: str = "") -> dict[str, Any]:
    """Return how the patient says they pay, as facts to remember; empty if nothing is said.

    Who pays alone gets a number, or keeps the one given: the clinic must tell two patients apart.
    """
    number = insurance_id(text)
    if number:
        return {"insurance_id": number, "self_pay": False}
    if pays_alone(text):
        return {"self_pay": True, "patient_number": patient_number or new_patient_number()}
    return {}


def new_patient_number() -> str:
    """Return a number for a patient who pays alone, such as "SELF-4F9A21C7"."""
    return f"SELF-{secrets.token_hex(4).upper()}"


def has_referral(text: str) -> bool | None:
    """Return whether the patient says that there is a referral; None if nothing is said of one."""
    found = mentions(re.sub(r"\b(?:need|want|get) (?:a|the) referral", "", text), _REFERRAL)
    return not any(mention.refused for mention in found) if found else None


def own_name(message: object) -> str:
    """Return how the patient is called, if the message says so.

    Example:
        >>> own_name("Hello, my name is ana lopez and I need a heart doctor")
        'Ana Lopez'
    """
    if not isinstance(message, str):
        return ""
    told = re.search(r"(?i)\b(?:my name is|my name's|i am called)\s+(.{2,60})", message)
    if told is None:
        told = re.search(r"\b(?:I'm|I am|This is|this is)\s+((?:[A-Z][\w'-]+ ?){2,3})", message)
    if told is None:
        return ""
    words = re.match(
        r"[^\W\d_][\w'-]*(?: (?!(?:and|i|my|from|with|on|at|the)\b)[^\W\d_][\w'-]*)?", told[1], re.I
    )
    return words[0].title() if words else ""
