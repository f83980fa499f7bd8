"""The value that the whole of a text gives a field.

A text is one value of the field's type as a whole, or it is refused: nothing is left out, nothing
guessed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from contextlib import suppress
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from journeygraph.journeys.declarations.fields import Field, Regex
from journeygraph.journeys.errors import require_extra
from journeygraph.journeys.phrases import plain
from journeygraph.nodes.json_data import cleaned
from journeygraph.nodes.values import dates, numbers, people, times
from journeygraph.nodes.values.languages import bare, folded, one_of
from journeygraph.nodes.values.setting import LONGEST, Setting, Unreadable

MOST_ITEMS = 200
"""Most items of one list."""
_BETWEEN = re.compile(r"[\s_-]+")
_CODE = re.compile(r"(?<!\w)([^\W\d_]{1,4})[ .\-/]?(\d{2,})(?!\w)")
_BULLET = re.compile(r"^\s*(?:[-*\u2022]|\d{1,3}[.)])\s+", re.MULTILINE)


def value_of(field: Field, raw: str, setting: Setting, *, searched: bool = True) -> Any:
    """Return the value that the whole of a text gives a field, as plain JSON.

    Args:
        field: The field.
        raw: The text; blanks, quotes and punctuation around the value do not count.
        setting: The time, place and language of the message.
        searched: True if the field's own patterns look for the value inside the text too.

    Raises:
        Unreadable: With the name of the text that says why.
    """
    text = cleaned(raw).strip()
    if len(text) > LONGEST:
        raise Unreadable("too_many_characters", values={"most": LONGEST})
    value = own[0] if searched and (own := extracted(field, text, setting)) else None
    value = _read(field, text, setting) if value is None else value
    if value is None:
        values = {"choices": ", ".join(field.ways)} if field.type == "enum" else {}
        raise Unreadable(f"not_{field.type}", values=values)
    return value


def extracted(field: Field, text: str, setting: Setting) -> tuple[Any, int, int] | None:
    """Return the value that a field's own patterns find, and its place.

    It is their first group, or all of them; else a code that is written with another sign between
    its letters and digits.
    """
    own, name = setting.patterns, field.name
    for match in [own.search(name, pattern, text) for pattern in field.extract]:
        start, end = match.span(1 if match.re.groups else 0) if match else (-1, -1)
        value = _read(field, text[start:end].strip(), setting) if start >= 0 else None
        if value is not None:
            return value, start, end
    for code in _CODE.finditer(text) if field.extract else ():
        for said in [f"{code[1]}{sign}{code[2]}" for sign in ("-", "", " ", "/")]:
            if any(own.fullmatch(name, pattern, said) for pattern in field.extract):
                return _read(field, said, setting), *code.span()
    return None


def _read(field: Field, text: str, setting: Setting) -> Any:
    return READERS[field.type](field, text, setting)


def _text_of(field: Field, raw: str, setting: Setting) -> str | None:
    patterns = [one.pattern for one in field.validators if isinstance(one, Regex)]
    for said in (raw, bare(raw)) if patterns else ():
        if all(setting.patterns.fullmatch(field.name, one, said) for one in patterns):
            return said
    return raw or None


def _boolean_of(field: Field, raw: str, setting: Setting) -> bool | None:
    said, lists = folded(bare(raw).replace(",", " ")), setting.words.grammar
    return True if said in lists["yes"] else False if said in lists["no"] else None


def spelled(said: str) -> str:
    """Return a choice as it is compared: without case, marks and hyphens."""
    return _BETWEEN.sub(" ", plain(folded(said))).strip()


@lru_cache(maxsize=1_000)
def ways_of(
    declared: tuple[tuple[str, tuple[str, ...]], ...], endings: tuple[str, ...]
) -> dict[str, str]:
    """Return each way to say a choice, with the choice; what may mean two is omitted.

    Each has the endings that it may have in a sentence as well: "den offenen" for "offen".
    """
    meant: dict[str, set[str]] = {}
    for value, others in declared:
        for said in (value, *others):
            meant.setdefault(spelled(said), set()).add(value)
    forms: dict[str, set[str]] = {}
    for said, values in meant.items():
        for ending in endings:
            forms.setdefault(f"{said}{ending}", set()).update(values)
    ways = {**forms, **meant}
    return {said: value for said, (value, *more) in ways.items() if said and not more}


def _enum_of(field: Field, raw: str, setting: Setting) -> str | None:
    ways, said = ways_of(tuple(field.ways.items()), setting.words.inflections), spelled(bare(raw))
    said = said if said in ways else setting.words.without_article(said)
    return ways.get(spelled(raw)) or ways.get(said)


def _list_of(field: Field, raw: str, setting: Setting) -> list[Any] | None:
    one = field.model_copy(update={"type": field.items, "items": "text", "extract": ()})
    if folded(bare(raw)) in (*setting.words.numbers.none, setting.words.show.none):
        return []
    if one.type != "text" and (value := _read(one, raw, setting)) is not None:
        return [value]
    said, joint = _BULLET.sub("\n", raw), one_of(setting.words.grammar["and"])
    sign = ";" if ";" in said else r",(?!\d{3}\b)|\u3001"
    parts = re.split(rf"(?:{sign}|\n)\s*(?:{joint}\s+)?|\s+(?:{joint}|&)\s+", said, flags=re.I)
    values = [_read(one, item, setting) for part in parts if (item := part.strip(" ."))]
    return None if None in values or not 0 < len(values) <= MOST_ITEMS else values


READERS: dict[str, Callable[[Field, str, Setting], Any]]
"""Readers of the types; each gives None for a text that is not a value."""
READERS = {"text": _text_of, "boolean": _boolean_of, "enum": _enum_of, "list": _list_of}
READERS |= {"integer": numbers.integer_of, "number": numbers.number_of, "money": numbers.money_of}
READERS |= {"date": dates.date_of, "time": times.time_of, "datetime": times.datetime_of}
READERS |= {"name": people.name_of, "full_name": people.full_name_of, "email": people.email_of}
READERS |= {"phone": people.phone_of, "address": people.address_of}


def load(kinds: Iterable[str], language: str = "en") -> None:
    """Import the libraries and compile the patterns of some types, which takes up to 0.1 s.

    Raises:
        ConfigurationError: The extra `forms` is not installed.
    """
    require_extra("forms", "What a pathway collects", "text_to_num")
    now = Setting(datetime(2000, 1, 1, tzinfo=UTC), language=language)
    for kind in kinds:
        field = Field("x", kind, choices=["y"] if kind == "enum" else ())
        with suppress(Unreadable):
            value_of(field, "+1 415 555 2671", now)
