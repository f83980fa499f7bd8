"""A part of a file that is being read: what is wrong in it, and where its things stand."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from journeys.errors import did_you_mean
from journeys.files.places import Fault, Path, Place, Tree

if TYPE_CHECKING:
    from pydantic import BaseModel

_ATTRIBUTES = {
    "__entry_pathway__": "initial_state",
    "__return_behavior__": "detour",
    "__runs_on_arrival__": "on_arrival: run",
    "__pipeline_config__": "pipeline",
    "__activation__": "activation_conditions",
    "to_pathway": "to",
    "from_pathway": "from",
    "context_update": "update",
    "confidence_threshold": "confidence",
    "ReturnToSpecific": "return_to",
    "pathways": "states",
    "pathway": "state",
    "a Transition": "a transition",
    "critical=True": "critical: true",
    "always=True": "always: true",
}
_SPOKEN = re.compile(r"(?<!['\w])(?:__\w+__|" + "|".join(map(re.escape, _ATTRIBUTES)) + r")(?!\w)")
_PLACED = re.compile(r":(\d+):(\d+)")


class Part:
    """A journey in a file, or all that a file holds.

    Args:
        name: Of the file, for messages.
        tree: The whole file.
        base: Where in it this part begins.
    """

    def __init__(self, name: str, tree: Tree, base: Path = ()) -> None:
        self.name = name
        self.tree = tree
        self.base = base
        self.faults: list[str] = []
        self._things: dict[str, Path] = {}
        self._elsewhere: dict[tuple[str, str], Path] = {}

    def inner(self, *path: str | int) -> Part:
        """Return a part within this one; its faults are these."""
        part = Part(self.name, self.tree, (*self.base, *path))
        part.faults = self.faults
        return part

    def at(self, *path: str | int) -> Any:
        """Return what is written there, as plain data."""
        value = self.tree.value
        for step in self._whole(path):
            value = value[step]
        return value

    def has(self, *path: str | int) -> bool:
        """Say whether something is written there."""
        return self._whole(path) in self.tree.values

    def is_whole(self, form: BaseModel, *path: str | int) -> bool:
        """Say whether a form holds all that is written there; else a fault of it is told."""
        return len(form.model_fields_set) == len(self.at(*path))

    def where(self, what: str, *path: str | int) -> str:
        """Return how messages name a thing: `file:line:column what`."""
        whole = self._whole(path)
        where = f"{self._placed(self.tree.place(whole))} {what}"
        self._things[where] = whole
        return where

    def stands(self, where: str, words: str, *path: str | int) -> None:
        """Say where that of a thing is written which a fault begins with."""
        self._elsewhere[where, words] = self._whole(path)

    def note(self, said: str, *path: str | int) -> None:
        """Note a fault of what is written there."""
        whole = self._whole(path)
        place = self.tree.values.get(whole) or self.tree.place(whole)
        self.faults.append(f"{self._placed(place)}: {said}")

    def _whole(self, path: Path) -> Path:
        return self.tree.written((*self.base, *path))

    def note_plain(self, faults: Iterable[Fault]) -> None:
        """Note faults that have their place."""
        self.faults += [f"{self._placed(fault.place)}: {fault.said}" for fault in faults]

    def note_read(self, faults: Sequence[str]) -> None:
        """Note faults that the readers of classes found: in the words of files, at their keys."""
        self.faults += [self.told(fault) for fault in faults]

    def told(self, fault: str) -> str:
        """Return what a reader of classes says of a thing here as it is said of a file."""
        said = _SPOKEN.sub(lambda word: _in_files(word[0]), fault)
        where = said.partition(": ")[0]
        if where not in self._things:  # a name in it may hold ': '
            where = next((one for one in self._things if said.startswith(f"{one}: ")), "")
        if not where:
            return said
        rest = said[len(where) + 2 :]
        place = self._place_of(where, rest)
        what = where.partition(" ")[2]
        return f"{self._placed(place)} {what}: {rest}" if place else said

    def unknown(self, kind: str, name: str, known: Sequence[str], *path: str | int) -> None:
        """Note a name of something that is not there."""
        there = f" Its {kind}s: {', '.join(known)}." if known else f" It has no {kind}s."
        hint = did_you_mean(name, known)
        self.note(f"'{name}' is no {kind} of this file.{hint}{there}", *path)

    def _place_of(self, where: str, rest: str) -> Place | None:
        for (thing, words), path in self._elsewhere.items():
            if thing == where and rest.startswith(words):
                return self.tree.values.get(path)
        key = re.match(r"(\w*)(?:\[(\d+)\])?", rest)
        if key is None:
            return None
        path = (*self._things[where], key[1])
        within = (*path, int(key[2])) if key[2] else path
        return self.tree.values.get(within) or self.tree.values.get(path)

    def _placed(self, place: Place) -> str:
        return f"{self.name}:{place.line}:{place.column}"


def _in_files(word: str) -> str:
    return _ATTRIBUTES.get(word) or word.strip("_")


def in_order(faults: Iterable[str]) -> list[str]:
    """Return faults file by file, in the order of their places, each once."""

    def place(fault: str) -> tuple[str, int, int]:
        found = _PLACED.search(fault)
        line, column = (int(found[1]), int(found[2])) if found else (0, 0)
        return (fault[: found.start()] if found else ""), line, column

    return sorted(dict.fromkeys(faults), key=place)
