"""The appointment book: who holds which slot."""

from __future__ import annotations

import threading
from typing import Any

from journeys.examples.healthcare_referral.appointment import confirmation_number, details_of
from journeys.examples.healthcare_referral.material import Doctor, Slot, doctor_by_id


class Clinic:
    """Keeps each slot for one patient at most.

    Lives in memory, so it starts empty with each process. Safe to use from several threads: agents
    that are plain functions run in threads.

    Example:
        >>> from journeys.examples.healthcare_referral.material import doctors
        >>> clinic, doctor = Clinic(), doctors()[0]
        >>> clinic.book("INS-123456", doctor, doctor.slots[0])
        True
        >>> clinic.book("MER-777777", doctor, doctor.slots[0])
        False
    """

    def __init__(self) -> None:
        self._holders: dict[tuple[str, Slot], str] = {}
        self._lock = threading.Lock()

    def free_slots(self, doctor: Doctor, patient: str = "") -> list[Slot]:
        """Return a doctor's free slots in order; what the patient holds counts as free for them."""
        with self._lock:
            return [slot for slot in doctor.slots if self._is_open(doctor, slot, patient)]

    def book(self, patient: str, doctor: Doctor, slot: Slot) -> bool:
        """Give a slot to a patient; False if there is no such slot or somebody else holds it.

        Asking again for the same slot changes nothing. A patient has one appointment a specialty:
        booking another one frees the first.
        """
        with self._lock:
            if slot not in doctor.slots or not self._is_open(doctor, slot, patient):
                return False
            self._release(patient, doctor.specialty)
            self._holders[(doctor.id, slot)] = patient
            return True

    def cancel(self, patient: str, specialty: str) -> None:
        """Free what a patient holds in a specialty; without an appointment nothing changes."""
        with self._lock:
            self._release(patient, specialty)

    def appointments(self, patient: str) -> list[tuple[str, Slot]]:
        """Return what a patient holds, as doctor ids and slots."""
        with self._lock:
            return [held for held, holder in self._holders.items() if holder == patient]

    def booked(self, patient: str) -> list[dict[str, Any]]:
        """Return what a patient holds, as a conversation keeps an appointment."""
        held = [(doctor_by_id(doctor_id), slot) for doctor_id, slot in self.appointments(patient)]
        return [details_of(patient, doctor, slot) for doctor, slot in held if doctor is not None]

    def confirmed(self, number: str) -> dict[str, Any] | None:
        """Return the appointment of a confirmation number, or None if the book has none."""
        with self._lock:
            patients = set(self._holders.values())
        held = (row for patient in patients for row in self.booked(patient))
        return next((row for row in held if confirmation_number(row) == number), None)

    def _is_open(self, doctor: Doctor, slot: Slot, patient: str) -> bool:
        return self._holders.get((doctor.id, slot), patient) == patient

    def _release(self, patient: str, specialty: str) -> None:
        for held, holder in list(self._holders.items()):
            doctor = doctor_by_id(held[0])
            if holder == patient and doctor is not None and doctor.specialty == specialty:
                del self._holders[held]
