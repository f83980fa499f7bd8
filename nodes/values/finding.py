"""Values inside a longer message: proposals, which the user or a model has to confirm.

A value is proposed for the longest run of words that is one as a whole. One next to a
word that denies, relates or blurs it is left out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any, NamedTuple

from journeygraph.journeys.notions.fields import Field
from journeygraph.nodes.values.dates import grammar_of_days
from journeygraph.nodes.values.languages import bare, folded, language_data
from journeygraph.nodes.values.numbers import numeral_of
from journeygraph.nodes.values.people import EMAIL, MOST_NAMES, PHONE, led_by
from journeygraph.nodes.values.reading import READERS, extracted, spelled, ways_of
from journeygraph.nodes.values.setting import LONGEST, Setting, units_of

_MOST_WORDS = 40
"""Most words of a message that are looked at."""
_COUNTS = ("integer", "number", "money")
_WHEN = ("date", "time", "datetime")
_WINDOWS = dict.fromkeys(_COUNTS, 6) | {"date": 9, "time": 7, "datetime": 9, "enum": 6}
"""Most words of a value, by its type."""
_LED = ("name", "full_name", "address")
_CLAUSE = re.compile(r"[^.,;!?\n]+")
_OTHERS = [Field("other", kind) for kind in ("date", "time", "money", "phone", "email")]
"""Values of which a number may be a part."""


@dataclass(frozen=True, slots=True)
class Span:
    """A value that is proposed for some words of a message.

    Attributes:
        value: The value, as plain JSON.
        raw: The words.
        start: The place of their first character in the message.
        end: The place behind their last character.
        type: Type of the field that it was looked for.
        own: True if a pattern of the field's author found it.
    """

    value: Any
    raw: str
    start: int
    end: int
    type: str = ""
    own: bool = False

    def over(self, other: Span) -> bool:
        """Return whether it shares a place with another."""
        return self.start < other.end and other.start < self.end


class _Word(NamedTuple):
    start: int
    end: int
    said: str
    ends: bool


def found_in(field: Field, text: str, setting: Setting) -> list[Span]:
    """Return proposals of a field's type in a message, in order; none overlap."""
    return Scan(text, setting).found(field)


