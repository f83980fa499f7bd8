"""Types of the values of definitions: what fits, in a class body and in a file, and its schema."""

from __future__ import annotations

import re
import typing
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from typing import Annotated, Any, TypeVar

from pydantic import Field, FiniteFloat, GetCoreSchemaHandler
from pydantic_core import CoreSchema, PydanticKnownError, core_schema

from journeygraph.journeys.definitions.definition import Definition
from journeygraph.journeys.definitions.sources import wrong
from journeygraph.journeys.errors import one_of
from journeygraph.journeys.faults import REMEDIES

Item = TypeVar("Item")
NOT_EMPTY = Field(min_length=1)


class _Text:
    """Text that says something; in a class body it may be empty, and stays as it is written."""

    def __init__(self, *, may_be_empty: bool) -> None:
        self.may_be_empty = may_be_empty

    def __get_pydantic_core_schema__(self, _: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        schema = core_schema.str_schema(pattern=r"\S", max_length=20_000, strict=True)
        return core_schema.with_info_wrap_validator_function(self._fit, schema)

    def _fit(self, value: Any, handler: Any, info: Any) -> Any:
        is_code = info.context is None or info.context.is_code
        if value == "" and is_code and self.may_be_empty:
            return value
        fitting = handler(value)
        return fitting if is_code else fitting.strip()


Text = Annotated[str, _Text(may_be_empty=True)]
Phrase = Annotated[str, _Text(may_be_empty=False)]


def pattern(written: str, remedy: str, longest: int | None = None) -> Any:
    """Return the rule that a text matches a pattern; `remedy` is for one that does not."""
    REMEDIES[written] = remedy
    return Field(pattern=written, max_length=longest)


REMEDIES[r"\S"] = "it must not be empty."
_ID = "use lower-case letters, digits and '_', with a letter first."
Name = Annotated[str, pattern(r"^[a-z][a-z0-9_]*$", _ID, 100)]
"""Names that are ids: snake_case, ASCII."""
FieldName = Annotated[str, pattern(r"^[a-z][a-z0-9_]*$", _ID, 64)]
ToolName = Annotated[
    str,
    pattern(
        r"^[a-zA-Z0-9_-]{1,64}$",
        "use up to 64 of the characters a-z, A-Z, 0-9, '_' and '-'.",
    ),
]
"""Names of functions as OpenAI takes them."""
ContextName = Annotated[str, Field(pattern=r"\S", max_length=200)]


def at_least(number: int, most: int | None = None) -> Any:
    """Return the bounds of a number, both included."""
    return Field(ge=number, le=most)


Share = Annotated[FiniteFloat, Field(ge=0, le=1)]
Seconds = Annotated[FiniteFloat, Field(gt=0)]


class _AsWritten:
    """A value that is held as it is written, so that 2 stays 2 where a number may be a fraction."""

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        return core_schema.no_info_wrap_validator_function(_as_written, handler(source))


def _as_written(value: Any, handler: Callable[[Any], Any]) -> Any:
    handler(value)
    return value


AS_WRITTEN = _AsWritten()


class _AsTuple:
    """A list or a tuple of values, held as a tuple."""

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        (item,) = typing.get_args(source)
        schema = core_schema.tuple_variable_schema(handler.generate_schema(item), strict=False)
        return core_schema.no_info_before_validator_function(self._fit, schema)

    def _fit(self, value: Any) -> Any:
        if isinstance(value, (set, frozenset)):  # it has no order that is the same each time
            raise PydanticKnownError("tuple_type")
        return value


Listed = Annotated[Sequence[Item], _AsTuple()]


class OneOf:
    """One of some texts."""

    def __init__(self, known: Sequence[str]) -> None:
        self.known = tuple(known)

    def __get_pydantic_core_schema__(self, _: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        schema = core_schema.literal_schema(list(self.known))
        return core_schema.no_info_wrap_validator_function(self._fit, schema)

    def _fit(self, value: Any, _: Any) -> Any:
        if isinstance(value, str) and value in self.known:
            return value
        raise wrong(one_of(value, self.known))


class Checked:
    """A value that a function returns as it is held, or refuses."""

    def __init__(self, fit: Callable[[Any, Any], Any], schema: Mapping[str, Any]) -> None:
        self.fit = fit
        self.schema = schema

    def __get_pydantic_core_schema__(self, _: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return _plain(self.fit, self.schema)


def _plain(fit: Callable[[Any, Any], Any], schema: Mapping[str, Any]) -> CoreSchema:
    return core_schema.with_info_plain_validator_function(
        fit, metadata={"pydantic_js_functions": [lambda _, __: dict(schema)]}
    )


AS_GIVEN = Checked(lambda value, _: value, {})
"""Defaults of the library."""


_UNITS = {"week": 604_800, "day": 86_400, "hour": 3_600, "minute": 60, "second": 1}
_PART = rf"\d{{1,9}} ?(?:{'|'.join(_UNITS)})s?"
_LONGEST = 3_650 * _UNITS["day"]
_DURATION = "it must be a time such as '2 days' or '1 hour 30 minutes', up to 3650 days."


def seconds_in(written: str) -> int | None:
    """Return the seconds of a time in words, such as "1 hour 30 minutes"; None: it is not one.

    Example:
        >>> seconds_in("2 days"), seconds_in("1 hour 30 minutes"), seconds_in("soon")
        (172800, 5400, None)
    """
    if not re.fullmatch(rf"{_PART}(?: {_PART})*", written):
        return None
    seconds = sum(
        int(number) * _UNITS[unit] for number, unit in re.findall(r"(\d+) ?([a-z]+?)s?\b", written)
    )
    return seconds if 0 < seconds <= _LONGEST else None


def time_in_words(seconds: int) -> str:
    """Return seconds as a time in words; see `seconds_in`.

    Example:
        >>> time_in_words(172_800), time_in_words(5_400)
        ('2 days', '1 hour 30 minutes')
    """
    parts = []
    for unit, length in [*_UNITS.items()][1:]:
        number, seconds = divmod(seconds, length)
        if number:
            parts.append(f"{number} {unit}{'s' if number > 1 else ''}")
    return " ".join(parts)


def _fit_duration(value: Any, info: Any) -> int:
    is_code = info.context is None or info.context.is_code
    seconds = seconds_in(value) if isinstance(value, str) else None
    if is_code and isinstance(value, timedelta) and not value.microseconds:
        given = int(value.total_seconds())
        seconds = given if 0 < given <= _LONGEST else None
    if seconds is None:
        raise wrong(_DURATION)
    return seconds


Duration = Annotated[
    Any, Checked(_fit_duration, {"type": "string", "pattern": rf"^{_PART}( {_PART})*$"})
]
"""A length of time in words, in a class body also a `timedelta`; held in seconds."""


class Function:
    """A function; in a file, an expression on the variables that it is given."""

    def __init__(self, *variables: str) -> None:
        self.variables = variables

    def __get_pydantic_core_schema__(self, _: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        said = "A CEL expression that is true or false."
        return _plain(self._fit, {"type": "string", "description": said})

    def _fit(self, value: Any, info: Any) -> Any:
        return info.context.function(value, self.variables) if info.context else value


class As:
    """A value that is read as another type than that by which it is held."""

    def __init__(self, kind: Any) -> None:
        self.kind = kind

    def __get_pydantic_core_schema__(self, _: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return handler.generate_schema(self.kind)


class InCode:
    """A value that a class body may also give as something else, such as a function.

    Args:
        kind: Its type in a file; also allowed in a class body.
        fit: Returns the value of a class body in its stored form, or refuses it; unset: it can be
            a function as well.
        wanted: Name of the value that a class body must give, for messages.
    """

    def __init__(
        self,
        kind: Any,
        fit: Callable[[Any], Any] | None = None,
        wanted: str = "text, or a function of the context that returns it",
    ) -> None:
        self.kind = kind
        self.fit = fit
        self.wanted = wanted

    def __get_pydantic_core_schema__(self, _: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        schema = handler.generate_schema(self.kind)
        return core_schema.with_info_wrap_validator_function(self._fit, schema)

    def _fit(self, value: Any, handler: Any, info: Any) -> Any:
        if info.context is not None and not info.context.is_code:
            return handler(value)
        if self.fit is not None:
            return self.fit(value)
        if callable(value):
            return value
        if not isinstance(value, (str, Mapping, Sequence)):
            raise wrong(f"it must be {self.wanted}.")
        return handler(value)


Target = Annotated[str, InCode(Name, lambda given: given)]
"""Id of a pathway or a journey; in a class body, it is judged where it is looked up."""


class Short:
    """A definition that can be given as the value of one of its keys alone."""

    def __init__(self, key: str) -> None:
        self.key = key

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        known = typing.get_type_hints(source, include_extras=True)
        whole, single = handler.generate_schema(source), handler.generate_schema(known[self.key])
        return core_schema.no_info_after_validator_function(
            lambda value: value if isinstance(value, source) else source(**{self.key: value}),
            _tagged({"text": single, "mapping": whole}, f"text or {source.__name__}(...)"),
        )


class _ByShape:
    """A union, of which a list, a mapping or a single value chooses one: so it has one fault."""

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        kinds = [kind for kind in typing.get_args(source) if kind is not type(None)]
        shapes = {_shape_of(kind): handler.generate_schema(kind) for kind in kinds}
        union = _tagged(shapes, " or a ".join(shapes).replace("mapping", "dict"))
        is_optional = len(kinds) < len(typing.get_args(source))
        return core_schema.nullable_schema(union) if is_optional else union


BY_SHAPE = _ByShape()


def _tagged(shapes: Mapping[str, CoreSchema], in_code: str) -> CoreSchema:
    """Return the schema of a union whose parts differ in shape: "text", "list" or "mapping"."""
    of_text = f"<{' or a '.join(shapes)}|{in_code}>"
    tags = {shape: of_text if shape == "text" else shape for shape in shapes}
    return core_schema.tagged_union_schema(
        {tags[shape]: schema for shape, schema in shapes.items()},
        lambda value: tags.get(_shape(value)) or next(iter(tags.values())),
    )


def _shape(value: Any) -> str:
    if isinstance(value, (Mapping, Definition)):
        return "mapping"
    return "list" if isinstance(value, (list, tuple)) else "text"


def _shape_of(kind: Any) -> str:
    if typing.get_origin(kind) is Annotated:
        kind = typing.get_args(kind)[0]
    made = typing.get_origin(kind) or kind
    if not isinstance(made, type):
        return "text"
    if issubclass(made, (Mapping, Definition)):
        return "mapping"
    return "list" if issubclass(made, Sequence) and made is not str else "text"


def is_whole(value: Any) -> bool:
    """Return whether a value is a whole number."""
    return isinstance(value, int) and not isinstance(value, bool)


def is_number(value: Any) -> bool:
    """Return whether a value is a number."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)
