"""Answers to the call that understands a message: where it leads."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from nodes.llm.scripted.call import Call, Json


def leads_to(
    pathway: str, *, confidence: float = 0.95, reason: str = "scripted"
) -> Callable[[Call], Json]:
    """Return an answer by which a message leads to a pathway.

    Args:
        pathway: Id of the pathway. A call in which no transition leads there, or which asks for
            anything but verdicts, fails the script.
        confidence: How sure the model is, 0 to 1.
        reason: Why it thinks so.
    """

    def answer(call: Call) -> Json:
        asked = _questions(call)
        if pathway not in {question["leads_to"] for question in asked}:
            raise AssertionError(f"nothing leads to '{pathway}' here, only {asked}")
        return {
            "verdicts": [
                _verdict(question, question["leads_to"] == pathway, confidence, reason)
                for question in asked
            ],
            "commands": [],
        }

    return answer


def leads_nowhere(call: Call) -> Json:
    """Answer that a message asks for no transition.

    A call that asks for anything but verdicts fails the script.
    """
    verdicts = [_verdict(question, False, 0.95, "scripted") for question in _questions(call)]
    return {"verdicts": verdicts, "commands": []}


def _questions(call: Call) -> list[Json]:
    if call.schema_name != "understanding":
        raise AssertionError(f"the call asks for '{call.schema_name}', not for verdicts")
    asked: list[Json] = json.loads(call.message)["questions"]
    return asked


def _verdict(question: Json, holds: bool, confidence: float, reason: str) -> dict[str, Any]:
    name = question["question"]
    return {"question": name, "holds": holds, "confidence": confidence, "reason": reason}
