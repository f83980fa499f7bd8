"""Check a definition and return its faults."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from journeygraph.journeys.agents.agent import may_name
from journeygraph.journeys.declarations.behaviors import NEVER, MergeStrategy, ReturnToSpecific
from journeygraph.journeys.declarations.fields import Field
from journeygraph.journeys.errors import did_you_mean
from journeygraph.journeys.faults import Fault, SourceLocation, as_where
from journeygraph.journeys.spec.spec import RESERVED_IDS, PathwaySpec, TransitionSpec

Pathways = Mapping[str, PathwaySpec]
MOST_ID = 200
"""Longest id of a pathway, in characters: as long as a store's column."""
PATTERNS = (
    "continue",
    "cancel",
    "clarify",
    "off_topic",
    "knowledge",
    "unsupported",
    "explain",
    "repeat",
    "restart",
    "back",
    "status",
    "wait",
    "noise",
    "invalid",
    "blocked",
    "resume",
    "human",
)
"""Repair patterns, for each of which a journey may declare a pathway."""


def reference_faults(
    owner: str, entry: str | None, pathways: Pathways, transitions: Sequence[TransitionSpec]
) -> list[Fault]:
    """Return the faults that only show when all pathways are known together."""
    return [
        *_id_faults(pathways),
        *_entry_faults(owner, entry, pathways),
        *_next_faults(pathways),
        *_return_faults(pathways),
        *_transition_faults(pathways, transitions),
        *_strategy_faults(pathways),
        *_loop_faults(pathways),
    ]


def collected_faults(pathways: Pathways) -> Iterator[Fault]:
    """Yield the faults of fields and effects that only show when all are known together."""
    yield from field_faults(pathways)
    yield from _dependency_faults(pathways)
    yield from _effect_faults(pathways)


def target_faults(
    owner: str, name: str, declared: Mapping[str, str], pathways: Pathways
) -> Iterator[Fault]:
    """Yield the faults of `__patterns__` or `__migrations__`, whose values are ids of pathways."""
    at = as_where(owner)
    key = at.key(name)
    for given, target in declared.items():
        if name == "__patterns__" and given not in PATTERNS:
            remedy = f"{did_you_mean(str(given), PATTERNS)} Known: {', '.join(PATTERNS)}."
            message = f"{key}: '{given}' is not a repair pattern."
            yield Fault(message, key, given, remedy=remedy, where=at, at_key=True)
        if target not in pathways:
            remedy = f"{did_you_mean(str(target), tuple(pathways))} {_known(at, pathways)}"
            message = (
                f"{key}['{given}'] is '{target}', which is not a {at.pathway} of this journey."
            )
            yield Fault(message, key, given, remedy=remedy, where=at)


def strategies_of(pathways: Pathways) -> dict[str, MergeStrategy | None]:
    """Return the one strategy of each accumulated name; None is the undeclared rule."""
    strategies: dict[str, MergeStrategy | None] = {}
    for pathway in pathways.values():
        for name, strategy in pathway.accumulate.items():
            strategies[name] = strategies.get(name) or strategy
    return strategies


def _unknown(where: str, id_: object, pathways: Pathways, *key: str, named: str = "") -> Fault:
    at = as_where(where)
    name, hint = at.key(*key), did_you_mean(str(id_), list(pathways))
    message = f"{named or name} is {id_!r}, which is not a {at.pathway} of this journey."
    return Fault(message, name, remedy=f"{hint} {_known(at, pathways)}", where=at)


def _known(at: SourceLocation, pathways: Pathways) -> str:
    return f"Its {at.pathway}s: {', '.join(pathways)}."


def _id_faults(pathways: Pathways) -> Iterator[Fault]:
    for id_, pathway in pathways.items():
        where = pathway.where
        if not id_:
            remedy = "Give the class a name before the suffix."
            yield Fault("its id is empty.", remedy=remedy, where=where)
        if len(id_) > MOST_ID:
            message = f"the id '{id_[:40]}...' is longer than {MOST_ID} characters."
            yield Fault(message, remedy="Shorten it.", where=where)
        if id_ in RESERVED_IDS:
            message = f"the id '{id_}' is reserved for a node of the graph."
            yield Fault(message, remedy="Rename it.", where=where)
        for name in pathway.agents:
            if not may_name(name):
                message = f"'{name}' is not a valid name of an agent."
                remedy = "Names contain no ':', '|' and '/', and do not begin with '__'."
                yield Fault(message, remedy=remedy, where=where)


_ENTRY = ("__entry_pathway__", "initial_state")
_RETURNS = ("__return_behavior__", "detour")
_ARRIVAL = ("__runs_on_arrival__", "on_arrival")


def _entry_faults(owner: str, entry: str | None, pathways: Pathways) -> Iterator[Fault]:
    if entry is not None and entry not in pathways:
        yield _unknown(owner, entry, pathways, *_ENTRY)
    first = entry or next(iter(pathways), "")
    if first in pathways and pathways[first].is_detour:
        at = as_where(owner)
        message = f"the first {at.pathway} '{first}' is a detour, which has nothing to return to."
        remedy = f"Set {at.key(*_ENTRY)} to another {at.pathway}."
        yield Fault(message, remedy=remedy, where=at)


def _next_faults(pathways: Pathways) -> Iterator[Fault]:
    for pathway in pathways.values():
        if pathway.next is None:
            continue
        at = as_where(pathway.where)
        key, returns = at.key("__next__"), at.key(*_RETURNS)
        if pathway.next not in pathways:
            yield _unknown(at, pathway.next, pathways, "__next__")
        elif pathways[pathway.next].is_detour:
            message = f"{key} is '{pathway.next}', a detour; only a transition leads to a detour."
            remedy = f"Use a transition, or remove its {returns}."
            yield Fault(message, key, remedy=remedy, where=at)
        if pathway.is_detour:
            message = f"a detour returns when it is complete, so {key} has no effect."
            remedy = f"Remove {key} or {returns}, or return to a specific {at.pathway}."
            yield Fault(message, key, remedy=remedy, where=at)


