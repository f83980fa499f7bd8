"""Structured answers: the schema that a model is held to, and its text as checked values."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, NoReturn

from pydantic import Field as ModelField
from pydantic import ValidationError, create_model
from pydantic_core import from_json

from journeys.agents.io_fields import FieldSpec
from nodes.json_data import cleaned, plain

REPLY = "response"
"""The output that is said to the user."""


_NOISE = ("title", "default")
# fmt: off
_STRICT = {
    "$defs", "$ref", "additionalProperties", "anyOf", "const", "description", "enum",
    "exclusiveMaximum", "exclusiveMinimum", "format", "items", "maxItems", "maximum", "minItems",
    "minimum", "multipleOf", "pattern", "properties", "required", "type",
}
"""Keywords that OpenAI takes in a strict schema; others make it refuse the request."""
_FORMATS = {
    "date", "date-time", "duration", "email", "hostname", "ipv4", "ipv6", "time", "uuid",
}
# fmt: on


class Misfit(ValueError):
    """An answer that is not of the schema; its text tells a model what to mend."""


def schema_of(outputs: Sequence[FieldSpec]) -> tuple[dict[str, Any], bool]:
    """Return the JSON schema of some outputs, and whether a model can be held to it strictly.

    Every output must be there and all but the reply may be null, for an agent may leave any out.
    The reply comes first, so that it can be heard first. A dict of any content cannot be held
    strictly: OpenAI's strict mode wants every key declared.
    """
    ordered = sorted(outputs, key=lambda field: field.name != REPLY)
    members: dict[str, Any] = {
        f"output_{place}": (
            field.annotation if field.name == REPLY else field.annotation | None,
            ModelField(alias=field.name, description=field.description or None),
        )
        for place, field in enumerate(ordered)
    }
    schema = _closed(create_model("Outputs", **members).model_json_schema(by_alias=True))
    return schema, _is_strict(schema)


def _closed(schema: Any) -> Any:
    """Return a schema whose objects take their own keys only, and all of them."""
    if isinstance(schema, list):
        return [_closed(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    closed = {name: _closed(item) for name, item in schema.items() if name not in _NOISE}
    if isinstance(schema.get("properties"), dict):
        closed["properties"] = {name: _closed(item) for name, item in schema["properties"].items()}
        closed["additionalProperties"] = False
        closed["required"] = list(schema["properties"])
    if len(closed) > 1 and "$ref" in closed:  # which may have nothing beside it
        closed = {"anyOf": [{"$ref": closed.pop("$ref")}], **closed}
    return closed


def _is_strict(schema: dict[str, Any]) -> bool:
    if schema.get("type") == "object" and "properties" not in schema:
        return False
    known = schema.keys() <= _STRICT and schema.get("format", "date") in _FORMATS
    typed = not schema.keys().isdisjoint(("type", "anyOf", "$ref"))
    return known and typed and all(_is_strict(item) for item in _within(schema))


def _within(schema: dict[str, Any]) -> list[Any]:
    """Return the schemas inside of one."""
    named = [*schema.get("properties", {}).values(), *schema.get("$defs", {}).values()]
    items = [schema["items"]] if "items" in schema else []
    return [*named, *schema.get("anyOf", []), *items]


def values_of(outputs: Sequence[FieldSpec], text: str) -> dict[str, Any]:
    """Return the outputs in a model's answer, each of which fits its declared type.

    They are as the model wrote them: whoever runs the agent brings them into their types, and what
    an author's type makes of a value need not be a value of that type again.

    Raises:
        Misfit: It is no JSON object, or an output is missing or of another type.
    """
    given = object_in(text)
    values: dict[str, Any] = {}
    faults: list[str] = []
    for field in outputs:
        value = given.get(field.name)
        if value is None:
            faults += _absence(field, given)
            continue
        try:
            plain(field.validated(value), field.name)
            values[field.name] = plain(value, field.name)
        except ValidationError as error:
            faults += [f"'{field.name}': {fault['msg']}" for fault in error.errors()[:3]]
        except (ValueError, TypeError) as error:
            faults.append(f"'{field.name}': {error}")
    if faults:
        raise Misfit("; ".join(faults))
    return values


def _absence(field: FieldSpec, given: dict[str, Any]) -> list[str]:
    left_out = field.name not in given and field.required
    silent = field.name == REPLY and not _may_be_null(field)
    return [f"'{field.name}' is missing"] if left_out or silent else []


def _may_be_null(field: FieldSpec) -> bool:
    try:
        field.validated(None)
    except (ValueError, TypeError):
        return False
    return True


def object_in(text: str) -> dict[str, Any]:
    """Return the JSON object that a text begins with; a code fence around it does not matter.

    Raises:
        Misfit: There is none.
    """
    start = text.find("{")
    if start < 0 or text[:start].strip(" \t\r\n`") not in ("", "json"):
        raise Misfit("it is not a JSON object")
    decoder = json.JSONDecoder(parse_constant=_refuse_constant)
    try:
        found, _ = decoder.raw_decode(text, start)
    except (ValueError, RecursionError) as error:
        raise Misfit(f"it is not valid JSON ({type(error).__name__})") from error
    return dict(found)


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


class Spoken:
    """The reply in a structured answer, while the answer is written.

    Attributes:
        said: As much of the reply as there is.
        whole: Whether that is all of it.
    """

    def __init__(self) -> None:
        self._text = ""
        self.said = ""
        self.whole = False

    def more(self, piece: str) -> str:
        """Return what a further piece of the answer adds to the reply."""
        self._text += piece
        if self.whole:
            return ""
        said = self._reply("trailing-strings")
        if said is None or not said.startswith(self.said):
            return ""
        added, self.said = said[len(self.said) :], said
        self.whole = self._reply(True) is not None
        return added

    def _reply(self, partial: Any) -> str | None:
        text = self._text[:-1] if "\ud800" <= self._text[-1:] <= "\udbff" else self._text
        try:
            answer = from_json(cleaned(text), allow_partial=partial)
        except ValueError:  # in the middle of a character, or no JSON at all
            return None
        reply = answer.get(REPLY) if isinstance(answer, dict) else None
        return reply if isinstance(reply, str) else None
