"""The states of a file: each becomes a pathway, its outputs a signature."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Annotated, Any, Literal, NotRequired

import pydantic
from typing_extensions import TypedDict

from journeygraph.journeys.agents.agent import Agent, Saying
from journeygraph.journeys.agents.signature import InputField, OutputField, Signature, SignatureSpec
from journeygraph.journeys.agents.tools import Call, ToolSpec
from journeygraph.journeys.declarations.behaviors import (
    MergeStrategy,
    ReturnToPrevious,
    ReturnToSpecific,
)
from journeygraph.journeys.declarations.effects import Effect
from journeygraph.journeys.declarations.fields import Check, Field, Form, ToolCheck
from journeygraph.journeys.errors import JourneyDefinitionError, did_you_mean
from journeygraph.journeys.files.form import JourneyForm, ToolForm
from journeygraph.journeys.files.part import FilePart
from journeygraph.journeys.files.rules import check_arguments, check_tools
from journeygraph.journeys.pipelines.pattern import PatternPipeline
from journeygraph.journeys.pipelines.pipeline import Pipeline
from journeygraph.journeys.reading.pipeline_reader import read_pipeline, registered
from journeygraph.journeys.reading.reader import camel
from journeygraph.journeys.spec.pathway_values import ValueSchema
from journeygraph.journeys.spec.spec import PathwaySpec

_SINGLE: dict[str, Any] = {"string": str, "integer": int, "number": float, "boolean": bool}
_KINDS = (*_SINGLE, "array", "object")
_KINDS = (*_SINGLE, "array", "object")
_HEARD = "Latest message of the user"
_SAID = "What to say to the user"
_RESPONSE = "response"
_GIVEN = ("message", "context", "history", "tool_results", "guidelines")


def signature_of(part: FilePart, id_: str, form: JourneyForm) -> SignatureSpec | None:
    """Return the contract of a state's agents: the message in, a reply and the outputs out."""
    state, path = form.states[id_], ("states", id_, "outputs")
    outputs: dict[str, Any] = {_RESPONSE: (str, OutputField(description=_SAID))}
    for name, output in state.outputs.items():
        if name == _RESPONSE:
            said = f"every state has the output '{_RESPONSE}', the reply to the user."
            part.note(said, *path, name, remedy="Remove it.")
            continue
        annotation = _annotation(part, output, (*path, name), name)
        outputs[name] = (annotation, OutputField(description=output.description))
    inputs = {
        "message": (str, InputField(description=_HEARD, source="message")),
        **_inputs(part, id_, form),
    }
    try:
        return Signature.define(camel(id_), inputs=inputs, outputs=outputs)().spec
    except JourneyDefinitionError as error:
        for fault in error.faults:
            part.note(fault.message, *path, *fault.path, remedy=fault.remedy)
        return None


def _inputs(part: FilePart, id_: str, form: JourneyForm) -> dict[str, Any]:
    state, path = form.states[id_], ("states", id_, "inputs")
    described = {
        name: output.description
        for other in form.states.values()
        for name, output in other.outputs.items()
    }
    inputs: dict[str, Any] = {}
    for number, name in enumerate(state.inputs):
        if name in state.outputs:
            said = f"'{name}' is an output of this state, which its agents see in the history."
            part.note(said, *path, number, remedy="Remove it.")
        elif name in (_RESPONSE, *_GIVEN):
            said = f"'{name}' is given to every agent."
            part.note(said, *path, number, remedy="Remove it.")
        else:
            about = described.get(name, "")
            inputs[name] = (Any, InputField(description=about, default=None))
    return inputs


def accumulated(state: PathwaySpec) -> dict[str, MergeStrategy | None]:
    """Return the names that a state keeps in the context, with how they are merged."""
    return {
        name: MergeStrategy(form.merge) if form.merge else None
        for name, form in state.outputs.items()
    }


