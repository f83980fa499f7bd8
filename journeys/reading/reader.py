"""Class bodies in, frozen spec out; every fault of them in one error."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from journeys.agents.signature import docstring
from journeys.errors import JourneyDefinitionError
from journeys.faults import Fault
from journeys.notions.guidelines import GuidelineSpec
from journeys.pathway import PATHWAY_ATTRIBUTES, Pathway
from journeys.reading.bodies import bodies, unknown
from journeys.reading.collecting_reader import (
    COLLECTING_ATTRIBUTES,
    read_collecting,
)
from journeys.reading.declared import read_attributes
from journeys.reading.flow_reader import FLOW_ATTRIBUTES, read_flow
from journeys.reading.guideline_reader import read_guidelines
from journeys.reading.inheriting import TRANSITIONS, declared, in_order, is_abstract, without_faults
from journeys.reading.pipeline_reader import read_pipeline, registered
from journeys.reading.transition_reader import read_each
from journeys.spec.checks import reference_faults
from journeys.spec.hashing import content_hash
from journeys.spec.joining import joined
from journeys.spec.spec import JourneySpec, PathwaySpec, TransitionSpec, empty_spec

JOURNEY_ATTRIBUTES = (
    "__entry_pathway__",
    "__transitions__",
    "__version__",
    "__sensitive__",
    "__abstract__",
    "__without__",
    *FLOW_ATTRIBUTES,
    *COLLECTING_ATTRIBUTES,
)
_SUFFIXES = ("Path", "Pathway")


def snake(name: str) -> str:
    """Return a class name in snake case, acronyms as one word.

    Example:
        >>> snake("FAQ"), snake("UserRegistration"), snake("HTTPRetry2")
        ('faq', 'user_registration', 'http_retry2')
    """
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name)
    return re.sub(r"_+", "_", spaced).strip("_").lower()


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
    faults = [*_journey_faults(cls, root), *_nested_faults(cls, root)]
    if is_abstract(cls):
        if faults:
            raise JourneyDefinitionError(faults)
        return _shared_spec(cls, root)
    faults += without_faults(cls, root)
    classes = pathway_classes(cls, root)
    pathways: dict[str, PathwaySpec] = {}
    guidelines: list[GuidelineSpec] = []
    for id_, klass in classes.items():
        where = f"{cls.__name__}.{klass.__name__}"
        pathways[id_] = _read_pathway(id_, klass, where, faults)
        guidelines += read_guidelines(
            where, klass.__guidelines__, faults, journey=journey_id(cls.__name__), pathway=id_
        )
    written = [(entry.where, entry.item) for entry in declared(cls, root, TRANSITIONS, faults)]
    transitions = read_each(written, faults)
    entry = _entry(cls)
    faults += reference_faults(cls.__name__, entry, pathways, transitions)
    flow = read_flow(cls, root, journey_id(cls.__name__), guidelines, faults)
    flow |= read_collecting(cls.__name__, cls, pathways, faults)
    if faults:
        raise JourneyDefinitionError(faults)
    return _spec(cls, root, entry or next(iter(pathways), ""), pathways, transitions, flow)


def _spec(
    cls: type,
    root: type,
    entry: str,
    pathways: Mapping[str, PathwaySpec],
    transitions: Sequence[TransitionSpec],
    flow: Mapping[str, Any],
) -> JourneySpec:
    purpose = docstring(cls, root)
    sensitive = bool(getattr(cls, "__sensitive__", False))
    version = getattr(cls, "__version__", None)
    shape = (list(pathways.values()), list(transitions))
    parts = (cls.__name__, purpose, entry, *shape, sensitive, flow)
    return joined(
        entry,
        pathways,
        transitions,
        id=journey_id(cls.__name__),
        name=cls.__name__,
        purpose=purpose,
        sensitive=sensitive,
        version=version or content_hash(*parts),
        **flow,
    )


def _shared_spec(cls: type, root: type) -> JourneySpec:
    """Return the spec of an abstract journey: what it shares is judged in those that inherit it."""
    purpose = docstring(cls, root)
    return empty_spec(journey_id(cls.__name__), cls.__name__, purpose, is_marked=True)


def _entry(cls: type) -> str | None:
    entry = getattr(cls, "__entry_pathway__", None)
    return entry if isinstance(entry, str) else None


def _journey_faults(cls: type, root: type) -> list[Fault]:
    faults: list[Fault] = []
    for klass in bodies(cls, root):
        faults += unknown(klass.__name__, klass, root, JOURNEY_ATTRIBUTES)
    kinds: dict[str, type] = {"__entry_pathway__": str, "__abstract__": bool}
    for name, kind in kinds.items():
        value = getattr(cls, name, None)
        if value is not None and not isinstance(value, kind):
            faults.append(
                Fault(f"{name} must be {kind.__name__}, not {value!r}.", where=cls.__name__)
            )
    return faults


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
                    yield Fault(
                        f"{first} and {name} both have the id '{pathway_id(name)}'.",
                        remedy="Rename one of them.",
                        where=body.__name__,
                    )
            elif name.endswith(_SUFFIXES) and _is_nested(value, body):
                yield Fault(
                    f"{name} is no pathway.",
                    remedy=f"Write class {name}(Pathway).",
                    where=body.__name__,
                )


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
    pipeline = read_pipeline(declared, id_, where, named, faults)
    return read.with_agents(pipeline, registered(pipeline, named))