class Scan:
    """A message in which the values of fields are looked for.

    Args:
        text: The message.
        setting: Its time, place and language.
    """

    def __init__(self, text: str, setting: Setting) -> None:
        self.text, self.setting = text, setting
        found = [*re.finditer(r"\S+", text)][:_MOST_WORDS]
        self.words = [_Word(*one.span(), _plain(one[0]), one[0][-1] in ".,;:!?)") for one in found]

    def found(self, field: Field) -> list[Span]:
        """Return proposals of a field's type, in order; none overlap.

        None is left where a word relates or denies another value than the others: which of them is
        meant, only a reader can tell. Texts and lists are found by the field's `extract` alone,
        names and addresses behind what brings them in, as "my name is".
        """
        if not self.words or len(self.text) > LONGEST:
            return []
        if field.extract and (own := extracted(field, self.text, self.setting)):
            value, start, end = own
            more = extracted(field, self.text[end:], self.setting)
            is_only = more is None or more[0] == value
            raw = self.text[start:end]
            return [Span(value, raw, start, end, field.type, own=True)] if is_only else []
        spans = [*self._spans(field)]
        kept = [s for s in spans if not (self._relates(s) or self._counts_else(s, field))]
        values = {repr(span.value) for span in kept}
        return kept if all(repr(span.value) in values for span in spans) else []

    def _spans(self, field: Field) -> Sequence[Span]:
        if field.type in _WINDOWS:
            spans = [*self._windows(field)]
            return self._not_of_others(spans, field) if field.type in _COUNTS else spans
        if field.type in _LED:
            return [*self._led(field)]
        finders = {"email": self._shaped, "phone": self._shaped, "boolean": self._answers}
        return [*finders[field.type](field)] if field.type in finders else []

    def _span(self, field: Field, said: str, start: int) -> Span | None:
        value = READERS[field.type](field, said, self.setting)
        start = self.text.index(said, start)
        return None if value is None else Span(value, said, start, start + len(said), field.type)

    def _shaped(self, field: Field) -> Iterator[Span]:
        for found in (EMAIL if field.type == "email" else PHONE).finditer(self.text):
            if span := self._span(field, found[0], found.start()):
                yield span

    def _answers(self, field: Field) -> Iterator[Span]:
        for clause in _CLAUSE.finditer(self.text):
            if span := self._span(field, clause[0].strip(), clause.start()):
                yield span

    def _windows(self, field: Field) -> Iterator[Span]:
        at, most, tells = 0, _WINDOWS[field.type], _telling(field, self.setting)
        telling = [tells(word.said) for word in self.words]
        while at < len(self.words):
            for end in range(min(len(self.words), at + most), at, -1):
                if any(telling[at:end]) and (span := self._window(field, self.words[at:end])):
                    yield span
                    at = end - 1
                    break
            at += 1

    def _window(self, field: Field, words: Sequence[_Word]) -> Span | None:
        said = bare(self.text[words[0].start : words[-1].end])
        if field.type in _WHEN and self._is_other(words):
            return None
        if field.type in _COUNTS and len(words) == 1 and self._is_one(said):
            return None  # "una veintena", "the green one"
        return self._span(field, said, words[0].start)

    def _is_other(self, words: Sequence[_Word]) -> bool:
        """Return whether a single word is another one in most messages: "so", "sun", "seven"."""
        leads = self.setting.words.dates.leads
        [first, *others] = [word.said for word in words if word.said not in leads] or [""]
        is_short = len(first) < 4 and (first.isalpha() or not first)
        return not others and (is_short or numeral_of(first, self.setting.language) is not None)

    def _is_one(self, said: str) -> bool:
        """Return whether a word is an article or a pronoun, next to other words."""
        is_word = said.isalpha() and len(self.words) > 1
        is_article = folded(said) in self.setting.words.articles
        return is_article or (is_word and numeral_of(folded(said), self.setting.language) == 1)

    def _not_of_others(self, spans: Sequence[Span], field: Field) -> list[Span]:
        others = [
            other
            for kind in _OTHERS
            if spans and kind.type != field.type
            for other in self._spans(kind)
            if kind.type != "money" or other.value["currency"]
        ]
        return [span for span in spans if not any(span.over(other) for other in others)]

    def _counts_else(self, span: Span, field: Field) -> bool:
        """Return whether a number is of another unit, as "800 grams", or a day: "am 18. kaputt"."""
        behind = next((word for word in self.words if word.start >= span.end), None)
        if behind is None or field.type not in _COUNTS:
            return False
        is_day = self.text.startswith(". ", span.end) and self.text[behind.start].islower()
        own, groups = units_of(field, self.setting), self.setting.words.numbers.alike
        has_unit = any(not own.isdisjoint(group) for group in groups)
        is_unit = any(behind.said in group for group in groups)
        return is_day or (has_unit and is_unit and behind.said not in own)

    def _led(self, field: Field) -> Iterator[Span]:
        own, is_address = self.setting.words.names, field.type == "address"
        leads = own.address if is_address else (*own.leads, *own.maybe)
        for at, word in enumerate(self.words):
            count = led_by([each.said for each in self.words[at : at + 8]], leads)
            if count == 1 and at and not self.words[at - 1].ends:
                continue  # "tell us his name haha"
            run = self._run(at + count, is_address) if count else []
            for end in range(len(run), 0, -1):
                raw = bare(self.text[run[0].start : run[end - 1].end])
                whole = self.text[word.start : run[0].start] + raw
                value = READERS[field.type](field, whole, self.setting)
                if value is not None:
                    start = self.text.index(raw, run[0].start)
                    yield Span(value, raw, start, start + len(raw), field.type)
                    return

    def _run(self, first: int, is_address: bool) -> Sequence[_Word]:
        """Return the words up to the end of a clause; an address has commas."""
        words = self.words[first:] if is_address else self.words[first : first + MOST_NAMES]
        for at, word in enumerate(words):
            if word.said in self.setting.words.joints:
                return words[:at]
            if word.ends and len(word.said) > 1 and not is_address:
                return words[: at + 1]
        return words

    def _relates(self, span: Span) -> bool:
        """Return whether a word next to a value denies, relates or blurs it."""
        if span.type in ("email", "phone"):
            return False
        relation = self.setting.words.relation
        articles = self.setting.words.articles
        before = [word for word in self.words if word.end <= span.start]
        while before and before[-1].said in articles and not before[-1].ends:
            before.pop()
        before = before[-2:]
        if before and not before[-1].ends:
            both = " ".join(word.said for word in before)  # "um die 300"
            if before[-1].said in relation or both in relation:
                return True
        last = [word for word in self.words if word.end >= span.end][:2]
        related = () if span.type in _LED else self.setting.words.relation_behind
        return len(last) > 1 and not last[0].ends and last[1].said in related


def _plain(word: str) -> str:
    return folded(bare(word).strip("()"))


def _telling(field: Field, setting: Setting) -> Callable[[str], bool]:
    if field.type == "enum":
        ways = ways_of(tuple(field.ways.items()))
        known = frozenset(word for way in ways for word in way.split())
        return lambda said: not known.isdisjoint(spelled(said).split())
    known = _dated_words(setting.language) if field.type in _WHEN else frozenset()
    return lambda said: said in known or has_number(said, setting.language)


@lru_cache(maxsize=4_000)
def has_number(text: str, language: str) -> bool:
    """Return whether a text has a digit, or a word that is or holds a numeral."""
    parts = (part for word in text.split() for part in (word, *word.split("-")))
    return bool(re.search(r"\d", text)) or any(numeral_of(p, language) is not None for p in parts)


def is_bare(raw: str, setting: Setting) -> bool:
    """Return whether a time or an amount is numbers alone, with nothing that says what they are."""
    own = setting.words
    small = {word for lead in (*own.times.leads, *own.joints, "to") for word in lead.split()}
    words = [word for word in folded(raw).split() if word not in small]
    return all(
        numeral_of(word, setting.language) is not None or re.fullmatch(r"[\d.,]+", word)
        for word in words
    )


def is_near(span: Span, setting: Setting) -> bool:
    """Return whether a span is a day counted from today, as in "back tomorrow"."""
    return span.type == "date" and folded(span.raw) in setting.words.dates.near


@cache
def _dated_words(language: str) -> frozenset[str]:
    own, words = grammar_of_days(language), language_data(language)
    days, times = words.dates, words.times
    said = (*own.months, *own.weekdays, *days.near, *days.feasts, *days.units, *times.names)
    return frozenset(word for phrase in (*said, *times.now) for word in phrase.split())
