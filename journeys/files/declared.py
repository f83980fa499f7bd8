"""Read what a file declares of its journey as a whole."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from journeys.collecting_reader import PATTERNS, collected_faults, mapping_faults, read_texts
from journeys.faults import Where
from journeys.files.form import JourneyForm
from journeys.files.part import Part
from journeys.personality import Personality
from journeys.spec import PathwaySpec


def declared_of(
    part: Part, form: JourneyForm, pathways: Mapping[str, PathwaySpec], owner: Where
) -> dict[str, Any]:
    """Return what a journey says as a whole, by the names of the spec, noting every fault."""
    part.faults += collected_faults(pathways)
    for name, known, written in (
        ("__patterns__", PATTERNS, form.patterns),
        ("__migrations__", None, form.migrations),
    ):
        part.faults += mapping_faults(owner, name, written, known, pathways)
    return {
        "escalation": form.escalation,
        "personality": form.personality or Personality(),
        "locale": form.locale,
        "texts": read_texts(owner, form.texts, part.faults),
        "patterns": dict(form.patterns),
        "knowledge": form.knowledge,
        "migrations": dict(form.migrations),
    }
