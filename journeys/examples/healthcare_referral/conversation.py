"""What a conversation knows so far, as an agent finds it in its payload.

Contexts come from outside as well: whatever has not the form that these agents write is left out.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from journeys.examples.healthcare_referral.hearing import plain
from journeys.examples.healthcare_referral.material import (
    Doctor,
    Plan,
    Slot,
    doctor_by_id,
    plans,
    self_pay,
)

Payload = Mapping[str, Any]
"""What the runtime hands to an agent."""

_TEXTS = ("part", "after", "before", "language", "gender", "place")
_LISTS = ("days", "not_days", "not_parts")


@dataclass(frozen=True, slots=True)
class Known:
    """The facts of one conversation.

    Attributes:
        text: The message in plain form, see `hearing.plain`.
        patient_info: What the patient told about themselves.
        preferences: What the patient wishes, see `preferences.Preferences`.
        rejected: Ids of the doctors who were turned down.
        proposed: The doctor at hand, turned down or not.
        offered: The slots that were shown last, in that order.
        booking: The confirmed booking, or an empty mapping.
        plan: The patient's insurance plan, as far as it is known.
        patient: Under which number the clinic books.
        escalation_count: How many concerns in a row stayed open.
    """

    text: str = ""
    patient_info: Mapping[str, Any] = field(default_factory=dict)
    preferences: Mapping[str, Any] = field(default_factory=dict)
    rejected: frozenset[str] = frozenset()
    proposed: Doctor | None = None
    offered: tuple[tuple[Doctor, Slot], ...] = ()
    booking: Mapping[str, Any] = field(default_factory=dict)
    plan: Plan | None = None
    patient: str = "guest"
    escalation_count: int = 0

    @property
    def specialty(self) -> str:
        """The specialty that the patient needs; empty while unknown."""
        return str(self.patient_info.get("specialty") or "")

    @property
    def standing(self) -> Doctor | None:
        """The doctor at hand, unless turned down."""
        kept = self.proposed is not None and self.proposed.id not in self.rejected
        return self.proposed if kept else None

    def offered_doctors(self) -> list[Doctor]:
        """Return the doctors who were shown last, without those turned down since."""
        seen = dict.fromkeys(doctor for doctor, _ in self.offered)
        return [doctor for doctor in seen if doctor.id not in self.rejected]


def known(payload: Payload) -> Known:
    """Read a payload."""
    context = context_of(payload)
    info = {**_mapping(context.get("patient_info")), **_mapping(payload.get("patient_info"))}
    number = insurance_number(info, context)
    count = context.get("escalation_count")
    return Known(
        text=plain(payload.get("message")),
        patient_info=info,
        preferences=_preferences(context.get("preferences")),
        rejected=frozenset(_ids(context.get("rejected_doctors"))),
        proposed=doctor_by_id(_mapping(context.get("selected_doctor")).get("id")),
        offered=tuple(_offers(context.get("available_slots"))),
        booking=_mapping(context.get("booking_details")),
        plan=self_pay() if info.get("self_pay") else _plan(number),
        patient=str(info.get("patient_number") or number or "guest"),
        escalation_count=int(count) if isinstance(count, (int, float)) else 0,
    )


def context_of(payload: Payload) -> Mapping[str, Any]:
    """Return the context of a payload; empty where an input of that name took its place."""
    return _mapping(payload.get("context"))


def insurance_number(info: Mapping[str, Any], context: Mapping[str, Any]) -> str:
    """Return the insurance number that holds: the one said last, else the one on file."""
    return str(info.get("insurance_id") or context.get("insurance_id") or "").strip().upper()


def offers(doctor: Doctor, slots: tuple[Slot, ...] | list[Slot]) -> list[dict[str, str]]:
    """Return slots in the form in which a context remembers them."""
    return [
        {"doctor_id": doctor.id, "doctor": doctor.name, "day": slot.day, "time": slot.time}
        for slot in slots
    ]


def _plan(number: str) -> Plan | None:
    return plans().get(number[:3]) if re.fullmatch(r"[A-Z]{3}-?\d+", number) else None


def _mapping(value: object) -> dict[str, Any]:
    return {str(key): item for key, item in value.items()} if isinstance(value, Mapping) else {}


def _rows(value: object) -> list[Any]:
    return list(value) if isinstance(value, (list, tuple)) else []


def _ids(value: object) -> list[str]:
    return [str(_mapping(row).get("id") or row) for row in _rows(value)]


def _offers(value: object) -> list[tuple[Doctor, Slot]]:
    found = []
    for row in map(_mapping, _rows(value)):
        doctor = doctor_by_id(row.get("doctor_id"))
        slot = Slot(str(row.get("day")), str(row.get("time")))
        if doctor is not None and slot in doctor.slots:
            found.append((doctor, slot))
    return found


def _preferences(value: object) -> dict[str, Any]:
    found = _mapping(value)
    texts = {name: found[name] for name in _TEXTS if isinstance(found.get(name), str)}
    lists = {
        name: [str(item) for item in found[name]]
        for name in _LISTS
        if isinstance(found.get(name), (list, tuple))
    }
    return {**texts, **lists, **({"soonest": True} if found.get("soonest") else {})}
