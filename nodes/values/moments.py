"""Dates with a time: a day and a time of day beside each other, or so long from now."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime, timedelta

from journeys.fields import Field
from nodes.values.bounds import first_fitting
from nodes.values.dates import scan_dates
from nodes.values.numerals import german, numerals_in
from nodes.values.scanning import Hit, apart, is_filler
from nodes.values.setting import Setting
from nodes.values.times import PART, readings_in

_ISO = re.compile(
    r"(?<!\w)(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d(?::\d\d)?)(?:\.\d+)?(?P<zone>Z|[+-]\d\d:?\d\d)?(?!\w)",
    re.IGNORECASE,
)
_MOST_DAYS, _NEAR = 20, 40
_JOINTS = frozenset(("at", "t"))
_UNITS = {"minute": 60, "min": 60, "hour": 3600, "hr": 3600, "stunde": 3600}
_SOON = re.compile(
    r"(?<!\w)(?P<way>in|vor)\s+(?P<count>\d{1,4}|(?:half\s+)?[^\W\d_]+(?:-[^\W\d_]+)?)\s+"
    r"(?P<unit>minute|min|hour|hr|stunde)(?:n|en|s)?\b"
    r"|(?<!\w)(?P<before>\d{1,4}|[^\W\d_]+)\s+(?P<unit2>minute|min|hour"
    r"|hr)s?\s+(?P<way2>from\s+now|ago)\b"
    r"|(?<!\w)(?P<now>right\s+now|now|sofort|jetzt\s+gleich)(?!\w)",
    re.IGNORECASE,
)


def scan_datetimes(text: str, field: Field, setting: Setting) -> list[Hit]:
    """Find moments, local to the user's own time zone, to the minute."""
    hits = [*_iso(text, setting), *_soon(text, setting)]
    days = scan_dates(text, field, setting)
    times = [hit for hit in readings_in(text) if not hit.weak]
    for day in days[:_MOST_DAYS]:
        for hour in times[:_MOST_DAYS]:
            left, right = sorted((day, hour))
            gap = text[left.end : right.start]
            if (
                left.end <= right.start
                and len(gap) < _NEAR
                and is_filler(PART.sub(" ", gap), _JOINTS)
            ):
                moments = [f"{day.value}T{clock}" for clock in hour.value]
                value = first_fitting(moments, field, setting)
                hits.append(Hit(left.start, right.end, value, day.certain and hour.certain))
    return apart(hits)


def _iso(text: str, setting: Setting) -> Iterator[Hit]:
    for found in _ISO.finditer(text):
        try:
            moment = datetime.fromisoformat(f"{found[1]}T{found[2]}{(found['zone'] or '').upper()}")
            if moment.tzinfo is not None:
                moment = moment.astimezone(setting.at.tzinfo)
        except (ValueError, OverflowError):
            continue
        yield Hit(found.start(), found.end(), written(moment))


def _soon(text: str, setting: Setting) -> Iterator[Hit]:
    for found in _SOON.finditer(text):
        seconds = 0 if found["now"] else _seconds(found)
        if seconds is not None:
            # In absolute time, so that the hour a clock is put forward in does not count twice.
            yield Hit(
                found.start(), found.end(), written(setting.at + timedelta(seconds=seconds), False)
            )


def _seconds(found: re.Match[str]) -> int | None:
    said = (found["count"] or found["before"]).casefold()
    unit = _UNITS[(found["unit"] or found["unit2"]).casefold()]
    if said in ("half an", "half a", "einer halben"):
        return unit // 2
    count = int(said) if said.isdecimal() else _worded(said)
    if count is None:
        return None
    away = (found["way"] or found["way2"]).casefold() in ("vor", "ago")
    return -count * unit if away else count * unit


def _worded(word: str) -> int | None:
    if word in ("a", "an"):
        return 1
    known = german(word)
    return known if known is not None else next((hit.value for hit in numerals_in(word)), None)


def written(moment: datetime, exact: bool = True) -> str:
    """Return a moment as it is kept: to the minute, or to the second if that was said."""
    unit = "seconds" if exact and moment.second else "minutes"
    return moment.replace(tzinfo=None, microsecond=0).isoformat(timespec=unit)
