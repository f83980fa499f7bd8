"""Read the rules of a journey: its transitions and guidelines, and guidelines of all journeys."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import count
from typing import Any

from journeygraph.journeys.declarations.guidelines import Guideline, GuidelineSpec, Scope
from journeygraph.journeys.declarations.transitions import Transition
from journeygraph.journeys.errors import JourneyDefinitionError, did_you_mean, shown
from journeygraph.journeys.faults import Fault, SourceLocation, as_where
from journeygraph.journeys.reading.declared import validation_of
from journeygraph.journeys.spec.hashing import content_hash
from journeygraph.journeys.spec.spec import JourneySpec, TransitionSpec, Update, frozen


def read_transitions(
    declared: Iterable[tuple[str, Any]], faults: list[Fault]
) -> list[TransitionSpec]:
    """Read transitions, each with where it is written, noting every fault."""
    specs: list[TransitionSpec] = []
    seen: dict[str, int] = {}
    names: set[str] = set()
    for where, transition in declared:
        if not isinstance(transition, Transition):
            said, remedy = f"it is {shown(transition)}", "it must be a Transition(...)."
            faults.append(Fault(said, remedy=remedy, where=where))
            continue
        faults += [fault.at(where) for fault in transition.faults]
        if transition.name in names:
            said = f"another transition is named '{transition.name}' too."
            faults.append(Fault(said, "name", remedy="Rename one of them.", where=where))
        names |= {transition.name} - {""}
        specs.append(read_transition(where, transition, seen))
    return specs


def read_transition(where: str, transition: Transition, seen: dict[str, int]) -> TransitionSpec:
    """Read one transition; `seen` counts the ids of the journey."""
    given = transition.from_pathway
    sources = (given,) if isinstance(given, str) else ("*",) if "*" in given else tuple(given)
    kind = type(transition.trigger).__name__
    name = f"{kind}:{','.join(sources)}->{transition.to_pathway}"
    seen[name] = seen.get(name, 0) + 1
    return TransitionSpec(
        id=name if seen[name] == 1 else f"{name}#{seen[name]}",
        trigger=transition.trigger,
        sources=sources,
        target=transition.to_pathway,
        updates=updates_of(transition),
        priority=transition.priority,
        where=where,
    )


def updates_of(rule: Transition) -> tuple[Update, ...]:
    """Return what a rule does to the context."""
    return tuple(_update(name, given) for name, given in (rule.context_update or {}).items())


def _update(target: str, given: Any) -> Update:
    if callable(given):
        return Update(target, "call", "", given)
    how, colon, argument = given.partition(":")
    return Update(target, how, argument) if colon else Update(target, "copy", given)


_LONGEST_ID = 40
"""Characters of an id that is made of words."""


WrittenGuideline = tuple[str, Any, str | None]
"""Place of a guideline, the guideline, and the id of the pathway that has it."""


def read_guidelines(
    written: Iterable[WrittenGuideline], faults: list[Fault], *, journey: str | None
) -> list[GuidelineSpec]:
    """Read guidelines, noting every fault; one with faults is left out.

    Args:
        journey: Id of the journey; None for guidelines of all journeys.
    """
    specs: list[GuidelineSpec] = []
    for where, guideline, pathway in written:
        if not isinstance(guideline, Guideline):
            said, remedy = f"it is {shown(guideline)}", "it must be a Guideline(...)."
            faults.append(Fault(said, remedy=remedy, where=where))
            continue
        at = as_where(where)
        found = [fault.at(at) for fault in guideline.faults]
        found += _scope_faults(at, guideline.scope, journey, pathway) if guideline.is_whole else ()
        faults += found
        if not found and guideline.is_whole:
            specs.append(_read(at, guideline, journey, pathway))
    return specs


def related(
    guidelines: Sequence[GuidelineSpec], faults: list[Fault], written: int
) -> tuple[GuidelineSpec, ...]:
    """Return guidelines with unique ids, noting the faults between them.

    Args:
        written: Number of all guidelines. If some could not be read, no relation is judged.
    """
    faults += taken_ids(guidelines)
    specs = numbered(guidelines)
    if len(guidelines) == written:
        faults += relation_faults(specs)
    return specs


def _scope_faults(
    where: SourceLocation, scope: Any, journey: str | None, pathway: str | None
) -> Iterator[Fault]:
    if scope is None:
        return
    key = where.key("__guidelines__")
    if pathway is None and scope == Scope.STATE:
        said = f"its scope is a {where.pathway}"
        remedy = f"write it in {key} of that {where.pathway}."
    elif pathway is not None and scope != Scope.STATE:
        said, remedy = f"its scope is '{scope}'", f"write it in {key} of the journey."
    elif journey is None and scope != Scope.GLOBAL:
        said, remedy = f"its scope is '{scope}', but it is not part of a journey.", ""
    else:
        return
    yield Fault(said, remedy=remedy, where=where)


def _read(
    where: SourceLocation, guideline: Guideline, journey: str | None, pathway: str | None
) -> GuidelineSpec:
    scope = Scope.STATE if pathway is not None else Scope.JOURNEY
    if guideline.scope is not None or journey is None:
        scope = Scope(guideline.scope or Scope.GLOBAL)
    return guideline.model_copy(
        update={
            "id": guideline.id or id_made_of(guideline),
            "scope": scope,
            "journey": None if scope is Scope.GLOBAL else journey,
            "pathway": pathway,
            "where": where,
        }
    )


def id_made_of(guideline: Guideline) -> str:
    """Make an id of the words that say when it holds, else of what it asks for."""
    lists = (guideline.keywords, guideline.tools, guideline.forbids, guideline.requires)
    listed = (item for items in lists for item in items)
    said = guideline.condition or guideline.action or next(listed, "")
    words = re.findall(r"\w+", said)
    made = "_".join(words).casefold()
    return made[:_LONGEST_ID].rstrip("_") or "guideline"


def numbered(guidelines: Sequence[GuidelineSpec]) -> tuple[GuidelineSpec, ...]:
    """Return guidelines with unique ids, also if ids were made of the same words."""
    taken = {guideline.id for guideline in guidelines}
    numbers: dict[str, Iterator[int]] = {}
    result = []
    for guideline in guidelines:
        id_ = guideline.id
        if id_ in numbers:
            id_ = next(made for n in numbers[id_] if (made := f"{guideline.id}_{n}") not in taken)
            taken.add(id_)
        else:
            numbers[id_] = count(2)
        known = id_ == guideline.id
        result.append(guideline if known else guideline.model_copy(update={"id": id_}))
    return tuple(result)


def taken_ids(guidelines: Sequence[GuidelineSpec]) -> list[Fault]:
    """Say which ids that an author gave are those of another guideline."""
    first: dict[str, GuidelineSpec] = {}
    taken = [(one, first.setdefault(one.id, one)) for one in guidelines]
    return [
        Fault(f"the id '{one.id}' is already used by {other.where}.", where=one.where)
        for one, other in taken
        if one is not other and one.id != id_made_of(one) and not _is_same(one, other)
    ]


def _is_same(one: GuidelineSpec, other: GuidelineSpec) -> bool:
    """Return whether two are one, which several pathways have from a common base."""
    moved = {"pathway": one.pathway, "where": one.where}
    return one.pathway != other.pathway and one == other.model_copy(update=moved)


def relation_faults(guidelines: Sequence[GuidelineSpec]) -> Iterator[Fault]:
    """Yield what is wrong between guidelines: relations to what is not there, and circles."""
    known = {guideline.id for guideline in guidelines}
    needs = {guideline.id: guideline.depends_on for guideline in guidelines}
    for guideline in guidelines:
        for name in ("excludes", "depends_on"):
            for number, id_ in enumerate(getattr(guideline, name)):
                if id_ not in known:
                    hint = did_you_mean(id_, sorted(known))
                    said = f"{name} contains '{id_}', which is not a guideline."
                    yield Fault(said, name, number, remedy=hint, where=guideline.where)
                if id_ == guideline.id:
                    said = f"{name} contains the guideline itself."
                    yield Fault(said, name, number, where=guideline.where)
        if _leads_back(guideline.id, needs):
            yield Fault(
                f"depends_on leads back to '{guideline.id}' itself.",
                "depends_on",
                where=guideline.where,
            )


def _leads_back(start: str, needs: Mapping[str, Sequence[str]]) -> bool:
    waiting, seen = [id_ for id_ in needs[start] if id_ != start], set[str]()
    while waiting:
        at = waiting.pop()
        if at == start:
            return True
        if at not in seen:
            seen.add(at)
            waiting += needs.get(at, ())
    return False


_MARK = 12
_MARKED = re.compile(rf"\+[0-9a-f]{{{_MARK}}}\Z")


def own_version(version: str) -> str:
    """Return the version of a journey without its part for added global guidelines.

    These apply to a session of every version, so they do not change the version that it belongs to.
    """
    return _MARKED.sub("", version)


def with_guidelines(spec: JourneySpec, extra: Sequence[GuidelineSpec]) -> JourneySpec:
    """Return a journey to which global guidelines apply as well.

    Of their tools it has those that it declares itself. Its version says that they belong to it,
    and replies are checked if one of them is critical.

    Raises:
        JourneyDefinitionError: One has the id of a guideline of the journey, or is related to one
            that is not there; all faults are named.
    """
    if not extra:
        return spec
    added = tuple(
        rule.model_copy(update={"tools": tuple(t for t in rule.tools if t in spec.tools)})
        for rule in extra
    )
    known = {rule.id: rule.where for rule in spec.guidelines}
    faults = [
        Fault(
            f"the id '{rule.id}' is taken in {spec.name} by {known[rule.id]}.",
            "id",
            where=rule.where,
        )
        for rule in added
        if rule.id in known
    ]
    if faults := faults or list(relation_faults([*spec.guidelines, *added])):
        raise JourneyDefinitionError(faults)
    checked = spec.validation or validation_of(None, added)
    return replace(
        spec,
        guidelines=(*spec.guidelines, *added),
        validation=checked,
        version=f"{spec.version}+{content_hash(*added)[:_MARK]}",
        parts=frozen(
            {
                id_: replace(part, validation=part.validation or checked)
                for id_, part in spec.parts.items()
            }
        ),
    )
