"""Dates, times of day, and moments.

Dates come in digits in the order of the region, by names of months, days and feasts, as "tomorrow";
times with a colon, am and pm, "o'clock", and in words. An hour without anything that says which
half of the day is meant is one of the day, from 7 to 6, unless the field asks for an evening, or
its ranges take the other half alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import UTC, date, datetime, timedelta
from functools import cache, lru_cache
from itertools import product
from types import SimpleNamespace
from typing import Any

from dateutil.easter import easter
from dateutil.relativedelta import relativedelta
from dateutil.rrule import MONTHLY, rrule
from dateutil.rrule import weekdays as WEEKDAYS

from journeygraph.journeys.notions.fields import Field
from journeygraph.journeys.phrases import plain
from journeygraph.nodes.values.checking import fits, wants_past
from journeygraph.nodes.values.numbers import numbers_of, numeral_of, numerals_in
from journeygraph.nodes.values.scanning import (
    DAYS,
    Hit,
    Setting,
    Table,
    Vocabulary,
    apart,
    before,
    compiled,
    everywhere,
    folded,
    grammar,
    is_filler,
    literal,
    one_of,
    question_of,
    respelled,
    words_in,
)

_CLASH = 7
"""Days in which a date that is not the named day of the week is a slip, and no later one."""
_WEEK, _MONTH = 7, 30
"""Units of so many days and more are months."""
_GREGORIAN = range(1583, 4100)
"""Years for which the days of feasts are known."""
any_digit = re.compile(r"\d").search
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
        # "he will be in May 6" names no day.
        not_in="".join([rf"(?<!\b{word}\s)" for word in own.in_month if word not in own.of]),
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
    made.zeros = [zero for zero in words.times.zero if zero not in words.languages[0].times.stops]
    made.ways = Table({**own.ahead, **own.behind})
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
    today, since = setting.at.date(), _grammar(setting.words).since
    if field.validators and since.search(text):
        yesterday = (today - timedelta(days=1)).isoformat()
        if not fits(yesterday, field, setting):
            text = since.sub(lambda found: " " * len(found[0]), text)  # it means "from"
    return _days_in(text, wants_past(field, setting), setting, today)


@lru_cache(maxsize=64)  # a message is read for each field that it may be about
def _days_in(text: str, over: bool, setting: Setting, today: date) -> list[Hit]:
    named = _grammar(setting.words).named.search(text) is not None
    return _Days(text, over, setting, today).hits(named) if named or any_digit(text) else []


_DIGITS = ("iso", "compact", "digits", "slashed", "day_month", "month_day", "ranged", "day_only")
"""Forms of dates that a text can have without a name of a day and the like."""
_WORDS = ("nth", "feast", "near_day", "ahead_of", "from_day", "week", "month_ends", "next_month")
_UNSURE = frozenset(("compact", "slashed", "day_only", "next_month"))
"""Forms that can be something else."""


class _Days:
    """The days that are named in one text at a time and place; all may have to be in the past."""

    def __init__(self, text: str, over: bool, setting: Setting, today: date) -> None:
        self.text, self.over, self.setting, self.today = text, over, setting, today
        self.own = _grammar(setting.words)
        self.past = over or _is_over(text, self.own)

    def hits(self, named: bool) -> list[Hit]:
        """Return the dates; without any names of days, months and the like only those in digits."""
        found = [
            Hit(match.start(), match.start() + len(match[0].rstrip()), day, form not in _UNSURE)
            for form in (*_DIGITS, *(_WORDS if named else ()))
            for match in getattr(self.own, form).finditer(self.text)
            if (day := self._day(match)) or "month" in match.groupdict()  # "31 April"
        ]
        sure = [hit for hit in found if hit.value and hit.certain]
        found = [hit for hit in found if hit.value or not hit.over(sure)]  # "5 Nov 99"
        days = [self._moved(self._with_year(hit)) if hit.value else hit for hit in apart(found)]
        days = self._with_weekdays(days) if named else days
        bounds = self.own.beside_day.search
        days = [hit for hit in days if hit.value and not bounds(before(self.text, hit.start))]
        return [hit._replace(value=hit.value.isoformat()) for hit in days]

    def _day(self, found: re.Match[str]) -> date | None:
        """Return the day that a form means, by its groups that matched."""
        said = {name: text for name, text in found.groupdict().items() if text}
        if "near" in said or "count" in said:
            return self._distant(found, said)
        if "next_week_starts" in said:
            return self._next_week(self.setting.week_begins)
        if "month_ends" in said or "next_month" in said:
            first = _shifted(self.today, months=1, day=1)
            return first if "next_month" in said else first - timedelta(days=1)
        return self._of_calendar(found, said)

    def _of_calendar(self, found: re.Match[str], said: dict[str, str]) -> date | None:
        """Return a day of a year; without a year, the next one from today on or the last one."""
        past = self.past
        if "last" in said and not self.over:  # of its month, not of those that are over
            past = _is_over(self.text[: found.start()] + self.text[found.end() :], self.own)
        this, step = self.today.year, -1 if past else 1
        notations = self._notations(said)[::step]
        if "year" in said:
            year = _full_year(said["year"], this if past else this + 20)
            is_known = "feast" not in said or year in _GREGORIAN
            return _in_year(year, notations[0]) if is_known else None
        years = range(this, this + 9 * step, step)
        days = (_in_year(year, notation) for year in years for notation in notations)
        reached = self.today.__ge__ if past else self.today.__le__
        return next((day for day in days if day and reached(day)), None)

    def _notations(self, said: dict[str, str]) -> list[str]:
        """Return a day as it is written for any year; one of any month for each of them."""
        own, name = self.own, said.get("month", "")
        if "feast" in said:
            return [own.feasts.of(said["feast"])]
        day = said.get("digits") or said.get("dotted") or said.get("bare") or 0
        if "word" in said:
            day = own.ordinals["-".join(said["word"].casefold().split())]
        if not name:
            return [f"{month}-{day}" for month in range(1, 13)]
        month, day = int(name) if name.isdecimal() else own.months.of(name) + 1, int(day)
        if "day" in said:  # "the last friday of May"
            weekday = DAYS[own.weekdays.of(said["day"])]
            return [f"{month}-31 {weekday} -1" if "last" in said else f"{month}-1 {weekday} {day}"]
        if sign := said.get("sign"):
            leads = sign != "." and day <= 12 and self.setting.month_is_first
            month, day = (day, month) if leads or month > 12 else (month, day)
        return [f"{month}-{day}"]

    def _distant(self, found: re.Match[str], said: dict[str, str]) -> date | None:
        """Return a day by its distance from today, or from another day."""
        own, day = self.own, self.today
        if near := said.get("near"):
            unless = own.not_near.get(near.casefold())
            if unless and unless.search(before(self.text, found.start("near"))):
                return None
            day += timedelta(days=own.near.of(near) + self._later(said))
        if "weekday" in said:
            day = _shifted(day, days=1, weekday=own.weekdays.of(said["weekday"]))
        if "count" not in said:
            return day
        count, unit = numeral_of(said["count"], self.setting.words), own.units.of(said["unit"])
        if count is None or (unit % _WEEK and not ("way" in said or "strict" in said)):
            return None
        return _after(day, count * (own.ways.of(said["way"]) if "way" in said else 1), unit)

    def _later(self, said: dict[str, str]) -> int:
        return int(self.own.later.of(said["later"])) if "later" in said else 0

    def _next_week(self, weekday: int) -> date:
        """Return a day of the next week, which begins as it does in the region."""
        first = self.setting.week_begins
        days = 7 - (self.today.weekday() - first) % 7 + (weekday - first) % 7
        return self.today + timedelta(days=days)

    def _weekday(self, found: re.Match[str]) -> date:
        """Return the next day of a name after today, or the last one before.

        "next friday" is the coming one, as most libraries have it; "friday next week" is counted
        from the first day of the week on.
        """
        own, said = self.own, {name: text for name, text in found.groupdict().items() if text}
        which = {own.which.of(said.get("which", "")), own.which_behind.of(said.get("behind", ""))}
        weekday = own.weekdays.of(said["day"])
        ahead = (weekday - self.today.weekday()) % 7
        if "next_week" in said:
            return self._next_week(weekday)
        if "last" in which or (self.past and not which & {"this", "next", "after_next"}):
            return self.today + timedelta(days=ahead - 7)
        ahead = ahead if "this" in which else ahead or 7
        later = 7 if "after_next" in which else self._later(said)
        return self.today + timedelta(days=ahead + later)

    def _with_year(self, hit: Hit) -> Hit:
        """Join a day and its month with the year in words behind them: "nineteen ninety".

        Two digits are the year of a day that must be past: "5 May 82".
        """
        if not hit.certain:
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
            if joint in ("", *self.own.zeros):
                year, end = year * 100 + numbers[1].value, numbers[1].end
        if self.over and 10 <= year < 100:
            year = _full_year(str(int(year)), self.today.year)
        made = _in_year(int(year), f"{hit.value:%m-%d}") if 1000 <= year < 3000 else None
        return Hit(hit.start, hit.end + end, made) if made else hit

    def _moved(self, hit: Hit) -> Hit:
        """Move a day by the distance before it: "two days before Easter"."""
        found = self.own.shift.search(before(self.text, hit.start))
        if found is None:
            return hit
        count = numeral_of(found["count"], self.setting.words) if found["count"] else None
        start = found.start() if count or not found["count"] else found.start("unit")
        unit, sign = self.own.units.of(found["unit"]), self.own.beside.of(found["way"])
        day = _after(hit.value, sign * (count or 1), unit)
        shifted = hit.start - len(found.string) + start
        return Hit(shifted, hit.end, day, hit.certain) if day else hit

    def _with_weekdays(self, days: list[Hit]) -> list[Hit]:
        """Add names of days, each joined with the date next to it if the date is such a day.

        An abbreviation that is another word too is weak: it counts next to a date only.
        """
        own, text = self.own, self.text
        weekdays = [Hit.of(found, self._weekday(found)) for found in own.week_before.finditer(text)]
        for found in own.weekday.finditer(text):
            short = found["day"].casefold() in own.short_weekdays
            start = found.end() - len(found[0].lstrip())
            weekdays.append(Hit(start, found.end(), self._weekday(found), not short, short))
        vague = [Hit.of(found, None) for found in own.vague.finditer(text)]
        vague = [hit for hit in vague if not hit.over(days)]
        joined: list[Hit] = []
        for hit in apart([*days, *vague, *weekdays]):
            left = joined[-1] if joined else hit
            one_is_named = (left in weekdays) != (hit in weekdays)
            if one_is_named and own.adjoining.fullmatch(text, left.end, hit.start):
                named, beside = (left, hit) if left in weekdays else (hit, left)
                day = self._such_a_day(named, beside)
                if day or beside.value is None:  # there is no "Friday, 31 April"
                    joined[-1] = Hit(left.start, hit.end, day)
                    continue
            joined.append(hit)
        return [hit for hit in joined if hit.value and (hit.certain or not hit.weak)]

    def _such_a_day(self, named: Hit, beside: Hit) -> date | None:
        """Return the date next to the name of a day, or the next of its number that is such one.

        An abbreviation that is another word too moves no date: "am 26. so gegen drei".
        """
        day: date | None = beside.value
        if day is None or day.weekday() == named.value.weekday():
            return day
        if beside.certain or named.weak or abs((day - self.today).days) <= _CLASH:
            return None
        fitting = rrule(MONTHLY, day, bymonthday=day.day, byweekday=named.value.weekday())
        return datetime.date(fitting[0])


def _full_year(said: str, last: int) -> int:
    """Return a year; two digits are one of the hundred years until the last."""
    digits = said.lstrip("'")
    return int(digits) if len(digits) == 4 else last - (last - int(digits)) % 100


def _in_year(year: int, notation: str) -> date | None:
    """Return a day of a year: "12-25", "easter+39", or "5-1 sunday 2", the second one from then on.

    None if the year has no such one; "5-31 monday -1" is the last one until then.
    """
    start, *weekday = notation.split()
    with suppress(ValueError):
        if start.startswith("easter"):
            return _shifted(easter(year), days=int(start.removeprefix("easter")))
        month, day = map(int, start.split("-"))
        if not weekday:
            return date(year, month, day)
        name, place = DAYS.index(weekday[0]), int(weekday[1])
        found = _shifted(date(year, month, 1), day=day, weekday=WEEKDAYS[name](place))
        return found if place < 0 or found.month == month else None
    return None


def _after(day: date, count: int, unit: int = 1) -> date | None:
    """Return the day so many days, weeks, months or years later; None past the calendar."""
    with suppress(OverflowError, ValueError):
        if unit < _MONTH:
            return day + timedelta(days=count * unit)
        return _shifted(day, months=count * (unit // _MONTH))
    return None


def _shifted(day: date, /, **parts: Any) -> date:
    shifted: date = day + relativedelta(**parts)
    return shifted


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
        groups = plain(said["weekdays"]).split(",")
        weekdays = {word: at for at, group in enumerate(groups) for word in group.split()}
        words = frozenset(plain(said.get("words", "")).split())
        made[name] = SimpleNamespace(weekdays=weekdays, words=words and words.union(weekdays))
    return made


def date_elsewhere(text: str, field: Field, setting: Setting) -> str | None:
    """Return a date in a language that is not read here, by dateparser; None if it is not one.

    Only a day and a month together, or a word for a day, make a date: dateparser alone would take
    "50" for the year 2050. A day of the week that is named has to be that of the date.
    """
    said = text.strip(" .,!")
    if not _SHORTEST <= len(said) <= _LONGEST or _TELLING.search(said):
        return None
    folded = plain(said)
    words = telling = {*_ELSEWHERE_WORD.findall(folded)}
    if not any_digit(said):  # what is read here is understood without it: "a friday in May"
        telling = words.difference(_grammar(setting.words).own)
        if len(said.split()) > _MOST_WORDS:
            return None
    known = {
        name: own
        for name, own in _elsewhere().items()
        if name not in setting.words.spoken
        and (not own.words.isdisjoint(telling) if own.words else _OTHER_SCRIPT.search(said))
    }
    if not known:
        return None
    # The day alone: dateparser keeps every setting that it was ever given.
    now = setting.minute.replace(hour=0, minute=0)
    order = "MDY" if setting.month_is_first else "DMY"
    day = _parsed(said, (*known,), now, wants_past(field, setting), order)
    named = {
        at
        for own in known.values()
        for word, at in own.weekdays.items()
        if word in (words if own.words else folded)
    }
    return day.isoformat() if day and (not named or day.weekday() in named) else None


@lru_cache(64)  # a message is read for each field that it may be about
def _parsed(
    said: str, languages: tuple[str, ...], now: datetime, past: bool, order: str
) -> date | None:
    import dateparser  # noqa: PLC0415 - 0.2 s

    settings: Any = {"RELATIVE_BASE": now, "PREFER_DATES_FROM": "past" if past else "future"}
    settings |= {"REQUIRE_PARTS": ["day", "month"], "RETURN_AS_TIMEZONE_AWARE": False}
    ones = compiled(rf"(?<!\w){one_of(literal(everywhere().ones.split()))}(?!\w)")
    # "a friday in May" is not the first.
    with suppress(Exception):  # what the library stumbles over is no date
        for parser, words in (("absolute-time", ones.sub("", said)), ("relative-time", said)):
            own = {**settings, "PARSERS": [parser], "DATE_ORDER": order}
            found = dateparser.parse(words, languages=[*languages], settings=own)
            if isinstance(found, datetime):
                return found.date()
    return None


@cache
def load_dates() -> None:
    """Import dateparser and all its languages, for which no message should have to wait.

    That takes half a second.
    """
    for language, said in everywhere().elsewhere.items():
        _parsed(said["example"], (language,), datetime(2030, 1, 1), False, "DMY")  # noqa: DTZ001


_NOON = 12
_HALF_DAY = 60 * _NOON
_NOWHERE: tuple[int, ...] = ()
_SIGNS = re.compile(r"[^\w\s,'.]")
_WORD_BEHIND = re.compile(r"\s+[^\W\d_]")
_PARTS = re.compile(r"[\s-]+")
_NEAR_HOUR, _MOST, _NEAR_DAY = 24, 20, 40
_HALF_HOUR = 1800
_JOINTS = frozenset(("at", "t"))


@cache
def _times_grammar(words: Vocabulary) -> SimpleNamespace:
    own, days = words.times, words.dates
    small = {word: n for word, n in numbers_of(words).small.items() if n < 60}
    articles = [word for word, n in small.items() if n == 1 and word in words.numbers.others]
    values = {word: n for word, n in small.items() if word not in articles} | own.hours

    def of(*numbers: int) -> tuple[str, ...]:
        return literal([word for word, value in values.items() if value in numbers])

    parts = [phrase for phrase, part in own.parts.items() if part != "meal"]
    leads = [lead for each in words.languages if each.times.not_am for lead in each.times.leads]
    made = grammar(
        "times",
        words,
        hours=of(*range(1, _NOON + 1)),
        tens=of(20, 30, 40, 50),
        ones=of(*range(1, 10)),
        teens=of(*range(13, 20)),
        fives=of(5, 10, 20),
        zero=literal(_grammar(words).zeros),
        part=(*parts, *own.noon),
        greeted="".join([rf"(?<!{word} )" for word in own.greetings]),
        glued_to="".join([rf"|(?<={end})" for end in own.glued]),
        midnight=tuple([name for name, hour in own.names.items() if hour == 0]),
        leads_elsewhere=tuple(leads),  # where "am" is a preposition
    )

    def in_words(say: str) -> re.Pattern[str]:  # "quarter to {hour}"
        said = say.replace(" ", r"[\s-]+").replace("(", "(?:").replace("{minutes}", "{minute}")
        return compiled(made.filled(rf"\b{said}(?![\w:]|[.,]\d)(?:{{pm}})?"))

    written = [
        *(made.lone, made.parted, made.clock, made.halved, made.on_the_hour, made.military),
        *(made.four_digits, made.spelled, made.named_hour),
    ]
    made.values = {**values, **own.minutes}
    made.forms = [(pattern, _PLAIN) for pattern in written]
    made.forms += [(in_words(form.say), form) for form in own.forms]
    made.joining = made.joining.union(days.weekdays)
    told = [*values, *own.minutes, *parts, *own.clock, *own.noon, *[form.say for form in own.forms]]
    told += own.names
    made.spelled_words = frozenset(words_in(" ".join(told)))
    return made


def scan_times(text: str, field: Field, setting: Setting) -> list[Hit]:
    """Find times of day."""
    own, hits = _times_grammar(setting.words), []
    for hit in readings_in(text, setting.words):
        value, settled = _meant(hit.value, field, setting)
        hit = hit._replace(value=value)
        bound = own.open.search(before(text, hit.start))
        after = bound and bound["after"]
        ranged = after and settled and field.validators and fits(value, field, setting)
        if bound and (bound["beyond"] or (after and not ranged)):
            continue  # "before 9"; "after 6", if that may be either
        if bound:  # "from 6", "until 9"
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
    evening = _asks_for_evening(field, setting)
    readings = sorted(readings, reverse=True) if evening else readings
    fitting = [v for v in readings if fits(v, field, setting)] if field.validators else readings
    return (fitting or readings)[0], evening or 0 < len(fitting) < len(readings)


def is_half_in_doubt(field: Field, raw: str, value: Any, setting: Setting) -> bool:
    """Return whether a time of day may as well be of the other half of the day."""
    if field.type not in ("time", "datetime"):
        return False
    found = [hit.value for hit in readings_in(folded(raw), setting.words) if len(hit.value) > 1]
    if not found or field.type == "time":
        return any(not _meant(readings, field, setting)[1] for readings in found)
    moment = datetime.fromisoformat(value)
    other = moment.replace(hour=(moment.hour + _NOON) % 24)
    parted = (other < setting.minute) is not (moment < setting.minute)
    decided = parted or _asks_for_evening(field, setting)
    return not decided and fits(written(other), field, setting)


def _asks_for_evening(field: Field, setting: Setting) -> bool:
    return _is_of_evening(question_of(field), setting.words)


@lru_cache(maxsize=2_000)
def _is_of_evening(question: str, words: Vocabulary) -> bool:
    own = _times_grammar(words)
    found = {_part_of(match, own) for match in own.part.finditer(question)}
    return bool(found & {"evening", "meal"}) and "morning" not in found


@lru_cache(maxsize=64)  # a message is read for each field that it may be about
def readings_in(text: str, words: Vocabulary) -> list[Hit]:
    """Find times of day; the value of each is a list of what it may mean, the likeliest first."""
    own = _times_grammar(words)
    if not own.maybe.search(text):
        return []
    return apart(
        hit
        for pattern, form in own.forms
        for found in pattern.finditer(text)
        if (hit := _read(found, form, own))
    )


_PLAIN = SimpleNamespace(add=0, sign=1)


def _read(found: re.Match[str], form: SimpleNamespace, own: SimpleNamespace) -> Hit | None:
    """Return a time: its minutes are added to what a form adds to the hour, or taken off that.

    A lone hour is certain after "at" and before nothing that it counts; "7.30" may be an amount.
    """
    said = {name: text for name, text in found.groupdict().items() if text}
    leads = before(found.string, found.start())
    if "noon" in said and own.of_noon.search(leads):
        return None  # it only names the half of the day
    half, end = _half(found, own)
    named = own.names.of(said["name"]) if "name" in said else _NOON
    hour = _number(said["hour"], own) if "hour" in said else named
    if half == "a" and hour > _NOON:
        return None
    minutes = form.add + (form.sign * _number(said["minute"], own) if "minute" in said else 0)
    if half and hour <= _NOON:
        hour = hour % _NOON + (_NOON if half == "p" else 0)
    if half or "whole" in said or not 0 < hour <= _NOON:
        readings, part = [_clock(60 * hour + minutes)], _NOWHERE
    else:
        place, minutes = (found.start(), end), (60 * hour + minutes) % _HALF_DAY
        readings, part = _on_dial(minutes, found.string, place, "zero" in said, own)
    if (second := said.get("second", "00")) != "00":
        readings = [f"{reading}:{second}" for reading in readings]
    certain, weak = "unsure" not in said, False
    if "lone" in said:
        placed = own.at.search(leads) is not None
        certain = placed and own.stop.match(found.string, found.end()) is not None
        weak = not placed and "minute" not in said
    if half or "unit" in said:
        certain, weak = True, False
    return Hit(found.start(), end, readings, certain, weak, part)


def _half(found: re.Match[str], own: SimpleNamespace) -> tuple[str, int]:
    """Return "a" or "p" for am or pm, else nothing, and the end of the time."""
    half, text = found.groupdict().get("half") or "", found.string
    if half[:1] not in ("", "a") and half.strip(" (-").casefold() == "am":
        behind = own.foreign_at.search(before(text, found.start()))
        if own.not_am.match(text, found.end("half")) or (
            behind and _WORD_BEHIND.match(text, found.end("half"))
        ):
            return "", found.start("half")
    return "p" if "p" in half.casefold() else half and "a", found.end()


def _on_dial(
    minutes: int, text: str, place: tuple[int, int], zero: bool, own: SimpleNamespace
) -> tuple[list[str], tuple[int, ...]]:
    """Return what a time of either half of the day may mean, the likeliest first.

    With it comes the place of words that say which half it is.
    """
    part, said_at = _part(text, place, zero, own)
    early, late = _clock(minutes), _clock(minutes + _HALF_DAY)
    if minutes < 60:  # at twelve
        night = part == "night" or own.small_hours.match(text, place[1])
        return ([early], said_at) if night else ([late], ())
    first, last = everywhere().later_between[part]
    is_late = first < minutes // 60 < last
    if not part:
        return [early] if zero else [late, early] if is_late else [early, late], ()
    return ([late], said_at) if is_late else ([early], ())


def _clock(minute: int) -> str:
    return f"{minute // 60 % 24:02}:{minute % 60:02}"


def _number(said: str, own: SimpleNamespace) -> int:
    """Return the number of an hour or of minutes: digits, words, a quarter."""
    words = _PARTS.split(said.casefold())
    return sum([int(word) if word.isdecimal() else own.values.get(word, 0) for word in words])


def _part(
    text: str, place: tuple[int, int], zero: bool, own: SimpleNamespace
) -> tuple[str, tuple[int, ...]]:
    """Return the part of the day that the words near a time name, and their place.

    The place is empty if there are other words between the two, or if the words name a meal.
    If the time leads with a zero, they say nothing then.
    """
    start, end = place
    for found in own.part.finditer(text, max(0, start - _NEAR_HOUR), end + _NEAR_HOUR):
        gap = text[found.end() : start] or text[end : found.start()]
        part = _part_of(found, own)
        if part != "meal" and not _SIGNS.search(gap) and own.joining.issuperset(words_in(gap)):
            return part, found.span()
        if not zero:
            return part, ()
    return "", ()


def _part_of(found: re.Match[str], own: SimpleNamespace) -> str:
    """Return the part of the day that words name where they are: "esta noche" is an evening."""
    text, place = found.string, found.span("part")
    named = [part for form, part in own.parts.patterns if form.fullmatch(text, *place)]
    return str(named[0] if named else own.parts.of(found["part"]))


def parts_of_day(text: str, setting: Setting) -> list[Hit]:
    """Return the words for a part of the day, which may be next to a value."""
    pattern = _times_grammar(setting.words).around_part
    return [Hit.of(found, None) for found in pattern.finditer(text)]


def scan_datetimes(text: str, field: Field, setting: Setting) -> list[Hit]:
    """Find moments, local to the user's own time zone, to the minute."""
    own, today = _times_grammar(setting.words), setting.at.date()
    if not (own.maybe.search(text) or own.soon.search(text)):
        return []
    hits = [*_iso(text, setting, own), *_soon(text, setting, own)]
    days = scan_dates(text, field, setting)
    past = wants_past(field, setting) or _is_over(text, _grammar(setting.words))
    hours = readings_in(text, setting.words) if days else []
    evening = _asks_for_evening(field, setting)
    for day, hour in product(days[:_MOST], hours[:_MOST]):
        if not _belong(text, day, hour, own, setting):
            continue
        moments = [f"{day.value}T{each}" for each in hour.value]
        moments = sorted(moments, reverse=True) if evening else moments
        if day.value == today.isoformat() and own.midnight.search(text, hour.start, hour.end):
            # Midnight of a day that has begun is its end.
            moments = [f"{today + timedelta(days=1)}T00:00"]
        elif day.value == today.isoformat():
            # What is to come first, or what is over.
            now = written(setting.minute)
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
        with suppress(ValueError, OverflowError):
            moment = datetime.fromisoformat(found[0].upper())
            moment = moment.astimezone(setting.at.tzinfo) if moment.tzinfo else moment
            yield Hit.of(found, written(moment))


def _soon(text: str, setting: Setting, own: SimpleNamespace) -> Iterator[Hit]:
    """Find moments by their distance from now."""
    for found in own.soon.finditer(text):
        said = {name.rstrip("2"): text for name, text in found.groupdict().items() if text}
        count = numeral_of(said["count"], setting.words) if "count" in said else 1
        if count is None:
            continue
        unit = own.units.of(said["unit"]) if "unit" in said else _HALF_HOUR if "half" in said else 0
        if "way" in said:
            unit *= _grammar(setting.words).ways.of(said["way"])
        # In absolute time, so that a clock that is put forward does not lose an hour of it.
        moment = setting.at.astimezone(UTC) + timedelta(seconds=count * unit)
        yield Hit.of(found, written(moment.astimezone(setting.at.tzinfo).replace(second=0)))


def written(moment: datetime) -> str:
    """Return a moment as it is kept: to the minute, or to the second if it was given."""
    unit = "seconds" if moment.second else "minutes"
    return moment.replace(tzinfo=None, microsecond=0).isoformat(timespec=unit)
