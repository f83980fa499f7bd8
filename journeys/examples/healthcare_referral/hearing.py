"""What people say, in the small words that every clerk must understand: yes, no, days and times."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache

from rapidfuzz import fuzz, process

from journeys.examples.healthcare_referral.material import WEEK

_APOSTROPHES = str.maketrans({"\u2019": "'", "\u2018": "'", "\u02bc": "'", "`": "'"})
_DOTTED = ((r"\bdr\.", "dr"), (r"\b([ap])\.\s?m\b\.?", r"\1m"))

_DAY_WORDS: Mapping[str, tuple[str, ...]] = {
    "Monday": ("monday", "mondays", "mon"),
    "Tuesday": ("tuesday", "tuesdays", "tue", "tues"),
    "Wednesday": ("wednesday", "wednesdays", "wed", "weds"),
    "Thursday": ("thursday", "thursdays", "thu", "thur", "thurs"),
    "Friday": ("friday", "fridays", "fri"),
    "Saturday": ("saturday", "saturdays", "weekend", "weekends"),
    "Sunday": ("sunday", "sundays"),
}
_PART_WORDS: Mapping[str, tuple[str, ...]] = {
    "morning": ("morning", "mornings"),
    "afternoon": ("afternoon", "afternoons"),
    "evening": ("evening", "evenings", "after work"),
}
PARTS: Mapping[str, tuple[str, str]] = {
    "morning": ("00:00", "12:00"),
    "afternoon": ("12:00", "17:00"),
    "evening": ("17:00", "24:00"),
}
"""From when (included) until when (not included) a part of the day lasts."""

_CLOCK = (
    r"(?<![\w:.-])(?P<hour>\d{1,2})(?:[:.h](?P<minute>[0-5]\d))?"
    r"(?:\s*(?P<half>am|pm|h|o'?clock|in the (?:morning|afternoon|evening)))?(?![\w:-])"
)
_AT = re.compile(r"(?P<at>\b(?:at|for)\s+)?" + _CLOCK)
_BOUND = re.compile(
    r"\b(?P<side>after|from|later than|before|until|till|earlier than)\s+(?:"
    + _CLOCK
    + r"|(?P<noon>noon|midday))"
)

_HOURS = [
    "one", "two", "three", "four", "five", "six",
    "seven", "eight", "nine", "ten", "eleven", "twelve",
]  # fmt: skip
_SPOKEN_HOUR = re.compile(
    rf"(?<=\bat )(?:{'|'.join(_HOURS)})\b|\b(?:{'|'.join(_HOURS)})(?= (?:[ap]m|o'?clock|in the)\b)"
)

_NO = re.compile(
    r"(?:(?<!why )\b(?:not|no|never|cannot|dont|cant|except|avoid|without|neither|nor|hate"
    r"|dislike)\b|n't\b"
    r"|\b(?:instead of|rather than|other than|anything but|anyone but|anybody but"
    r"|alternatives? to|besides|apart from)\b)"
    r"(?!\s+(?:sure|mind|only|just|matter|problem|wait))[^.,;:!?]{0,30}$"
)
_TURN = re.compile(
    r"[.,;:!?]|(?<!anyone )(?<!anybody )(?<!anything )\bbut\b|\b(?:prefer|then|please|because)\b"
)
_NO_AFTER = re.compile(
    r"^(?:'s)?\s+(?:(?:does|do|is|are|will|would|can)(?:n't| not)\b|cannot\b|won't\b"
    r"|(?:is|are) (?:no good|out|too|bad|impossible|wrong)\b)"
)


_REACH = 60
"""How many characters away a word of refusal may stand."""


@dataclass(frozen=True, slots=True)
class Mention:
    """Something named in a message, and whether the speaker turns it down."""

    name: str
    start: int
    end: int
    refused: bool


def plain(text: object) -> str:
    """Return a message in the form that this module reads; anything but text is empty.

    Example:
        >>> plain("Dr.  O'Connor, 2 P.M.?")
        "dr o'connor, 2 pm?"
    """
    if not isinstance(text, str):
        return ""
    letters = unicodedata.normalize("NFKD", text.translate(_APOSTROPHES)).casefold()
    text = "".join(char for char in letters if not unicodedata.combining(char))
    for pattern, replacement in _DOTTED:
        text = re.sub(pattern, replacement, text)
    return " ".join(text.split())


@cache
def _phrase(phrase: str) -> str:
    return plain(phrase)


@cache
def _any_of(phrases: tuple[str, ...]) -> re.Pattern[str]:
    longest_first = sorted(phrases, key=len, reverse=True)
    return re.compile(r"(?<!\w)(?:" + "|".join(map(re.escape, longest_first)) + r")(?!\w)")


def says(text: str, phrases: Iterable[str]) -> bool:
    """Say whether a plain text contains any of the phrases as whole words."""
    return _any_of(tuple(phrases)).search(text) is not None


def mentions(text: str, words: Mapping[str, Iterable[str]]) -> list[Mention]:
    """Return what is named in a plain text, in order; `words` gives the phrases for each name."""
    names = {_phrase(phrase): name for name, phrases in words.items() for phrase in phrases}
    found = _any_of(tuple(names)).finditer(text)
    return [
        Mention(names[hit[0]], hit.start(), hit.end(), refused(text, hit.start(), hit.end()))
        for hit in found
    ]


def refused(text: str, start: int, end: int) -> bool:
    """Say whether what stands at `text[start:end]` is turned down, judged by its own clause."""
    clause = _TURN.split(text[max(0, start - _REACH) : start])[-1]
    return bool(_NO.search(clause) or _NO_AFTER.search(text[end : end + _REACH]))


def days(text: str) -> list[Mention]:
    """Return the days of the week in a plain text; "weekend" is Saturday, small typos are read."""
    return mentions(_spelled(text), _DAY_WORDS)


def _spelled(text: str) -> str:
    return re.sub(r"\b\w{4,9}day\b", lambda hit: _nearest_day(hit[0]), text)


def _nearest_day(word: str) -> str:
    known = [day.casefold() for day in WEEK]
    nearest = process.extractOne(word, known, scorer=fuzz.ratio, score_cutoff=82)
    return str(nearest[0]) if nearest else word


def parts(text: str) -> list[Mention]:
    """Return the parts of the day that are named; a greeting names none."""
    return mentions(re.sub(r"\bgood (?:morning|afternoon|evening)\b", "", text), _PART_WORDS)


def clock(text: str) -> str | None:
    """Return the time of day that is named as a point, such as "2pm", in 24-hour form.

    Hours from 1 to 7 without "am" or "pm" are in the afternoon: nobody works here at night.

    Example:
        >>> clock("tuesday 2pm"), clock("2:30 pm"), clock("at 9"), clock("after 3pm")
        ('14:00', '14:30', '09:00', None)
    """
    text = _BOUND.sub(" ", _in_figures(text))
    if says(text, ("noon", "midday")):
        return "12:00"
    for hit in _AT.finditer(text):
        if hit["at"] or hit["minute"] or hit["half"]:
            return _time(hit)
    return None


def bounds(text: str) -> dict[str, str]:
    """Return "after" and "before" times, such as {"after": "15:00"} for "after 3pm"."""
    found: dict[str, str] = {}
    for hit in _BOUND.finditer(_in_figures(text)):
        side = "after" if hit["side"] in ("after", "from", "later than") else "before"
        time = "12:00" if hit["noon"] else _time(hit)
        if time:
            found[side] = time
    return found


def _in_figures(text: str) -> str:
    text = re.sub(r"\bbetween (\S+(?: [ap]m)?) and ", r"after \1 before ", text)
    return _SPOKEN_HOUR.sub(lambda hit: str(_HOURS.index(hit[0]) + 1), text)


def _time(hit: re.Match[str]) -> str | None:
    hour, minute, half = int(hit["hour"]), int(hit["minute"] or 0), hit["half"] or ""
    if half in ("am", "in the morning"):
        hour %= 12
    elif (half in ("pm", "in the afternoon", "in the evening") and hour < 12) or 1 <= hour <= 7:
        hour += 12
    return f"{hour:02}:{minute:02}" if hour < 24 else None
