"""A scripted model that works at the clinic: it does what a sensible model would do as each agent.

It reads the request alone, as a model does: who it is it knows by the outputs that are asked for,
and what the tools returned by the messages.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from nodes.llm.scripted import Answer, Call, UseTool

Data = dict[str, Any]

ROLES = {
    frozenset({"verdicts", "commands"}): "understanding",
    frozenset({"patient_info", "preferences"}): "document_processor",
    frozenset({"response", "eligibility_status"}): "eligibility_checker",
    frozenset({"available_slots"}): "slot_finder",
    frozenset({"response", "selected_doctor", "patient_info", "booking_details"}): "doctor_matcher",
    frozenset({"preferences", "patient_info", "rejected_doctors"}): "preference_analyzer",
    frozenset({"response", "follow_up_needed"}): "rag_faq_agent",
    frozenset({"response", "resolution", "escalation_count"}): "persuasion",
    frozenset({"response", "handover"}): "escalation",
    frozenset({"response", "confirmation_number"}): "confirmation_agent",
}
"""Which agent is asked, by the names of its outputs; persuasion_agent has two contracts."""


def role_of(call: Call) -> str:
    assert call.schema is not None
    return ROLES[frozenset(call.schema["properties"])]


def data_of(call: Call) -> Data:
    """What the agent was given as data."""
    return next(
        given
        for message in reversed(call.messages)
        if message["role"] == "user" and (given := _read(message["content"]))
    )


def _read(text: str) -> Data:
    return json.loads(text) if text.startswith("{") else {}


def results_of(call: Call) -> list[Data]:
    """What the tools returned to this agent in this turn, oldest first."""
    return [json.loads(m["content"]) for m in call.messages if m["role"] == "tool"]


def system_of(call: Call) -> str:
    return "".join(m["content"] for m in call.messages if m["role"] == "system")


class ClinicModel:
    """Answers calls; `others` takes the place of what it would do in a role.

    `wants` maps a message to the target of the move that it asks for, where no pattern says so.
    """

    def __init__(
        self,
        wants: Mapping[str, str] | None = None,
        others: Mapping[str, Callable[[Call], Answer]] | None = None,
    ) -> None:
        self.wants = wants or {}
        self.others = others or {}

    def __call__(self, call: Call) -> Answer:
        role = role_of(call)
        return self.others.get(role, getattr(self, f"as_{role}"))(call)

    def as_understanding(self, call: Call) -> Answer:
        asked = data_of(call)
        target = self.wants.get(asked["user_message"])
        verdicts = [
            {
                "question": question["question"],
                "holds": question["leads_to"] == target,
                "confidence": 0.95,
                "reason": "as scripted",
            }
            for question in asked["questions"]
        ]
        return {"verdicts": verdicts, "commands": []}

    def as_document_processor(self, call: Call) -> Answer:
        heart = "cardiologist" in data_of(call)["patient_message"]
        info = {"specialty": "cardiology", "referral": True, "name": None} if heart else None
        return {"patient_info": info, "preferences": None}

    def as_eligibility_checker(self, call: Call) -> Answer:
        if not (found := results_of(call)):
            given = data_of(call)
            info = given["patient_info"]
            return UseTool(
                "check_insurance",
                patient_number=given["known"].get("insurance_id", ""),
                specialty=info.get("specialty", ""),
                has_referral=info.get("referral"),
            )
        return {"response": found[0]["reason"], "eligibility_status": found[0]["status"]}

    def as_slot_finder(self, call: Call) -> Answer:
        if not (found := results_of(call)):
            return UseTool("find_slots", specialty="cardiology", exclude=_turned_down(call))
        return {"available_slots": found[0]["slots"]}

    def as_doctor_matcher(self, call: Call) -> Answer:
        said, found = data_of(call)["patient_message"], results_of(call)
        if not found:
            return self._first_step(said, call)
        if "booked" in found[0]:
            booking = found[0].get("booking")
            doctor = {"id": booking["doctor_id"]} if booking else None
            return _matched(found[0].get("reason", "Booked."), doctor, booking)
        names = ", ".join(doctor["name"] for doctor in found[0]["doctors"])
        return _matched(f"I suggest {names}.", {"id": found[0]["doctors"][0]["id"]})

    def _first_step(self, said: str, call: Call) -> Answer:
        wanted = re.search(r"(Dr\. \w+) .*Book the (\w+) (\w+) slot", said)
        if wanted:
            doctor, day, time = wanted.groups()
            return UseTool("book_appointment", doctor=doctor, day=day, time=time)
        return UseTool("find_doctors", specialty="cardiology", exclude=_turned_down(call))

    def as_preference_analyzer(self, call: Call) -> Answer:
        named = re.search(r"don't want Dr\. (\w+)", data_of(call)["patient_message"])
        rejected = [{"id": f"dr-{named[1].lower()}"}] if named else None
        return {"preferences": None, "patient_info": None, "rejected_doctors": rejected}

    def as_rag_faq_agent(self, call: Call) -> Answer:
        if not (found := results_of(call)):
            given = data_of(call)
            return UseTool("search_handbook", question=given["question"])
        entry = found[0]
        if not entry["found"]:
            return {"response": f"Ask {entry['front_desk']}.", "follow_up_needed": True}
        said = f"{entry['answer']} For you: {entry.get('on_your_plan')} ({entry['policy']})"
        return {"response": said, "follow_up_needed": False}

    def as_persuasion(self, call: Call) -> Answer:
        settled = data_of(call)["patient_message"].startswith("ok")
        return {
            "response": "Shall I go on?" if settled else "I hear you.",
            "resolution": "resolved" if settled else "needs_alternatives",
            "escalation_count": 0 if settled else 1,
        }

    def as_escalation(self, call: Call) -> Answer:
        if not (found := results_of(call)):
            return UseTool("open_handover_case")
        case = {"reference": found[0]["reference"]}
        return {"response": f"Call {found[0]['phone']}.", "handover": case}

    def as_confirmation_agent(self, call: Call) -> Answer:
        if not (found := results_of(call)):
            booked = data_of(call)["booking_details"]
            return UseTool(
                "confirm_appointment",
                specialty=booked["specialty"],
            )
        number = found[0].get("confirmation_number")
        return {"response": f"Confirmed: {number}.", "confirmation_number": number}


def _turned_down(call: Call) -> list[str]:
    return [doctor["id"] for doctor in data_of(call)["known"].get("rejected_doctors", [])]


def _matched(said: str, doctor: Data | None, booking: Data | None = None) -> Data:
    return {
        "response": said,
        "selected_doctor": doctor,
        "patient_info": None,
        "booking_details": booking,
    }
