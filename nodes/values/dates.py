"""Dates: digits in the order of the region, names of months, days and feasts, "tomorrow"."""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Iterator
from datetime import date, datetime, timedelta
from functools import cache, lru_cache
from importlib import import_module
from types import SimpleNamespace
from typing import Any
from unicodedata import combining, normalize

from rapidfuzz.distance import OSA

from journeys.fields import Field
from nodes.values.checking import wants_past
from nodes.values.languages import (
    Vocabulary,
    compiled,
    everywhere,
    grammar,
    literal,
    literally,
    vocabulary,
)
from nodes.values.numbers import numeral_of, numerals_in, ordinals_of
from nodes.values.scanning import Hit, apart, before
from nodes.values.setting import Setting

_EDGE, _END = r"(?<![\w.,/:+-])", r"(?![\w]|[-/:.,]\d)"
_ISO = re.compile(
    rf"{_EDGE}(\d{{4}})([-/.])(\d{{1,2}})\2(\d{{1,2}})"
    r"(?:T[\d:.]+(?:Z|[+-]\d\d:?\d\d)?)?(?![\d/-]|\.\d)"
)
_COMPACT = re.compile(rf"{_EDGE}((?:19|20)\d\d)([01]\d)([0-3]\d){_END}")
_DIGITS = re.compile(
    rf"{_EDGE}(\d{{1,2}})([./-])\s?(\d{{1,2}})(?:\2\s?(\d{{4}}|'?\d{{2}})|(\.(?!\d)))?{_END}"
)
_WHICH = re.compile("^which_(behind_)?")
_NEAR = 40
"""Most characters between the name of a day and its date."""
_CLASH = 7
"""Days in which a date that is not the named day of the week is a slip, and no later one."""
_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_Found = Iterator[tuple[re.Match[str], date | None, bool]]
_WEEK, _MONTH = 7, 30
"""Units of so many days and more are months."""


@cache
def _grammar(words: Vocabulary) -> SimpleNamespace:
    own, ordinals = words.dates, ordinals_of(words)
    # "martes 13", where a day is a number like any other.
    bare = [each for each in words.languages if each.dates.bare_day_leads]
    spelled = [word for each in bare for said in each.dates.weekdays for word in said]
    last = [word + end for word in words.ordinals.last for end in ("", *words.ordinals.endings)]
    made = grammar(
        "dates",
        words,
        ordinal=literal(ordinals),
        last=literal(last),
        behind_day="".join([rf"|(?<=\b{word}\s)" for word in spelled]),
    )
    made.ordinals = ordinals
    day = literally(made.weekdays.values)
    made.not_near = {
        word: compiled(rf"(?:{literally(said)}|{day})\s+$") for word, said in own.not_near.items()
    }
    near = [word for word in made.near.values if word.isalpha()]
    names = (*made.months.values, *made.weekdays.values, *near)
    made.names = [name for name in names if len(name) >= _SHORT]
    return made


def scan_dates(text: str, field: Field, setting: Setting) -> list[Hit]:
    """Find dates, each as a day in the user's own time zone.

    A day without a year is the next one there is, unless a range or the words say that it is past.
    """
    words = vocabulary(setting.language)
    own = _grammar(words)
    digits, named = any_digit(text), own.named.search(text)
    if not (digits or named):
        return []
    over, today = wants_past(field, setting), setting.at.date()
    past = over or own.past.search(text) is not None
    found = [*_in_digits(text, setting, past)] if digits else []
    found += _by_day(text, today, past, own)
    weekdays: list[Hit] = []
    if named:
        first_day = first_day_of_week(setting)
        found += _nth(text, today, over, own)
        found += _feasts(text, today, past, own)
        found += _relative(text, today, first_day, own, words)
        weekdays = _weekdays(text, today, past, first_day, own)
    hits = []
    for match, day, certain in found:
        if day is not None:
            end = match.start() + len(match[0].rstrip())
            hits.append(Hit(match.start(), end, day.isoformat(), certain))
    hits = [_with_year(text, hit, words) for hit in apart(hits)]
    if hits and own.shifts.search(text):
        hits = [_moved(text, hit, own, words) for hit in hits]
    return _with_weekdays(text, hits, weekdays, own, today) if weekdays else hits


