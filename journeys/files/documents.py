"""Read YAML and JSON text as plain data, with the place of each part. JSON is read as YAML."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from journeygraph.journeys.definitions.sources import paths_in
from journeygraph.journeys.errors import require_extra
from journeygraph.journeys.faults import Path, TextPosition

MOST_DEPTH = 20
"""Deepest nesting of mappings and lists."""


@dataclass(frozen=True, slots=True)
class TextFault:
    """Fault of the text itself, with its place."""

    place: TextPosition
    message: str
    remedy: str = ""


class _UnreadableError(Exception):
    """The text cannot be read."""

    def __init__(self, place: TextPosition, message: str, remedy: str = "") -> None:
        super().__init__(message)
        self.fault = TextFault(place, message, remedy)


@dataclass
class Tree:
    """A text as plain JSON data, with places.

    Attributes:
        value: The data; None for an empty text.
        values: Path -> where the value begins.
        keys: Path -> place of the key of a mapping.
        raw: Path -> how a scalar that is no text was written.
        faults: Faults of the text itself, such as a key that is given twice.
        gone: Identities of the mappings that are not judged, as too little of them is right.
    """

    value: Any = None
    values: dict[Path, TextPosition] = field(default_factory=dict)
    keys: dict[Path, TextPosition] = field(default_factory=dict)
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
        return paths_in(self.value)

    def place(self, path: Path) -> TextPosition:
        """Return where something stands: its key, else the value, else what holds it."""
        while path:
            if found := self.keys.get(path) or self.values.get(path):
                return found
            path = path[:-1]
        return self.values.get((), TextPosition(1, 1))


def tree_of(text: str) -> Tree:
    """Return a text as a tree; a text that cannot be read has the reason as its fault."""
    tree = Tree()
    try:
        _Builder(tree).read(text)
    except _UnreadableError as error:
        tree.faults.append(error.fault)
        tree.broken = True
    return tree


def plain_value(raw: str) -> Any:
    """Return the value that a word without quotes has in a file: `no` is text, `010` is ten.

    Raises:
        ValueError: It is no JSON value.
    """
    from ruamel.yaml import YAML  # noqa: PLC0415 - takes long to import
    from ruamel.yaml.nodes import ScalarNode  # noqa: PLC0415

    yaml = YAML(typ="safe", pure=True)
    tag = yaml.resolver.resolve(ScalarNode, raw, (True, False))
    return _value_of(yaml, ScalarNode(tag, raw))


_UNFIT = re.compile("[\x00\ud800-\udfff]")
_PREFIX = "tag:yaml.org,2002:"
_TEXTS = tuple(f"{_PREFIX}{name}" for name in ("str", "timestamp", "value"))
_OTHERS = tuple(f"{_PREFIX}{name}" for name in ("null", "bool", "int", "float", "map", "seq"))


def _value_of(yaml: Any, node: Any) -> Any:
    if node.tag in _TEXTS:
        # JSON writes a character outside of the first plane as two halves.
        return node.value.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
    value = yaml.constructor.construct_object(node)
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"JSON has no number {node.value}.")
    return value


class _Builder:
    """Turns the nodes of ruamel into plain data; it notes places and faults."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._seen: set[int] = set()

    def read(self, text: str) -> None:
        self._yaml, root = _composed(text)
        if root is not None:
            self._tree.value = self._value(root, ())

    def _value(self, node: Any, path: Path) -> Any:
        self._tree.values[path] = _place(node.start_mark)
        if id(node) in self._seen:  # an alias, of which the anchor is a fault
            return None
        self._seen.add(id(node))
        if not self._is_supported(node):
            return None
        if node.id == "mapping":
            return self._mapping(node, path)
        if node.id == "sequence":
            return [self._value(item, (*path, number)) for number, item in enumerate(node.value)]
        return self._scalar(node, path)

    def _is_supported(self, node: Any) -> bool:
        is_known = node.tag in (*_TEXTS, *_OTHERS)
        if not is_known:
            tag = str(node.tag).replace(_PREFIX, "!!")
            remedy = "Write plain text, numbers, lists and mappings."
            self._note(node, f"the tag '{tag}' is not supported.", remedy)
        elif node.anchor is not None:
            remedy = "Remove it, and write the value itself where it is used."
            self._note(node, f"the anchor '&{node.anchor}' is not supported.", remedy)
        return is_known

    def _mapping(self, node: Any, path: Path) -> dict[str, Any]:
        made: dict[str, Any] = {}
        for key, item in node.value:
            name = self._key(key, path)
            if name is not None:
                made[name] = self._value(item, (*path, name))
        return made

    def _key(self, key: Any, path: Path) -> str | None:
        if key.tag not in _TEXTS or not isinstance(key.value, str):
            written = key.value if isinstance(key.value, str) else ""
            remedy = f'Quote it: "{written}".' if written else "Write text before the colon."
            self._note(key, "a key must be text.", remedy)
            return None
        name = str(self._scalar(key, ()))
        if first := self._tree.keys.get((*path, name)):
            message = f"duplicate key '{name}', first used in line {first.line}."
            self._note(key, message, "Remove one of them.")
            return None
        self._tree.keys[(*path, name)] = _place(key.start_mark)
        return name

    def _scalar(self, node: Any, path: Path) -> Any:
        try:
            value = _value_of(self._yaml, node)
        except (ValueError, LookupError, TypeError) as error:
            self._note(node, str(error), "If it is text, quote it.")
            return None
        if not isinstance(value, str):
            self._tree.raw[path] = node.value
            if not node.value and path in self._tree.keys:  # nothing is written there
                self._tree.values[path] = self._tree.keys[path]
        elif _UNFIT.search(value):
            self._note(node, "the text contains NUL or half of a character.", "Remove it.")
        return value

    def _note(self, node: Any, message: str, remedy: str) -> None:
        self._tree.faults.append(TextFault(_place(node.start_mark), message, remedy))


