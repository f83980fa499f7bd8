"""A part of a file that is being read: its faults, and the places of its contents."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from journeygraph.journeys.agents.agent import Agent, may_name
from journeygraph.journeys.definitions.sources import Source, refused, wrong
from journeygraph.journeys.errors import JourneyDefinitionError, did_you_mean
from journeygraph.journeys.faults import Fault, Path, SourceLocation, TextPosition
from journeygraph.journeys.files.documents import TextFault, Tree
from journeygraph.journeys.files.expressions import (
    ContextCondition,
    MessageCondition,
    expression_fault,
)

_MOST_SHOWN = 60


class InFile(SourceLocation):
    """A part of a file, as messages begin with it: `file:line:column what`."""

    part: FilePart
    path: Path
    what: str
    elsewhere: dict[str, Path]
    pathway = "state"
    never = ": never"

    def __new__(cls, part: FilePart, path: Path, what: str) -> InFile:
        """Return the place of a part that messages call `what`."""
        where = super().__new__(cls, f"{part.placed(part.tree.place(path))} {what}")
        where.part, where.path, where.what, where.elsewhere = part, path, what, {}
        return where

    @property
    def file(self) -> str:
        """The name of the file."""
        return self.part.name

    def key(self, in_code: str, in_file: str = "") -> str:
        """Return the key of an attribute."""
        return in_file or in_code.strip("_")

    def place(self, path: Path, *, at_key: bool) -> TextPosition:
        """Return the place of a part of it: of its value, or of its key."""
        tree = self.part.tree
        whole = (*self.path, *path)
        if path and path[0] in self.elsewhere:
            whole = (*self.elsewhere[str(path[0])], *path[1:])
        if path[:1] == ("fields",) and (*self.path, "fields", "fields") in tree.values:
            whole = (*self.path, "fields", *path)  # it is written as a mapping
        while len(whole) > len(self.path) and whole not in tree.values:
            whole = whole[:-1]
        is_whole = whole == self.path or at_key
        return tree.place(whole) if is_whole else tree.values[whole]

    def inner(self, said: str, *path: str | int) -> SourceLocation:
        """Return a part of it, as messages name that."""
        return InFile(self.part, (*self.path, *path), f"{self.what}{said}")

    def sentence(self, message: str, place: TextPosition | None) -> str:
        """Return a message with the place and the name of the definition before it."""
        at = self.part.placed(place or self.part.tree.place(self.path))
        return f"{at}{' ' if self.what else ''}{self.what}: {message}"


class FileSource(Source):
    """Source of definitions' values in a file."""

    def __init__(self, part: FilePart) -> None:
        super().__init__()
        self.tree = part.tree
        self.faults = part.faults
        self.gone = part.tree.gone
        self._root = InFile(part, (), "")

    def shown(self, value: Any, held: Any, path: Path) -> str:
        """Return a value as it was written, shortened."""
        whole = (*self.tree.paths.get(id(held), ()), *path)
        if whole in self.tree.raw:
            return self.tree.raw[whole] or "empty"
        if isinstance(value, (dict, list)):
            return "a mapping" if isinstance(value, dict) else "a list"
        said = json.dumps(value, ensure_ascii=False)
        return said if len(said) <= _MOST_SHOWN else f"{said[:_MOST_SHOWN]}..."

    def note(self, held: Any, fault: Fault) -> None:
        """Take down a fault of what a mapping or a list of the file holds."""
        self.faults.append(fault.at(self._root, *self.tree.paths.get(id(held), ())))

    def note_judged(self, held: Any, fault: Fault) -> None:
        """Take down a fault of a definition, at what is written in the file."""
        path = self.tree.written(self.tree.paths.get(id(held), ()), fault.path)
        self.faults.append(Fault(fault.message, *path, remedy=fault.remedy, where=self._root))

    def stands_for(self, made: Any, value: Any) -> None:
        """Record the place of a mapping for another one, and for the mappings in that one."""
        at = self.tree.paths.get(id(value), ())
        for held in (made, *made.values()):
            self.tree.paths.setdefault(id(held), at)

    def function(self, value: Any, variables: tuple[str, ...]) -> Any:
        """Return the expression that is written in place of a function."""
        if not isinstance(value, str):
            raise wrong("it must be text, in quotes.")
        if not value.strip():
            raise wrong("it must not be empty.")
        if fault := expression_fault(value.strip(), sorted(variables)):
            raise refused(fault.message, fault.remedy, named=True)
        kind = MessageCondition if "message" in variables else ContextCondition
        return kind(value.strip())

    def agent(self, value: Any) -> Agent:
        """Return the agent that has a name."""
        if not isinstance(value, str) or not value.strip():
            raise wrong("it must be the name of one of its agents.")
        if not may_name(value):
            raise wrong("it cannot be the name of an agent.")
        return Agent(name=value)


