"""Coverage of a journey by conversations: parts of its definition that they used, and missed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, field
from typing import Any

from journeygraph.graphs.drawing.pathway_map import sketch
from journeygraph.journeys import NEVER, AuditEntry, Field, JourneySpec, PathwaySpec, TransitionSpec
from journeygraph.server.conversations.player import Played
from journeygraph.server.discover.declarations import Declarations

KINDS = ("pathway", "transition", "field", "refusal", "guideline", "effect", "branch")
"""Kinds of parts, in the order in which they are shown."""
_REFUSED = ("invalid",)


@dataclass(frozen=True)
class CoverablePart:
    """A part of a journey that a conversation can use.

    Attributes:
        kind: One of KINDS.
    """

    kind: str
    name: str
    place: str
    times: int

    @property
    def is_used(self) -> bool:
        """Return whether a conversation used it."""
        return self.times > 0


@dataclass(frozen=True)
class Coverage:
    """Coverage of one journey."""

    spec: JourneySpec
    parts: Sequence[CoverablePart]

    def of(self, kind: str) -> list[CoverablePart]:
        """Return the parts of one kind."""
        return [part for part in self.parts if part.kind == kind]

    @property
    def missed(self) -> list[CoverablePart]:
        """Return the parts that no conversation used."""
        return [part for part in self.parts if not part.is_used]

    @property
    def counts(self) -> dict[str, tuple[int, int]]:
        """Return, for each kind that the journey has, how many parts are used, and how many are."""
        return {
            kind: (sum(part.is_used for part in parts), len(parts))
            for kind in KINDS
            if (parts := self.of(kind))
        }

    def as_data(self) -> dict[str, Any]:
        """Return it as JSON."""
        return {
            "journey": self.spec.id,
            "counts": {
                kind: {"used": used, "all": total} for kind, (used, total) in self.counts.items()
            },
            "parts": [
                {"kind": p.kind, "name": p.name, "place": p.place, "times": p.times}
                for p in self.parts
            ],
        }


def coverages(games: Sequence[Played]) -> list[Coverage]:
    """Return the coverage of each journey of some conversations, which were played whole."""
    by_journey: dict[str, list[Played]] = {}
    for played in games:
        by_journey.setdefault(played.loaded.found.journey.spec.id, []).append(played)
    return [_coverage(of_one) for of_one in by_journey.values()]


def _coverage(games: Sequence[Played]) -> Coverage:
    found = games[0].loaded.found
    spec, used = found.journey.spec, _Used()
    for played in games:
        used.add(spec, played)
    places = Declarations(found.journey)
    return Coverage(spec, [*_parts(spec, used, places)])


@dataclass
class _Used:
    """Parts that conversations used, and how often."""

    times: Counter[tuple[str, str]] = field(default_factory=Counter)

    def add(self, spec: JourneySpec, played: Played) -> None:
        for response in played.responses:
            for id_ in response.metadata["guidelines"]:
                self.times["guideline", id_] += 1
        for id_ in played.places:
            self.times["pathway", id_] += 1
        for row in played.audit:
            self._add_row(spec, row)
        for kind, key in _tried(spec, played):
            self.times[kind, key] += 1
        for name in _open_questions(spec, played):
            self.times["branch", name] += 1

    def _add_row(self, spec: JourneySpec, row: AuditEntry) -> None:
        here, to = row.from_pathway or "", row.to_pathway or ""
        if row.kind == "transition":
            for transition in fired_in(spec, row):
                self.times["transition", transition.id] += 1
        elif row.kind == "effect_done":
            self.times["effect", f"{here}.{row.trigger}"] += 1
        elif row.kind == "advanced":
            self.times["branch", f"{here} → {to}"] += 1
        elif row.kind == "returned":
            self.times["branch", f"{here} returns"] += 1
        elif row.kind == "completed":
            self.times["branch", f"{here} ends"] += 1


def fired_in(spec: JourneySpec, row: AuditEntry) -> list[TransitionSpec]:
    """Return the transition of a row of the audit; several where it could be each of them."""
    same = [t for t in spec.transitions if t.target == row.to_pathway and t.label == row.trigger]
    return [t for t in same if t.applies_in(row.from_pathway or "")] or same


def _tried(spec: JourneySpec, played: Played) -> Iterator[tuple[str, str]]:
    noted: dict[tuple[int, str | None], set[str]] = {}
    for row in played.audit:
        if row.kind.startswith("field_"):
            noted.setdefault((row.turn, row.trigger), set()).add(row.from_pathway or "")
    for attempt in played.attempts:
        kind = "refusal" if attempt.validation_status in _REFUSED else "field"
        places = noted.get((attempt.turn, attempt.field), set())
        for key in _keys(spec, attempt.field, places, played):
            yield kind, key


def _keys(spec: JourneySpec, name: str, places: Set[str], played: Played) -> list[str]:
    """Return the keys of a field in these pathways; if none of them has it, in those visited."""
    having = [id_ for id_, pathway in spec.pathways.items() if name in _names(pathway)]
    visited = [id_ for id_ in having if id_ in played.places]
    return [f"{id_}.{name}" for id_ in having if id_ in places] or [
        f"{id_}.{name}" for id_ in visited or having
    ]


def _names(pathway: PathwaySpec) -> list[str]:
    return [one.name for one in pathway.form.fields] if pathway.form else []


def _open_questions(spec: JourneySpec, played: Played) -> Iterator[str]:
    tried = {key for _, key in _tried(spec, played)}
    for response in played.responses:
        if (asked := response.metadata["asked"]) and asked["field"]:
            tried |= {*_keys(spec, asked["field"], {response.pathway_id}, played)}
    done = {row.from_pathway for row in played.audit if row.kind == "completed"}
    for pathway, one, key, _ in _asked(spec):
        if one.when is not None and key in tried:
            yield f"{key} is asked"
        elif one.when is not None and pathway.id in done:
            yield f"{key} is left out"


def _parts(spec: JourneySpec, used: _Used, places: Declarations) -> Iterator[CoverablePart]:
    found = {kind: [*_BY_KIND[kind](spec, places)] for kind in KINDS}
    for kind in KINDS:
        for name, shown, place in dict.fromkeys(found[kind]):
            yield CoverablePart(kind, shown, place, used.times[kind, name])


_Named = Iterator[tuple[str, str, str]]
"""Key of a part, its name for people, its place."""


def _pathways(spec: JourneySpec, places: Declarations) -> _Named:
    for pathway in spec.pathways.values():
        yield pathway.id, pathway.id, places.of_pathway(pathway)


def _transitions(spec: JourneySpec, places: Declarations) -> _Named:
    for one in spec.transitions:
        shown = f"{', '.join(one.sources[:3])} → {one.target}: {one.label}"
        yield one.id, shown.replace("*", "any"), places.of_transition(spec, one)


def _asked(spec: JourneySpec) -> Iterator[tuple[PathwaySpec, Field, str, str]]:
    """Yield each field with its pathway, its key, and a name that is no other field's."""
    times = Counter(name for pathway in spec.pathways.values() for name in _names(pathway))
    for pathway in spec.pathways.values():
        for one in pathway.form.fields if pathway.form else ():
            key = f"{pathway.id}.{one.name}"
            yield pathway, one, key, one.name if times[one.name] == 1 else key


