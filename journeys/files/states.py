"""The states of a file: each becomes a pathway."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from journeys.agents.agent_card import Agent
from journeys.agents.calls import Call, ToolSpec
from journeys.files.form import JourneyForm, StateForm, ToolForm
from journeys.files.outputs import accumulated, signature_of
from journeys.files.part import Part
from journeys.files.rules import check_arguments, check_tools
from journeys.notions.behaviors import NEVER, Known, ReturnToPrevious, ReturnToSpecific
from journeys.notions.effects import Effect
from journeys.notions.fields import Field, Form
from journeys.notions.transitions import ConditionTrigger
from journeys.notions.validators import Check, ToolCheck
from journeys.pipelines.pattern import PatternPipeline
from journeys.reading.flow_reader import read_calls
from journeys.reading.pipeline_reader import read_pipeline, registered
from journeys.spec.spec import Completion, PathwaySpec, frozen
from journeys.texts.saying import Saying


def tools_of(part: Part, forms: Sequence[ToolForm]) -> dict[str, ToolSpec]:
    """Return the tools that a journey declares, by name."""
    tools: dict[str, ToolSpec] = {}
    for number, form in enumerate(forms):
        name = form.function.name
        if name in tools:
            said = f"there are two tools '{name}'. Rename one."
            part.note(said, "tools", number, "function", "name")
        sound: dict[str, Any] = {} if form.function.is_whole else {"parameters": {}}
        tools[name] = form.function.model_copy(update=sound)
    return tools


def pathway_of(
    part: Part,
    id_: str,
    form: JourneyForm,
    tools: Mapping[str, ToolSpec],
    returns: Mapping[str, ReturnToPrevious | ReturnToSpecific],
) -> PathwaySpec:
    """Return a state as a pathway, noting its faults."""
    state, path = form.states[id_], ("states", id_)
    where = part.where(f"state '{id_}'", *path)
    _check_kind(part, state, path)
    check_tools(part, state.tools, list(tools), *path, "tools")
    named = _agents(part, id_, state)
    collected = form_of(part, state.fields, tools, *path, "fields")
    pipeline = read_pipeline(_pipeline(state), id_, where, named, part.faults)
    if state.say:
        pipeline, named = _saying(part, id_, state), ()
    _check_calls(part, state.calls, tools, path)
    return PathwaySpec(
        id=id_,
        where=where,
        purpose=state.purpose,
        signature=signature_of(part, id_, form) if named else None,
        agents=registered(pipeline, named),
        tools=tuple(dict.fromkeys(state.tools)),
        pipeline=pipeline,
        accumulate=frozen(accumulated(state)),
        next=state.next,
        returns=returns.get(id_),
        complete_when=_completion(part, state, path),
        runs_on_arrival=state.on_arrival == "run" or collected is not None,
        timeout=None if state.timeout is None else float(state.timeout),
        action=state.action,
        calls=read_calls(where, state.calls, part.faults),
        title=state.title or id_.replace("_", " "),
        form=collected,
        effects=check_effects(part, state.effects, tools, *path, "effects"),
        interruptible=interruptible_of(
            part, state.interruptible, collected, *path, "interruptible"
        ),
        knowledge=state.knowledge,
    )


def _check_kind(part: Part, state: StateForm, path: tuple[str, str]) -> None:
    collects = part.has(*path, "outputs") or part.has(*path, "fields")
    if state.kind == "collect" and not collects:
        said = "a state of kind collect needs fields that it asks for, or outputs of its agents."
        part.note(said, *path, "kind")
    if state.kind == "tool" and not part.has(*path, "calls"):
        part.note("a state of kind tool needs calls: the tools it calls.", *path, "kind")
    if part.has(*path, "fields") and "on_arrival" in state.model_fields_set:
        said = (
            "a state with fields asks for them as soon as another state leads here. Take it away."
        )
        part.note(f"on_arrival: {said}", *path, "on_arrival")


_OF_AGENTS = ("outputs", "inputs", "pipeline", "tools")
"""Keys of a state that say nothing where nobody works in it."""


def _agents(part: Part, id_: str, state: StateForm) -> tuple[str, ...]:
    """Return the names of a state's agents; one with fields has none of its own accord."""
    path = ("states", id_)
    if state.agents is None and not part.has(*path, "fields") and not state.say:
        return (id_,)
    named = tuple(state.agents or ())
    for number, name in enumerate(named):
        if name in named[:number]:
            part.note(f"agents names '{name}' twice.", *path, "agents", number)
    stray = [key for key in _OF_AGENTS if key in state.model_fields_set]
    if stray and state.agents is None and not state.say:
        said = f"{stray[0]} is for agents, and a state with fields has none of its own accord."
        part.note(f"{said} Name them in agents, or take it away.", *path, stray[0])
    return named


