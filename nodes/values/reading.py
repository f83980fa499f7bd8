"""Values of fields in a text: one scan, of which a whole answer or a part of a message is seen."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from journeys.notions.fields import FIELD_TYPES, Field
from nodes.json_data import cleaned
from nodes.values.checking import DATED, kind_of
from nodes.values.choices import scan_booleans, scan_choices
from nodes.values.dates import (
    any_digit,
    date_elsewhere,
    load_dates,
    parts_of_day,
    respelled,
    scan_dates,
    scan_datetimes,
    scan_times,
)
from nodes.values.numbers import scan_integers, scan_money, scan_numbers
from nodes.values.people import (
    address_in,
    full_name_in,
    name_in,
    scan_addresses,
    scan_emails,
    scan_names,
    scan_phones,
)
from nodes.values.scanning import (
    LONGEST,
    Hit,
    Scanner,
    Setting,
    Unreadable,
    beside,
    folded,
    grammar,
    is_filler,
    only_value,
    rest_of,
    settled,
    vocabulary,
    words_in,
    words_of_field,
)

MOST_ITEMS = 200
"""Most items of one list."""
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
"""Finders of the types whose values have a recognisable shape."""
_BRING_IN: dict[str, Scanner] = {
    "name": scan_names,
    "full_name": scan_names,
    "address": scan_addresses,
}
"""Finders of values without a shape, by the words before them."""
_READ_AS_WHOLE: dict[str, Callable[[str, Setting], Any]] = {
    "name": name_in,
    "full_name": full_name_in,
    "address": address_in,
}
"""Readers of a whole text as a value."""
_PLAIN = ("integer", "number", "money")
_SIGNS_OF = {"date": "", "time": "", "phone": r"\+|00", "email": "@"}
_OTHERS = [(Field("other", kind), re.compile(signs)) for kind, signs in _SIGNS_OF.items()]
"""Types that can contain numbers, with the signs that they need."""
_CODE = re.compile(r"(?<!\w)([^\W\d_]{1,4})[ .\-/]?(\d{2,})(?!\w)")


@dataclass(frozen=True, slots=True)
class Span:
    """A value inside a message.

    Attributes:
        value: As it would be kept.
        raw: The words that give it.
        start: Where they begin.
        end: Where they end.
        certain: True if they can be nothing else, such as an e-mail address.
        type: Type of the field that it was looked for.
        own: True if a pattern of the field's author found it: it needs no words around it.
    """

    value: Any
    raw: str
    start: int
    end: int
    certain: bool
    type: str = ""
    own: bool = False


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
    own = _extracted(field, text, setting) if field.extract else None
    value = own.value if own else _read(field, text, setting) if text else None
    if value is None:
        values = {"choices": ", ".join(field.ways)} if field.type == "enum" else {}
        raise Unreadable(f"not_{field.type}", values=values)
    return value


def _extracted(field: Field, text: str, setting: Setting) -> Span | None:
    """Return the value that a field's own patterns find: their first group, or all of them.

    Else it may be a code that is written with another sign between its letters and digits.
    """
    places = []
    for pattern in field.extract:
        match = setting.patterns.search(field.name, pattern, text)
        if match and (place := match.span(1 if match.re.groups else 0))[0] >= 0:
            places.append((*place, text[slice(*place)]))
    if not places and any_digit(text):
        matches = setting.patterns.fullmatch
        places = [
            (found.start(), found.end(), said)
            for found in _CODE.finditer(text)
            for said in (f"{found[1]}{sign}{found[2]}" for sign in ("-", "", " ", "/"))
            if [1 for pattern in field.extract if matches(field.name, pattern, said)]
        ]
    for start, end, said in places:
        value = _read(field, said.strip(), setting) if said.strip() else None
        if value is not None:
            return Span(value, text[start:end], start, end, True, field.type, own=True)
    return None


def _read(field: Field, text: str, setting: Setting) -> Any:
    """Return the value of a text; None if it is not one."""
    if field.type == "text":
        return text
    if field.type == "list":
        return _items(field, text, setting)
    if read := _READ_AS_WHOLE.get(field.type):
        return read(text, setting) or None
    return _one(field, text if text.isascii() else folded(text), setting)


def _one(field: Field, text: str, setting: Setting) -> Any:
    """Return the one value with a shape that a text is about; None if there is none."""
    hits = SCANNERS[field.type](text, field, setting)
    more = beside(field, setting)
    hit = only_value(text, hits, setting, more)
    if hit is None and hits and field.type in DATED:
        hit = only_value(_without_hours(field, text, hits, setting), hits, setting, more)
    if hit is not None:
        return hit.value
    if field.type == "date" and len({hit.value for hit in hits}) < 2:
        corrected = text if hits else respelled(text, setting)
        if corrected != text:
            return _one(field, corrected, setting)
        return date_elsewhere(text, field, setting)
    return None


def _without_hours(field: Field, text: str, hits: list[Hit], setting: Setting) -> str:
    """Blank the part of the day, and for a date the time too, around what was found."""
    blanks = parts_of_day(text, setting)
    if field.type == "date":
        times = scan_times(text, field, setting)
        blanks += [(hit.start, hit.end) for hit in times if not hit.weak]
    for start, end in blanks:
        if not [1 for hit in hits if start < hit.end and hit.start < end]:
            text = text[:start] + " " * (end - start) + text[end:]
    return text


def found_in(field: Field, text: str, setting: Setting) -> list[Span]:
    """Return the values of a field's type that stand in a message, in order; none overlap.

    Text has no shape: it is found by the field's `extract` alone. Names and addresses are also
    found behind what brings them in, as "my name is". What is denied ("not 50") is not found.
    """
    if len(text) > LONGEST:
        return []
    own = _extracted(field, text, setting) if field.extract else None
    if own or field.type == "text":
        return [own] if own else []
    if scan := _BRING_IN.get(field.type):
        return [_span(hit, text, field) for hit in scan(text, field, setting)]
    plain = text if text.isascii() else folded(text)
    plain = plain if len(plain) == len(text) else text
    if field.type == "list":
        return _list(field, plain, text, setting)
    hits: Sequence[Hit] = SCANNERS[field.type](plain, field, setting)
    if not hits:
        return []
    hits = settled(plain, hits, setting)
    if field.type in _PLAIN:
        hits = _not_of_others(hits, plain, setting)
    return [_span(hit, text, field) for hit in hits]


def _not_of_others(hits: Sequence[Hit], text: str, setting: Setting) -> Sequence[Hit]:
    """Leave out numbers that are plainly part of a date, a time, a telephone number."""
    if not [1 for hit in hits if not hit.certain]:
        return hits
    others = [
        (other.start, other.end)
        for field, signs in _OTHERS
        if signs.search(text)
        for other in SCANNERS[field.type](text, field, setting)
        if other.certain
    ]
    return [
        hit
        for hit in hits
        if hit.certain or not [1 for start, end in others if start < hit.end and hit.start < end]
    ]


def _span(hit: Hit, text: str, field: Field) -> Span:
    first, last = min((hit.start, *hit.part)), max((hit.end, *hit.part))
    return Span(hit.value, text[first:last], hit.start, hit.end, hit.certain, field.type)


def _item_of(field: Field) -> Field:
    """Return a list's field as one of its items."""
    return field.model_copy(update={"type": field.items, "items": "text", "extract": ()})


