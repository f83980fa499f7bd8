"""Files and texts in, journeys out."""

from __future__ import annotations

from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import TypeVar, cast

from journeygraph.journeys.concierge import journey_class
from journeygraph.journeys.declarations.guidelines import GuidelineSpec
from journeygraph.journeys.faults import TextPosition
from journeygraph.journeys.files.concierges import Beside, concierge_of
from journeygraph.journeys.files.documents import TextFault
from journeygraph.journeys.files.form import (
    AgentForm,
    ConciergeForm,
    GuidelinesForm,
    JourneyForm,
    kind_of,
)
from journeygraph.journeys.files.journey_file import (
    MOST_BYTES,
    agent_of,
    global_guidelines_of,
    journey_of,
    read_document,
    read_tree,
    refuse,
    too_large,
)
from journeygraph.journeys.files.part import unreadable
from journeygraph.journeys.journey import Journey
from journeygraph.journeys.spec.spec import JourneySpec, PathwaySpec, TransitionSpec, frozen

Placed = TypeVar("Placed", PathwaySpec, TransitionSpec)
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")


def load_journey(path: str | PathLike[str]) -> type[Journey]:
    """Return the journey, the agent or the concierge of a YAML or JSON file as a class.

    A file says what the journey is; agents and what does the work of its tools are passed when it
    is opened, as for any class. It can name no code.

    Args:
        path: The file, in YAML 1.2 or JSON.

    Raises:
        JourneyDefinitionError: With every fault: file, line, column and the way out.
        OSError: There is no such file, or it cannot be read.

    Source: flow control, journey definition loading; the format is in docs/reference/files.md.
    """
    file = Path(path)

    def beside(name: str) -> str:
        return text_of(file.parent / name)

    return journey_class(read_journey_text(text_of(file), file.name, beside), file.resolve())


def text_of(file: Path) -> str:
    """Return the text of a file.

    Raises:
        JourneyDefinitionError: It is no UTF-8, or too large.
    """
    with file.open("rb") as opened:
        data = opened.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise too_large(file.name)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        before = data[: error.start]
        place = TextPosition(before.count(10) + 1, error.start - before.rfind(b"\n"))
        seems = " It looks like UTF-16." if data[:2] in _UTF_16 else ""
        fault = TextFault(place, f"the text is not UTF-8.{seems}", "Save it as UTF-8.")
        raise unreadable(file.name, fault) from None


def read_journey_text(text: str, name: str, beside: Beside | None = None) -> JourneySpec:
    """Return the spec of a journey, or of a concierge, that is kept as text.

    Args:
        beside: Returns the text of a file that a concierge names, or raises OSError. None: a
            concierge must hold its journeys itself.
    """
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
    """Return a journey that names the places of its parts, but does not hold the file."""
    return replace(
        spec,
        where=str(spec.where),
        judged=(
            tuple(warning.alone() for warning in spec.warnings),
            tuple((name, warning.alone()) for name, warning in spec.unset),
        ),
        pathways=frozen({id_: _named(pathway) for id_, pathway in spec.pathways.items()}),
        transitions=tuple(map(_named, spec.transitions)),
        guidelines=tuple(
            rule.model_copy(update={"where": str(rule.where)}) for rule in spec.guidelines
        ),
        parts=frozen({id_: _without_text(part) for id_, part in spec.parts.items()}),
    )


def _named(thing: Placed) -> Placed:
    where = str(thing.where)
    if isinstance(thing, PathwaySpec):
        return thing.model_copy(update={"where": where})
    return replace(thing, where=where)


def read_guidelines_text(text: str, name: str) -> tuple[GuidelineSpec, ...]:
    """Return the global guidelines of a file that has nothing else, kept as text."""
    part, form = read_document(text, name, ("guidelines",))
    found = () if form is None else global_guidelines_of(part, cast("GuidelinesForm", form))
    refuse(part.faults)
    return found


def document_kind(text: str, name: str) -> str:
    """Return what a text defines: "journey", "agent", "concierge" or "guidelines".

    Raises:
        JourneyDefinitionError: It cannot be read at all.
    """
    tree = read_tree(text, name)
    if tree.value is None:
        raise unreadable(name, *tree.faults)
    return kind_of(tree.value)
