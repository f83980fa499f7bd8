"""A message as its words, what it may answer, and the words of it that are a value.

Words are folded as phrases are written, and each has its place.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from operator import attrgetter
from typing import Any, NamedTuple

from journeygraph.journeys import Field
from journeygraph.journeys.phrases import plain
from journeygraph.nodes.commands import Command, Correct, Fill
from journeygraph.nodes.language.lexicon import Lexicon
from journeygraph.nodes.state.dialogue_state import Asked, Option
from journeygraph.nodes.values import Setting, Span, Unreadable, found_in, value_of
from journeygraph.nodes.values.dates import any_digit
from journeygraph.nodes.values.scanning import words_of_field

_TOKEN = re.compile(r"[^\W_]+(?:['\u2019\u02bc`\u00b4][^\W_]+)*")
_APOSTROPHES = re.compile(r"['\u2019\u02bc`\u00b4]")
_BREAK = re.compile(r"[,;:.!?\u2026\n]|\s[-\u2013\u2014]+\s|\u2014")
_HAS_LETTER = re.compile(r"[^\W\d_]").search
_AHEAD = 30
_WORD_OF = attrgetter("word")
_LONG_RUN = re.compile(r"(\w)\1{2,}")
_SIGNS_BEHIND = re.compile(r"\s?[%)+\u20ac$\u00a3\u00a5]+")


@dataclass(frozen=True, slots=True, eq=False)
class Token:
    """A word of a message, folded; it closes where the signs behind it end a clause."""

    word: str
    start: int
    end: int
    closes: bool


@dataclass(frozen=True)
class Reading:
    """Some words in a row of a message, whose whole text it keeps; complete: all of them."""

    text: str
    tokens: tuple[Token, ...]
    lexicon: Lexicon = field(repr=False)
    complete: bool = False

    @cached_property
    def said(self) -> str:
        """The words, with a space between them."""
        return " ".join(map(_WORD_OF, self.tokens))

    @cached_property
    def marked(self) -> str:
        """The words, with a comma where a clause ends."""
        parts = [f"{token.word} ," if token.closes else token.word for token in self.tokens]
        return " ".join(parts).removesuffix(" ,")

    @cached_property
    def words(self) -> list[str]:
        """The words."""
        return list(map(_WORD_OF, self.tokens))

    @cached_property
    def raw(self) -> str:
        """The words as they were written."""
        if not self.tokens:
            return ""
        signs = _SIGNS_BEHIND.match(self.text, self.tokens[-1].end)
        return self.text[self.start : signs.end() if signs else self.tokens[-1].end]

    @cached_property
    def start(self) -> int:
        """Return the start of the words, including signs before them."""
        start = self.tokens[0].start if self.tokens else 0
        kept = self.text[:start].rstrip("+-#($\u20ac\u00a3\u00a5")
        return len(kept) if not kept or kept[-1].isspace() else start

    @cached_property
    def end(self) -> int:
        """Return the end of the words, including signs after them."""
        if not self.tokens:
            return 0
        following = _TOKEN.search(self.text, self.tokens[-1].end)
        return following.start() if following else len(self.text)

    @cached_property
    def asks(self) -> bool:
        """Return whether it is a question: by its sign, or by the word that it begins with."""
        return self.ends_asking or self.begins("question") > 0

    @cached_property
    def ends_asking(self) -> bool:
        """Return whether a question mark follows."""
        return bool(self.tokens) and self.text[self.tokens[-1].end :].lstrip().startswith("?")

    def says(self, *names: str) -> bool:
        """Return whether the words are only a phrase of one of several names."""
        return self.lexicon.says(self.said, *names)

    def begins(self, *names: str) -> int:
        """Return how many of the words are the longest phrase that they begin with; else 0."""
        return self.lexicon.begins(self.said, *names)

    def has(self, *uses: str) -> bool:
        """Return whether one of the words has one of these uses."""
        return not self.lexicon.words(*uses).isdisjoint(self.words)

    def opens(self, *uses: str) -> bool:
        """Return whether the first word has one of these uses."""
        return bool(self.tokens) and self.tokens[0].word in self.lexicon.words(*uses)

    def behind(self, *names: str) -> Reading:
        """Return the words after a phrase of each name that they begin with, in this order."""
        rest = self
        for name in names:
            if rest.tokens and (end := rest.begins(name)):
                rest = rest.part(end)
        return rest

    def part(self, first: int, last: int | None = None) -> Reading:
        """Return the words from one place to before another."""
        return Reading(self.text, self.tokens[first:last], self.lexicon)

    def marked_part(self, start: int, end: int) -> Reading:
        """Return the words of a part of `marked`."""
        words = self.marked.replace(",", " ")
        first = len(words[:start].split())
        return self.part(first, first + len(words[start:end].split()))

    def between(self, start: int, end: int) -> Reading:
        """Return the words of a part of the message."""
        inside = [t for t in self.tokens if t.start < end and t.end > start]
        return Reading(self.text, tuple(inside), self.lexicon)

    def at(self, span: Span) -> Reading:
        """Return the words of a value."""
        return self.between(span.start, span.end)

    @cached_property
    def clauses(self) -> list[Reading]:
        """The parts that punctuation separates."""
        last = len(self.tokens)
        ends = [at for at, token in enumerate(self.tokens, 1) if token.closes or at == last]
        return [self.part(first, end) for first, end in zip([0, *ends], ends, strict=False)]

    def day(self) -> str:
        """Return the digits of the day that is all they say, as "the 3rd"; else nothing."""
        found = self.lexicon.matches("form_day", self.said)
        return str(found[0]["day"]) if found else ""

    def core(self) -> Reading:
        """Return the words without those at both ends that say nothing."""
        kept = self.behind("filler")
        closing, end = self.lexicon.words("closing"), len(kept.tokens)
        while end and kept.tokens[end - 1].word in closing:
            end -= 1
        return kept if end == len(kept.tokens) else kept.part(0, end)


def read(message: str, lexicon: Lexicon) -> Reading:
    """Return a message as its words."""
    found = list(_TOKEN.finditer(message))
    ends = [match.start() for match in found[1:]] + [len(message)]
    tokens = [_token(message, match, end, lexicon) for match, end in zip(found, ends, strict=False)]
    return Reading(message, tuple(tokens), lexicon, complete=True)


def _token(message: str, match: re.Match[str], end: int, lexicon: Lexicon) -> Token:
    between = message[match.end() : end]
    closes = between != " " and _closes(match[0], between, lexicon)
    if not closes and between.startswith(". "):  # "50. Is there a fee?"
        following = " ".join(found[0] for found in _TOKEN.finditer(plain(message[end:][:_AHEAD])))
        closes = lexicon.begins(following, "question") > 0
    return Token(_spelled(match[0], lexicon), match.start(), match.end(), closes)


def _closes(word: str, between: str, lexicon: Lexicon) -> bool:
    """Return whether a clause ends here; "3. Mai", "7.30", "a.m." and "Dr. No" do not end one."""
    signs = between.strip()
    if signs == "." and plain(word) in lexicon.words("shortened"):
        return False
    short = between.startswith(".") and between[1:2] != "."
    if not signs or (short and (word[-1].isdigit() or len(word) == 1)):
        return "\n" in between
    if between in (",", ".", ":", ";", "!", "?"):  # no space: a part of a number or name
        return between in ("!", "?", ";") or not word[-1].isdigit()
    return _BREAK.search(between) is not None


@lru_cache(maxsize=20_000)
def _spelled(token: str, lexicon: Lexicon) -> str:
    """Return a word folded; as phrases spell it, where it is drawn out or written without marks."""
    word = _APOSTROPHES.sub("", plain(token))
    word = lexicon.spellings.get(word, word)
    if word in lexicon.vocabulary:
        return word
    unmarked = word.replace("ae", "a").replace("oe", "o").replace("ue", "u")
    for short in (_LONG_RUN.sub(r"\1", word), _LONG_RUN.sub(r"\1\1", word), unmarked):
        if short in lexicon.vocabulary:
            return short
    return word


_MOST_PARTS = 12
_LONGEST_SLIP = 5
LONGEST_RANGE = 5
"""Most words from "between" to the second value: "between the 3rd and the 5th"."""


def parts_of(reading: Reading) -> list[Reading]:
    """Return the parts of words: cut at signs, joints, reasons and slips of the tongue."""
    tokens, lexicon = reading.tokens, reading.lexicon
    joints = lexicon.words("joints", "reasons")
    slips, begins, within = lexicon.words("slips"), [0], 0
    between = lexicon.words("between")
    for place in range(1, len(tokens)):
        word, goes_on = tokens[place].word, place + 1 < len(tokens)
        if tokens[place - 1].word in between:  # its joint parts no clauses: "between 5 and 7"
            within = place + LONGEST_RANGE
        slip = 0
        if word in slips and goes_on and place >= within:
            rest = reading.part(place, place + _LONGEST_SLIP)
            slip = rest.begins("slip")
            within = place + slip
        if slip or tokens[place - 1].closes or (word in joints and goes_on and place >= within):
            begins.append(place)
    ends = [*begins[1:_MOST_PARTS], len(tokens)]
    return [reading.part(first, end) for first, end in zip(begins, ends, strict=False)]


CHOOSING = ("clarify", "paused", "restart", "change", "wrong")
"""Kinds of questions whose answer is one of their options."""

_ASKS = ("summary", "wrong", "correction", "start_over", "human", "unclaimed", "more", "leave")
YES_OR_NO = dict.fromkeys(_ASKS, ("yes",)) | {"return": ("yes", "resuming")}
YES_OR_NO["retry"] = ("yes", "retrying")
"""Kinds of questions whose answer is yes or no, with the names of the phrases that are a yes."""

COUNT, DAY, HOUR = Field("count", "integer"), Field("day", "date"), Field("hour", "time")
"""A number, a day and a time of no field in particular."""
DAYS = ("date", "datetime")
"""Types of values that name a day."""
COUNTED = ("integer", "number")
"""Types of values that count things."""
FREE = ("text", "list")
"""Types for which nearly every message would be a value."""
NAMES = ("name", "full_name")
"""Types of what people are called."""
_LONGEST_NAME = 7
WORDY = (*NAMES, "address", *FREE)
"""Types whose values are the user's own words."""


