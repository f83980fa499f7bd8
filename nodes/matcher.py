"""Find the patterns of a journey's intents in a message."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

import ahocorasick

from journeys import IntentTrigger, JourneySpec
from journeys.patterns import at_edges, normal


class Matcher:
    """Finds which questions a message answers by a pattern.

    Args:
        patterns: Pairs of a pattern and the id of the question that it answers.
    """

    def __init__(self, patterns: Iterable[tuple[str, str]]) -> None:
        found: dict[str, tuple[str, list[str]]] = {}
        for pattern, question in patterns:
            found.setdefault(normal(pattern), (pattern, []))[1].append(question)
        self._automaton = ahocorasick.Automaton()
        for word, (pattern, questions) in found.items():
            self._automaton.add_word(word, (len(word), pattern, questions))
        if found:
            self._automaton.make_automaton()

    def match(self, message: str) -> dict[str, str]:
        """Return the questions answered by a message, each with the pattern that was said."""
        answered: dict[str, str] = {}
        text = normal(message)
        if not len(self._automaton):
            return answered
        for last, (length, pattern, questions) in self._automaton.iter(text):
            if at_edges(text, last - length + 1, last + 1):
                for question in questions:
                    answered.setdefault(question, pattern)
        return answered


def matcher_of(spec: JourneySpec) -> Matcher:
    """Return the matcher of a journey: every pattern of every intent."""
    return _matcher(
        tuple(
            (pattern, transition.id)
            for transition in spec.transitions
            if isinstance(transition.trigger, IntentTrigger)
            for pattern in transition.trigger.patterns
        )
    )


# By the patterns alone: a spec holds its pipelines, and these their agents.
@lru_cache(maxsize=256)
def _matcher(patterns: tuple[tuple[str, str], ...]) -> Matcher:
    return Matcher(patterns)
