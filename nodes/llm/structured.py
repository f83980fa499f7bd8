"""Structured data of models: schemas of answers, checked values, and arguments held to a schema.

A foreign schema is not trusted: no address in it is fetched, no pattern in it is
run, and the work for one value is bounded. Anything beyond that is left to the server to judge.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from functools import cache
from itertools import islice
from typing import Any, NoReturn

from pydantic import Field as ModelField
from pydantic import ValidationError, create_model
from pydantic_core import from_json

from journeygraph.journeys.agents.signature import FieldSpec
from journeygraph.journeys.errors import require_extra
from journeygraph.nodes.json_data import cleaned, plain

REPLY = "response"
"""The output with the reply to the user."""


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


class SchemaMisfit(ValueError):
    """An answer that is not of the schema; its text explains the fault to a model."""


def schema_of(outputs: Sequence[FieldSpec]) -> tuple[dict[str, Any], bool]:
    """Return the JSON schema of some outputs, and whether a model can be held to it strictly.

    Every output must be there and all but the reply may be null, for an agent may leave any out.
    The reply comes first, so that it can be streamed first. A dict of any content cannot be held
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
    named = [*schema.get("properties", {}).values(), *schema.get("$defs", {}).values()]
    items = [schema["items"]] if "items" in schema else []
    return [*named, *schema.get("anyOf", []), *items]


def values_of(outputs: Sequence[FieldSpec], text: str) -> dict[str, Any]:
    """Return the outputs in a model's answer, each of which fits its declared type.

    They are as the model wrote them: the caller of the agent converts them, and the result of an
    author's type need not be a valid input of that type.
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
        raise SchemaMisfit("; ".join(faults))
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
    """Return the JSON object that a text begins with; a code fence around it does not matter."""
    start = text.find("{")
    if start < 0 or text[:start].strip(" \t\r\n`") not in ("", "json"):
        raise SchemaMisfit("it is not a JSON object")
    decoder = json.JSONDecoder(parse_constant=_refuse_constant)
    try:
        found, _ = decoder.raw_decode(text, start)
    except (ValueError, RecursionError) as error:
        raise SchemaMisfit(f"it is not valid JSON ({type(error).__name__})") from error
    return dict(found)


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


class StreamedReply:
    """The reply in a structured answer, while the answer is written."""

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


MOST_DEPTH = 64
"""Deepest that a schema is followed; one that holds itself ends there."""
MOST_TOLD = 3
"""Most faults of one value that are reported."""
MOST_STEPS = 10_000
"""Most keywords that are looked at for one value; alternatives may hold alternatives."""

# Left out: what runs a pattern (pattern, patternProperties, unevaluated...), compares all items
# with each other (uniqueItems), or needs more than the schema itself ($dynamicRef).
_KEYWORDS: Mapping[Any, str] = {
    object: "type const additionalProperties items contains not if $ref",
    list: "enum required anyOf oneOf allOf prefixItems",
    Mapping: "properties dependentRequired",
    (int, float): """
        minLength maxLength minItems maxItems minProperties maxProperties
        minimum maximum exclusiveMinimum exclusiveMaximum multipleOf
    """,
}
"""Keywords by what they hold; one that holds something else, as in older drafts, says nothing."""
_KINDS = ("boolean", "number", "string", "object", "array", "null")
_Keyword = Callable[[Any, Any, Any, Any], Iterator[Any] | None]
_work: ContextVar[dict[str, int]] = ContextVar("work")


def misfits(schema: Any, value: Any) -> str:
    """Return the first faults of a value as `path: what is wrong`, joined; empty if it fits.

    Args:
        schema: The schema; True and {} fit anything. `$ref` is looked up in it alone.

    Source: JSON Schema 2020-12, without patterns and formats.
    """
    if not isinstance(schema, Mapping):
        return "it: it is not allowed" if schema is False else ""
    _work.set({"depth": 0, "steps": 0})
    faults = _validator()(schema).iter_errors(value)
    return "; ".join(islice(map(_text_of, faults), MOST_TOLD))


def load_schemas() -> None:
    """Import the library now, and not in a turn, which it would hold up."""
    _validator()


@cache
def _validator() -> Callable[[Any], Any]:
    require_extra("models", "The answer of a model", "jsonschema")
    from jsonschema import Draft202012Validator  # noqa: PLC0415
    from jsonschema.validators import create  # noqa: PLC0415
    from referencing import Registry  # noqa: PLC0415

    own = {
        "additionalProperties": _additional,
        "properties": _properties,
        "required": _required,
    }
    known = Draft202012Validator.VALIDATORS | own
    bounded = {
        name: _bounded(known[name], shape)
        for shape, names in _KEYWORDS.items()
        for name in names.split()
    }
    made = create({}, bounded, type_checker=Draft202012Validator.TYPE_CHECKER)
    return lambda schema: made(schema, registry=Registry())


def _bounded(judge: _Keyword, shape: Any) -> _Keyword:
    """Return a keyword's judge that ends at the limits, and skips a keyword it cannot read."""
    is_number = shape == (int, float)

    def judged(validator: Any, wanted: Any, value: Any, schema: Any) -> Iterator[Any]:
        work = _work.get()
        work["steps"] += 1
        if not isinstance(wanted, shape) or (is_number and isinstance(wanted, bool)):
            return
        if work["depth"] >= MOST_DEPTH or work["steps"] > MOST_STEPS:
            return
        work["depth"] += 1
        try:
            yield from judge(validator, wanted, value, schema) or ()
        except Exception:  # a $ref that leads nowhere, or a type that there is none of
            return
        finally:
            work["depth"] -= 1

    return judged