@dataclass(frozen=True)
class Expected:
    """Expectation: what a message may answer, give or correct now.

    Attributes:
        asked: The last question to the user.
        fields: The open fields of the present form, or of the paused one that the user was asked to
            return to; what was asked for comes first.
        known: Values that may be corrected, by the name of their field; the latest comes last.
        correctable: The fields of those values.
        setting: Time and locale of the user.
        tasks: The names of the open tasks, for "cancel the transfer".
        changing: True if the field that was asked for has, or just had, a value, which may stay.
    """

    asked: Asked | None
    fields: Sequence[Field]
    known: Mapping[str, Any]
    correctable: Sequence[Field]
    setting: Setting
    tasks: Sequence[str] = ()
    changing: bool = False

    @cached_property
    def kind(self) -> str:
        """The kind of question that was asked; empty: none."""
        return self.asked["kind"] if self.asked else ""

    @cached_property
    def pending(self) -> Field | None:
        """The field that was asked for."""
        if self.asked is None or self.kind != "field":
            return None
        about = self.asked["about"]
        for each in self.fields:
            if each.name == about:
                return each
        return None

    @cached_property
    def all_fields(self) -> Sequence[Field]:
        """All fields, the open ones first."""
        return (*self.fields, *self.correctable)

    @cached_property
    def pool(self) -> Sequence[tuple[Field, bool]]:
        """All fields, the open ones first, each with whether a value of it is a change."""
        return (*[(f, False) for f in self.fields], *[(f, True) for f in self.correctable])

    @cached_property
    def in_text(self) -> bool:
        """True if a text or a list was asked for."""
        return self.pending is not None and self.pending.type in FREE

    @property
    def due(self) -> Field | None:
        """The field that was asked for, or will be where the user says yes to going on."""
        if self.kind == "return":
            return self.fields[0] if self.fields else None
        return self.pending

    @property
    def options(self) -> Sequence[Option]:
        """Return the offered options."""
        return self.asked["options"] if self.asked else ()