def _annotation(part: FilePart, form: ValueSchema, path: Sequence[str | int], name: str) -> Any:
    kinds = [form.type] if isinstance(form.type, str) else list(form.type or ())
    nullable = "null" in kinds or None in form.enum
    kinds = [kind for kind in kinds if kind != "null"]
    found: Any = Any
    faults = len(part.faults)
    if len(kinds) > 1:
        remedy = "write one type, with null as an alternative if needed."
        part.note(f"type is a list of {len(kinds)} types", *path, "type", remedy=remedy)
    elif form.enum:
        found = _choice(part, form, kinds, path)
    elif not kinds:
        if form.has_sound("type"):  # else its fault is told
            part.note("it has no type.", *path, remedy=f"Write one: {', '.join(_KINDS)}.")
    else:
        found = _of_kind(part, form, kinds[0], path, name)
    _note_stray(part, form, kinds, path)
    if found is Any or len(part.faults) > faults:
        return Any
    return found | None if nullable else found


def _note_stray(
    part: FilePart, form: ValueSchema, kinds: Sequence[str], path: Sequence[str | int]
) -> None:
    given = {"items": form.items is not None, "properties": form.properties is not None}
    for word, kind in (("items", "array"), ("properties", "object"), ("required", "object")):
        if (given.get(word) or (word == "required" and form.required)) and kind not in kinds:
            remedy = f"Write type: {kind}, or remove it."
            part.note(f"{word} is only for type {kind}.", *path, word, remedy=remedy)


def _choice(
    part: FilePart, form: ValueSchema, kinds: Sequence[str], path: Sequence[str | int]
) -> Any:
    wanted = _SINGLE.get(kinds[0]) if kinds else None
    if kinds and wanted not in (str, int, bool):
        said = f"enum is only for text, whole numbers and booleans, not for type {kinds[0]}."
        part.note(said, *path, "enum")
    for number, value in enumerate(form.enum):
        fits = value is None or type(value) is wanted
        if not fits and (kinds or type(value) not in (str, int, bool)):
            kind = kinds[0] if kinds else "text, a whole number, true or false"
            said, remedy = f"enum[{number}] is {value!r}", f"it must be {kind}."
            part.note(said, *path, "enum", number, remedy=remedy)
    values = tuple(value for value in form.enum if value is not None)
    if not values:
        part.note("enum contains only null.", *path, "enum", remedy="Write the values.")
    return Literal[values]


def _of_kind(
    part: FilePart, form: ValueSchema, kind: str, path: Sequence[str | int], name: str
) -> Any:
    if kind in _SINGLE:
        return _SINGLE[kind]
    if kind == "array":
        if form.items is None:
            part.note("an array has no items.", *path, remedy="Write the schema of its values.")
            return list[Any]
        return list[_annotation(part, form.items, (*path, "items"), f"{name}_item")]  # type: ignore[misc]
    if not form.properties:
        return dict[str, Any]
    for number, key in enumerate(form.required):
        if key not in form.properties:
            hint = did_you_mean(key, list(form.properties))
            said = f"'{key}' is not one of the properties."
            part.note(said, *path, "required", number, remedy=hint)
    members = {
        key: _annotation(part, inner, (*path, "properties", key), f"{name}_{key}")
        for key, inner in form.properties.items()
    }
    if Any in members.values():
        return Any
    return _object(camel(name), form.model_dump_json(), tuple(members.items()))


@lru_cache(maxsize=1024)
def _object(name: str, schema: str, members: tuple[tuple[str, Any], ...]) -> Any:
    declared = json.loads(schema)
    fields = {}
    for key, annotation in members:
        description = declared["properties"][key]["description"] or None
        if key in declared["required"]:
            fields[key] = Annotated[annotation, pydantic.Field(description=description)]
        else:
            fields[key] = NotRequired[
                Annotated[annotation | None, pydantic.Field(description=description)]
            ]
    return TypedDict(name, fields)  # type: ignore[operator]