_WAY_OUT = "Check indentation, quotes and brackets; quote text with ': ' or a special character."


def _composed(text: str) -> tuple[Any, Any]:
    """Return ruamel's reader and the root of a text; all errors become one kind."""
    require_extra("files", "A journey in a file", "ruamel.yaml")
    from ruamel.yaml import YAML  # noqa: PLC0415 - takes long to import
    from ruamel.yaml.error import MarkedYAMLError, YAMLError  # noqa: PLC0415
    from ruamel.yaml.reader import ReaderError  # noqa: PLC0415

    yaml = YAML(typ="safe", pure=True)
    yaml.max_depth = MOST_DEPTH
    yaml.composer.warn_double_anchors = False
    try:
        return yaml, yaml.compose(text)
    except MarkedYAMLError as error:
        raise _syntax_error(error) from None
    except ReaderError as error:
        before = text[: error.position]
        place = TextPosition(before.count("\n") + 1, len(before) - before.rfind("\n"))
        message = f"YAML does not allow the character U+{error.character:04X}."
        raise _UnreadableError(place, message, "Remove it.") from None
    except (YAMLError, ValueError, AssertionError, LookupError, TypeError, AttributeError) as error:
        # For some texts the scanner raises errors of other kinds.
        message = f"YAML syntax error: {_one_line(str(error)) or 'it cannot be parsed'}."
        raise _UnreadableError(TextPosition(1, 1), message, _WAY_OUT) from None


def _syntax_error(error: Any) -> _UnreadableError:
    mark = error.problem_mark or error.context_mark
    place = _place(mark) if mark else TextPosition(1, 1)
    if type(error).__name__ == "MaxDepthExceededError":
        message = f"the file has more than {MOST_DEPTH} levels of nesting."
        return _UnreadableError(place, message, "Remove levels.")
    words = " ".join(str(part) for part in (error.context, error.problem) if part)
    message = f"YAML syntax error here: {_one_line(words).rstrip('.')}."
    return _UnreadableError(place, message, _WAY_OUT)


def _one_line(text: str) -> str:
    return " ".join(text.split())[:200]


def _place(mark: Any) -> TextPosition:
    return TextPosition(mark.line + 1, mark.column + 1)