any_digit = re.compile(r"\d").search
words_behind = re.compile(r"[\s,]+[^\W\d_]").match


def is_past(text: str, field: Field, setting: Setting) -> bool:
    """Say whether the words, or the ranges of a field, speak of what is over."""
    past: re.Pattern[str] = _grammar(vocabulary(setting.language)).past
    return wants_past(field, setting) or past.search(text) is not None


def _in_digits(text: str, setting: Setting, past: bool) -> _Found:
    today = setting.at.date()
    for found in _ISO.finditer(text):
        yield found, day_of(int(found[1]), int(found[3]), int(found[4])), True
    for found in _COMPACT.finditer(text):
        yield found, day_of(int(found[1]), int(found[2]), int(found[3])), False
    for found in _DIGITS.finditer(text):
        first, sign, second, year, dotted = found.groups()
        if not year and not (dotted and sign == ".") and sign != "/":
            continue
        day, month = int(first), int(second)
        if month > 12 or (sign != "." and day <= 12 and month_is_first(setting)):
            day, month = month, day
        yield found, _dated(day, month, year, today, past), bool(year or dotted)


def _nth(text: str, today: date, over: bool, own: SimpleNamespace) -> _Found:
    """Find "the last friday of May"; only other words tell that it is past."""
    for found in own.nth.finditer(text):
        place = -1 if found["last"] else _day(None, found["place"], own)
        month, name = own.months.of(found["month"]) + 1, _DAYS[own.weekdays.of(found["day"])]
        if place <= 5:
            past = over or own.past.search(text[: found.start()] + text[found.end() :]) is not None
            day = _feast_near(f"{month:02} {name} {place}", found["year"], today, past)
            yield found, day, True


def _by_day(text: str, today: date, past: bool, own: SimpleNamespace) -> _Found:
    for form in (own.day_month, own.month_day):
        for found in form.finditer(text):
            day, month = (
                _day(found["digits"], found["word"], own),
                own.months.of(found["month"]) + 1,
            )
            yield found, _dated(day, month, found["year"], today, past), True
    for found in own.day_only.finditer(text):
        digits = found["digits"] or found["dotted"] or found["bare"]
        yield found, in_month(_day(digits, found["word"], own), today, past), False


def _day(digits: str | None, word: str | None, own: SimpleNamespace) -> int:
    return int(digits) if digits else own.ordinals["-".join((word or "").casefold().split())]


def _feasts(text: str, today: date, past: bool, own: SimpleNamespace) -> _Found:
    for found in own.feast.finditer(text):
        feast = own.feasts.of(found["feast"])
        yield found, _feast_near(feast, found["year"], today, past), True


def _feast_near(feast: str, year: str | None, today: date, past: bool) -> date | None:
    """Return the day of a feast in a year; else the next one, or the last one."""
    if year:
        return feast_in(int(year.lstrip("'")), feast)
    days = [feast_in(today.year + add, feast) for add in ((0, -1) if past else (0, 1))]
    near = [day for day in days if day and (day <= today if past else day >= today)]
    return near[0] if near else None


