"""Compare tools, and what calls them, with the functions behind them."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Collection, Iterator, Mapping, Sequence
from types import NoneType, UnionType
from typing import Any, NamedTuple, Union, get_args, get_origin, get_type_hints

from pydantic import BaseModel, TypeAdapter, ValidationError
from typing_extensions import is_typeddict

from journeygraph.journeys import Check, Field, JourneySpec, PathwaySpec, Tool, ToolSpec
from journeygraph.journeys.declarations.fields import ToolCheck
from journeygraph.journeys.errors import did_you_mean
from journeygraph.journeys.faults import Fault, as_where
from journeygraph.journeys.spec.warning_signs import kept_names, said_names
from journeygraph.nodes.llm.structured import misfits as schema_misfits
from journeygraph.nodes.llm.tools import KEY, Usable, shared_tool

_STRICT = {
    "string": {"string"},
    "integer": {"integer", "number"},
    "number": {"number", "integer"},
    "boolean": {"boolean"},
    "array": {"array"},
    "object": {"object"},
    "words": {"string"},
}
"""Kind of a value -> kinds of parameters that a JSON schema lets it fill."""
_LAX = {
    **_STRICT,
    "string": {"string", "integer", "number", "boolean"},
    "integer": {"integer", "number", "boolean"},
    "boolean": {"boolean", "integer", "number"},
}
"""The same for typed functions: pydantic reads some kinds as others."""
_SAMPLES: Mapping[str, Any] = {
    "string": "x",
    "words": "x",
    "integer": 1,
    "number": 1.5,
    "boolean": True,
    "array": [],
    "object": {},
}
_KINDS = {"integer": "integer", "number": "number", "boolean": "boolean"}
_KINDS |= {"money": "object", "list": "array", "text": "string", "enum": "string"}
_KINDS |= {"phone": "string"}
"""Type of a field -> kind of its values; those of all others are words, which are no number."""
_PLAIN = (str, int, float, bool, list, tuple, NoneType)


_ONE_TYPE = "Declare both alike."


class SignatureMisfit(NamedTuple):
    """A difference between what a journey says of a function and the function.

    Attributes:
        is_certain: True if no session could do without it, so that it is refused.
        unset: The context name that nothing sets, if that is the difference.
    """

    fault: Fault
    is_certain: bool = True
    unset: str = ""


class _Values(NamedTuple):
    """Values of a context name: their kind in JSON, and all of them, if these are known."""

    kind: str
    choices: Sequence[str] = ()


class _Use(NamedTuple):
    """A place that calls a tool."""

    pathway: PathwaySpec
    key: str
    number: int
    tool: str
    arguments: Mapping[str, str]
    own: Mapping[str, _Values] = {}

    def fault(self, message: str, remedy: str = "") -> Fault:
        at = as_where(self.pathway.where)
        key = at.key(self.key)
        said = f"{key}[{self.number}]: {message}"
        return Fault(said, key, self.number, remedy=remedy, where=at)


def misfits(spec: JourneySpec, tools: Mapping[str, Any]) -> Iterator[SignatureMisfit]:
    """Yield the differences between a journey and the functions of its tools.

    A journey with activation conditions is compared with the others, which may set its names.

    Args:
        tools: The valid tools, by name. Those that are missing are not judged.
    """
    is_part = bool(spec.activation) and not spec.parts
    yield from (one for one in _misfits(spec, tools) if not (is_part and one.unset))


def _misfits(spec: JourneySpec, tools: Mapping[str, Any]) -> Iterator[SignatureMisfit]:
    for name, declared in spec.tools.items():
        if name in tools:
            yield from _of_schema(spec, name, tools[name], declared)
    usable = {name: shared_tool(name, given, spec.tools.get(name)) for name, given in tools.items()}
    known, values = kept_names(spec) | {"message"}, _values_of(spec)
    for pathway in spec.pathways.values():
        for use in _uses(pathway):
            if use.tool in usable:
                yield from _of_use(use, usable[use.tool], known | {*use.own}, {**values, **use.own})
        yield from _of_texts(pathway, tools, known)


def _uses(pathway: PathwaySpec) -> Iterator[_Use]:
    for number, call in enumerate(pathway.calls):
        yield _Use(pathway, "__calls__", number, call.tool, call.arguments)
    for number, effect in enumerate(pathway.effects):
        yield _Use(pathway, "__effects__", number, effect.tool, effect.arguments)
    for number, field in enumerate(pathway.form.fields if pathway.form else ()):
        own = {field.name: _values(field), "value": _values(field)}
        for one in field.validators:
            if isinstance(one, Check) and isinstance(one.function, ToolCheck):
                yield _Use(pathway, "__fields__", number, one.function.tool, {}, own)


# --- Schemas of files ----------------------------------------------------------------------------


def _of_schema(
    spec: JourneySpec, name: str, given: Any, declared: ToolSpec
) -> Iterator[SignatureMisfit]:
    """Compare the parameters of a function with those that a file declares."""
    function = shared_tool(name, given)
    place = ("tools", [*spec.tools].index(name))
    said = f"the function of the tool '{name}'"
    for message, remedy in _passed(function, declared, takes_any=_takes_any(given)):
        yield SignatureMisfit(Fault(f"{said} {message}", *place, remedy=remedy, where=spec.where))
    for message in _converted(function, declared):
        fault = Fault(f"{said} {message}", *place, remedy=_ONE_TYPE, where=spec.where)
        yield SignatureMisfit(fault, is_certain=False)
    for parameter, message, remedy in _needed(function, declared):
        fault = Fault(f"{said} {message}", *place, remedy=remedy, where=spec.where)
        yield SignatureMisfit(fault, parameter not in declared.parameters.get("properties", {}))


def _passed(function: Usable, declared: ToolSpec, *, takes_any: bool) -> Iterator[tuple[str, str]]:
    """Yield messages and remedies about parameters of a schema that the function does not take."""
    takes = function.parameters.properties[0]
    for name, schema in declared.parameters.get("properties", {}).items():
        if name == KEY and function.parameters.takes_key:
            continue
        if name in takes:
            if unfit := _unfit(function, name, _in_schema(schema), "the schema"):
                yield unfit, _ONE_TYPE
        elif not takes_any:
            hint = did_you_mean(name, list(takes))
            yield f"has no parameter '{name}', but the schema passes it.", hint


def _converted(function: Usable, declared: ToolSpec) -> Iterator[str]:
    """Yield the parameters of another type than the schema's, into which some values convert."""
    for name, schema in declared.parameters.get("properties", {}).items():
        values, takes = _in_schema(schema), function.parameters.properties[0]
        kinds = _kinds(takes.get(name))
        if values and kinds and not kinds & _STRICT[values.kind] and kinds & _LAX[values.kind]:
            kind = " or ".join(sorted(kinds))
            yield f"takes '{name}' as {kind}, but the schema is {_said(values)}."


