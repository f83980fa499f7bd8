"""Times of day and moments.

An hour without anything that says which half of the day is meant is one of the day, from 7 to 6,
unless the field asks for an evening, or its ranges take the other half alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from functools import cache, lru_cache
from typing import Any

from journeygraph.journeys.notions.fields import Field
from journeygraph.nodes.values.checking import fits, wants_past
from journeygraph.nodes.values.dates import date_of, distant
from journeygraph.nodes.values.languages import bare, folded, language_data, one_of
from journeygraph.nodes.values.numbers import numeral_of
from journeygraph.nodes.values.setting import Setting, question_of

_NOON, _HALF_DAY = 12, 720
_LATER = {
    "morning": (12, 12),
    "noon": (0, 6),
    "evening": (0, 12),
    "meal": (0, 12),
    "night": (6, 12),
}
"""Between which hours those after noon are meant, by the part of the day."""
_NUMBER = r"\d{1,2}|[^\W\d_]+(?:[ -][^\W\d_]+)*?"
_MOST_WORDS = 14


@cache
def _forms(language: str) -> list[tuple[re.Pattern[str], str]]:
    """Return the forms of times, each with what it adds to the hour or takes off."""
    own = language_data(language).times
    clock, hour, minute = one_of(own.clock), rf"(?P<hour>{_NUMBER})", rf"(?P<minute>{_NUMBER})"
    part = rf"(?: (?:{one_of(own.leads_of_parts)} )?(?P<part>{one_of(own.parts)}))?"
    meridiem = r"p\.? ?m|a\. ?m" if "am" in language_data(language).dates.leads else r"[ap]\.? ?m"
    half = rf"(?: ?-?\(?(?P<half>{meridiem})\.?\)?)?"
    filled = {"h": hour, "m": minute, " c": f" ?{clock}"}
    forms = {
        re.sub(r"\b[hm]\b| c\b", lambda found: filled[found[0]], form): way
        for form, way in own.forms.items()
    }
    written = (
        rf"(?P<hour>\d{{1,2}})[:.](?P<minute>[0-5]\d)(?::(?P<second>[0-5]\d))?(?: ?{clock})?",
        rf"(?P<hour>\d{{1,2}}) ?{clock} ?(?P<minute>[0-5]\d)",
        rf"(?P<hour>[01]\d|2[0-3])(?P<minute>[0-5]\d)(?: ?{clock})?",
        rf"{hour}(?: ?{clock})?",
        rf"{hour}(?: {clock})? {minute}",
        rf"(?:12 )?(?P<name>{one_of(own.names)})",
    )
    lead = rf"(?:{one_of(own.leads)} )?"
    forms |= dict.fromkeys(written, "+M")
    return [(re.compile(f"{lead}{form}{half}{part}"), way) for form, way in forms.items()]


@lru_cache(maxsize=1_000)  # the runs of words of a message have parts in common
def readings_of(raw: str, setting: Setting) -> list[str]:
    """Return the times of day that all of a text may mean, the likeliest first."""
    said = folded(bare(raw).replace(",", " "))
    for pattern, way in _forms(setting.language):
        if (found := pattern.fullmatch(said)) and (readings := _read(found, way, setting)):
            return readings
    return []


def _read(found: re.Match[str], way: str, setting: Setting) -> list[str]:
    """Return what a form means."""
    said, own = found.groupdict(""), setting.words.times
    if "name" in said and not said["half"]:
        return [_clock(60 * own.names[said["name"]])]
    hour = _number(said["hour"], setting) if "hour" in said else _NOON
    minute = _number(said["minute"], setting) if "minute" in said else 0
    if hour is None or minute is None or hour > 24 or minute > 59:
        return []
    if way == "-M" and minute % 5 and len(said["minute"]) == len(found[0].split()[0]):
        return []  # "two to three"
    base = int(re.sub("[+-]M", "", way) or 0)
    minute = base + (-minute if way.endswith("-M") else minute)
    readings = _of_day(60 * hour + minute, hour, said, own.parts.get(said["part"], ""))
    second = said.get("second") or "00"
    return readings if second == "00" else [f"{reading}:{second}" for reading in readings]


def _of_day(minutes: int, hour: int, said: dict[str, str], part: str) -> list[str]:
    """Return the readings of an hour with what says which half of the day is meant."""
    if half := said["half"][:1]:
        if hour > _NOON:
            return [] if half == "a" else [_clock(minutes)]
        return [_clock(minutes - 60 * hour + 60 * (hour % _NOON) + _HALF_DAY * (half == "p"))]
    if not 0 < hour <= _NOON or (said["hour"].startswith("0") and not part):
        return [_clock(minutes)]
    minutes %= _HALF_DAY
    if minutes < 60:  # at twelve
        return [_clock(minutes if part == "night" else minutes + _HALF_DAY)]
    first, last = _LATER.get(part, (0, 7))
    is_late = first < minutes // 60 < last
    readings = [_clock(minutes + _HALF_DAY * is_late), _clock(minutes + _HALF_DAY * (not is_late))]
    return readings[:1] if part else readings


def _clock(minutes: int) -> str:
    return f"{minutes // 60 % 24:02}:{minutes % 60:02}"


def _number(said: str, setting: Setting) -> int | None:
    known = setting.words.times.minutes.get(said)
    return numeral_of(said, setting.language) if known is None else known


def time_of(field: Field, raw: str, setting: Setting) -> str | None:
    """Return the time of day that a text is."""
    readings = readings_of(raw, setting)
    return _meant(readings, field, setting)[0] if readings else None


def _meant(readings: Sequence[str], field: Field, setting: Setting) -> tuple[str, bool]:
    """Return the reading that is meant, and whether the field leaves no other.

    It is the first that the ranges allow, the later one where the field asks for an evening.
    """
    evening = _asks_for_evening(field, setting)
    ordered = sorted(readings, reverse=True) if evening else readings
    fitting = [one for one in ordered if fits(one, field, setting)]
    decided = evening or len(readings) == 1 or 0 < len(fitting) < len(ordered)
    return (fitting or ordered)[0], decided


def _asks_for_evening(field: Field, setting: Setting) -> bool:
    question, parts = folded(question_of(field)), setting.words.times.parts.items()
    named = {part for said, part in parts if re.search(rf"\b{re.escape(said)}\b", question)}
    return bool(named & {"evening", "meal"}) and "morning" not in named


def datetime_of(field: Field, raw: str, setting: Setting) -> str | None:
    """Return the moment that a text is, local to the user's own time zone, to the minute."""
    if moment := _iso(raw.strip(), setting) or _soon(folded(bare(raw)), setting):
        return moment
    return next((_of_both(field, *both, setting) for both in _parted(field, raw, setting)), None)


