"""Times of day: with a colon, am and pm, "Uhr", and in words.

An hour from 1 to 11 without anything that says which half of the day is meant is one of the
morning, unless a range of the field does not take that and takes the evening's.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import time
from itertools import islice
from typing import NamedTuple

from journeys.fields import Field
from nodes.values.bounds import first_fitting
from nodes.values.calendars import WEEKDAYS
from nodes.values.numerals import german, numerals_in
from nodes.values.scanning import MOST_HITS, Hit, apart, before, words_in
from nodes.values.setting import Setting
from nodes.values.tables import words

_NOON = 12
_AM_PM = r"(?:[ap]\s?\.?\s?m\b\.?)"
# "pm", "P.M.", " p. m.", " (pm)", "-pm"; "p" alone only behind minutes.
_PM = (
    rf"(?P<half>\s*\(\s*{_AM_PM}\s*\)|(?:\s*-?\s*|\.(?=[ap])|,\s?(?=pm|[ap]\.)){_AM_PM}"
    r"|(?<=:\d\d)[ap])(?!\w)"
)
_CLOCK = re.compile(
    r"(?<![\w.,/:+-])(?P<hour>[01]?\d"
    r"|2[0-4])(?P<sign>\s?:\s?|[.h])(?P<minute>[0-5]\d)(?::(?P<second>[0-5]\d))?"
    rf"(?P<unit>\s?(?:uhr|h|o'?\s?clock|hours|hrs)\b)?(?:{_PM})?(?![\w]|[:/-]?\d|[.,]\d)",
    re.IGNORECASE,
)
_HALVED = re.compile(
    rf"(?<![\w.,/:+-])(?P<hour>1[0-2]|0?\d)(?P<minute>[0-5]\d)?{_PM}", re.IGNORECASE
)
_HOURS = re.compile(
    r"(?<![\w.,/:+-])(?P<hour>[01]?\d|2[0-4])\s?(?:uhr|h"
    rf"|o'?\s?clock)\b(?:\s?(?P<minute>[0-5]?\d)(?![\w:.,]))?(?:{_PM})?",
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
    rf"\b{_MINUTES}(?:\s*(?:minutes?|mins?|minuten))?[\s-]+(?P<way>past|after|to|before|till|nach|vor)"
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
    rf"(?<!:)(?<!\d[.,])\b{_HOUR}(?:[\s-]+(?P<minute>thirty|fifteen|forty-five|forty\s+five|ten|twenty|oh\s+five))?"
    rf"(?P<unit>\s+(?:o'?clock|uhr)\b)?(?:{_PM})?(?![\w:/%]|[.,-]\d)",
    re.IGNORECASE,
)
_UNDER_TEN = "one|two|three|four|five|six|seven|eight|nine"
# Minutes that are no hours of their own: of "for four 10 pm" they may be either.
_SPELLED = re.compile(
    rf"(?<![.,/:+-])\b{_HOUR}[\s-]+(?P<minutes>0\d|1[3-9]|[2-5]\d|(?:oh|o|zero)[\s-](?:{_UNDER_TEN})"
    rf"|(?:thir|four|fif|six|seven|eigh|nine)teen|(?:twenty|thirty|forty|fifty)(?:[\s-](?:{_UNDER_TEN}))?)"
    rf"{_PM}",
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
    r"\b(?:12(?:[:.]00)?\s*(?:[ap]\.?m\.?\s*)?)?(?P<name>noon|midnight|midday|mitternacht)\b"
    r"|\b12(?:[:.]00)?(?:\s*uhr)?\s+(?:am\s+)?mittags?\b"
    r"|(?<!nach)(?<!vor)\b(?P<mittags>mittags?)\b",
    re.IGNORECASE,
)
_MORNING = (
    r"morning|morgens|vormittags?|früh|frühmorgens|(?<=am )morgen|(?<=heute )morgen"
    r"|(?<=gestern )morgen|(?<=tag)morgen|(?<=twoch)morgen"
)
_EVENING = r"evening|tonight|afternoon|abends?|nachmittags?|heute\s+abend"
_NIGHT = r"night|nachts"
# A greeting says when it is now, and not which time is meant. "Montagabend" is one word.
PART = re.compile(
    r"(?<!good )(?<!guten )(?:(?<!\w)|(?<=tag)|(?<=twoch))"
    rf"(?:(?P<morning>{_MORNING})|(?P<evening>{_EVENING})|(?P<night>{_NIGHT})|(?P<noon>mittags?)"
    r"|(?P<meal>dinner|supper))\b",
    re.IGNORECASE,
)
_NEAR = 24
_JOINING = frozenset(
    words(
        """
        in the at um am on this of uhr h hrs hours o'clock clock o about around gegen etwa ca by for
        today tomorrow heute morgen sharp genau
        """
    )
).union(WEEKDAYS)
"""Words between a time and the part of the day that it belongs to."""
_SIGNS = re.compile(r"[^\w\s,'.]")
_SMALL_HOURS = re.compile(r"\s*in the morning\b", re.IGNORECASE)
_OF_NOON = re.compile(r"(?:\d|uhr|ein|eins|zwei|drei|elf|zwölf)\s*(?:am\s+)?\Z", re.IGNORECASE)
# "um 12 am Montag": the preposition.
_GERMAN_AM = re.compile(
    r"\s+(?:(?:frühen|späten|nächsten|kommenden|selben|gleichen|folgenden|darauffolgenden)\b"
    r"|(?:vor|nach)?mittag\b|morgen\b|abend\b|tag\b|wochenende\b|\d{1,2}\.(?:\D|\d{1,2}\.|\Z)"
    r"|(?:mon|diens|donners|frei|sams|sonn)tag|mittwoch|sonnabend)",
    re.IGNORECASE,
)
_GERMAN_UM = re.compile(r"\b(?:um|gegen|ab)\s+\Z", re.IGNORECASE)
_WORD_BEHIND = re.compile(r"\s+[^\W\d_]")
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
        if hit.value.hour <= _NOON or hit.value.half != "a":
            moments = _readings(hit.value, text, hit)
            hits.append(hit._replace(value=[_written(moment) for moment in moments]))
    return apart(hits)


class _Clock(NamedTuple):
    """A time as it was written.

    Attributes:
        half: "a" or "p" where am or pm was said, else empty.
        whole: Whether the hour counts from 0 to 24.
        zero: Whether it leads with a zero, so that it does unless words beside it say otherwise.
    """

    hour: int
    minute: int
    second: int = 0
    half: str = ""
    whole: bool = False
    zero: bool = False


def _written(moment: time) -> str:
    return moment.isoformat("minutes" if not moment.second else "seconds")


def _raw(text: str) -> Iterator[Hit]:
    """Find times as they are written."""
    for pattern, read in _FORMS:
        yield from map(read, pattern.finditer(text))
    yield from (hit for found in _NAMED.finditer(text) if (hit := _named(found)))
    yield from _bare(text)


def _clock(found: re.Match[str]) -> Hit:
    by_h = found["sign"].casefold() == "h"
    hit = _hit(found, int(found["hour"]), int(found["minute"]), whole=by_h)
    second = int(found["second"] or 0)
    value = hit.value._replace(second=second, zero=len(found["hour"]) == 2 and found["hour"] < "10")
    # "7.30" alone may be an amount; "7:30" may not.
    certain = found["sign"] != "." or bool(value.half or found["unit"])
    return hit._replace(value=value, certain=certain)


def _halved(found: re.Match[str]) -> Hit:
    return _hit(found, int(found["hour"]), int(found["minute"] or 0))


def _spelled(found: re.Match[str]) -> Hit:
    words_of_minutes = re.split(r"[\s-]+", found["minutes"].casefold())
    minutes = sum(_hour(word) for word in words_of_minutes)
    return _hit(found, _hour(found["hour"]), minutes)


def _hours(found: re.Match[str]) -> Hit:
    return _hit(found, int(found["hour"]), int(found["minute"] or 0))


def _four_digits(found: re.Match[str]) -> Hit:
    named = found[0].strip(" .!").isdecimal()
    hit = _hit(found, int(found["hour"]), int(found["minute"]), whole=True)
    return hit._replace(certain=not named)


def _german_half(found: re.Match[str]) -> Hit:
    before_hour = {"halb": 30, "viertel": 45, "dreiviertel": 15}[found["part"].casefold()]
    return _less(found, _hour(found["hour"]), before_hour)


def _english_half(found: re.Match[str]) -> Hit:
    return _hit(found, _hour(found["hour"]), 30)


def _named(found: re.Match[str]) -> Hit | None:
    if found["mittags"] and _OF_NOON.search(before(found.string, found.start())):
        return None  # "1 Uhr mittags"
    is_midnight = (found["name"] or "").casefold() in ("midnight", "mitternacht")
    return _hit(found, 0 if is_midnight else _NOON, 0, whole=True)


def _bare(text: str) -> Iterator[Hit]:
    """Find hours that stand alone: certain only after "at" and before nothing that they count."""
    for found in _WORDED.finditer(text):
        placed = _AT.search(before(text, found.start())) is not None
        minute = " ".join((found["minute"] or "").casefold().split())
        minutes = _WORDS.get(minute, _hour(minute) if minute else 0)
        hit = _hit(found, _hour(found["hour"]), minutes)
        said = bool(hit.value.half or found["unit"])
        certain = said or (placed and _STOP.match(text, found.end()) is not None)
        yield hit._replace(certain=certain, weak=not (said or placed or minute))


def _past(found: re.Match[str]) -> Hit:
    hour, said = _hour(found["hour"]), " ".join(found["minutes"].casefold().split())
    named = {"quarter": 15, "a quarter": 15, "viertel": 15, "half": 30, "twenty-five": 25}
    minutes = named.get(said)
    minutes = _hour(said) if minutes is None else minutes
    after = found["way"].casefold() in ("past", "after", "nach")
    if found["half_of"]:  # "fünf nach halb acht"
        return _less(found, hour, 30 - minutes if after else 30 + minutes)
    if after:
        return _hit(found, hour, minutes)
    return _less(found, hour, minutes)


def _hour(word: str) -> int:
    word = word.casefold()
    if word.isdecimal():
        return int(word)
    known = german(word)
    return known if known is not None else next((hit.value for hit in numerals_in(word)), 0)


def _less(found: re.Match[str], hour: int, minutes: int) -> Hit:
    """Return the time that is so many minutes before an hour."""
    hit = _hit(found, (hour - 1) % 24 if hour != 1 else _NOON, 60 - minutes)
    if hour == _NOON and hit.value.half:  # "quarter to 12 pm" is in the morning
        return hit._replace(value=hit.value._replace(half={"a": "p", "p": "a"}[hit.value.half]))
    return hit


def _hit(found: re.Match[str], hour: int, minute: int, *, whole: bool = False) -> Hit:
    half, end = found.groupdict().get("half") or "", found.end()
    if _is_preposition(found, half):
        half, end = "", found.start("half")
    letter = next((sign for sign in half.casefold() if sign in "ap"), "")
    return Hit(found.start(), end, _Clock(hour, minute, 0, letter, whole))


def _is_preposition(found: re.Match[str], half: str) -> bool:
    if half[:1] == "a" or half.strip(" (-").casefold() != "am":
        return False
    text, end = found.string, found.end("half")
    if _GERMAN_AM.match(text, end):
        return True
    return bool(_GERMAN_UM.search(before(text, found.start())) and _WORD_BEHIND.match(text, end))


def _part(text: str, hit: Hit, *, joined: bool = False) -> str:
    """Return which part of the day the words near a time say.

    Args:
        text: The message.
        hit: The time.
        joined: Whether nothing else may stand between the two, and the words name the part.
    """
    start, end = max(0, hit.start - _NEAR), hit.end + _NEAR
    for found in PART.finditer(text, start, end):
        left, right = sorted((found.span(), (hit.start, hit.end)))
        gap = text[left[1] : max(left[1], right[0])]
        if joined and found["meal"]:
            continue
        if not joined or (not _SIGNS.search(gap) and _JOINING.issuperset(words_in(gap))):
            return found.lastgroup or ""
    return ""


def wordings(text: str, hit: Hit) -> Iterator[str]:
    """Yield the words that may give a time: its own, then with each part of the day near it."""
    own = text[hit.start : hit.end]
    yield own
    for found in PART.finditer(text, max(0, hit.start - _NEAR), hit.end + _NEAR):
        yield text[min(hit.start, found.start()) : max(hit.end, found.end())]
        yield f"{own} {found[0]}"


def _readings(said: _Clock, text: str, hit: Hit) -> list[time]:
    hour, minute, second = said[:3]
    hour = 0 if hour == 24 and not minute else hour
    if hour > 23 or minute > 59:
        return [time(hour % 24, minute % 60, second)]
    if said.half and hour <= _NOON:
        return [time(hour % _NOON + (_NOON if said.half == "p" else 0), minute, second)]
    plain = time(hour, minute, second)
    later = time(hour + _NOON, minute, second) if 0 < hour < _NOON else None
    part = _part(text, hit, joined=said.zero)
    if said.whole or hour == 0 or hour > _NOON or (said.zero and not part):
        return [plain]
    if hour == _NOON and _SMALL_HOURS.match(text, hit.end):
        return [plain.replace(hour=0)]
    return _by_part(plain, later, part)


def _by_part(plain: time, later: time | None, part: str) -> list[time]:
    if part == "night":
        night = plain.replace(hour=0) if plain.hour == _NOON else plain
        return [later if later and plain.hour > 6 else night]
    if part in ("evening", "meal") or (part == "noon" and plain.hour < 6):
        return [later or plain]
    if part in ("morning", "noon"):
        return [plain]
    return [plain, later] if later else [plain]


_FORMS = (
    (_CLOCK, _clock),
    (_HALVED, _halved),
    (_SPELLED, _spelled),
    (_HOURS, _hours),
    (_MILITARY, _four_digits),
    (_FOUR_DIGITS, _four_digits),
    (_PAST, _past),
    (_GERMAN_HALF, _german_half),
    (_ENGLISH_HALF, _english_half),
)
"""Forms of times, and what reads each."""
