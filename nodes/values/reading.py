"""What was said, read as the value of a field; or why it is none."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from journeys.fields import Field
from nodes.plain import cleaned
from nodes.values.addresses import address_in
from nodes.values.booleans import scan_booleans
from nodes.values.choices import scan_choices
from nodes.values.contacts import scan_emails, scan_phones
from nodes.values.dates import scan_dates
from nodes.values.fillers import BESIDE
from nodes.values.lists import items_in
from nodes.values.misspelled import respelled
from nodes.values.moments import scan_datetimes
from nodes.values.money import scan_money
from nodes.values.names import name_in
from nodes.values.numbers import scan_integers, scan_numbers
from nodes.values.other_dates import date_elsewhere
from nodes.values.scanning import (
    LONGEST,
    Hit,
    Scanner,
    folded,
    only_value,
    rest_of,
    words_of_field,
)
from nodes.values.setting import Setting, Unreadable
from nodes.values.times import scan_times

SCANNERS: dict[str, Scanner] = {
    "integer": scan_integers,
    "number": scan_numbers,
    "boolean": scan_booleans,
    "date": scan_dates,
    "time": scan_times,
    "datetime": scan_datetimes,
    "money": scan_money,
    "email": scan_emails,
    "phone": scan_phones,
    "enum": scan_choices,
}
"""What finds the values of a type in a text; other types have no shape of their own."""
_PARTS = re.compile(
    r"\b(?:in the |this |am )?(?:morning|evening|afternoon|tonight|night|morgens|früh"
    r"|vormittags?|abends?|nachmittags?|nachts|mittags)\b"
    r"|(?:(?<=heute )|(?<=gestern )|(?<=tag )|(?<=am ))morgen\b",
    re.IGNORECASE,
)


def value_of(field: Field, raw: str, setting: Setting) -> Any:
    """Return the value that the whole of a text gives a field, as plain JSON.

    Filler may stand around it; a text about anything else gives none.

    Args:
        field: What was asked for.
        raw: What was said.
        setting: When and where.

    Raises:
        Unreadable: With the name of the text that says why.
    """
    text = cleaned(raw).strip()
    if len(text) > LONGEST:
        raise Unreadable("too_many_characters", values={"most": LONGEST})
    for said in extracted(field, text, setting):
        value = _read(field, said, setting)
        if value is not None:
            return value
    value = _read(field, text, setting) if text else None
    if value is None:
        raise refused(field)
    return value


def refused(field: Field) -> Unreadable:
    """Return why a text is no value of a field."""
    values = {"choices": ", ".join(field.ways)} if field.type == "enum" else {}
    return Unreadable(f"not_{field.type}", values=values)


def extracted(field: Field, text: str, setting: Setting) -> list[str]:
    """Return what a field's own patterns find: the first group, or all of it."""
    places = extracts_in(field, text, setting)
    return [text[start:end] for start, end in places if text[start:end].strip()]


def extracts_in(field: Field, text: str, setting: Setting) -> list[tuple[int, int]]:
    """Return where a field's own patterns find it."""
    found = (setting.patterns.search(field.name, pattern, text) for pattern in field.extract)
    places = [match.span(1) if match.re.groups else match.span() for match in found if match]
    return [place for place in places if place[0] >= 0]


def _read(field: Field, text: str, setting: Setting) -> Any:
    """Return the value of a text; None if it is none."""
    if field.type == "text":
        return text
    if field.type == "name":
        return name_in(text) or None
    if field.type == "address":
        return address_in(text) or None
    if field.type == "list":
        return _list(field, text, setting)
    return scanned(field, folded(text), setting)


def _list(field: Field, text: str, setting: Setting) -> list[Any] | None:
    one = replace(field, type=field.items, items="text", extract=(), choices=field.choices)
    return items_in(one, text, setting, SCANNERS.get(one.type), _read)


def scanned(field: Field, text: str, setting: Setting) -> Any:
    """Return the one value of a type with a shape that a text is about; None if there is none."""
    hits = SCANNERS[field.type](text, field, setting)
    more = BESIDE[field.type] | words_of_field(field)
    hit = only_value(text, hits, more)
    if hit is None and hits and field.type in ("date", "time", "datetime"):
        hit = only_value(_without_hours(field, text, hits, setting), hits, more)
    if hit is not None:
        return hit.value
    if field.type == "date" and len({hit.value for hit in hits}) < 2:
        corrected = respelled(text)
        if corrected != text and not hits:
            return scanned(field, corrected, setting)
        return date_elsewhere(text, field, setting)
    return None


def _without_hours(field: Field, text: str, hits: list[Hit], setting: Setting) -> str:
    """Blank the part of the day, and for a date the time too, around what was found."""
    blanks = [found.span() for found in _PARTS.finditer(text)]
    if field.type == "date":
        times = scan_times(rest_of(text, []), field, setting)
        blanks += [(hit.start, hit.end) for hit in times if not hit.weak]
    for start, end in blanks:
        if not any(start < hit.end and hit.start < end for hit in hits):
            text = text[:start] + " " * (end - start) + text[end:]
    return text