def _parted(field: Field, raw: str, setting: Setting) -> Iterator[tuple[str, list[str]]]:
    words = bare(raw).split()
    for cut in range(1, len(words)) if len(words) <= _MOST_WORDS else ():
        first, second = " ".join(words[:cut]), " ".join(words[cut:])
        for day, hour in ((first, second), (second, first)):
            if numeral_of(folded(bare(hour)), setting.language) is not None:
                continue  # "4 tomorrow"
            if (read := date_of(field, day, setting)) and (times := readings_of(hour, setting)):
                yield read, times


def _of_both(field: Field, day: str, readings: Sequence[str], setting: Setting) -> str:
    now, today = written(setting.minute), setting.at.date()
    moments = [f"{day}T{hour}" for hour in readings]
    if _asks_for_evening(field, setting):
        moments.sort(reverse=True)
    elif day == today.isoformat():
        past = wants_past(field, setting)
        moments.sort(key=lambda moment: (moment < now) != past)
    if moments == [f"{today}T00:00"]:  # the midnight of a day that has begun is its end
        moments = [f"{today + timedelta(days=1)}T00:00"]
    return next((one for one in moments if fits(one, field, setting)), moments[0])


def is_half_in_doubt(field: Field, raw: str, value: Any, setting: Setting) -> bool:
    """Return whether a time of day may as well be of the other half of the day."""
    if field.type == "time":
        readings = readings_of(raw, setting)
        return bool(readings) and not _meant(readings, field, setting)[1]
    if field.type != "datetime" or not [1 for _, r in _parted(field, raw, setting) if len(r) > 1]:
        return False
    moment = datetime.fromisoformat(value)
    other = moment.replace(hour=(moment.hour + _NOON) % 24)
    decided = (other < setting.minute) is not (moment < setting.minute)
    decided = decided or _asks_for_evening(field, setting)
    return not decided and fits(written(other), field, setting)


def _iso(said: str, setting: Setting) -> str | None:
    with suppress(ValueError, OverflowError):
        moment = datetime.fromisoformat(said.upper())
        local = moment.astimezone(setting.at.tzinfo) if moment.tzinfo else moment
        return written(local) if ":" in said else None
    return None


def _soon(said: str, setting: Setting) -> str | None:
    """Return a moment by its distance from now, in hours and minutes."""
    words, now = setting.words, setting.at.replace(second=0)
    if said in words.times.now:
        return written(now)
    if not [1 for word in said.split() if words.dates.units.get(word) in ("hours", "minutes")]:
        return None
    # In absolute time, so that a clock that is put forward does not lose an hour of it.
    moment = distant(said, setting, now.astimezone(UTC))
    return written(moment.astimezone(setting.at.tzinfo)) if moment else None


def written(moment: datetime) -> str:
    """Return a moment as it is kept: to the minute, or to the second if it was given."""
    unit = "seconds" if moment.second else "minutes"
    return moment.replace(tzinfo=None, microsecond=0).isoformat(timespec=unit)
