"""What a conversation knows so far, as an agent finds it in its payload.

Contexts come from outside as well: whatever has not the form that these agents write is left out.
"""

from __future__ import annotations

import re
from collections import Counter
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

# Nobody at a desk listens longer, and the search for misspelt names takes time by length.
_HEARD = 2000

# Under what the clinic knows somebody without a number.
_NOBODY = "guest"

_TEXTS = ("part", "after", "before", "language", "gender", "place")
_LISTS = ("days", "not_days", "not_parts")


@dataclass(frozen=True, slots=True)
class Known:
    """The facts of one conversation.

    Attributes:
        text: The message in plain form (see `hearing.plain`), its first 2,000 characters.
        patient_info: What the patient told about themselves.
        preferences: What the patient wishes, see `preferences.Preferences`.
        rejections: Ids of the doctors who were turned down, and how often.
        proposed: The doctor at hand, turned down or not.
        taken_back: How many rejections of that doctor the patient has taken back.
        offered: The slots that were shown last, in that order.
        booking: The confirmed booking, or an empty mapping.
        plan: The patient's insurance plan, as far as it is known.
        patient: Under which number the clinic books.
        escalation_count: How many concerns in a row stayed open.
    """

    text: str = ""
    patient_info: Mapping[str, Any] = field(default_factory=dict)
    preferences: Mapping[str, Any] = field(default_factory=dict)
    rejections: Mapping[str, int] = field(default_factory=dict)
    proposed: Doctor | None = None
    taken_back: int = 0
    offered: tuple[tuple[Doctor, Slot], ...] = ()
    booking: Mapping[str, Any] = field(default_factory=dict)
    plan: Plan | None = None
    patient: str = _NOBODY
    escalation_count: int = 0

    @property
    def specialty(self) -> str:
        """The specialty that the patient needs; empty while unknown."""
        return str(self.patient_info.get("specialty") or "")

    @property
    def standing(self) -> Doctor | None:
        """The doctor at hand, unless turned down."""
        doctor = self.proposed
        stands = doctor is not None and self.rejections.get(doctor.id, 0) <= self.taken_back
        return doctor if stands else None

    def is_out(self, doctor: Doctor) -> bool:
        """Say whether a doctor was turned down and not asked for again since."""
        return doctor.id in self.rejections and doctor != self.standing

    def chosen(self, doctor: Doctor) -> dict[str, Any]:
        """Return how to remember a doctor as the one at hand.

        A patient who asks for a rejected doctor by name takes the rejection back. Rejections are
        only ever added, so the card counts how many of them no longer hold.
        """
        times = self.rejections.get(doctor.id, 0)
        return {**doctor.card(), "again": times} if times else doctor.card()

    def rejected(self, doctor: Doctor) -> dict[str, Any]:
        """Return how to remember a doctor as turned down: by the very card that was at hand."""
        at_hand = doctor == self.proposed and self.taken_back
        return {**doctor.card(), "again": self.taken_back} if at_hand else doctor.card()

    def offered_doctors(self) -> list[Doctor]:
        """Return the doctors who were shown last, without those turned down since."""
        seen = dict.fromkeys(doctor for doctor, _ in self.offered)
        return [doctor for doctor in seen if not self.is_out(doctor)]


def known(payload: Payload) -> Known:
    """Read a payload."""
    context = context_of(payload)
    info = {**_mapping(context.get("patient_info")), **_mapping(payload.get("patient_info"))}
    number = insurance_number(info, context)
    card = _mapping(context.get("selected_doctor"))
    return Known(
        text=plain(payload.get("message"))[:_HEARD],
        patient_info=info,
        preferences=_preferences(context.get("preferences")),
        rejections=Counter(_ids(context.get("rejected_doctors"))),
        proposed=doctor_by_id(card.get("id")),
        taken_back=_count(card.get("again")),
        offered=tuple(_offers(context.get("available_slots"))),
        booking=_mapping(context.get("booking_details")),
        plan=self_pay() if info.get("self_pay") else _plan(number),
        patient=str(info.get("patient_number") if info.get("self_pay") else number) or _NOBODY,
        escalation_count=_count(context.get("escalation_count")),
    )


def payer(number: str, **facts: Any) -> Known:
    """Return what is known of somebody by number alone: who pays, and under what they book.

    Args:
        number: An insurance number, or the number of a patient who pays alone.
        facts: More of `patient_info`.
    """
    said = number.strip().upper()
    alone = re.fullmatch(r"SELF-[0-9A-F]{8}", said) is not None
    info = {"self_pay": True, "patient_number": said} if alone else {"insurance_id": said}
    return known({"context": {"patient_info": {**info, **facts}}})


def patient_number_in(context: Mapping[str, Any]) -> str:
    """Return the number under which the clinic books in a conversation; empty while unknown."""
    number = known({"context": context}).patient
    return "" if number == _NOBODY else number


def context_of(payload: Payload) -> Mapping[str, Any]:
    """Return the context of a payload; empty where an input of that name took its place."""
    return _mapping(payload.get("context"))


def insurance_number(info: Mapping[str, Any], context: Mapping[str, Any]) -> str:
    """Return the insurance number that holds: the one said last, else the one on file."""
    return str(info.get("insurance_id") or context.get("insurance_id") or "").strip().upper()


def _plan(number: str) -> Plan | None:
    return plans().get(number[:3]) if re.fullmatch(r"[A-Z]{3}-?\d+", number) else None


def _mapping(value: object) -> dict[str, Any]:
    return {str(key): item for key, item in value.items()} if isinstance(value, Mapping) else {}


def _count(value: object) -> int:
    return int(value) if isinstance(value, (int, float)) else 0


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
