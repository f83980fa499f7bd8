"""Values inside a longer message: proposals, which the user or a model has to confirm.

A value is proposed for the longest run of words that is one as a whole. One next to a
word that denies, relates or blurs it is left out.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from types import SimpleNamespace
from typing import Any

from journeygraph.journeys.declarations.fields import Field
from journeygraph.nodes.values.dates import grammar_of_days
from journeygraph.nodes.values.languages import bare, folded, language_data, one_of
from journeygraph.nodes.values.numbers import numeral_of, ordinals_of
from journeygraph.nodes.values.people import EMAIL, PHONE
from journeygraph.nodes.values.reading import READERS, extracted
from journeygraph.nodes.values.setting import LONGEST, Setting, units_of

_MOST_WORDS = 40
"""Most words of a message that are looked at."""
_NUMBER = re.compile(r"[\d.,]+")
_DIGIT = re.compile(r"\d")
_COUNTS = ("integer", "number", "money")
_WHEN = ("date", "time", "datetime")
_OVER_SIGNS = ("date", "datetime", "enum")
"""Types of values with signs in them: "Friday, 18 December"."""
_WINDOWS = dict.fromkeys(_COUNTS, 6) | {"date": 9, "time": 7, "datetime": 9, "enum": 6}
"""Most words of a value, by its type."""
_SHAPED = {"email": EMAIL, "phone": PHONE, "boolean": re.compile(r"[^.,;!?\n]+")}
_OTHERS = [Field("other", kind) for kind in ("date", "time", "money", "phone", "email")]
"""Values of which a number may be a part."""


@dataclass(frozen=True, slots=True)
class Span:
    """A value, as plain JSON, that is proposed for some words, with their place in the message.

    It is `own` if a pattern of the field's author found it.
    """

    value: Any
    raw: str
    start: int
    end: int
    own: bool = False


class Scan:
    """A message in which the values of fields are looked for."""

    def __init__(self, text: str, setting: Setting) -> None:
        self.text, self.setting = text if len(text) <= LONGEST else "", setting
        self.words = [*re.finditer(r"\S+", self.text)][:_MOST_WORDS]
        self.said = [folded(bare(word[0].strip("()"))) for word in self.words]
        # No number or time goes over a word that ends a part of the text.
        closing = [n for n, word in enumerate(self.words, 1) if word[0][-1] in ",;!?"]
        self.closing = [*closing, len(self.words)]

    def found(self, field: Field) -> list[Span]:
        """Return proposals of a field's type, in order; none overlap.

        None is left where a word relates or denies another value than the others: which of them is
        meant, only a reader can tell. Texts, lists, names and addresses are found by the field's
        `extract` alone.
        """
        if field.extract and (own := extracted(field, self.text, self.setting)):
            value, start, end = own
            more = extracted(field, self.text[end:], self.setting)
            is_only = more is None or more[0] == value
            return [Span(value, self.text[start:end], start, end, own=True)] if is_only else []
        spans = [span for span in self._spans(field) if not self._is_of_other(span, field)]
        kept = [span for span in spans if not self._is_related(span, field)]
        values = {repr(span.value) for span in kept}
        return kept if all(repr(span.value) in values for span in spans) else []

    def _spans(self, field: Field) -> Iterator[Span]:
        if field.type in _WINDOWS:
            yield from self._windows(field)
        elif field.type in _SHAPED:
            for place in _SHAPED[field.type].finditer(self.text):
                raw = place[0].strip()
                value = READERS[field.type](field, raw, self.setting)
                if value is not None:
                    yield self._span(value, raw, place.start())

    def _span(self, value: Any, raw: str, start: int) -> Span:
        start = self.text.index(raw, start)
        return Span(value, raw, start, start + len(raw))

    def _windows(self, field: Field) -> Iterator[Span]:
        """Yield the longest runs of words that are a value, one of which is typical of it."""
        at, most, language = 0, _WINDOWS[field.type], self.setting.language
        known = _dated_words(language) if field.type in _WHEN else ()
        said = self.said
        leads = self.setting.words.dates.leads if field.type in _WHEN else ()
        typical = [word in known or has_number(word, language) for word in said]
        telling = [typical[n] and not self._may_be_other(field, said[n]) for n in range(len(said))]
        counted = [word not in ("", *leads) for word in said]
        closing = [len(said)] if field.type in _OVER_SIGNS else self.closing
        while at < len(said):
            for end in range(min(closing[bisect_right(closing, at)], at + most), at, -1):
                has_more = any(typical[at:end]) and sum(counted[at:end]) > 1
                if not (has_more or any(telling[at:end]) or field.type == "enum"):
                    continue
                raw = bare(self.text[self.words[at].start() : self.words[end - 1].end()])
                value = READERS[field.type](field, raw, self.setting)
                if value is not None:
                    yield self._span(value, raw, self.words[at].start())
                    at = end - 1
                    break
            at += 1

    def _may_be_other(self, field: Field, word: str) -> bool:
        """Return whether a word alone is another one in most messages: "sun", "the green one"."""
        number = numeral_of(word, self.setting.language)
        if field.type in _WHEN:
            is_short = len(word) < 4 and not any(map(str.isdigit, word))
            return is_short or number is not None
        return field.type in _COUNTS and number == 1 and word.isalpha()

    @cached_property
    def _others(self) -> list[tuple[str, Span]]:
        found = [(kind.type, span) for kind in _OTHERS for span in self._spans(kind)]
        return [(kind, span) for kind, span in found if kind != "money" or span.value["currency"]]

    def _is_of_other(self, span: Span, field: Field) -> bool:
        """Return whether a number is a part of a value of another type.

        "Five hours" is a count where hours are asked for, else a time.
        """
        if field.type not in _COUNTS:
            return False
        is_counted = folded(span.raw).split()[-1] in units_of(field, self.setting)
        return any(
            span.start < other.end and other.start < span.end
            for kind, other in self._others
            if kind != field.type and not (kind == "time" and is_counted)
        )

    def _is_related(self, span: Span, field: Field) -> bool:
        """Return whether a word next to a value denies, relates or blurs it, or is another unit."""
        words = _relating(self.setting.language)
        said, rest = folded(self.text[: span.start]), folded(self.text[span.end :])
        unit = bare(rest.partition(" ")[0])
        alike, own = set().union(*self.setting.words.numbers.alike), units_of(field, self.setting)
        # Where the question names no unit that is known, as in another language, any may follow.
        is_other = field.type in _COUNTS and unit in alike - own and not alike.isdisjoint(own)
        is_related = words.behind.match(rest) or words.before.search(said)
        if field.type in _COUNTS:
            is_related = is_related or words.contrast.search(said) or words.contrast.search(rest)
        elif field.type in _WHEN and not _DIGIT.search(span.raw):
            is_related = is_related or words.before_day.search(said) or words.behind_day.match(rest)
        return field.type in _WINDOWS and bool(is_other or is_related)


@cache
def _relating(language: str) -> SimpleNamespace:
    """Return the patterns of words that relate a value: before it, behind it, or anywhere."""
    own = language_data(language)
    leads, endings = one_of(own.dates.leads), one_of(own.dates.endings)
    related = {
        "before": rf"(?<!\w){one_of(own.relation)}(?: {one_of(own.articles)})*$",
        "behind": rf"{one_of(own.relation_behind)}(?!\w)",
        "before_day": rf"(?<!\w){one_of(ordinals_of(language))}$",
        "behind_day": rf"[, ]*(?:{leads} )*\d\d?(?:{endings})?(?!\w|[:.]\d| ?\w)",
        "contrast": rf"(?<!\w){one_of((*own.contrast, *own.comparison))}(?!\w)",
        "comparison": rf"(?<!\w){one_of(own.comparison)}(?!\w)",
    }
    return SimpleNamespace(**{name: re.compile(pattern) for name, pattern in related.items()})


def is_comparison(text: str, language: str) -> bool:
    """Return whether a text compares a value with another: "an hour later", "one more"."""
    return bool(_relating(language).comparison.search(folded(text)))


@lru_cache(maxsize=4_000)
def has_number(text: str, language: str) -> bool:
    """Return whether a text has a digit, or a word that is or holds a numeral."""
    words = re.split(r"[\s-]+", text)
    return any(map(str.isdigit, text)) or any(numeral_of(w, language) is not None for w in words)


def is_bare(raw: str, setting: Setting) -> bool:
    """Return whether a time or an amount is a number alone, with nothing that says what it is."""
    said = setting.words.without_article(folded(raw))  # "las dos"
    return bool(_NUMBER.fullmatch(said)) or numeral_of(said, setting.language) is not None


@cache
def _dated_words(language: str) -> frozenset[str]:
    own, words = grammar_of_days(language), language_data(language)
    days, times = words.dates, words.times
    said = (*own.months, *own.weekdays, *days.near, *days.feasts, *days.units, *times.names)
    return frozenset(word for phrase in (*said, *times.now) for word in phrase.split())
