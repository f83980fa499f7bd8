"""What is wrong with the trigger of a transition."""

from __future__ import annotations

from typing import Any

from journeys.checks import judge_fault
from journeys.errors import shown
from journeys.faults import Fault
from journeys.patterns import normal
from journeys.sources import takes
from journeys.transitions import BaseTrigger, ConditionTrigger, IntentTrigger


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
