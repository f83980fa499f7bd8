"""A scripted model that works at the clinic: it does what a sensible model would do.

It reads the request alone, as a model does: what it is asked for it knows by the outputs, and what
the tools returned by the messages.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from journeygraph.journeys.examples.healthcare_referral import DEMO_MESSAGES
from journeygraph.nodes.llm.scripted import Answer, Call, UseTool

Data = dict[str, Any]

ROLES = {
    frozenset({"verdicts", "commands", "asks", "reply"}): "understanding",
    frozenset({"verdicts", "commands"}): "understanding",
    frozenset({"response", "follow_up_needed"}): "rag_faq_agent",
    frozenset({"response", "resolution", "escalation_count"}): "persuasion_agent",
}
"""What is asked for, by the names of the outputs."""


FILLS = {
    DEMO_MESSAGES[0]: {"specialty": "cardiologist"},
    DEMO_MESSAGES[4]: {"selected_doctor": "Dr. Johnson", "slot": "Tuesday 2pm"},
}
"""The values that the script gives."""


def role_of(call: Call) -> str:
    assert call.schema is not None
    return ROLES[frozenset(call.schema["properties"])]


def data_of(call: Call) -> Data:
    """What the model was given as data."""
    return next(
        given
        for message in reversed(call.messages)
        if message["role"] == "user" and (given := _read(message["content"]))
    )


def _read(text: str) -> Data:
    return json.loads(text) if text.startswith("{") else {}


def results_of(call: Call) -> list[Data]:
    """What the tools returned in this turn, oldest first."""
    return [json.loads(m["content"]) for m in call.messages if m["role"] == "tool"]


def system_of(call: Call) -> str:
    return "".join(m["content"] for m in call.messages if m["role"] == "system")


class ClinicModel:
    """Answers calls.

    Args:
        wants: Message -> target of the move that it asks for, where no pattern says so.
        fills: Message -> the values that it gives, by field.
        others: Role -> what takes the place of what it would do in it.
    """

    def __init__(
        self,
        wants: Mapping[str, str] | None = None,
        fills: Mapping[str, Mapping[str, str]] | None = None,
        others: Mapping[str, Callable[[Call], Answer]] | None = None,
    ) -> None:
        self.wants, self.fills, self.others = wants or {}, fills or {}, others or {}

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
            for question in asked.get("questions", ())
        ]
        told = {"command": "fill", "target": None, "confidence": 0.95}
        given = asked.get("give", ())
        values = self.fills.get(asked["user_message"], {}) if "commands" in given else {}
        commands = [{**told, "field": name, "value": value} for name, value in values.items()]
        wanted = call.schema["properties"] if call.schema else {}
        answer = {"verdicts": verdicts, "commands": commands, "asks": None, "reply": None}
        return {name: value for name, value in answer.items() if name in wanted}

    def as_rag_faq_agent(self, call: Call) -> Answer:
        if not (found := results_of(call)):
            return UseTool("search_handbook", question=data_of(call)["question"])
        entry = found[0]
        if "front_desk" in entry:
            return {"response": f"Ask {entry['front_desk']}.", "follow_up_needed": True}
        said = f"{entry['answer']} {entry.get('on_your_plan')} ({entry['policy']})"
        return {"response": said, "follow_up_needed": False}

    def as_persuasion_agent(self, call: Call) -> Answer:
        agrees = data_of(call)["patient_message"].startswith("ok")
        return {
            "response": "Shall I go on?" if agrees else "I understand.",
            "resolution": "resolved" if agrees else "needs_alternatives",
            "escalation_count": 0 if agrees else 1,
        }