def _additional(validator: Any, wanted: Any, value: Any, schema: Any) -> Iterator[Any]:
    if isinstance(value, dict) and "patternProperties" not in schema:
        for name in value.keys() - schema.get("properties", {}).keys():
            yield from _inside(validator, wanted, value[name], name)


def _properties(validator: Any, wanted: Any, value: Any, schema: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        for name, inner in wanted.items():
            if name in value:
                yield from _inside(validator, inner, value[name], name)


def _inside(validator: Any, schema: Any, value: Any, name: str) -> Iterator[Any]:
    """Judge a property; the library gives no path for one that must not be there."""
    if schema is False:
        yield _fault("it is not allowed", path=[name])
    else:
        yield from validator.descend(value, schema, path=name)


def _required(validator: Any, wanted: Any, value: Any, schema: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        yield from (_fault(f"'{name}' is required") for name in wanted if name not in value)


def _fault(text: str, **where: Any) -> Any:
    from jsonschema import ValidationError  # noqa: PLC0415

    return ValidationError(text, **where)


def _text_of(fault: Any) -> str:
    """Return where a fault is, and what is wrong there; the value itself is not repeated."""
    if fault.context:  # of alternatives, what the first one says
        return _text_of(fault.context[0])
    steps = fault.absolute_path
    path = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps)
    return f"{path.removeprefix('.') or 'it'}: {_wrong(fault)}"


def _wrong(fault: Any) -> str:
    wanted = fault.validator_value
    match fault.validator:
        case "type":
            kinds = wanted if isinstance(wanted, list) else [wanted]
            return f"it must be {' or '.join(kinds)}, not {_kind(fault)}"
        case "enum":
            return f"it must be one of {', '.join(map(repr, wanted))}"
        case "const":
            return f"it must be {wanted!r}"
        case "oneOf":
            return "it fits more than one of oneOf"
        case "required" | "additionalProperties" | "properties":
            return str(fault.message)
        case keyword:
            return f"it violates {keyword}: {wanted}"


def _kind(fault: Any) -> str:
    checker = fault._type_checker
    return next((kind for kind in _KINDS if checker.is_type(fault.instance, kind)), "object")
