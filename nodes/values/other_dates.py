"""Dates in other languages and styles, by dateparser."""

from __future__ import annotations

import re
from datetime import date, datetime
from functools import cache, lru_cache
from typing import Any

from journeys.fields import Field
from nodes.values.bounds import wants_past
from nodes.values.calendars import month_is_first
from nodes.values.setting import Setting
from nodes.values.tables import words

_LANGUAGES = words(
    """
    en de fr es it pt nl pl sv tr ru ja zh ko ar
    """
)
# Of distances in English and German we read what names a day: "5 days" alone does not.
_ELSEWHERE = _LANGUAGES[2:]
_MOST_WORDS = 4  # of a date without digits, as in "el lunes que viene"
_LONGEST, _SHORTEST = 60, 4
_LETTERS = re.compile(r"[^\W\d_]{2,}|[年月日年월일]")


def date_elsewhere(text: str, field: Field, setting: Setting) -> str | None:
    """Return a date that none of our own patterns reads; None if it is none.

    Only a day and a month together, or a word for a day, make a date: dateparser alone would take
    "50" for the year 2050.
    """
    said = text.strip(" .,!")
    if not _SHORTEST <= len(said) <= _LONGEST or not _LETTERS.search(said):
        return None
    if re.search(r"[@=<>{}\[\]|\\*^$€£%#+]", said):
        return None
    if len(said.split()) > _MOST_WORDS and not re.search(r"\d", said):
        return None
    # The day alone: dateparser keeps every setting that it was ever given.
    base = datetime(setting.at.year, setting.at.month, setting.at.day)  # noqa: DTZ001
    prefers = "past" if wants_past(field, setting) else "future"
    known = _parsed(said, base, prefers, "MDY" if month_is_first(setting) else "DMY")
    return known.isoformat() if known else None


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
def load() -> None:
    """Import dateparser and all its languages, for which no message should have to wait.

    That takes half a second.
    """
    for said in _OF_EACH:
        _parsed(said, datetime(2030, 1, 1), "future", "DMY")  # noqa: DTZ001
