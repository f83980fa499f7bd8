"""Values inside a longer message."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from journeys.fields import Field
from nodes.values.addresses import scan_addresses
from nodes.values.lists import spread
from nodes.values.names import scan_names
from nodes.values.reading import SCANNERS, extracts_in, value_of
from nodes.values.scanning import LONGEST, Hit, folded, settled
from nodes.values.setting import Setting, Unreadable
from nodes.values.times import wordings

_PLAIN = ("integer", "number", "money")
_ALIKE = ("integer", "number", "boolean", "email", "phone")
"""Types whose values are found alike for all fields, whatever else these declare."""
_OTHERS = ("date", "time", "phone", "email")


@dataclass(frozen=True, slots=True)
class Span:
    """A value inside a message.

    Attributes:
        value: As it would be kept.
        raw: The words that give it.
        start: Where they begin.
        end: Where they end.
        certain: Whether they can be nothing else, such as an e-mail address.
    """

    value: Any
    raw: str
    start: int
    end: int
    certain: bool


def found_in(field: Field, text: str, setting: Setting) -> list[Span]:
    """Return the values of a field's type that stand in a message, in order; none overlap.

    Text has no shape: it is found by the field's `extract` alone. Names and addresses are also
    found behind what brings them in, as "my name is". What is denied ("not 50") is not found.
    """
    if len(text) > LONGEST:
        return []
    own = _extracted(field, text, setting)
    if own or field.type == "text":
        return own
    if field.type in ("name", "address"):
        scan = scan_names if field.type == "name" else scan_addresses
        return [_span(hit, text) for hit in scan(text, field, setting)]
    plain = folded(text)
    plain = plain if len(plain) == len(text) else text
    if field.type == "list":
        return _list(field, plain, text, setting)
    if field.type in _ALIKE:
        hits = list(_of_any_field(field.type, plain, setting))
    else:
        hits = settled(plain, SCANNERS[field.type](plain, field, setting))
    if field.type in _PLAIN:
        hits = _not_of_others(hits, plain, setting)
    spans = [_span(hit, text) for hit in hits]
    if field.type in ("time", "datetime"):
        wide = zip(spans, hits, strict=True)
        return [replace(span, raw=_words_of(field, hit, text, setting)) for span, hit in wide]
    return spans


def _words_of(field: Field, hit: Hit, text: str, setting: Setting) -> str:
    """Return the words that give a time also where nothing stands around them."""
    for words in wordings(text, hit):
        try:
            if value_of(replace(field, extract=()), words, setting) == hit.value:
                return words
        except Unreadable:
            continue
    return text[hit.start : hit.end]


@lru_cache(maxsize=64)
def _of_any_field(kind: str, text: str, setting: Setting) -> tuple[Hit, ...]:
    """Return the values of a type that every field of it would take, once for all of them."""
    return tuple(settled(text, SCANNERS[kind](text, Field("any", kind), setting)))


def _not_of_others(hits: list[Hit], text: str, setting: Setting) -> list[Hit]:
    """Leave out numbers that are plainly part of a date, a time, a telephone number."""
    loose = [hit for hit in hits if not hit.certain]
    if not loose:
        return hits
    others = _plainly_others(text, setting)
    return [
        hit
        for hit in hits
        if hit.certain or not any(start < hit.end and hit.start < end for start, end in others)
    ]


@lru_cache(maxsize=64)
def _plainly_others(text: str, setting: Setting) -> list[tuple[int, int]]:
    """Return where dates, times and the like stand, once for all the fields of a message."""
    return [
        (hit.start, hit.end)
        for kind in _OTHERS
        for hit in SCANNERS[kind](text, Field("other", kind), setting)
        if hit.certain
    ]


def _extracted(field: Field, text: str, setting: Setting) -> list[Span]:
    spans = []
    for start, end in extracts_in(field, text, setting):
        said = text[start:end]
        try:
            value = value_of(replace(field, extract=()), said, setting)
        except Unreadable:
            continue
        spans.append(Span(value, said, start, end, True))
    return spans[:1]


def _span(hit: Hit, text: str) -> Span:
    return Span(hit.value, text[hit.start : hit.end], hit.start, hit.end, hit.certain)


def _list(field: Field, plain: str, text: str, setting: Setting) -> list[Span]:
    scan = SCANNERS.get(field.items)
    if scan is None:
        return []
    one = replace(field, type=field.items, items="text", extract=())
    hits = spread(one, plain, setting, scan) or [
        hit for hit in scan(plain, one, setting) if hit.certain
    ]
    if not hits:
        return []
    start, end = hits[0].start, hits[-1].end
    values = [hit.value for hit in hits]
    return [Span(values, text[start:end], start, end, all(hit.certain for hit in hits))]
