"""A booked appointment: what is kept of it, its number, and what the patient needs to know."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from journeys.examples.healthcare_referral.material import (
    FRONT_DESK,
    Doctor,
    Slot,
    directions,
    preparation,
)

TO_BRING = "your insurance card, a photo ID, the referral and a list of your medicines"
CHANGES = f"call {FRONT_DESK} up to 24 hours before; that costs nothing"
"""How an appointment is changed, beside saying so in the conversation."""


def details_of(patient: str, doctor: Doctor, slot: Slot) -> dict[str, Any]:
    """Return what a conversation keeps of an appointment."""
    return {
        "doctor_id": doctor.id,
        "doctor": doctor.name,
        "specialty": doctor.specialty,
        "place": doctor.place,
        "day": slot.day,
        "time": slot.time,
        "patient": patient,
    }


def confirmation_number(details: Mapping[str, Any]) -> str:
    """Return the number of a booking, such as "R-4F9A21C7".

    It follows from patient, doctor and time, so the same booking always has the same.
    """
    return _code("R", *(details.get(name) for name in ("patient", "doctor_id", "day", "time")))


def case_reference(patient: str, specialty: str) -> str:
    """Return under which reference a person takes over, such as "C-09D1B5E2"."""
    return _code("C", patient, specialty)


def how_to_come(details: Mapping[str, Any]) -> dict[str, str]:
    """Return the way to an appointment, and how to prepare for it; empty texts where unknown."""
    return {
        "directions": directions(str(details.get("place"))),
        "preparation": preparation(str(details.get("specialty"))),
    }


def _code(letter: str, *parts: object) -> str:
    digest = hashlib.sha256("|".join(map(str, parts)).encode()).hexdigest()
    return f"{letter}-{digest[:8].upper()}"
