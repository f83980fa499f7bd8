"""Apply the relations of guidelines that hold, and order them; pure and total.

The narrower scope comes first, then the higher priority, then what was declared first. A guideline
that holds drops those that it excludes, at any place in the order; two that exclude each
other are a conflict, and the one that comes first stays. A dropped guideline excludes no others,
and those that depend on it are dropped too (flow control, priority resolution).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from journeygraph.journeys import GuidelineSpec, Scope
from journeygraph.nodes.state.interpretation import HeldGuideline

_SCOPES = {scope: place for place, scope in enumerate((Scope.STATE, Scope.JOURNEY, Scope.GLOBAL))}


@dataclass(frozen=True, slots=True)
class Resolution:
    """Result of resolving the relations of guidelines.

    Attributes:
        dropped: The others in the same order, each with the reason in a short sentence.
    """

    matched: tuple[HeldGuideline, ...]
    dropped: tuple[tuple[HeldGuideline, str], ...]


def order_of(guideline: GuidelineSpec) -> tuple[int, int]:
    """Return what guidelines are sorted by; equals keep the order of their declaration."""
    return _SCOPES[guideline.scope], -guideline.priority


def resolve(held: Sequence[HeldGuideline]) -> Resolution:
    """Drop what is excluded and what lacks something that it depends on; sort the rest.

    Args:
        held: The guidelines that hold, in order of declaration; of one that is given twice, the
            first counts.
    """
    ordered = sorted(_once(held), key=lambda item: order_of(item.guideline))
    reasons = _Relations([item.guideline for item in ordered]).settle()
    return Resolution(
        tuple(item for item in ordered if item.guideline.id not in reasons),
        tuple(
            (item, reasons[item.guideline.id]) for item in ordered if item.guideline.id in reasons
        ),
    )


def _once(held: Iterable[HeldGuideline]) -> Iterable[HeldGuideline]:
    first: dict[str, HeldGuideline] = {}
    for item in held:
        first.setdefault(item.guideline.id, item)
    return first.values()


class _Relations:
    """The relations between some guidelines, which are given in their order."""

    def __init__(self, guidelines: Iterable[GuidelineSpec]) -> None:
        self._guidelines = {guideline.id: guideline for guideline in guidelines}
        places = {id_: place for place, id_ in enumerate(self._guidelines)}
        self._excluders: dict[str, list[str]] = {id_: [] for id_ in places}
        for id_, guideline in self._guidelines.items():
            for other in dict.fromkeys(guideline.excludes):
                if other in places and other != id_:
                    outranked = id_ in self._guidelines[other].excludes
                    if not (outranked and places[other] < places[id_]):
                        self._excluders[other].append(id_)

    def settle(self) -> dict[str, str]:
        """Return why guidelines are dropped, by their ids.

        What is sure to stay drops what it excludes, which makes others sure. Where nothing more is
        sure, exclusions go round in circles, and the last one of a circle is dropped to open it.
        """
        reasons = self._unsupported({})
        while unsure := self._unsure(reasons):
            lost = self._excluded(reasons, unsure) or self._last_of_a_circle(unsure)
            reasons |= lost
            reasons |= self._unsupported(reasons)
        return reasons

    def _unsupported(self, dropped: Mapping[str, str]) -> dict[str, str]:
        reasons: dict[str, str] = {}
        gone = set(dropped)
        while found := dict(self._next_unsupported(gone)):
            reasons |= found
            gone |= set(found)
        return reasons

    def _next_unsupported(self, gone: set[str]) -> Iterator[tuple[str, str]]:
        for id_, guideline in self._guidelines.items():
            lacking = [
                need
                for need in guideline.depends_on
                if need in gone or need not in self._guidelines
            ]
            if lacking and id_ not in gone:
                yield id_, f"depends on '{lacking[0]}', which does not hold"

    def _unsure(self, dropped: Mapping[str, str]) -> set[str]:
        """Return those that something excludes that may hold, and what depends on them."""
        left = [id_ for id_ in self._guidelines if id_ not in dropped]
        unsure = {id_ for id_ in left if any(one not in dropped for one in self._excluders[id_])}
        size = -1
        while size != len(unsure):
            size = len(unsure)
            unsure |= {
                id_ for id_ in left if not unsure.isdisjoint(self._guidelines[id_].depends_on)
            }
        return unsure

    def _excluded(self, dropped: Mapping[str, str], unsure: set[str]) -> dict[str, str]:
        reasons = {}
        for id_ in unsure:
            sure = [one for one in self._excluders[id_] if one not in unsure and one not in dropped]
            if sure:
                reasons[id_] = f"excluded by '{sure[0]}'"
        return reasons

    def _last_of_a_circle(self, unsure: set[str]) -> dict[str, str]:
        leads_to: dict[str, set[str]] = {id_: set() for id_ in unsure}
        for id_ in unsure:
            for excluder in unsure.intersection(self._excluders[id_]):
                leads_to[excluder].add(id_)
            for need in unsure.intersection(self._guidelines[id_].depends_on):
                leads_to[need].add(id_)
        return next(
            {id_: f"is in a cycle of exclusions with '{other}', and is the last in order"}
            for id_ in reversed(self._guidelines)
            for other in sorted(leads_to.get(id_, ()))
            if id_ in self._excluders[other] and id_ in _reached(other, leads_to)
        )


def _reached(start: str, leads_to: Mapping[str, Iterable[str]]) -> set[str]:
    waiting, seen = [start], set[str]()
    while waiting:
        at = waiting.pop()
        if at not in seen:
            seen.add(at)
            waiting += leads_to[at]
    return seen
