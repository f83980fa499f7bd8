"""Class bodies in, frozen spec out; every fault of them in one error."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from journeygraph.journeys.agents.signature import docstring
from journeygraph.journeys.errors import JourneyDefinitionError, snake
from journeygraph.journeys.faults import Fault
from journeygraph.journeys.pathway import PATHWAY_ATTRIBUTES, Pathway
from journeygraph.journeys.reading.builder import JourneyDraft, build
from journeygraph.journeys.reading.class_bodies import (
    GUIDELINES,
    TRANSITIONS,
    bodies,
    declared,
    in_order,
    is_abstract,
    listed,
    unknown,
    without_faults,
)
from journeygraph.journeys.reading.declared import (
    OfWholeJourney,
    attributes_of,
    read_attributes,
    read_whole,
)
from journeygraph.journeys.reading.pipeline_reader import read_pipeline, registered
from journeygraph.journeys.reading.rule_reader import WrittenGuideline
from journeygraph.journeys.spec.spec import JourneySpec, PathwaySpec, empty_spec

JOURNEY_ATTRIBUTES = attributes_of(OfWholeJourney, TRANSITIONS, GUIDELINES, "__without__")
"""Every attribute that a journey body may set."""
_SUFFIXES = ("Path", "Pathway")


def camel(id_: str) -> str:
    """Return an id as the name of a class.

    Example:
        >>> camel("insurance_claim")
        'InsuranceClaim'
    """
    return "".join(word[:1].upper() + word[1:] for word in id_.split("_"))


def pathway_id(class_name: str) -> str:
    """Return the id of a pathway class: without its suffix, in snake case."""
    return snake(re.sub(r"(Pathway|Path)$", "", class_name))


def journey_id(class_name: str) -> str:
    """Return the id of a journey class: without the suffix Journey, in snake case."""
    return snake(re.sub(r"Journey$", "", class_name)) or "journey"


def read_journey(cls: type, root: type) -> JourneySpec:
    """Read a journey class into its spec.

    Raises:
        JourneyDefinitionError: With every fault: class, offender and remedy.
    """
    name, id_ = cls.__name__, journey_id(cls.__name__)
    faults = [*_unknown_attributes(cls, root), *_nested_faults(cls, root)]
    if is_abstract(cls):
        if faults:
            raise JourneyDefinitionError(faults)
        return _shared_spec(cls, root)
    faults += without_faults(cls, root)
    whole = read_whole(OfWholeJourney, cls, root, faults)
    pathways: dict[str, PathwaySpec] = {}
    guidelines: list[WrittenGuideline] = []
    for at, klass in pathway_classes(cls, root).items():
        where = f"{name}.{klass.__name__}"
        pathways[at] = _read_pathway(at, klass, where, faults)
        of_pathway = listed(where, GUIDELINES, klass.__guidelines__, faults)
        guidelines += [(place, item, at) for place, item in of_pathway]
    own = [(entry.where, entry.item, None) for entry in declared(cls, root, GUIDELINES, faults)]
    draft = JourneyDraft(
        id=id_,
        name=name,
        where=name,
        purpose=docstring(cls, root),
        whole=whole,
        pathways=pathways,
        transitions=[(e.where, e.item) for e in declared(cls, root, TRANSITIONS, faults)],
        guidelines=[*own, *guidelines],
    )
    spec = build(draft, faults)
    if spec is None:
        raise JourneyDefinitionError(faults)
    return spec


def _shared_spec(cls: type, root: type) -> JourneySpec:
    """Return the spec of an abstract journey: what it shares is judged in those that inherit it."""
    purpose = docstring(cls, root)
    return empty_spec(journey_id(cls.__name__), cls.__name__, purpose, is_marked=True)


def _unknown_attributes(cls: type, root: type) -> Iterator[Fault]:
    for klass in bodies(cls, root):
        yield from unknown(klass.__name__, klass, root, JOURNEY_ATTRIBUTES)


def pathway_classes(cls: type, root: type) -> dict[str, type[Pathway]]:
    """Return the pathway classes of a journey by id, those of its bases and mixins first.

    A body replaces what its bases have under the same id; None takes it away. What abstract bases
    share comes last, that of the nearest first.
    """
    found: dict[str, type[Pathway]] = {}
    for body in bodies(cls, root):
        if is_abstract(body):
            continue
        for id_, value in _declared_in(body):
            if value is None:
                found.pop(id_, None)
            else:
                found[id_] = value
    nearest: dict[str, type[Pathway] | None] = {}
    for body in in_order(cls, root):
        for id_, value in _declared_in(body):
            nearest.setdefault(id_, value)
            if is_abstract(body) and nearest[id_] is not None:
                found.setdefault(id_, value)  # its place; what counts is the nearest
    return {id_: klass for id_ in found if (klass := nearest[id_]) is not None}


def _declared_in(body: type) -> Iterator[tuple[str, Any]]:
    """Yield the ids that a body declares, with their pathways; None for one that it takes away."""
    for name, value in vars(body).items():
        if _is_pathway(value) or (value is None and name.endswith(_SUFFIXES)):
            yield pathway_id(name), value


def _is_pathway(value: Any) -> bool:
    return isinstance(value, type) and issubclass(value, Pathway)


def _nested_faults(cls: type, root: type) -> Iterator[Fault]:
    for body in bodies(cls, root):
        own: dict[str, str] = {}
        for name, value in vars(body).items():
            if _is_pathway(value):
                first = own.setdefault(pathway_id(name), name)
                if first != name:
                    message = f"{first} and {name} both have the id '{pathway_id(name)}'."
                    yield Fault(message, name, remedy="Rename one of them.", where=body.__name__)
            elif name.endswith(_SUFFIXES) and _is_nested(value, body):
                remedy = f"Write class {name}(Pathway)."
                yield Fault(f"{name} is not a pathway.", name, remedy=remedy, where=body.__name__)


def _is_nested(value: Any, body: type) -> bool:
    """Return whether a class was written in a body, not only referred to."""
    return isinstance(value, type) and value.__qualname__.startswith(f"{body.__qualname__}.")


def _read_pathway(id_: str, klass: type[Pathway], where: str, faults: list[Fault]) -> PathwaySpec:
    for body in bodies(klass, Pathway):
        faults += unknown(where, body, Pathway, PATHWAY_ATTRIBUTES)
    known = {"id": id_, "where": where, "purpose": docstring(klass, Pathway)}
    read = read_attributes(PathwaySpec, where, klass, Pathway, faults, **known)
    unnamed = read.signature is not None and klass.__agents__ is Pathway.__agents__
    named = (id_,) if unnamed else tuple(dict.fromkeys(read.agents))
    declared = (klass.__pipeline__, klass.__pipeline_config__)
    pipeline = read_pipeline(*declared, id_, where, named, faults)
    return read.with_agents(pipeline, registered(pipeline, named))
