"""Dates, times of day, and moments.

Dates come in digits in the order of the region, by names of months, days and feasts, as "tomorrow";
times with a colon, am and pm, "o'clock", and in words. An hour from 1 to 11 without anything that
says which half of the day is meant is one of the morning, unless the field asks for an evening, or
a range of it takes the evening's alone.
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, date, datetime, timedelta
from functools import cache, lru_cache, partial
from itertools import product
from types import SimpleNamespace
from typing import Any, NamedTuple

from journeys.notions.fields import Field
from journeys.phrases import plain
from nodes.values.checking import fits, wants_past
from nodes.values.numbers import numbers_of, numeral_of, numerals_in
from nodes.values.scanning import (
    DAYS,
    MOST_HITS,
    Hit,
    Setting,
    Table,
    Vocabulary,
    apart,
    before,
    compiled,
    everywhere,
    grammar,
    is_filler,
    literal,
    one_of,
    question_of,
    respelled,
    words_in,
)

_NEAR = 40
"""Most characters between the name of a day and its date."""
_CLASH = 7
"""Days in which a date that is not the named day of the week is a slip, and no later one."""
_WEEK, _MONTH = 7, 30
"""Units of so many days and more are months."""
any_digit = re.compile(r"\d").search
_words_behind = re.compile(r"[\s,]+[^\W_]").match
_SHORT_YEAR = re.compile(r"(?<!\w)\d{2}(?![\w:]|[.,]\d)")


@cache
def _grammar(words: Vocabulary) -> SimpleNamespace:
    own, last = words.dates, words.ordinals.last
    # "martes 13", where a day is a number like any other.
    bare = [each for each in words.languages if each.dates.bare_day_leads]
    spelled = [word for each in bare for word in each.dates.weekdays]
    made = grammar(
        "dates",
        words,
        ordinal=literal(numbers_of(words).ordinals),
        last=literal([word + end for word in last for end in ("", *words.ordinals.endings)]),
        behind_day="".join([rf"|(?<=\b{word}\s)" for word in spelled]),
    )
    made.ordinals = numbers_of(words).ordinals
    made.not_near = {
        word: compiled(rf"{one_of(literal(said, made.weekdays.values))}\s+$")
        for word, said in own.not_near.items()
    }
    near = [word for word in made.near.values if word.isalpha()]
    names = (*made.months.values, *made.weekdays.values, *near)
    made.own = {part for name in names for part in plain(name).split()}
    made.names = frozenset(names)
    usual = [{*each.around.filler, *each.names.common} for each in words.languages]
    made.over = [
        (compiled(rf"\b{one_of(each.dates.past)}\b"), own - usual[0])
        for each, own in zip(words.languages, usual, strict=True)
    ]
    return made


def _is_over(text: str, own: SimpleNamespace) -> bool:
    """Return whether words say that something is over.

    A word of a language next to the spoken one, such as "war", needs another word of that language.
    """
    return any(
        not telling or telling.intersection(w for w in words_in(text) if not past.fullmatch(w))
        for past, telling in own.over
        if past.search(text)
    )


def scan_dates(text: str, field: Field, setting: Setting) -> list[Hit]:
    """Find dates, each as a day in the user's own time zone.

    A day without a year is the next one there is, unless a range or the words say that it is past.
    """
    return _days_in(text, wants_past(field, setting), setting, setting.at.date())


@lru_cache(maxsize=64)  # a message is read for each field that it may be about
def _days_in(text: str, over: bool, setting: Setting, today: date) -> list[Hit]:
    named = _grammar(setting.words).named.search(text) is not None
    return _Days(text, over, setting, today).hits(named) if named or any_digit(text) else []


class _Days:
    """The days that are named in one text on a day at a place; all may have to be in the past."""

    def __init__(self, text: str, over: bool, setting: Setting, today: date) -> None:
        self.text, self.over, self.setting, self.today = text, over, setting, today
        self.own = _grammar(setting.words)
        self.past = over or _is_over(text, self.own)

    def hits(self, named: bool) -> list[Hit]:
        """Return the dates; without any names of days, months and the like only those in digits."""
        found = [
            Hit(match.start(), match.start() + len(match[0].rstrip()), day.isoformat(), certain)
            for name, certain, read in (_FORMS if named else _FORMS[:_IN_DIGITS])
            for match in getattr(self.own, name).finditer(self.text)
            if (day := read(self, match))
        ]
        hits = [self._with_year(hit) for hit in apart(found)]
        if hits and self.own.shifts.search(self.text):
            hits = [self._moved(hit) for hit in hits]
        return self._with_weekdays(hits) if named else hits

    def calendar(self, found: re.Match[str]) -> date | None:
        """Return a day of a month, each of them in digits or by its name."""
        said = found.groupdict()
        day, month, sign = self._number(said), said["month"], said.get("sign")
        number = int(month) if month.isdecimal() else self.own.months.of(month) + 1
        if sign and (number > 12 or (sign != "." and day <= 12 and self.setting.month_is_first)):
            day, number = number, day
        this = self.today.year
        if not said.get("year"):
            step = -1 if self.past else 1
            years = range(this, this + 9 * step, step)
            return self._first([day_of(year, number, day) for year in years], self.past)
        digits = said["year"].lstrip("'")
        year = int(digits)
        if len(digits) < 4:
            # Two digits are a year of the last eighty or the next twenty ones.
            year += this - this % 100
            year -= 100 if year > this + (0 if self.past else 20) else 0
        return day_of(year, number, day)

    def in_month(self, found: re.Match[str]) -> date | None:
        """Return the next day of a number from today on, or the last one until today."""
        day, step = self._number(found.groupdict()), -1 if self.past else 1
        count = self.today.year * 12 + self.today.month - 1
        months = [divmod(count + step * months, 12) for months in range(13)]
        return self._first([day_of(year, month + 1, day) for year, month in months], self.past)

    def nth(self, found: re.Match[str]) -> date | None:
        """Return "the last friday of May"; only other words tell that it is past."""
        place = -1 if found["last"] else self._number(found.groupdict())
        around = self.text[: found.start()] + self.text[found.end() :]
        past = self.over or _is_over(around, self.own)
        month, day = self.own.months.of(found["month"]) + 1, self.own.weekdays.of(found["day"])
        feast = f"{month:02} {DAYS[day]} {place}"
        return self._feast(feast, found["year"], past) if place <= 5 else None

    def feast(self, found: re.Match[str]) -> date | None:
        """Return the day of a feast."""
        return self._feast(self.own.feasts.of(found["feast"]), found["year"], self.past)

    def near(self, found: re.Match[str]) -> date | None:
        """Return a day that has a name today, such as tomorrow."""
        own, unless = self.own, self.own.not_near.get(found["near"].casefold())
        if unless and unless.search(before(self.text, found.start())):
            return None
        later = own.later.of(found["later"]) if found["later"] else 0
        return _after(self.today, own.near.of(found["near"]) + later)

    def counted(self, found: re.Match[str]) -> date | None:
        """Return a day by its distance from today, or from another day."""
        own, said = self.own, found.groupdict()
        count, unit = numeral_of(found["count"], self.setting.words), own.units.of(found["unit"])
        if count is None or (not (said.get("way") or said.get("strict")) and unit % _WEEK):
            return None
        days = 0
        if way := said.get("way"):
            count *= (own.ahead if found.re is own.ahead_of else own.behind).of(way)
        elif said.get("weekday"):
            days = (own.weekdays.of(said["weekday"]) - self.today.weekday()) % 7 or 7
        else:
            days = own.near.of(said["near"])
        return _after(self.today + timedelta(days=days), count, unit)

    def _number(self, said: dict[str, str | None]) -> int:
        """Return the number of a day, in digits or as an ordinal."""
        if word := said.get("word"):
            return int(self.own.ordinals["-".join(word.casefold().split())])
        return int(said.get("digits") or said.get("dotted") or said.get("bare") or 0)

    def _feast(self, feast: str, year: str | None, past: bool) -> date | None:
        """Return the day of a feast in a year; else the next one, or the last one."""
        if year:
            return _feast_in(int(year.lstrip("'")), feast)
        years = [self.today.year + add for add in ((0, -1) if past else (0, 1))]
        return self._first([_feast_in(year, feast) for year in years], past)

    def _first(self, days: Iterable[date | None], past: bool) -> date | None:
        """Return the first day that there is from today on, or until today."""
        now = self.today
        return next((day for day in days if day and (day <= now if past else day >= now)), None)

    def next_week(self, weekday: int) -> date:
        """Return a day of the next week, which begins as it does in the region."""
        first = self.setting.week_begins
        days = 7 - (self.today.weekday() - first) % 7 + (weekday - first) % 7
        return self.today + timedelta(days=days)

    def _weekday(self, found: re.Match[str]) -> date:
        """Return the next day of a name after today, or the last one before.

        "next friday" is the coming one, as most libraries have it; "friday next week" is counted
        from the first day of the week on.
        """
        own = self.own
        which = {own.which.of(found["which"] or ""), own.which_behind.of(found["behind"] or "")}
        weekday = self.own.weekdays.of(found["day"])
        ahead = (weekday - self.today.weekday()) % 7
        if "last" in which or (self.past and not which & {"this", "next", "after_next"}):
            return self.today + timedelta(days=ahead - 7)
        if found["next_week"]:
            return self.next_week(weekday)
        ahead = ahead if "this" in which else ahead or 7
        later = self.own.later.of(found["later"]) if found["later"] else 0
        return self.today + timedelta(days=ahead + (7 if "after_next" in which else later))

    def _with_year(self, hit: Hit) -> Hit:
        """Join a day and its month with the year in words behind them: "nineteen ninety".

        Two digits are the year of a day that must be past: "5 May 82".
        """
        if not hit.certain or not _words_behind(self.text, hit.end):
            return hit
        following = self.text[hit.end : hit.end + 60]
        numbers = list(numerals_in(following, self.setting.words))[:2]
        if self.over and (short := _SHORT_YEAR.search(following)):
            numbers = [Hit.of(short, int(short[0]))]
        if not numbers or not self.own.before_year.fullmatch(following, 0, numbers[0].start):
            return hit
        year, end = numbers[0].value, numbers[0].end
        if 10 <= year < 30 and len(numbers) > 1 and numbers[1].value < 100:
            joint = following[end : numbers[1].start].strip(" -").casefold()
            if joint in ("", *self.setting.words.times.zero):
                year, end = year * 100 + numbers[1].value, numbers[1].end
        day = date.fromisoformat(hit.value)
        if self.over and 10 <= year < 100:
            year += 1900 if year > self.today.year % 100 else 2000
        made = day_of(int(year), day.month, day.day) if 1000 <= year < 3000 else None
        return Hit(hit.start, hit.end + end, made.isoformat()) if made else hit

    def _moved(self, hit: Hit) -> Hit:
        """Move a day by the distance before it: "two days before Easter"."""
        found = self.own.shift.search(before(self.text, hit.start))
        if found is None:
            return hit
        count = numeral_of(found["count"], self.setting.words) if found["count"] else None
        start = found.start() if count or not found["count"] else found.start("unit")
        unit, sign = self.own.units.of(found["unit"]), self.own.beside.of(found["way"])
        day = _after(date.fromisoformat(hit.value), sign * (count or 1), unit)
        shifted = hit.start - len(found.string) + start
        return Hit(shifted, hit.end, day.isoformat(), hit.certain) if day else hit

    def _weekdays(self) -> list[Hit]:
        """Find names of days.

        An abbreviation that is another word too is weak: it counts next to a date only.
        """
        own = self.own
        hits = [
            Hit.of(found, self.next_week(own.weekdays.of(found["day"])).isoformat())
            for found in own.week_before.finditer(self.text)
        ]
        ends = [hit.end for hit in hits]
        for found in own.weekday.finditer(self.text):
            if found.end("day") not in ends:
                short = found["day"].casefold() in own.short_weekdays
                start = found.end() - len(found[0].lstrip())
                day = self._weekday(found).isoformat()
                hits.append(Hit(start, found.end(), day, not short, short))
        return sorted(hits)

    def _with_weekdays(self, hits: list[Hit]) -> list[Hit]:
        """Join the name of a day with the date next to it, if the date is such a day."""
        vague = [Hit.of(found, None) for found in self.own.vague.finditer(self.text)]
        vague = [hit for hit in vague if not hit.over(hits)]
        weekdays = [hit for hit in self._weekdays() if not hit.over(vague)]
        joined = [
            hit
            for hit in hits
            if not [1 for named in weekdays if named.start < hit.start and hit.end <= named.end]
        ]
        for named in weekdays:
            # Of a text full of names of days, only what is near is looked at closely.
            least, most = named.start - _NEAR, named.end + _NEAR
            near = [hit for hit in joined if hit.start <= most and least <= hit.end]
            if named.over(near):
                continue
            beside = next((hit for hit in near if self._adjoin(named, hit)), None)
            day = self._such_a_day(named, beside) if beside else None
            if beside is None or day is None:
                joined.append(named)
            else:
                start, end = min(named.start, beside.start), max(named.end, beside.end)
                joined[joined.index(beside)] = Hit(start, end, day)
        return sorted([hit for hit in joined if not hit.weak or hit.certain])

    def _such_a_day(self, named: Hit, beside: Hit) -> str | None:
        """Return the date next to the name of a day, or the next of its number that is such one."""
        weekday, day = date.fromisoformat(named.value).weekday(), date.fromisoformat(beside.value)
        if day.weekday() == weekday:
            return str(beside.value)
        if beside.certain or abs((day - self.today).days) <= _CLASH:
            return None
        later = [_after(day, months, _MONTH) for months in range(1, 48)]
        fitting = (one for one in later if one and one.day == day.day and one.weekday() == weekday)
        return next((one.isoformat() for one in fitting), None)

    def _adjoin(self, first: Hit, second: Hit) -> bool:
        left, right = sorted((first, second))
        return self.own.adjoining.fullmatch(self.text, left.end, right.start) is not None


_FORMS: tuple[tuple[str, bool, Callable[[_Days, re.Match[str]], date | None]], ...] = (
    ("iso", True, _Days.calendar),
    ("compact", False, _Days.calendar),
    ("digits", True, _Days.calendar),
    ("slashed", False, _Days.calendar),
    ("day_month", True, _Days.calendar),
    ("month_day", True, _Days.calendar),
    ("ranged", True, _Days.calendar),
    ("day_only", False, _Days.in_month),
    ("nth", True, _Days.nth),
    ("feast", True, _Days.feast),
    ("next_week_starts", True, lambda days, _: days.next_week(days.setting.week_begins)),
    ("near_words", True, _Days.near),
    ("month_ends", True, lambda days, _: next_month(days.today) - timedelta(days=1)),
    ("next_month", False, lambda days, _: next_month(days.today)),
    ("ahead_of", True, _Days.counted),
    ("from_day", True, _Days.counted),
)
"""Forms of dates: the name of the pattern, whether it can be nothing else, and what reads it."""
_IN_DIGITS = 8
"""Number of those that a text can have without a name of a day, a month and the like."""


def _feast_in(year: int, feast: str) -> date | None:
    """Return the day of a feast: "MM-DD", "easter+N", "advent N" or "MM sunday N"."""
    if not 1583 <= year <= 4099:
        return None
    if feast.startswith("easter"):
        from dateutil.easter import easter  # noqa: PLC0415 - a feast is rare

        sunday: date = easter(year)
        return sunday + timedelta(days=int(feast.removeprefix("easter")))
    if feast.startswith("advent"):
        eve = date(year, 12, 24)
        return eve - timedelta(days=(eve.weekday() + 1) % 7, weeks=4 - int(feast[-1]))
    if feast[2] == "-":
        return day_of(year, int(feast[:2]), int(feast[3:]))
    month, name, place = feast.split()
    begins, length = monthrange(year, int(month))
    days = range((DAYS.index(name) - begins) % 7 + 1, length + 1, 7)
    return date(year, int(month), days[int(place) - (int(place) > 0)])


def day_of(year: int, month: int, day: int) -> date | None:
    """Return a day, or None if the calendar has no such one."""
    try:
        return date(year, month, day)
    except ValueError:
        return None


def _after(day: date, count: int, unit: int = 1) -> date | None:
    """Return the day so many days, weeks, months or years later; None past the calendar."""
    try:
        if unit < _MONTH:
            return day + timedelta(days=count * unit)
        year, month = divmod(day.year * 12 + day.month - 1 + count * (unit // _MONTH), 12)
        return date(year, month + 1, min(day.day, monthrange(year, month + 1)[1]))
    except (OverflowError, ValueError):
        return None


def next_month(day: date) -> date:
    """Return the first day of the month after that of a day."""
    return (day.replace(day=1) + timedelta(days=31)).replace(day=1)


def respelled_moment(text: str, kind: str, words: Vocabulary) -> str:
    """Return a text with what is nearly a word of dates or times, "half pats seven", as that."""
    if kind == "date":
        return respelled(text, _grammar(words).names, 5)
    return respelled(text, _times_grammar(words).spelled_words, 7)


_MOST_WORDS = 4  # of a date without digits, as in "el lunes que viene"
_LONGEST, _SHORTEST = 60, 4
_ELSEWHERE_WORD = re.compile(r"[^\W\d_]{3,}")
_OTHER_SCRIPT = re.compile(r"[\u0370-\uffff]")
_TELLING = re.compile(r"[@=<>{}\[\]|\\*^$€£%#+]")


@cache
def _elsewhere() -> dict[str, SimpleNamespace]:
    """Return what tells each language that only dateparser reads, and names a day in it."""
    made = {}
    for name, said in everywhere().elsewhere.items():
        groups = [plain(group).split() for group in said["weekdays"].split(",")]
        weekdays = {word: at for at, group in enumerate(groups) for word in group}
        words = frozenset(plain(said.get("words", "")).split())
        ones = compiled(rf"(?<!\w){one_of(literal(said.get('ones', '').split()))}(?!\w)")
        telling = words and words.union(weekdays)
        made[name] = SimpleNamespace(weekdays=weekdays, words=telling, ones=ones)
    return made


def date_elsewhere(text: str, field: Field, setting: Setting) -> str | None:
    """Return a date in a language that is not read here, by dateparser; None if it is not one.

    Only a day and a month together, or a word for a day, make a date: dateparser alone would take
    "50" for the year 2050. A day of the week that is named has to be that of the date.
    """
    said = text.strip(" .,!")
    if not _SHORTEST <= len(said) <= _LONGEST or _TELLING.search(said):
        return None
    folded, other = plain(said), _OTHER_SCRIPT.search(said) is not None
    words = telling = {*_ELSEWHERE_WORD.findall(folded)}
    if not any_digit(said):  # what is read here is understood without it: "a friday in May"
        telling = words.difference(_grammar(setting.words).own)
        if len(said.split()) > _MOST_WORDS:
            return None
    known = {
        name: own
        for name, own in _elsewhere().items()
        if name not in setting.words.spoken
        and (other if not own.words else not own.words.isdisjoint(telling))
    }
    if not known:
        return None
    # The day alone: dateparser keeps every setting that it was ever given.
    base = datetime(setting.at.year, setting.at.month, setting.at.day)  # noqa: DTZ001
    prefers = "past" if wants_past(field, setting) else "future"
    day = _parsed(said, (*known,), base, prefers, "MDY" if setting.month_is_first else "DMY")
    named = {
        at
        for own in known.values()
        for word, at in own.weekdays.items()
        if word in (words if own.words else folded)
    }
    return day.isoformat() if day and (not named or day.weekday() in named) else None


@lru_cache(64)  # a message is read for each field that it may be about
def _parsed(
    said: str, languages: tuple[str, ...], base: datetime, prefers: str, order: str
) -> date | None:
    import dateparser  # noqa: PLC0415 - 0.2 s

    settings: Any = {"RELATIVE_BASE": base, "PREFER_DATES_FROM": prefers, "DATE_ORDER": order}
    settings |= {"REQUIRE_PARTS": ["day", "month"], "RETURN_AS_TIMEZONE_AWARE": False}
    bare = said
    for language in languages:
        bare = _elsewhere()[language].ones.sub("", bare)  # "a friday in May" is not the first
    for parser, words in (("absolute-time", bare), ("relative-time", said)):
        own = {**settings, "PARSERS": [parser]}
        try:
            found = dateparser.parse(words, languages=[*languages], settings=own)
        except Exception:  # what the library stumbles over is no date
            return None
        if isinstance(found, datetime):
            return found.date()
    return None


@cache
def load_dates() -> None:
    """Import dateparser and all its languages, for which no message should have to wait.

    That takes half a second.
    """
    for language, said in everywhere().elsewhere.items():
        _parsed(said["example"], (language,), datetime(2030, 1, 1), "future", "DMY")  # noqa: DTZ001


_NOON = 12
_SIGNS = re.compile(r"[^\w\s,'.]")
_WORD_BEHIND = re.compile(r"\s+[^\W\d_]")
_PARTS = re.compile(r"[\s-]+")
_NEAR_HOUR, _MOST, _NEAR_DAY = 24, 20, 40
_HALF_HOUR = 1800
_JOINTS = frozenset(("at", "t"))


@cache
def _times_grammar(words: Vocabulary) -> SimpleNamespace:
    own, days = words.times, words.dates
    known = {
        word: n
        for table in reversed(numbers_of(words).numerals)
        for word, n in table.small.items()
        if n < 60
    }
    articles = [word for word, n in known.items() if n == 1 and word in words.numbers.others]
    values = {word: n for word, n in known.items() if word not in articles} | own.hours

    def of(*numbers: int) -> tuple[str, ...]:
        return literal([word for word, value in values.items() if value in numbers])

    hours, tens, teens = range(1, _NOON + 1), (20, 30, 40, 50), range(13, 20)
    parts = [phrase for phrase, part in own.parts.items() if part != "meal"]
    leads = [lead for each in words.languages if each.times.not_am for lead in each.times.leads]
    made = grammar(
        "times",
        words,
        hours=of(*hours),
        hours_and_tens=of(*hours, *tens),
        tens=of(*tens),
        ones=of(*range(1, 10)),
        teens=of(*teens),
        tens_and_teens=of(*tens, *teens, 5, 10, 20),
        fives=of(5, 10, 20),
        zero=literal([*own.zero, "zero"]),
        part=(*parts, *own.noon),
        greeted="".join([rf"(?<!{word} )" for word in own.greetings]),
        glued_to="".join([rf"|(?<={end})" for end in own.glued]),
        no_noon="".join([rf"(?<!{word})" for word in own.not_noon]),
        midnight=tuple([name for name, hour in own.names.items() if hour == 0]),
        leads_elsewhere=tuple(leads),  # where "am" is a preposition
    )

    def form_of(say: str) -> re.Pattern[str]:  # "quarter to {hour}"
        said = say.replace(" ", r"[\s-]+").replace("(", "(?:").replace("{minutes}", "{minute}")
        return compiled(made.filled(rf"\b{said}(?![\w:]|[.,]\d)(?:{{pm}})?"))

    made.values, made.ways = values, Table({**days.ahead, **days.behind})
    made.readers = [
        (made.worded, _worded),
        (made.clock, _in_digits),
        (made.halved, _hit),
        (made.on_the_hour, _hit),
        (made.military, partial(_hit, whole=True)),
        (made.four_digits, partial(_hit, whole=True, certain=False)),
        *((form_of(form.say), partial(_hit, form=form)) for form in own.forms),
        (made.spelled, _hit),
        (made.named_hour, _named_hour),
    ]
    made.joining = made.joining.union(days.weekdays)
    told = [*values, *own.minutes, *parts, *own.clock, *own.noon, *[form.say for form in own.forms]]
    told += own.names
    made.spelled_words = frozenset(words_in(" ".join(told)))
    return made


class _Clock(NamedTuple):
    """A time as it was written.

    Attributes:
        half: "a" or "p" for am or pm, else empty.
        whole: True if the hour counts from 0 to 24.
        zero: True if it leads with a zero, so that it does unless words next to it say otherwise.
    """

    hour: int
    minute: int
    second: int = 0
    half: str = ""
    whole: bool = False
    zero: bool = False


def scan_times(text: str, field: Field, setting: Setting) -> list[Hit]:
    """Find times of day."""
    own, hits = _times_grammar(setting.words), []
    for hit in readings_in(text, setting.words):
        value, settled = _meant(hit.value, field, setting)
        hit = hit._replace(value=value)
        if bound := own.open.search(before(text, hit.start)):  # "after 6", "before 9"
            meant = settled and bound["least"]
            start = hit.start - (len(bound[0]) if meant else 0)
            hit = hit._replace(start=start, certain=hit.certain and bool(meant))
        hits.append(hit)
    return hits


def _meant(readings: Sequence[str], field: Field, setting: Setting) -> tuple[str, bool]:
    """Return the reading that is meant, and whether the field leaves no other.

    It is the first that the ranges allow, the later one where the field asks for an evening.
    """
    if len(readings) == 1:
        return readings[0], True
    evening = _asks_for_evening(question_of(field), setting.words)
    readings = readings[::-1] if evening else readings
    fitting = [v for v in readings if fits(v, field, setting)] if field.validators else readings
    return (fitting or readings)[0], evening or 0 < len(fitting) < len(readings)


@lru_cache(maxsize=2_000)
def _asks_for_evening(question: str, words: Vocabulary) -> bool:
    own = _times_grammar(words)
    found = {own.parts.of(match["part"]) for match in own.part.finditer(question)}
    return bool(found & {"evening", "meal"}) and "morning" not in found


@lru_cache(maxsize=64)  # a message is read for each field that it may be about
def readings_in(text: str, words: Vocabulary) -> list[Hit]:
    """Find times of day; the value of each is a list of what it may mean, the likeliest first."""
    own = _times_grammar(words)
    if not own.maybe.search(text):
        return []
    written = [read(found, own) for form, read in own.readers for found in form.finditer(text)]
    raw = [hit for hit in written if hit][:MOST_HITS]
    raw = [hit for hit in raw if hit.value.hour <= _NOON or hit.value.half != "a"]
    return apart([_with_readings(hit, text, own) for hit in raw])


def _in_digits(found: re.Match[str], own: SimpleNamespace) -> Hit:
    hit = _hit(found, own, whole=found["sign"].casefold() == "h")
    zero = len(found["hour"]) == 2 and found["hour"] < "10"
    # "7.30" alone may be an amount; "7:30" may not.
    certain = found["sign"] not in ".;" or bool(hit.value.half or found["unit"])
    value = hit.value._replace(second=int(found["second"] or 0), zero=zero)
    return hit._replace(value=value, certain=certain)


def _worded(found: re.Match[str], own: SimpleNamespace) -> Hit:
    """Read a lone hour: certain after "at" and before nothing that it counts."""
    text, hit = found.string, _hit(found, own)
    placed = own.at.search(before(text, found.start())) is not None
    said = bool(hit.value.half or found["unit"])
    certain = said or (placed and own.stop.match(text, found.end()) is not None)
    return hit._replace(certain=certain, weak=not (said or placed or found["minute"]))


def _named_hour(found: re.Match[str], own: SimpleNamespace) -> Hit | None:
    """Read noon and midnight, except a noon that only names the half of the day."""
    if found["noon"] and own.of_noon.search(before(found.string, found.start())):
        return None
    return _hit(found, own, whole=True)


_PLAIN = SimpleNamespace(add=0, sign=1)


def _hit(
    found: re.Match[str],
    own: SimpleNamespace,
    *,
    form: SimpleNamespace = _PLAIN,
    whole: bool = False,
    certain: bool = True,
) -> Hit:
    """Return a time: its minutes are added to what a form adds to the hour, or taken off that."""
    said = found.groupdict()
    name, more = said.get("name"), said.get("minute")
    named = own.names.of(name) if name else _NOON
    hour = _number(said["hour"], own) if said.get("hour") else named
    minute = form.add + (form.sign * _number(more, own) if more else 0)
    half, end = said.get("half") or "", found.end()
    if half and half[:1] != "a" and half.strip(" (-").casefold() == "am":
        text, place = found.string, found.end("half")
        behind = own.foreign_at.search(before(text, found.start()))
        if own.not_am.match(text, place) or (behind and _WORD_BEHIND.match(text, place)):
            half, end = "", found.start("half")
    letter = "p" if "p" in half.casefold() else "a" if half else ""
    if minute < 0:
        if hour == _NOON:  # "quarter to 12 pm" is in the morning
            letter = {"a": "p", "p": "a"}.get(letter, "")
        hour, minute = _NOON if hour == 1 else (hour - 1) % 24, minute + 60
    return Hit(found.start(), end, _Clock(hour, minute, 0, letter, whole), certain)


def _number(said: str, own: SimpleNamespace) -> int:
    """Return the number of an hour or of minutes: digits, words, a quarter."""
    if said.isdecimal():
        return int(said)
    if (named := own.minutes.of(said)) is not None:
        return int(named)
    words = _PARTS.split(said.casefold())
    return sum([int(word) if word.isdecimal() else own.values.get(word, 0) for word in words])


def _part(text: str, hit: Hit, own: SimpleNamespace) -> tuple[str, tuple[int, ...]]:
    """Return the part of the day that the words near a time name, and their place.

    The place is empty if there are other words between the two, or if the words name a meal.
    If the time leads with a zero, they say nothing then.
    """
    start, end = max(0, hit.start - _NEAR_HOUR), hit.end + _NEAR_HOUR
    for found in own.part.finditer(text, start, end):
        left, right = sorted((found.span(), (hit.start, hit.end)))
        gap = text[left[1] : max(left[1], right[0])]
        part = own.parts.of(found["part"])
        if part != "meal" and not _SIGNS.search(gap) and own.joining.issuperset(words_in(gap)):
            return part, found.span()
        if not hit.value.zero:
            return part, ()
    return "", ()


def parts_of_day(text: str, setting: Setting) -> list[Hit]:
    """Return the words for a part of the day, which may be next to a value."""
    pattern = _times_grammar(setting.words).around_part
    return [Hit.of(found, None) for found in pattern.finditer(text)]


def _with_readings(hit: Hit, text: str, own: SimpleNamespace) -> Hit:
    """Return a time as written with the list of what it may mean, the likeliest first."""
    said = hit.value
    hour = 0 if said.hour == 24 and not said.minute else said.hour % 24
    rest = f":{said.minute % 60:02}" + (f":{said.second:02}" if said.second else "")
    plain, later = f"{hour:02}{rest}", f"{hour + _NOON:02}{rest}"
    if said.half and hour <= _NOON:
        hour = hour % _NOON + (_NOON if said.half == "p" else 0)
        return hit._replace(value=[f"{hour:02}{rest}"])
    if said.whole or hour == 0 or hour > _NOON:
        return hit._replace(value=[plain])
    part, place = _part(text, hit, own)
    alone = [plain] if said.zero or hour == _NOON else [plain, later]
    readings = alone
    if hour == _NOON and not (said.zero and not part):
        night = part == "night" or own.small_hours.match(text, hit.end)
        readings = [f"00{rest}" if night else plain]
    elif part:
        first, last = _LATER_FROM[part]
        readings = [later if first < hour < last else plain]
    return hit._replace(value=readings, part=place if readings[0] != alone[0] else ())


# Between which hours a part of the day means those after noon.
_LATER_FROM = {
    "morning": (_NOON, _NOON),
    "evening": (0, _NOON),
    "meal": (0, _NOON),
    "noon": (0, 6),
    "night": (6, _NOON),
}


def scan_datetimes(text: str, field: Field, setting: Setting) -> list[Hit]:
    """Find moments, local to the user's own time zone, to the minute."""
    own, today = _times_grammar(setting.words), setting.at.date()
    if not (own.maybe.search(text) or own.soon.search(text)):
        return []
    hits = [*_iso(text, setting, own), *_soon(text, setting, own)]
    days = scan_dates(text, field, setting)
    past = wants_past(field, setting) or _is_over(text, _grammar(setting.words))
    hours = readings_in(text, setting.words) if days else []
    for day, hour in product(days[:_MOST], hours[:_MOST]):
        if not _belong(text, day, hour, own, setting):
            continue
        moments = [f"{day.value}T{each}" for each in hour.value]
        if day.value == today.isoformat() and own.midnight.search(text, hour.start, hour.end):
            # Midnight of a day that has begun is its end.
            moments = [f"{today + timedelta(days=1)}T00:00"]
        elif day.value == today.isoformat():
            # What is to come first, or what is over.
            now = written(setting.at, False)
            moments.sort(key=lambda moment: (moment < now) != past)
        start, end = min(day.start, hour.start), max(day.end, hour.end)
        value = next((m for m in moments if fits(m, field, setting)), moments[0])
        hits.append(Hit(start, end, value, day.certain and hour.certain, part=hour.part))
    return apart(hits)