def _saying(part: Part, id_: str, state: StateForm) -> PatternPipeline:
    path = ("states", id_)
    for key in ("agents", "action", *_OF_AGENTS):
        if key in state.model_fields_set:
            said = f"{key} is for agents, and `say` speaks in their place. Take one of them away."
            part.note(said, *path, key)
    return saying(id_, state.say)


def _pipeline(state: StateForm) -> tuple[str, Any]:
    """Return the name of a pattern, and what is said of it."""
    if isinstance(state.pipeline, str):
        return state.pipeline, {}
    return state.pipeline.pattern, state.pipeline


def _check_calls(
    part: Part, calls: Sequence[Call], tools: Mapping[str, ToolSpec], path: tuple[str, str]
) -> None:
    for number, call in enumerate(calls):
        at = (*path, "calls", number)
        if call.tool not in tools:
            place = (*at, "tool") if part.has(*at, "tool") else at
            part.unknown("tool", call.tool, list(tools), *place)
        else:
            check_arguments(part, call.arguments, tools[call.tool], *at, "arguments")


def _check_awaited(part: Part, written: Sequence[str | Known], *path: str) -> None:
    names = [item.name for item in written if isinstance(item, Known)]
    for number, item in enumerate(written):
        if item in names:
            part.note(f"'{item}' is known as well. Take one of the two out.", *path, number)


def _completion(part: Part, state: StateForm, path: tuple[str, str]) -> Completion:
    """Return when a state is complete; a collecting one: when it has all that it collects."""
    written = state.complete_when
    if written == "never":
        return NEVER
    if isinstance(written, ConditionTrigger):
        return written.condition
    if isinstance(written, tuple):
        _check_awaited(part, written, *path, "complete_when")
        return tuple(dict.fromkeys(written))
    return (tuple(state.outputs) or None) if state.kind == "collect" else None


def saying(id_: str, text: str) -> PatternPipeline:
    """Return the pipeline of a state that says a text."""
    agent = Agent(Saying(text), name=id_)
    return PatternPipeline("sequential", [agent], error_handling="fail-fast", name=id_)


Tools = Mapping[str, ToolSpec]


def form_of(
    part: Part, declared: Sequence[Field] | Form | None, tools: Tools, *path: str | int
) -> Form | None:
    """Return the fields at a place of a file, noting what is not there; None where there are none.

    Args:
        part: Of the file.
        declared: A list of fields, or a form.
        tools: What validators may ask.
        path: Where it is written.
    """
    if declared is None:
        return None
    if isinstance(declared, Form):
        path = (*path, "fields")
    form = declared if isinstance(declared, Form) else Form.model_construct(fields=declared)
    first: dict[str, int] = {}
    for number, field in enumerate(form.fields):
        before = first.setdefault(field.name, number)
        if before != number:
            line = part.line(*path, before)
            said = f"there is a field '{field.name}' in line {line} already. Rename one of them."
            part.note(said, *path, number, "name")
        _check_validators(part, field, tools, *path, number, "validators")
    return form


def _check_validators(part: Part, field: Field, tools: Tools, *path: str | int) -> None:
    for number, validator in enumerate(field.validators):
        function = validator.function if isinstance(validator, Check) else None
        if isinstance(function, ToolCheck) and function.tool not in tools:
            part.unknown("tool", function.tool, list(tools), *path, number, "check")


def check_effects(
    part: Part, declared: Sequence[Effect], tools: Tools, *path: str | int
) -> tuple[Effect, ...]:
    """Return the effects at a place of a file, each once, noting what is not there."""
    effects: list[Effect] = []
    for number, effect in enumerate(declared):
        at = (*path, number)
        place = (*at, "tool") if part.has(*at, "tool") else at
        if effect.tool in [other.tool for other in effects]:
            part.note(f"effects names '{effect.tool}' twice. Take one of them away.", *place)
            continue
        if effect.tool not in tools:
            part.unknown("tool", effect.tool, list(tools), *place)
        else:
            check_arguments(part, effect.arguments, tools[effect.tool], *at, "arguments")
        effects.append(effect)
    return tuple(effects)


def interruptible_of(
    part: Part, declared: bool | Sequence[str], form: Form | None, *path: str | int
) -> bool | tuple[str, ...]:
    """Return where a state may be interrupted, noting names that are no fields of it."""
    if isinstance(declared, bool):
        return declared
    known = [field.name for field in form.fields] if form else []
    for number, name in enumerate(declared):
        if name not in known:
            part.unknown("field", name, known, *path, number)
    return tuple(dict.fromkeys(declared))
