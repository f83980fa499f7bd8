"""Inputs and outputs of a signature: how they are declared, and the frozen spec of them."""

from __future__ import annotations

import typing
from collections.abc import Iterator, Mapping, Sequence, Set
from copy import deepcopy
from dataclasses import dataclass
from functools import lru_cache
from types import UnionType
from typing import TYPE_CHECKING, Any

from journeys.errors import did_you_mean
from journeys.faults import Fault

if TYPE_CHECKING:
    from pydantic import TypeAdapter

SOURCES = ("message", "history", "context")
"""Declared sources of an input."""

TAKEN = (
    "model_config",
    "model_dump",
    "model_dump_json",
    "model_validate",
    "model_validate_json",
    "model_validate_strings",
)
"""Names that no field of a pydantic model can have."""


class _Missing:
    """The type of `MISSING`."""

    def __repr__(self) -> str:
        return "MISSING"

    def __reduce__(self) -> str:
        # There is one of it, also after a copy: `is MISSING` must go on to hold.
        return "MISSING"


MISSING: Any = _Missing()
"""Stands for 'no default was given'."""


@dataclass(frozen=True, slots=True)
class Field:
    """One input or output of a signature, as declared."""

    kind: str
    description: str
    default: Any = MISSING
    source: str | None = None


@dataclass(frozen=True, slots=True)
class FieldSpec:
    """One input or output of a signature, with its name and type."""

    name: str
    annotation: Any
    description: str
    _default: Any = MISSING
    source: str | None = None

    @property
    def default(self) -> Any:
        """The value when nothing fills it, or `MISSING`; a copy, since one spec serves all."""
        return deepcopy(self._default)

    @property
    def required(self) -> bool:
        """Return whether there is no default."""
        return self._default is MISSING

    @property
    def shape(self) -> str:
        """Return the shape of its values: "dict", "list", or empty for others."""
        kinds = [kind for kind in _parts(self.annotation) if kind is not type(None)]
        shapes = {_shape(kind) for kind in kinds}
        return shapes.pop() if len(shapes) == 1 else ""

    @property
    def is_text(self) -> bool:
        """Return whether the type is `str`, annotated or not."""
        return _bare(self.annotation) is str

    def validated(self, value: Any) -> Any:
        """Return the value as plain data of the declared type.

        Raises:
            ValueError: The value does not have that type, or data cannot have that type; pydantic's
                message says why.
        """
        if self.annotation is str and type(value) is str:
            return value  # as most outputs are
        try:
            adapter = _adapter(self.annotation)
        except (TypeError, NameError, RuntimeError) as error:
            raise ValueError(str(error)) from error
        return adapter.dump_python(adapter.validate_python(value), mode="json")

    def empty(self) -> Any:
        """Return the type's empty value: "", {}, [], 0, False; None if the type has none."""
        bare = _bare(self.annotation)
        kind = typing.get_origin(bare) or bare
        return kind() if kind in (str, dict, list, int, float, bool, tuple, set) else None


@dataclass(frozen=True, slots=True)
class SignatureSpec:
    """The frozen content of a signature; what the compiler and the agents read."""

    name: str
    instructions: str
    intent: str
    guidelines: tuple[str, ...]
    inputs: tuple[FieldSpec, ...]
    outputs: tuple[FieldSpec, ...]

    @property
    def listener(self) -> FieldSpec | None:
        """The input that gets the message unless the context has it: the first required text."""
        listening = (f for f in self.inputs if f.required and f.is_text and not f.source)
        return next(listening, None)


def _parts(annotation: Any) -> tuple[Any, ...]:
    """Return the kinds of a union; of anything else, the kind itself."""
    bare = _bare(annotation)
    union = typing.get_origin(bare) in (typing.Union, UnionType)
    return tuple(map(_bare, typing.get_args(bare))) if union else (bare,)


def _shape(kind: Any) -> str:
    origin = typing.get_origin(kind) or kind
    if not isinstance(origin, type):
        return ""
    if issubclass(origin, Mapping) or hasattr(origin, "model_fields"):
        return "dict"
    listed = issubclass(origin, (Sequence, Set)) and not issubclass(origin, (str, bytes))
    return "list" if listed else ""


def _bare(annotation: Any) -> Any:
    """Return a type without what `Annotated` says of it."""
    annotated = typing.get_origin(annotation) is typing.Annotated
    return typing.get_args(annotation)[0] if annotated else annotation


@lru_cache(maxsize=1024)
def _adapter(annotation: Any) -> TypeAdapter[Any]:
    # pydantic's core takes longer to load than this whole package, and a definition needs none.
    from pydantic import TypeAdapter  # noqa: PLC0415

    return TypeAdapter(annotation)


def InputField(
    *,
    default: Any = MISSING,
    description: str = "",
    desc: str = "",
    source: str | None = None,
) -> Any:
    """Declare an input of a signature.

    Args:
        default: Value when nothing fills it; without one the input is required.
        description: What it holds, in words; shown to a model.
        desc: Short spelling of `description`.
        source: What fills it: "message", "history" or "context". Unset: the context value of that
            name; else, for the first required text input, the message.
    """
    return Field("input", description or desc, default, source)


def OutputField(
    *,
    default: Any = MISSING,
    description: str = "",
    desc: str = "",
) -> Any:
    """Declare an output of a signature.

    Args:
        default: Documents what its absence means; an agent may leave any output out.
        description: What it holds, in words; shown to a model.
        desc: Short spelling of `description`.
    """
    return Field("output", description or desc, default)


def field_faults(where: str, name: str, declared: Field) -> Iterator[Fault]:
    """Yield what is wrong with one field, seen alone; `where` names its class and itself."""
    for said, remedy in _faults_of(name, declared):
        yield Fault(said, name, remedy=remedy, where=where)


def _faults_of(name: str, declared: Field) -> Iterator[tuple[str, str]]:
    if name.startswith("_"):
        yield "the name of a field cannot begin with an underscore.", "Rename it."
    if name in TAKEN:
        yield f"the name '{name}' is reserved by pydantic.", "Rename it."
    if declared.source is not None and declared.source not in SOURCES:
        hint = did_you_mean(str(declared.source), SOURCES)
        yield f"source is {declared.source!r}.", f"{hint} One of: {', '.join(SOURCES)}."
    if not isinstance(declared.description, str):
        yield f"its description is {declared.description!r}", "it must be text."
    if not (declared.default is MISSING or _is_plain(declared.default)):
        yield (
            f"its default is {declared.default!r}",
            "it must be plain JSON: text, a number, true, false, None, or lists and dicts of them.",
        )


def pair_faults(owner: str, kind: str, fields: Mapping[str, Any]) -> Iterator[Fault]:
    """Yield what is wrong with fields given as name -> (type, field) of one kind."""
    for name, pair in fields.items():
        is_pair = isinstance(pair, tuple) and len(pair) == 2 and isinstance(pair[1], Field)
        if not is_pair or pair[1].kind != kind:
            wanted = f"(str, {kind.capitalize()}Field(...))"
            said = f"give a type and an {kind}: {wanted}, not {pair!r}."
            yield Fault(said, name, where=f"{owner}.{name}")


def _is_plain(value: Any) -> bool:
    if isinstance(value, Mapping):
        return all(isinstance(key, str) and _is_plain(item) for key, item in value.items())
    if isinstance(value, (list, tuple)):
        return all(_is_plain(item) for item in value)
    return value is None or isinstance(value, (str, int, float))
