"""Times of day, and dates with a time: with a colon, am and pm, "o'clock", and in words.

An hour from 1 to 11 without anything that says which half of the day is meant is one of the
morning, unless the field asks for an evening, or a range of it takes the evening's alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from functools import cache, lru_cache
from itertools import product
from types import SimpleNamespace
from typing import NamedTuple

from journeys.notions.fields import Field
from nodes.values.checking import fits
from nodes.values.dates import any_digit, is_past, scan_dates
from nodes.values.languages import Table, Vocabulary, compiled, grammar, literal, vocabulary
from nodes.values.numbers import numeral_of
from nodes.values.scanning import MOST_HITS, Hit, apart, before, is_filler, words_in
from nodes.values.setting import Setting

_NOON = 12
_SIGNS = re.compile(r"[^\w\s,'.]")
_WORD_BEHIND = re.compile(r"\s+[^\W\d_]")
_NEAR, _MOST, _NEAR_DAY = 24, 20, 40
_JOINTS = frozenset(("at", "t"))


@cache
def _grammar(words: Vocabulary) -> SimpleNamespace:
    own, days = words.times, words.dates
    values: dict[str, int] = {}
    for each in words.languages:
        said = each.numbers
        values |= dict(zip(said.units, range(20), strict=False)) | values
        values |= {w: 10 * at for at, w in enumerate(said.tens[:4], 2)} | values
        values |= {w: v for w, v in said.others.items() if v < 60 and v != 1} | values
    values |= own.hours

    def of(*sizes: Iterable[int]) -> tuple[str, ...]:
        return literal([word for word, value in values.items() if value in set().union(*sizes)])

    hours, tens, teens = range(1, _NOON + 1), (20, 30, 40, 50), range(13, 20)
    parts = [phrase for name, said in own.parts.items() if name != "meal" for phrase in said]
    made = grammar(
        "times",
        words,
        hours=of(hours),
        hours_and_tens=of(hours, tens),
        tens=of(tens),
        ones=of(range(1, 10)),
        teens=of(teens),
        tens_and_teens=of(tens, teens, (5, 10, 20)),
        fives=of((5, 10, 20)),
        zero=literal([*own.zero, "zero"]),
        part=(*parts, *own.noon),
        greeted="".join([rf"(?<!{word} )" for word in own.greetings]),
        glued_to="".join([rf"|(?<={end})" for end in own.glued]),
        no_noon="".join([rf"(?<!{word})" for word in own.not_noon]),
        midnight=own.names.get(0, ()),
        # Where "am" is a preposition.
        leads_elsewhere=tuple(
            [lead for each in words.languages if each.times.not_am for lead in each.times.leads]
        ),
    )
    made.values, made.ways = values, Table({**days.ahead, **days.behind})
    made.halves = Table(dict.fromkeys(own.half_hour, 1800))
    made.forms = [(compiled(made.filled(_written(form.say))), form) for form in own.forms]
    made.joining = made.joining.union(*days.weekdays)
    return made


def _written(say: str) -> str:
    said = say.replace(" ", r"[\s-]+").replace("(", "(?:").replace("{minutes}", "{minute}")
    return rf"\b{said}(?![\w:]|[.,]\d)(?:{{pm}})?"


class _Clock(NamedTuple):
    """A time as it was written.

    Attributes:
        half: "a" or "p" where am or pm was said, else empty.
        whole: Whether the hour counts from 0 to 24.
        zero: Whether it leads with a zero, so that it does unless words beside it say otherwise.
    """

    hour: int
    minute: int
    second: int = 0
    half: str = ""
    whole: bool = False
    zero: bool = False


def scan_times(text: str, field: Field, setting: Setting) -> list[Hit]:
    """Find times of day."""
    words = vocabulary(setting.language)
    own, hits = _grammar(words), []
    for hit in readings_in(text, words):
        value, settled = _meant(hit.value, field, setting)
        hit = hit._replace(value=value)
        bound = own.open.search(before(text, hit.start))
        if bound and not (settled and bound["least"]):
            hit = hit._replace(certain=False)  # "after 6", "before 9"
        elif bound:
            hit = hit._replace(start=hit.start - len(bound[0]))
        hits.append(hit)
    return hits


def _meant(readings: Sequence[str], field: Field, setting: Setting) -> tuple[str, bool]:
    """Return the reading that is meant, and whether the field leaves no other.

    It is the first that the ranges allow, the later one where the field asks for an evening.
    """
    if len(readings) == 1:
        return readings[0], True
    evening = _asks_for_evening(field.name, field.label, field.ask, vocabulary(setting.language))
    readings = readings[::-1] if evening else readings
    fitting = [v for v in readings if fits(v, field, setting)] if field.validators else readings
    return (fitting or readings)[0], evening or 0 < len(fitting) < len(readings)


@lru_cache(maxsize=2_000)
def _asks_for_evening(name: str, label: str, ask: str, words: Vocabulary) -> bool:
    said = f"{name.replace('_', ' ')} {label} {ask}"
    found = {match.lastgroup for match in _grammar(words).part.finditer(said)}
    return bool(found & {"parts_evening", "parts_meal"}) and "parts_morning" not in found


@lru_cache(maxsize=64)  # a message is read for each field that it may be about
def readings_in(text: str, words: Vocabulary) -> list[Hit]:
    """Find times of day; the value of each is a list of what it may mean, the likeliest first."""
    own = _grammar(words)
    if not own.maybe.search(text):
        return []
    hits = []
    for hit in _raw(text, own)[:MOST_HITS]:
        if hit.value.hour <= _NOON or hit.value.half != "a":
            hits.append(hit._replace(value=_readings(hit.value, text, hit, own)))
    return apart(hits)


def _raw(text: str, own: SimpleNamespace) -> list[Hit]:
    """Find times as they are written."""
    hits = [_bare(found, own) for found in own.worded.finditer(text)]
    if any_digit(text):
        hits += _in_digits(text, own)
    for pattern, form in own.forms:
        for found in pattern.finditer(text):
            hits.append(_formed(found, form, own))
    for found in own.spelled.finditer(text):
        hits.append(_hit(found, own, _number(found["hour"], own), _number(found["minutes"], own)))
    for found in own.named_hour.finditer(text):
        if not (found["noon"] and own.of_noon.search(before(text, found.start()))):
            hour = own.names.of(found["name"]) if found["name"] else _NOON
            hits.append(_hit(found, own, hour, 0, whole=True))
    return hits


def _in_digits(text: str, own: SimpleNamespace) -> list[Hit]:
    hits = []
    for found in own.clock.finditer(text):
        by_h = found["sign"].casefold() == "h"
        hit = _hit(found, own, int(found["hour"]), int(found["minute"]), whole=by_h)
        second = int(found["second"] or 0)
        zero = len(found["hour"]) == 2 and found["hour"] < "10"
        # "7.30" alone may be an amount; "7:30" may not.
        certain = found["sign"] != "." or bool(hit.value.half or found["unit"])
        value = hit.value._replace(second=second, zero=zero)
        hits.append(hit._replace(value=value, certain=certain))
    for pattern in (own.halved, own.on_the_hour):
        for found in pattern.finditer(text):
            hits.append(_hit(found, own, int(found["hour"]), int(found["minute"] or 0)))
    for pattern in (own.military, own.four_digits):
        for found in pattern.finditer(text):
            hit = _hit(found, own, int(found["hour"]), int(found["minute"]), whole=True)
            hits.append(hit._replace(certain=pattern is own.military))
    return hits


def _bare(found: re.Match[str], own: SimpleNamespace) -> Hit:
    """Read an hour that stands alone: certain after "at" and before nothing that it counts."""
    text = found.string
    placed = own.at.search(before(text, found.start())) is not None
    minutes = _number(found["minute"], own) if found["minute"] else 0
    hit = _hit(found, own, _number(found["hour"], own), minutes)
    said = bool(hit.value.half or found["unit"])
    certain = said or (placed and own.stop.match(text, found.end()) is not None)
    return hit._replace(certain=certain, weak=not (said or placed or found["minute"]))


def _formed(found: re.Match[str], form: SimpleNamespace, own: SimpleNamespace) -> Hit:
    """Return a time in words: "quarter to eight", "fünf nach halb acht"."""
    hour, minutes = _number(found["hour"], own), form.add
    if form.sign:
        minutes += form.sign * _number(found["minutes"], own)
    if minutes >= 0:
        return _hit(found, own, hour, minutes)
    hit = _hit(found, own, (hour - 1) % 24 if hour != 1 else _NOON, 60 + minutes)
    if hour == _NOON and hit.value.half:  # "quarter to 12 pm" is in the morning
        return hit._replace(value=hit.value._replace(half={"a": "p", "p": "a"}[hit.value.half]))
    return hit


def _number(said: str, own: SimpleNamespace) -> int:
    """Return the number of an hour or of minutes: digits, words, a quarter."""
    if said.isdecimal():
        return int(said)
    if (named := own.minutes.of(said)) is not None:
        return int(named)
    return sum([own.values.get(word, 0) or _digits(word) for word in _PARTS.split(said.casefold())])


_PARTS = re.compile(r"[\s-]+")


def _digits(word: str) -> int:
    return int(word) if word.isdecimal() else 0


def _hit(
    found: re.Match[str], own: SimpleNamespace, hour: int, minute: int, *, whole: bool = False
) -> Hit:
    half, end = found.groupdict().get("half") or "", found.end()
    if half and half[:1] != "a" and half.strip(" (-").casefold() == "am":
        text, place = found.string, found.end("half")
        behind = own.foreign_at.search(before(text, found.start()))
        if own.not_am.match(text, place) or (behind and _WORD_BEHIND.match(text, place)):
            half, end = "", found.start("half")
    letter = "p" if "p" in half.casefold() else "a" if half else ""
    return Hit(found.start(), end, _Clock(hour, minute, 0, letter, whole))


def _part(text: str, hit: Hit, own: SimpleNamespace, *, joined: bool = False) -> str:
    """Return which part of the day the words near a time say.

    Args:
        text: The message.
        hit: The time.
        own: The grammar.
        joined: Whether nothing else may stand between the two, and the words name the part.
    """
    start, end = max(0, hit.start - _NEAR), hit.end + _NEAR
    for found in own.part.finditer(text, start, end):
        left, right = sorted((found.span(), (hit.start, hit.end)))
        gap = text[left[1] : max(left[1], right[0])]
        if joined and found.lastgroup == "parts_meal":
            continue
        if not joined or (not _SIGNS.search(gap) and own.joining.issuperset(words_in(gap))):
            return (found.lastgroup or "").removeprefix("parts_")
    return ""


def wordings(text: str, hit: Hit, setting: Setting) -> Iterator[str]:
    """Yield the words that may give a time: its own, then with each part of the day near it."""
    words = text[hit.start : hit.end]
    yield words
    part = _grammar(vocabulary(setting.language)).part
    for found in part.finditer(text, max(0, hit.start - _NEAR), hit.end + _NEAR):
        yield text[min(hit.start, found.start()) : max(hit.end, found.end())]
        yield f"{words} {found[0]}"


def parts_of_day(text: str, setting: Setting) -> list[tuple[int, int]]:
    """Return where words for a part of the day stand, which may be beside a value."""
    pattern = _grammar(vocabulary(setting.language)).around_part
    return [found.span() for found in pattern.finditer(text)]


def _readings(said: _Clock, text: str, hit: Hit, own: SimpleNamespace) -> list[str]:
    """Return what a time as written may mean, the likeliest first."""
    hour, minute, second = said[:3]
    rest = f":{minute % 60:02}" + (f":{second:02}" if second else "")
    hour = 0 if hour == 24 and not minute else hour % 24
    plain, later = f"{hour:02}{rest}", f"{hour + _NOON:02}{rest}"
    if said.half and hour <= _NOON:
        return [f"{hour % _NOON + (_NOON if said.half == 'p' else 0):02}{rest}"]
    if said.whole or hour == 0 or hour > _NOON:
        return [plain]
    part = _part(text, hit, own, joined=said.zero)
    if said.zero and not part:
        return [plain]
    if hour == _NOON:
        night = part == "night" or own.small_hours.match(text, hit.end)
        return [f"00{rest}" if night else plain]
    if not part:
        return [plain, later]
    first = _LATER_FROM[part]
    return [later if first[0] < hour < first[1] else plain]


# Between which hours a part of the day means those after noon.
_LATER_FROM = {
    "morning": (_NOON, _NOON),
    "evening": (0, _NOON),
    "meal": (0, _NOON),
    "noon": (0, 6),
    "night": (6, _NOON),
}


def scan_datetimes(text: str, field: Field, setting: Setting) -> list[Hit]:
    """Find moments, local to the user's own time zone, to the minute."""
    words = vocabulary(setting.language)
    own = _grammar(words)
    if not (own.maybe.search(text) or own.soon.search(text)):
        return []
    hits = [*_iso(text, setting, own), *_soon(text, setting, own, words)]
    days = scan_dates(text, field, setting)
    past = is_past(text, field, setting)
    today = setting.at.date().isoformat()
    for day, hour in product(days[:_MOST], readings_in(text, words)[:_MOST] if days else ()):
        if _belong(text, day, hour, own, setting):
            moments = _moments(day.value, hour.value, past, setting)
            if day.value == today and own.midnight.search(text, hour.start, hour.end):
                # Midnight of a day that has begun is its end.
                moments = [f"{setting.at.date() + timedelta(days=1)}T00:00"]
            start, end = min(day.start, hour.start), max(day.end, hour.end)
            value = next((m for m in moments if fits(m, field, setting)), moments[0])
            hits.append(Hit(start, end, value, day.certain and hour.certain))
    return apart(hits)


