"""Values that replace others, and values that are taken back."""

from __future__ import annotations

from collections.abc import Sequence

from journeys import Field
from nodes.commands import Clear, Command, Correct, Fill
from nodes.hearing.ear import Ear, Heard
from nodes.hearing.filling import is_readable, readable_part, values_given
from nodes.hearing.known import is_value, of_type, reads_as, shortest
from nodes.hearing.mentions import mentioned
from nodes.hearing.reading import Reading

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
    if commands := _several(reading, ear) or _one(reading, ear):
        return Heard(commands, sure=True, whole=True)
    return _meant(reading, _lead(reading), ear)


def _one(reading: Reading, ear: Ear) -> list[Command]:
    """Read a correction that says what it is of, with the words that only lead to it."""
    lead = _lead(reading)
    for part in (reading, reading.after(lead)) if lead else (reading,):
        for way in (_contrasted, _named, _denied, _emptied):
            if commands := way(part, ear):
                return commands
    return []


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
    return _carried(part, ear) or _one(part, ear)


def _carried(part: Reading, ear: Ear) -> list[Command]:
    """Read "and the age to 30", behind "change the name to Bob"; "the day is the 3rd", if open."""
    for name, fields in (("form_carried", ear.correctable), ("form_named", ear.fields)):
        for pattern in part.lexicon.forms(name):
            found = pattern.fullmatch(part.marked)
            among = [*ear.fields, *ear.correctable]
            field = found and mentioned(found["what"].split(), among, part.lexicon)
            if not found or field not in fields:
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


def _lead(reading: Reading) -> int:
    """Return where the words end that only lead to a correction; "no one" does not."""
    end = reading.lexicon.begins("lead", reading.said)
    head, tail = reading.before(end), reading.after(end)
    if not head.tokens or not tail.tokens or head.tokens[-1].closes:
        return end
    return 0 if tail.tokens[0].word in reading.lexicon.words("no_what") else end


def _contrasted(reading: Reading, ear: Ear) -> list[Command]:
    """Read "the 3rd, not the 4th" and its like."""
    for pattern in reading.lexicon.forms("form_contrast"):
        if found := pattern.fullmatch(reading.marked):
            new = reading.marked_part(*found.span("new"))
            old = reading.marked_part(*found.span("old"))
            if (given := _in_place_of(new, old, ear)) is not None:
                return [given]
    return []


def _in_place_of(new: Reading, old: Reading, ear: Ear) -> Correct | Fill | None:
    """Return the correction of the field whose value was the old one, or that is spoken of."""
    if not new.tokens or not old.tokens:
        return None
    before = [field for field in ear.correctable if is_value(old.core(), field, ear)]
    if len(before) > 1:
        field = mentioned_in(new, before)
        before = [field] if field else before
    if not before and (answer := _answered_anew(new, old, ear)):
        return answer
    fields = before or [f for f in ear.correctable if f.type not in _WORDY]
    fitting = [(field, raw) for field in fields if (raw := _value_in(new, field, ear))]
    if not before and len(fitting) > 1:
        named = mentioned_in(new, [field for field, _ in fitting])
        fitting = [(field, raw) for field, raw in fitting if field is named]
    if len(fitting) != 1:
        return None
    field, raw = fitting[0]
    if not before and not reads_as(old.core(), field, ear):
        return None
    return Correct(field.name, raw)


def _answered_anew(new: Reading, old: Reading, ear: Ear) -> Fill | None:
    """Return the answer to what is asked, in place of one that was not taken: "not 50, 55"."""
    asked = ear.pending
    if asked is None or asked.type in _WORDY or not reads_as(old.core(), asked, ear):
        return None
    raw = readable_part(asked, new, ear)
    return Fill(asked.name, raw) if raw is not None else None


