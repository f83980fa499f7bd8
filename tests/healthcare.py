"""The booking desk of the healthcare example, as tests talk to it without a graph."""

from __future__ import annotations

from typing import Any

from journeys.examples.healthcare_referral import SAMPLE_CONTEXT, Clinic, build_agents
from journeys.examples.healthcare_referral.material import Doctor, doctor_by_id

DESK = ("slot_finder", "doctor_matcher", "preference_analyzer")
CARDIOLOGY: dict[str, Any] = {
    **SAMPLE_CONTEXT,
    "patient_info": {"specialty": "cardiology", "referral": True},
}


def doctor(name: str) -> Doctor:
    found = doctor_by_id(f"dr-{name}")
    assert found is not None
    return found


class Desk:
    """The three booking agents, as the parallel pathway runs them, with one clinic and context."""

    def __init__(self, context: dict[str, Any] | None = None, clinic: Clinic | None = None):
        self.context = {**(CARDIOLOGY if context is None else context)}
        self.agents = build_agents(clinic)

    def hears(self, message: str) -> str:
        outputs = [
            self.agents[name]({"message": message, "context": dict(self.context), "history": []})
            for name in DESK
        ]
        spoken = [output["response"] for output in outputs if output.get("response")]
        assert len(spoken) == 1, (message, spoken)
        for output in outputs:
            self._keep({name: value for name, value in output.items() if value is not None})
        return spoken[0]

    def _keep(self, output: dict[str, Any]) -> None:
        rejected = self.context.get("rejected_doctors", [])
        info = {**self.context.get("patient_info", {}), **output.pop("patient_info", {})}
        new = [row for row in output.pop("rejected_doctors", []) if row not in rejected]
        self.context.update(output, rejected_doctors=[*rejected, *new], patient_info=info)

    @property
    def proposed(self) -> str:
        return self.context["selected_doctor"]["id"]

    @property
    def shown(self) -> list[str]:
        return list(
            dict.fromkeys(row["doctor_id"] for row in self.context.get("available_slots", []))
        )

    @property
    def booked(self) -> str | None:
        details = self.context.get("booking_details")
        return f"{details['doctor_id']} {details['day']} {details['time']}" if details else None
