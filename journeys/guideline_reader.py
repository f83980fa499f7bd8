"""`__guidelines__` in, guideline specs out; every fault named with its remedy."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import count
from typing import Any

from journeys.checks import takes
from journeys.errors import did_you_mean, shown
from journeys.guidelines import Guideline, GuidelineSpec, Scope

_LISTS = ("keywords", "tools", "excludes", "depends_on", "forbids", "requires")
_FLAGS = ("always", "critical", "enabled")
_TEXTS = ("condition", "action", "id")
_LONGEST_ID = 40
"""Characters of an id that is made of words."""
_MOST_ID = 200
"""Characters of an id that is given; a model has to repeat it, and records keep it."""


def read_guidelines(
    owner: str,
    declared: Any,
    faults: list[str],
    *,
    journey: str | None,
    pathway: str | None = None,
) -> list[GuidelineSpec]:
    """Read the guidelines of a body, noting every fault.

    Args:
        owner: The body, for messages.
        declared: What `__guidelines__` holds.
        faults: Takes a sentence for each fault.
        journey: Id of the journey; None where guidelines stand by themselves, for all journeys.
        pathway: Id of the pathway, where the body is one.
    """
    if isinstance(declared, str) or not isinstance(declared, Sequence):
        faults.append(f"{owner}: __guidelines__ must be a list of Guideline(...).")
        return []
    places = (f"{owner}.__guidelines__[{number}]" for number in range(len(declared)))
    listed = zip(places, declared, strict=True)
    return read_each(listed, faults, journey=journey, pathway=pathway)


def read_each(
    declared: Iterable[tuple[str, Any]],
    faults: list[str],
    *,
    journey: str | None,
    pathway: str | None = None,
) -> list[GuidelineSpec]:
    """Read guidelines, each with where it is written, noting every fault."""
    specs: list[GuidelineSpec] = []
    for where, guideline in declared:
        if isinstance(guideline, Guideline):
            specs += read_guideline(where, guideline, faults, journey=journey, pathway=pathway)
        else:
            faults.append(f"{where} is {shown(guideline)}; it must be a Guideline(...).")
    return specs


def read_guideline(
    where: str,
    guideline: Guideline,
    faults: list[str],
    *,
    journey: str | None,
    pathway: str | None = None,
) -> list[GuidelineSpec]:
    """Read one guideline; without a spec where it has faults, which are noted."""
    found = list(_faults(where, guideline, journey, pathway))
    faults += found
    return [] if found else [_read(where, guideline, journey, pathway)]


def _faults(
    where: str, guideline: Guideline, journey: str | None, pathway: str | None
) -> Iterator[str]:
    yield from _type_faults(where, guideline)
    if isinstance(guideline.id, str) and not _is_id(guideline.id):
        yield (
            f"{where}: id is {shown(guideline.id)}; it must be printable text of at most "
            f"{_MOST_ID} characters."
        )
    if type(guideline.priority) is not int:
        yield f"{where}: priority is {shown(guideline.priority)}; it must be a whole number."
    judge: Any = guideline.when
    if judge is not None and not (callable(judge) and takes(judge, "", {})):
        yield f"{where}: when is {shown(judge)}; it must take (message, context)."
    yield from _scope_faults(where, guideline.scope, journey, pathway)
    yield from _purpose_faults(where, guideline)


def _is_id(id_: str) -> bool:
    return len(id_) <= _MOST_ID and id_.isprintable()


def _type_faults(where: str, guideline: Guideline) -> Iterator[str]:
    for names, kind, wanted in ((_TEXTS, str, "text"), (_FLAGS, bool, "True or False")):
        for name in names:
            if not isinstance(value := getattr(guideline, name), kind):
                yield f"{where}: {name} is {shown(value)}; it must be {wanted}."
    for name in _LISTS:
        value = getattr(guideline, name)
        listed = isinstance(value, Sequence) and not isinstance(value, str)
        if not listed or not all(isinstance(item, str) and item.strip() for item in value):
            yield f"{where}: {name} is {shown(value)}; it must be a list of text."


def _scope_faults(
    where: str, scope: Any, journey: str | None, pathway: str | None
) -> Iterator[str]:
    known = [item.value for item in Scope]
    if scope is None:
        return
    if scope not in known:
        yield f"{where}: scope is {shown(scope)}.{did_you_mean(str(scope), known)} " + (
            f"One of: {', '.join(known)}."
        )
    elif pathway is None and scope == Scope.STATE:
        yield f"{where}: its scope is a state; write it in that pathway's __guidelines__."
    elif pathway is not None and scope != Scope.STATE:
        yield f"{where}: its scope is '{scope}'; write it in the journey's __guidelines__."
    elif journey is None and scope != Scope.GLOBAL:
        yield f"{where}: its scope is '{scope}', and it stands in no journey."


def _purpose_faults(where: str, guideline: Guideline) -> Iterator[str]:
    has_rules = bool(guideline.forbids or guideline.requires)
    if not guideline.action and not guideline.tools and not has_rules:
        yield f"{where}: it does nothing. Give it an action, tools, forbids or requires."
    if has_rules and not guideline.critical:
        yield f"{where}: forbids and requires are of critical guidelines. Set critical=True."
    unasked = guideline.always or guideline.critical or guideline.when or guideline.keywords
    if not guideline.condition and not unasked:
        yield f"{where}: it never holds. Give it a condition, `when`, keywords or always=True."


def _read(
    where: str, guideline: Guideline, journey: str | None, pathway: str | None
) -> GuidelineSpec:
    scope = Scope.STATE if pathway is not None else Scope.JOURNEY
    if guideline.scope is not None or journey is None:
        scope = Scope(guideline.scope or Scope.GLOBAL)
    lists: Mapping[str, Any] = {name: tuple(getattr(guideline, name)) for name in _LISTS}
    return GuidelineSpec(
        id=guideline.id or id_made_of(guideline),
        scope=scope,
        condition=guideline.condition,
        action=guideline.action,
        journey=None if scope is Scope.GLOBAL else journey,
        pathway=pathway,
        when=guideline.when,
        priority=guideline.priority,
        always=guideline.always,
        critical=guideline.critical,
        enabled=guideline.enabled,
        where=where,
        **lists,
    )


def id_made_of(guideline: Guideline | GuidelineSpec) -> str:
    """Make an id of the words that say when it holds, else of what it asks for."""
    lists = (guideline.keywords, guideline.tools, guideline.forbids, guideline.requires)
    listed = (item for items in lists for item in items)
    said = guideline.condition or guideline.action or next(listed, "")
    words = re.findall(r"\w+", said)
    made = "_".join(words).casefold()
    return made[:_LONGEST_ID].rstrip("_") or "guideline"


def numbered(guidelines: Sequence[GuidelineSpec]) -> tuple[GuidelineSpec, ...]:
    """Return guidelines with ids of their own, where they were made of the same words."""
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
        result.append(guideline if id_ == guideline.id else replace(guideline, id=id_))
    return tuple(result)


def taken_ids(guidelines: Sequence[GuidelineSpec]) -> list[str]:
    """Say which ids that an author gave are those of another guideline."""
    first: dict[str, GuidelineSpec] = {}
    taken = [(one, first.setdefault(one.id, one)) for one in guidelines]
    return [
        f"{one.where}: the id '{one.id}' is taken by {other.where}."
        for one, other in taken
        if one is not other and one.id != id_made_of(one) and not _is_same(one, other)
    ]


def _is_same(one: GuidelineSpec, other: GuidelineSpec) -> bool:
    """Whether two are one, which several pathways have from a common base."""
    return one.pathway != other.pathway and one == replace(
        other, pathway=one.pathway, where=one.where
    )


def relation_faults(guidelines: Sequence[GuidelineSpec]) -> Iterator[str]:
    """Yield what is wrong between guidelines: relations to what is not there, and circles."""
    known = {guideline.id for guideline in guidelines}
    needs = {guideline.id: guideline.depends_on for guideline in guidelines}
    for guideline in guidelines:
        for name in ("excludes", "depends_on"):
            for id_ in getattr(guideline, name):
                if id_ not in known:
                    hint = did_you_mean(id_, sorted(known))
                    yield f"{guideline.where}: {name} names '{id_}', which is no guideline.{hint}"
                if id_ == guideline.id:
                    yield f"{guideline.where}: {name} names the guideline itself."
        if _leads_back(guideline.id, needs):
            yield f"{guideline.where}: depends_on leads back to '{guideline.id}' itself."


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
