"""`__transitions__` in, transition specs out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from journeys.checks import judge_fault
from journeys.errors import did_you_mean
from journeys.patterns import normal
from journeys.spec import TransitionSpec, Update
from journeys.transitions import BaseTrigger, ConditionTrigger, IntentTrigger, Transition

_HOWS = ("append", "set", "copy", "clear")


def read_transitions(owner: str, declared: Any, faults: list[str]) -> list[TransitionSpec]:
    """Read the transitions of a journey, noting every fault."""
    if isinstance(declared, str) or not isinstance(declared, Sequence):
        faults.append(f"{owner}: __transitions__ must be a list of Transition(...).")
        return []
    specs: list[TransitionSpec] = []
    seen: dict[str, int] = {}
    for number, transition in enumerate(declared):
        where = f"{owner}.__transitions__[{number}]"
        if not isinstance(transition, Transition):
            faults.append(f"{where} is {transition!r}; it must be a Transition(...).")
            continue
        faults += _trigger_faults(where, transition.trigger)
        specs.append(_read(where, transition, seen, faults))
    return specs


def _read(
    where: str, transition: Transition, seen: dict[str, int], faults: list[str]
) -> TransitionSpec:
    sources = _sources(where, transition.from_pathway, faults)
    if type(transition.priority) is not int:
        faults.append(f"{where}: priority is {transition.priority!r}; it must be a whole number.")
    return TransitionSpec(
        id=_id(transition, sources, seen),
        trigger=transition.trigger,
        sources=sources,
        target=transition.to_pathway,
        updates=tuple(_updates(where, transition.context_update, faults)),
        priority=transition.priority,
        where=where,
    )


def _id(transition: Transition, sources: tuple[str, ...], seen: dict[str, int]) -> str:
    name = f"{type(transition.trigger).__name__}:{','.join(sources)}->{transition.to_pathway}"
    seen[name] = seen.get(name, 0) + 1
    return name if seen[name] == 1 else f"{name}#{seen[name]}"


def _sources(where: str, value: Any, faults: list[str]) -> tuple[str, ...]:
    if isinstance(value, str):
        return (value,)
    listed = isinstance(value, Sequence) and all(isinstance(item, str) for item in value)
    if not listed or not value:
        faults.append(f"{where}: from_pathway is {value!r}; it must be '*', an id, or ids.")
        return ("*",)
    return ("*",) if "*" in value else tuple(value)


def _trigger_faults(where: str, trigger: Any) -> list[str]:
    if not isinstance(trigger, BaseTrigger):
        return [f"{where}: its trigger is {trigger!r}; it must be a trigger such as IntentTrigger."]
    if isinstance(trigger, ConditionTrigger) and trigger.condition is not None:
        judge: Any = trigger.condition
        if fault := "callable" if not callable(judge) else judge_fault(judge):
            return [f"{where}: condition is {judge!r}; it must be {fault}."]
    elif isinstance(trigger, IntentTrigger):
        return _intent_faults(where, trigger)
    elif type(trigger).evaluate is BaseTrigger.evaluate:
        return [f"{where}: {type(trigger).__name__} does not define evaluate(message, context)."]
    return []


def _intent_faults(where: str, trigger: IntentTrigger) -> list[str]:
    patterns: Any = trigger.patterns
    if isinstance(patterns, str) or not isinstance(patterns, tuple):
        return [f"{where}: patterns is {patterns!r}; write a list: patterns=[{patterns!r}]."]
    faults = [
        f"{where}: pattern {pattern!r} must be text that is not empty."
        for pattern in patterns
        if not isinstance(pattern, str) or not normal(pattern)
    ]
    threshold: Any = trigger.confidence_threshold
    if threshold is not None and not (type(threshold) in (int, float) and 0.0 <= threshold <= 1.0):
        faults.append(f"{where}: confidence_threshold is {threshold!r}; it must be from 0 to 1.")
    return faults


def _updates(where: str, value: Any, faults: list[str]) -> list[Update]:
    if value is None:
        return []
    if not isinstance(value, Mapping):
        faults.append(f"{where}: context_update is {value!r}; it must be a dict.")
        return []
    read = (_update(where, target, text, faults) for target, text in value.items())
    return [update for update in read if update]


def _update(where: str, target: Any, text: Any, faults: list[str]) -> Update | None:
    if not isinstance(text, str) or not isinstance(target, str) or not target:
        faults.append(f"{where}: context_update[{target!r}] is {text!r}; write text: 'set:{text}'.")
        return None
    how, colon, argument = text.partition(":")
    if not colon:
        how, argument = "copy", text
    if how not in _HOWS:
        hint = did_you_mean(how, _HOWS)
        faults.append(
            f"{where}: context_update['{target}'] is {text!r}: '{how}:' is unknown.{hint} "
            "Known: append:NAME, set:TEXT, copy:NAME, clear:, or a bare NAME."
        )
        return None
    if (how == "clear") == bool(argument) and how != "set":
        wanted = "nothing may follow 'clear:'" if how == "clear" else "a context name must follow"
        faults.append(f"{where}: context_update['{target}'] is {text!r}: {wanted}.")
        return None
    return Update(target, how, argument)
