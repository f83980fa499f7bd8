"""Words about the talk itself, greetings, and messages that say nothing."""

from __future__ import annotations

import re
from functools import cache

from journeys.locale import LANGUAGES
from nodes.commands import (
    Back,
    Cancel,
    Command,
    Confirm,
    Deny,
    Explain,
    Human,
    Noise,
    Repeat,
    Restart,
    Skip,
    Status,
    Wait,
)
from nodes.guidelines.words import plain
from nodes.language.expected import FREE, YES_OR_NO, Expected, Parse
from nodes.language.lexicon import SIGNALS, sayings_of
from nodes.language.mentions import is_task, mentioned, speaks_of
from nodes.language.reading import Reading
from nodes.values import Unreadable, value_of

_LONGEST = 30
_FEW = 4
_OFFERED = (
    *("correction", "return", "start_over", "human", "unclaimed", "retry", "more"),
    *("restart", "change", "leave"),
)
_COUNTED = ("integer", "number", "money", "boolean")
_PLAIN: tuple[tuple[str, Command], ...] = (
    ("cancel_all", Cancel(everything=True)),
    ("human", Human()),
    ("cancel", Cancel()),
    ("repeat", Repeat()),
    ("wait", Wait()),
    ("restart", Restart()),
    ("back", Back()),
    ("status", Status()),
)


def signal(reading: Reading, expected: Expected) -> Command | None:
    """Return what words say about the conversation itself, if that is all that they say."""
    said, lexicon = reading.said, reading.lexicon
    if _has_none(reading, expected):
        return Skip()
    if len(reading.tokens) > _LONGEST or not lexicon.says_any(SIGNALS, said):
        return None
    if _is_choice(reading, expected):
        return None
    for name, command in _PLAIN:
        if lexicon.says(name, said):
            return command
    if lexicon.says("human_alone", said) and not _may_be_said(reading, expected):
        return Human()
    return (
        _given_up(reading, expected)
        or _skipped(reading, expected)
        or _questioned(reading, expected)
    )


def _has_none(reading: Reading, expected: Expected) -> bool:
    """Whether an optional field is left open by its name: "no wishes"."""
    field, words = expected.pending, reading.words
    if field is None or field.required or field.type == "boolean" or not 1 < len(words) <= _FEW:
        return False
    negation = reading.lexicon.words("negation")
    return words[0] in negation and speaks_of(words[1:], field, reading.lexicon)


def _may_be_said(reading: Reading, expected: Expected) -> bool:
    """Whether "a person" may answer a question in the user's own words, such as who it was."""
    polite = reading.lexicon.words("polite").intersection(reading.words)
    return expected.pending is not None and expected.pending.type in FREE and not polite


def _is_choice(reading: Reading, expected: Expected) -> bool:
    """Whether the words are a value of the enum that was asked for."""
    field = expected.pending
    if field is None or field.type != "enum":
        return False
    try:
        value_of(field, reading.raw, expected.setting)
    except Unreadable:
        return False
    return True


def _given_up(reading: Reading, expected: Expected) -> Command | None:
    said, lexicon = reading.said, reading.lexicon
    if expected.changing and (lexicon.says("keep", said) or lexicon.says("give_up", said)):
        return Deny()
    if lexicon.says("give_up", said):
        return Deny() if expected.kind in _OFFERED else Cancel()
    name = lexicon.part("task", said, "task")
    if not name:
        return None
    if lexicon.says("any_task", name):
        return Cancel()
    return Cancel(task=name) if is_task(name, expected.tasks, lexicon) else None


def _skipped(reading: Reading, expected: Expected) -> Command | None:
    said, lexicon, field = reading.said, reading.lexicon, expected.pending
    if field is None:
        return None
    if lexicon.says("skip", said):
        return Skip()
    if field.type not in _COUNTED and lexicon.says("lacking", said):
        return Skip() if not field.required or field.type not in FREE else None
    if field.required or field.type == "boolean":
        return None
    return Skip() if lexicon.says("unknown", said) or lexicon.says("nothing", said) else None


def _questioned(reading: Reading, expected: Expected) -> Command | None:
    if expected.asked is None:
        return None
    what = reading.lexicon.part("explain", reading.said, "what")
    if what is None:
        return None
    if not what:
        return Explain()
    field = mentioned(what.split(), [*expected.fields, *expected.correctable], reading.lexicon)
    return Explain(field.name) if field else None


def explains(part: Reading, command: Command) -> bool:
    """Whether words only say why something is asked for."""
    said, lexicon = part.said, part.lexicon
    if lexicon.says("reason", said) and not part.asks:
        return True
    again: dict[type, tuple[str, ...]] = {
        Wait: ("busy", "unknown"),
        Deny: ("no",),
        Skip: ("unknown", "nothing"),
        Cancel: ("no",),
    }
    return any(lexicon.says(name, said) for name in again.get(type(command), ()))


_LONGEST_GREETING = 60
_WORD = re.compile(r"\w+")


def is_greeting(message: str) -> bool:
    """Say whether a message does nothing but greet, in any language.

    >>> is_greeting("Hi there!"), is_greeting("Hi, a table for four"), is_greeting("¡Buenos días!")
    (True, False, True)
    """
    if len(message) > _LONGEST_GREETING or "?" in message:
        return False
    return _greeting().fullmatch(" ".join(_WORD.findall(plain(message)))) is not None


@cache
def _greeting() -> re.Pattern[str]:
    spoken = [sayings_of(language) for language in LANGUAGES]
    hello, whom = (
        "|".join(line for each in spoken for line in each.lines(name))
        for name in ("greeting", "greeted")
    )
    return re.compile(rf"(?:{hello})(?: (?:{hello}|{whom}))*")


_YES = frozenset("\U0001f44d\U0001f44c\u2705\u2714\U0001f197\U0001f64f")
_NO = frozenset("\U0001f44e\u274c\u2716\U0001f645")
_ROWS = ("qwertyuiop", "asdfghjkl", "zxcvbnm", "qwertzuiop", "yxcvbnm")
_LEAST_RUN = 3
_LEAST_MASH = 4
_MOST = 3
_DRAWN_OUT = re.compile(r"([a-z]{1,3})\1{3,}")
_REAL = frozenset(("wert", "were", "pop", "uio"))


def noise(reading: Reading, expected: Expected) -> Parse | None:
    """Hear a thumb as an answer, and other signs or mashed keys as nothing said."""
    text = reading.text
    if any(sign.isalnum() for sign in text):
        mashed = 0 < len(reading.tokens) <= _MOST and _is_mashed("".join(reading.raw.split()))
        return Parse([Noise()], certain=True, whole=True) if mashed else None
    yes, no = bool(_YES.intersection(text)), bool(_NO.intersection(text))
    if yes is not no and expected.kind in YES_OR_NO:
        return Parse([Confirm() if yes else Deny()], certain=True, whole=True)
    return Parse([Noise()], certain=True, whole=True)


def _is_mashed(word: str) -> bool:
    """Whether keys were hit one beside the other; capitals may be a code."""
    if len(word) < _LEAST_MASH or not word.islower() or word in _REAL:
        return False
    if _DRAWN_OUT.fullmatch(word):
        return True
    place = 0
    while place < len(word):
        run = _run(word[place:])
        if run < _LEAST_RUN:
            return False
        place += run
    return True


def _run(word: str) -> int:
    """Return how many letters at the beginning stand side by side on a keyboard."""
    longest = 0
    for row in (*_ROWS, *(row[::-1] for row in _ROWS)):
        length = 1
        while length < len(word) and word[: length + 1] in row:
            length += 1
        longest = max(longest, length)
    return longest