def _belong(text: str, day: Hit, hour: Hit, own: SimpleNamespace, setting: Setting) -> bool:
    """Return whether a time is that of a day: nothing else is between them."""
    left, right = (day, hour) if day[:2] <= hour[:2] else (hour, day)
    gap = text[left.end : right.start]
    if left.end > right.start or len(gap) >= _NEAR_DAY:
        return False
    if hour.weak:  # "tomorrow, 7"
        return left is day and not gap.strip(" ,")
    return is_filler(own.part.sub(" ", gap), setting, _JOINTS)


def _iso(text: str, setting: Setting, own: SimpleNamespace) -> Iterator[Hit]:
    for found in own.iso.finditer(text):
        if found["joint"] == " " and not (found["exact"] or found["zone"]):
            continue  # a day and a time as any other, of which more may be said
        try:
            moment = datetime.fromisoformat(f"{found[1]}T{found[3]}{(found['zone'] or '').upper()}")
            if moment.tzinfo is not None:
                moment = moment.astimezone(setting.at.tzinfo)
        except (ValueError, OverflowError):
            continue
        yield Hit.of(found, written(moment))


def _soon(text: str, setting: Setting, own: SimpleNamespace) -> Iterator[Hit]:
    """Find moments by their distance from now."""
    for found in own.soon.finditer(text):
        way, said, unit = found["way"] or found["way2"], found["count"] or found["before"], 1
        count = _HALF_HOUR if found["half"] else numeral_of(said, setting.words) if said else 0
        if count and said:
            unit = own.units.of(found["unit"] or found["unit2"])
        if count is not None:
            seconds = count * unit * (own.ways.of(way) if way else 1)
            # In absolute time, so that a clock that is put forward does not lose an hour of it.
            moment = setting.at.astimezone(UTC) + timedelta(seconds=seconds)
            local = moment.astimezone(setting.at.tzinfo)
            yield Hit.of(found, written(local, False))


def written(moment: datetime, exact: bool = True) -> str:
    """Return a moment as it is kept: to the minute, or to the second if it was given."""
    unit = "seconds" if exact and moment.second else "minutes"
    return moment.replace(tzinfo=None, microsecond=0).isoformat(timespec=unit)
