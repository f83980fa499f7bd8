"""Values of fields in a text: one scan, for a whole answer or a part of a message.

Values of an enum are read here: as declared, by their place, or nearly so. So are yes and no.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache, lru_cache
from types import SimpleNamespace
from typing import Any

from rapidfuzz.distance import OSA

from journeygraph.journeys.notions.fields import FIELD_TYPES, Field, Regex
from journeygraph.nodes.json_data import cleaned
from journeygraph.nodes.values import dates, numbers, people
from journeygraph.nodes.values.checking import DATED, kind_of
from journeygraph.nodes.values.numbers import numbers_of, respelled_number
from journeygraph.nodes.values.scanning import (
    LONGEST,
    Hit,
    Scanner,
    Setting,
    Unreadable,
    Vocabulary,
    all_told_of,
    apart,
    beside,
    compiled,
    folded,
    grammar,
    is_filler,
    literal,
    one_of,
    only_value,
    rest_of,
    settled,
    words_in,
    words_of_field,
)

_SHORT, _LONG = 4, 8
_MOST_PLACES = 5
_MOST_PIECES = 12
_PIECE = re.compile(r"[^\s.,;:!?()'\"]+(?:[.,:'-][^\s.,;:!?()'\"]+)*")
_BETWEEN = re.compile(r"[\s_-]+")
_TOKEN = re.compile(r"[^\W_]+(?:['\u2019-][^\W_]+)*")


@cache
def _places(words: Vocabulary) -> SimpleNamespace:
    own = words.ordinals
    at = {word: n for word, n in numbers_of(words).ordinals.items() if n <= _MOST_PLACES}
    units = [enumerate(each.numbers.units[: _MOST_PLACES + 1]) for each in words.languages]
    at |= {word: n for numbered in units for n, word in numbered if n}
    at |= {word + end: -1 for word in own.last for end in ("", *own.endings)}
    known = grammar("ordinals", words, place=tuple(at))
    known.at = at
    return known


def scan_choices(text: str, field: Field, setting: Setting) -> list[Hit]:
    """Find declared values and their further spellings; then places; then what is nearly one."""
    ways, pattern = _ways(tuple(field.ways.items()))
    hits = [Hit.of(found, ways[_spelled(found["way"])]) for found in pattern.finditer(text)]
    if not hits:
        return _placed(text, field, setting) or _nearly(text, ways)
    several = {said: value for said, value in ways.items() if len(words_in(said)) > 1}
    return apart([*hits, *_nearly(text, several)])


@lru_cache(maxsize=1_000)
def _ways(
    declared: tuple[tuple[str, tuple[str, ...]], ...],
) -> tuple[dict[str, str], re.Pattern[str]]:
    """Return each way to write a value, and a pattern of all; an ambiguous one is omitted."""
    meant: dict[str, set[str]] = {}
    for value, others in declared:
        for said in (value, *others):
            meant.setdefault(_spelled(folded(said)), set()).add(value)
    ways = {said: value for said, (value, *more) in meant.items() if said and not more}
    said = one_of(literal(ways)).replace(r"\s+", r"[\s_-]+")
    return ways, compiled(rf"(?<!\w)(?P<way>{said})(?:s|es)?(?!\w)")


def _spelled(said: str) -> str:
    """Return a way to write a value in small letters, with blanks between its words."""
    return " ".join(_BETWEEN.split(said.casefold().replace("\u2019", "'"))).strip()


def _placed(text: str, field: Field, setting: Setting) -> list[Hit]:
    values, own, hits = list(field.ways), _places(setting.words), []
    for found in own.place.finditer(text):
        word = found["word"].casefold()
        place = own.at.get(word) or int(word[0])
        if abs(place) <= len(values):
            hits.append(Hit.of(found, values[max(place - 1, -1)], False))
    return apart(hits)


def _nearly(text: str, ways: Mapping[str, str]) -> list[Hit]:
    """Return the one value that words of a text differ from by a slip of the hand."""
    hits: list[Hit] = []
    words = list(_TOKEN.finditer(text))[:40]
    for said, value in ways.items():
        most = (len(said) >= _SHORT) + (len(said) >= _LONG)
        more = max(1, len(words_in(said))) - 1
        for first, last in zip(words, words[more:], strict=False):
            near = text[first.start() : last.end()].casefold()
            if most and near[0] == said[0] and OSA.distance(near, said, score_cutoff=most) <= most:
                hits.append(Hit(first.start(), last.end(), value, False))
    return hits if len({hit.value for hit in hits}) == 1 else []


def scan_booleans(text: str, field: Field, setting: Setting) -> list[Hit]:
    """Find yes and no; a 1 or 0 counts only alone."""
    own = grammar("yes_no", setting.words)
    if alone := own.alone.fullmatch(text):
        return [Hit(alone.start("sign"), alone.end("sign"), alone["sign"] == "1", False)]
    if own.unsure.search(text):
        return []
    said = [(found, found[0].casefold() in own.mild) for found in own.either.finditer(text)]
    hits = [Hit.of(found, not found["no"], False, is_mild) for found, is_mild in said]
    if (negated := negation_of(field, setting)) is None:
        return apart(hits)
    # Of "unvaccinated?", "not vaccinated" is no no; "unvaccinated" is a yes.
    hits = apart([*hits, *[Hit.of(found, True, False) for found in negated.finditer(text)]])
    several = len({hit.value for hit in hits}) > 1  # "no, unvaccinated"
    return hits if not several and is_filler(rest_of(text, hits), setting) else []


def negation_of(field: Field, setting: Setting) -> re.Pattern[str] | None:
    """Return what finds the negated words by which a field is asked for, as "without ringing".

    None for a field without such words. Beside other words, a yes or no to them says nothing sure.
    """
    return _negated(all_told_of(field), setting.words)


@lru_cache(maxsize=2_000)
def _negated(question: str, words: Vocabulary) -> re.Pattern[str] | None:
    found = [said[0] for said in grammar("yes_no", words).negated.finditer(question)]
    return compiled(rf"(?<!\w){one_of(literal(found))}(?!\w)") if found else None


def is_in_doubt(field: Field, raw: str, value: Any, setting: Setting) -> bool:
    """Return whether a value that was read may as well be another.

    So is an amount in another currency than that of its field, a name that may be two, and the
    second of three names.
    """
    if field.type == "money":
        return bool(field.currency and value["currency"] != field.currency)
    return field.type in ("name", "full_name") and people.is_cut_in_doubt(raw, value, setting)


MOST_ITEMS = 200
"""Most items of one list."""
SCANNERS: dict[str, Scanner] = {
    "integer": numbers.scan_integers,
    "number": numbers.scan_numbers,
    "boolean": scan_booleans,
    "date": dates.scan_dates,
    "time": dates.scan_times,
    "datetime": dates.scan_datetimes,
    "money": numbers.scan_money,
    "email": people.scan_emails,
    "phone": people.scan_phones,
    "enum": scan_choices,
}
"""Finders of the types whose values have a recognisable shape."""
_WORDY: dict[str, tuple[Scanner, Callable[[str, Field, Setting], Any]]] = {
    "name": (people.scan_names, people.name_in),
    "full_name": (people.scan_names, people.name_in),
    "address": (people.scan_addresses, people.address_in),
}
"""Of values without a shape: finders by the words before them, and readers of a whole text."""
_PLAIN = ("integer", "number", "money")
_NUMERIC = (*_PLAIN, *DATED)
_DIGITS = str.maketrans("Ool", "001")
_LONGEST_SLIP = 40
_SIGNS_OF = {"date": "", "time": "", "phone": r"\+|00", "email": "@", "money": "[$€£¥]"}
_OTHERS = [(Field("other", kind), re.compile(signs)) for kind, signs in _SIGNS_OF.items()]
"""Types that can contain numbers, with the signs that they need."""
_CODE = re.compile(r"(?<!\w)([^\W\d_]{1,4})[ .\-/]?(\d{2,})(?!\w)")


@dataclass(frozen=True, slots=True)
class Span:
    """A value inside a message.

    Attributes:
        raw: The words that give it.
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

    Filler may be around it; a text about anything else gives none.

    Raises:
        Unreadable: With the name of the text that says why.
    """
    text = cleaned(raw).strip()
    if len(text) > LONGEST:
        raise Unreadable("too_many_characters", values={"most": LONGEST})
    own = _extracted(field, text, setting) if field.extract else None
    value = own.value if own else _read(field, text, setting)
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
    if not places and dates.any_digit(text):
        matches = setting.patterns.fullmatch
        places = [
            (*found.span(), said)
            for found in _CODE.finditer(text)
            for said in (f"{found[1]}{sign}{found[2]}" for sign in ("-", "", " ", "/"))
            if [1 for pattern in field.extract if matches(field.name, pattern, said)]
        ]
    for start, end, said in places:
        if (value := _read(field, said.strip(), setting)) is not None:
            return Span(value, text[start:end], start, end, True, field.type, own=True)
    return None


def _read(field: Field, text: str, setting: Setting) -> Any:
    """Return the value of a text; None if it is not one."""
    if field.type == "text":
        return shaped(field, text, setting) or text or None
    if field.type == "list":
        return _items(field, text, setting) if text else None
    if field.type in _WORDY:
        return _WORDY[field.type][1](text, field, setting) or None
    plain = folded(text)
    plain = _legible(plain, setting.words) if field.type in _NUMERIC else plain
    return _one(field, plain, setting)


def shaped(field: Field, text: str, setting: Setting) -> str | None:
    """Return the words of a text that all patterns of a field match, where the others are filler.

    None if there are no such words, or several; without a pattern the text itself.
    """
    patterns = [one.pattern for one in field.validators if isinstance(one, Regex)]

    def matches(words: str) -> bool:
        return all(setting.patterns.fullmatch(field.name, one, words) for one in patterns)

    if matches(text):
        return text
    places = [found.span() for found in _PIECE.finditer(text)][: _MOST_PIECES + 1]
    places, said = places if len(places) <= _MOST_PIECES else [], words_of_field(field, setting)
    runs = [(first, last) for n, (first, _) in enumerate(places) for _, last in places[n:]]
    runs = [(a, b) for a, b in runs if is_filler(f"{text[:a]} {text[b:]}", setting, said)]
    found = [text[slice(*run)] for run in runs if matches(text[slice(*run)])]
    return found[0] if len(found) == 1 else None


def _one(field: Field, text: str, setting: Setting) -> Any:
    """Return the one value with a shape that a text is about; None if there is none."""
    hits = SCANNERS[field.type](text, field, setting)
    more = beside(field, setting)
    hit = only_value(text, hits, setting, more)
    if hit is None and field.type in DATED:
        hit = only_value(_without_hours(field, text, hits, setting), hits, setting, more)
    if hit is not None:
        return hit.value
    corrected = _respelled(field, text, hits, setting)
    if corrected != text:
        return _one(field, corrected, setting)
    if field.type == "date" and len({hit.value for hit in hits}) < 2:
        return dates.date_elsewhere(text, field, setting)
    return None


def _respelled(field: Field, text: str, hits: Sequence[Hit], setting: Setting) -> str:
    """Return a short text with words that are nearly those of values of a field's type."""
    if len(text) > _LONGEST_SLIP:
        return text
    if field.type == "time" or (field.type == "date" and not [1 for hit in hits if hit.certain]):
        return dates.respelled_moment(text, field.type, setting.words)
    return respelled_number(text, field, setting) if field.type in ("integer", "number") else text


