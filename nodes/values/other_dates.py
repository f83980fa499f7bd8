"""Dates in other languages and styles, by dateparser."""

from __future__ import annotations

import re
from datetime import date, datetime
from functools import cache
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
    known = _parsed(said, field, setting)
    return known.isoformat() if known else None


def _parsed(said: str, field: Field, setting: Setting) -> date | None:
    import dateparser  # noqa: PLC0415 - 0.2 s

    # The day alone: dateparser keeps every setting that it was ever given.
    base = datetime(setting.at.year, setting.at.month, setting.at.day)  # noqa: DTZ001
    settings: Any = {
        "RELATIVE_BASE": base,
        "PREFER_DATES_FROM": "past" if wants_past(field, setting) else "future",
        "DATE_ORDER": "MDY" if month_is_first(setting) else "DMY",
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


@cache
def load() -> None:
    """Import dateparser and its languages, for which no message should have to wait."""
    import dateparser  # noqa: PLC0415 - as above

    dateparser.parse("12 mars", languages=list(_LANGUAGES))
