"""What a model may put into the context: the form it is shown, and how what it says is read.

A model only names things: a doctor by id, a booking by doctor and time. What is kept is the
clinic's own record of them, looked up here, so that nothing invented gets into the context and
what models and functions keep is the same. A name that the clinic does not know is refused, and
the model is told what is wrong.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BeforeValidator, WithJsonSchema

from journeys.examples.healthcare_referral.clinic import Clinic
from journeys.examples.healthcare_referral.conversation import payer
from journeys.examples.healthcare_referral.hearing import PARTS
from journeys.examples.healthcare_referral.material import (
    WEEK,
    Doctor,
    Slot,
    doctor_by_id,
    languages,
    places,
    specialties,
)
from journeys.examples.healthcare_referral.offers import rows
from journeys.examples.healthcare_referral.tools import read_specialty
from journeys.examples.healthcare_referral.wishes import read_wishes


def _shape(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


def _maybe(kind: str, description: str = "", **more: Any) -> dict[str, Any]:
    choice = {"enum": [*more.pop("enum"), None]} if "enum" in more else {}
    return {"type": [kind, "null"], "description": description, **choice, **more}


_DOCTOR_ID = {"type": "string", "description": "Id of a doctor, such as dr-johnson"}
_DAY = {"type": "string", "enum": list(WEEK)}
_TIME = {"type": "string", "description": "Time of day, such as 14:00"}
_CARD = _shape(id=_DOCTOR_ID)
_ROW = _shape(doctor_id=_DOCTOR_ID, day=_DAY, time=_TIME)


def _mapping(value: object) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise ValueError(f"{value!r:.80} is no JSON object")
    return value


def _list(value: object) -> list[Any]:
    if not isinstance(value, (list, tuple)):
        raise ValueError(f"{value!r:.80} is no list")
    return list(value)


def _doctor(doctor_id: object) -> Doctor:
    doctor = doctor_by_id(doctor_id)
    if doctor is None:
        raise ValueError(f"the directory has no doctor with the id {doctor_id!r:.80}")
    return doctor


def _card(value: object) -> dict[str, Any]:
    return _doctor(_mapping(value).get("id")).card()


def _row(value: object) -> dict[str, Any]:
    said = _mapping(value)
    doctor, slot = _doctor(said.get("doctor_id")), Slot(str(said.get("day")), str(said.get("time")))
    if slot not in doctor.slots:
        raise ValueError(f"{doctor.name} does not work on {slot}")
    return dict(rows(doctor, [slot])[0])


def _facts(value: object) -> dict[str, Any]:
    given = _mapping(value)
    # What else a model notes of a patient is not the clinic's to keep.
    said = {name: given[name] for name in _FACTS if given.get(name) not in (None, "")}
    if "specialty" in said:
        said["specialty"] = read_specialty(str(said["specialty"]))
    for name in ("insurance_id", "patient_number"):
        if name in said:
            said[name] = str(said[name]).strip().upper()
    return said


_FACTS: Mapping[str, Any] = {
    "name": _maybe("string", "What the patient is called"),
    "specialty": _maybe("string", "What they were referred for", enum=[*specialties()]),
    "referral": _maybe("boolean", "Whether they have a referral; null if they did not say"),
    "insurance_id": _maybe("string", "Insurance number that they gave, such as INS-123456"),
    "self_pay": _maybe("boolean", "Whether they pay for the visit themselves"),
    "patient_number": _maybe("string", "Number that open_self_pay_account gave"),
}
_WISHES: Mapping[str, Any] = {
    "days": {"type": "array", "items": _DAY, "description": "Days that suit; empty for any"},
    "not_days": {"type": "array", "items": _DAY, "description": "Days that do not suit"},
    "part": _maybe("string", "Part of the day that suits", enum=[*PARTS]),
    "not_parts": {"type": "array", "items": {"type": "string", "enum": [*PARTS]}},
    "after": _maybe("string", "Earliest time of day, such as 15:00"),
    "before": _maybe("string", "Latest time of day, such as 11:00"),
    "language": _maybe("string", "What the doctor should speak", enum=[*languages()]),
    "gender": _maybe("string", "Gender of the doctor", enum=["female", "male"]),
    "place": _maybe("string", "District", enum=[*places()]),
    "soonest": _maybe("boolean", "Whether an early time matters most"),
}

PatientFacts = Annotated[dict[str, Any], BeforeValidator(_facts), WithJsonSchema(_shape(**_FACTS))]
"""Facts about a patient, without those that were not said."""

PatientWishes = Annotated[
    dict[str, Any],
    BeforeValidator(lambda value: read_wishes(_mapping(value))),
    WithJsonSchema(_shape(**_WISHES)),
]
"""All that a patient prefers, see `preferences.Preferences`."""

DoctorCard = Annotated[dict[str, Any], BeforeValidator(_card), WithJsonSchema(_CARD)]
"""A doctor of the directory."""

DoctorCards = Annotated[
    list[dict[str, Any]],
    BeforeValidator(lambda value: [_card(item) for item in _list(value)]),
    WithJsonSchema({"type": "array", "items": _CARD}),
]
"""Doctors of the directory."""

SlotRows = Annotated[
    list[dict[str, Any]],
    BeforeValidator(lambda value: [_row(item) for item in _list(value)]),
    WithJsonSchema({"type": "array", "items": _ROW}),
]
"""Times at which doctors really work."""


def booking_in(clinic: Clinic) -> Any:
    """Return the type of a booking that stands in a clinic's book; no other is one."""

    def read(value: object) -> dict[str, Any]:
        said = _mapping(value)
        wanted = [said.get(name) for name in ("doctor_id", "day", "time")]
        for held in clinic.booked(payer(str(said.get("patient"))).patient):
            if [held[name] for name in ("doctor_id", "day", "time")] == wanted:
                return held
        raise ValueError(
            "the clinic's book has no such appointment; give what book_appointment returned as"
            " `booking`, or null if it was not called or refused"
        )

    patient = {"type": "string", "description": "The insurance or SELF number it was booked under"}
    shape = _shape(doctor_id=_DOCTOR_ID, day=_DAY, time=_TIME, patient=patient)
    return Annotated[dict[str, Any], BeforeValidator(read), WithJsonSchema(shape)]


def confirmation_number_in(clinic: Clinic) -> Any:
    """Return the type of the confirmation numbers of a clinic's book."""

    def read(value: object) -> str:
        if clinic.confirmed(str(value)) is None:
            raise ValueError("give the number that confirm_appointment returned, or null")
        return str(value)

    return Annotated[str, BeforeValidator(read)]
