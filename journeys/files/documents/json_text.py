"""JSON text as events with places. YAML takes most of JSON, but not its tabs and surrogates."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from json.decoder import scanstring  # type: ignore[attr-defined]
from typing import Any

from journeys.faults import Place
from journeys.files.documents.places import Event, UnreadableError
from journeys.files.documents.scalars import decimal, text_fault

_SPACE = re.compile(r"[ \t\n\r]*")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")
_WORDS = {"true": True, "false": False, "null": None}


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
        return Event("scalar", place, value, fault=text_fault(value))

    def _other(self, place: Place) -> Event:
        for word, value in _WORDS.items():
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
