"""The clinic: doctors and insurance rules from the files beside, and its appointment book."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from threading import Lock
from typing import Any

Context = Mapping[str, Any]
_HERE = Path(__file__).parent
_DIRECTORY = json.loads((_HERE / "doctors.json").read_text("utf-8"))
_RULES = json.loads((_HERE / "eligibility.json").read_text("utf-8"))
COORDINATION, FRONT_DESK = "555-0142", "555-0140"
_NOON, _EVENING = "12:00", "17:00"


@dataclass(frozen=True)
class Doctor:
    """A specialist of the directory, with the times at which they see patients."""

    id: str
    name: str
    specialty: str
    gender: str
    languages: tuple[str, ...]
    place: str
    years: int
    focus: str
    times: tuple[str, ...]

    @property
    def called(self) -> list[str]:
        """How a patient may call them."""
        first, last = self.name.removeprefix("Dr. ").split(" ", 1)
        return [f"Dr. {last}", f"doctor {last}", f"{first} {last}", last]

    def meets(self, wish: str) -> bool:
        """Say whether they meet a wish: a gender, language, district, day, or part of the day."""
        own = (self.gender, *self.languages, self.place)
        return wish in own or any(suits(time, wish) for time in self.times)

    def described(self, free: Sequence[str]) -> str:
        """Return who they are and when they are free."""
        return (
            f"{self.name}, {self.place}: {self.years} years in {self.specialty}, works most on"
            f" {self.focus}, speaks {' and '.join(self.languages)}. Free: {', '.join(free)}."
        )


def suits(time: str, wish: str) -> bool:
    """Say whether a time, such as "Tuesday 14:00", is on a day or in a part of it, or not then."""
    day, hour = time.split()
    if wish.startswith("not "):
        return day != wish.removeprefix("not ")
    part = "morning" if hour < _NOON else "afternoon" if hour < _EVENING else "evening"
    return wish in (day, part)


def _doctor(said: Mapping[str, Any]) -> Doctor:
    times = tuple(f"{slot['day']} {slot['time']}" for slot in said["slots"])
    plain = {name: value for name, value in said.items() if name not in ("languages", "slots")}
    return Doctor(**plain, languages=tuple(said["languages"]), times=times)


DOCTORS = {said["name"]: _doctor(said) for said in _DIRECTORY["doctors"]}
SPECIALTIES = {name: said["says"] for name, said in _DIRECTORY["specialties"].items()}
PLACES = {name: said["says"] for name, said in _DIRECTORY["places"].items()}
LANGUAGES = sorted({language for doctor in DOCTORS.values() for language in doctor.languages})
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")
WEEKDAYS = {day: [f"{day}s"] for day in _DAYS}
NOT_ON = {
    f"not {day}": [
        f"{no} {at}{day}{s}"
        for no in ("not", "except", "no")
        for at in ("", "on ", "on a ")
        for s in ("s", "")
    ]
    for day in _DAYS
}
PARTS_OF_DAY = {"morning": ["mornings"], "afternoon": [], "evening": ["evenings", "after work"]}


def ways_to_say(time: str, *, alone: bool = False) -> list[str]:
    """Return how a time may be said: "Tuesday at 2", "2pm"; alone also "Tuesday"."""
    day, clock = time.split()
    hour, minute = clock.split(":")
    short = f"{(int(hour) - 1) % 12 + 1}{'' if minute == '00' else ':' + minute}"
    half = "am" if clock < _NOON else "pm"
    hours = [clock, clock.lstrip("0"), f"{short}{half}", f"{short} {half}"]
    said = [f"{day}{at}{hour}" for at in (" ", " at ") for hour in [*hours, short]]
    return list(dict.fromkeys([*said, *hours, *([day] if alone else [])]))


def plan_of(number: Any) -> dict[str, Any] | None:
    """Return the plan of an insurance number, or that of who pays alone."""
    if number == "self-pay":
        return dict(_RULES["self_pay"])
    prefix = str(number or "")[:3].upper()
    return next((plan for plan in _RULES["plans"] if plan["prefix"] == prefix), None)


def patient_in(context: Context) -> str:
    """Return under what the clinic books for a patient: insurance number, or phone."""
    alone = context.get("insurance_id") == "self-pay"
    number = str(context.get("phone" if alone else "insurance_id") or "")
    return number.upper().replace(" ", "-")


class Clinic:
    """The appointment book: each time of a doctor has one patient at most. It lives in memory."""

    def __init__(self) -> None:
        self._held: dict[tuple[str, str], str] = {}
        self._lock = Lock()

    def free(self, doctor: Doctor, patient: str) -> list[str]:
        """Return a doctor's free times; what the patient holds counts as free for them."""
        return [t for t in doctor.times if self._held.get((doctor.name, t), patient) == patient]

    def book(self, patient: str, doctor: Doctor, time: str) -> None:
        """Give a time to a patient, whose other one in that specialty is freed, if it is free."""
        with self._lock:
            if time not in self.free(doctor, patient):
                raise LookupError(f"{time} with {doctor.name} is already taken")
            self._release(patient, doctor.specialty)
            self._held[doctor.name, time] = patient

    def cancel(self, patient: str, specialty: str) -> None:
        """Free what a patient holds in a specialty."""
        with self._lock:
            self._release(patient, specialty)

    def appointments(self, patient: str) -> list[tuple[str, str]]:
        """Return what a patient holds: doctors and times."""
        return [held for held, holder in self._held.items() if holder == patient]

    def clear(self) -> None:
        """Forget all appointments."""
        self._held.clear()

    def _release(self, patient: str, specialty: str) -> None:
        for doctor, time in self.appointments(patient):
            if DOCTORS[doctor].specialty == specialty:
                del self._held[doctor, time]


