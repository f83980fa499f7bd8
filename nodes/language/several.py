"""Corrections, alone or several in one message, and answers beside them."""

from __future__ import annotations

from collections.abc import Sequence

from nodes.commands import Clear, Command, Correct, Fill
from nodes.language.correcting import lead_of, meant_change, named_change
from nodes.language.ear import Ear, Heard
from nodes.language.filling import readable_part
from nodes.language.known import of_type
from nodes.language.mentions import mentioned
from nodes.language.reading import Reading

_MOST_WORDS = 40
_LONGEST_VALUE = 12
_MOST_PARTS = 6
_FREE = ("text", "list")
_WORDY = ("text", "list", "name", "address")


def correction(reading: Reading, ear: Ear) -> Heard | None:
    """Hear a value that shall be another one, or none."""
    if not ear.correctable or not 0 < len(reading.tokens) <= _MOST_WORDS:
        return None
    if reading.ends_asking and not reading.lexicon.begins("wish", reading.said):
        return None
    if ear.pending and ear.pending.type in _FREE and len(reading.tokens) > _LONGEST_VALUE:
        return None
    if commands := _several(reading, ear) or named_change(reading, ear):
        return Heard(commands, sure=True, whole=True)
    return meant_change(reading, lead_of(reading), ear)


def _several(reading: Reading, ear: Ear) -> list[Command]:
    """Read corrections of several fields, one after the other, and answers beside them."""
    parts = _parts(reading)
    if not 1 < len(parts) <= _MOST_PARTS:
        return []
    if not any(_told(reading.part(first, last), ear) for first, last in parts):
        return []
    commands = _in_turn(reading, parts, ear)
    corrects = any(isinstance(command, (Correct, Clear)) for command in commands)
    return commands if corrects and len(_fields_of(commands)) > 1 else []


def _parts(reading: Reading) -> list[tuple[int, int]]:
    """Return where the parts of a sentence begin and end: at its signs, and at each "and"."""
    tokens, joints = reading.tokens, reading.lexicon.words("joints")
    begins = [
        place
        for place, token in enumerate(tokens)
        if place and (tokens[place - 1].closes or token.word in joints)
    ]
    return list(zip([0, *begins], [*begins, len(tokens)], strict=True))


def _in_turn(reading: Reading, parts: Sequence[tuple[int, int]], ear: Ear) -> list[Command]:
    """Return what all parts say, each of other fields; the fewest parts belong together."""
    for count in range(1, len(parts) + 1):
        here = _said_in(reading.part(parts[0][0], parts[count - 1][1]), ear)
        if not here or count == len(parts):
            if here:
                return here
            continue
        behind = _in_turn(reading, parts[count:], ear)
        if behind and not _fields_of(here) & _fields_of(behind):
            return [*here, *behind]
    return []


def _fields_of(commands: Sequence[Command]) -> set[str]:
    return {getattr(command, "field", "") for command in commands}


def _said_in(part: Reading, ear: Ear) -> list[Command]:
    """Return what one of several parts says: a correction, or a value that nothing leads to."""
    if commands := _told(part, ear):
        return commands
    joined = part.words[0] in part.lexicon.words("joints")
    first = not part.text[: part.tokens[0].start].strip()
    return _bare(part.after(part.lexicon.begins("lead", part.said)), ear) if joined or first else []


def _told(part: Reading, ear: Ear) -> list[Command]:
    """Return what a part says that names its field, or the value that was there."""
    return _carried(part, ear) or named_change(part, ear)


def _carried(part: Reading, ear: Ear) -> list[Command]:
    """Read "and the age to 30", behind "change the name to Bob"; "the day is the 3rd", if open."""
    for name, fields in (("form_carried", ear.correctable), ("form_named", ear.fields)):
        for pattern in part.lexicon.forms(name):
            found = pattern.fullmatch(part.marked)
            among = [*ear.fields, *ear.correctable]
            field = found and mentioned(found["what"].split(), among, part.lexicon)
            if not found or not field or field not in fields:
                continue
            raw = readable_part(field, part.marked_part(*found.span("new")), ear)
            if raw is not None:
                return [(Correct if field in ear.correctable else Fill)(field.name, raw)]
    return []


def _bare(part: Reading, ear: Ear) -> list[Command]:
    """Return the answer that was asked for, or the one known value of that type."""
    asked = ear.pending if ear.pending and ear.pending.type not in _WORDY else None
    if not part.tokens or part.asks:
        return []
    if asked and (raw := readable_part(asked, part, ear)) is not None:
        return [Fill(asked.name, raw)]
    latest = of_type(part, ear, wordy=False)
    return [latest] if latest else []