def _value_in(new: Reading, field: Field, ear: Ear) -> str | None:
    """Return the value at the end of words that lead to it: "the accident was on the 3rd"."""
    lexicon = new.lexicon
    stripped = new.after(lexicon.begins("lead", new.said))
    stripped = stripped.after(lexicon.begins("meant", stripped.said)) if stripped.tokens else new
    if field.type in _WORDY:
        found = next(
            (m for p in lexicon.forms("form_said") if (m := p.fullmatch(new.marked))), None
        )
        part = new.marked_part(*found.span("new")) if found else stripped
        short = 0 < len(part.tokens) <= _LONGEST_VALUE
        return part.raw if short and readable_part(field, part, ear) is not None else None
    return shortest(new.part(-_LONGEST_VALUE), field, ear)


def _named(reading: Reading, ear: Ear) -> list[Command]:
    """Read "change the amount to 70" and its like."""
    labelled = reading.lexicon.forms("form_labelled") if ":" in reading.text else []
    for pattern in (*reading.lexicon.forms("form_named"), *labelled):
        found = pattern.fullmatch(reading.marked)
        if found is None:
            continue
        field = mentioned(found["what"].split(), ear.correctable, reading.lexicon)
        if field is None:
            continue
        new = reading.marked_part(*found.span("new"))
        raw = readable_part(field, new, ear)
        if raw is not None and len(new.tokens) <= _LONGEST_VALUE:
            return [Correct(field.name, raw)]
    return []


def _denied(reading: Reading, ear: Ear) -> list[Command]:
    """Read "I didn't mean John" and its like: the value that it was is taken back."""
    for pattern in reading.lexicon.forms("form_denied"):
        found = pattern.fullmatch(reading.marked)
        if found is None:
            continue
        old = reading.marked_part(*found.span("old")).core()
        fields = [field for field in ear.correctable if is_value(old, field, ear)]
        if len(fields) == 1:
            return [Clear(fields[0].name)]
    return []


def _emptied(reading: Reading, ear: Ear) -> list[Command]:
    """Read "I want to change the pickup address" and its like."""
    for pattern in reading.lexicon.forms("form_clear"):
        found = pattern.fullmatch(reading.marked)
        field = found and mentioned(found["what"].split(), ear.correctable, reading.lexicon)
        if field:
            return [Clear(field.name)]
    return []


def _meant(reading: Reading, lead: int, ear: Ear) -> Heard | None:
    """Read "I meant John", "make it Friday at 8 for 6", and a bare "oh, for six"."""
    part = reading.after(lead) if lead else reading
    start = reading.lexicon.begins("meant", part.said)
    if not (start or lead or ear.pending is None):
        return None
    value = part.after(start).core() if start else part.core()
    if not value.tokens or value.asks:
        return None
    if not start and ear.expected and is_readable(ear.expected, value.raw, ear.setting):
        return None
    given = values_given(value, ear, changing=True)
    if given and not given.rest and _is_plain(given, value, ear):
        return Heard(given.commands, sure=True, whole=True)
    latest = of_type(value, ear, wordy=bool(start) or _says_no(reading, lead))
    return Heard([latest], sure=True, whole=True) if latest and (start or lead) else None


def _is_plain(given: Heard, value: Reading, ear: Ear) -> bool:
    """Whether nothing but values is said, and none that is still to be given."""
    open_types = {field.type for field in ear.fields}
    if ear.pending and any(_type_of(c, ear) in open_types for c in given.commands):
        return False
    return given.sure


def _type_of(command: Command, ear: Ear) -> str:
    name = getattr(command, "field", "")
    return next((field.type for field in ear.correctable if field.name == name), "")


def _says_no(reading: Reading, lead: int) -> bool:
    """Whether a no stands apart before the value: "no changes" names nothing."""
    before = reading.before(lead)
    apart = bool(before.tokens) and before.tokens[-1].closes
    return apart and bool(reading.lexicon.words("no").intersection(before.words))


def mentioned_in(reading: Reading, fields: Sequence[Field]) -> Field | None:
    """Return the one field that any word of a sentence speaks of."""
    lexicon = reading.lexicon
    found = [f for f in fields if any(mentioned([w], [f], lexicon) for w in set(reading.words))]
    return found[0] if len(found) == 1 else None
