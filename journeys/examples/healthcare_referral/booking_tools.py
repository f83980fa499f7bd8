"""The tools that need the appointment book: look for doctors and times, book, cancel, confirm.

Written as `tools.py` is: for models, with refusals as data.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from journeys.examples.healthcare_referral.appointment import (
    CHANGES,
    TO_BRING,
    confirmation_number,
    details_of,
    how_to_come,
)
from journeys.examples.healthcare_referral.clinic import Clinic
from journeys.examples.healthcare_referral.conversation import Known, payer
from journeys.examples.healthcare_referral.hearing import clock, plain
from journeys.examples.healthcare_referral.material import Doctor, Slot, doctors
from journeys.examples.healthcare_referral.naming import specialty_named
from journeys.examples.healthcare_referral.offers import rows
from journeys.examples.healthcare_referral.preferences import Match, ranked
from journeys.examples.healthcare_referral.tools import Answer, PatientNumber, read_specialty
from journeys.examples.healthcare_referral.wishes import Wishes, read_wishes

_SHOWN = 3


class BookingTools:
    """Its methods are what a model may call; all work on one appointment book."""

    def __init__(self, clinic: Clinic) -> None:
        self._clinic = clinic

    def find_doctors(
        self,
        specialty: str,
        wishes: Wishes | None = None,
        exclude: Sequence[str] | None = None,
        patient_number: PatientNumber = "",
    ) -> Answer:
        """Find the doctors of a specialty who have a free time, the best fit for the wishes first.

        Use it before suggesting anybody. Returns up to three `doctors`, each with id, name, place,
        experience, languages, the wishes that the doctor `fits` or `lacks`, and `free` times; and
        how many `more` there are. An empty list means that nobody is left.

        Args:
            specialty: What the patient needs, such as cardiology.
            wishes: What the patient prefers.
            exclude: Ids of doctors to leave out: all those whom the patient turned down.
            patient_number: The insurance or SELF number; what that patient holds counts as free.
        """
        try:
            found = self._of_a_specialty(specialty, wishes, exclude, patient_number)
        except ValueError as refusal:
            return {"doctors": [], "more": 0, "reason": str(refusal)}
        shown = [_described(match) for match in found[:_SHOWN]]
        return {"doctors": shown, "more": len(found) - len(shown)}

    def find_slots(
        self,
        doctor: str | None = None,
        specialty: str | None = None,
        wishes: Wishes | None = None,
        exclude: Sequence[str] | None = None,
        patient_number: PatientNumber = "",
    ) -> Answer:
        """Find free times: of one doctor, or of the doctors of a specialty who fit best.

        Use it to learn when a doctor is free, or who is free at a time that the patient names.
        Returns `slots` with doctor_id, doctor, day and time. If none suits the wishes, the times
        are those that come closest.

        Args:
            doctor: Id or full name of the one doctor in question; null to look at a specialty.
            specialty: What the patient needs, if no doctor is named.
            wishes: What the patient prefers.
            exclude: Ids of doctors to leave out: all those whom the patient turned down.
            patient_number: The insurance or SELF number; what that patient holds counts as free.
        """
        try:
            found = (
                self._ranked([doctor_meant(doctor)], wishes, patient_number)
                if doctor
                else self._of_a_specialty(specialty, wishes, exclude, patient_number)
            )
        except ValueError as refusal:
            return {"slots": [], "reason": str(refusal)}
        return {
            "slots": [row for match in found[:_SHOWN] for row in rows(match.doctor, match.slots)]
        }

    def book_appointment(
        self, doctor: str, day: str, time: str, patient_number: PatientNumber
    ) -> Answer:
        """Book one free time with one doctor for the patient. This is the only way to book.

        Use it only when the patient has said yes to this doctor at this time. A patient has one
        appointment a specialty: booking another one frees the first. If `booked` is true, `booking`
        holds the appointment. Otherwise nothing was booked: `reason` says why, and `free` which
        times the doctor has, if that is the matter.

        Args:
            doctor: Id or full name of the doctor.
            day: Day of the week in English, such as Tuesday.
            time: Time of day, such as 14:00.
            patient_number: The insurance number, or the SELF number of one who pays alone.
        """
        facts, slot = payer(patient_number), _slot(day, time)
        try:
            chosen = doctor_meant(doctor)
            _check_payment(facts, chosen.specialty)
        except ValueError as refusal:
            return {"booked": False, "reason": str(refusal)}
        if self._clinic.book(facts.patient, chosen, slot):
            return {"booked": True, "booking": details_of(facts.patient, chosen, slot)}
        matter = "is taken" if slot in chosen.slots else "is no time at which this doctor works"
        free = rows(chosen, self._clinic.free_slots(chosen, facts.patient))
        return {"booked": False, "reason": f"{slot} with {chosen.name} {matter}", "free": free}

    def cancel_appointment(self, specialty: str, patient_number: PatientNumber) -> Answer:
        """Free what the patient holds in a specialty, without booking anything else.

        Use it only when the patient gives up the appointment; to change it, book the new time.
        Returns the `cancelled` appointments: an empty list if there was none.

        Args:
            specialty: The specialty of the appointment, such as cardiology.
            patient_number: The insurance number, or the SELF number of one who pays alone.
        """
        held = self._held(patient_number, specialty)
        for row in held:
            self._clinic.cancel(row["patient"], row["specialty"])
        return {"cancelled": held}

    def confirm_appointment(self, specialty: str, patient_number: PatientNumber) -> Answer:
        """Confirm the appointment that the clinic's book has for the patient.

        Use it before telling the patient that an appointment stands, and tell what it returns: the
        `booking`, its `confirmation_number`, the `directions`, the `preparation` for this kind of
        visit, what `to_bring`, and `to_change` it. If `confirmed` is false, the book has no such
        appointment, and there is nothing to confirm.

        Args:
            specialty: The specialty of the appointment, such as cardiology.
            patient_number: The insurance number, or the SELF number of one who pays alone.
        """
        for row in self._held(patient_number, specialty):
            return {
                "confirmed": True,
                "confirmation_number": confirmation_number(row),
                "booking": row,
                **how_to_come(row),
                "to_bring": TO_BRING,
                "to_change": CHANGES,
            }
        return {"confirmed": False, "reason": "the book has no such appointment"}

    def _held(self, patient_number: str, specialty: str) -> list[dict[str, Any]]:
        field = specialty_named(plain(specialty))
        held = self._clinic.booked(payer(patient_number).patient)
        return [row for row in held if row["specialty"] == field]

    def _of_a_specialty(
        self,
        specialty: str | None,
        wishes: Wishes | None,
        exclude: Sequence[str] | None,
        patient_number: str,
    ) -> list[Match]:
        field, out = read_specialty(specialty or ""), exclude or ()
        pool = [
            doctor
            for doctor in doctors()
            if doctor.specialty == field and doctor.id not in out and doctor.name not in out
        ]
        return self._ranked(pool, wishes, patient_number)

    def _ranked(
        self, pool: Iterable[Doctor], wishes: Wishes | None, patient_number: str
    ) -> list[Match]:
        patient = payer(patient_number).patient
        return ranked(pool, read_wishes(wishes or {}), self._clinic, patient)


def doctor_meant(said: str) -> Doctor:
    """Return the doctor of an id or a name.

    Raises:
        ValueError: The directory has no such doctor, or several; the text lists those.
    """
    words = set(plain(said).replace("doctor", "dr").split())
    alike = [doctor for doctor in doctors() if _is_called(doctor, words)]
    if len(alike) == 1:
        return alike[0]
    if not alike:
        raise ValueError(f"the directory has no doctor {said!r}; see find_doctors")
    ids = ", ".join(f"{doctor.id} ({doctor.name})" for doctor in alike)
    raise ValueError(f"there are several doctors {said!r}; name one by id: {ids}")


def _is_called(doctor: Doctor, words: set[str]) -> bool:
    if words == {doctor.id}:
        return True
    return plain(doctor.surname) in words and words <= set(plain(doctor.name).split())


def _slot(day: str, time: str) -> Slot:
    return Slot(day.strip().capitalize(), clock(plain(time)) or time)


def _check_payment(facts: Known, specialty: str) -> None:
    """Refuse, by a ValueError, a patient whose visit nobody would pay for."""
    if facts.plan is None:
        raise ValueError(
            "without a known insurance number, or the number of open_self_pay_account, nothing can"
            " be booked; ask the patient"
        )
    if not facts.plan.active:
        raise ValueError(f"this insurance cannot be used: {facts.plan.reason}")
    if not facts.plan.pays_for(specialty):
        raise ValueError(f"the plan {facts.plan.name} does not pay for {specialty}")


def _described(match: Match) -> Answer:
    doctor = match.doctor
    return {
        "id": doctor.id,
        "name": doctor.name,
        "specialty": doctor.specialty,
        "place": doctor.place,
        "gender": doctor.gender,
        "languages": list(doctor.languages),
        "years_of_experience": doctor.years,
        "focus": doctor.focus,
        "fits": list(match.met),
        "lacks": list(match.missed),
        "free": [{"day": slot.day, "time": slot.time} for slot in match.slots],
    }
