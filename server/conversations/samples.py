"""Samples for a search and for simulated users: values of fields, and results of effects."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from re import _constants as codes
from re import _parser as parser
from typing import Any

from journeygraph.journeys import Field, JourneySpec, Length, Range, Regex
from journeygraph.server.conversations.conversation_form import Stub

_BY_TYPE: dict[str, Sequence[str]] = {
    "text": ("a quiet room",),
    "integer": ("2", "5"),
    "number": ("2", "2.5"),
    "boolean": ("yes", "no"),
    "date": ("tomorrow", "in 3 days", "yesterday"),
    "time": ("19:00", "10:00"),
    "datetime": ("tomorrow at 19:00", "tomorrow at 10:00"),
    "money": ("20 {currency}", "500 {currency}"),
    "email": ("ana@example.com",),
    "phone": ("+1 212 555 0147",),
    "name": ("Ana Torres",),
    "full_name": ("Ana Torres",),
    "address": ("5 Elm Street, 10001 New York",),
    "list": ("one and two",),
}
WRONG = "xyzzy"
"""A message that is no value of most types."""
_WITH_DIGITS = re.compile(r"\b[\w-]*\d[\w-]*\b")
_LONGEST = 60
_PLACEHOLDER = re.compile(r"\{(\w+)\}")


def samples_of(field: Field) -> list[str]:
    """Return messages that may give a field its value, the likeliest first."""
    made = [*_bounds(field), *_patterns(field), *_hints(field), *_typed(field)]
    return list(dict.fromkeys(text for text in made if 0 < len(text) <= _LONGEST))


def results_of_effects(spec: JourneySpec) -> dict[str, Stub]:
    """Return made-up results of the effects, with the names that are shown to the user."""
    effects = [effect for pathway in spec.pathways.values() for effect in pathway.effects]
    return {
        one.tool: Stub(gives=dict.fromkeys(_PLACEHOLDER.findall(one.done), "1") or "done")
        for one in effects
    }


def _typed(field: Field) -> Iterator[str]:
    if field.type == "enum" and not callable(field.choices):
        yield from list(field.choices)[:3]
    kind = field.items if field.type == "list" and field.items else field.type
    currency = getattr(field, "currency", "") or "USD"
    for text in _BY_TYPE.get(kind or "", ()):
        yield text.format(currency=currency)


def _bounds(field: Field) -> Iterator[str]:
    currency = f" {field.currency}" if field.type == "money" and field.currency else ""
    for one in field.validators:
        if isinstance(one, Range):
            for bound in (one.least, one.most):
                if bound is not None and bound not in ("today", "now"):
                    yield f"{bound:g}{currency}" if isinstance(bound, (int, float)) else str(bound)
        elif isinstance(one, Length) and field.type == "text":
            yield "a" * max(one.least, 1)


def _patterns(field: Field) -> Iterator[str]:
    written = [one.pattern for one in field.validators if isinstance(one, Regex)]
    for pattern in [*written, *(field.extract or ())]:
        yield text_for(str(getattr(pattern, "pattern", pattern)))


def _hints(field: Field) -> Iterator[str]:
    if isinstance(field.ask, str):
        yield from _WITH_DIGITS.findall(field.ask)


def text_for(pattern: str) -> str:
    """Return a text that a regular expression matches; empty if it is too special for that."""
    try:
        return "".join(_written(parser.parse(pattern)))
    except (re.error, KeyError, ValueError, RecursionError):
        return ""


def _written(parsed: Any) -> Iterator[str]:
    for code, given in parsed:
        yield _PARTS[code](given)


def _repeated(given: Any) -> str:
    least, most, inner = given
    times = max(int(least), min(1, int(most)))
    return "".join(_written(inner)) * times


_CATEGORIES: dict[Any, str] = {
    codes.CATEGORY_DIGIT: "1",
    codes.CATEGORY_WORD: "a",
    codes.CATEGORY_SPACE: " ",
    codes.CATEGORY_NOT_SPACE: "a",
    codes.CATEGORY_NOT_DIGIT: "a",
    codes.CATEGORY_NOT_WORD: " ",
}


def _one_of(given: Sequence[Any]) -> str:
    code, value = given[0]
    if code is codes.NEGATE:
        return "x"
    if code is codes.RANGE:
        return chr(int(value[0]))
    if code is codes.CATEGORY:
        return _CATEGORIES.get(value, "x")
    return chr(int(value))


_PARTS: dict[Any, Callable[[Any], str]] = {
    codes.LITERAL: chr,
    codes.IN: _one_of,
    codes.MAX_REPEAT: _repeated,
    codes.MIN_REPEAT: _repeated,
    codes.SUBPATTERN: lambda given: "".join(_written(given[-1])),
    codes.BRANCH: lambda given: "".join(_written(given[1][0])),
    codes.ANY: lambda _: "x",
    codes.NOT_LITERAL: lambda _: "x",
    codes.AT: lambda _: "",
}
"""Parts of a regular expression -> a text for them; others are too special."""
