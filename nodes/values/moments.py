"""Dates with a time: a day and a time of day beside each other, or so long from now."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import product

from journeys.fields import Field
from nodes.values.bounds import first_fitting
from nodes.values.dates import is_past, scan_dates
from nodes.values.numerals import german, numerals_in
from nodes.values.scanning import Hit, apart, is_filler
from nodes.values.setting import Setting
from nodes.values.times import PART, readings_in

_ISO = re.compile(
    r"(?<!\w)(\d{4}-\d\d-\d\d)(?P<joint>[T ])(\d\d:\d\d(?::\d\d)?)(?P<exact>\.\d+)?"
    r"(?P<zone>Z|[+-]\d\d:?\d\d)?(?!\w|\s*[ap]\s?\.?\s?m\b)",
    re.IGNORECASE,
)
_MIDNIGHT = re.compile("midnight|mitternacht", re.IGNORECASE)
_MOST, _NEAR = 20, 40
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
    past = is_past(text, field, setting)
    today = setting.at.date().isoformat()
    for day, hour in product(days[:_MOST], readings_in(text)[:_MOST]):
        if _belong(text, day, hour):
            start, end = min(day.start, hour.start), max(day.end, hour.end)
            moments = _moments(day.value, hour.value, past, setting)
            if day.value == today and _MIDNIGHT.search(text, hour.start, hour.end):
                # Midnight of a day that has begun is its end.
                moments = [f"{setting.at.date() + timedelta(days=1)}T00:00"]
            value = first_fitting(moments, field, setting)
            hits.append(Hit(start, end, value, day.certain and hour.certain))
    return apart(hits)


def _belong(text: str, day: Hit, hour: Hit) -> bool:
    """Say whether a time is that of a day: nothing else is said between them."""
    left, right = sorted((day, hour))
    gap = text[left.end : right.start]
    if left.end > right.start or len(gap) >= _NEAR:
        return False
    if hour.weak:  # "tomorrow, 7"
        return left is day and not gap.strip(" ,")
    return is_filler(PART.sub(" ", gap), _JOINTS)


def _moments(day: str, hours: list[str], past: bool, setting: Setting) -> list[str]:
    """Return what a day and a time may mean; of today, what is to come first, or what is over."""
    moments = [f"{day}T{hour}" for hour in hours]
    if day != setting.at.date().isoformat():
        return moments
    now = written(setting.at, False)
    return sorted(moments, key=lambda moment: (moment < now) != past)


def _iso(text: str, setting: Setting) -> Iterator[Hit]:
    for found in _ISO.finditer(text):
        if found["joint"] == " " and not (found["exact"] or found["zone"]):
            continue  # a day and a time as any other, of which more may be said
        try:
            moment = datetime.fromisoformat(f"{found[1]}T{found[3]}{(found['zone'] or '').upper()}")
            if moment.tzinfo is not None:
                moment = moment.astimezone(setting.at.tzinfo)
        except (ValueError, OverflowError):
            continue
        yield Hit(found.start(), found.end(), written(moment))


def _soon(text: str, setting: Setting) -> Iterator[Hit]:
    for found in _SOON.finditer(text):
        seconds = 0 if found["now"] else _seconds(found)
        if seconds is not None:
            # In absolute time, so that a clock that is put forward does not lose an hour of it.
            moment = setting.at.astimezone(UTC) + timedelta(seconds=seconds)
            local = moment.astimezone(setting.at.tzinfo)
            yield Hit(found.start(), found.end(), written(local, False))


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
