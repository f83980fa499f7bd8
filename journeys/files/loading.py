"""Files and texts in, journeys out."""

from __future__ import annotations

from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import TypeVar, cast

from journeys.concierge import journey_class
from journeys.errors import JourneyDefinitionError
from journeys.faults import Fault
from journeys.files.agents import agent_of
from journeys.files.concierges import Beside, concierge_of
from journeys.files.form import AgentForm, ConciergeForm, GuidelinesForm, JourneyForm, kind_of
from journeys.files.reading import (
    MOST_BYTES,
    global_guidelines_of,
    journey_of,
    read_document,
    read_tree,
    refuse,
)
from journeys.journey import Journey
from journeys.notions.guidelines import GuidelineSpec
from journeys.spec.spec import JourneySpec, PathwaySpec, TransitionSpec, frozen

Placed = TypeVar("Placed", PathwaySpec, TransitionSpec)
_OTHER_ENCODINGS = {b"\xff\xfe": "UTF-16", b"\xfe\xff": "UTF-16"}


def load(path: str | PathLike[str]) -> type[Journey]:
    """Return the journey of a file as a class; see `journeys.load_journey`."""
    file = Path(path)

    def beside(name: str) -> str:
        return text_of(file.parent / name)

    return journey_class(journey_in(text_of(file), file.name, beside), file.resolve())


def text_of(file: Path) -> str:
    """Return the text of a file.

    Raises:
        JourneyDefinitionError: It is no UTF-8, or too large.
        OSError: It cannot be read.
    """
    with file.open("rb") as opened:
        data = opened.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        said = f"the file is larger than {MOST_BYTES // 1024} kB. Split it."
        raise JourneyDefinitionError([f"{file.name}:1:1: {said}"])
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        before = data[: error.start]
        column = error.start - (before.rfind(b"\n") + 1)
        place = f"{file.name}:{before.count(10) + 1}:{column + 1}"
        kind = _OTHER_ENCODINGS.get(data[:2], "")
        seems = f" It looks like {kind}." if kind else ""
        said = f"{place}: the text is not UTF-8.{seems} Save it as UTF-8."
        raise JourneyDefinitionError([said]) from None


def journey_in(text: str, name: str, beside: Beside | None = None) -> JourneySpec:
    """Return the spec in a text; see `journeys.files.read_journey_text`."""
    part, form = read_document(text, name, ("journey", "agent", "concierge"))
    spec: JourneySpec | None = None
    if isinstance(form, JourneyForm):
        spec = journey_of(part, form)
    elif isinstance(form, AgentForm):
        spec = agent_of(part, form)
    elif isinstance(form, ConciergeForm):
        spec = concierge_of(part, form, beside)
    refuse(part.faults)
    return _without_text(cast("JourneySpec", spec))


def _without_text(spec: JourneySpec) -> JourneySpec:
    """Return a journey that holds where its things stand as words, and the file no longer."""
    return replace(
        spec,
        pathways=frozen({id_: _named(pathway) for id_, pathway in spec.pathways.items()}),
        transitions=tuple(map(_named, spec.transitions)),
        guidelines=tuple(
            rule.model_copy(update={"where": str(rule.where)}) for rule in spec.guidelines
        ),
        unset=tuple((name, str(said)) for name, said in spec.unset),
        parts=frozen({id_: _without_text(part) for id_, part in spec.parts.items()}),
    )


def _named(thing: Placed) -> Placed:
    where = str(thing.where)
    if isinstance(thing, PathwaySpec):
        return thing.model_copy(update={"where": where})
    return replace(thing, where=where)


def guidelines_in(text: str, name: str) -> tuple[GuidelineSpec, ...]:
    """Return the global guidelines in a text; see `journeys.files.read_guidelines_text`."""
    part, form = read_document(text, name, ("guidelines",))
    found = () if form is None else global_guidelines_of(part, cast("GuidelinesForm", form))
    refuse(part.faults)
    return found


def kind_in(text: str, name: str) -> str:
    """Return what a text defines; see `journeys.files.document_kind`."""
    tree = read_tree(text, name)
    if tree.value is None:
        raise JourneyDefinitionError(
            [
                Fault(f"{name}:{f.place[0]}:{f.place[1]}: {f.said}", remedy=f.remedy)
                for f in tree.faults
            ]
        )
    return kind_of(tree.value)
