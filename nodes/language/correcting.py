"""Values that replace others, and values that are taken back."""

from __future__ import annotations

from collections.abc import Sequence

from journeys import Field
from nodes.commands import Clear, Command, Correct, Fill
from nodes.language.ear import Ear, Heard
from nodes.language.filling import is_readable, readable_part, values_given
from nodes.language.known import is_value, of_type, other_day, reads_as, shortest
from nodes.language.lexicon import Lexicon
from nodes.language.mentions import mentioned
from nodes.language.reading import Reading
from nodes.values import found_in

_LONGEST_VALUE = 12
_LONGEST_NAME = 6
_WORDY = ("text", "list", "name", "address")


def named_change(reading: Reading, ear: Ear) -> list[Command]:
    """Read a correction that says what it is of, with the words that only lead to it."""
    lead = lead_of(reading)
    for part in (reading, reading.after(lead)) if lead else (reading,):
        for way in (_contrasted, _named, _denied, _emptied, _pointed_at):
            if commands := way(part, ear):
                return commands
    return []


def lead_of(reading: Reading) -> int:
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
    asked: Field | None = ear.pending
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
    last = new.part(-_LONGEST_VALUE)
    return shortest(last, field, ear) or other_day(last, field, ear)


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
        if found and (fields := _spoken_of(found["what"].split(), ear, reading.lexicon)):
            return [Clear(field.name) for field in fields]
    return []


def _spoken_of(words: Sequence[str], ear: Ear, lexicon: Lexicon) -> list[Field]:
    """Return the fields that words name: one, or several with an "and" between them."""
    pieces: list[list[str]] = [[]]
    for word in words:
        pieces = [*pieces, []] if word in lexicon.words("joints") else pieces
        pieces[-1].append(word)
    each = [mentioned(piece, ear.correctable, lexicon) for piece in pieces]
    if len(each) > 1 and None not in each:
        return [field for field in each if field]
    one = mentioned(words, ear.correctable, lexicon)
    return [one] if one else []


def _pointed_at(reading: Reading, ear: Ear) -> list[Command]:
    """Read "the name", where it was asked whether all is right, or what is wrong."""
    lexicon = reading.lexicon
    words = reading.core().words
    led = words and words[0] in lexicon.words("articles") | lexicon.words("own")
    if len(words) > _LONGEST_NAME or not words or words[-1] in lexicon.words("small"):
        return []
    if not (ear.kind == "summary" or (led and not ear.kind)):
        return []
    fields = _spoken_of(words, ear, lexicon)
    if any(f.type not in _WORDY and found_in(f, reading.raw, ear.setting) for f in fields):
        return []  # "3 cars" says what it shall be
    return [Clear(field.name) for field in fields]


def meant_change(reading: Reading, lead: int, ear: Ear) -> Heard | None:
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
    if lead and (turned := _turned(reading, value, ear)):
        return Heard([turned], sure=True, whole=True)
    latest = of_type(value, ear, wordy=bool(start) or _says_no(reading, lead))
    return Heard([latest], sure=True, whole=True) if latest and (start or lead) else None


def _turned(reading: Reading, value: Reading, ear: Ear) -> Correct | None:
    """Read "oh wait, she is not vaccinated": the other answer to a question of yes or no."""
    if len(value.tokens) > _LONGEST_VALUE:
        return None
    field = mentioned_in(value, [f for f in ear.correctable if f.type == "boolean"])
    no = value.lexicon.words("negation") | value.lexicon.words("no")
    said = not any(token.word in no and not token.closes for token in reading.tokens)
    if field is None or ear.known[field.name] is said:
        return None
    return Correct(field.name, "yes" if said else "no")


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