def feast_in(year: int, feast: str) -> date | None:
    """Return the day of a feast: "MM-DD", "easter+N", "advent N" or "MM sunday N"."""
    if not 1583 <= year <= 4099:
        return None
    if feast.startswith("easter"):
        from dateutil.easter import easter  # noqa: PLC0415 - a feast is rare

        sunday: date = easter(year)
        return sunday + timedelta(days=int(feast.removeprefix("easter")))
    if feast.startswith("advent"):
        eve = date(year, 12, 24)
        last = eve - timedelta(days=(eve.weekday() + 1) % 7)
        return last - timedelta(weeks=4 - int(feast[-1]))
    if feast[2] == "-":
        return day_of(year, int(feast[:2]), int(feast[3:]))
    month, name, place = feast.split()
    weekday, length = _DAYS.index(name), monthrange(year, int(month))[1]
    first = date(year, int(month), 1)
    days = range((weekday - first.weekday()) % 7 + 1, length + 1, 7)
    nth = int(place)
    return first.replace(day=days[nth if nth < 0 else nth - 1])


def _relative(
    text: str, today: date, first_day: int, own: SimpleNamespace, words: Vocabulary
) -> _Found:
    """Find days that are named by their distance from today."""
    for found in own.next_week_starts.finditer(text):
        yield found, _next_week(today, first_day, first_day), True
    for found in own.near_words.finditer(text):
        unless = own.not_near.get(found["near"].casefold())
        if not (unless and unless.search(before(text, found.start()))):
            later = own.later.of(found["later"]) if found["later"] else 0
            yield found, after_days(today, own.near.of(found["near"]) + later), True
    month = after_months(today.replace(day=1), 1)
    for found in own.month_ends.finditer(text):
        yield found, after_days(month, -1) if month else None, True
    for found in own.next_month.finditer(text):
        yield found, month, False
    for form in (own.ahead_of, own.from_day):
        for found in form.finditer(text):
            yield found, _counted(found, today, own, words), True


def _counted(
    found: re.Match[str], today: date, own: SimpleNamespace, words: Vocabulary
) -> date | None:
    count, unit = numeral_of(found["count"], words), own.units.of(found["unit"])
    said, start = found.groupdict(), today
    if count is None or (not (said.get("way") or said.get("strict")) and unit != _WEEK):
        return None
    if way := said.get("way"):
        signs = own.ahead if found.re is own.ahead_of else own.behind
        count *= signs.of(way)
    elif said.get("weekday"):
        ahead = (own.weekdays.of(said["weekday"]) - today.weekday()) % 7 or 7
        start = today + timedelta(days=ahead)
    else:
        start = today + timedelta(days=own.near.of(said["near"]))
    return _after(start, count, unit)


def _weekdays(
    text: str, today: date, past: bool, first_day: int, own: SimpleNamespace
) -> list[Hit]:
    """Find names of days: the next such day after today, or the last one before.

    "next friday" is the coming one, as most libraries have it; "friday next week" is counted from
    the first day of the week on. An abbreviation that is another word too is weak: it counts beside
    a date only.
    """
    hits = []
    for found in own.week_before.finditer(text):
        day = _next_week(today, first_day, own.weekdays.of(found["day"]))
        hits.append(Hit(found.start(), found.end(), day.isoformat()))
    ends = [(hit.start, hit.end) for hit in hits]
    for found in own.weekday.finditer(text):
        if not [1 for start, end in ends if start <= found.start() < end]:
            day = _weekday(found, today, past, first_day, own)
            short = found["day"].casefold() in own.short_weekdays
            start = found.start() + len(found[0]) - len(found[0].lstrip())
            hits.append(Hit(start, found.end(), day.isoformat(), not short, short))
    return sorted(hits)


def _weekday(
    found: re.Match[str], today: date, past: bool, first_day: int, own: SimpleNamespace
) -> date:
    said = {_WHICH.sub("", name) for name, text in found.groupdict().items() if text}
    weekday = own.weekdays.of(found["day"])
    ahead = (weekday - today.weekday()) % 7
    which = said & {"this", "next", "last", "after_next"}
    if "last" in which or (past and not which):
        return today + timedelta(days=ahead - 7)
    if found["next_week"]:
        return _next_week(today, first_day, weekday)
    ahead = ahead if "this" in which else ahead or 7
    more = 7 if "after_next" in which else own.later.of(found["later"]) if found["later"] else 0
    return today + timedelta(days=ahead + more)


