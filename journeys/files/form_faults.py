"""What of a document does not fit its form: every fault, at its place, with its remedy."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from copy import deepcopy
from functools import cache
from typing import Any, cast

from pydantic import ValidationError

from journeys.errors import did_you_mean
from journeys.files.form_basics import Form
from journeys.files.kinds import FORMS
from journeys.files.places import Fault, Path, Tree

_MOST_SHOWN = 60


def fitted(kind: str, tree: Tree, faults: list[Fault]) -> Form | None:
    """Return the document as its form, noting what does not fit.

    Parts that do not fit are left out of what is returned, so that the rest can be judged in the
    same go; the tree then knows which items its lists have lost. None: too little is left.
    """
    form = FORMS[kind]
    try:
        return form.model_validate(tree.value)
    except ValidationError as error:
        wrong = error.errors(include_url=False, include_input=False)
    faults += [_fault(kind, tree, item) for item in wrong]
    document = deepcopy(tree.value)
    for item in wrong:
        _leave_out(kind, tree.value, document, item)
    try:
        return form.model_validate(_purged(document, (), tree.kept))
    except ValidationError:
        return None


def real_path(document: Any, location: Sequence[int | str]) -> Path:
    """Return the path of an error in the document; the names of alternatives are no part of it."""
    path: list[int | str] = []
    at = document
    for step in location:
        inside = isinstance(at, list) and isinstance(step, int) and step < len(at)
        if inside or (isinstance(at, dict) and step in at):
            at = at[step]
            path.append(step)
    return tuple(path)


def _fault(kind: str, tree: Tree, error: Mapping[str, Any]) -> Fault:
    path = real_path(tree.value, error["loc"])
    schema = _schema_at(kind, path, tree.value)
    if error["type"] == "missing":
        return Fault(tree.place(path), f"'{error['loc'][-1]}' is missing in {_owner(schema)}.")
    if error["type"] == "extra_forbidden":
        return Fault(tree.place(path), _unknown(kind, path, tree.value))
    if path and error["loc"][-1] == "[key]":
        return Fault(tree.place(path), f"the name '{path[-1]}' is none: {_ID}")
    place = tree.values.get(path) or tree.place(path)
    said = _shown(tree, path)
    return Fault(place, f"{_named(path)} is {said}; {_wanted(error, schema, said)}")


def _unknown(kind: str, path: Path, document: Any) -> str:
    schema = _schema_at(kind, path[:-1], document)
    known = list(schema.get("properties", {}))
    hint = _ELSEWHERE.get(path[-2:]) or did_you_mean(str(path[-1]), known)
    return f"'{path[-1]}' is no key of {_owner(schema)}.{hint} Known: {', '.join(known)}."


_ELSEWHERE: Mapping[Path, str] = {
    ("personality", "language"): " Write locale: {language: ...} beside it."
}
"""Keys that another mapping has."""
_ID = "write a small letter first, then small letters, digits and '_'."
_WANTED = {
    "bool_type": "it must be true or false.",
    "int_type": "it must be a whole number.",
    "int_from_float": "it must be a whole number.",
    "float_type": "it must be a number.",
    "finite_number": "it must be a number.",
    "list_type": "it must be a list.",
    "dict_type": "it must be a mapping.",
    "model_type": "it must be a mapping.",
    "model_attributes_type": "it must be a mapping.",
}


_LIMITS = {"greater_than": "above", "greater_than_equal": "at least", "less_than_equal": "at most"}


def _wanted(error: Mapping[str, Any], schema: Mapping[str, Any], value: str) -> str:
    """Return what a value must be, and how to get there."""
    kind, given = error["type"], error.get("ctx") or {}
    if kind in _WANTED:
        return _WANTED[kind]
    if kind == "string_type":
        either = _takes_mapping(schema)
        return "it must be text or a mapping." if either else "it must be text, in quotes."
    if kind == "string_pattern_mismatch":
        return "it must not be empty." if given["pattern"] == r"\S" else _pattern(given["pattern"])
    if kind == "literal_error":
        return _one_of(given["expected"], value)
    if kind == "too_short":
        return "it must not be empty."
    if kind in _LIMITS:
        return f"it must be {_LIMITS[kind]} {next(iter(given.values())):g}."
    return f"{error['msg'][:1].lower()}{error['msg'][1:]}."


def _one_of(expected: str, value: str) -> str:
    known = [word.strip("' ") for word in expected.replace(" or ", ",").split(",")]
    if known == ["never"]:
        return "it must be a list of names, 'when: ...', or never."
    hint = did_you_mean(value.strip('"'), known)
    return f"it must be {'one of ' if known[1:] else ''}{', '.join(known)}.{hint}"


def _pattern(pattern: str) -> str:
    if pattern.startswith("^[a-zA-Z0-9_-]"):
        return "a tool's name has up to 64 letters without accents, digits, '_' and '-'."
    if pattern.startswith("^[A-Z]"):
        return "write three capital letters, such as EUR."
    return _ID


def _takes_mapping(schema: Mapping[str, Any]) -> bool:
    return any("properties" in option or "$ref" in option for option in schema.get("oneOf", ()))


def _named(path: Path) -> str:
    """Return what a fault calls a value: its key, with its number in a list."""
    if not path:
        return "the document"
    if isinstance(path[-1], int):
        return f"{_named(path[:-1])}[{path[-1]}]"
    return str(path[-1])


def _shown(tree: Tree, path: Path) -> str:
    """Return a value as it was written, shortened."""
    if path in tree.raw:
        return tree.raw[path] or "empty"
    value = _value_at(tree.value, path)
    if isinstance(value, (dict, list)):
        return "a mapping" if isinstance(value, dict) else "a list"
    said = json.dumps(value, ensure_ascii=False)
    return said if len(said) <= _MOST_SHOWN else f"{said[:_MOST_SHOWN]}..."


def _owner(schema: Mapping[str, Any]) -> str:
    title = str(schema.get("title", "mapping")).lower()
    title = title.replace("schema of", "the schema of")
    if title.startswith("the "):
        return title
    return f"an {title}" if title[0] in "aeiou" else f"a {title}"


@cache
def _schema(kind: str) -> dict[str, Any]:
    return FORMS[kind].model_json_schema()


def _schema_at(kind: str, path: Path, document: Any) -> Mapping[str, Any]:
    """Return the schema of a place; of alternatives, the one that fits what stands there."""
    root = _schema(kind)
    schema = _chosen(root, root, document)
    at = document
    for step in path:
        at = at[step]
        schema = _chosen(root, _within(schema, step), at)
    return schema


def _within(schema: Mapping[str, Any], step: int | str) -> Mapping[str, Any]:
    if isinstance(step, int):
        found = schema.get("items", {})
    else:
        others: dict[str, Any] = next(iter(schema.get("patternProperties", {}).values()), {})
        found = schema.get("properties", {}).get(step, others)
    return found if isinstance(found, dict) else {}


def _chosen(root: Mapping[str, Any], schema: Mapping[str, Any], value: Any) -> Mapping[str, Any]:
    options = [
        _referred(root, option)
        for name in ("oneOf", "anyOf")
        for inner in schema.get(name, ())
        for option in (inner.get("oneOf", [inner]))
    ]
    wanted = "object" if isinstance(value, dict) else "array" if isinstance(value, list) else ""
    fitting = next((item for item in options if wanted and item.get("type") == wanted), None)
    return fitting or _referred(root, schema)


def _referred(root: Mapping[str, Any], schema: Mapping[str, Any]) -> Mapping[str, Any]:
    name = str(schema.get("$ref", "")).rpartition("/")[2]
    found: Mapping[str, Any] = root["$defs"][name] if name else schema
    return found


_STAND_INS = {"id": "unnamed"}


class _Gone:
    """Stands in a list for an item that is left out, so that the others keep their numbers."""


def _leave_out(kind: str, written: Any, document: Any, error: Mapping[str, Any]) -> None:
    """Take away what does not fit, or the smallest part that can do without it."""
    path = real_path(written, error["loc"])
    if error["type"] == "missing" and not path and error["loc"][-1] in _STAND_INS:
        document[error["loc"][-1]] = _STAND_INS[error["loc"][-1]]
    elif path == ("id",):
        document["id"] = _STAND_INS["id"]
    elif path[:-1] == ("states",) and error["type"] == "model_type":
        document["states"][path[-1]] = {}  # others may lead to it
    else:
        _take(document, _spared(kind, written, path))


def _take(document: Any, path: Path) -> None:
    """Take a part away, unless what holds it is gone already."""
    if not path:
        return
    at, last = document, cast("Any", path[-1])
    step: Any
    for step in path[:-1]:
        at = at.get(step) if isinstance(at, dict) else at[step] if isinstance(at, list) else None
    if isinstance(at, list):
        at[last] = _Gone()
    elif isinstance(at, dict):
        at.pop(last, None)


def _spared(kind: str, written: Any, path: Path) -> Path:
    """Return what can be left out with what does not fit: an optional key, or a list's mapping."""
    while path:
        parent = _schema_at(kind, path[:-1], written)
        if isinstance(path[-1], int):
            if isinstance(_value_at(written, path), dict):
                return path
        elif path[-1] not in parent.get("required", ()):
            return path
        path = path[:-1]
    return path


def _value_at(document: Any, path: Path) -> Any:
    for step in path:
        document = document[step]
    return document


def _purged(value: Any, path: Path, kept: dict[Path, list[int]]) -> Any:
    """Return a document without what was left out of its lists, noting which items are kept."""
    if isinstance(value, list):
        left = [number for number, item in enumerate(value) if not isinstance(item, _Gone)]
        if len(left) < len(value):
            kept[path] = left
        return [_purged(value[old], (*path, new), kept) for new, old in enumerate(left)]
    if isinstance(value, dict):
        return {key: _purged(item, (*path, key), kept) for key, item in value.items()}
    return value
