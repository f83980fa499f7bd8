"""`__transitions__` in, transition specs out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from journeys.definitions.sources import takes
from journeys.errors import did_you_mean, shown
from journeys.faults import Fault
from journeys.notions.transitions import BaseTrigger, ConditionTrigger, IntentTrigger, Transition
from journeys.phrases.patterns import normal
from journeys.spec.checks import judge_fault
from journeys.spec.spec import TransitionSpec, Update

_HOWS = ("append", "set", "copy", "clear")


def read_each(declared: Iterable[tuple[str, Any]], faults: list[Fault]) -> list[TransitionSpec]:
    """Read transitions, each with where it is written, noting every fault."""
    specs: list[TransitionSpec] = []
    seen: dict[str, int] = {}
    names: set[str] = set()
    for where, transition in declared:
        if not isinstance(transition, Transition):
            said = f"it is {shown(transition)}; it must be a Transition(...)."
            faults.append(Fault(said, where=where))
            continue
        faults += _name_faults(where, transition.name, names)
        specs.append(read_transition(where, transition, seen, faults))
    return specs


def _name_faults(where: str, name: Any, names: set[str]) -> Iterator[Fault]:
    if not isinstance(name, str):
        yield Fault(f"name is {shown(name)}; it must be text.", where=where)
    elif name:
        if name in names:
            yield Fault(
                f"another transition is named '{name}' too. Rename one of them.", where=where
            )
        names.add(name)


def read_transition(
    where: str, transition: Transition, seen: dict[str, int], faults: list[Fault]
) -> TransitionSpec:
    """Read one transition, noting its faults; `seen` counts the ids of the journey."""
    faults += trigger_faults(where, transition.trigger)
    sources = _sources(where, transition.from_pathway, faults)
    if type(transition.priority) is not int:
        priority = shown(transition.priority)
        faults.append(
            Fault(f"priority is {priority}; it must be a whole number.", "priority", where=where)
        )
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


def _sources(where: str, value: Any, faults: list[Fault]) -> tuple[str, ...]:
    if isinstance(value, str):
        return (value,)
    listed = isinstance(value, Sequence) and all(isinstance(item, str) for item in value)
    if not listed or not value:
        faults.append(
            Fault(
                f"from_pathway is {shown(value)}; it must be '*', an id, or ids.",
                "from",
                where=where,
            )
        )
        return ("*",)
    return ("*",) if "*" in value else tuple(value)


def _updates(where: str, value: Any, faults: list[Fault]) -> list[Update]:
    if value is None:
        return []
    if not isinstance(value, Mapping):
        faults.append(
            Fault(f"context_update is {shown(value)}; it must be a dict.", "update", where=where)
        )
        return []
    read = (_update(where, target, text, faults) for target, text in value.items())
    return [update for update in read if update]


def _update(where: str, target: Any, text: Any, faults: list[Fault]) -> Update | None:
    if callable(text) and isinstance(target, str) and target:
        return Update(target, "call", "", text)
    if not isinstance(text, str) or not isinstance(target, str) or not target:
        faults.append(
            Fault(
                f"context_update[{target!r}] is {text!r}; write text: 'set:{text}'.",
                "update",
                str(target),
                where=where,
            )
        )
        return None
    how, colon, argument = text.partition(":")
    if not colon:
        how, argument = "copy", text
    if how not in _HOWS:
        hint = did_you_mean(how, _HOWS)
        faults.append(
            Fault(
                f"context_update['{target}'] is {text!r}: '{how}:' is unknown.{hint} "
                "Known: append:NAME, set:TEXT, copy:NAME, clear:, or a bare NAME.",
                "update",
                target,
                where=where,
            )
        )
        return None
    if (how == "clear") == bool(argument) and how != "set":
        wanted = "nothing may follow 'clear:'" if how == "clear" else "a context name must follow"
        faults.append(
            Fault(
                f"context_update['{target}'] is {text!r}: {wanted}.", "update", target, where=where
            )
        )
        return None
    return Update(target, how, argument)


def trigger_faults(where: str, trigger: Any) -> list[Fault]:
    """Return the faults of a trigger; `where` names its transition."""
    if not isinstance(trigger, BaseTrigger):
        return [Fault(f"its trigger is {shown(trigger)}; {_instead_of(trigger)}", where=where)]
    if isinstance(trigger, IntentTrigger):
        faults = _intent_faults(where, trigger)
    elif isinstance(trigger, ConditionTrigger):
        faults = _condition_faults(where, trigger)
    else:
        faults = []
    return [*faults, *_evaluate_faults(where, trigger)]


def _instead_of(trigger: Any) -> str:
    wanted = "it must be a trigger such as IntentTrigger"
    if isinstance(trigger, type) and issubclass(trigger, BaseTrigger):
        return f"{wanted}. Call the class: {trigger.__name__}(...)."
    if callable(trigger) and not isinstance(trigger, type):
        return f"{wanted}. Wrap it: ConditionTrigger(lambda context: ...)."
    return f"{wanted}."


def _evaluate_faults(where: str, trigger: BaseTrigger) -> list[Fault]:
    name = type(trigger).__name__
    if type(trigger).evaluate is BaseTrigger.evaluate:
        return [Fault(f"{name} does not define evaluate(message, context).", where=where)]
    if not takes(trigger.evaluate, "", {}):
        return [Fault(f"evaluate of {name} must take (message, context).", where=where)]
    return []


def _condition_faults(where: str, trigger: ConditionTrigger) -> list[Fault]:
    judge: Any = trigger.condition
    faults = _typed(where, trigger, "description", str)
    fault = judge_fault(judge) if callable(judge) else "callable"
    if judge is not None and fault:
        faults.append(
            Fault(f"condition is {shown(judge)}; it must be {fault}.", "condition", where=where)
        )
    return faults


def _intent_faults(where: str, trigger: IntentTrigger) -> list[Fault]:
    patterns: Any = trigger.patterns
    if isinstance(patterns, str) or not isinstance(patterns, tuple):
        said = shown(patterns)
        return [
            Fault(f"patterns is {said}; write a list: patterns=[{said}].", "patterns", where=where)
        ]
    faults = [
        Fault(f"pattern {shown(pattern)} must be text that is not empty.", "patterns", where=where)
        for pattern in patterns
        if not isinstance(pattern, str) or not normal(pattern)
    ]
    for name, kinds in (("description", str), ("use_llm_fallback", bool)):
        faults += _typed(where, trigger, name, kinds)
    if trigger.llm_model is not None:
        faults += _typed(where, trigger, "llm_model", str)
    threshold: Any = trigger.confidence_threshold
    if threshold is not None and not (type(threshold) in (int, float) and 0.0 <= threshold <= 1.0):
        faults.append(
            Fault(
                f"confidence_threshold is {shown(threshold)}; it must be from 0 to 1.",
                "confidence",
                where=where,
            )
        )
    return faults


def _typed(where: str, trigger: BaseTrigger, name: str, kind: type) -> list[Fault]:
    value = getattr(trigger, name)
    if isinstance(value, kind):
        return []
    wanted = {str: "text", bool: "True or False"}[kind]
    return [Fault(f"{name} is {shown(value)}; it must be {wanted}.", where=where)]
