"""Read YAML and JSON text as plain data, with the place of each part."""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from json.decoder import scanstring  # type: ignore[attr-defined]
from typing import Any

from journeygraph.journeys.faults import Path, Place

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
    """The rest of the text cannot be read."""

    def __init__(self, place: Place, message: str, remedy: str = "") -> None:
        super().__init__(message)
        self.fault = TextFault(place, message, remedy)


@dataclass(frozen=True, slots=True)
class Event:
    """A step through a text: "mapping" or "list" opens one, "end" closes it, "scalar" is a value.

    Attributes:
        raw: A scalar as it was written, where it was not quoted.
        fault: Reason why it is not valid here; its value is dropped.
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
        keys: Path -> place of the key of a mapping.
        raw: Path -> how a scalar that is no text was written.
        faults: Faults of the text itself, such as a key that is given twice.
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


_LONGEST_NUMBER = 40
_WORDS = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_WHOLE = re.compile(r"[-+]?[0-9]+")
_BASED = re.compile(r"0o[0-7]+|0x[0-9a-fA-F]+")
_FRACTION = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_NO_NUMBER = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")
_UNFIT = re.compile("[\x00\ud800-\udfff]")


def plain_value(raw: str) -> tuple[Any, Wrong | None]:
    """Return the value of a word without quotes, and what is wrong with it.

    Source: YAML 1.2.2, section 10.3.2. `no`, `12:30` and `2026-01-01` are text there, and `010`
    is ten.
    """
    if raw in _WORDS:
        return _WORDS[raw], None
    if _WHOLE.fullmatch(raw):
        return decimal(raw, whole=True)
    if _BASED.fullmatch(raw):
        return (None, _LONG) if len(raw) > _LONGEST_NUMBER else (int(raw, 0), None)
    if _FRACTION.fullmatch(raw):
        return decimal(raw, whole=False)
    if _NO_NUMBER.fullmatch(raw):
        return None, (f"JSON has no number {raw}.", _QUOTE)
    return raw, _text_fault(raw)


_QUOTE = "If it is text, quote it."
_LONG = (f"a number can have at most {_LONGEST_NUMBER} digits.", _QUOTE)


def decimal(raw: str, *, whole: bool) -> tuple[Any, Wrong | None]:
    """Return a decimal number, and what is wrong with it."""
    if len(raw) > _LONGEST_NUMBER:
        return None, _LONG
    if whole:
        return int(raw), None
    number = float(raw)
    return (number, None) if math.isfinite(number) else (None, (f"{raw} is too large.", _QUOTE))


def _text_fault(text: str) -> Wrong | None:
    """Return what is wrong with a text that no store can keep."""
    if _UNFIT.search(text):
        return "the text contains NUL or half of a character.", "Remove it."
    return None


_SPACE = re.compile(r"[ \t\n\r]*")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")
_JSON_WORDS = {"true": True, "false": False, "null": None}


def json_events(text: str) -> Iterator[Event]:
    """Yield the events of a JSON text.

    Raises:
        UnreadableError: The text is not valid JSON.
    """
    return _Reader(text).events()


class _Reader:
    """Reads a value at a time; the consumer of the events refuses nesting that is too deep."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._lines = [0, *(match.end() for match in re.finditer("\n", text))]

    def events(self) -> Iterator[Event]:
        self._skip()
        if not self._peek():
            return
        yield from self._value()
        self._skip()
        if self._peek():
            raise self._wrong("there is text after the end", "Write one value in a file.")

    def _value(self) -> Iterator[Event]:
        self._skip()
        place, char = self._place(), self._peek()
        if char == "{":
            yield Event("mapping", place)
            yield from self._items("}", self._member)
            yield Event("end", place)
        elif char == "[":
            yield Event("list", place)
            yield from self._items("]", self._value)
            yield Event("end", place)
        elif char == '"':
            yield self._string()
        else:
            yield self._other(place)

    def _items(self, closing: str, item: Any) -> Iterator[Event]:
        self._at += 1
        self._skip()
        if self._peek() == closing:
            self._at += 1
            return
        while True:
            yield from item()
            self._skip()
            if self._peek() == closing:
                self._at += 1
                return
            self._expect(",", f"',' or '{closing}' is missing")

    def _member(self) -> Iterator[Event]:
        self._skip()
        if self._peek() != '"':
            raise self._wrong("a key in double quotes is missing")
        yield self._string()
        self._skip()
        self._expect(":", "':' is missing after the key")
        yield from self._value()

    def _string(self) -> Event:
        place = self._place()
        try:
            value, self._at = scanstring(self._text, self._at + 1, True)
        except ValueError as error:
            self._at = getattr(error, "pos", self._at)
            raise self._wrong(str(getattr(error, "msg", error)).removesuffix(" at")) from None
        return Event("scalar", place, value, fault=_text_fault(value))

    def _other(self, place: Place) -> Event:
        for word, value in _JSON_WORDS.items():
            if self._text.startswith(word, self._at):
                self._at += len(word)
                return Event("scalar", place, value, word)
        number = _NUMBER.match(self._text, self._at)
        if number is None:
            raise self._wrong("a value is missing")
        self._at = number.end()
        value, fault = decimal(number[0], whole=not (number[1] or number[2]))
        return Event("scalar", place, value, number[0], fault)

    def _skip(self) -> None:
        space = _SPACE.match(self._text, self._at)
        self._at = space.end() if space else self._at

    def _peek(self) -> str:
        return self._text[self._at : self._at + 1]

    def _expect(self, char: str, said: str) -> None:
        if self._peek() != char:
            raise self._wrong(said)
        self._at += 1

    def _place(self) -> Place:
        line = bisect_right(self._lines, self._at)
        return Place(line, self._at - self._lines[line - 1] + 1)

    def _wrong(self, said: str, remedy: str = "") -> UnreadableError:
        return UnreadableError(self._place(), f"JSON syntax error here: {said}.", remedy)


