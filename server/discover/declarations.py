"""File and line of the parts of a journey, as an author declared them."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Any

from journeygraph.journeys import Journey, JourneySpec, PathwaySpec, TransitionSpec
from journeygraph.journeys.files.documents import Tree
from journeygraph.journeys.files.journey_file import read_tree
from journeygraph.journeys.files.loading import text_of
from journeygraph.journeys.spec.spec import ACTIVATION
from journeygraph.server.discover.modules import file_of, parsed, shown

_IN_FILE = re.compile(r"(.+?\.(?:ya?ml|json)):(\d+):\d+")
_ITEM = re.compile(r"(__\w+__)\[(\d+)\]")


class Declarations:
    """Places of the parts of a journey: `file:line`.

    A part that is made by code, and not written out, has the place of what holds it.
    """

    def __init__(self, journey: type[Journey]) -> None:
        self._journey = journey
        self._owners = {one.__name__: one for one in _with_parts(journey)}
        sources = (getattr(one, "source", None) for one in _with_parts(journey))
        self._folder = next((file.parent for file in sources if file), None)
        self._trees: dict[Path, Tree] = {}
        self._bodies: dict[Path, list[ast.stmt]] = {}

    def of_pathway(self, pathway: PathwaySpec) -> str:
        """Return the place of a pathway."""
        return self.of_text(pathway.where)

    def of_text(self, where: str) -> str:
        """Return the place of a part that messages name: in a file, or by class and attribute."""
        if self._folder and (written := _IN_FILE.match(where)):
            return f"{shown(self._folder / written[1])}:{written[2]}"
        found = self._class_of(where)
        if found is None:
            return file_of(self._journey)
        file, body = found
        item = _ITEM.search(where)
        line = _line_of_item(body, item[1], int(item[2])) if item else None
        return f"{shown(file)}:{line or body.lineno}"

    def of_transition(self, spec: JourneySpec, transition: TransitionSpec) -> str:
        """Return the place of a transition; that of an activation is in the file of its journey."""
        item = _ITEM.search(transition.where)
        started = spec.pathways[transition.target]
        written = _IN_FILE.match(started.where)
        if not self._folder or not item or not written or transition.kind != ACTIVATION:
            return self.of_text(transition.where)
        file = self._folder / written[1]
        tree, last = self._tree(file), ("activation_conditions", int(item[2]))
        lines = [tree.place(path).line for path in tree.values if path[-2:] == last]
        return f"{shown(file)}:{lines[0] if lines else written[2]}"

    def of_field(self, pathway: PathwaySpec, name: str) -> str:
        """Return the place of a field."""
        return self._inside(pathway, name, "Field", "fields", "name")

    def of_effect(self, pathway: PathwaySpec, tool: str) -> str:
        """Return the place of an effect."""
        return self._inside(pathway, tool, "Effect", "effects", "tool")

    def _inside(self, pathway: PathwaySpec, name: str, call: str, key: str, named: str) -> str:
        written = _IN_FILE.match(pathway.where)
        if self._folder and written:
            return self._in_tree(self._folder / written[1], int(written[2]), name, key, named)
        found = self._class_of(pathway.where)
        bodies: list[tuple[Path, list[ast.stmt]]] = [(found[0], [found[1]])] if found else []
        for file, statements in [*bodies, *self._package]:
            lines = (_line_of_call(statement, call, name) for statement in statements)
            if line := next(filter(None, lines), None):
                return f"{shown(file)}:{line}"
        return self.of_pathway(pathway)

    def _in_tree(self, file: Path, begin: int, name: str, key: str, named: str) -> str:
        tree = self._tree(file)
        lines = [tree.place(path).line for path in _named_in(tree.value, (), name, key, named)]
        after = [line for line in lines if line >= begin]
        return f"{shown(file)}:{min(after, default=begin)}"

    def _tree(self, file: Path) -> Tree:
        if file not in self._trees:
            self._trees[file] = read_tree(text_of(file), file.name)
        return self._trees[file]

    def _class_of(self, where: str) -> tuple[Path, ast.ClassDef] | None:
        """Return the class that a text like `Booking.DoorPath.__fields__[0]` is about."""
        owner, *inner = [name for name in re.split(r"[.:\[ ]", where) if name.isidentifier()]
        journey = self._owners.get(owner)
        file = self._file(sys.modules.get(journey.__module__)) if journey else None
        if journey is None or file is None:
            return None
        if file not in self._bodies:
            self._bodies[file] = parsed(file)
        return _class_in(file, self._bodies[file], [*journey.__qualname__.split("."), *inner])

    def _file(self, module: ModuleType | None) -> Path | None:
        file = getattr(module, "__file__", None)
        return Path(file) if file else None

    @cached_property
    def _package(self) -> list[tuple[Path, list[ast.stmt]]]:
        own = self._journey.__module__
        package = own.rpartition(".")[0]
        names = [own, *(n for n in sorted(sys.modules) if package and n.startswith(f"{package}."))]
        files = dict.fromkeys(self._file(sys.modules.get(name)) for name in names)
        return [(file, parsed(file)) for file in files if file and file.suffix == ".py"]


def _with_parts(journey: type[Journey]) -> Iterator[type[Journey]]:
    for one in journey.__mro__:
        if issubclass(one, Journey) and one is not Journey:
            yield one
    for part in getattr(journey, "__journeys__", ()):
        if isinstance(part, type):
            yield from _with_parts(part)


def _class_in(
    file: Path, body: list[ast.stmt], names: list[str]
) -> tuple[Path, ast.ClassDef] | None:
    found = None
    for name in names:
        classes = (node for node in body if isinstance(node, ast.ClassDef))
        inner = next((node for node in classes if node.name == name), None)
        if inner is None:
            break
        found, body = inner, inner.body
    return (file, found) if found else None


def _line_of_item(body: ast.ClassDef, attribute: str, number: int) -> int | None:
    for node in body.body:
        target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
        if isinstance(target, ast.Name) and target.id == attribute:
            items = getattr(node.value, "elts", [])  # type: ignore[attr-defined]
            return items[number].lineno if number < len(items) else node.lineno
    return None


def _line_of_call(node: ast.AST, call: str, name: str) -> int | None:
    for inner in ast.walk(node):
        if isinstance(inner, ast.Call) and _called(inner) == call and name in _names(inner):
            return inner.lineno
    return None


def _called(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def _names(call: ast.Call) -> Iterator[str]:
    first = [*call.args[:1], *(k.value for k in call.keywords if k.arg in ("name", "tool"))]
    for node in first:
        if isinstance(node, ast.Constant):
            yield str(node.value)
        elif isinstance(node, ast.Name):
            yield node.id


def _named_in(value: Any, path: tuple[Any, ...], name: str, key: str, named: str) -> Iterator[Any]:
    if isinstance(value, dict):
        for step, item in value.items():
            yield from _named_in(item, (*path, step), name, key, named)
    elif isinstance(value, list):
        for number, item in enumerate(value):
            inner = (*path, number)
            is_it = item == name or (isinstance(item, dict) and item.get(named) == name)
            if is_it and key in path:
                yield inner
            yield from _named_in(item, inner, name, key, named)