@lru_cache(maxsize=64)  # a message is read for each field that it may be about
def _legible(text: str, words: Vocabulary) -> str:
    """Return a text of the same length, in which numbers are digits: "l9:3O", "8ish"."""
    own = numbers.numbers_of(words)
    text = own.glued.sub(lambda found: found[0].translate(_DIGITS), text)
    return _blanked(text, [found.span("rough") for found in own.rough.finditer(text)])


def _without_hours(field: Field, text: str, hits: list[Hit], setting: Setting) -> str:
    """Blank the part of the day, and for a date the time too, around what was found."""
    blanks = dates.parts_of_day(text, setting)
    if field.type == "date":
        blanks += [hit for hit in dates.scan_times(text, field, setting) if not hit.weak]
    return _blanked(text, [hit[:2] for hit in blanks if not hit.over(hits)])


def _blanked(text: str, places: Iterable[tuple[int, int]]) -> str:
    """Return a text with blanks at some places."""
    for start, end in places:
        text = text[:start] + " " * (end - start) + text[end:]
    return text


def found_in(field: Field, text: str, setting: Setting) -> list[Span]:
    """Return the values of a field's type in a message, in order; none overlap.

    Text has no shape: it is found by the field's `extract` alone. Names and addresses are also
    found behind what brings them in, as "my name is". What is denied ("not 50") is not found.
    """
    if len(text) > LONGEST:
        return []
    own = _extracted(field, text, setting) if field.extract else None
    if own or field.type == "text":
        return [own] if own else []
    if field.type in _WORDY:
        hits: Sequence[Hit] = _WORDY[field.type][0](text, field, setting)
        return [_span(hit, text, field) for hit in hits]
    plain = folded(text)
    plain = plain if len(plain) == len(text) else text
    plain = _legible(plain, setting.words) if field.type in _NUMERIC else plain
    if field.type == "list":
        hits = _listed(field, plain, setting)
    else:
        hits = SCANNERS[field.type](plain, field, setting)
        hits = settled(plain, hits, setting) if hits else []
        if field.type in _PLAIN:
            hits = _not_of_others(hits, plain, setting)
    return [_span(hit, text, field) for hit in hits]


