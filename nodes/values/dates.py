"""Days: in digits in the order of the region, by names of months, days and feasts, by distance.

What is not derived as a whole is no day: neither "the 3rd" nor "later".
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import date, timedelta
from functools import cache, lru_cache
from types import SimpleNamespace
from typing import Any

from journeygraph.journeys.declarations.fields import Field
from journeygraph.journeys.phrases import plain
from journeygraph.nodes.values.checking import wants_past
from journeygraph.nodes.values.languages import bare, folded, language_data, one_of
from journeygraph.nodes.values.numbers import numeral_of, ordinals_of
from journeygraph.nodes.values.setting import Setting

_ISO = r"(?P<year>\d{4})(?P<sign>[-/.])(?P<month>\d\d?)(?P=sign)(?P<day>\d\d?)"
_DIGITS = r"(?P<one>\d\d?)(?P<sign>[./-]) ?(?P<two>\d\d?)(?:(?P=sign) ?(?P<year>\d{4}|\d\d))?\.?"
_YEARS_AHEAD = 20
"""Two digits are a year of the hundred until so many years from now."""
_FIRST_YEAR = 1000
_SHORT = re.compile(r"\d\d")
_DIGIT = re.compile(r"\d")
_NEAR = 62
"""Days within which a weekday with a day of the month is meant."""
_LEAP = 9
"""Years within which each day of the calendar comes."""


def _names(shown: Sequence[str], more: Mapping[str, int]) -> dict[str, int]:
    names = {name: number - 1 for name, number in more.items()}
    for place, name in enumerate(map(folded, shown)):
        names |= {name: place, plain(name): place}
    return names


@cache
def grammar_of_days(language: str) -> SimpleNamespace:
    """Return the names of days, and the patterns that have them."""
    own, shown = language_data(language).dates, language_data(language).show
    months, weekdays = _names(shown.months, own.months), _names(shown.weekdays, own.weekdays)
    of, leads = rf"[ .-]*(?:{one_of(own.of)} )?", rf"(?:{one_of(own.leads)} )*"
    day = rf"(?:(?P<day>\d\d?)(?: ?{one_of(own.endings)})?|(?P<said>[^\W\d_][^\d]*?))"
    month, name = rf"(?P<month>{one_of(months)})", rf"(?P<weekday>{one_of(weekdays)})\.?"
    year = rf"(?:[ .-]+(?:{one_of(own.of)} )?(?P<year>\d{{4}}|'?\d\d|[^\d .-][^\d]*))?"
    distance = rf"(?P<count>.+?) (?P<unit>{one_of(own.units)})(?: (?P<later>{one_of(own.later)}))?"
    forms = [
        (_ISO, _Days.written),
        (_DIGITS, _Days.in_digits),
        (rf"{day}{of}{month}{year}", _Days.of_calendar),
        (rf"{month}{of}{leads}{day}{year}", _Days.of_calendar),
        (rf"(?P<feast>{one_of(own.feasts)}){year}", _Days.of_calendar),
        (rf"(?P<near>{one_of(own.near)})", _Days.near),
        (
            rf"(?:(?P<which>{one_of(own.which)}) {leads})?{name}"
            rf"(?: {leads}(?P<behind>{one_of(own.behind)}))?",
            _Days.of_week,
        ),
        (rf"{name} {leads}(?P<rest>.+)", _Days.with_weekday),
        (rf"(?:(?P<ahead>{one_of(own.ahead)}) )?{distance}", _Days.distant),
    ]
    return SimpleNamespace(
        months=months,
        weekdays=weekdays,
        which=own.which | own.behind,
        of_month=re.compile(rf"(?P<day>\d\d?)(?:\.| ?{one_of(own.endings)})?"),
        forms=[(re.compile(f"{leads}(?:{form})"), read) for form, read in forms],
    )


def date_of(field: Field, raw: str, setting: Setting) -> str | None:
    """Return the day that a text is, in the user's own time zone.

    A day without a year is the next one there is, or the last one for a field that takes no day to
    come.
    """
    found = _matching(folded(bare(raw).replace(",", " ")), setting.language)
    if not found:
        return None
    day = _Days(setting, wants_past(field, setting), raw.rstrip(" !?").endswith(".")).first(found)
    return day.isoformat() if day else None


@lru_cache(maxsize=1_000)  # the runs of words of a message have parts in common
def _matching(said: str, language: str) -> list[tuple[re.Match[str], Any]]:
    forms = grammar_of_days(language).forms
    return [(found, read) for form, read in forms if (found := form.fullmatch(said))]


class _Days:
    """The days that a text may be at a time and place; all may have to be over."""

    def __init__(self, setting: Setting, past: bool, dotted: bool) -> None:
        self.setting, self.past, self.dotted = setting, past, dotted
        self.today, self.words = setting.at.date(), setting.words.dates
        self.own = grammar_of_days(setting.language)

    def first(self, matching: Sequence[tuple[re.Match[str], Any]]) -> date | None:
        with suppress(ValueError, OverflowError):
            return next(filter(None, (read(self, found) for found, read in matching)), None)
        return None

    def written(self, found: re.Match[str]) -> date:
        return date(int(found["year"]), int(found["month"]), int(found["day"]))

    def in_digits(self, found: re.Match[str]) -> date | None:
        month, day = int(found["two"]), int(found["one"])
        if found["sign"] == ".":
            if not (found["year"] or self.dotted or len(found["two"]) > 1):
                return None  # "12.5"
        elif (self.setting.month_is_first and day <= 12) or month > 12:
            month, day = day, month
        return self._in_some_year(month, day, found["year"])

    def of_calendar(self, found: re.Match[str]) -> date | None:
        said = found.groupdict()
        if "feast" in said:
            month, day = map(int, self.words.feasts[said["feast"]].split("-"))
            return self._in_some_year(month, day, said["year"])
        place = ordinals_of(self.setting.language).get(said["said"])
        number = place or numeral_of(said["day"] or said["said"], self.setting.language)
        if not number or (said["year"] and len(said["year"]) == 2 and not self.past):
            return None  # "3 May 20"
        return self._in_some_year(self.own.months[said["month"]] + 1, number, said["year"])

    def _in_some_year(self, month: int, day: int, year: str | None) -> date | None:
        """Return a day of a year; without one, the next such day from today on or the last one."""
        this, step = self.today.year, -1 if self.past else 1
        if year:
            said, last = year.lstrip("'"), this if self.past else this + _YEARS_AHEAD
            number = numeral_of(said, self.setting.language) or 0
            number = last - (last - number) % 100 if _SHORT.fullmatch(said) else number
            return date(number, month, day) if number >= _FIRST_YEAR else None
        years = range(this, this + step * _LEAP, step)
        days = [date(y, month, day) for y in years if day <= monthrange(y, month)[1]]
        return next(
            (day for day in days if (day <= self.today if self.past else day >= self.today)), None
        )

    def near(self, found: re.Match[str]) -> date:
        return self.today + timedelta(days=self.words.near[found["near"]])

    def of_week(self, found: re.Match[str]) -> date:
        """Return the next day of a name after today, or the last one before.

        "next friday" is the coming one, as most libraries have it.
        """
        said = self.own.which.get(found["which"] or found["behind"])
        number, now = self.own.weekdays[found["weekday"]], self.today.weekday()
        first = self.setting.week_begins
        ahead = (number - now) % 7
        days = {"this": ahead, "next": ahead or 7, "last": ahead - 7}
        days["week"] = 7 - (now - first) % 7 + (number - first) % 7
        return self.today + timedelta(days=days[said or ("last" if self.past else "next")])

    def with_weekday(self, found: re.Match[str]) -> date | None:
        """Return a date with the name of its day; None if it is another day.

        Of a month alone, it is the next such day within two months: "Friday the 18th".
        """
        rest, number = found["rest"], self.own.of_month.fullmatch(found["rest"])
        weekday = self.own.weekdays[found["weekday"]]
        if number:
            way = -1 if self.past else 1
            near = (self.today + timedelta(days=way * away) for away in range(_NEAR))
            meant = (day for day in near if day.day == int(number["day"]))
            return next((day for day in meant if day.weekday() == weekday), None)
        day = self.first(_matching(rest, self.setting.language)) if _DIGIT.search(rest) else None
        return day if day and day.weekday() == weekday else None

    def distant(self, found: re.Match[str]) -> date | None:
        """Return a day by its distance from today, "in 3 days", but not "3 days"."""
        way = self.words.ahead.get(found["ahead"]) or self.words.later.get(found["later"])
        is_one = found["count"] in self.setting.words.numbers.articles
        count = 1 if is_one else numeral_of(found["count"], self.setting.language)
        if not way or count is None:
            return None
        return self.today + timedelta(days=way * count * self.words.units[found["unit"]])
