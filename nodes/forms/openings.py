"""Sentences that a user can begin with: from the patterns of a journey, and its first fields."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, islice, zip_longest

from journeygraph.journeys import Field, IntentTrigger, JourneySpec, Range, Regex
from journeygraph.nodes.values.checking import example_of
from journeygraph.nodes.values.setting import Setting

MOST = 3
"""Maximum number of sentences."""


def openings_of(spec: JourneySpec, setting: Setting) -> list[str]:
    """Return sentences that the journey understands at its entry, without a model."""
    wishes = [*zip_longest(*_wishes(spec))]
    pairs = zip_longest(wishes[0] if wishes else (), _values(spec, setting))
    sentences = chain(chain.from_iterable(pairs), chain.from_iterable(wishes[1:]))
    return [*islice(dict.fromkeys(filter(None, sentences)), MOST)]


def _wishes(spec: JourneySpec) -> Iterator[list[str]]:
    """Yield the patterns of each transition from the entry, those of several words first."""
    for transition in spec.transitions:
        if isinstance(transition.trigger, IntentTrigger) and {"*", spec.entry} & {
            *transition.sources
        }:
            yield [_capital(one) for one in sorted(transition.trigger.patterns, key=_is_one_word)]


def _is_one_word(pattern: str) -> bool:
    return len(pattern.split()) == 1


def _values(spec: JourneySpec, setting: Setting) -> Iterator[str]:
    for field in spec.pathways[spec.entry].fields:
        if field.asked and not field.sensitive and (example := _example(field, setting)):
            yield _capital(f"{field.title}: {example}")


def _example(field: Field, setting: Setting) -> str:
    if not all(isinstance(one, (Range, Regex)) for one in field.validators):
        return ""  # a function of the author may refuse it, as on Mondays
    if field.type == "enum":
        return next(iter(field.ways), "")
    return example_of(field, setting)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