def _next_week(today: date, first_day: int, weekday: int) -> date:
    begins = today + timedelta(days=7 - (today.weekday() - first_day) % 7)
    return begins + timedelta(days=(weekday - first_day) % 7)


def _with_year(text: str, hit: Hit, words: Vocabulary) -> Hit:
    """Join a day and its month with the year in words behind them: "nineteen ninety"."""
    if not hit.certain or not words_behind(text, hit.end):
        return hit
    following = text[hit.end : hit.end + 60]
    numbers = list(numerals_in(following, words))[:2]
    if not numbers or not _grammar(words).before_year.fullmatch(following, 0, numbers[0].start):
        return hit
    year, end = numbers[0].value, numbers[0].end
    if 10 <= year < 30 and len(numbers) > 1 and numbers[1].value < 100:
        joint = following[end : numbers[1].start].strip(" -").casefold()
        if joint in ("", *words.times.zero):
            year, end = year * 100 + numbers[1].value, numbers[1].end
    day = date.fromisoformat(hit.value)
    if not 1000 <= year < 3000 or not (made := day_of(int(year), day.month, day.day)):
        return hit
    return Hit(hit.start, hit.end + end, made.isoformat())


def _moved(text: str, hit: Hit, own: SimpleNamespace, words: Vocabulary) -> Hit:
    """Move a day by the distance that is said before it: "two days before Easter"."""
    found = own.shift.search(before(text, hit.start))
    if found is None:
        return hit
    count = numeral_of(found["count"], words) if found["count"] else None
    start = found.start() if count or not found["count"] else found.start("unit")
    unit, sign = own.units.of(found["unit"]), own.beside.of(found["way"])
    day = _after(date.fromisoformat(hit.value), sign * (count or 1), unit)
    shifted = hit.start - len(found.string) + start
    return Hit(shifted, hit.end, day.isoformat(), hit.certain) if day else hit