def _items(field: Field, text: str, setting: Setting) -> list[Any] | None:
    """Return the items of a list; None if a part of the text is no such item."""
    own = grammar("lists", vocabulary(setting.language))
    one = _item_of(field)
    first, *others = words_in(text) or [""]
    denied = first in own.no and words_of_field(one, setting).issuperset(others)
    if own.none.fullmatch(text) or denied:  # "nothing", "no allergies"
        return []
    shaped = one.type in SCANNERS
    if shaped:
        plain = folded(text)
        found = _spread(one, plain, SCANNERS[one.type](plain, one, setting), setting)
        if found is not None:
            return [hit.value for hit in found]
    breaks = own.any_break if shaped else own.breaks
    bare = own.ending.sub("", own.lead.sub("", text.strip()))
    parts = [own.bullet.sub("", part.strip()).strip(" .,") for part in breaks.split(bare)]
    said = [part for part in parts if part and not own.joint.fullmatch(part)]
    if not said or len(said) > MOST_ITEMS:
        return None
    values = [_read(one, part, setting) for part in said]
    return None if None in values else values


def _spread(one: Field, text: str, found: Sequence[Hit], setting: Setting) -> Sequence[Hit] | None:
    """Return the items with a shape of their own, if a text says nothing else."""
    hits = [hit for hit in found if not hit.weak]
    if not hits or len(hits) > MOST_ITEMS:
        return None
    said = words_of_field(one, setting)
    return hits if is_filler(rest_of(text, hits), setting, said) else None


def _list(field: Field, plain: str, text: str, setting: Setting) -> list[Span]:
    if field.items not in SCANNERS:
        return []
    one = _item_of(field)
    hits: Sequence[Hit] = SCANNERS[one.type](plain, one, setting)
    hits = _spread(one, plain, hits, setting) or [hit for hit in hits if hit.certain]
    if not hits:
        return []
    start, end = hits[0].start, hits[-1].end
    certain = not [1 for hit in hits if not hit.certain]
    values = [hit.value for hit in hits]
    return [Span(values, text[start:end], start, end, certain, field.type)]


def load(fields: Iterable[Field]) -> None:
    """Import the libraries that values of these fields are read with; takes up to half a second."""
    kinds = {kind_of(field) for field in fields}
    if kinds.intersection(("date", "datetime")):
        load_dates()
    if "phone" in kinds:
        import phonenumbers  # noqa: F401, PLC0415 - 60 ms
    if "email" in kinds:
        import email_validator  # noqa: F401, PLC0415 - 37 ms


def make_ready(language: str) -> None:
    """Read the words of a language and compile its patterns; takes a tenth of a second."""
    now = Setting(datetime(2000, 1, 1, tzinfo=UTC), language=language)
    for kind in FIELD_TYPES:
        field = Field("x", kind, choices=["y"] if kind == "enum" else ())
        with suppress(Unreadable):
            value_of(field, "1", now)
