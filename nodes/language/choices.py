"""One of several things: by its place, by its name, or by what it is not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from rapidfuzz.distance import OSA

from nodes.commands import Choose, Command, Deny, Fill
from nodes.language.expected import CHOOSING, Expected, Parse
from nodes.language.mentions import is_task
from nodes.language.readable import is_readable
from nodes.language.reading import Reading, read
from nodes.talk import IN_TURN, Option

_MEANINGS = ("meaning_leave", "meaning_go_on", "meaning_anew", "meaning_change", "meaning_person")
_LONGEST = 14
_SPELLED = 4
_LONG = 8


def choice(reading: Reading, expected: Expected) -> Parse | None:
    """Hear which of the options is meant, or which one is not."""
    options = _options(expected)
    if not options or not 0 < len(reading.tokens) <= _LONGEST:
        return None
    if exact := _exact(reading, options):
        return _said(_taken(exact, expected), reading)
    about = expected.asked["about"] if expected.asked else ""
    if about == IN_TURN and reading.lexicon.says("all", reading.said):
        return _taken(options[0], expected)
    if reading.asks or _gives_up(reading, expected):
        return None
    if named := reading.lexicon.part("negated", reading.said, "named"):
        count = named.count(" ") + 1
        return _of_runtime(reading, options, expected) or _denied(
            _meant(reading.part(len(reading.tokens) - count), options), options, expected
        )
    if expected.pending and is_readable(expected.pending, reading.raw, expected.setting):
        return None
    return _of_runtime(reading, options, expected) or _named(reading, options, expected)


def _said(taken: Parse, reading: Reading) -> Parse:
    """Return what was chosen by its name, with the words that the user chose it by."""
    said: list[Command] = [
        replace(command, value=reading.raw, read=command.value)
        if isinstance(command, Fill)
        else command
        for command in taken.commands
    ]
    return replace(taken, commands=said)


def _gives_up(reading: Reading, expected: Expected) -> bool:
    """Whether one of the open tasks is given up by its name."""
    name = reading.lexicon.part("task", reading.said, "task")
    return name is not None and is_task(name, expected.tasks, reading.lexicon)


def _named(reading: Reading, options: Sequence[Option], expected: Expected) -> Parse | None:
    if option := _meant(reading, options):
        return _said(_taken(option, expected), reading)
    if expected.kind in CHOOSING and reading.lexicon.says("neither", reading.said):
        return Parse([Deny()], certain=True, whole=True)
    return None


def _options(expected: Expected) -> Sequence[Option]:
    if expected.options:
        return expected.options
    field = expected.pending
    if field is None or field.type != "enum":
        return ()
    return [Option(id=value, label=value) for value in field.ways]


def _taken(option: Option, expected: Expected) -> Parse:
    field = expected.pending
    taken: Command = Fill(field.name, option["id"]) if field else Choose(option["id"])
    return Parse([taken], certain=True, whole=True)


def _denied(option: Option | None, options: Sequence[Option], expected: Expected) -> Parse | None:
    if option is None:
        return None
    others = [each for each in options if each["id"] != option["id"]]
    if len(others) == 1:
        return _taken(others[0], expected)
    return None if expected.pending else Parse([Deny(option["id"])], certain=True, whole=True)


def _exact(reading: Reading, options: Sequence[Option]) -> Option | None:
    said = _content(reading, small=frozenset())
    found = [o for o in options if said in (_label(o["label"], reading), _label(o["id"], reading))]
    return found[0] if len(found) == 1 else None


def _of_runtime(reading: Reading, options: Sequence[Option], expected: Expected) -> Parse | None:
    """Hear what the runtime's own options mean, in other words than theirs."""
    lexicon = reading.lexicon
    if expected.kind not in CHOOSING:
        return None
    for name in _MEANINGS:
        if lexicon.says(name, reading.said):
            meant = [
                o
                for o in options
                if lexicon.says(name, read(o["label"], lexicon).said)
                or lexicon.says(name, read(o["id"].replace("_", " "), lexicon).said)
            ]
            if len(meant) == 1:
                return _taken(meant[0], expected)
    return None


def _meant(reading: Reading, options: Sequence[Option]) -> Option | None:
    return _by_place(reading, options) or _by_name(reading, options)


def _by_place(reading: Reading, options: Sequence[Option]) -> Option | None:
    lexicon = reading.lexicon
    lead = lexicon.begins("choice_lead", reading.said)
    for part in (reading, reading.after(lead)) if lead else (reading,):
        place = lexicon.ordinals.get(lexicon.part("ordinal", part.said, "place") or "", 0)
        if place and -len(options) <= place <= len(options):
            return options[place - 1 if place > 0 else place]
    return None


def _by_name(reading: Reading, options: Sequence[Option]) -> Option | None:
    """Return the only option whose label holds all words that say which one."""
    small = reading.lexicon.words("small")
    lead = reading.lexicon.begins("choice_lead", reading.said)
    parts = [reading, reading.after(lead)] if lead else [reading]
    for part in parts:
        said = _content(part.core(), small)
        labels = [frozenset(_label(f"{o['label']} {o['id']}", reading)) for o in options]
        found = [o for o, own in zip(options, labels, strict=True) if _holds(own, said)]
        if said and len(found) == 1:
            return found[0]
    whole = [o for o in options if _label(o["label"], reading) and _within(o, reading)]
    return whole[0] if len(whole) == 1 else None


def _within(option: Option, reading: Reading) -> bool:
    """Whether a whole label of two or more words is said somewhere."""
    label = " ".join(_label(option["label"], reading))
    return " " in label and f" {label} " in f" {reading.said} "


def _holds(label: frozenset[str], said: tuple[str, ...]) -> bool:
    return all(any(_same(word, own) for own in label) for word in said)


def _same(word: str, own: str) -> bool:
    if word == own:
        return True
    length = min(len(word), len(own))
    if length < _SPELLED or word[0] != own[0]:
        return False
    return bool(OSA.distance(word, own) <= (2 if length >= _LONG else 1))


def _content(reading: Reading, small: frozenset[str]) -> tuple[str, ...]:
    return tuple(word for word in reading.words if word not in small)


def _label(text: str, reading: Reading) -> tuple[str, ...]:
    return tuple(read(text.replace("_", " "), reading.lexicon).words)