CLINIC = Clinic()


def free_times(doctor: Doctor, context: Context) -> list[str]:
    """Return when a doctor is free for the patient of a conversation."""
    return CLINIC.free(doctor, patient_in(context))


def book_appointment(
    selected_doctor: str, slot: str, insurance_id: str, idempotency_key: str, phone: str = ""
) -> dict[str, str]:
    """Book a time with a doctor; booking it again changes nothing."""
    doctor = DOCTORS[selected_doctor]
    patient = patient_in({"insurance_id": insurance_id, "phone": phone})
    CLINIC.book(patient, doctor, slot)
    day, time = slot.split()
    number = sha256(f"{patient}|{doctor.name}|{slot}".encode()).hexdigest()[:8].upper()
    return {
        "number": f"R-{number}",
        "doctor_id": doctor.id,
        "doctor": doctor.name,
        "specialty": doctor.specialty,
        "place": doctor.place,
        "day": day,
        "time": time,
        "patient": patient,
    }


def summary(booking: Mapping[str, str]) -> str:
    """Return an appointment in words, with the way there."""
    way = _DIRECTORY["places"][booking["place"]]["directions"]
    return (
        f"{booking['doctor']} ({booking['specialty']}), {booking['day']} at {booking['time']},"
        f" {booking['place']} ({way})."
    )


def check_eligibility(ask: dict[str, Any]) -> dict[str, Any]:
    """Say that the insurance pays; one that does not was refused before."""
    known = ask["context"]
    number, plan = known["insurance_id"], plan_of(known["insurance_id"])
    assert plan is not None
    paid = f"Your insurance {number} ({plan['name']}) is active and covers {known['specialty']}."
    names = ("specialty", "insurance_id", "referral")
    return {
        "response": "You pay for the visit yourself." if number == "self-pay" else paid,
        "patient_info": {name: known[name] for name in names if name in known},
        "eligibility_status": "eligible",
    }


def confirm(ask: dict[str, Any]) -> dict[str, Any]:
    """Confirm a booking: its number, day and place, how to prepare, and how to change it."""
    booking = ask["context"]["booking_details"]
    prepare = _DIRECTORY["specialties"][booking["specialty"]]["preparation"]
    return {
        "response": f"Your appointment is confirmed, number {booking['number']}: {summary(booking)}"
        f" To prepare: {prepare} Bring your insurance card, a photo ID, the referral and a list of"
        " your medicines. If another time suits you better, just say so here, or call"
        f" {FRONT_DESK} up to 24 hours before; that costs nothing.",
        "confirmation_number": booking["number"],
    }


def cancel(ask: dict[str, Any]) -> dict[str, Any]:
    """Cancel what was booked; cancelling it again changes nothing."""
    booking = ask["context"]["cancelled"]
    CLINIC.cancel(booking["patient"], booking["specialty"])
    said = "Your appointment is cancelled. Say so if you would like another appointment."
    return {"response": said}