def _needed(function: Usable, declared: ToolSpec) -> Iterator[tuple[str, str, str]]:
    """Yield the required parameters of a function that a schema does not always pass."""
    properties = declared.parameters.get("properties", {})
    for name in function.parameters.properties[1]:
        if name not in properties:
            hint = did_you_mean(name, list(properties))
            yield name, f"needs '{name}', but the schema does not pass it.", hint
        elif name not in declared.parameters.get("required", ()):
            remedy = "Give it a default, or require it."
            yield name, f"needs '{name}', but the schema does not require it.", remedy


def _in_schema(schema: Mapping[str, Any]) -> _Values | None:
    kinds = _kinds(schema)
    if kinds is None or len(kinds) != 1:
        return None
    choices = [one for one in schema.get("enum", ()) if isinstance(one, str)]
    return _Values(kinds.pop(), choices)


def _takes_any(given: Any) -> bool:
    try:
        parameters = inspect.signature(_function(given)).parameters.values()
    except (TypeError, ValueError):
        return False
    return any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters)


def _function(given: Any) -> Any:
    call = given.call if isinstance(given, Tool) else given
    return getattr(call, "func", None) or getattr(call, "coroutine", None) or call


# --- Calls, effects, checks ----------------------------------------------------------------------


def _of_use(
    use: _Use, usable: Usable, known: Collection[str], values: Mapping[str, _Values]
) -> Iterator[SignatureMisfit]:
    yield from _of_arguments(use, usable)
    needed = {
        *usable.parameters.properties[1]
    } | usable.parameters.session.keys() - usable.parameters.optional
    for name, source in _sources(use, usable).items():
        if source in known:
            if unfit := _unfit(usable, name, values.get(source), f"'{source}'"):
                yield SignatureMisfit(use.fault(f"the tool '{use.tool}' {unfit}", _ONE_TYPE))
        elif name in needed and name not in use.arguments:  # of these, the journey itself warns
            yield _unset(use, name, source, known)


