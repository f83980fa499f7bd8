"""TEMP placeholder for local runs; replaced by the merge."""

from dataclasses import dataclass

from journeys import GuidelineSpec
from nodes.matching.held import Held


@dataclass
class Candidate:
    guideline: GuidelineSpec
    keywords: tuple = ()
    score: float = 0.0


class Index:
    def __init__(self, gs):
        self.gs = [g for g in gs if g.enabled]

    def _in(self, places):
        return [g for g in self.gs if any(g.applies_in(*p) for p in places)]

    def _hit(self, g, m):
        return tuple(k for k in g.keywords if k.lower() in m.lower())

    def candidates(self, m, places, most):
        return [
            Candidate(g, self._hit(g, m))
            for g in self._in(places)
            if g.asks_model and (g.needs_no_words or self._hit(g, m))
        ][:most]

    def by_keyword(self, m, places):
        return [
            Held(g, "keyword")
            for g in self._in(places)
            if not g.condition and not g.needs_no_words and self._hit(g, m)
        ]

    def unasked(self, places):
        return [
            g
            for g in self._in(places)
            if g.when is not None or (g.needs_no_words and not g.condition)
        ]


def index_of(gs):
    return Index(gs)
