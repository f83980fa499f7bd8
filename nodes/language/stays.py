"""The first and the last of two days or hours: their fields, words next to them, their order."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import date, timedelta
from functools import lru_cache

from dateutil.rrule import MONTHLY, rrule

from journeygraph.journeys import Field
from journeygraph.journeys.phrases import plain
from journeygraph.nodes.language.lexicon import Lexicon, lexicon_of
from journeygraph.nodes.language.reading import DAY, Expected, Reading, Token, value_in
from journeygraph.nodes.values import Setting, Span

SPANNED = ("date", "time", "datetime")
"""Types of which one value may go until another."""
_BESIDE = re.compile(r"([^@|]*?)(?:# ?)+([^@|]*)(@?)")
_DASH = re.compile(r"\s*[-\u2013]\s*")
_LETTERS = re.compile(r"[^\W\d_]+")
_ORDER = ("starts", "arrives", "leaves", "returns", "ends")
_BOUNDS = ("since", "until")
_MARKS = (("first", "since", "starts"), ("last", "until", "ends"))
_MIDDLE, _MOST_BETWEEN, _LAST_DAY = 1.5, 2, 31
_DAY, _TWO_MONTHS = timedelta(days=1), timedelta(days=62)


def pair_of(kind: str, expected: Expected) -> Sequence[Field]:
    """Return the first and the last of the two fields of a type; nothing if there is no such pair.

    Of more than two they are those of which the words say that one arrives or leaves then.
    """
    every = {f.name: f for f in (*expected.correctable, *expected.fields) if f.type == kind}
    fields = [*every.values()]
    kinds = _kinds_of(fields, lexicon_of(expected.setting.language))
    return [f for end, *_ in _MARKS for f, own in zip(fields, kinds, strict=True) if end in own]


def _kinds_of(fields: Sequence[Field], lexicon: Lexicon) -> tuple[frozenset[str], ...]:
    return _kinds(tuple([(f.name, f.label, f.ask, f.description) for f in fields]), lexicon)


@lru_cache(maxsize=2_000)
def _kinds(told: tuple[tuple[str, ...], ...], lexicon: Lexicon) -> tuple[frozenset[str], ...]:
    """Return what the words of each field say of its day; of two, one is the first."""
    kinds = []
    for texts in told:
        words = [" ".join(_LETTERS.findall(plain(text.replace("_", " ")))) for text in texts]
        name, label, ask, description = [{*_said_in(text, lexicon)} for text in words]
        kinds.append((name | label or ask or description).intersection(_ORDER))
    telling = [at for at, own in enumerate(kinds) if own]
    pair = telling if len(telling) == len(_MARKS) else [*range(len(kinds))]
    if len(pair) == len(_MARKS):
        pair.sort(key=lambda at: min(map(_ORDER.index, kinds[at]), default=_MIDDLE))
        for at, marks in zip(pair, _MARKS, strict=True):
            kinds[at].update(marks if telling else marks[:1])
    return tuple(map(frozenset, kinds))


def _said_in(text: str, lexicon: Lexicon) -> dict[str, frozenset[str]]:
    """Return what words say of the day "#" among them, each with the words that say it."""
    found = [form.search(text) for form in lexicon.forms("form_of_day")]
    said = {str(one.lastgroup): one[0].split() for one in found if one}
    verbs = [kind for kind in said if kind not in _BOUNDS]  # "the departure from Monday"
    return {kind: frozenset((said[kind][0], said[kind][-1])) for kind in verbs or said}


def owner_words(
    reading: Reading, span: Span, others: Sequence[Span], field: Field, rivals: Sequence[Field]
) -> frozenset[str] | None:
    """Return the words next to a value that say it is of a field: "we arrive on".

    None if they say that it is of another one of its type.

    Args:
        reading: The words around it.
        span: The value.
        others: The values of its type.
        field: The field that it may be of.
        rivals: The other fields of its type.
    """
    others = [other for other in others if other.start != span.start]
    ends = [(s.end, span.start) if s.end <= span.start else (span.end, s.start) for s in others]
    if [1 for end, start in ends if end < start and reading.text[end:start].isspace()]:
        return None  # "Friday 7th of January", which is no Friday
    joints = reading.lexicon.words("joints")

    def sign(token: Token) -> str:
        for mark, spans in (("#", [span]), ("@", others)):
            if [1 for s in spans if s.start < token.end and token.start < s.end]:
                return mark
        return "|" if token.word in joints else token.word

    closes = [t.closes and reading.text[t.end : t.end + 1] != ":" for t in reading.tokens]
    signs = [sign(t) + " |" * end for t, end in zip(reading.tokens, closes, strict=True)]
    beside = _BESIDE.search(" ".join(signs))
    if beside is None:
        return frozenset()
    # The words between two values lead to the second: "arriving on Monday leaving on Friday".
    said = _said_in(f"{beside[1]}# {'' if beside[3] else beside[2]}".strip(), reading.lexicon)
    own, *theirs = _kinds_of((field, *rivals), reading.lexicon)
    other = frozenset().union(*theirs).intersection(said)
    if other - own:
        return None
    return frozenset().union(*[said[kind] for kind in own.intersection(said) - other])


def in_order(one: Span, other: Span, reading: Reading, expected: Expected) -> Sequence[Span]:
    """Return two values if one goes until the other: "from Friday to Sunday"; else nothing.

    A day may have no month, "from the 10th to the 12th of May"; the last one is after the first.
    """
    gap = reading.text[one.end : max(one.end, other.start)]
    between = reading.between(one.end, other.start)
    joined = between.has("until") and len(between.tokens) <= _MOST_BETWEEN
    if one.end > other.start or not (joined or _DASH.fullmatch(gap)):
        return ()
    if one.type != "date":
        return one, other
    bare = [s for s in (one, other) if s.value is None and s.raw.isdigit()]
    bare = [s for s in bare if reading.text[s.end : s.end + 1] != "."]
    if len(bare) > 1 and not reading.between(reading.start, one.start).part(-1).has("since"):
        return ()  # "2 to 3 rooms"
    with suppress(OverflowError, IndexError):  # at the ends of the calendar
        first, last = _settled(one, other, reading, expected)
        if first and last and first < last:
            return [replace(s, value=d.isoformat()) for s, d in ((one, first), (other, last))]
    return ()


def _settled(
    one: Span, other: Span, reading: Reading, expected: Expected
) -> tuple[date | None, date | None]:
    """Return the first and the last day, each with the month of the other if it has none."""
    first, last = [date.fromisoformat(s.value) if s.value else None for s in (one, other)]
    said = [reading.at(s).day() for s in (one, other)]
    numbers = [d.day if d else int(n) for n, d in zip(said, (first, last), strict=True)]
    merely = [n or not (s.certain or "/" in s.raw) for n, s in zip(said, (one, other), strict=True)]
    if not all(0 < number <= _LAST_DAY for number in numbers):
        return None, None
    if all(merely):
        known = expected.known.get(pair_of("date", expected)[0].name)
        month = date.fromisoformat(str(known)).replace(day=1) if known else None
        first = _next((month or expected.setting.at.date()) - _DAY, numbers[0])
    elif merely[0] and last:
        found = rrule(MONTHLY, last - _TWO_MONTHS, until=last - _DAY, bymonthday=numbers[0])
        first = found[-1].date()
    if merely[1] and first:
        last = _next(first, numbers[1])
    elif first and last and last <= first:
        last = _same_weekday(last, other.raw, first, expected.setting)
    return first, last


def mere_days(reading: Reading, found: Sequence[Span]) -> list[Span]:
    """Return the days next to "until" of which only the number is said: "3. bis zum 14."."""
    until = reading.lexicon.words("until")
    days: list[Span] = []
    for place, token in enumerate(reading.tokens[1:], start=1):
        gap = reading.text[reading.tokens[place - 1].end : token.start]
        if not (token.word in until or _DASH.fullmatch(gap)):
            continue
        first = place + (token.word in until)
        parts = [reading.part(place - 1, place)]
        parts += [reading.part(first, first + count) for count in (3, 2, 1)]
        for part in [part for part in parts if part.day()]:
            end = part.tokens[-1].end
            if not [s for s in (*found, *days) if s.start < end and part.start < s.end]:
                days.append(Span(None, part.raw, part.tokens[0].start, end, False, "date"))
    return days


def _next(day: date, number: int) -> date:
    """Return the next day of such a number after a day."""
    found: date = rrule(MONTHLY, day + _DAY, count=1, bymonthday=number)[0].date()
    return found


def _same_weekday(day: date, raw: str, first: date, setting: Setting) -> date:
    """Return a day of the week as the next such one after a day; any other day as it is.

    Its words name a day of the week if they would mean another day later.
    """
    ahead = first - setting.at.date()
    later = [value_in(DAY, raw, replace(setting, at=setting.at + ahead + n * _DAY)) for n in (0, 1)]
    days = [date.fromisoformat(one) for one in later if one]
    is_weekday = len(days) == len(later) and all(one.weekday() == day.weekday() for one in days)
    return days[0] if is_weekday else day


def later_day(
    said: str, raw: str, field: Field, expected: Expected, *, is_mere: bool, first: str = ""
) -> str:
    """Return a day of the week or month as the next such one after the day that it follows.

    Args:
        said: The day.
        raw: Its words.
        field: The field that it is of.
        expected: The values that may be given or changed.
        is_mere: True if it is only a day of the month: "the 27th".
        first: The first day, if the message says it; else it is a known one.
    """
    pair = pair_of("date", expected)
    known = [f.name for f in expected.correctable if f.type == "date"]
    before = [pair[0].name] if pair and field is pair[1] else [] if pair else known[-1:]
    begun = first or "".join([str(expected.known.get(name, "")) for name in before])
    day, own = date.fromisoformat(said), str(expected.known.get(field.name, ""))
    with suppress(OverflowError, IndexError):  # at the ends of the calendar
        if is_mere and own and not first:
            return in_known_month(own, day.day, expected.setting) or said
        if begun and (said < begun or said == first):
            start = date.fromisoformat(begun)
            mere = _next(start - _DAY, day.day) if is_mere else None
            return (mere or _same_weekday(day, raw, start, expected.setting)).isoformat()
    return said


def in_known_month(known: str, number: int, setting: Setting) -> str:
    """Return a known day with its number alone replaced; "" if its month has no such day.

    It is of the next month where that day is over, and the known one is not.
    """
    today, month = setting.at.date(), date.fromisoformat(known[:10])
    changed = _next(month.replace(day=1) - _DAY, number) if 0 < number <= _LAST_DAY else None
    if changed is None or changed.month != month.month:
        return ""
    if changed < today <= month:
        changed = _next(changed, number)
    return changed.isoformat() + known[10:]