def _belong(text: str, day: Hit, hour: Hit, own: SimpleNamespace, setting: Setting) -> bool:
    """Say whether a time is that of a day: nothing else is said between them."""
    left, right = sorted((day, hour))
    gap = text[left.end : right.start]
    if left.end > right.start or len(gap) >= _NEAR_DAY:
        return False
    if hour.weak:  # "tomorrow, 7"
        return left is day and not gap.strip(" ,")
    return is_filler(own.part.sub(" ", gap), setting, _JOINTS)


def _moments(day: str, hours: list[str], past: bool, setting: Setting) -> list[str]:
    """Return what a day and a time may mean; of today, what is to come first, or what is over."""
    moments = [f"{day}T{hour}" for hour in hours]
    if day != setting.at.date().isoformat():
        return moments
    now = written(setting.at, False)
    return sorted(moments, key=lambda moment: (moment < now) != past)


def _iso(text: str, setting: Setting, own: SimpleNamespace) -> Iterator[Hit]:
    for found in own.iso.finditer(text):
        if found["joint"] == " " and not (found["exact"] or found["zone"]):
            continue  # a day and a time as any other, of which more may be said
        try:
            moment = datetime.fromisoformat(f"{found[1]}T{found[3]}{(found['zone'] or '').upper()}")
            if moment.tzinfo is not None:
                moment = moment.astimezone(setting.at.tzinfo)
        except (ValueError, OverflowError):
            continue
        yield Hit(found.start(), found.end(), written(moment))


def _soon(text: str, setting: Setting, own: SimpleNamespace, words: Vocabulary) -> Iterator[Hit]:
    for found in own.soon.finditer(text):
        seconds = 0 if found["now"] else _seconds(found, own, words)
        if seconds is not None:
            # In absolute time, so that a clock that is put forward does not lose an hour of it.
            moment = setting.at.astimezone(UTC) + timedelta(seconds=seconds)
            local = moment.astimezone(setting.at.tzinfo)
            yield Hit(found.start(), found.end(), written(local, False))


def _seconds(found: re.Match[str], own: SimpleNamespace, words: Vocabulary) -> int | None:
    sign = int(own.ways.of(found["way"] or found["way2"]))
    if found["half"]:
        return sign * int(own.halves.of(found["half"]))
    count = numeral_of(found["count"] or found["before"], words)
    return None if count is None else sign * count * own.units.of(found["unit"] or found["unit2"])


def written(moment: datetime, exact: bool = True) -> str:
    """Return a moment as it is kept: to the minute, or to the second if that was said."""
    unit = "seconds" if exact and moment.second else "minutes"
    return moment.replace(tzinfo=None, microsecond=0).isoformat(timespec=unit)