def _of_arguments(use: _Use, usable: Usable) -> Iterator[SignatureMisfit]:
    takes = [*usable.parameters.properties[0]]
    for name in use.arguments:
        if name == KEY and usable.parameters.takes_key:
            yield SignatureMisfit(
                use.fault(f"'{KEY}' is filled by the runtime.", "Remove the argument.")
            )
        elif name not in takes:
            message = f"the tool '{use.tool}' has no parameter '{name}'."
            remedy = f"{did_you_mean(name, takes)} Its parameters: {', '.join(takes) or 'none'}."
            yield SignatureMisfit(use.fault(message, remedy))


def _sources(use: _Use, usable: Usable) -> dict[str, str]:
    """Return the context names from which the parameters of a tool are filled."""
    marks = usable.parameters.session.items()
    own = {name: mark.source or name for name, mark in marks if isinstance(mark.source, str)}
    passed = {name: use.arguments.get(name, name) for name in usable.parameters.properties[0]}
    return passed | own


def _unset(use: _Use, name: str, source: str, known: Collection[str]) -> SignatureMisfit:
    what = f"'{name}'" if source == name else f"'{name}' from '{source}'"
    message = f"the tool '{use.tool}' needs {what}, which nothing here sets; only start() could "
    hint = did_you_mean(source, sorted(known))
    return SignatureMisfit(use.fault(f"{message}set it.", hint), is_certain=False, unset=source)


def _values_of(spec: JourneySpec) -> dict[str, _Values]:
    """Return the kinds of the values of context names that have one kind."""
    found: dict[str, _Values | None] = {}
    for pathway in spec.pathways.values():
        for field in pathway.form.fields if pathway.form else ():
            _note(found, field.name, _values(field))
        for output in pathway.signature.outputs if pathway.signature else ():
            _note(found, output.name, _of_type(output.annotation))
    mixed = {update.target for one in spec.transitions for update in one.updates}
    for pathway in spec.pathways.values():
        mixed |= {call.save for call in pathway.calls}
        mixed |= {effect.save or effect.tool for effect in pathway.effects}
    single = {n: one for n, one in found.items() if one is not None and n not in mixed}
    return {"message": _Values("string"), **single}


def _note(found: dict[str, _Values | None], name: str, values: _Values | None) -> None:
    found[name] = values if found.get(name, values) == values else None


def _values(field: Field) -> _Values:
    choices = () if callable(field.choices) else tuple(field.choices)
    return _Values(_KINDS.get(field.type, "words"), choices if field.type == "enum" else ())


def _of_type(annotation: Any) -> _Values | None:
    try:
        kinds = _kinds(TypeAdapter(annotation).json_schema())
    except Exception:  # a type may bring a schema of its own
        return None
    return _Values(kinds.pop()) if kinds and len(kinds) == 1 else None


def _said(values: _Values) -> str:
    named = {"array": "a list", "object": "a mapping", "string": "text", "words": "text"}
    return named.get(values.kind, f"of the type {values.kind}")


