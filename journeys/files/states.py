"""The states of a file: each becomes a pathway."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from journeys.agents.agent import Agent, Saying
from journeys.agents.tools import Call, ToolSpec
from journeys.files.form import JourneyForm, ToolForm
from journeys.files.outputs import accumulated, signature_of
from journeys.files.part import Part
from journeys.files.rules import check_arguments, check_tools
from journeys.notions.behaviors import ReturnToPrevious, ReturnToSpecific
from journeys.notions.effects import Effect
from journeys.notions.fields import Check, Field, Form, ToolCheck
from journeys.pipelines.pattern import PatternPipeline
from journeys.reading.pipeline_reader import read_pipeline, registered
from journeys.spec.spec import PathwaySpec


def tools_of(part: Part, forms: Sequence[ToolForm]) -> dict[str, ToolSpec]:
    """Return the tools that a journey declares, by name."""
    tools: dict[str, ToolSpec] = {}
    for number, form in enumerate(forms):
        name = form.function.name
        if name in tools:
            message = f"there are two tools '{name}'."
            part.note(message, "tools", number, "function", "name", remedy="Rename one.")
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
    check_tools(part, state.tools or (), list(tools), *path, "tools")
    named = _agents(part, id_, state)
    check_form(part, state.form, tools, *path, "fields")
    pipeline = read_pipeline(_pipeline(state), id_, where, named, part.faults)
    if state.say:
        pipeline, named = _saying(part, id_, state), ()
    _check_calls(part, state.calls, tools, path)
    check_effects(part, state.effects, tools, *path, "effects")
    complete_when = state.complete_when
    if complete_when is None and state.kind == "collect":
        complete_when = tuple(state.outputs) or None  # when it has all that it collects
    return state.model_copy(update={"id": id_}).with_agents(
        pipeline,
        registered(pipeline, named),
        where=where,
        tools=state.tools or (),
        signature=signature_of(part, id_, form) if named else None,
        accumulate=accumulated(state),
        returns=returns.get(id_),
        complete_when=complete_when,
    )


def _check_kind(part: Part, state: PathwaySpec, path: tuple[str, str]) -> None:
    collects = part.has(*path, "outputs") or part.has(*path, "fields")
    if state.kind == "collect" and not collects:
        said = "a state of kind collect needs fields or outputs."
        part.note(said, *path, "kind")
    if state.kind == "tool" and not part.has(*path, "calls"):
        part.note("a state of kind tool needs calls.", *path, "kind")
    if part.has(*path, "fields") and "runs_on_arrival" in state.model_fields_set:
        message = "on_arrival has no effect: a state with fields always asks for them on arrival."
        part.note(message, *path, "on_arrival", remedy="Remove it.")


_OF_AGENTS = ("outputs", "inputs", "pipeline", "tools")
"""Keys of a state that have no effect without agents."""


def _agents(part: Part, id_: str, state: PathwaySpec) -> tuple[str, ...]:
    """Return the names of a state's agents; a state with fields has none by default."""
    path = ("states", id_)
    is_silent = not part.has(*path, "agents")
    if is_silent and not part.has(*path, "fields") and not state.say:
        return (id_,)
    stray = [key for key in _OF_AGENTS if key in state.model_fields_set]
    if stray and is_silent and not state.say:
        message = f"{stray[0]} is for agents, and a state with fields has none by default."
        part.note(message, *path, stray[0], remedy="Name them in agents, or remove it.")
    return tuple(dict.fromkeys(state.agents))


def _saying(part: Part, id_: str, state: PathwaySpec) -> PatternPipeline:
    path = ("states", id_)
    for key in ("agents", "action", *_OF_AGENTS):
        if key in state.model_fields_set:
            message = f"{key} is for agents, and a state with `say` has none."
            part.note(message, *path, key, remedy="Remove one of them.")
    return saying(id_, state.say)


def _pipeline(state: PathwaySpec) -> tuple[str, Any]:
    """Return the name of a pattern, and what is said of it."""
    given: Any = state.pipeline or "sequential"
    return (given, {}) if isinstance(given, str) else (given.pattern, given)


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


def saying(id_: str, text: str) -> PatternPipeline:
    """Return the pipeline of a state that says a text."""
    agent = Agent(Saying(text), name=id_)
    return PatternPipeline("sequential", [agent], error_handling="fail-fast", name=id_)


Tools = Mapping[str, ToolSpec]


def check_form(part: Part, form: Form | None, tools: Tools, *path: str | int) -> None:
    """Note the tools that the validators of a form name and that are not there.

    Args:
        part: Of the file.
        form: What is collected.
        tools: What validators may ask.
        path: Where it is written.
    """
    if part.has(*path, "fields"):
        path = (*path, "fields")
    for number, field in enumerate(form.fields if form else ()):
        _check_validators(part, field, tools, *path, number, "validators")


def _check_validators(part: Part, field: Field, tools: Tools, *path: str | int) -> None:
    for number, validator in enumerate(field.validators):
        function = validator.function if isinstance(validator, Check) else None
        if isinstance(function, ToolCheck) and function.tool not in tools:
            part.unknown("tool", function.tool, list(tools), *path, number, "check")


def check_effects(part: Part, effects: Sequence[Effect], tools: Tools, *path: str | int) -> None:
    """Note what effects name that is not there."""
    for number, effect in enumerate(effects):
        at = (*path, number)
        if effect.tool not in tools:
            place = (*at, "tool") if part.has(*at, "tool") else at
            part.unknown("tool", effect.tool, list(tools), *place)
        else:
            check_arguments(part, effect.arguments, tools[effect.tool], *at, "arguments")
