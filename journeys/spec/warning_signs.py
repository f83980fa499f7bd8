"""Warnings of a definition."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from difflib import get_close_matches
from typing import Any

from journeygraph.journeys.config import JourneyConfig
from journeygraph.journeys.declarations.fields import Field
from journeygraph.journeys.declarations.transitions import ConditionTrigger, IntentTrigger
from journeygraph.journeys.errors import did_you_mean
from journeygraph.journeys.faults import Fault, as_where, key_of
from journeygraph.journeys.phrases import normal
from journeygraph.journeys.spec.spec import JourneySpec, PathwaySpec, TransitionSpec
from journeygraph.journeys.texts import BRACED

_CANDIDATES = JourneyConfig().guideline_candidates


def warnings_of(spec: JourneySpec) -> Iterator[Fault]:
    """Yield the warnings of a definition without faults."""
    for pathway in spec.pathways.values():
        at = as_where(pathway.where)
        if pathway.id not in spec.reachable:
            yield Fault(f"nothing leads to '{pathway.id}'.", where=at)
        is_mute = pathway.pipeline is None and pathway.form is None
        if is_mute and pathway.id != spec.reception:
            yield Fault("it has no agents, so it never replies.", where=at)
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
    yield from _unfilled_texts(spec)
    yield from collecting_warnings(spec, kept_names(spec))


def _unfilled_texts(spec: JourneySpec) -> Iterator[Fault]:
    for where, path, text in (*_texts_of_journeys(spec), *_texts_of_pathways(spec)):
        for name in said_names(text):
            at = as_where(where)
            said = key_of((at.key(f"__{path[0]}__"), *path[1:]))
            message = f"{said} contains {{{name}}}, and this text is sent as it is written: no "
            remedy = "Write it without braces, or let `done`, `say` or an agent say the value."
            yield Fault(f"{message}value is filled in.", *path, remedy=remedy, where=where)


_Written = tuple[str, tuple[str | int, ...], str]
"""Definition, path and words of a text for users."""


def _texts_of_journeys(spec: JourneySpec) -> Iterator[_Written]:
    for one in (spec, *spec.parts.values()):
        yield one.where, ("personality", "greeting"), one.personality.greeting
        yield one.where, ("safe_reply",), one.safe_reply or ""
        if one.silence is not None:
            yield one.where, ("silence", "closing"), one.silence.closing
            for number, reminder in enumerate(one.silence.reminders):
                yield one.where, ("silence", "reminders", number, "say"), reminder.say


def _texts_of_pathways(spec: JourneySpec) -> Iterator[_Written]:
    for pathway in spec.pathways.values():
        yield pathway.where, ("title",), pathway.title
        for number, field in enumerate(pathway.form.fields if pathway.form else ()):
            for key, text in _texts_of_field(field):
                yield pathway.where, ("fields", number, *key), text


def _texts_of_field(field: Field) -> Iterator[tuple[tuple[str | int, ...], str]]:
    for key in ("ask", "description", "label"):
        text = getattr(field, key)
        yield (key,), text if isinstance(text, str) else ""
    for number, text in enumerate(field.retry_texts):
        yield ("retry_texts", number), text
    for number, validator in enumerate(field.validators):
        yield ("validators", number, "message"), getattr(validator, "message", "")


def _unfilled(spec: JourneySpec, pathway: PathwaySpec) -> Iterator[Fault]:
    if pathway.signature is None:
        return
    listener = pathway.signature.listener
    filled = kept_names(spec) | _sequential_outputs(pathway) | {"message", "history", "context"}
    for field in pathway.signature.inputs:
        if field is listener or not field.required or field.source or field.name in filled:
            continue
        message = f"no value is set for the required input '{field.name}'."
        remedy = "Accumulate it elsewhere, give it a default, or pass it to start()."
        if field.is_text and listener and listener.name in filled:
            message += f" The user's message goes to '{listener.name}', which the context also has."
            remedy = f"If '{field.name}' is for the message, give it source='message'."
        yield Fault(message, remedy=remedy, where=pathway.where)


def said_names(text: str) -> list[str]:
    """Return the names in the placeholders of a text."""
    return [name for name in dict.fromkeys(BRACED.findall(text)) if name.isidentifier()]


def kept_names(spec: JourneySpec) -> set[str]:
    """Return the names that a journey puts into the context, or keeps there."""
    return _made_names(spec) | spec.kept


def _made_names(spec: JourneySpec) -> set[str]:
    updated = {update.target for transition in spec.transitions for update in transition.updates}
    pathways = spec.pathways.values()
    saved = {call.save for pathway in pathways for call in pathway.calls if call.save}
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
            at = as_where(pathway.where)
            key = at.key("__complete_when__")
            message = f"{key} needs '{name}', which no {at.pathway} accumulates."
            remedy = "Accumulate it, or pass it to start()."
            yield Fault(message, key, remedy=remedy, where=at)


def _model_warnings(spec: JourneySpec) -> Iterator[Fault]:
    models = {
        t.trigger.llm_model
        for t in spec.transitions
        if isinstance(t.trigger, IntentTrigger) and t.trigger.use_llm_fallback
    }
    if len(models) > 1:
        names = ", ".join(sorted(model or "the config's" for model in models))
        message = f"its transitions name several models ({names}), and one call serves a turn."
        remedy = "Name one model; where they meet, the config's is used."
        yield Fault(message, remedy=remedy, where=spec.where)


def _misspelt(pathway: PathwaySpec) -> Iterator[Fault]:
    outputs = [field.name for field in pathway.signature.outputs] if pathway.signature else []
    free = [name for name in outputs if name not in pathway.accumulate]
    for name in pathway.accumulate:
        close = [] if name in outputs else get_close_matches(name, free, n=1, cutoff=0.75)
        if close:
            at = as_where(pathway.where)
            key = at.key("__accumulate__")
            message = f"{key} names '{name}', which is not an output of its signature."
            yield Fault(message, key, remedy=f"Did you mean '{close[0]}'?", where=at)


_WAYS = {
    "dict": "'replace' (the last one counts), 'merge_dict' (one that grows), or 'append' (all)",
    "list": "'replace' (the last one counts), 'union' (each item once), or 'append' (all items)",
}


def _mixed(spec: JourneySpec) -> Iterator[Fault]:
    warned: set[str] = set()
    for pathway in spec.pathways.values():
        strategies = spec.part_of(pathway.id).strategies
        outputs = pathway.signature.outputs if pathway.signature else ()
        for field in outputs:
            unsaid = field.name in pathway.accumulate and strategies.get(field.name) is None
            if not unsaid or not field.shape or field.name in warned:
                continue
            warned.add(field.name)
            message = f"'{field.name}' is a {field.shape} without a merge strategy: a second one "
            message += "would be mixed into the first."
            remedy = f"Set a strategy: {_WAYS[field.shape]}."
            yield Fault(message, remedy=remedy, where=pathway.where)


def _unread_updates(spec: JourneySpec) -> Iterator[Fault]:
    signatures = [p.signature for p in spec.pathways.values() if p.signature]
    known = {field.name for signature in signatures for field in signature.outputs}
    known |= _made_names(spec)
    for transition in spec.transitions:
        for update in transition.updates:
            if update.how in ("append", "copy") and update.argument not in known:
                at = as_where(transition.where)
                key = at.key("context_update", "update")
                message = f"{key}['{update.target}'] reads '{update.argument}', which no "
                message += f"{at.pathway} accumulates and no update sets."
                remedy = f"For the text itself write 'set:{update.argument}'."
                yield Fault(message, key, remedy=remedy, where=at)


def _mute_conditions(spec: JourneySpec) -> Iterator[Fault]:
    for transition in spec.transitions:
        trigger = transition.trigger
        where = transition.where
        empty = isinstance(trigger, ConditionTrigger) and trigger.condition is None
        if empty and type(trigger).evaluate is ConditionTrigger.evaluate:
            remedy = "Write ConditionTrigger(lambda context: ...)."
            yield Fault("it has no condition, so it never fires.", remedy=remedy, where=where)


def _mute_intents(spec: JourneySpec) -> Iterator[Fault]:
    for transition in spec.transitions:
        trigger = transition.trigger
        if not isinstance(trigger, IntentTrigger) or trigger.patterns:
            continue
        asked = trigger.use_llm_fallback and trigger.description
        if not asked and type(trigger).evaluate is IntentTrigger.evaluate:
            lacking = "description" if trigger.use_llm_fallback else "model"
            message = f"it has no patterns and no {lacking}, so it never fires."
            yield Fault(message, remedy="Give it patterns.", where=transition.where)


def _shadowed(spec: JourneySpec) -> Iterator[Fault]:
    taken: dict[str, list[TransitionSpec]] = {}
    for second in spec.transitions:
        for pattern in _patterns(second):
            earlier = taken.setdefault(pattern, [])
            for first in earlier:
                if _overlap(first, second):
                    message = f"the pattern '{pattern}' already leads to '{first.target}', by "
                    message += f"{first.where}, which comes first where both apply."
                    remedy = "Give one of them another priority or other sources."
                    yield Fault(message, remedy=remedy, where=second.where)
            earlier.append(second)


def _overlap(first: TransitionSpec, second: TransitionSpec) -> bool:
    if first.priority != second.priority or first.target == second.target:
        return False
    return "*" in second.sources or first.applies_in(*second.sources)


def _patterns(transition: TransitionSpec) -> list[str]:
    trigger = transition.trigger
    if not isinstance(trigger, IntentTrigger):
        return []
    return list(dict.fromkeys(map(normal, trigger.patterns)))


def _crowded(spec: JourneySpec) -> Iterator[Fault]:
    asked = [g for g in spec.guidelines if g.enabled and g.needs_no_words and g.asks_model]
    if len(asked) >= _CANDIDATES:
        message = (
            f"{len(asked)} guidelines are put to a model in every turn, as they are always or "
        )
        message += f"critical. From {_CANDIDATES} on, no other guideline is considered."
        yield Fault(message, remedy="Give some of them keywords instead.", where=spec.where)


Unset = tuple[str, Fault]
"""A name, and the warning about it."""


def unset_names(spec: JourneySpec, known: Collection[str]) -> Iterator[Unset]:
    """Yield reads of names that are never set, in conditions of files and in arguments of tools.

    A journey with activation conditions is checked with the others, which may set these names.

    Args:
        known: Names that something in it puts into the context.
    """
    if spec.activation and not spec.parts:
        return
    for where, condition in _conditions(spec):
        for name in sorted(_reads(condition) - {*known}):
            yield name, _unset(f"`when` reads '{name}'", name, known, "when", where=where)
    for pathway in spec.pathways.values():
        for number, call in enumerate(pathway.calls):
            for name in call.arguments.values():
                if name not in (*known, "message"):
                    message, path = f"calls[{number}] reads '{name}'", ("calls", number)
                    yield name, _unset(message, name, known, *path, where=pathway.where)
        yield from _unset_in_texts(pathway, {*known, "message"})


def _unset_in_texts(pathway: PathwaySpec, known: Collection[str]) -> Iterator[Unset]:
    """Yield placeholders of `done` that look like a misspelt name of the context.

    Any other name may be one of the result, which only the function of the tool could tell.
    """
    for number, effect in enumerate(pathway.effects):
        for name in said_names(effect.done):
            if name not in known and did_you_mean(name, sorted(known)):
                key = as_where(pathway.where).key("__effects__")
                message = f"{key}[{number}]: done contains {{{name}}}"
                path = ("effects", number, "done")
                yield name, _unset(message, name, known, *path, where=pathway.where)


def unset_inputs(where: str, inputs: Iterable[str], known: Collection[str]) -> Iterator[Unset]:
    """Yield the inputs of a state of a file that are never set."""
    for number, name in enumerate(inputs):
        if name not in known:
            message, path = f"inputs[{number}] reads '{name}'", ("inputs", number)
            yield name, _unset(message, name, known, *path, where=where)


def _conditions(spec: JourneySpec) -> Iterator[tuple[str, Any]]:
    for transition in spec.transitions:
        yield transition.where, getattr(transition.trigger, "condition", None)
    for pathway in spec.pathways.values():
        yield pathway.where, pathway.complete_when
    for guideline in spec.guidelines:
        yield guideline.where, guideline.when
    for one in (spec, *spec.parts.values()):
        if one.escalation is not None:
            yield one.where, one.escalation.when


def _reads(condition: Any) -> frozenset[str]:
    reads = getattr(condition, "reads", None)
    return reads if isinstance(reads, frozenset) else frozenset()


def _unset(reads: str, name: str, known: Collection[str], *path: str | int, where: str) -> Fault:
    message = f"{reads}, which nothing here sets; only start() could set it."
    return Fault(message, *path, remedy=did_you_mean(name, sorted(known)), where=where)


def collected_names(spec: JourneySpec) -> set[str]:
    """Return the names that collecting puts into the context."""
    pathways = spec.pathways.values()
    fields = {field.name for p in pathways if p.form for field in p.form.fields}
    return fields | {effect.save or effect.tool for p in pathways for effect in p.effects}


def collecting_warnings(spec: JourneySpec, known: Collection[str]) -> Iterator[Fault]:
    """Yield the warnings of fields and effects."""
    for pathway in spec.pathways.values():
        fields = pathway.form.fields if pathway.form else ()
        for number, field in enumerate(fields):
            for warning in _field_warnings(field, fields[number + 1 :], known):
                message = f"field '{field.name}' {warning.message}"
                path = ("fields", number)
                yield Fault(message, *path, remedy=warning.remedy, where=pathway.where)
        yield from _effect_warnings(pathway, known)
    yield from _journey_warnings(spec)


def _field_warnings(
    field: Field, later: Sequence[Field], known: Collection[str]
) -> Iterator[Fault]:
    yield from _condition_warnings(field, later, known)
    if len(field.retry_texts) >= field.max_attempts:
        number, most = len(field.retry_texts), field.max_attempts
        message = f"has {number} retry_texts and max_attempts {most}: the last ones are never used."
        yield Fault(message, remedy="Remove these, or raise max_attempts.")
    if field.depends_on and not field.validators:
        message = "depends on other fields and has no validators, so nothing is checked again."
        yield Fault(message, remedy="Give it validators, or remove depends_on.")
    first: dict[str, str] = {}
    for value, others in field.ways.items():
        for word in dict.fromkeys(way.casefold() for way in (value, *others)):
            if word in first:
                message = f"has '{word}' for both '{first[word]}' and '{value}'."
                yield Fault(message, remedy="Remove it from one of them.")
            first.setdefault(word, value)


def _condition_warnings(
    field: Field, later: Sequence[Field], known: Collection[str]
) -> Iterator[Fault]:
    for name in sorted(getattr(field.when, "reads", None) or ()):
        if name == field.name:
            yield Fault("reads its own value in `when`, so it is never asked for.")
        elif name in [other.name for other in later]:
            message = f"reads '{name}' in `when`, which is asked for later."
            yield Fault(message, remedy=f"Move this field after '{name}'.")
        elif name not in known:
            hint = did_you_mean(name, sorted(known))
            yield Fault(f"reads '{name}' in `when`, which nothing here collects.", remedy=hint)


def _effect_warnings(pathway: PathwaySpec, known: Collection[str]) -> Iterator[Fault]:
    for number, effect in enumerate(pathway.effects):
        for name in effect.arguments.values():
            if name not in (*known, "message"):
                hint = did_you_mean(name, sorted(known))
                message = f"effect '{effect.tool}' reads '{name}', which nothing here collects."
                yield Fault(message, "effects", number, remedy=hint, where=pathway.where)
    for _, agent in pathway.pipeline.leaves if pathway.pipeline else ():
        for name in sorted(getattr(agent.call, "reads", frozenset()) - {*known}):
            hint = did_you_mean(name, sorted(known))
            message = f"its text contains {{{name}}}, which nothing here collects."
            yield Fault(message, "say", remedy=hint, where=pathway.where)


def _journey_warnings(spec: JourneySpec) -> Iterator[Fault]:
    at = as_where(spec.where)
    collects = any(pathway.form for pathway in spec.pathways.values())
    if spec.escalation and spec.escalation.when_collected and not collects:
        key = at.key("__escalation__")
        message = "the escalation waits for all fields, but the journey has no fields."
        yield Fault(message, key, remedy="Remove when_collected.", where=at)
    yield from _idle_knowledge(spec)
    for old in spec.migrations:
        if old in spec.pathways:
            key = at.key("__migrations__")
            message = f"{key} replaces '{old}', which still exists."
            yield Fault(message, key, old, remedy="Remove it.", where=at)


def _idle_knowledge(spec: JourneySpec) -> Iterator[Fault]:
    answers = {
        pathway.id: pathway.pipeline is not None and not pathway.collects
        for pathway in spec.pathways.values()
    }
    idle = [p.where for p in spec.pathways.values() if p.knowledge and answers[p.id]]
    for where in [*idle, spec.where] if spec.knowledge and all(answers.values()) else idle:
        at = as_where(where)
        key = at.key("__knowledge__")
        message = f"{key} is never used: agents answer all questions here."
        yield Fault(message, key, remedy="Remove it, or add fields.", where=at)