def _after(day: date, count: int, unit: int) -> date | None:
    """Return the day so many days, weeks, months or years later."""
    if unit >= _MONTH:
        return after_months(day, count * (unit // _MONTH))
    return after_days(day, count * unit)


def _with_weekdays(
    text: str, hits: list[Hit], weekdays: list[Hit], own: SimpleNamespace, today: date
) -> list[Hit]:
    """Join the name of a day with the date beside it, if the date is such a day."""
    joined = [
        hit
        for hit in hits
        if not [1 for named in weekdays if named.start < hit.start and hit.end <= named.end]
    ]
    for named in weekdays:
        # Of a text full of names of days, only what is near is looked at closely.
        least, most = named.start - _NEAR, named.end + _NEAR
        near = [hit for hit in joined if hit.start <= most and least <= hit.end]
        if [1 for hit in near if named.start < hit.end and hit.start < named.end]:
            continue
        beside = next((hit for hit in near if _adjoin(text, named, hit, own)), None)
        day = _such_a_day(named, beside, today) if beside else None
        if beside is None or day is None:
            joined.append(named)
        else:
            start, end = min(named.start, beside.start), max(named.end, beside.end)
            joined[joined.index(beside)] = Hit(start, end, day)
    return sorted([hit for hit in joined if not hit.weak or hit.certain])


def _such_a_day(named: Hit, beside: Hit, today: date) -> str | None:
    """Return the date beside the name of a day, or the next of its number that is such a day."""
    weekday, day = date.fromisoformat(named.value).weekday(), date.fromisoformat(beside.value)
    if day.weekday() == weekday:
        return str(beside.value)
    if beside.certain or abs((day - today).days) <= _CLASH:
        return None
    for months in range(1, 48):
        later = after_months(day, months)
        if later and later.day == day.day and later.weekday() == weekday:
            return later.isoformat()
    return None


def _adjoin(text: str, first: Hit, second: Hit, own: SimpleNamespace) -> bool:
    left, right = sorted((first, second))
    return own.adjoining.fullmatch(text, left.end, right.start) is not None


def _dated(day: int, month: int, year: str | None, today: date, past: bool) -> date | None:
    if year is None:
        return next_year_day(day, month, today, past)
    digits = year.lstrip("'")
    if len(digits) == 4:
        return day_of(int(digits), month, day)
    full = today.year - today.year % 100 + int(digits)
    # Two digits are a year of the last eighty or the next twenty ones.
    if full > today.year + (0 if past else 20):
        full -= 100
    return day_of(full, month, day)


def day_of(year: int, month: int, day: int) -> date | None:
    """Return a day, or None if the calendar has no such one."""
    try:
        return date(year, month, day)
    except ValueError:
        return None


def next_year_day(day: int, month: int, today: date, past: bool) -> date | None:
    """Return the next day of a month from today on, or the last one until today."""
    step = -1 if past else 1
    for year in range(today.year, today.year + 9 * step, step):
        found = day_of(year, month, day)
        if found and (found <= today if past else found >= today):
            return found
    return None


def in_month(day: int, today: date, past: bool) -> date | None:
    """Return the next day of that number from today on, or the last one until today."""
    count = today.year * 12 + today.month - 1
    for months in range(13):
        year, month = divmod(count + (-months if past else months), 12)
        found = day_of(year, month + 1, day)
        if found and (found <= today if past else found >= today):
            return found
    return None


def after_months(day: date, months: int) -> date | None:
    """Return the same day some months on, or the last one of that month."""
    year, month = divmod(day.year * 12 + day.month - 1 + months, 12)
    if not 1 <= year <= 9999:
        return None
    return date(year, month + 1, min(day.day, monthrange(year, month + 1)[1]))


def after_days(day: date, days: int) -> date | None:
    """Return the day some days on; None past the end of the calendar."""
    try:
        return day + timedelta(days=days)
    except OverflowError:
        return None


def month_is_first(setting: Setting) -> bool:
    """Say whether the month stands before the day in digits where a user speaks."""
    if setting.date_order:
        return setting.date_order == "mdy"
    return setting.region in everywhere().month_is_first


def first_day_of_week(setting: Setting) -> int:
    """Return the number of the day that a week begins with where a user speaks; Monday is 0."""
    if setting.first_day:
        return _DAYS.index(setting.first_day)
    known = everywhere()
    if setting.region in known.week_from_saturday:
        return 5
    return 6 if setting.region in known.week_from_sunday else 0


_SLIP = re.compile(r"[^\W\d_]{5,12}")
_SHORT, _LONG = 5, 8


def respelled(text: str, setting: Setting) -> str:
    """Return a text with what is nearly the name of a month or day as that name.

    A name of eight letters and more may differ in two places, a shorter one in one.
    """
    names = _grammar(vocabulary(setting.language)).names
    return _SLIP.sub(lambda found: _nearest(found[0].casefold(), names) or found[0], text)


def _nearest(word: str, names: list[str]) -> str:
    near = [
        name
        for name in names
        if name[0] == word[0]
        and word != f"{name}s"
        and OSA.distance(name, word, score_cutoff=2) <= 1 + (len(name) >= _LONG)
    ]
    return near[0] if len(near) == 1 else ""


_LANGUAGES = (
    *("en", "de", "fr", "es", "it", "pt", "nl", "pl", "sv", "tr", "ru", "ja", "zh", "ko", "ar"),
)
# Of distances in English and German we read what names a day: "5 days" alone does not.
_ELSEWHERE = _LANGUAGES[2:]
_MOST_WORDS = 4  # of a date without digits, as in "el lunes que viene"
_LONGEST, _SHORTEST = 60, 4
_LETTERS = re.compile(r"[^\W\d_]{2,}|[年月日年월일]")
_NAMED = (
    *("january", "february", "march", "april", "may", "june", "july", "august", "september"),
    *("october", "november", "december", *_DAYS),
)
_ELSEWHERE_WORD = re.compile(r"[^\W\d_]{3,}")
_OTHER_SCRIPT = re.compile(r"[\u0370-\uffff]")
_TELLING = re.compile(r"[@=<>{}\[\]|\\*^$€£%#+]")


def date_elsewhere(text: str, field: Field, setting: Setting) -> str | None:
    """Return a date in another language or style, by dateparser; None if it is none.

    Only a day and a month together, or a word for a day, make a date: dateparser alone would take
    "50" for the year 2050.
    """
    said = text.strip(" .,!")
    if not _SHORTEST <= len(said) <= _LONGEST or not _LETTERS.search(said):
        return None
    if _TELLING.search(said) or (len(said.split()) > _MOST_WORDS and not any_digit(said)):
        return None
    if not (_OTHER_SCRIPT.search(said) or words_elsewhere().intersection(_plain_words(said))):
        return None
    # The day alone: dateparser keeps every setting that it was ever given.
    base = datetime(setting.at.year, setting.at.month, setting.at.day)  # noqa: DTZ001
    prefers = "past" if wants_past(field, setting) else "future"
    known = _parsed(said, base, prefers, "MDY" if month_is_first(setting) else "DMY")
    return known.isoformat() if known else None


@cache
def words_elsewhere() -> frozenset[str]:
    """Return the words without which dateparser finds no date in Latin letters, unmarked."""
    words: set[str] = set()
    for language in _LANGUAGES:
        known = import_module(f"dateparser.data.date_translation_data.{language}").info
        phrases = [phrase for name in _NAMED for phrase in known[name]]
        if language in _ELSEWHERE:
            said = (*known["relative-type"].values(), *known["relative-type-regex"].values())
            phrases += [phrase for group in said for phrase in group]
            phrases += [phrase for each in known.get("simplifications", ()) for phrase in each]
        words.update(_plain_words(" ".join(phrases)))
    return frozenset(words)


def _plain_words(text: str) -> list[str]:
    unmarked = normalize("NFKD", text.casefold())
    return _ELSEWHERE_WORD.findall("".join([sign for sign in unmarked if not combining(sign)]))


@lru_cache(64)  # a message is read for each field that it may be about
def _parsed(said: str, base: datetime, prefers: str, order: str) -> date | None:
    import dateparser  # noqa: PLC0415 - 0.2 s

    settings: Any = {
        "RELATIVE_BASE": base,
        "PREFER_DATES_FROM": prefers,
        "DATE_ORDER": order,
        "REQUIRE_PARTS": ["day", "month"],
        "RETURN_AS_TIMEZONE_AWARE": False,
    }
    for parser, languages in (("absolute-time", _LANGUAGES), ("relative-time", _ELSEWHERE)):
        try:
            found = dateparser.parse(
                said, languages=list(languages), settings={**settings, "PARSERS": [parser]}
            )
        except Exception:  # what the library stumbles over is no date
            return None
        if isinstance(found, datetime):
            return found.date()
    return None


# Of each language its own words, since dateparser reads the tables of a language when a text may be
# of it; and words that are no date in any, for which it asks them all.
_OF_EACH = (
    *("five people", "in 5 days", "am 5. mai", "le 5 mai", "el 5 de mayo", "5 maggio"),
    *("5 de maio", "5 mei", "5 maja", "5 maj", "5 gün sonra", "5 мая", "5 may"),
    *("5月5日", "5월 5일", "5 مايو"),
)


@cache
def load_dates() -> None:
    """Import dateparser and all its languages, for which no message should have to wait.

    That takes half a second.
    """
    words_elsewhere()
    for said in _OF_EACH:
        _parsed(said, datetime(2030, 1, 1), "future", "DMY")  # noqa: DTZ001
