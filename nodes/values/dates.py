"""Days: in digits in the order of the region, by names of months, days and feasts, by distance.

What is not derived as a whole is no day: neither "the 3rd" nor "later".
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from datetime import date, datetime, timedelta
from functools import cache
from types import SimpleNamespace
from typing import Any

from dateutil.relativedelta import relativedelta

from journeygraph.journeys.notions.fields import Field
from journeygraph.journeys.phrases import plain
from journeygraph.nodes.values.checking import wants_past
from journeygraph.nodes.values.languages import (
    Phrases,
    bare,
    code_of,
    folded,
    language_data,
    one_of,
)
from journeygraph.nodes.values.numbers import numeral_of
from journeygraph.nodes.values.setting import Setting

_ISO = re.compile(r"(?P<year>\d{4})(?P<sign>[-/.])(?P<month>\d\d?)(?P=sign)(?P<day>\d\d?)")
_DIGITS = re.compile(
    r"(?P<one>\d\d?)(?P<sign>[./-]) ?(?P<two>\d\d?)(?:(?P=sign) ?(?P<year>\d{4}|\d\d))?\.?"
)
_YEARS_AHEAD = 20
"""Two digits are a year of the hundred until so many years from now."""
_LEAP = 9
"""Years within which each day of the calendar comes."""


def _names(language: str, kind: str, more: Iterable[Phrases]) -> dict[str, int]:
    """Return the names of months or days, each with its place from 0 on."""
    from babel import Locale  # noqa: PLC0415 - 40 ms

    names: dict[str, int] = {}
    for form in getattr(Locale(language), kind).values():
        for width in ("wide", "abbreviated"):
            known = form[width]
            for place, key in enumerate(sorted(known)):
                name = folded(known[key]).rstrip(".")
                names |= {name: place, plain(name): place}
    return names | {name: place for place, said in enumerate(more) for name in said}


@cache
def grammar_of_days(language: str) -> SimpleNamespace:
    """Return the names of days, and the patterns of what they are said with."""
    own, name = language_data(language).dates, code_of(language)
    months, weekdays = _names(name, "months", own.months), _names(name, "days", own.weekdays)
    of = rf"(?:[ .-]*(?:{one_of(own.of)} )?)"
    leads = rf"(?:{one_of(own.leads)} )*"
    day = rf"(?:(?P<day>\d\d?)(?: ?{one_of(own.endings)})?|(?P<said>[^\W\d_][^\d]*?))"
    month = rf"(?P<month>{one_of(months)})"
    year = rf"(?:{of}(?P<year>\d{{4}}|'?\d\d))?"
    which, behind = (
        rf"(?:(?P<which>{one_of(own.which)}) )?",
        rf"(?: (?P<behind>{one_of(own.behind)}))?",
    )
    week = one_of(own.next_week)
    weekday = rf"(?P<weekday>{one_of(weekdays)})\.?"
    unit = rf"(?P<count>.+?) (?P<unit>{one_of(own.units)})"

    def made(*patterns: str) -> re.Pattern[str]:
        return re.compile("|".join(f"{leads}{one}" for one in patterns))

    return SimpleNamespace(
        months=months,
        weekdays=weekdays,
        calendar=[made(rf"{day}{of}{month}{year}"), made(rf"{month}{of}{leads}{day}{year}")],
        near=made(rf"(?P<near>{one_of(own.near)})"),
        feast=made(rf"(?P<feast>{one_of(own.feasts)}){year}"),
        weekday=made(rf"{which}{weekday}{behind}"),
        next_week=[made(rf"{weekday} {leads}{week}"), made(rf"{week} {leads}{weekday}")],
        dated=made(rf"{weekday} {leads}(?P<rest>.+)"),
        distance=[
            re.compile(rf"(?P<ahead>{one_of(own.ahead)}) {unit}"),
            re.compile(rf"{unit} (?P<later>{one_of(own.later)})"),
        ],
    )


def date_of(field: Field, raw: str, setting: Setting) -> str | None:
    """Return the day that a text is, in the user's own time zone.

    A day without a year is the next one there is, or the last one for a field that takes no day to
    come.
    """
    days = _Days(setting, wants_past(field, setting), raw.rstrip(" !?").endswith("."))
    day = days.day(folded(bare(raw).replace(",", " ")))
    return day.isoformat() if day else None


class _Days:
    """The days that a text may be at a time and place; all may have to be over."""

    def __init__(self, setting: Setting, past: bool, dotted: bool) -> None:
        self.setting, self.past, self.today = setting, past, setting.at.date()
        self.dotted = dotted
        self.words = setting.words.dates
        self.own = grammar_of_days(setting.language)

    def day(self, said: str) -> date | None:
        """Return the day that all of a folded text is; None if it is not one."""
        with suppress(ValueError, OverflowError):
            return (
                self._in_digits(said)
                or self._of_calendar(said)
                or self._near(said)
                or self._weekday(said)
                or self._with_weekday(said)
                or self._distant(said)
            )
        return None

    def _in_digits(self, said: str) -> date | None:
        if found := _ISO.fullmatch(said):
            return date(*(int(found[name]) for name in ("year", "month", "day")))
        words = said.split()
        while words and words[0] in self.words.leads:
            words.pop(0)
        found = _DIGITS.fullmatch(" ".join(words))
        if found is None:
            return None
        month, day = int(found["two"]), int(found["one"])
        if found["sign"] == ".":
            is_number = not (found["year"] or self.dotted or len(found["two"]) > 1)
            return None if is_number else self._in_some_year(month, day, found["year"])  # "12.5"
        if (self.setting.month_is_first and day <= 12) or month > 12:
            month, day = day, month
        return self._in_some_year(month, day, found["year"])

    def _of_calendar(self, said: str) -> date | None:
        for pattern in self.own.calendar:
            found = pattern.fullmatch(said)
            if found and (day := self._number(found)):
                return self._in_some_year(self.own.months[found["month"]] + 1, day, found["year"])
        if found := self.own.feast.fullmatch(said):
            month, day = map(int, self.words.feasts[found["feast"]].split("-"))
            return self._in_some_year(month, day, found["year"])
        return None

    def _number(self, found: re.Match[str]) -> int | None:
        """Return the day of a month, in digits or in words."""
        if found["day"]:
            return int(found["day"])
        ordinals = enumerate(self.setting.words.numbers.ordinals, 1)
        place = next((place for place, words in ordinals if found["said"] in words), None)
        return place or numeral_of(found["said"], self.setting.language)

    def _in_some_year(self, month: int, day: int, year: str | None) -> date | None:
        """Return a day of a year; without one, the next such day from today on or the last one."""
        this, step = self.today.year, -1 if self.past else 1
        if year:
            digits, last = int(year.lstrip("'")), this if self.past else this + _YEARS_AHEAD
            return date(digits if len(year) == 4 else last - (last - digits) % 100, month, day)
        days = (_valid(this + step * away, month, day) for away in range(_LEAP))
        reached = self.today.__ge__ if self.past else self.today.__le__
        return next((day for day in days if day and reached(day)), None)

    def _near(self, said: str) -> date | None:
        found = self.own.near.fullmatch(said)
        return self.today + timedelta(days=self.words.near[found["near"]]) if found else None

    def _weekday(self, said: str) -> date | None:
        """Return the next day of a name after today, or the last one before.

        "next friday" is the coming one, as most libraries have it.
        """
        for pattern in self.own.next_week:
            if found := pattern.fullmatch(said):
                return self._of_next_week(self.own.weekdays[found["weekday"]])
        found = self.own.weekday.fullmatch(said)
        if found is None:
            return None
        which = self.words.which.get(found["which"]) or self.words.behind.get(found["behind"])
        ahead = (self.own.weekdays[found["weekday"]] - self.today.weekday()) % 7
        if which == "last" or (self.past and not which):
            return self.today + timedelta(days=ahead - 7)
        return self.today + timedelta(days=ahead if which == "this" else ahead or 7)

    def _of_next_week(self, weekday: int) -> date:
        """Return a day of the next week, which begins as it does in the region."""
        first = self.setting.week_begins
        days = 7 - (self.today.weekday() - first) % 7 + (weekday - first) % 7
        return self.today + timedelta(days=days)

    def _with_weekday(self, said: str) -> date | None:
        """Return a date with the name of its day; None if it is another day."""
        found = self.own.dated.fullmatch(said)
        if found is None:
            return None
        day = self._in_digits(found["rest"]) or self._of_calendar(found["rest"])
        return day if day and day.weekday() == self.own.weekdays[found["weekday"]] else None

    def _distant(self, said: str) -> date | None:
        moment = distant(said, self.setting, datetime.combine(self.today, datetime.min.time()))
        return moment.date() if moment and not (moment.hour or moment.minute) else None


def _valid(year: int, month: int, day: int) -> date | None:
    with suppress(ValueError):
        return date(year, month, day)
    return None


def distant(said: str, setting: Setting, start: datetime) -> datetime | None:
    """Return a moment by its distance from another, "in 3 days"; None if a text is not one."""
    own, words = grammar_of_days(setting.language), setting.words
    for found, way in _ways(said, own, words.dates):
        is_one = found["count"] in words.numbers.articles
        count = 1 if is_one else numeral_of(found["count"], setting.language)
        if count is not None and count < 10_000:
            parts: Any = {words.dates.units[found["unit"]]: count * way}
            return start + relativedelta(**parts)
    return None


def _ways(said: str, own: SimpleNamespace, words: Any) -> Iterator[tuple[re.Match[str], int]]:
    ahead, later = own.distance
    if found := ahead.fullmatch(said):
        yield found, words.ahead[found["ahead"]]
    if found := later.fullmatch(said):
        yield found, words.later[found["later"]]
