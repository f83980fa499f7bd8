"""Read the text of a file as plain data, with the place of each part."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from journeys.faults import Path, Place

MOST_DEPTH = 20
"""Deepest nesting of mappings and lists."""


@dataclass(frozen=True, slots=True)
class TextFault:
    """Fault of the text itself, with its place."""

    place: Place
    message: str
    remedy: str = ""


Wrong = tuple[str, str]
"""Message and remedy of a fault."""


class UnreadableError(Exception):
    """The text cannot be read on from here."""

    def __init__(self, place: Place, message: str, remedy: str = "") -> None:
        super().__init__(message)
        self.fault = TextFault(place, message, remedy)


@dataclass(frozen=True, slots=True)
class Event:
    """A step through a text: "mapping" or "list" opens one, "end" closes it, "scalar" is a value.

    Attributes:
        raw: A scalar as it was written, where it was not quoted.
        fault: Why it may not stand here; its value is dropped.
    """

    kind: str
    place: Place
    value: Any = None
    raw: str | None = None
    fault: Wrong | None = None


@dataclass
class Tree:
    """A text as plain JSON data, with places.

    Attributes:
        value: The data; None for an empty text.
        values: Path -> where the value begins.
        keys: Path -> where the key of a mapping stands.
        raw: Path -> how a scalar that is no text was written.
        faults: What is wrong with the text itself, such as a key that stands twice.
        broken: True if the text could not be read to its end.
        gone: Identities of the mappings that are not judged, as too little of them is right.
    """

    value: Any = None
    values: dict[Path, Place] = field(default_factory=dict)
    keys: dict[Path, Place] = field(default_factory=dict)
    raw: dict[Path, str] = field(default_factory=dict)
    faults: list[TextFault] = field(default_factory=list)
    broken: bool = False
    gone: set[int] = field(default_factory=set)

    def written(self, base: Path, path: Path) -> Path:
        """Return the path in the text of what is judged under other numbers, below a path of it."""
        at: Any = self.value
        found: list[str | int] = [*base]
        for known in base:
            at = at[known]
        for step in path:
            number: Any = step
            if isinstance(at, list) and isinstance(step, int):
                number = [n for n, item in enumerate(at) if id(item) not in self.gone][step]
                at = at[number]
            else:
                at = at.get(step) if isinstance(at, dict) else None
            found.append(number)
        return tuple(found)

    @cached_property
    def paths(self) -> dict[int, Path]:
        """Mapping or list, by identity -> its path."""
        found: dict[int, Path] = {}
        waiting: list[tuple[Path, Any]] = [((), self.value)]
        while waiting:
            path, value = waiting.pop()
            if isinstance(value, (dict, list)):
                found[id(value)] = path
                steps = value.items() if isinstance(value, dict) else enumerate(value)
                waiting += [((*path, step), item) for step, item in steps]
        return found

    def place(self, path: Path) -> Place:
        """Return where something stands: its key, else the value, else what holds it."""
        while path:
            if found := self.keys.get(path) or self.values.get(path):
                return found
            path = path[:-1]
        return self.values.get((), Place(1, 1))


_NOWHERE = object()
"""Stands for the key of a value that is dropped."""


@dataclass(slots=True)
class _Frame:
    value: Any
    path: Path
    key: Any = None
    dropped: bool = False


def tree_of(events: Iterable[Event]) -> Tree:
    """Build the tree of a text; what cannot be read ends it, and is the last fault."""
    tree = Tree()
    builder = _Builder(tree)
    try:
        for event in events:
            builder.take(event)
    except UnreadableError as error:
        tree.faults.append(error.fault)
        tree.broken = True
    return tree


class _Builder:
    """Puts values where they belong. It holds its own stack, so that no depth can end it."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._stack: list[_Frame] = []

    def take(self, event: Event) -> None:
        if event.fault:
            self._tree.faults.append(TextFault(event.place, *event.fault))
        if event.kind == "end":
            self._close()
        elif event.kind == "scalar":
            self._scalar(event)
        else:
            self._open(event)

    def _open(self, event: Event) -> None:
        if len(self._stack) >= MOST_DEPTH:
            message = f"the file has more than {MOST_DEPTH} levels of nesting."
            raise UnreadableError(event.place, message, "Remove levels.")
        is_key = self._awaits_key()
        if is_key:
            self._refuse_key(event.place)
        value: Any = {} if event.kind == "mapping" else []
        path = () if is_key else self._attach(value, event.place)
        held = is_key or path is None or (bool(self._stack) and self._stack[-1].dropped)
        self._stack.append(_Frame(value, path or (), dropped=held))

    def _close(self) -> None:
        self._stack.pop()

    def _scalar(self, event: Event) -> None:
        if self._awaits_key():
            self._name(event)
            return
        path = self._attach(event.value, event.place)
        if path is not None and event.raw is not None:
            self._tree.raw[path] = event.raw
            if not event.raw and path in self._tree.keys:  # nothing stands there
                self._tree.values[path] = self._tree.keys[path]

    def _awaits_key(self) -> bool:
        return bool(self._stack) and self._stack[-1].key is None and _is_mapping(self._stack[-1])

    def _name(self, event: Event) -> None:
        frame = self._stack[-1]
        if not isinstance(event.value, str):
            self._refuse_key(event.place, event.raw)
            return
        path = (*frame.path, event.value)
        if event.value in frame.value:
            frame.key = _NOWHERE
            first = self._tree.keys.get(path, event.place)
            message = f"duplicate key '{event.value}', first used in line {first.line}."
            self._tree.faults.append(TextFault(event.place, message, "Remove one of them."))
            return
        frame.key = event.value
        if not frame.dropped:
            self._tree.keys[path] = event.place

    def _refuse_key(self, place: Place, raw: str | None = None) -> None:
        self._stack[-1].key = _NOWHERE
        remedy = f'Quote it: "{raw}".' if raw else "Write text before the colon."
        self._tree.faults.append(TextFault(place, "a key must be text.", remedy))

    def _attach(self, value: Any, place: Place) -> Path | None:
        """Put a value where it belongs; return its path, None if that is nowhere."""
        if not self._stack:
            self._tree.value = value
            self._tree.values[()] = place
            return ()
        frame = self._stack[-1]
        if _is_mapping(frame):
            key, frame.key = frame.key, None
            if key is _NOWHERE:
                return None
            frame.value[key] = value
        else:
            key = len(frame.value)
            frame.value.append(value)
        if frame.dropped:
            return None
        path = (*frame.path, key)
        self._tree.values[path] = place
        return path


def _is_mapping(frame: _Frame) -> bool:
    return isinstance(frame.value, dict)
