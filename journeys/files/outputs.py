"""The outputs of a state: JSON Schema in, the signature of its agents out."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import lru_cache
from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from journeys.agents.signature import InputField, OutputField, Signature, SignatureSpec
from journeys.errors import JourneyDefinitionError, did_you_mean
from journeys.files.form import JourneyForm
from journeys.files.part import Part
from journeys.notions.behaviors import MergeStrategy
from journeys.reading.reader import camel
from journeys.spec.pathway_values import ValueSchema
from journeys.spec.spec import PathwaySpec

_SINGLE: dict[str, Any] = {"string": str, "integer": int, "number": float, "boolean": bool}
_KINDS = (*_SINGLE, "array", "object")
_KINDS = (*_SINGLE, "array", "object")
_HEARD = "What the user just said"
_SAID = "What to say to the user"
_RESPONSE = "response"
_GIVEN = ("message", "context", "history", "tool_results", "guidelines")


def signature_of(part: Part, id_: str, form: JourneyForm) -> SignatureSpec | None:
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


def _inputs(part: Part, id_: str, form: JourneyForm) -> dict[str, Any]:
    """Return what agents are given of the context, described as the states that make it do."""
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


def _annotation(part: Part, form: ValueSchema, path: Sequence[str | int], name: str) -> Any:
    """Return the Python type of a value; of one that has faults, which are noted, any."""
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
    part: Part, form: ValueSchema, kinds: Sequence[str], path: Sequence[str | int]
) -> None:
    """Note words that say nothing of a value of its kind."""
    given = {"items": form.items is not None, "properties": form.properties is not None}
    for word, kind in (("items", "array"), ("properties", "object"), ("required", "object")):
        if (given.get(word) or (word == "required" and form.required)) and kind not in kinds:
            remedy = f"Write type: {kind}, or remove it."
            part.note(f"{word} is only for type {kind}.", *path, word, remedy=remedy)


def _choice(part: Part, form: ValueSchema, kinds: Sequence[str], path: Sequence[str | int]) -> Any:
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


def _of_kind(part: Part, form: ValueSchema, kind: str, path: Sequence[str | int], name: str) -> Any:
    if kind in _SINGLE:
        return _SINGLE[kind]
    if kind == "array":
        if form.items is None:
            part.note("an array needs items, the schema of its values.", *path)
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
    """Return the type of an object; the same one for the same schema."""
    declared = json.loads(schema)
    fields = {}
    for key, annotation in members:
        description = declared["properties"][key]["description"] or None
        if key in declared["required"]:
            fields[key] = Annotated[annotation, Field(description=description)]
        else:
            fields[key] = NotRequired[Annotated[annotation | None, Field(description=description)]]
    return TypedDict(name, fields)  # type: ignore[operator]
