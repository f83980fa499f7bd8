"""The kinds of definition files: journeys, agents, concierges, and global guidelines."""

from __future__ import annotations

from typing import Any

from journeys.files.form import ConciergeForm, GuidelinesForm, JourneyForm
from journeys.files.form_agent import AgentForm
from journeys.files.form_basics import Form

FORMS: dict[str, type[Form]] = {
    "journey": JourneyForm,
    "agent": AgentForm,
    "concierge": ConciergeForm,
    "guidelines": GuidelinesForm,
}
"""What may stand in a file of each kind."""


def kind_of(document: Any) -> str:
    """Return what a document is: "journey", "agent", "concierge" or "guidelines"."""
    keys = set(document) if isinstance(document, dict) else set()
    if "journeys" in keys:
        return "concierge"
    if "fields" in keys and "states" not in keys:
        return "agent"
    return "guidelines" if "guidelines" in keys and not keys & {"id", "states"} else "journey"
