"""A desk with a clerk that gives the replies of the test, which are checked."""

from __future__ import annotations

import json
from typing import Any

from journeygraph import NEVER, Guideline, Journey, Pathway, Validation
from journeygraph.nodes.llm.scripted import ScriptedModel

SAFE = "Let me get a colleague for that."
VALID = {"is_valid": True, "violations": [], "suggested_fixes": [], "confidence": 0.97}


def verdict(confidence: float, *violations: str, valid: bool = False) -> dict[str, Any]:
    """What a model says of a reply."""
    fixes = ["Leave it out."] if violations else []
    return {
        "is_valid": valid,
        "violations": list(violations),
        "suggested_fixes": fixes,
        "confidence": confidence,
    }


def rewritten(reply: str) -> dict[str, Any]:
    """A reply that a model rewrote."""
    return {"response": reply}


POLITE = Guideline(id="polite", action="Stay polite.", always=True)
NO_PROMISE = Guideline(
    id="no_promise",
    action="Promise no sum.",
    critical=True,
    forbids=["guaranteed", "we will pay"],
)


class DeskPath(Pathway):
    """Answer."""

    __agents__ = ["clerk"]
    __complete_when__ = NEVER


def desk(*guidelines: Guideline, **body: Any) -> type[Journey]:
    """A journey with these guidelines; checked before sending by default."""
    given = {"__guidelines__": list(guidelines), "__safe_reply__": SAFE}
    checked = {"__validation__": Validation(), "DeskPath": DeskPath}
    return type("Desk", (Journey,), {"__doc__": "Answer.", **given, **checked, **body})


def says(*replies: str) -> dict[str, Any]:
    """A clerk that says these, one a turn."""
    left = iter(replies)
    return {"clerk": lambda given: next(left)}


def kinds(model: ScriptedModel) -> list[str]:
    """What a model was asked for, oldest first."""
    return [call.schema_name for call in model.calls]


def told(model: ScriptedModel, number: int) -> dict[str, Any]:
    """What a model was given with one call."""
    given: dict[str, Any] = json.loads(model.calls[number].message)
    return given