_OUTER = ("StreamStartEvent", "StreamEndEvent", "DocumentEndEvent")
_OPENING = {"MappingStartEvent": "mapping", "SequenceStartEvent": "list"}
_CLOSING = ("MappingEndEvent", "SequenceEndEvent")
_OPENED = {
    **dict.fromkeys("[{", "Close the bracket, or quote text that contains one."),
    **dict.fromkeys("'\"", "Close the quotes."),
}
"""Way out, by the character where the part with an error begins."""
_FOUND = {
    **dict.fromkeys("@`%|>&*!", "Quote text that begins with a special character."),
    ":": "Quote text that contains ': ', and check the indentation.",
    "\t": "Indent with spaces, not with tabs.",
}
"""Way out, by the character where the error is."""


def yaml_events(text: str) -> Iterator[Event]:
    """Yield the events of a YAML text.

    Raises:
        UnreadableError: The text is not valid YAML, or has a second document.
    """
    documents = 0
    for event in _parsed(text):
        kind = type(event).__name__
        if kind == "DocumentStartEvent":
            documents += 1
            _refuse_document(event, documents)
        elif kind == "CommentEvent" or kind in _OUTER:
            continue
        elif kind in _CLOSING:
            yield Event("end", _place(event.start_mark))
        elif kind in _OPENING:
            yield Event(_OPENING[kind], _place(event.start_mark), fault=_marks_fault(event))
        else:
            yield _scalar(event, kind)


def _refuse_document(event: Any, number: int) -> None:
    if number > 1:
        message = "a second document begins here, and a file holds one."
        raise UnreadableError(_place(event.start_mark), message, "Remove the '---'.")
    if event.version or event.tags:
        message = "directives such as %YAML are not supported."
        raise UnreadableError(_place(event.start_mark), message, "Remove them.")


def _scalar(event: Any, kind: str) -> Event:
    place = _place(event.start_mark)
    if kind == "AliasEvent":
        message = f"the alias '*{event.anchor}' is not supported."
        return Event("scalar", place, fault=(message, "Write the value itself."))
    fault = _marks_fault(event)
    if event.style in ("'", '"', "|", ">"):
        return Event("scalar", place, event.value, fault=fault or _text_fault(event.value))
    if event.value == "<<":
        unmerged = ("merge keys are not supported.", "Write the keys themselves.")
        return Event("scalar", place, event.value, fault=fault or unmerged)
    value, wrong = plain_value(event.value)
    raw = None if isinstance(value, str) else event.value
    return Event("scalar", place, value, raw, fault or wrong)


def _marks_fault(event: Any) -> Wrong | None:
    """Return the fault of a node with a tag or an anchor."""
    if event.tag is not None and str(event.tag) != "None":
        tag = str(event.tag).replace("tag:yaml.org,2002:", "!!")
        remedy = "Write plain text, numbers, lists and mappings."
        return f"the tag '{tag}' is not supported.", remedy
    if event.anchor is not None:
        return f"the anchor '&{event.anchor}' is not supported.", "Remove it."
    return None


def _parsed(text: str) -> Iterator[Any]:
    """Yield the events of ruamel; all of its errors become one kind."""
    from ruamel.yaml import YAML  # noqa: PLC0415 - takes long to import
    from ruamel.yaml.error import MarkedYAMLError, YAMLError  # noqa: PLC0415
    from ruamel.yaml.reader import ReaderError  # noqa: PLC0415

    try:
        yield from YAML(typ="safe", pure=True).parse(text)
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = _place(mark) if mark else Place(1, 1)
        words = " ".join(str(part) for part in (error.context, error.problem) if part)
        message = f"YAML syntax error here: {_one_line(words).rstrip('.')}."
        raise UnreadableError(place, message, _remedy(text, error)) from None
    except ReaderError as error:
        before = text[: error.position]
        place = Place(before.count("\n") + 1, len(before) - before.rfind("\n"))
        message = f"YAML does not allow the character U+{error.character:04X}."
        raise UnreadableError(place, message, "Remove it.") from None
    except (YAMLError, ValueError, AssertionError, LookupError, TypeError, AttributeError) as error:
        # For some texts the scanner raises errors of other kinds.
        said = _one_line(str(error)) or "it cannot be parsed"
        raise UnreadableError(Place(1, 1), f"YAML syntax error: {said}.") from None


def _remedy(text: str, error: Any) -> str:
    """Return the way out, by the characters where the error is and where its context begins."""
    opened, found = (
        text[mark.index : mark.index + 1] if mark else ""
        for mark in (error.context_mark, error.problem_mark)
    )
    known = _OPENED.get(opened) or _FOUND.get(found)
    return known or "Write 'key: value', and check the indentation."


def _one_line(text: str) -> str:
    return " ".join(text.split())[:200]


def _place(mark: Any) -> Place:
    return Place(mark.line + 1, mark.column + 1)
