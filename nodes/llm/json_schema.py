"""Hold arguments to a JSON schema that came from elsewhere, as that of an MCP server's tool.

Such a schema is another person's text: no address in it is fetched, no pattern in it is run, and
the work for one value is bounded. Anything beyond that is left to the server to judge.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from functools import cache
from itertools import islice
from typing import Any

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
        value: Plain JSON.

    Source: JSON Schema 2020-12, but for patterns and formats.
    """
    if not isinstance(schema, Mapping):
        return "it: it must not be there" if schema is False else ""
    _work.set({"depth": 0, "steps": 0})
    faults = _validator()(schema).iter_errors(value)
    return "; ".join(islice(map(_text_of, faults), MOST_TOLD))


def load() -> None:
    """Import the library now, and not in a turn, which it would hold up."""
    _validator()


@cache
def _validator() -> Callable[[Any], Any]:
    """Return what makes the library's validator of a schema."""
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
    """Judge the properties that a schema does not name, unless a pattern may name them."""
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
        yield _fault("it must not be there", path=[name])
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
            return f"its {keyword} is {wanted}"


def _kind(fault: Any) -> str:
    checker = fault._type_checker
    return next((kind for kind in _KINDS if checker.is_type(fault.instance, kind)), "object")
