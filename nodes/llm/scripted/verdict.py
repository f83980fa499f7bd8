"""Answers to the call that understands a message: where it leads, and which rules hold."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from nodes.llm.scripted.call import Call, Json


def leads_to(
    pathway: str, *, confidence: float = 0.95, reason: str = "scripted"
) -> Callable[[Call], Json]:
    """Return an answer by which a message leads to a pathway, and no guideline holds.

    Args:
        pathway: Id of the pathway. A call in which no transition leads there, or which asks for
            anything but verdicts, fails the script.
        confidence: How sure the model is, 0 to 1.
        reason: Why it thinks so.
    """
    return rules_hold(to=pathway, confidence=confidence, reason=reason)


def leads_nowhere(call: Call) -> Json:
    """Answer that a message asks for nothing that could be done, and that no guideline holds.

    A call that asks for anything but verdicts fails the script.
    """
    return rules_hold()(call)


def rules_hold(
    *rules: str, to: str | None = None, confidence: float = 0.95, reason: str = "scripted"
) -> Callable[[Call], Json]:
    """Return an answer by which guidelines hold, and perhaps a message leads to a pathway.

    Args:
        *rules: Ids of the guidelines. A call that does not ask about one of them fails the script.
        to: Id of the pathway, as in `leads_to`; None: nowhere.
        confidence: How sure the model is of all this, 0 to 1.
        reason: Why it thinks so.
    """

    def answer(call: Call) -> Json:
        asked = asked_in(call)
        moves = questions_in(asked)
        known = {rule["rule"] for rule in asked.get("rules", [])}
        if to is not None and to not in {question["leads_to"] for question in moves}:
            raise AssertionError(f"nothing leads to '{to}' here, only {moves}")
        if unknown := set(rules) - known:
            raise AssertionError(f"nobody asks about {sorted(unknown)} here, only {sorted(known)}")
        held = [{"rule": rule, "confidence": confidence, "reason": reason} for rule in rules]
        verdicts = [
            _verdict(move, holds=move["leads_to"] == to, confidence=confidence, reason=reason)
            for move in moves
        ]
        said: Json = {"verdicts": verdicts, "rules_that_hold": held}
        said |= {"commands": [], "asks": None, "reply": None}
        return {name: said[name] for name in (call.schema or {}).get("properties", {})}

    return answer


def asked_in(call: Call) -> Json:
    """Return what a call that understands a message is given, as data.

    Raises:
        AssertionError: It is a call of another kind.
    """
    if call.schema_name != "understanding":
        raise AssertionError(f"the call asks for '{call.schema_name}', not for verdicts")
    asked: Json = json.loads(call.message)
    return asked


def questions_in(asked: Json) -> list[Json]:
    """Return the questions that a call wants verdicts on; others may be shown as well."""
    wanted = "verdicts" in asked.get("give", ["verdicts"])
    return asked.get("questions", []) if wanted else []


def _verdict(question: Json, *, holds: bool, confidence: float, reason: str) -> dict[str, Any]:
    name = question["question"]
    return {"question": name, "holds": holds, "confidence": confidence, "reason": reason}