def _fields(spec: JourneySpec, places: Declarations) -> _Named:
    for pathway, one, key, shown in _asked(spec):
        yield key, shown, places.of_field(pathway, one.name)


def _refusals(spec: JourneySpec, places: Declarations) -> _Named:
    for pathway, one, key, shown in _asked(spec):
        if one.validators:
            yield key, f"{shown} is refused", places.of_field(pathway, one.name)


def _guidelines(spec: JourneySpec, places: Declarations) -> _Named:
    for one in spec.guidelines:
        yield one.id, one.id, places.of_text(one.where)


def _effects(spec: JourneySpec, places: Declarations) -> _Named:
    for pathway in spec.pathways.values():
        for one in pathway.effects:
            key = f"{pathway.id}.{one.tool}"
            yield key, key, places.of_effect(pathway, one.tool)


def _branches(spec: JourneySpec, places: Declarations) -> _Named:
    ends = {stop.id for stop in sketch(spec).stops.values() if stop.ends}
    for pathway in spec.pathways.values():
        place = places.of_pathway(pathway)
        if pathway.next and pathway.complete_when is not NEVER:
            yield (*2 * (f"{pathway.id} → {pathway.next}",), place)
        elif pathway.is_detour:
            yield (*2 * (f"{pathway.id} returns",), place)
        elif pathway.id in ends:
            yield (*2 * (f"{pathway.id} ends",), place)
    for pathway, one, key, shown in _asked(spec):
        if one.when is not None:
            place = places.of_field(pathway, one.name)
            yield f"{key} is asked", f"{shown} is asked", place
            yield f"{key} is left out", f"{shown} is left out", place


_BY_KIND = {
    "pathway": _pathways,
    "transition": _transitions,
    "field": _fields,
    "refusal": _refusals,
    "guideline": _guidelines,
    "effect": _effects,
    "branch": _branches,
}