def _not_of_others(hits: Sequence[Hit], text: str, setting: Setting) -> Sequence[Hit]:
    """Leave out numbers that are plainly part of a date, a time, a telephone number."""
    if all(hit.certain for hit in hits):
        return hits
    others = [
        other
        for field, signs in _OTHERS
        if signs.search(text)
        for other in SCANNERS[field.type](text, field, setting)
        if other.certain
    ]
    return [hit for hit in hits if hit.certain or not hit.over(others)]


def _span(hit: Hit, text: str, field: Field) -> Span:
    first, last = min((hit.start, *hit.part)), max((hit.end, *hit.part))
    return Span(hit.value, text[first:last], hit.start, hit.end, hit.certain, field.type)


def _item_of(field: Field) -> Field:
    """Return a list's field as one of its items."""
    return field.model_copy(update={"type": field.items, "items": "text", "extract": ()})


def _items(field: Field, text: str, setting: Setting) -> list[Any] | None:
    """Return the items of a list; None if a part of the text is no such item."""
    own, one = grammar("lists", setting.words), _item_of(field)
    first, *others = words_in(text) or [""]
    denied = first in own.no and words_of_field(one, setting).issuperset(others)
    if own.none.fullmatch(text) or denied:  # "nothing", "no allergies"
        return []
    shaped = one.type in SCANNERS
    if shaped and (found := _spread(one, folded(text), setting)[1]):
        return [hit.value for hit in found]
    breaks = own.any_break if shaped else own.breaks
    bare = own.ending.sub("", own.lead.sub("", in_lines(text, setting)))
    parts = [own.bullet.sub("", part.strip()).strip(" .,") for part in breaks.split(bare)]
    said = [part for part in parts if part and not own.joint.fullmatch(part)]
    values = [_read(one, part, setting) for part in said[: MOST_ITEMS + 1]]
    return None if None in values or not 0 < len(values) <= MOST_ITEMS else values


