"""What only smells in what a journey collects."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from journeys.errors import did_you_mean, shown
from journeys.faults import Fault
from journeys.fields import Field
from journeys.regex_signs import repeats_within
from journeys.spec import JourneySpec, PathwaySpec
from journeys.validators import Regex


def collected_names(spec: JourneySpec) -> set[str]:
    """Return the names that collecting puts into the context."""
    pathways = spec.pathways.values()
    fields = {field.name for p in pathways if p.form for field in p.form.fields}
    return fields | {effect.save or effect.tool for p in pathways for effect in p.effects}


def collecting_warnings(spec: JourneySpec, known: Collection[str]) -> Iterator[Fault]:
    """Yield what smells.

    Args:
        spec: The journey.
        known: Names that something in it puts into the context.
    """
    for pathway in spec.pathways.values():
        fields = pathway.form.fields if pathway.form else ()
        for number, field in enumerate(fields):
            for smell in _field_smells(field, fields[number + 1 :], known):
                said = f"field '{field.name}' {smell}"
                yield Fault(said, "fields", number, where=pathway.where)
        yield from _effect_warnings(pathway, known)
    yield from _journey_warnings(spec)


def _field_smells(field: Field, later: Sequence[Field], known: Collection[str]) -> Iterator[str]:
    yield from _condition_smells(field, later, known)
    yield from _pattern_smells(field)
    if len(field.retry_texts) >= field.max_attempts:
        yield (
            f"has {len(field.retry_texts)} retry_texts and max_attempts {field.max_attempts}: "
            "the last of them are never said."
        )
    if field.depends_on and not field.validators:
        yield "depends on others, and has no validators: nothing is checked when they change."
    first: dict[str, str] = {}
    for value, others in field.ways.items():
        for word in dict.fromkeys(way.casefold() for way in (value, *others)):
            if word in first:
                yield f"has '{word}' for '{first[word]}' and for '{value}': it is never sure which."
            first.setdefault(word, value)


def _pattern_smells(field: Field) -> Iterator[str]:
    validated = [one.pattern for one in field.validators if isinstance(one, Regex)]
    for pattern in dict.fromkeys([*field.extract, *validated]):
        if repeats_within(pattern):
            yield (
                f"has the pattern {shown(pattern)}, which repeats what can be split in several "
                "ways: some messages take it very long, and then count as no match. Part what is "
                r"repeated by a sign, as (\w+,)+, or write it possessive, as (?>a+)."
            )


def _condition_smells(
    field: Field, later: Sequence[Field], known: Collection[str]
) -> Iterator[str]:
    """Yield what smells in a condition that tells what it reads, as those of files do."""
    for name in sorted(getattr(field.when, "reads", None) or ()):
        if name == field.name:
            yield "asks in its own `when` for its value, which it then never gets."
        elif name in [other.name for other in later]:
            yield f"reads '{name}' in `when`, which is asked for after it. Move it behind that."
        elif name not in known:
            hint = did_you_mean(name, sorted(known))
            yield f"reads '{name}' in `when`, which nothing here collects.{hint}"


def _effect_warnings(pathway: PathwaySpec, known: Collection[str]) -> Iterator[Fault]:
    for number, effect in enumerate(pathway.effects):
        for name in effect.arguments.values():
            if name not in (*known, "message"):
                hint = did_you_mean(name, sorted(known))
                said = f"effect '{effect.tool}' reads '{name}', which nothing here collects.{hint}"
                yield Fault(said, "effects", number, where=pathway.where)
    for _, agent in pathway.pipeline.leaves if pathway.pipeline else ():
        for name in sorted(getattr(agent.call, "reads", frozenset()) - {*known}):
            hint = did_you_mean(name, sorted(known))
            yield Fault(
                f"it says {{{name}}}, which nothing here collects.{hint}", where=pathway.where
            )


def _journey_warnings(spec: JourneySpec) -> Iterator[Fault]:
    collects = any(pathway.form for pathway in spec.pathways.values())
    if spec.escalation and spec.escalation.when_collected and not collects:
        yield Fault("escalation waits for all fields, and it has none.", where=spec.name)
    yield from _idle_knowledge(spec)
    for old in spec.migrations:
        if old in spec.pathways:
            yield Fault(
                f"__migrations__ leads away from '{old}', which is still there.", where=spec.name
            )


def _idle_knowledge(spec: JourneySpec) -> Iterator[Fault]:
    """Yield where questions are said to be looked up, and agents get all of them."""
    answers = {
        pathway.id: pathway.pipeline is not None and not pathway.collects
        for pathway in spec.pathways.values()
    }
    said = "agents answer all questions there, so it is never asked. Take it away, or add fields."
    for pathway in spec.pathways.values():
        if pathway.knowledge and answers[pathway.id]:
            yield Fault(f"__knowledge__: {said}", where=pathway.where)
    if spec.knowledge and all(answers.values()):
        yield Fault(f"__knowledge__: {said}", where=spec.name)