class FilePart:
    """A journey in a file, or all that a file holds.

    Args:
        base: Path in it at which this part begins.
        only: Id of the state whose keys are those of the part itself; empty: there is none.
    """

    def __init__(
        self,
        name: str,
        tree: Tree,
        base: Path = (),
        faults: list[Fault] | None = None,
        only: str = "",
    ) -> None:
        self.name = name
        self.tree = tree
        self.base = base
        self.faults: list[Fault] = [] if faults is None else faults
        self.only = only

    def inner(self, *path: str | int) -> FilePart:
        """Return a part within this one; its faults are these."""
        return FilePart(self.name, self.tree, self._whole(path), self.faults)

    def at(self, *path: str | int) -> Any:
        """Return what is written there, as plain data."""
        value = self.tree.value
        for step in self._whole(path):
            value = value[step]
        return value

    def has(self, *path: str | int) -> bool:
        """Return whether something is written there."""
        return self._whole(path) in self.tree.values

    def where(self, what: str, *path: str | int) -> InFile:
        """Return how messages name a thing: `file:line:column what`."""
        return InFile(self, self._whole(path), what)

    def note(self, said: str, *path: str | int, remedy: str = "") -> None:
        """Note a fault of what is written there."""
        where = InFile(self, (), "")
        self.faults.append(Fault(said, *self._whole(path), remedy=remedy, where=where))

    def path(self, *path: str | int) -> Path:
        """Return the path of something in the whole file."""
        return self._whole(path)

    def line(self, *path: str | int) -> int:
        """Return the line of something."""
        return self.tree.place(self._whole(path)).line

    def note_text(self, faults: Iterable[TextFault]) -> None:
        """Note faults of the text itself."""
        for fault in faults:
            where = _At(self, fault.place)
            self.faults.append(Fault(fault.message, remedy=fault.remedy, where=where))

    def unknown(self, kind: str, name: str, known: Sequence[str], *path: str | int) -> None:
        """Note a name of something that is not there."""
        there = f" Its {kind}s: {', '.join(known)}." if known else f" It has no {kind}s."
        remedy = f"{did_you_mean(name, known)}{there}"
        self.note(f"'{name}' is not a {kind} of this file.", *path, remedy=remedy)

    def placed(self, place: TextPosition) -> str:
        """Return how messages name a place of the file."""
        return f"{self.name}:{place.line}:{place.column}"

    def _whole(self, path: Path) -> Path:
        is_inside = self.only and path[:2] == ("states", self.only)
        return self.tree.written(self.base, path[2:] if is_inside else path)


class _At(InFile):
    """A place of a file."""

    def __new__(cls, part: FilePart, place: TextPosition) -> _At:
        where: _At = super().__new__(cls, part, (), "")  # type: ignore[assignment]
        where.known = place
        return where

    known: TextPosition

    def place(self, path: Path, *, at_key: bool) -> TextPosition:
        return self.known


def unreadable(name: str, *faults: TextFault) -> JourneyDefinitionError:
    """Return the error of a file that cannot be read at all."""
    part = FilePart(name, Tree())
    part.note_text(faults)
    return JourneyDefinitionError(in_order(part.faults))


def in_order(faults: Iterable[Fault]) -> list[Fault]:
    """Return faults file by file, in the order of their places, each once."""

    def place(fault: Fault) -> tuple[str, TextPosition]:
        return fault.file, fault.place or TextPosition(0, 0)

    return sorted(dict.fromkeys(faults), key=place)
