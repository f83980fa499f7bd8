"""Times of day and moments.

An hour without anything that says which half of the day is meant is one of the day, from 7 to 6,
unless the field asks for an evening, or its ranges take the other half alone.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from functools import cache, lru_cache

from journeygraph.journeys.declarations.fields import Field
from journeygraph.nodes.values.checking import fits, wants_past
from journeygraph.nodes.values.dates import date_of
from journeygraph.nodes.values.languages import bare, folded, language_data, one_of, spaced
from journeygraph.nodes.values.numbers import numeral_of
from journeygraph.nodes.values.setting import Setting

_NOON, _HALF_DAY = 12, 720
_LATER = {"am": (12, 12), "morning": (12, 12), "noon": (0, 6), "evening": (0, 12), "night": (6, 12)}
"""Between which hours those after noon are meant, by the part of the day."""
_NUMBER = r"\d{1,2}|[^\W\d_]+(?:[ -][^\W\d_]+)*?"
_WRITTEN = (
    r"(?P<hour>\d{1,2})[:.](?P<minute>[0-5]\d)(?::(?P<second>[0-5]\d))?(?: c)?",
    r"(?P<hour>[01]\d|2[0-3])(?P<minute>[0-5]\d)(?: c)?",
    "h(?: c)?",
    "h(?: c)? m",
)
"""Forms of every language, with h for the hour, m for minutes, c for the clock."""
_MOST_WORDS = 14


@cache
def _forms(language: str) -> list[tuple[re.Pattern[str], str]]:
    own = language_data(language).times
    part = rf"(?: (?:{one_of(own.leads_of_parts)} )?(?P<part>{one_of(own.parts)}))?"
    signs = {"h": f"(?P<hour>{_NUMBER})", "m": f"(?P<minute>{_NUMBER})", "c": one_of(own.clock)}
    forms = own.forms | dict.fromkeys(_WRITTEN, "+M")
    filled = {
        re.sub(r"\b[hmc]\b", lambda sign: signs[sign[0]], form): forms[form] for form in forms
    }
    filled[f"(?:12 )?(?P<name>{one_of(own.names)})"] = "+M"
    lead = rf"(?:{one_of(own.leads)} )?"
    return [(re.compile(f"{lead}{form}{part}"), way) for form, way in filled.items()]


@lru_cache(maxsize=1_000)  # the runs of words of a message have parts in common
def readings_of(raw: str, language: str) -> list[str]:
    """Return the times of day that all of a text may mean, the likeliest first."""
    said = spaced(raw)
    for pattern, way in _forms(language):
        if (found := pattern.fullmatch(said)) and (readings := _read(found, way, language)):
            return readings
    return []


def _read(found: re.Match[str], way: str, language: str) -> list[str]:
    said, own = found.groupdict(""), language_data(language).times
    if "name" in said:
        return [_clock(60 * own.names[said["name"]])]
    hour = numeral_of(said["hour"], language)
    minute = numeral_of(said.get("minute") or "0", language)
    if hour is None or minute is None or hour > 24 or minute > 59 or (way == "-M" and minute % 5):
        return []  # "two to three" are two times
    base = int(re.sub("[+-]M", "", way) or 0)
    minutes = 60 * hour + base + (-minute if way.endswith("-M") else minute)
    is_of_24 = not 0 < hour <= _NOON or (said["hour"].startswith("0") and not said["part"])
    readings = [_clock(minutes)] if is_of_24 else _halves(minutes, own.parts.get(said["part"], ""))
    second = said.get("second") or "00"
    return readings if second == "00" else [f"{reading}:{second}" for reading in readings]


def _halves(minutes: int, part: str) -> list[str]:
    minutes %= _HALF_DAY
    if minutes < 60:  # at twelve
        return [_clock(minutes if part in ("am", "night") else minutes + _HALF_DAY)]
    first, last = _LATER.get(part, (0, 7))
    is_late = first < minutes // 60 < last
    readings = [_clock(minutes + _HALF_DAY * is_late), _clock(minutes + _HALF_DAY * (not is_late))]
    return readings[:1] if part else readings


def _clock(minutes: int) -> str:
    return f"{minutes // 60 % 24:02}:{minutes % 60:02}"


def time_of(field: Field, raw: str, setting: Setting) -> str | None:
    """Return the time of day that a text is."""
    readings = readings_of(raw, setting.language)
    return _meant(field, readings, setting)[0] if readings else None


def _meant(field: Field, readings: Sequence[str], setting: Setting) -> Sequence[str]:
    """Return the times or moments within the ranges of a field, or all, the likeliest first."""
    return [one for one in readings if fits(one, field, setting)] or readings


def datetime_of(field: Field, raw: str, setting: Setting) -> str | None:
    """Return the moment that a text is, local to the user's own time zone, to the minute."""
    if folded(bare(raw)) in setting.words.times.now:
        return written(setting.minute)
    return _iso(raw.strip(), setting) or next(iter(_moments(field, raw, setting)), None)


def _moments(field: Field, raw: str, setting: Setting) -> Sequence[str]:
    words = bare(raw).split()
    for cut in range(1, len(words)) if len(words) <= _MOST_WORDS else ():
        first, second = " ".join(words[:cut]), " ".join(words[cut:])
        for said, hour in ((first, second), (second, first)):
            if numeral_of(folded(bare(hour)), setting.language) is not None:
                continue  # "4 tomorrow"
            times = readings_of(hour, setting.language)
            if times and (day := date_of(field, said, setting)):
                return _meant(field, _of_day(field, day, times, setting), setting)
    return ()


def _of_day(field: Field, day: str, times: Sequence[str], setting: Setting) -> list[str]:
    """Return the moments of a day, of today only those that are to come, or over, if there are."""
    now, today = written(setting.minute), setting.at.date()
    if day == str(today) and [*times] == ["00:00"]:  # the end of a day that has begun
        return [f"{today + timedelta(days=1)}T00:00"]
    moments = [f"{day}T{hour}" for hour in times]
    past = wants_past(field, setting)
    left = [moment for moment in moments if day != str(today) or (moment < now) == past]
    return left or moments


def is_half_in_doubt(field: Field, raw: str, setting: Setting) -> bool:
    """Return whether a time of day may as well be of the other half of the day."""
    if field.type == "datetime":
        return len(_moments(field, raw, setting)) > 1
    readings = readings_of(raw, setting.language) if field.type == "time" else ()
    return len(_meant(field, readings, setting)) > 1


def _iso(said: str, setting: Setting) -> str | None:
    with suppress(ValueError, OverflowError):
        moment = datetime.fromisoformat(said.upper())
        local = moment.astimezone(setting.at.tzinfo) if moment.tzinfo else moment
        return written(local) if ":" in said else None
    return None


def written(moment: datetime) -> str:
    """Return a moment as it is kept: to the minute, or to the second if it was given."""
    unit = "seconds" if moment.second else "minutes"
    return moment.replace(tzinfo=None, microsecond=0).isoformat(timespec=unit)
