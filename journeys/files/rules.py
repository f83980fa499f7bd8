"""The rules in a file: what starts a journey, what moves it, how its agents behave."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from journeys.behaviors import ReturnToPrevious, ReturnToSpecific
from journeys.calls import ToolSpec
from journeys.errors import did_you_mean
from journeys.files.expressions import ContextCondition, MessageCondition, expression_fault
from journeys.files.form import (
    ConditionForm,
    DetourForm,
    GuidelineForm,
    HandOverForm,
    JourneyForm,
    TransitionForm,
)
from journeys.files.part import Part
from journeys.guideline_reader import numbered, read_guideline, relation_faults, taken_ids
from journeys.guidelines import Guideline, GuidelineSpec
from journeys.spec import TransitionSpec
from journeys.transition_reader import read_transition
from journeys.transitions import (
    AlwaysTrigger,
    BaseTrigger,
    ConditionTrigger,
    IntentTrigger,
    Transition,
)
from journeys.trigger_faults import trigger_faults

Returns = ReturnToPrevious | ReturnToSpecific
Rule = ConditionForm | TransitionForm | HandOverForm
_NOTHING = "false"
"""The expression that stands in for one with faults, so that the rest can be judged."""


def context_condition(part: Part, text: str, *path: str | int) -> ContextCondition:
    """Return an expression on the context, noting what is wrong with it."""
    return ContextCondition(_sound(part, text, ("context",), *path))


def message_condition(part: Part, text: str, *path: str | int) -> MessageCondition:
    """Return an expression on message and context, noting what is wrong with it."""
    return MessageCondition(_sound(part, text, ("context", "message"), *path))


def _sound(part: Part, text: str, variables: Sequence[str], *path: str | int) -> str:
    if fault := expression_fault(text, variables):
        part.note(f"when: {fault}", *path)
        return _NOTHING
    return text


def trigger_of(part: Part, rule: Rule, *path: str | int) -> BaseTrigger:
    """Return what makes a rule hold, noting what is wrong with it."""
    if not part.is_whole(rule, *path):
        return AlwaysTrigger()
    ways = [name for name in ("condition", "patterns", "when", "always") if getattr(rule, name, 0)]
    if not ways:
        part.note("it never holds. Give it a condition in words, patterns, or when.", *path)
    clash = [name for name in ways if name not in ("condition", "patterns")]
    if clash and len(ways) > 1:
        others = " and ".join(name for name in ways if name != clash[0])
        said = f"{clash[0]} decides by itself, beside {others}. Make it two rules."
        part.note(said, *path, clash[0])
    if "when" in ways:
        return ConditionTrigger(context_condition(part, rule.when, *path, "when"))
    if "always" in ways:
        return AlwaysTrigger()
    return IntentTrigger(
        patterns=tuple(rule.patterns),
        description=rule.condition,
        confidence_threshold=rule.confidence,
    )


def activation_of(part: Part, conditions: Sequence[str | ConditionForm]) -> list[BaseTrigger]:
    """Return what starts a journey among others."""
    triggers: list[BaseTrigger] = []
    for number, item in enumerate(conditions):
        path = ("activation_conditions", number)
        where = part.where(f"activation condition {number + 1}", *path)
        trigger: BaseTrigger = (
            IntentTrigger(description=item)
            if isinstance(item, str)
            else (trigger_of(part, item, *path))
        )
        part.note_read(trigger_faults(where, trigger))
        triggers.append(trigger)
    return triggers


def transitions_of(part: Part, form: JourneyForm) -> list[TransitionSpec]:
    """Return what moves a session within a journey."""
    specs: list[TransitionSpec] = []
    seen: dict[str, int] = {}
    for number, item in enumerate(form.transitions):
        path = ("transitions", number)
        where = part.where(f"transition to '{item.to}'", *path)
        transition = Transition(
            trigger_of(part, item, *path),
            from_pathway=item.from_,
            to_pathway=item.to,
            context_update=item.update or None,
            priority=item.priority,
        )
        faults: list[str] = []
        specs.append(read_transition(where, transition, seen, faults))
        part.note_read(faults)
    return specs


def returns_of(part: Part, form: JourneyForm) -> dict[str, Returns]:
    """Return how the states return that transitions enter as detours."""
    first: dict[str, tuple[Returns | None, int]] = {}
    for number, item in enumerate(form.transitions):
        returns = _returns(item.detour)
        if isinstance(returns, ReturnToSpecific) and _has_policy(item.detour):
            said = "policy is of detours that return to what they interrupted. Take it away."
            part.note(said, "transitions", number, "detour", "policy")
        known, before = first.setdefault(item.to, (returns, number))
        if known != returns:
            line = part.tree.place((*part.base, "transitions", before)).line
            said = (
                f"the transition to '{item.to}' in line {line} says otherwise what of a detour it "
                "is. Write the same in all that lead there."
            )
            part.note(said, "transitions", number, "detour")
    return {state: returns for state, (returns, _) in first.items() if returns}


def _returns(detour: bool | DetourForm) -> Returns | None:
    if isinstance(detour, bool):
        return ReturnToPrevious() if detour else None
    kept: dict[str, Any] = {
        "preserve_context": detour.preserve_context,
        "max_depth": detour.max_depth,
    }
    if detour.return_to == "previous":
        return ReturnToPrevious(policy=detour.policy, **kept)
    return ReturnToSpecific(detour.return_to, **kept)


def _has_policy(detour: bool | DetourForm) -> bool:
    return isinstance(detour, DetourForm) and "policy" in detour.model_fields_set


def guidelines_of(
    part: Part,
    forms: Sequence[GuidelineForm],
    *path: str | int,
    journey: str | None,
    state: str | None = None,
) -> list[GuidelineSpec]:
    """Return guidelines as they are written at a place of a file."""
    specs: list[GuidelineSpec] = []
    for number, form in enumerate(forms):
        at = (*path, number)
        if not part.is_whole(form, *at):
            continue
        called = f"'{form.id}'" if form.id else str(number + 1)
        where = part.where(f"guideline {called}", *at)
        given = form.model_dump(exclude_unset=True)
        if form.when:
            given["when"] = message_condition(part, form.when, *at, "when")
        faults: list[str] = []
        specs += read_guideline(where, Guideline(**given), faults, journey=journey, pathway=state)
        part.note_read(faults)
    return specs


def related(
    part: Part, guidelines: Sequence[GuidelineSpec], written: int
) -> tuple[GuidelineSpec, ...]:
    """Return guidelines with ids of their own, noting what is wrong between them.

    Args:
        part: Of the file.
        guidelines: Those that could be read.
        written: How many are written; where some could not be read, nothing is between them.
    """
    part.note_read(taken_ids(guidelines))
    specs = numbered(guidelines)
    if len(guidelines) == written:
        part.note_read(list(relation_faults(specs)))
    return specs


def check_tools(part: Part, names: Sequence[str], known: Sequence[str], *path: str | int) -> None:
    """Note names of tools that are not there."""
    for number, name in enumerate(names):
        if name not in known:
            part.unknown("tool", name, known, *path, number)


def check_arguments(
    part: Part, arguments: Mapping[str, str], tool: ToolSpec, *path: str | int
) -> None:
    """Note arguments that a tool does not take."""
    known = list(tool.parameters.get("properties", arguments))
    for name in arguments:
        if name not in known:
            hint = did_you_mean(name, known)
            takes = ", ".join(known) or "nothing"
            said = f"'{name}' is no parameter of {tool.name}.{hint} It takes: {takes}."
            part.note(said, *path, name)
