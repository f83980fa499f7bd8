"""A concierge in a file: its journeys, in it or in files next to it, and its own keys."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from journeygraph.journeys.declarations.guidelines import GuidelineSpec
from journeygraph.journeys.declarations.transitions import IntentTrigger
from journeygraph.journeys.errors import JourneyDefinitionError
from journeygraph.journeys.faults import SourceLocation
from journeygraph.journeys.files.form import AgentForm, ConciergeForm, JourneyForm
from journeygraph.journeys.files.journey_file import agent_of, journey_of, read_document
from journeygraph.journeys.files.part import FilePart
from journeygraph.journeys.files.rules import check_tools, guidelines_of
from journeygraph.journeys.reading.composing import CANCELS, compose
from journeygraph.journeys.reading.rule_reader import read_guidelines, taken_ids
from journeygraph.journeys.spec.hashing import content_hash
from journeygraph.journeys.spec.spec import JourneySpec

Beside = Callable[[str], str]
"""Returns the text of a file by its name, or raises OSError."""

_PLAIN_NAME = re.compile(r"[\w][\w .-]*\.(yaml|yml|json)")


def concierge_of(part: FilePart, form: ConciergeForm, beside: Beside | None) -> JourneySpec | None:
    """Return the concierge in a file; None if it or a journey of it has faults.

    Args:
        beside: Returns the text of a file that it names; None: it may name none.
    """
    where = part.where(f"concierge '{form.id}'")
    journeys = [
        _inline(part, number, item)
        if isinstance(item, JourneyForm)
        else (_beside(part, number, item, beside))
        for number, item in enumerate(form.journeys)
    ]
    found = [spec for spec in journeys if spec]
    written = guidelines_of(part, form.guidelines, "guidelines")
    guidelines = read_guidelines(written, part.faults, journey=None)
    part.faults += taken_ids(guidelines)
    if len(found) == len(form.journeys):
        _check_guideline_tools(part, form, found)
    if part.faults:
        return None
    return _composed(part, form, where, found, guidelines)


def _composed(
    part: FilePart,
    form: ConciergeForm,
    where: SourceLocation,
    journeys: Sequence[JourneySpec],
    guidelines: Sequence[GuidelineSpec],
) -> JourneySpec | None:
    versions = [spec.version for spec in journeys]
    version = form.version or content_hash("file", part.at(), versions)
    cancel = IntentTrigger(tuple(form.cancel), CANCELS) if form.cancel else None
    try:
        spec = compose(
            form.id,
            where,
            form.instructions,
            journeys,
            form.model_copy(update={"cancel": cancel, "version": version}),
            guidelines,
        )
    except JourneyDefinitionError as error:
        part.faults += error.faults
        return None
    name = form.name or form.id.replace("_", " ").capitalize()
    return replace(spec, name=name)


def _inline(part: FilePart, number: int, form: JourneyForm) -> JourneySpec | None:
    return journey_of(part.inner("journeys", number), form)


def _beside(part: FilePart, number: int, name: str, beside: Beside | None) -> JourneySpec | None:
    path = ("journeys", number)
    if not _PLAIN_NAME.fullmatch(name):
        remedy = "it must be the name of a .yaml, .yml or .json file in the same folder."
        part.note(f"journeys[{number}] is '{name}'", *path, remedy=remedy)
        return None
    if beside is None:
        said = f"the file '{name}' is not available here."
        part.note(said, *path, remedy="Write its journey in this file.")
        return None
    try:
        inner, form = read_document(beside(name), name, ("journey", "agent"))
    except OSError as error:
        part.note(f"the file '{name}' cannot be read: {error.strerror or 'unknown'}.", *path)
        return None
    except JourneyDefinitionError as error:
        part.faults += error.faults
        return None
    spec = agent_of(inner, form) if isinstance(form, AgentForm) else None
    if isinstance(form, JourneyForm):
        spec = journey_of(inner, form)
    part.faults += inner.faults
    return spec


def _check_guideline_tools(
    part: FilePart, form: ConciergeForm, journeys: Sequence[JourneySpec]
) -> None:
    known = list(dict.fromkeys(name for spec in journeys for name in spec.tools))
    for number, guideline in enumerate(form.guidelines):
        check_tools(part, guideline.tools, known, "guidelines", number, "tools")