def _unfit(usable: Usable, name: str, values: _Values | None, source: str) -> str:
    """Return how a parameter does not take the values of a source; empty if it may take them."""
    if values is None or name not in usable.parameters.properties[0]:
        return ""
    schema: Any = usable.parameters.properties[0][name]
    kinds = _kinds(schema)
    is_json = usable.parameters.is_json_schema or usable.parameters.declared is not None
    allowed = (_STRICT if is_json else _LAX)[values.kind]
    if kinds and not kinds & allowed and not _takes(usable, name, _SAMPLES[values.kind]):
        return f"takes '{name}' as {' or '.join(sorted(kinds))}, but {source} is {_said(values)}."
    for choice in values.choices:
        if not _takes(usable, name, choice):
            return f"does not take '{choice}' as '{name}', which is one of the choices of {source}."
    return ""


def _kinds(schema: Any) -> set[str] | None:
    """Return the kinds of the values of a JSON schema, without null; None: it does not say."""
    if not isinstance(schema, Mapping):
        return None
    if "anyOf" in schema or "oneOf" in schema:
        parts = [_kinds(part) for part in schema.get("anyOf") or schema["oneOf"]]
        return None if None in parts else set().union(*(part for part in parts if part))
    given = schema.get("type")
    if given is None:
        return {"string"} if schema.get("enum") and _are_text(schema["enum"]) else None
    return {given} - {"null"} if isinstance(given, str) else {*given} - {"null"}


def _are_text(given: Any) -> bool:
    return all(isinstance(one, str) for one in given)


def _takes(usable: Usable, name: str, value: Any) -> bool:
    parameters = usable.parameters
    if parameters.is_json_schema or parameters.declared is not None:
        schema = parameters.properties[0].get(name, {})
        return not schema_misfits({"type": "object", "properties": {name: schema}}, {name: value})
    try:
        parameters.schema.model_validate({name: value})
    except ValidationError as error:
        return all(one["loc"][:1] != (name,) for one in error.errors())
    except Exception:  # a validator of the author that needs the other values
        return True
    return True


# --- Texts ---------------------------------------------------------------------------------------


def _of_texts(
    pathway: PathwaySpec, tools: Mapping[str, Any], known: Collection[str]
) -> Iterator[SignatureMisfit]:
    """Yield the placeholders of `done` that neither the context nor the result of the tool fills.

    A name that is near to a known one is a warning of the journey itself.
    """
    for number, effect in enumerate(pathway.effects):
        parts = result_names(tools[effect.tool]) if effect.tool in tools else None
        if parts is None:
            continue
        use = _Use(pathway, "__effects__", number, effect.tool, {})
        for name in said_names(effect.done):
            if name not in known and name not in parts and not did_you_mean(name, sorted(known)):
                message = f"done contains {{{name}}}, which nothing here sets; only start() could "
                hint = did_you_mean(name, sorted(parts)) or (
                    f"Known: {', '.join(sorted({*known, *parts} - {'message'}))}."
                )
                yield SignatureMisfit(
                    use.fault(f"{message}set it.", hint), is_certain=False, unset=name
                )


def result_parts(spec: JourneySpec, tools: Mapping[str, Any]) -> set[str]:
    """Return the names that results of effects have for their texts."""
    effects = [effect for pathway in spec.pathways.values() for effect in pathway.effects]
    given = [one.function or tools.get(one.tool) for one in effects]
    return {name for one in given if one is not None for name in result_names(one) or ()}


def result_names(given: Any) -> frozenset[str] | None:
    """Return the names in the result of a function, by its type; None: the type does not say."""
    function = _function(given)
    try:
        kind = get_type_hints(function).get("return", Any)
    except Exception:  # a name in a hint that cannot be resolved
        return None
    return _names_in(kind)


def _names_in(kind: Any) -> frozenset[str] | None:
    origin = get_origin(kind) or kind
    if origin in (Union, UnionType):
        parts = [_names_in(part) for part in get_args(kind)]
        return None if None in parts else frozenset().union(*(part for part in parts if part))
    if not isinstance(origin, type):
        return None
    if issubclass(origin, BaseModel):
        return frozenset(origin.model_fields)
    if is_typeddict(origin):
        return frozenset(get_type_hints(origin))
    if dataclasses.is_dataclass(origin):
        return frozenset(one.name for one in dataclasses.fields(origin))
    return frozenset() if issubclass(origin, _PLAIN) else None