@dataclass(frozen=True, slots=True)
class Parse:
    """The reading of a message.

    Attributes:
        commands: All that it asks for.
        certain: True if every word of it is explained by these commands, so that no model needs to
            be asked for another meaning.
        whole: True if it is certain, and answers or changes what the dialogue is about: then no
            intent is looked for in it.
        unread: The words that nothing explains, as they were written, clause by clause.
        replaced: The words of values that the message itself replaced by others.
        plain: Those of the commands whose own words are all explained, and which no others of the
            message take half back.
    """

    commands: list[Command] = field(default_factory=list)
    certain: bool = False
    whole: bool = False
    unread: tuple[str, ...] = ()
    replaced: tuple[str, ...] = ()
    plain: tuple[Command, ...] = ()


def sure(command: Command) -> Parse:
    """Return the reading of a message that only says one thing."""
    return Parse([command], certain=True, whole=True)


class Read(NamedTuple):
    """A value, and the words that give it."""

    raw: str
    value: Any


def given(field: Field, read: Read, expected: Expected) -> Fill | Correct:
    """Return the command that gives a field a value, or changes the one it has."""
    kind = Correct if field.name in expected.known else Fill
    return kind(field.name, read.raw, read=read.value)


def value_in(field: Field, raw: str, setting: Setting) -> Any:
    """Return the value of a field that words are; None if they are not a value."""
    if not raw.strip():
        return None
    try:
        return value_of(field, raw, setting)
    except Unreadable:
        return None


