"""Faults of definitions: data from the first line on, and the sentence that an author reads."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

_PLACED = re.compile(r"\S+:\d+:\d+ ")
"""Beginning of the name of a definition in a file."""
Path = tuple[str | int, ...]
"""Keys and numbers that lead from a definition to a part of it."""


class TextPosition(NamedTuple):
    """A place in a text; line and column count from 1."""

    line: int
    column: int


class SourceLocation(str):
    """A definition as messages name it. One in a file also has a place."""

    __slots__ = ()
    pathway = "pathway"
    """The term for a pathway in the source of the definition."""
    never = " = NEVER"
    """The value of a criterion that never holds, as the source of the definition writes it."""

    @property
    def file(self) -> str:
        """The name of the file; empty for a class body."""
        return ""

    def place(self, path: Path, *, at_key: bool) -> TextPosition | None:
        """Return the place of a part of the definition; a class body has none."""
        return None

    def key(self, in_code: str, in_file: str = "") -> str:
        """Return the name of an attribute as the source of the definition writes it.

        Args:
            in_file: Its key in files, if that is not the same name without underscores.
        """
        return in_code

    def inner(self, said: str, *path: str | int) -> SourceLocation:
        """Return a part of it, as messages name that."""
        return SourceLocation(f"{self}{said}")

    def sentence(self, message: str, place: TextPosition | None) -> str:
        """Return a message with the name of the definition before it."""
        return f"{self}: {message}" if self else message

    def __reduce__(self) -> tuple[Any, ...]:
        return SourceLocation, (str(self),)


NOWHERE = SourceLocation()


class _InFile(SourceLocation):
    """A definition in a file whose text is not kept."""

    __slots__ = ()
    pathway = "state"
    never = ": never"

    def key(self, in_code: str, in_file: str = "") -> str:
        return in_file or in_code.strip("_")


def as_where(name: str) -> SourceLocation:
    """Return how messages name a definition."""
    if isinstance(name, SourceLocation):
        return name
    return _InFile(name) if _PLACED.match(name) else SourceLocation(name)


class Fault(str):
    """Fault or warning of a definition: a sentence with its parts as attributes.

    Attributes:
        message: Description of the fault.
        remedy: The way out; empty if the message shows it.
        path: The part of the definition that is wrong.
        at_key: True if the key itself is wrong, and not its value.
        where: The definition.
        file: The file of the definition, as messages name it; empty if it is not known.
        place: Line and column in that file.
    """

    message: str
    remedy: str
    path: Path
    at_key: bool
    where: SourceLocation
    file: str
    place: TextPosition | None

    def __new__(
        cls,
        message: str,
        *path: str | int,
        remedy: str = "",
        where: str = NOWHERE,
        at_key: bool = False,
    ) -> Fault:
        """Return a fault of a part of the definition `where`."""
        known, remedy = as_where(where), remedy.strip()
        place = known.place(path, at_key=at_key)
        fault = super().__new__(cls, known.sentence(_joined(message, remedy), place))
        fault.message, fault.remedy, fault.path, fault.at_key = message, remedy, path, at_key
        fault.where, fault.file, fault.place = known, known.file, place
        return fault

    def __reduce__(self) -> tuple[Any, ...]:
        return str, (str(self),)

    def at(self, where: str, *within: str | int) -> Fault:
        """Return it as a fault of what holds the definition, with the path that leads there."""
        path = (*within, *self.path)
        return Fault(self.message, *path, remedy=self.remedy, where=where, at_key=self.at_key)

    def changed(self, text: str, **changes: Any) -> Fault:
        """Return it with another sentence for people, and with other parts."""
        fault = super().__new__(Fault, text)
        fault.__dict__.update(self.__dict__ | changes)
        return fault

    def alone(self) -> Fault:
        """Return it with its place, but without the text of the file."""
        return self.changed(str(self), where=SourceLocation(self.where))

    def as_data(self) -> dict[str, Any]:
        """Return it as JSON; its place is null if that is not known."""
        place = {"file": self.file or None, **self.place._asdict()} if self.place else None
        return {
            "text": str(self),
            "message": self.message,
            "remedy": self.remedy,
            "path": [step if isinstance(step, int) else str(step) for step in self.path],
            "place": place,
        }


def _joined(message: str, remedy: str) -> str:
    if not remedy:
        return message
    return f"{message}{' ' if message.endswith(('.', '?', ':')) else '; '}{remedy}"


REMEDIES: dict[str, str] = {}
"""Description of a valid text, by the pattern that it does not match."""

_WANTED = {
    "bool_type": "true or false",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "finite_number": "a number",
    "tuple_type": "a list",
    "list_type": "a list",
    "dict_type": "a mapping",
    "mapping_type": "a mapping",
    "model_type": "a mapping",
    "model_attributes_type": "a mapping",
    "string_type": "text, in quotes",
}
_LIMITS = {
    "greater_than": "above",
    "greater_than_equal": "at least",
    "less_than": "below",
    "less_than_equal": "at most",
}


def wanted(error: Mapping[str, Any], words: Mapping[str, str]) -> str:
    """Return what a value must be, from an error of pydantic.

    Args:
        words: Words in place of those that are known, by the kind of the error.
    """
    kind, given = error["type"], error.get("ctx") or {}
    if said := words.get(kind) or _WANTED.get(kind):
        return f"it must be {said}."
    if kind == "wanted":
        return str(given["wanted"])
    if kind == "string_pattern_mismatch":
        pattern = given["pattern"]
        return REMEDIES.get(pattern, f"it must match {pattern}.")
    if kind == "too_short":
        return "it must not be empty."
    if kind in _LIMITS:
        return f"it must be {_LIMITS[kind]} {next(iter(given.values())):.15g}."
    return f"{error['msg'][:1].lower()}{error['msg'][1:]}."


def key_of(path: Path) -> str:
    """Return what a fault calls a value: its keys, with its numbers in lists."""
    said = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return said.removeprefix(".") or "the document"