def in_lines(text: str, setting: Setting) -> str:
    """Return a list that is numbered in one line with each item on its own: "1. saw 2. drill"."""
    own = grammar("lists", setting.words)
    found = own.numbered.match(text)
    return getattr(own, f"next_{found.lastgroup}").sub("\n", text) if found else text


def end_of_list_lead(text: str, setting: Setting) -> int:
    """Return where the words end that bring in the items of a list: "I need"; else 0."""
    found = grammar("lists", setting.words).lead.match(text)
    return found.end() if found else 0


def _spread(one: Field, text: str, setting: Setting) -> tuple[list[Hit], list[Hit]]:
    """Return what has the shape of an item, and these items if a text says nothing else."""
    found = SCANNERS[one.type](text, one, setting)
    hits = [hit for hit in found if not hit.weak]
    said = words_of_field(one, setting)
    alone = 0 < len(hits) <= MOST_ITEMS and is_filler(rest_of(text, hits), setting, said)
    return found, hits if alone else []


def _listed(field: Field, text: str, setting: Setting) -> list[Hit]:
    """Return the list of the items in a message; items of this type have a shape."""
    if field.items not in SCANNERS:
        return []
    found, alone = _spread(_item_of(field), text, setting)
    hits = alone or [hit for hit in found if hit.certain]
    certain = not [1 for hit in hits if not hit.certain]
    values = [hit.value for hit in hits]
    return [Hit(hits[0].start, hits[-1].end, values, certain)] if hits else []


def load(fields: Iterable[Field]) -> None:
    """Import the libraries that values of these fields are read with; takes up to half a second."""
    kinds = {kind_of(field) for field in fields}
    if kinds.intersection(("date", "datetime")):
        dates.load_dates()
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