def readable_part(field: Field, reading: Reading, expected: Expected) -> Read | None:
    """Return the value, where all of the message is about it.

    Words at both ends that say nothing, or only lead there ("make it", "fine, then"), may go.
    """
    tried = set()
    turned = field.type == "boolean" and reading.opens("no")  # "nope, we are fine"
    meant = reading if turned else reading.behind("lead")
    last = meant.behind("meant")
    last = last if last is meant else last.core()
    for part in (reading, reading.core(), meant.core(), last):
        # Of a whole message the signs may be part of the value.
        raw = part.text.strip() if part.complete else part.raw
        if not part.tokens or raw in tried:
            continue
        tried.add(raw)
        value = value_in(field, raw, expected.setting) if _may_be(field, part) else None
        hours = found_in(HOUR, raw, expected.setting) if value and field.type == "date" else ()
        others = [hour for hour in hours if hour.certain] or numbers_of_days(field, part, expected)
        if value is not None and not others:
            return Read(raw, value)
    return None


def numbers_of_days(field: Field, words: Reading, expected: Expected) -> list[Span]:
    """Return the days in words whose number is nothing else: "the 21st", where a day may be given.

    A field that asks for a day of the month, or for a place such as a floor, may get it.
    """
    if field.type not in (*COUNTED, "money", "time"):
        return []
    lexicon, setting, found = words.lexicon, expected.setting, words.words
    leads = lexicon.words("articles") | lexicon.leads["date"]
    near = [n for n, word in enumerate(found) if word[:1].isdigit()]  # "5th", "the 5"
    if not [n for n in near if not found[n].isdigit() or found[max(n - 1, 0)] in leads]:
        return []
    if not [1 for one in expected.all_fields if one.type in DAYS]:
        return []
    asked = words_of_field(field, setting)
    if asked & {*lexicon.type_words["date"], *setting.words.ordinals.asked}:
        return []
    text = words.text[words.start : words.end]
    days = [s for s in found_in(DAY, text, setting) if any_digit(s.raw)]
    at = words.start
    return [replace(s, start=s.start + at, end=s.end + at) for s in days if _HAS_LETTER(s.raw)]


def _may_be(field: Field, part: Reading) -> bool:
    """Return whether words may be a name or address: they hold none that only sentences have."""
    if field.type not in (*NAMES, "address"):
        return True
    numbered = [word for word in part.words if word.isdigit()]
    if field.type in NAMES and (numbered or len(part.tokens) > _LONGEST_NAME):
        return False
    return not part.behind("name_lead").has("talk")
