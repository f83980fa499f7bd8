"""Warnings of a definition."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from difflib import get_close_matches
from itertools import combinations
from typing import Any

from journeys.config import JourneyConfig
from journeys.errors import did_you_mean, shown
from journeys.faults import Fault
from journeys.notions.fields import Field
from journeys.notions.transitions import ConditionTrigger, IntentTrigger
from journeys.notions.validators import Regex
from journeys.phrases.patterns import normal
from journeys.phrases.regex_signs import repeats_within
from journeys.spec.spec import JourneySpec, PathwaySpec, TransitionSpec

_CANDIDATES = JourneyConfig().guideline_candidates


def warnings_of(spec: JourneySpec) -> Iterator[Fault]:
    """Yield what smells in a definition without faults."""
    for pathway in spec.pathways.values():
        if pathway.id not in spec.reachable:
            yield Fault(
                f"no transition, __next__ or return leads to '{pathway.id}'.", where=pathway.where
            )
        is_mute = pathway.pipeline is None and pathway.form is None
        if is_mute and pathway.id != spec.reception:
            yield Fault("no agents, so nothing is said in it.", where=pathway.where)
        yield from _unfilled(spec, pathway)
        yield from _never_complete(spec, pathway)
        yield from _misspelt(pathway)
    yield from _mixed(spec)
    yield from _unread_updates(spec)
    yield from _mute_conditions(spec)
    yield from _mute_intents(spec)
    yield from _shadowed(spec)
    yield from _model_warnings(spec)
    yield from _crowded(spec)
    yield from collecting_warnings(spec, kept_names(spec))


def _unfilled(spec: JourneySpec, pathway: PathwaySpec) -> Iterator[Fault]:
    """Warn of required inputs that no output, update or message fills."""
    if pathway.signature is None:
        return
    listener = pathway.signature.listener
    filled = kept_names(spec) | _sequential_outputs(pathway) | {"message", "history", "context"}
    for field in pathway.signature.inputs:
        if field is listener or not field.required or field.source or field.name in filled:
            continue
        said = f"nothing fills the required input '{field.name}'."
        if field.is_text and listener and listener.name in filled:
            yield Fault(
                f"{said} The message goes to '{listener.name}', which the context has as well.",
                remedy=f"Set source='message' on '{field.name}' if it is to hear the user.",
                where=pathway.where,
            )
        else:
            yield Fault(
                said,
                remedy="Accumulate it in another pathway, give it a default, or pass it to "
                "start().",
                where=pathway.where,
            )


def kept_names(spec: JourneySpec) -> set[str]:
    """Return the names that something in a journey puts into the context, or is kept for."""
    return _made_names(spec) | spec.kept


def _made_names(spec: JourneySpec) -> set[str]:
    """Return the names that something in the journey puts into the context."""
    updated = {update.target for transition in spec.transitions for update in transition.updates}
    pathways = spec.pathways.values()
    saved = {call.save for pathway in pathways for call in pathway.calls}
    saved |= {effect.save or effect.tool for pathway in pathways for effect in pathway.effects}
    return set(spec.strategies) | updated | saved | collected_names(spec)


def _sequential_outputs(pathway: PathwaySpec) -> set[str]:
    pipeline = pathway.pipeline
    if pathway.signature is None or pipeline is None or pipeline.pattern != "sequential":
        return set()
    if len(pipeline.members) < 2:
        return set()
    return {field.name for field in pathway.signature.outputs}


def _never_complete(spec: JourneySpec, pathway: PathwaySpec) -> Iterator[Fault]:
    for name in pathway.awaited:
        if name not in kept_names(spec):
            yield Fault(
                f"__complete_when__ waits for '{name}', which no pathway "
                "accumulates; only start() could give it.",
                "complete_when",
                where=pathway.where,
            )


def _model_warnings(spec: JourneySpec) -> Iterator[Fault]:
    models = {
        t.trigger.llm_model
        for t in spec.transitions
        if isinstance(t.trigger, IntentTrigger) and t.trigger.use_llm_fallback
    }
    if len(models) > 1:
        names = ", ".join(sorted(model or "the config's" for model in models))
        yield Fault(
            f"its transitions name several models ({names}); one call serves a turn, "
            "so the config's model is taken where they meet.",
            where=spec.name,
        )


def _misspelt(pathway: PathwaySpec) -> Iterator[Fault]:
    """Warn of accumulated names that look like a slip of an output that is not accumulated."""
    outputs = [field.name for field in pathway.signature.outputs] if pathway.signature else []
    free = [name for name in outputs if name not in pathway.accumulate]
    for name in pathway.accumulate:
        close = [] if name in outputs else get_close_matches(name, free, n=1, cutoff=0.75)
        if close:
            yield Fault(
                f"__accumulate__ names '{name}', which its signature does not list as an output.",
                "accumulate",
                remedy=f"Did you mean '{close[0]}'?",
                where=pathway.where,
            )


_WAYS = {
    "dict": "'replace' (the last one counts), 'merge_dict' (one that grows), or 'append' (all)",
    "list": "'replace' (the last one counts), 'union' (each item once), or 'append' (all items)",
}


def _mixed(spec: JourneySpec) -> Iterator[Fault]:
    """Warn of records that are merged into one another because they have no merge strategy."""
    warned: set[str] = set()
    for pathway in spec.pathways.values():
        strategies = spec.part_of(pathway.id).strategies
        outputs = pathway.signature.outputs if pathway.signature else ()
        for field in outputs:
            unsaid = field.name in pathway.accumulate and strategies.get(field.name) is None
            if not unsaid or not field.shape or field.name in warned:
                continue
            warned.add(field.name)
            yield Fault(
                f"it keeps '{field.name}', a {field.shape}, without a strategy: a "
                "second one is mixed into the first.",
                remedy=f"Say which is meant: {_WAYS[field.shape]}.",
                where=pathway.where,
            )


def _unread_updates(spec: JourneySpec) -> Iterator[Fault]:
    """Warn of updates that read a name which nothing declares."""
    signatures = [p.signature for p in spec.pathways.values() if p.signature]
    known = {field.name for signature in signatures for field in signature.outputs}
    known |= _made_names(spec)
    for transition in spec.transitions:
        for update in transition.updates:
            if update.how in ("append", "copy") and update.argument not in known:
                yield Fault(
                    f"context_update['{update.target}'] reads "
                    f"'{update.argument}', which no pathway accumulates and no update sets.",
                    "update",
                    remedy=f"For the text itself write 'set:{update.argument}'.",
                    where=transition.where,
                )


def _mute_conditions(spec: JourneySpec) -> Iterator[Fault]:
    for transition in spec.transitions:
        trigger = transition.trigger
        empty = isinstance(trigger, ConditionTrigger) and trigger.condition is None
        if empty and type(trigger).evaluate is ConditionTrigger.evaluate:
            yield Fault(
                "it can never fire: it has no condition.",
                remedy="Write ConditionTrigger(lambda context: ...).",
                where=transition.where,
            )


def _mute_intents(spec: JourneySpec) -> Iterator[Fault]:
    for transition in spec.transitions:
        trigger = transition.trigger
        if not isinstance(trigger, IntentTrigger) or trigger.patterns:
            continue
        asked = trigger.use_llm_fallback and trigger.description
        if not asked and type(trigger).evaluate is IntentTrigger.evaluate:
            yield Fault(
                f"it can never fire: it has no patterns, and "
                f"{'no description' if trigger.use_llm_fallback else 'no model'} to ask by.",
                where=transition.where,
            )


def _shadowed(spec: JourneySpec) -> Iterator[Fault]:
    """Warn of patterns that an earlier transition of the same rank has taken already."""
    for first, second in combinations(spec.transitions, 2):
        if first.priority != second.priority or first.target == second.target:
            continue
        if not _overlap(first, second):
            continue
        taken = _patterns(first)
        for pattern in _patterns(second):
            if pattern in taken:
                yield Fault(
                    f"the pattern '{pattern}' leads to '{first.target}' already, "
                    f"by {first.where}, which is asked first where both apply.",
                    remedy="Give one of them another priority or other sources.",
                    where=second.where,
                )


def _overlap(first: TransitionSpec, second: TransitionSpec) -> bool:
    return "*" in second.sources or first.applies_in(*second.sources)


def _patterns(transition: TransitionSpec) -> list[str]:
    trigger = transition.trigger
    if not isinstance(trigger, IntentTrigger):
        return []
    return list(dict.fromkeys(map(normal, trigger.patterns)))


def _crowded(spec: JourneySpec) -> Iterator[Fault]:
    """Warn of so many guidelines in every turn that words never choose any."""
    asked = [g for g in spec.guidelines if g.enabled and g.needs_no_words and g.asks_model]
    if len(asked) >= _CANDIDATES:
        yield Fault(
            f"{len(asked)} guidelines are put to a model in every turn, as they are "
            f"always or critical. From {_CANDIDATES} on, words choose no other one.",
            where=spec.name,
        )


Unset = tuple[str, str]
"""A name, and the warning about it."""


def unset_names(spec: JourneySpec, known: Collection[str]) -> Iterator[Unset]:
    """Yield what reads a name that is never set, in conditions of files and in arguments of tools.

    A journey that others are next to is judged with them: they may leave it what it reads.

    Args:
        spec: The journey.
        known: Names that something in it puts into the context.
    """
    if spec.activation and not spec.parts:
        return
    for where, condition in _conditions(spec):
        for name in sorted(_reads(condition) - {*known}):
            said, remedy = _unset(name, known)
            yield name, Fault(f"`when` {said}", "when", remedy=remedy, where=where)
    for pathway in spec.pathways.values():
        for number, call in enumerate(pathway.calls):
            for name in call.arguments.values():
                if name not in (*known, "message"):
                    said, remedy = _unset(name, known)
                    said, path = f"calls[{number}] {said}", ("calls", number)
                    yield name, Fault(said, *path, remedy=remedy, where=pathway.where)


def unset_inputs(where: str, inputs: Iterable[str], known: Collection[str]) -> Iterator[Unset]:
    """Yield the inputs of a state of a file that is never set."""
    for number, name in enumerate(inputs):
        if name not in known:
            said, remedy = _unset(name, known)
            said = f"inputs[{number}] {said}"
            yield name, Fault(said, "inputs", number, remedy=remedy, where=where)


def _conditions(spec: JourneySpec) -> Iterator[tuple[str, Any]]:
    for transition in spec.transitions:
        yield transition.where, getattr(transition.trigger, "condition", None)
    for pathway in spec.pathways.values():
        yield pathway.where, pathway.complete_when
    for guideline in spec.guidelines:
        yield guideline.where, guideline.when
    for one in (spec, *spec.parts.values()):
        if one.escalation is not None:
            yield one.name, one.escalation.when


def _reads(condition: Any) -> frozenset[str]:
    """Return the names that a condition says it reads, as those of files do."""
    reads = getattr(condition, "reads", None)
    return reads if isinstance(reads, frozenset) else frozenset()


def _unset(name: str, known: Collection[str]) -> tuple[str, str]:
    said = f"reads '{name}', which nothing here sets; only start() could give it."
    return said, did_you_mean(name, sorted(known))


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
                said = f"field '{field.name}' {smell.message}"
                yield Fault(said, "fields", number, remedy=smell.remedy, where=pathway.where)
        yield from _effect_warnings(pathway, known)
    yield from _journey_warnings(spec)


def _field_smells(field: Field, later: Sequence[Field], known: Collection[str]) -> Iterator[Fault]:
    yield from _condition_smells(field, later, known)
    yield from _pattern_smells(field)
    if len(field.retry_texts) >= field.max_attempts:
        yield Fault(
            f"has {len(field.retry_texts)} retry_texts and max_attempts {field.max_attempts}: "
            "the last of them are never said."
        )
    if field.depends_on and not field.validators:
        yield Fault(
            "depends on others, and has no validators: nothing is checked when they change."
        )
    first: dict[str, str] = {}
    for value, others in field.ways.items():
        for word in dict.fromkeys(way.casefold() for way in (value, *others)):
            if word in first:
                said = (
                    f"has '{word}' for '{first[word]}' and for '{value}': it is never sure which."
                )
                yield Fault(said)
            first.setdefault(word, value)


def _pattern_smells(field: Field) -> Iterator[Fault]:
    validated = [one.pattern for one in field.validators if isinstance(one, Regex)]
    for pattern in dict.fromkeys([*field.extract, *validated]):
        if repeats_within(pattern):
            yield Fault(
                f"has the pattern {shown(pattern)}, which repeats what can be split in several "
                "ways: some messages take it very long, and then count as no match.",
                remedy=r"Part what is repeated by a sign, as (\w+,)+, "
                "or write it possessive, as (?>a+).",
            )


def _condition_smells(
    field: Field, later: Sequence[Field], known: Collection[str]
) -> Iterator[Fault]:
    """Yield what smells in a condition that tells what it reads, as those of files do."""
    for name in sorted(getattr(field.when, "reads", None) or ()):
        if name == field.name:
            yield Fault("asks in its own `when` for its value, which it then never gets.")
        elif name in [other.name for other in later]:
            said = f"reads '{name}' in `when`, which is asked for after it."
            yield Fault(said, remedy="Move it behind that.")
        elif name not in known:
            hint = did_you_mean(name, sorted(known))
            yield Fault(f"reads '{name}' in `when`, which nothing here collects.", remedy=hint)


def _effect_warnings(pathway: PathwaySpec, known: Collection[str]) -> Iterator[Fault]:
    for number, effect in enumerate(pathway.effects):
        for name in effect.arguments.values():
            if name not in (*known, "message"):
                hint = did_you_mean(name, sorted(known))
                said = f"effect '{effect.tool}' reads '{name}', which nothing here collects."
                yield Fault(said, "effects", number, remedy=hint, where=pathway.where)
    for _, agent in pathway.pipeline.leaves if pathway.pipeline else ():
        for name in sorted(getattr(agent.call, "reads", frozenset()) - {*known}):
            hint = did_you_mean(name, sorted(known))
            said = f"it says {{{name}}}, which nothing here collects."
            yield Fault(said, remedy=hint, where=pathway.where)


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
    said = "__knowledge__: agents answer all questions there, so it is never asked."
    remedy = "Take it away, or add fields."
    for pathway in spec.pathways.values():
        if pathway.knowledge and answers[pathway.id]:
            yield Fault(said, remedy=remedy, where=pathway.where)
    if spec.knowledge and all(answers.values()):
        yield Fault(said, remedy=remedy, where=spec.name)
