"""Values inside a longer message: proposals, which the user or a model has to confirm.

A value is proposed for the longest run of words that is one as a whole. One that stands next to a
word that denies, relates or blurs it is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

from rapidfuzz.distance import OSA

from journeygraph.journeys.notions.fields import Field
from journeygraph.journeys.phrases import plain
from journeygraph.nodes.values.checking import DATED, kind_of
from journeygraph.nodes.values.dates import grammar_of_days
from journeygraph.nodes.values.languages import bare, folded, language_data
from journeygraph.nodes.values.numbers import numeral_of
from journeygraph.nodes.values.people import EMAIL, MOST_NAMES, PHONE, led_by
from journeygraph.nodes.values.reading import READERS, extracted, item_of, spelled, ways_of
from journeygraph.nodes.values.setting import LONGEST, Setting

_MOST_WORDS = 40
"""Most words of a message that are looked at for values in words."""
_WINDOWS = {
    "integer": 5,
    "number": 5,
    "money": 6,
    "date": 7,
    "time": 7,
    "datetime": 12,
    "enum": 6,
    "boolean": 5,
}
"""Most words of a value, by its type."""
_TOKEN = re.compile(r"\S+")
_CLAUSE = re.compile(r"[^.,;!?\n]+")
_BREAK = re.compile(r"[.,;:!?()]$")
_PLAIN = ("integer", "number", "money")
_OTHERS = [Field("other", kind) for kind in ("date", "time", "datetime", "money", "phone", "email")]
_LEAST_SLIP = 4


@dataclass(frozen=True, slots=True)
class Span:
    """A value that is proposed for some words of a message.

    Attributes:
        value: The value, as plain JSON.
        raw: The words.
        start: Where they begin in the message.
        end: Where they end.
        type: Type of the field that it was looked for.
        own: True if a pattern of the field's author found it.
        slip: True if the words are nearly a choice, and not one.
    """

    value: Any
    raw: str
    start: int
    end: int
    type: str = ""
    own: bool = False
    slip: bool = False


class _Token(NamedTuple):
    start: int
    end: int
    said: str
    ends: bool


def found_in(field: Field, text: str, setting: Setting) -> list[Span]:
    """Return proposals of a field's type in a message, in order; none overlap.

    Text has no shape: it is found by the field's `extract` alone. Names and addresses are found
    behind what brings them in, as "my name is", alone.
    """
    if len(text) > LONGEST:
        return []
    if field.extract and (own := extracted(field, text, setting)):
        value, start, end = own
        return [Span(value, text[start:end], start, end, field.type, own=True)]
    tokens = [_token(found) for found in _TOKEN.finditer(text)][: _MOST_WORDS * 4]
    spans = [*_spans(field, text, tokens, setting)]
    return [span for span in spans if not _is_related(span, tokens, setting)]


def _token(found: re.Match[str]) -> _Token:
    said = folded(bare(found[0]).strip("()"))
    return _Token(found.start(), found.end(), said, _BREAK.search(found[0]) is not None)


def _spans(field: Field, text: str, tokens: Sequence[_Token], setting: Setting) -> Iterable[Span]:
    kind = field.type
    if kind in ("email", "phone"):
        return _shaped(field, text, setting)
    if kind in ("name", "full_name", "address"):
        return _led(field, text, tokens, setting)
    if kind == "boolean":
        return _answers(field, text, setting)
    if kind == "list":
        return _listed(field, text, tokens, setting)
    if kind not in _WINDOWS:
        return []
    spans = [*_windows(field, text, tokens[:_MOST_WORDS], setting)]
    if kind in _PLAIN:
        return _not_of_others(spans, field, text, tokens, setting)
    return spans or (_slips(field, text, tokens, setting) if kind == "enum" else [])


def _read(field: Field, said: str, setting: Setting) -> Any:
    return READERS[field.type](field, said, setting)


def _shaped(field: Field, text: str, setting: Setting) -> Iterator[Span]:
    pattern = EMAIL if field.type == "email" else PHONE
    for found in pattern.finditer(text):
        if (value := _read(field, found[0], setting)) is not None:
            yield Span(value, found[0], *found.span(), field.type)


def _windows(field: Field, text: str, tokens: Sequence[_Token], setting: Setting) -> Iterator[Span]:
    """Yield the longest runs of words that are values, from the left."""
    at, most = 0, _WINDOWS[field.type]
    telling = [_tells(field, token.said, setting) for token in tokens]
    while at < len(tokens):
        for count in range(min(most, len(tokens) - at), 0, -1):
            window = tokens[at : at + count]
            if any(telling[at : at + count]) and (span := _span(field, text, window, setting)):
                yield span
                at += count
                break
        else:
            at += 1


def _span(field: Field, text: str, window: Sequence[_Token], setting: Setting) -> Span | None:
    """Return the value of a run of words; None if it is not one, or only as the whole message."""
    said = bare(text[window[0].start : window[-1].end])
    if field.type in DATED and len(window) == 1 and _is_other(said, setting):
        return None
    value = _read(field, said, setting)
    if value is None:
        return None
    start = text.index(said, window[0].start)
    return Span(value, said, start, start + len(said), field.type)


def _is_other(said: str, setting: Setting) -> bool:
    """Return whether a single word is another one in most messages: "so", "mar", "seven"."""
    return (said.isalpha() and len(said) < 4) or numeral_of(
        folded(said), setting.language
    ) is not None


def _tells(field: Field, said: str, setting: Setting) -> bool:
    """Return whether a word may be what a value of a type needs."""
    if any(sign.isdecimal() for sign in said):
        return True
    if field.type == "enum":
        return spelled(said) in _words_of(tuple(field.ways.items()))
    if field.type in DATED and said in _dated_words(setting.language):
        return True
    return any(numeral_of(part, setting.language) is not None for part in (said, *said.split("-")))


@cache
def _dated_words(language: str) -> frozenset[str]:
    """Return the words of which a date or a time without digits has one."""
    own, days, times = (
        grammar_of_days(language),
        language_data(language).dates,
        language_data(language).times,
    )
    said = [*own.months, *own.weekdays, *days.near, *days.feasts, *days.later, *times.names]
    return frozenset(word for phrase in (*said, *times.now, *days.units) for word in phrase.split())


def _words_of(ways: tuple[tuple[str, tuple[str, ...]], ...]) -> frozenset[str]:
    return frozenset(word for said in ways_of(ways) for word in said.split())


def _not_of_others(
    spans: Sequence[Span], field: Field, text: str, tokens: Sequence[_Token], setting: Setting
) -> list[Span]:
    """Leave out numbers that are part of a date, a time, a telephone number, an address."""
    others = [
        (span.start, span.end)
        for other in _OTHERS
        if spans and other.type != field.type
        for span in _spans(other, text, tokens, setting)
        if other.type != "money" or span.value["currency"]
    ]
    return [s for s in spans if not any(s.start < end and start < s.end for start, end in others)]


def _answers(field: Field, text: str, setting: Setting) -> Iterator[Span]:
    """Yield each yes and no that is a clause."""
    for clause in _CLAUSE.finditer(text):
        said = clause[0].strip()
        if (value := _read(field, said, setting)) is not None:
            start = text.index(said, clause.start())
            yield Span(value, said, start, start + len(said), field.type)


def _led(field: Field, text: str, tokens: Sequence[_Token], setting: Setting) -> Iterator[Span]:
    """Yield the name or the address that is brought in by its lead."""
    own, is_address = setting.words.names, field.type == "address"
    leads = own.address if is_address else (*own.leads, *own.maybe)
    for at in range(min(len(tokens), _MOST_WORDS)):
        count = led_by([token.said for token in tokens[at : at + 8]], leads)
        most = _MOST_WORDS if is_address else MOST_NAMES
        run = (
            _until_break(tokens[at + count : at + count + most], is_address, setting)
            if count
            else []
        )
        for end in range(len(run), 0, -1):
            said = bare(text[run[0].start : run[end - 1].end])
            lead = text[tokens[at].start : run[0].start]
            if (value := _read(field, lead + said, setting)) is not None:
                yield Span(value, said, run[0].start, run[0].start + len(said), field.type)
                return


def _until_break(tokens: Sequence[_Token], is_address: bool, setting: Setting) -> list[_Token]:
    """Return the words up to the end of a clause; an address has commas."""
    run: list[_Token] = []
    for token in tokens:
        if token.said in setting.words.joints:
            break
        run.append(token)
        if token.ends and not (is_address or len(token.said) < 2):
            break
    return run


def _listed(field: Field, text: str, tokens: Sequence[_Token], setting: Setting) -> Iterator[Span]:
    """Yield the list of the items in a message; items of this type have a shape."""
    one = item_of(field)
    if kind_of(field) not in (*_WINDOWS, "email", "phone") or one.type == "boolean":
        return
    items = [*_spans(one, text, tokens, setting)]
    if items:
        start, end = items[0].start, items[-1].end
        yield Span([item.value for item in items], text[start:end], start, end, field.type)


def _slips(field: Field, text: str, tokens: Sequence[_Token], setting: Setting) -> list[Span]:
    """Return the one choice that a word differs from by a letter."""
    ways, found = ways_of(tuple(field.ways.items())), {}
    for token in tokens[:_MOST_WORDS]:
        said = plain(token.said)
        for way, value in ways.items() if len(said) >= _LEAST_SLIP else ():
            if way[0] == said[0] and OSA.distance(way, said, score_cutoff=1) == 1:
                found[value] = token
    if len(found) != 1:
        return []
    [(value, token)] = found.items()
    raw = text[token.start : token.end]
    return [Span(value, raw, token.start, token.end, field.type, slip=True)]


def _is_related(span: Span, tokens: Sequence[_Token], setting: Setting) -> bool:
    """Return whether a word next to a value denies, relates or blurs it."""
    before = [token for token in tokens if token.end <= span.start][-1:]
    behind = [token for token in tokens if token.start >= span.end][:1]
    last = [token for token in tokens if token.start < span.end <= token.end]
    relation = {*setting.words.relation}
    if span.type in ("name", "full_name", "address", "list"):
        relation.difference_update(setting.words.joints)
    if before and not before[0].ends and before[0].said in relation:
        return True
    broken = last and last[0].ends
    return bool(behind and not broken and behind[0].said in relation)
