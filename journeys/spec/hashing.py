"""The version of a definition: a hash of its data, and of its callables by name and code."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from enum import Enum
from functools import partial
from types import CellType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

from journeygraph.journeys.agents.signature import FieldSpec
from journeygraph.journeys.declarations.knowledge import Knowledge
from journeygraph.journeys.declarations.transitions import BaseTrigger
from journeygraph.journeys.pipelines.pattern import PatternPipeline

_LATER = frozenset({"verbatim"})
"""Options that came later: unset, they leave the version of a definition as it was."""
_HELD = -1
"""Stands among the ids of what is being hashed for: something else holds this."""
_NO_PART = re.compile(r" at 0x[0-9a-fA-F]+|\bjourneygraph\.(?=(?:journeys|nodes|graphs|server)\b)")
"""The place of a function in memory, and the import name of our packages."""


def content_hash(*parts: Any) -> str:
    """Return the sha256 of a definition: its data, and its callables by name and code."""
    canonical = json.dumps(_plain(parts), sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(canonical.encode("utf-8", "surrogatepass")).hexdigest()


def _plain(value: Any, within: tuple[int, ...] = ()) -> Any:
    """Return a value as JSON; `within` are the objects that hold it, so that a circle ends."""
    if value is None or isinstance(value, (str, int, float, bool)):
        return value
    if isinstance(value, Enum):
        return [type(value).__qualname__, value.name]
    if isinstance(value, (type, ModuleType)) or id(value) in within:
        named = getattr(value, "__qualname__", getattr(value, "__name__", type(value).__name__))
        return _NO_PART.sub("", named)
    within = (*within, id(value))
    if isinstance(value, Mapping):
        return {str(key): _plain(item, within) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item, within) for item in value]
    if isinstance(value, (set, frozenset)):
        return sorted(json.dumps(_plain(item, within), sort_keys=True) for item in value)
    return _plain_object(value, within)


def _plain_object(value: Any, within: tuple[int, ...]) -> Any:
    if isinstance(value, PatternPipeline):
        names = ("roles", "settings", *PatternPipeline.names(), "agents")
        return ["PatternPipeline", [], {n: _plain(getattr(value, n), within) for n in names}]
    if isinstance(value, FieldSpec):
        default = "-" if value.required else _plain(value.default, within)
        kind = _NO_PART.sub("", str(value.annotation))
        return [value.name, kind, value.description, default, value.source]
    if isinstance(value, Knowledge):
        # What a retriever finds is no part of a definition: an object counts by its class.
        kept = value.retriever
        named = kept if isinstance(kept, (str, FunctionType)) else type(kept)
        limits = (value.timeout, value.passages, value.characters)
        return ["Knowledge", _plain((named, *limits), within)]
    if isinstance(value, CodeType):
        consts = [_plain(item, within) for item in value.co_consts]
        return [value.co_code.hex(), list(value.co_names), consts]
    if isinstance(value, (partial, MethodType)):
        return _plain(_plain_call(value), within)
    if code := getattr(value, "__code__", None):
        held = (value.__defaults__, value.__kwdefaults__, _enclosed(value))
        return [value.__qualname__, _plain(code, within), _plain(held, (*within, _HELD))]
    if isinstance(value, (bytes, complex, type(...))):
        return repr(value)
    return _plain_instance(value, within)


def _plain_call(value: Any) -> tuple[Any, ...]:
    if isinstance(value, MethodType):
        return value.__func__, value.__self__
    return value.func, value.args, value.keywords


def _plain_instance(value: Any, within: tuple[int, ...]) -> Any:
    """Return an object as its class, the code of it, and what it holds.

    An object that is only held, such as a logger or a connection, counts by its class: what it
    holds in its turn is alive, and no part of a definition.
    """
    kind = type(value)
    named = getattr(kind, "__dataclass_fields__", None) or _fields(kind)
    if named is None and _HELD in within and not isinstance(value, BaseTrigger):
        return kind.__qualname__
    held = vars(value) if named is None and hasattr(value, "__dict__") else named or {}
    inside = within if _is_own(kind) else (*within, _HELD)
    kept = [n for n in held if n not in _LATER or not _is_own(kind) or getattr(value, n)]
    items = {name: _plain(getattr(value, name), inside) for name in kept}
    return [kind.__qualname__, _plain(_codes(kind), within), items]


def _fields(kind: Any) -> list[str] | None:
    fields = getattr(kind, "model_fields", None)
    if fields is None:
        return None
    unwritten = getattr(kind, "unwritten", ())
    return [n for n, field in fields.items() if field.init is not False or n in unwritten]


def _codes(kind: type) -> list[Any]:
    """Return the code of a class's methods; that of the language itself is no part of a journey."""
    bodies = [body for body in kind.__mro__ if body is not object and not _is_own(body)]
    methods = [getattr(m, "__func__", m) for body in bodies for m in vars(body).values()]
    return [code for method in methods if (code := getattr(method, "__code__", None))]


def _is_own(kind: type) -> bool:
    """Return whether a class is of the language itself, or of what it is built on."""
    module = kind.__module__
    if module.startswith("pydantic"):
        return True
    return module.startswith("journeygraph.journeys.") and not module.startswith(
        "journeygraph.journeys.examples"
    )


def _enclosed(function: Any) -> list[Any]:
    """Return what a function holds of where it was made; a name given later is not there yet."""
    cells = getattr(function, "__closure__", None) or ()
    # An empty cell equals another one, and has no contents to ask for.
    return [cell.cell_contents for cell in cells if cell != CellType()]
