"""Dates: digits in the order of the region, names of months and days, words as "tomorrow"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date

from journeys.fields import Field
from nodes.values.bounds import wants_past
from nodes.values.calendars import (
    FEASTS,
    MONTHS,
    ORDINALS,
    WEEKDAYS,
    first_day_of_week,
    month_is_first,
)
from nodes.values.days import day_of, in_month, next_year_day
from nodes.values.scanning import Hit, apart
from nodes.values.setting import Setting
from nodes.values.weeks import relative_days, weekdays_in

_MONTH = "|".join(sorted(MONTHS, key=len, reverse=True))
_DAYS = "|".join(sorted(WEEKDAYS, key=len, reverse=True))
_ORDINAL = "|".join(
    re.escape(name).replace(r"\-", "[- ]") for name in sorted(ORDINALS, key=len, reverse=True)
)
_EDGE, _END = r"(?<![\w.,/:+-])", r"(?![\w]|[-/:.,]\d)"
_ISO = re.compile(
    rf"{_EDGE}(\d{{4}})([-/.])(\d{{1,2}})\2(\d{{1,2}})"
    r"(?:T[\d:.]+(?:Z|[+-]\d\d:?\d\d)?)?(?![\d/-]|\.\d)"
)
_COMPACT = re.compile(rf"{_EDGE}((?:19|20)\d\d)([01]\d)([0-3]\d){_END}")
_DIGITS = re.compile(
    rf"{_EDGE}(\d{{1,2}})([./-])\s?(\d{{1,2}})(?:\2\s?(\d{{4}}|'?\d{{2}})|(\.(?!\d)))?{_END}"
)
_YEAR = (
    r"(?:\s*,?\s*(?:(?:in|im jahr)\s+)?(\d{4}(?![:\d])|'\d\d)(?!\s?(?:uhr|h|hours|[ap]\.?\s?m)\b))?"
)
_DAY_MONTH = re.compile(
    rf"(?<![\w.,/:])(?:(\d{{1,2}})(?:st|nd|rd|th|ten|te|\.)?|({_ORDINAL}))[\s-]*"
    rf"(?:(?:day\s+)?of\s+)?({_MONTH})\b\.?-?{_YEAR}",
    re.IGNORECASE,
)
_MONTH_DAY = re.compile(
    rf"\b({_MONTH})\b\.?[\s-]*(?:the\s+)?(?:(\d{{1,2}})(?:st|nd|rd|th)?|({_ORDINAL}))"
    rf"(?![\w:]|[.,]\d){_YEAR}",
    re.IGNORECASE,
)
_DAY_ONLY = re.compile(
    r"(?<![\w.,/:])(?:(\d{1,2})(?:st|nd|rd|th)\b|(?:am|den|der|dem|vom|zum)\s+(\d{1,2})\."
    rf"(?!\d)|(?:the|am|den|der|dem|vom|zum)\s+({_ORDINAL})\b)(?!\s+(?:floor|time|one|person))",
    re.IGNORECASE,
)
_FEAST = re.compile(
    r"\b(" + "|".join(sorted(FEASTS, key=len, reverse=True)) + r")\b(?:,?\s+(\d{4}))?",
    re.IGNORECASE,
)
_NEAR = 40
"""Most characters between the name of a day and its date."""
# Of "half past seven" the hour is past, and not the day.
_PAST = re.compile(
    r"\b(?:ago|last|was|were|happened|had|since|previous|war|waren|letzte[nrms]?|vorige[nrms]?"
    r"|(?<!half[ -])(?<!quarter[ -])(?<!five )(?<!ten )(?<!twenty )(?<!minutes )(?<!\d )past"
    r"|vergangene[nrms]?|passiert|geschehen|seit|hatte|hatten)\b",
    re.IGNORECASE,
)


def scan_dates(text: str, field: Field, setting: Setting) -> list[Hit]:
    """Find dates, each as a day in the user's own time zone.

    A day without a year is the next one there is, unless a range or the words say that it is past.
    """
    past = is_past(text, field, setting)
    today = setting.at.date()
    found = [
        *_in_digits(text, setting, past),
        *_named(text, today, past),
        *_days_of_month(text, today, past),
        *_feasts(text, today, past),
        *relative_days(text, today, first_day_of_week(setting)),
    ]
    hits = apart(_clean(found))
    return _with_weekdays(text, hits, weekdays_in(text, today, past, first_day_of_week(setting)))


def is_past(text: str, field: Field, setting: Setting) -> bool:
    """Say whether the words, or the ranges of a field, speak of what is over."""
    return wants_past(field, setting) or _PAST.search(text) is not None


def _clean(found: list[tuple[re.Match[str], date | None, bool]]) -> Iterator[Hit]:
    for match, day, certain in found:
        if day is not None:
            yield Hit(
                match.start(), match.start() + len(match[0].rstrip()), day.isoformat(), certain
            )


Found = Iterator[tuple[re.Match[str], date | None, bool]]


def _in_digits(text: str, setting: Setting, past: bool) -> Found:
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


def _named(text: str, today: date, past: bool) -> Found:
    for found in _DAY_MONTH.finditer(text):
        day = int(found[1]) if found[1] else _ordinal(found[2])
        yield found, _dated(day, MONTHS[found[3].casefold()], found[4], today, past), True
    for found in _MONTH_DAY.finditer(text):
        day = int(found[2]) if found[2] else _ordinal(found[3])
        yield found, _dated(day, MONTHS[found[1].casefold()], found[4], today, past), True


def _days_of_month(text: str, today: date, past: bool) -> Found:
    for found in _DAY_ONLY.finditer(text):
        day = int(found[1] or found[2] or _ordinal(found[3]))
        yield found, in_month(day, today, past), False


def _feasts(text: str, today: date, past: bool) -> Found:
    for found in _FEAST.finditer(text):
        month, day = FEASTS[found[1].casefold()]
        yield found, _dated(day, month, found[2], today, past), True


def _ordinal(word: str) -> int:
    return ORDINALS["-".join(word.casefold().split())]


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


def _with_weekdays(text: str, hits: list[Hit], weekdays: list[Hit]) -> list[Hit]:
    """Join the name of a day with the date beside it, if the date is such a day."""
    joined = [
        hit
        for hit in hits
        if not any(named.start < hit.start and hit.end <= named.end for named in weekdays)
    ]
    for named in weekdays:
        # Of a text full of names of days, only what is near is looked at closely.
        least, most = named.start - _NEAR, named.end + _NEAR
        near = [hit for hit in joined if hit.start <= most and least <= hit.end]
        if any(named.start < hit.end and hit.start < named.end for hit in near):
            continue
        beside = next((hit for hit in near if _adjoin(text, named, hit)), None)
        if beside is None:
            joined.append(named)
        elif (
            date.fromisoformat(beside.value).weekday() == date.fromisoformat(named.value).weekday()
        ):
            start, end = min(named.start, beside.start), max(named.end, beside.end)
            joined[joined.index(beside)] = Hit(start, end, beside.value)
        else:
            joined.append(named)
    alone = [hit for hit in joined if not hit.weak or hit.certain]
    return sorted(alone)


def _adjoin(text: str, first: Hit, second: Hit) -> bool:
    left, right = sorted((first, second))
    gap = text[left.end : right.start].casefold().strip(" ,.()")
    return gap in (
        "",
        "the",
        "the the",
        "den",
        "der",
        "dem",
        "on the",
        "on",
        "am",
        "also",
        "i.e",
        "that is",
    )