def _return_faults(pathways: Pathways) -> Iterator[Fault]:
    for pathway in pathways.values():
        at, returns = as_where(pathway.where), pathway.returns
        if isinstance(returns, ReturnToSpecific):
            target = returns.target_pathway
            if target not in pathways:
                yield _unknown(at, target, pathways, *_RETURNS, named="the return target")
            elif pathways[target].is_detour:
                message = f"it returns to '{target}', which is itself a detour."
                yield Fault(message, at.key(*_RETURNS), where=at)
        if returns and pathway.runs_on_arrival and pathway.form is None:
            message = "a detour always runs in the turn in which a transition leads to it"
            remedy = f"remove its {at.key(*_ARRIVAL)}."
            yield Fault(message, at.key(*_ARRIVAL), remedy=remedy, where=at)


def _transition_faults(
    pathways: Pathways, transitions: Sequence[TransitionSpec]
) -> Iterator[Fault]:
    for transition in transitions:
        if transition.target not in list(pathways):  # it may be anything, also unhashable
            yield _unknown(transition.where, transition.target, pathways, "to_pathway", "to")
        for source in transition.sources:
            if source != "*" and source not in pathways:
                yield _unknown(transition.where, source, pathways, "from_pathway", "from")


def _strategy_faults(pathways: Pathways) -> Iterator[Fault]:
    first: dict[str, tuple[MergeStrategy, str]] = {}
    for pathway in pathways.values():
        for name, strategy in pathway.accumulate.items():
            if strategy is None:
                continue
            known, where = first.setdefault(name, (strategy, pathway.where))
            if known is not strategy:
                message = f"'{name}' is merged by '{strategy}' here, and by '{known}' in {where}."
                remedy = "Use one strategy for a name."
                yield Fault(message, remedy=remedy, where=pathway.where)


def _loop_faults(pathways: Pathways) -> Iterator[Fault]:
    """Find arrivals that would run in a circle until the hop limit, every time."""
    reported: set[str] = set()
    for start in pathways:
        loop: list[str] = []
        at = start
        while at in pathways and at not in loop and _goes_on_by_itself(pathways[at]):
            loop.append(at)
            at = pathways[at].next or ""
        if loop and at == start and not reported & set(loop):
            reported |= set(loop)
            where = as_where(pathways[start].where)
            if len(loop) == 1:
                yield _own_successor(start, where)
                continue
            message = f"{' -> '.join([*loop, start])} run on arrival in an endless loop."
            remedy = f"Remove {where.key(*_ARRIVAL)} from one of them."
            yield Fault(message, where.key(*_ARRIVAL), remedy=remedy, where=where)


def _own_successor(id_: str, where: SourceLocation) -> Fault:
    key = where.key("__next__")
    message = f"{key} is '{id_}', the {where.pathway} itself, so it runs in an endless loop."
    remedy = f"Name another {where.pathway}. To stay here, remove {key} and write "
    remedy += f"{where.key('__complete_when__')}{where.never}."
    return Fault(message, key, remedy=remedy, where=where)


def _goes_on_by_itself(pathway: PathwaySpec) -> bool:
    # A callable may end the circle by what the agents find out; the hop limit guards the rest.
    waits = pathway.complete_when is NEVER or callable(pathway.complete_when)
    return pathway.runs_on_arrival and not waits


def _fields(pathways: Pathways) -> Iterator[tuple[PathwaySpec, int, Field]]:
    for pathway in pathways.values():
        for number, field in enumerate(pathway.form.fields if pathway.form else ()):
            yield pathway, number, field


def field_faults(pathways: Pathways) -> Iterator[Fault]:
    """Yield the fields of one name that have two types."""
    first: dict[str, tuple[str, Field]] = {}
    for pathway, number, field in _fields(pathways):
        if not field.has_sound("type", "items"):
            continue
        at, same = first.setdefault(field.name, (pathway.id, field))
        if (field.type, field.items) != (same.type, same.items) and at != pathway.id:
            message = f"the field '{field.name}' is {same.type} in '{at}' and {field.type} here."
            remedy = "Fields of one name are one field: rename one of them."
            yield Fault(message, "fields", number, remedy=remedy, where=pathway.where)


def _dependency_faults(pathways: Pathways) -> Iterator[Fault]:
    names = list(dict.fromkeys(field.name for _, _, field in _fields(pathways)))
    for pathway, number, field in _fields(pathways):
        for at, name in enumerate(field.depends_on):
            if name == field.name or name not in names:
                hint = did_you_mean(name, [other for other in names if other != field.name])
                message = f"field '{field.name}' depends on '{name}', which is not another field."
                path = ("fields", number, "depends_on", at)
                yield Fault(message, *path, remedy=hint, where=pathway.where)


def _effect_faults(pathways: Pathways) -> Iterator[Fault]:
    for pathway in pathways.values():
        at = as_where(pathway.where)
        for number, effect in enumerate(pathway.effects):
            if effect.change and effect.change not in pathways:
                hint = did_you_mean(effect.change, tuple(pathways))
                message = f"change of the effect '{effect.tool}' is '{effect.change}', which is "
                message += f"not a {at.pathway} of this journey."
                path = ("effects", number, "change")
                remedy = f"{hint} {_known(at, pathways)}"
                yield Fault(message, *path, remedy=remedy, where=at)
