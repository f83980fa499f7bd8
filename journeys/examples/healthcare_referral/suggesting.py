"""Suggest doctors and times by the patient's needs, wishes and refusals."""

from journeygraph.journeys.examples.healthcare_referral.clinic import (
    COORDINATION,
    DOCTORS,
    Context,
    Doctor,
    free_times,
    suits,
    ways_to_say,
)

_OF_DOCTORS = ("gender", "language", "place")
_OF_TIMES = ("day", "not_on", "part_of_day")


def which_doctor(context: Context) -> str | tuple[str, list[str]]:
    """Ask for a doctor: whether to show them, then which of those who suit best."""
    known = ("shown", "rejected_doctors", *_OF_DOCTORS, *_OF_TIMES)
    if not any(context.get(name) for name in known):
        return (
            "Shall I show you the available doctors? Tell me if a day, a time, a district or a"
            " language matters to you.",
            ["Yes", "No"],
        )
    rejected = " or ".join(row["name"] for row in context.get("rejected_doctors", []))
    again = f"I will not suggest {rejected} again. " if rejected else ""
    lines = [
        f"{number}. {doctor.described(free_times(doctor, context))}"
        for number, doctor in enumerate(_suggested(context), 1)
    ]
    if not lines:
        return f"There is nobody left. Care coordination on {COORDINATION} knows other ways."
    head = f"{again}For {context['specialty']} I suggest:"
    return "\n".join([head, *lines, "Which doctor would you like?"])


def doctors_on_offer(context: Context) -> dict[str, list[str]]:
    """Return the doctors who can be chosen, those suggested first, each with ways to name them."""
    doctors = dict.fromkeys([*_suggested(context), *_suited(context)])
    return {doctor.name: doctor.called for doctor in doctors}


def times_on_offer(context: Context) -> dict[str, list[str]]:
    """Return the times that can be chosen: of the doctor, or of those suggested."""
    chosen = DOCTORS.get(context.get("selected_doctor", ""))
    doctors = [chosen] if chosen else _suggested(context)
    times = dict.fromkeys(time for doctor in doctors for time in free_times(doctor, context))
    wishes = [context[name] for name in _OF_TIMES if context.get(name)]
    wished = [time for time in times if chosen and all(suits(time, wish) for wish in wishes)]
    return {time: ways_to_say(time, alone=chosen is not None) for time in wished or times}


def turned_down(message: str, context: Context) -> list[dict[str, str]]:
    """Return who was turned down so far, and who is now: by name, or whoever is at hand."""
    before, said = context.get("rejected_doctors", []), message.lower()
    ways = doctors_on_offer(context)
    named = [name for name, called in ways.items() if any(way.lower() in said for way in called)]
    meant = named or [context.get("selected_doctor") or next(iter(ways), "")]
    rows = [{"id": DOCTORS[name].id, "name": name} for name in meant if name]
    return [*before, *(row for row in rows if row not in before)]


def _suggested(context: Context) -> list[Doctor]:
    """Return the three doctors to suggest now: nobody who was turned down."""
    rejected = [row["id"] for row in context.get("rejected_doctors", [])]
    return [doctor for doctor in _suited(context) if doctor.id not in rejected][:3]


def _suited(context: Context) -> list[Doctor]:
    """Return the doctors of the specialty who are free, those who meet most wishes first."""
    wishes = [context[name] for name in (*_OF_DOCTORS, *_OF_TIMES) if context.get(name)]
    free = [
        doctor
        for doctor in DOCTORS.values()
        if doctor.specialty == context.get("specialty")
        and (times := free_times(doctor, context))
        and context.get("slot", times[0]) in times
    ]
    return sorted(free, key=lambda doctor: -sum(doctor.meets(wish) for wish in wishes))