def tools_of(part: FilePart, forms: Sequence[ToolForm]) -> dict[str, ToolSpec]:
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
    part: FilePart,
    id_: str,
    form: JourneyForm,
    tools: Mapping[str, ToolSpec],
    returns: Mapping[str, ReturnToPrevious | ReturnToSpecific],
) -> PathwaySpec:
    """Return a state as a pathway, noting its faults."""
    state, path = form.states[id_], ("states", id_)
    where = part.where(f"agent '{form.id}'" if part.only else f"state '{id_}'", *path)
    _check_kind(part, state, path)
    check_tools(part, state.tools or (), list(tools), *path, "tools")
    named = _agents(part, id_, state)
    check_form(part, state.form, tools, *path, "fields")
    pipeline = read_pipeline(*_pipeline(state), id_, where, named, part.faults)
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


def _check_kind(part: FilePart, state: PathwaySpec, path: tuple[str, str]) -> None:
    collects = part.has(*path, "outputs") or part.has(*path, "fields")
    if state.kind == "collect" and not collects:
        said = "a state of kind collect has neither fields nor outputs."
        part.note(said, *path, "kind", remedy="Write one of them.")
    if state.kind == "tool" and not part.has(*path, "calls"):
        said = "a state of kind tool has no calls."
        part.note(said, *path, "kind", remedy="Write the tools that it calls.")
    if part.has(*path, "fields") and "runs_on_arrival" in state.model_fields_set:
        message = "on_arrival has no effect: a state with fields always asks for them on arrival."
        part.note(message, *path, "on_arrival", remedy="Remove it.")


_OF_AGENTS = ("outputs", "inputs", "pipeline", "tools")
"""Keys of a state that have no effect without agents."""


def _agents(part: FilePart, id_: str, state: PathwaySpec) -> tuple[str, ...]:
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


def _saying(part: FilePart, id_: str, state: PathwaySpec) -> PatternPipeline:
    path = ("states", id_)
    for key in ("agents", "action", *_OF_AGENTS):
        if key in state.model_fields_set:
            message = f"{key} is for agents, and a state with `say` has none."
            part.note(message, *path, key, remedy="Remove one of them.")
    return saying(id_, state.say)


def _pipeline(state: PathwaySpec) -> tuple[str, Any]:
    given: Any = state.pipeline or "sequential"
    return (given, {}) if isinstance(given, str) else (given.pattern, given)


def _check_calls(
    part: FilePart, calls: Sequence[Call], tools: Mapping[str, ToolSpec], path: tuple[str, str]
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
    return Pipeline.sequential([agent], error_handling="fail-fast", name=id_)


Tools = Mapping[str, ToolSpec]


def check_form(part: FilePart, form: Form | None, tools: Tools, *path: str | int) -> None:
    """Note the tools that the validators of a form name and that are not there."""
    if part.has(*path, "fields"):
        path = (*path, "fields")
    for number, field in enumerate(form.fields if form else ()):
        _check_validators(part, field, tools, *path, number, "validators")


def _check_validators(part: FilePart, field: Field, tools: Tools, *path: str | int) -> None:
    for number, validator in enumerate(field.validators):
        function = validator.function if isinstance(validator, Check) else None
        if isinstance(function, ToolCheck) and function.tool not in tools:
            part.unknown("tool", function.tool, list(tools), *path, number, "check")


def check_effects(
    part: FilePart, effects: Sequence[Effect], tools: Tools, *path: str | int
) -> None:
    """Note what effects name that is not there."""
    for number, effect in enumerate(effects):
        at = (*path, number)
        if effect.tool not in tools:
            place = (*at, "tool") if part.has(*at, "tool") else at
            part.unknown("tool", effect.tool, list(tools), *place)
        else:
            check_arguments(part, effect.arguments, tools[effect.tool], *at, "arguments")
