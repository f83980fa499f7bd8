"""What is said about the talk itself: stop, again, one moment, why, a person please."""

from __future__ import annotations

from nodes.commands import (
    Back,
    Cancel,
    Command,
    Deny,
    Explain,
    Human,
    Repeat,
    Restart,
    Skip,
    Status,
    Wait,
)
from nodes.language.expected import FREE, Expected
from nodes.language.lexicon import SIGNALS
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
    if isinstance(command, Wait):
        return lexicon.says("busy", said)
    if isinstance(command, Deny):
        return lexicon.says("no", said)
    if isinstance(command, Skip):
        return lexicon.says("unknown", said) or lexicon.says("nothing", said)
    return isinstance(command, Cancel) and (
        lexicon.says("no", said) or (lexicon.says("reason", said) and not part.asks)
    )
