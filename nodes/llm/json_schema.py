"""Whether arguments fit a JSON schema that came from afar, as that of an MCP server's tool.

Such a schema is somebody else's text: no address in it is opened, and no pattern in it is run,
which could take for ever. What is not judged here is the server's to judge.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sized
from itertools import islice, zip_longest
from typing import Any

MOST_DEPTH = 64
"""Deepest that a schema is followed; one that holds itself ends there."""
MOST_TOLD = 3
"""Most faults of one value that are told."""
MOST_STEPS = 10_000
"""Most schemas that are looked at for one value; alternatives may hold alternatives."""

Schema = Mapping[str, Any]


def misfits(schema: Any, value: Any) -> Iterator[str]:
    """Yield what of a value does not fit a schema: `path: what is wrong`.

    Args:
        schema: The schema; True and {} fit anything. `$ref` is looked up in it alone.
        value: Plain JSON.

    Source: JSON Schema 2020-12, its words for types, values, objects, lists and alternatives.
    """
    yield from _Judge(schema).misfits(schema, value, "", MOST_DEPTH)


def misfits_told(schema: Any, value: Any) -> str:
    """Return the first of what does not fit as one text; empty where all does."""
    return "; ".join(islice(misfits(schema, value), MOST_TOLD))


class _Judge:
    """Follows a schema, for as many steps as one value may take."""

    def __init__(self, root: Any) -> None:
        self._root = root
        self._left = MOST_STEPS

    def misfits(self, schema: Any, value: Any, path: str, depth: int) -> Iterator[str]:
        self._left -= 1
        if schema is False:
            yield f"{path or 'it'}: it must not be there"
        if not isinstance(schema, Mapping) or not depth or self._left < 0:
            return
        if "$ref" in schema:
            yield from self.misfits(_referred(schema["$ref"], self._root), value, path, depth - 1)
        yield from (f"{path or 'it'}: {wrong}" for wrong in _own(schema, value))
        for inner, item, at in _inside(schema, value, path):
            yield from self.misfits(inner, item, at, depth - 1)
        for name, enough in _CHOICES.items():
            choices = _listed(schema, name)
            found = [list(self.misfits(choice, value, path, depth - 1)) for choice in choices]
            if found and not enough(sum(not faults for faults in found), len(found)):
                yield next(
                    (f for faults in found for f in faults),
                    f"{path or 'it'}: it fits more than one of {name}",
                )


_CHOICES: Mapping[str, Callable[[int, int], bool]] = {
    "anyOf": lambda fitting, of: fitting > 0,
    "oneOf": lambda fitting, of: fitting == 1,
    "allOf": lambda fitting, of: fitting == of,
}


def _referred(ref: Any, root: Any) -> Any:
    """Return the part of a schema that a `$ref` names; True, which fits anything, for no part."""
    if not isinstance(ref, str) or not ref.startswith("#"):
        return True
    found = root
    for step in filter(None, ref[1:].split("/")):
        name = step.replace("~1", "/").replace("~0", "~")
        if not isinstance(found, Mapping) or name not in found:
            return True
        found = found[name]
    return found


def _own(schema: Schema, value: Any) -> Iterator[str]:
    """Yield what is wrong with a value itself, whatever is inside it."""
    names = [schema["type"]] if "type" in schema else []
    names = _listed(schema, "type") or names
    if names and not any(_is(name, value) for name in names):
        yield f"it must be {' or '.join(map(str, names))}, not {_kind(value)}"
        return
    choices = _listed(schema, "enum")
    if choices and not any(_same(value, choice) for choice in choices):
        yield f"it must be one of {', '.join(map(repr, choices))}"
    if "const" in schema and not _same(value, schema["const"]):
        yield f"it must be {schema['const']!r}"
    for word, fits in _LIMITS.items():
        if _is_number(limit := schema.get(word)) and not fits(value, limit):
            yield f"its {word} is {limit}"
    if isinstance(value, Mapping):
        yield from (f"'{n}' is required" for n in _listed(schema, "required") if n not in value)


def _listed(schema: Schema, word: str) -> list[Any]:
    """Return a list in a schema; whatever else stands there, as in older drafts, says nothing."""
    found = schema.get(word)
    return found if isinstance(found, list) else []


def _inside(schema: Schema, value: Any, path: str) -> Iterator[tuple[Any, Any, str]]:
    """Yield what is inside a value, each with its schema and its path."""
    if isinstance(value, Mapping):
        known, others = schema.get("properties"), schema.get("additionalProperties", True)
        known = known if isinstance(known, Mapping) else {}
        # What a pattern of the server may allow is the server's to judge.
        others = True if "patternProperties" in schema else others
        for name, item in value.items():
            yield known.get(name, others), item, f"{path}.{name}" if path else name
    if isinstance(value, list):
        first, rest = _listed(schema, "prefixItems"), schema.get("items", True)
        for place, (inner, item) in enumerate(zip_longest(first, value, fillvalue=rest)):
            if place < len(value):
                yield inner, item, f"{path}[{place}]"


def _is(name: object, value: Any) -> bool:
    if name == "integer":
        return _is_number(value) and bool(value == value // 1)
    return name == _kind(value) or name not in _KINDS


_KINDS = ("object", "array", "string", "number", "boolean", "null")


def _kind(value: Any) -> str:
    if isinstance(value, bool):
        return "boolean"
    if _is_number(value):
        return "number"
    kinds = ((str, "string"), (Mapping, "object"), (list, "array"))
    return next((name for kind, name in kinds if isinstance(value, kind)), "null")


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _same(one: Any, other: Any) -> bool:
    """Whether two values are the same JSON, in which 1 is not true."""
    return isinstance(one, bool) == isinstance(other, bool) and bool(one == other)


def _sized(kind: type[Sized], fits: Callable[[Any, Any], bool]) -> Any:
    """Return a limit that holds for values of a kind, by their size, and lets others pass."""
    return lambda value, limit: not isinstance(value, kind) or fits(len(value), limit)


def _valued(fits: Callable[[Any, Any], bool]) -> Any:
    return lambda value, limit: not _is_number(value) or fits(value, limit)


_LIMITS: Mapping[str, Callable[[Any, Any], bool]] = {
    "minLength": _sized(str, lambda size, limit: size >= limit),
    "maxLength": _sized(str, lambda size, limit: size <= limit),
    "minItems": _sized(list, lambda size, limit: size >= limit),
    "maxItems": _sized(list, lambda size, limit: size <= limit),
    "minProperties": _sized(dict, lambda size, limit: size >= limit),
    "maxProperties": _sized(dict, lambda size, limit: size <= limit),
    "minimum": _valued(lambda value, limit: value >= limit),
    "maximum": _valued(lambda value, limit: value <= limit),
    "exclusiveMinimum": _valued(lambda value, limit: value > limit),
    "exclusiveMaximum": _valued(lambda value, limit: value < limit),
}
