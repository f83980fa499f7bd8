"""Read guidelines, checks and activation of a journey from its class body."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from journeys.faults import Fault
from journeys.notions.guidelines import GuidelineSpec
from journeys.notions.validation import Validation
from journeys.reading.declared import OfJourney, read_attributes
from journeys.reading.guideline_reader import numbered, read_each, relation_faults, taken_ids
from journeys.reading.inheriting import GUIDELINES, declared

FLOW_ATTRIBUTES = (
    "__guidelines__",
    "__validation__",
    "__safe_reply__",
    "__degrade__",
    "__model__",
    "__activation__",
    "__shared__",
)


def read_flow(
    cls: Any, root: type, journey: str, of_pathways: Sequence[GuidelineSpec], faults: list[Fault]
) -> dict[str, Any]:
    """Return the flow control of a journey, by the names of the spec; note every fault."""
    owner = cls.__name__
    written = [(entry.where, entry.item) for entry in declared(cls, root, GUIDELINES, faults)]
    own = read_each(written, faults, journey=journey)
    faults += taken_ids([*own, *of_pathways])
    guidelines = numbered([*own, *of_pathways])
    faults += relation_faults(guidelines)
    whole = read_attributes(OfJourney, owner, cls, root, faults)
    return {
        "guidelines": guidelines,
        "validation": validation_of(whole.validation, guidelines),
        "safe_reply": whole.safe_reply,
        "degrade": whole.degrade,
        "model": whole.model,
        "escalation": whole.escalation,
        "knowledge": whole.knowledge,
        "activation": tuple(whole.activation),
        "shared": tuple(dict.fromkeys(whole.shared)),
    }


def validation_of(
    declared: Validation | None, guidelines: Sequence[GuidelineSpec]
) -> Validation | None:
    """Return how replies are checked: as declared, else before sending if a rule is critical."""
    if declared is None and any(item.critical and item.enabled for item in guidelines):
        return Validation()
    return declared
