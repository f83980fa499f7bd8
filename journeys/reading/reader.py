"""Class bodies in, frozen spec out; every fault of them in one error."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from journeygraph.journeys.agents.signature import docstring
from journeygraph.journeys.errors import JourneyDefinitionError, snake
from journeygraph.journeys.faults import Fault
from journeygraph.journeys.notions.guidelines import GuidelineSpec
from journeygraph.journeys.pathway import PATHWAY_ATTRIBUTES, Pathway
from journeygraph.journeys.reading.class_bodies import (
    GUIDELINES,
    TRANSITIONS,
    bodies,
    declared,
    in_order,
    is_abstract,
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
from journeygraph.journeys.reading.rule_reader import (
    numbered,
    read_each_guideline,
    read_guidelines,
    read_transitions,
    relation_faults,
    taken_ids,
)
from journeygraph.journeys.spec.checks import (
    collected_faults,
    reference_faults,
    strategies_of,
    target_faults,
)
from journeygraph.journeys.spec.hashing import content_hash
from journeygraph.journeys.spec.spec import (
    JourneySpec,
    PathwaySpec,
    TransitionSpec,
    empty_spec,
    frozen,
    reachable,
)
from journeygraph.journeys.spec.warning_signs import kept_names, unset_names, warnings_of

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
    of_pathways: list[GuidelineSpec] = []
    for at, klass in pathway_classes(cls, root).items():
        where = f"{name}.{klass.__name__}"
        pathways[at] = _read_pathway(at, klass, where, faults)
        listed = klass.__guidelines__
        of_pathways += read_guidelines(where, listed, faults, journey=id_, pathway=at)
    written = [(entry.where, entry.item) for entry in declared(cls, root, TRANSITIONS, faults)]
    transitions = read_transitions(written, faults)
    faults += reference_faults(name, whole.entry_pathway, pathways, transitions)
    guidelines = _guidelines(cls, root, id_, of_pathways, faults)
    faults += collected_faults(pathways)
    faults += target_faults(name, "__patterns__", whole.patterns, pathways)
    faults += target_faults(name, "__migrations__", whole.migrations, pathways)
    if faults:
        raise JourneyDefinitionError(faults)
    entry = whole.entry_pathway or next(iter(pathways), "")
    purpose, flow = docstring(cls, root), {**whole.flow(guidelines), **whole.manner()}
    shape = (list(pathways.values()), transitions)
    parts = (name, purpose, entry, *shape, whole.sensitive, flow)
    return joined(
        entry,
        pathways,
        transitions,
        id=id_,
        name=name,
        where=name,
        purpose=purpose,
        sensitive=whole.sensitive,
        version=whole.version or content_hash(*parts),
        **flow,
    )


def _guidelines(
    cls: type, root: type, id_: str, of_pathways: list[GuidelineSpec], faults: list[Fault]
) -> tuple[GuidelineSpec, ...]:
    """Return the guidelines of a journey and of its pathways, noting every fault."""
    written = [(entry.where, entry.item) for entry in declared(cls, root, GUIDELINES, faults)]
    found = [*read_each_guideline(written, faults, journey=id_), *of_pathways]
    faults += taken_ids(found)
    guidelines = numbered(found)
    faults += relation_faults(guidelines)
    return guidelines


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


def joined(
    entry: str,
    pathways: Mapping[str, PathwaySpec],
    transitions: Sequence[TransitionSpec],
    **rest: Any,
) -> JourneySpec:
    """Return the spec of a journey without faults; what smells in it becomes its warnings.

    Args:
        entry: Id of the pathway where a session begins.
        pathways: All of them by id, in order.
        transitions: All of them, in order.
        rest: The other fields of the spec that nothing follows from.
    """
    sources = {u.argument for t in transitions for u in t.updates if u.how in ("append", "copy")}
    spec = JourneySpec(
        entry=entry,
        pathways=frozen(pathways),
        transitions=tuple(transitions),
        strategies=frozen(strategies_of(pathways)),
        kept=frozenset(sources),
        reachable=reachable(entry, pathways, transitions, rest.get("patterns", {})),
        has_repair=_has_repair(pathways, rest),
        **rest,
    )
    unset = tuple(unset_names(spec, kept_names(spec)))
    return replace(spec, warnings=tuple(warnings_of(spec)), unset=unset)


def _has_repair(pathways: Mapping[str, PathwaySpec], rest: Mapping[str, Any]) -> bool:
    """Return whether a journey declares repair patterns, or where it may be interrupted."""
    return (
        bool(rest.get("patterns"))
        or any(pathway.interruptible is not True for pathway in pathways.values())
        or any(part.has_repair for part in rest.get("parts", {}).values())
    )
