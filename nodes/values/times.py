"""Times of day: with a colon, am and pm, "Uhr", and in words.

An hour from 1 to 11 without anything that says which half of the day is meant is one of the
morning, unless a range of the field does not take that and takes the evening's.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import time
from itertools import islice

from journeys.fields import Field
from nodes.values.bounds import first_fitting
from nodes.values.numerals import german, numerals_in
from nodes.values.scanning import MOST_HITS, Hit, apart, before
from nodes.values.setting import Setting

_NOON = 12
_PM = r"(?P<half>\s?(?:a\.\s?m\.?|p\.\s?m\.?|am|pm)(?![\w]))"
_CLOCK = re.compile(
    r"(?<![\w.,/:+-])(?P<hour>[01]?\d"
    r"|2[0-4])(?P<sign>\s?:\s?|[.h])(?P<minute>[0-5]\d)(?::(?P<second>[0-5]\d))?"
    rf"(?:{_PM})?(?P<unit>\s?(?:uhr|h|o'?\s?clock|hours|hrs)\b)?(?![\w]|[:/-]?\d|[.,]\d)",
    re.IGNORECASE,
)
_HALVED = re.compile(rf"(?<![\w.,/:+-])(?P<hour>1[0-2]|0?[1-9]){_PM}", re.IGNORECASE)
_HOURS = re.compile(
    r"(?<![\w.,/:+-])(?P<hour>[01]?\d|2[0-4])\s?(?:uhr|h"
    r"|o'?clock)\b(?:\s?(?P<minute>[0-5]?\d)(?![\w:.,]))?",
    re.IGNORECASE,
)
_MILITARY = re.compile(
    r"(?<![\w.,/:+-])(?P<hour>[01]\d|2[0-3])(?P<minute>[0-5]\d)\s?(?:hours|hrs|h|uhr)\b",
    re.IGNORECASE,
)
_FOUR_DIGITS = re.compile(r"\A\s*(?P<hour>[01]\d|2[0-3])(?P<minute>[0-5]\d)\s*[.!]?\s*$")
_HOUR = (
    r"(?P<hour>1[0-9]|2[0-4]|0?\d|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve"
    r"|eins|ein|zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|elf|zwölf)"
)
_MINUTES = (
    r"(?P<minutes>[0-5]?\d|five|ten|twenty(?:-five)?|a\s+quarter|quarter|half|fünf|zehn|zwanzig"
    r"|viertel|dreiviertel)"
)
_PAST = re.compile(
    rf"\b{_MINUTES}(?:\s*(?:minutes?|mins?|minuten))?\s+(?P<way>past|after|to|before|till|nach|vor)"
    rf"\s+(?P<half_of>halb\s+)?{_HOUR}(?![\w:]|[.,]\d)(?:{_PM})?",
    re.IGNORECASE,
)
_GERMAN_HALF = re.compile(
    r"(?:(?P<before>(?:kurz|etwa|so)\s+))?\b(?P<part>halb|dreiviertel|viertel)\s+"
    rf"{_HOUR}(?![\w:]|[.,]\d)",
    re.IGNORECASE,
)
_ENGLISH_HALF = re.compile(rf"\bhalf\s+{_HOUR}(?![\w:]|[.,]\d)(?:{_PM})?", re.IGNORECASE)
_WORDED = re.compile(
    rf"\b{_HOUR}(?:[\s-]+(?P<minute>thirty|fifteen|forty-five|forty\s+five|ten|twenty|oh\s+five))?"
    r"(?P<unit>\s+(?:o'?clock|uhr)\b|" + _PM + r")?(?![\w:/%]|[.,-]\d)",
    re.IGNORECASE,
)
_AT = re.compile(
    r"\b(?:at|um|by|gegen|around|ab|from|before|after|till|until)\s+(?:about\s+|etwa\s+)?$",
    re.IGNORECASE,
)
_STOP = re.compile(
    r"\s*(?:$|[,.;!?)]|(?:and|for|on|with|please|tomorrow|today|tonight|in|or|und|für|am|mit"
    r"|bitte|morgen|heute"
    r"|sharp|would|if|under|name|my|this|next)\b)",
    re.IGNORECASE,
)
_NAMED = re.compile(
    r"\b(?P<name>(?:12\s+)?(?:noon|midnight)|midday|mitternacht|12\s+mittags)\b"
    r"|(?<!nach)(?<!vor)\b(?P<mittags>mittags?)\b",
    re.IGNORECASE,
)
_MORNING = r"morning|morgens|vormittags?|früh|frühmorgens|a\.m"
_EVENING = r"evening|tonight|afternoon|abends?|nachmittags?|heute\s+abend|dinner|supper"
_NIGHT = r"night|nachts"
PART = re.compile(
    rf"\b(?:(?P<morning>{_MORNING})|(?P<evening>{_EVENING})|(?P<night>{_NIGHT}))\b", re.IGNORECASE
)
_NEAR = 24
_WORDS = {
    "thirty": 30,
    "dreißig": 30,
    "fünfzehn": 15,
    "fifteen": 15,
    "forty-five": 45,
    "forty five": 45,
    "oh five": 5,
}


def scan_times(text: str, field: Field, setting: Setting) -> list[Hit]:
    """Find times of day."""
    return [
        hit._replace(value=first_fitting(hit.value, field, setting)) for hit in readings_in(text)
    ]


def readings_in(text: str) -> list[Hit]:
    """Find times of day; the value of each is a list of what it may mean, the likeliest first."""
    hits = []
    for hit in islice(_raw(text), MOST_HITS):
        if hit.value[0] <= _NOON or not hit.value[3].startswith("a"):
            moments = _readings(hit.value, _part(text, hit))
            hits.append(hit._replace(value=[_written(moment) for moment in moments]))
    return apart(hits)


def _written(moment: time) -> str:
    return moment.isoformat("minutes" if not moment.second else "seconds")


def _raw(text: str) -> Iterator[Hit]:
    """Find times; the value is hour, minute, second, and the half of the day if it is said."""
    yield from _clocks(text)
    for pattern, read in _FORMS:
        yield from map(read, pattern.finditer(text))
    yield from _bare(text)


def _halved(found: re.Match[str]) -> Hit:
    return _hit(found, int(found["hour"]), 0, found["half"])


def _hours(found: re.Match[str]) -> Hit:
    hour = int(found["hour"])
    return _hit(found, hour, int(found["minute"] or 0), "h" if hour > _NOON else None)


def _four_digits(found: re.Match[str]) -> Hit:
    named = found[0].strip(" .!").isdecimal()
    return _hit(found, int(found["hour"]), int(found["minute"]), "h")._replace(certain=not named)


def _german_half(found: re.Match[str]) -> Hit:
    before_hour = {"halb": 30, "viertel": 45, "dreiviertel": 15}[found["part"].casefold()]
    return _less(found, _hour(found["hour"]), before_hour, None)


def _english_half(found: re.Match[str]) -> Hit:
    return _hit(found, _hour(found["hour"]), 30, found["half"])


def _named(found: re.Match[str]) -> Hit:
    is_midnight = found[0].casefold().endswith(("midnight", "mitternacht"))
    return _hit(found, 0 if is_midnight else _NOON, 0, "h")


def _clocks(text: str) -> Iterator[Hit]:
    for found in _CLOCK.finditer(text):
        said = found["half"] or found["unit"]
        # "7.30" alone may be an amount; "7:30" may not.
        certain = found["sign"] != "." or said is not None
        fixed = "h" if len(found["hour"]) == 2 and found["hour"][0] == "0" else found["half"]
        if found["sign"].casefold() == "h":
            fixed = "h"
        hit = _hit(
            found, int(found["hour"]), int(found["minute"]), fixed, int(found["second"] or 0)
        )
        yield hit._replace(certain=certain)


def _bare(text: str) -> Iterator[Hit]:
    """Find hours that stand alone: certain only after "at" and before nothing that they count."""
    for found in _WORDED.finditer(text):
        said = found["unit"] is not None
        placed = _AT.search(before(text, found.start())) is not None
        minute = " ".join((found["minute"] or "").casefold().split())
        minutes = _WORDS.get(minute, _hour(minute) if minute else 0)
        hit = _hit(found, _hour(found["hour"]), minutes, found["half"])
        certain = said or (placed and _STOP.match(text, found.end()) is not None)
        yield hit._replace(certain=certain, weak=not (said or placed or minute))


def _past(found: re.Match[str]) -> Hit:
    hour, said = _hour(found["hour"]), " ".join(found["minutes"].casefold().split())
    named = {"quarter": 15, "a quarter": 15, "viertel": 15, "half": 30, "twenty-five": 25}
    minutes = named.get(said)
    minutes = _hour(said) if minutes is None else minutes
    after = found["way"].casefold() in ("past", "after", "nach")
    if found["half_of"]:  # "fünf nach halb acht"
        return _less(found, hour, 30 - minutes if after else 30 + minutes, None)
    if after:
        return _hit(found, hour, minutes, found["half"])
    return _less(found, hour, minutes, found["half"])


def _hour(word: str) -> int:
    word = word.casefold()
    if word.isdecimal():
        return int(word)
    known = german(word)
    return known if known is not None else next((hit.value for hit in numerals_in(word)), 0)


def _less(found: re.Match[str], hour: int, minutes: int, half: str | None) -> Hit:
    return _hit(found, (hour - 1) % 24 if hour != 1 else _NOON, 60 - minutes, half)


def _hit(found: re.Match[str], hour: int, minute: int, half: str | None, second: int = 0) -> Hit:
    return Hit(found.start(), found.end(), (hour, minute, second, (half or "").strip().casefold()))


def _part(text: str, hit: Hit) -> str:
    """Return which part of the day the words near a time say."""
    found = PART.search(text[max(0, hit.start - _NEAR) : hit.end + _NEAR])
    return found.lastgroup or "" if found else ""


def _readings(said: tuple[int, int, int, str], part: str) -> list[time]:
    hour, minute, second, half = said
    hour = 0 if hour == 24 and not minute else hour
    if hour > 23 or minute > 59:
        return [time(hour % 24, minute % 60, second)]
    if half.startswith(("a", "p")) and hour <= _NOON:
        return [time(hour % _NOON + (_NOON if half.startswith("p") else 0), minute, second)]
    later = time(hour + _NOON, minute, second) if 0 < hour < _NOON else None
    if half == "h" or hour == 0 or hour > _NOON:
        return [time(hour, minute, second)]
    return _by_part(time(hour, minute, second), later, part)


def _by_part(plain: time, later: time | None, part: str) -> list[time]:
    if part == "night":
        night = plain.replace(hour=0) if plain.hour == _NOON else plain
        return [later if later and plain.hour > 6 else night]
    if part == "evening":
        return [later or plain]
    if part == "morning":
        return [plain]
    return [plain, later] if later else [plain]


_FORMS = (
    (_HALVED, _halved),
    (_HOURS, _hours),
    (_MILITARY, _four_digits),
    (_FOUR_DIGITS, _four_digits),
    (_PAST, _past),
    (_GERMAN_HALF, _german_half),
    (_ENGLISH_HALF, _english_half),
    (_NAMED, _named),
)
"""Forms of times, and what reads each."""
