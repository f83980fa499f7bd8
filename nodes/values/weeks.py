"""Days by their distance from the one on which it is said: "tomorrow", "friday", "in 3 weeks"."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import date, timedelta

from nodes.values.calendars import SHORT_WEEKDAYS, WEEKDAYS
from nodes.values.days import after_days, after_months
from nodes.values.numerals import german, numerals_in
from nodes.values.scanning import Hit, before

_LONG = sorted(WEEKDAYS, key=len, reverse=True)
_DAY = "|".join(_LONG)
_NEAR = {
    "day before yesterday": -2,
    "vorgestern": -2,
    "yesterday": -1,
    "last night": -1,
    "gestern": -1,
    "today": 0,
    "tonight": 0,
    "heute": 0,
    "tomorrow": 1,
    "morgen": 1,
    "day after tomorrow": 2,
    "übermorgen": 2,
    "uebermorgen": 2,
}
_TOMORROW = r"tom+or+ow|tomorow|tmrw|tmr|tmw|2moro|2morrow"
_NEAR_WORDS = re.compile(
    rf"(?<!\w)(?:(?:the\s+)?(?P<after>day\s+after\s+(?:{_TOMORROW})|day\s+before\s+yesterday"
    rf"|overmorrow)"
    r"|(?P<near>last\s+night|"
    + "|".join(n for n in _NEAR if " " not in n)
    + rf"|{_TOMORROW}))(?!\w)",
    re.IGNORECASE,
)
# "Morgen" is the morning too.
_MORNING = re.compile(rf"(?:guten|am|jeden|heute|gestern|{_DAY})\s+$", re.IGNORECASE)
_UNITS = {
    "day": 1, "days": 1, "tag": 1, "tage": 1, "tagen": 1,
    "week": 7, "weeks": 7, "woche": 7, "wochen": 7,
    "fortnight": 14, "month": 30, "months": 30, "monat": 30, "monate": 30, "monaten": 30,
    "year": 365, "years": 365, "jahr": 365, "jahre": 365, "jahren": 365,
}  # fmt: skip
_UNIT = "|".join(sorted(_UNITS, key=len, reverse=True))
_COUNT = rf"(?P<count>\d{{1,4}}|[^\W\d_]+(?:-[^\W\d_]+)?)\s+(?P<unit>{_UNIT})\b"
_IN = re.compile(
    rf"\b(?P<way>in|vor|within|nach)\s+(?:about\s+|etwa\s+)?{_COUNT}(?:'?s?\s+time\b)?",
    re.IGNORECASE,
)
_FROM = re.compile(
    rf"(?<!\w){_COUNT}\s+(?P<way>ago|from\s+now|from\s+today|from\s+tomorrow|later|hence|ab\s+heute"
    rf"|from\s+(?P<base>{_DAY}))\b",
    re.IGNORECASE,
)
_LAST_DAY = re.compile(
    r"\b(?:the\s+)?(?:end|last\s+day)\s+of\s+(?:the|this)\s+month\b|\bmonatsende\b"
    r"|\bende\s+(?:des|dieses)\s+monats\b",
    re.IGNORECASE,
)
_WEEKDAY = re.compile(
    rf"(?:(?<!\w)(?P<which>this\s+coming|this|next|coming|last|past|diese[nrms]?|nächste[nrms]?"
    rf"|naechste[nrms]?"
    r"|kommende[nrms]?|letzte[nrms]?|vorige[nrms]?|vergangene[nrms]?|übernächste[nrms]?)\s+)?"
    rf"(?<!\w)(?P<day>{_DAY})\b\.?"
    r"(?P<later>\s+(?:after\s+next|next\s+week|nächster\s+woche|nächste\s+woche|in\s+einer\s+woche"
    r"|in\s+a\s+week|week|in\s+two\s+weeks|in\s+zwei\s+wochen|in\s+14\s+tagen))?",
    re.IGNORECASE,
)
_WEEK_BEFORE = re.compile(
    rf"\b(?P<lead>next\s+week(?:\s+on)?|nächste\s+woche(?:\s+am)?)\s+(?P<day>{_DAY})\b",
    re.IGNORECASE,
)
_NEXT_WEEK_BEGINS = re.compile(
    r"\b(?:the\s+)?(?:start|beginning|first\s+day)\s+of\s+next\s+week\b"
    r"|\b(?:anfang|beginn)\s+(?:der\s+)?(?:nächsten?r?|kommenden?r?)\s+woche\b",
    re.IGNORECASE,
)
_LATER = {
    "after next": 7, "in einer woche": 7, "in a week": 7, "week": 7,
    "in two weeks": 14, "in zwei wochen": 14, "in 14 tagen": 14,
}  # fmt: skip
Found = Iterator[tuple[re.Match[str], date | None, bool]]


def relative_days(text: str, today: date, first_day: int) -> Found:
    """Find days that are named by their distance from today.

    Args:
        text: A message.
        today: The day on which it is said.
        first_day: The day that a week begins with; Monday is 0.
    """
    for found in _NEXT_WEEK_BEGINS.finditer(text):
        yield found, _next_week(today, first_day), True
    for found in _NEAR_WORDS.finditer(text):
        distance = _distance(found)
        if found[0].casefold() == "morgen" and _MORNING.search(before(text, found.start())):
            continue
        yield found, after_days(today, distance), True
    for found in _LAST_DAY.finditer(text):
        month = after_months(today.replace(day=1), 1)
        yield found, after_days(month, -1) if month else None, True
    for pattern in (_IN, _FROM):
        for found in pattern.finditer(text):
            yield found, _counted(found, today), True


def _distance(found: re.Match[str]) -> int:
    if found["after"]:
        return -2 if "yesterday" in found["after"].casefold() else 2
    return _NEAR.get(" ".join(found["near"].casefold().split()), 1)


def _counted(found: re.Match[str], today: date) -> date | None:
    count = _count(found["count"].casefold())
    if count is None:
        return None
    way = " ".join(found["way"].casefold().split())
    count = -count if way in ("ago", "vor") else count
    start: date | None = after_days(today, 1) if way == "from tomorrow" else today
    if base := found.groupdict().get("base"):
        start = after_days(today, (WEEKDAYS[base.casefold()] - today.weekday()) % 7 or 7)
    unit = _UNITS[found["unit"].casefold()]
    move: Callable[[date, int], date | None] = after_days
    if unit >= 30:
        move, unit = after_months, unit // 30
    return move(start, count * unit) if start else None


def _count(word: str) -> int | None:
    if word.isdecimal():
        return int(word)
    if word in ("a", "an"):
        return 1
    known = german(word)
    return known if known is not None else next((hit.value for hit in numerals_in(word)), None)


def weekdays_in(text: str, today: date, past: bool, first_day: int) -> list[Hit]:
    """Find names of days: the next such day after today, or the last one before.

    "next friday" is the coming one, as most libraries have it; "friday next week" is counted from
    the first day of the week on. An abbreviation that is another word too is weak: it counts beside
    a date only.
    """
    hits = [
        Hit(found.start(), found.end(), _next_week(today, first_day, found["day"]).isoformat())
        for found in _WEEK_BEFORE.finditer(text)
    ]
    for found in _WEEKDAY.finditer(text):
        if any(hit.start <= found.start() < hit.end for hit in hits):
            continue
        day = _weekday(found, today, past, first_day)
        short = found["day"].casefold() in SHORT_WEEKDAYS
        start = found.start() + len(found[0]) - len(found[0].lstrip())
        hits.append(Hit(start, found.end(), day.isoformat(), not short, short))
    return sorted(hits)


def _weekday(found: re.Match[str], today: date, past: bool, first_day: int) -> date:
    which = (found["which"] or "").casefold()
    later = " ".join((found["later"] or "").casefold().split())
    ahead = (WEEKDAYS[found["day"].casefold()] - today.weekday()) % 7
    if which.startswith(("last", "past", "letzt", "vorig", "vergangen")) or (past and not which):
        return today + timedelta(days=ahead - 7)
    if later in ("next week", "nächster woche", "nächste woche"):
        return _next_week(today, first_day, found["day"])
    ahead = ahead if which.startswith(("this", "diese")) else ahead or 7
    more = 7 if which.startswith("übernächst") else _LATER.get(later, 0)
    return today + timedelta(days=ahead + more)


def _next_week(today: date, first_day: int, name: str = "") -> date:
    """Return a day of the next week by its name; by default its first one."""
    begins = today + timedelta(days=7 - (today.weekday() - first_day) % 7)
    day = WEEKDAYS[name.casefold()] if name else first_day
    return begins + timedelta(days=(day - first_day) % 7)
