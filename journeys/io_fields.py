"""Inputs and outputs of a signature: how they are declared, and the frozen spec of them."""

from __future__ import annotations

import typing
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pydantic import TypeAdapter

SOURCES = ("message", "history", "context")
"""What an input can be filled from, by declaration."""


class _Missing:
    """The type of `MISSING`."""

    def __repr__(self) -> str:
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
    default: Any = MISSING
    source: str | None = None

    @property
    def required(self) -> bool:
        """Whether there is no default."""
        return self.default is MISSING

    @property
    def is_text(self) -> bool:
        """Whether the type is `str`."""
        return self.annotation is str

    def validated(self, value: Any) -> Any:
        """Return the value as plain data of the declared type.

        Raises:
            ValueError: The value is not of that type; pydantic's message says why.
        """
        adapter = _adapter(self.annotation)
        return adapter.dump_python(adapter.validate_python(value), mode="json")

    def empty(self) -> Any:
        """Return the type's empty value: "", {}, [], 0, False; None where the type has none."""
        origin = typing.get_origin(self.annotation) or self.annotation
        try:
            return origin()
        except TypeError:
            return None


@dataclass(frozen=True, slots=True)
class SignatureSpec:
    """The frozen content of a signature; what the compiler and the agents read."""

    name: str
    instructions: str
    intent: str
    guidelines: tuple[str, ...]
    inputs: tuple[FieldSpec, ...]
    outputs: tuple[FieldSpec, ...]


@lru_cache(maxsize=1024)
def _adapter(annotation: Any) -> TypeAdapter[Any]:
    # pydantic's core takes longer to load than this whole package, and a definition needs none.
    from pydantic import TypeAdapter  # noqa: PLC0415

    return TypeAdapter(annotation)


def InputField(
    default: Any = MISSING,
    *,
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


def OutputField(default: Any = MISSING, *, description: str = "", desc: str = "") -> Any:
    """Declare an output of a signature.

    Args:
        default: Documents what its absence means; an agent may leave any output out.
        description: What it holds, in words; shown to a model.
        desc: Short spelling of `description`.
    """
    return Field("output", description or desc, default)
