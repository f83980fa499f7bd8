"""Changes of what is known: a value that replaces another, and one that is taken back."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from decimal import Decimal, InvalidOperation
from typing import Any

from journeygraph.journeys import Field
from journeygraph.journeys.phrases import plain
from journeygraph.nodes.commands import Clear, Command, Correct, Fill
from journeygraph.nodes.language.lexicon import Lexicon
from journeygraph.nodes.language.mentions import mentioned, names, names_field
from journeygraph.nodes.language.reading import (
    COUNTED,
    DAY,
    DAYS,
    FREE,
    NAMES,
    WORDY,
    Expected,
    Read,
    Reading,
    given,
    read,
    readable_part,
    value_in,
)
from journeygraph.nodes.language.stays import in_known_month
from journeygraph.nodes.values import found_in, negation_of

_FORMS = (
    *("form_contrast", "form_named", "form_labelled", "form_carried"),
    *("form_denied", "form_removed", "form_clear"),
)
"""Names of the forms of changes."""
_MONTH = re.compile(r"\d[./-]\d")
_LONGEST = 6
_LEADING = 3
_LONGEST_VALUE = 12
_LONGEST_NAME = 6
_LONGEST_CALLED = 3


def named_change(part: Reading, expected: Expected, *, two: bool = False) -> list[Command]:
    """Read a change that says what it is of: its field, or the value that was there.

    Of words that are two clauses, only some changes are made.
    """
    if not part.lexicon.says(part.marked, *_FORMS):
        return [] if two else _pointed_at(part, expected)
    if two:  # a text or a name does not go on after a comma, nor is its name before a colon
        unsigned = [f.name for f in expected.all_fields if f.type in (*FREE, *NAMES)]
        return _contrasted(part, expected) or [
            c for c in _named(part, expected) if getattr(c, "field", "") not in unsigned
        ]
    return next(filter(None, (way(part, expected) for way in _WAYS)), [])


def end_of_lead(reading: Reading) -> int:
    """Return where the words end that only lead to a correction; "no one" does not."""
    end = reading.begins("lead")
    if not end or reading.part(0, end).tokens[-1].closes:
        return end
    return 0 if reading.part(end).opens("no_what") else end


def _contrasted(reading: Reading, expected: Expected) -> list[Command]:
    """Read "the 3rd, not the 4th" and its like."""
    for found in reading.lexicon.matches("form_contrast", reading.marked):
        new = reading.marked_part(*found.span("new")).core()
        old = reading.marked_part(*found.span("old"))
        given = _part_replaced(new, old.core(), expected) or _in_place_of(new, old, expected)
        if given is not None:
            return [given]
    return []


def _in_place_of(new: Reading, old: Reading, expected: Expected) -> Correct | Fill | None:
    """Return the correction of the field whose value was the old one, or that is spoken of."""
    before = [field for field in expected.correctable if is_value(old.core(), field, expected)]
    if not new.tokens or not old.tokens:
        return None
    if len(before) > 1:
        field = mentioned_in(new, before)
        before = [field] if field else before
    if not before and _answers(old, expected) and not mentioned_in(new, expected.correctable):
        return _answered_anew(new, expected)
    fields = before or [f for f in expected.correctable if f.type not in WORDY]
    fitting = [(field, read) for field in fields if (read := said_value(new, field, expected))]
    if not before and len(fitting) > 1:
        named = mentioned_in(new, [field for field, _ in fitting])
        fitting = [(field, read) for field, read in fitting if field is named]
    if len(fitting) != 1:
        return None
    field, read = fitting[0]
    is_mere = old.core().day() and not _MONTH.search(read.raw)
    if is_mere and (kept := _other_day(new, field, expected)):
        read = read._replace(value=kept.value)
    if not before and not reads_as(old.core(), field, expected):
        return None
    return Correct(field.name, read.raw, read=read.value)


def _part_replaced(new: Reading, old: Reading, expected: Expected) -> Correct | None:
    """Return an address with its number replaced, or the end of a phone number: "6, not 5"."""
    now, before = _only_number(new), _only_number(old)
    if not (now and before):
        return None
    for field in expected.correctable:
        known = str(expected.known[field.name])
        if field.type == "address" and is_value(old, field, expected):
            changed = re.sub(rf"(?<!\w){before}(?!\w)", now, known, count=1)
        elif field.type == "phone" and known.endswith(before) and len(now) == len(before):
            changed = known.removesuffix(before) + now
        else:
            continue
        if not any(is_value(old, f, expected) for f in expected.correctable if f is not field):
            return Correct(field.name, changed, read=changed)
    return None


def _only_number(words: Reading) -> str:
    """Return the only number in words: "ends in 23"; empty if there is none, or another."""
    numbers = [word for word in words.words if word.isdigit()]
    several = len(words.clauses) > 1 or words.has("joints")
    return numbers[0] if len(numbers) == 1 and not several else ""


def _read_anew(field: Field, new: Reading, expected: Expected) -> Read | None:
    """Return the value of words; a day without its month is one of the known month."""
    words = new.core()
    led = words.tokens and words.words[0] in words.lexicon.leads.get("date", ())
    is_mere = (words.part(1) if led else words).day()
    day = _other_day(new, field, expected) if is_mere else None
    return day or readable_part(field, new, expected)


def _other_day(new: Reading, field: Field, expected: Expected) -> Read | None:
    """Return a known date with its day alone replaced: "the 6th" keeps the month."""
    if field.type not in DAYS or field.name not in expected.known:
        return None
    day, known = new.part(-1).day() or new.part(-2).day(), str(expected.known[field.name])
    changed = in_known_month(known, int(day), expected.setting) if day else ""
    return Read(new.raw, changed) if changed else None


def _answers(words: Reading, expected: Expected) -> bool:
    """Return whether words are a value of what is asked, and not the user's own words."""
    asked: Field | None = expected.pending
    return asked is not None and asked.type not in WORDY and reads_as(words.core(), asked, expected)


def _answered_anew(new: Reading, expected: Expected) -> Fill | None:
    """Return the answer to what is asked, in place of one that was not taken: "not 50, 55"."""
    asked = expected.pending
    read = readable_part(asked, new, expected) if asked else None
    return Fill(asked.name, read.raw, read=read.value) if asked and read else None


def said_value(new: Reading, field: Field, expected: Expected) -> Read | None:
    """Return the value at the end of words that lead to it: "the accident was on the 3rd"."""
    stripped = new.behind("lead")
    stripped = stripped.behind("meant") if stripped.tokens else new
    if field.type in WORDY:
        found = new.lexicon.matches("form_said", new.marked)
        part = new.marked_part(*found[0].span("new")) if found else stripped
        short = 0 < len(part.tokens) <= _LONGEST_VALUE
        read = readable_part(field, part, expected) if short else None
        return read._replace(raw=part.raw) if read else None
    last = new.part(-_LONGEST_VALUE)
    raw = shortest(last, field, expected)
    if not raw and field.type == "datetime" and field.name in expected.known:
        day = shortest(last, DAY, expected)  # "not tomorrow, on Tuesday" keeps "at ten"
        raw = f"{day} {str(expected.known[field.name])[11:16]}" if day else None
    if raw:
        value = value_in(field, raw, expected.setting)
        return _other_day(last, field, expected) if value is None else Read(raw, value)
    spans = found_in(field, last.text[last.start : last.end], expected.setting)  # "on 15.6."
    return Read(spans[-1].raw, spans[-1].value) if spans else None


def _named(reading: Reading, expected: Expected) -> list[Command]:
    """Read "change the amount to 70", "and the age to 30"; of an open field "it is the 3rd"."""
    lexicon, among = reading.lexicon, expected.all_fields
    forms = ["form_named", *(["form_labelled"] if ":" in reading.text else []), "form_carried"]
    for found in [one for form in forms for one in lexicon.matches(form, reading.marked)]:
        field = mentioned(found["what"].split(), among, lexicon)
        if not field:
            continue
        if lexicon.begins(reading.marked, "form_doubt"):
            return []  # "my old number was ..."
        what = found["what"].split()
        called = len(what) <= _LONGEST_CALLED and names_field(what, field, lexicon)
        if field.type in FREE and not called:
            continue  # "my friend has a pain in the neck", "the birthday is on 5 May"
        new = reading.marked_part(*found.span("new"))
        if field.type in NAMES and is_part(what, field, lexicon):
            continue  # "first name Beth"
        new = unspelled(new) if field.type in NAMES else new
        read = _read_anew(field, new, expected)
        if read and len(new.tokens) <= _LONGEST_VALUE:
            return [given(field, read, expected)]
    return []


def unspelled(words: Reading) -> Reading:
    """Return a name without what says how it is spelled: "Lee with two Es"."""
    places = range(1, len(words.tokens))
    return words.part(0, next((n for n in places if words.part(n).says("spelled")), None))


def labelled(words: Reading, expected: Expected) -> Correct | Fill | None:
    """Return the value right behind the name of its field: "phone 0171 234", "the amount 820"."""
    lexicon, fields = words.lexicon, expected.all_fields
    while len(words.tokens) > 1 and words.opens("articles", "own"):
        words = words.part(1)
    for count in range(min(_LEADING, len(words.tokens) - 1), 0, -1):
        what, new = words.words[:count], words.part(count)
        field = mentioned(what, fields, lexicon)
        if field is None or field is expected.pending or len(new.tokens) > _LONGEST:
            continue
        changes = field.name in expected.known
        if field.type in WORDY or field.type in ("boolean", "enum"):
            is_text = field.type == "text" and not changes and plain(field.label) == " ".join(what)
            read = Read(new.raw, new.raw) if is_text else None
        else:
            read = _read_anew(field, new, expected)
        if read and all(names_field([word], field, lexicon) for word in what):
            return given(field, read, expected)
    return None


def is_part(what: Sequence[str], field: Field, lexicon: Lexicon) -> bool:
    """Return whether words name a part of a name alone, and the field is not for that part."""
    parts = lexicon.words("name_parts").intersection(what)
    return bool(parts) and not names_field(parts, field, lexicon)


def _denied(reading: Reading, expected: Expected) -> list[Command]:
    """Read "I didn't mean John" and its like: the value that it was is taken back."""
    for found in reading.lexicon.matches("form_denied", reading.marked):
        old = reading.marked_part(*found.span("old")).core()
        fields = [field for field in expected.correctable if is_value(old, field, expected)]
        if len(fields) == 1 and (fields[0].type != "boolean" or old.says("yes")):
            return [Clear(fields[0].name)]
    return []


def _emptied(reading: Reading, expected: Expected) -> list[Command]:
    """Read "I want to change the pickup address" and its like."""
    for found in reading.lexicon.matches("form_clear", reading.marked):
        if fields := _spoken_of(found["what"].split(), expected, reading.lexicon):
            return [Clear(field.name) for field in fields]
    return []


def _removed(reading: Reading, expected: Expected) -> list[Command]:
    """Read "drop the reference", "no high chair after all": a field, or a value, that goes."""
    for found in reading.lexicon.matches("form_removed", reading.marked):
        old = reading.marked_part(*found.span("what")).core()
        fields = _called(found["what"].split(), expected, reading.lexicon)
        several = [name for name, v in expected.known.items() if isinstance(v, list) and len(v) > 1]
        others = [f for f in expected.correctable if f.name not in several]
        of_value = [f for f in others if f.type != "boolean"]
        fields = fields or [f for f in of_value if is_value(old, f, expected)]
        if len(fields) == 1:
            name, negated = fields[0].name, negation_of(fields[0], expected.setting)
            is_no = fields[0].type == "boolean" and negated is None
            return [Correct(name, "no", read=False) if is_no else Clear(name)]
    return []


def _spoken_of(words: Sequence[str], expected: Expected, lexicon: Lexicon) -> list[Field]:
    """Return the fields that words name: one, or several with an "and" between them."""
    joints = [place for place, word in enumerate(words) if word in lexicon.words("joints")]
    pieces = [words[n:m] for n, m in zip([0, *joints], [*joints, len(words)], strict=True)]
    each = [mentioned(piece, expected.correctable, lexicon) for piece in pieces]
    if len(each) > 1 and None not in each:
        return [field for field in each if field]
    one = mentioned(words, expected.correctable, lexicon)
    return [one] if one else []


def _called(words: Sequence[str], expected: Expected, lexicon: Lexicon) -> list[Field]:
    """Return the fields that words name, but none whose description alone has them."""
    return [f for f in _spoken_of(words, expected, lexicon) if names_field(words, f, lexicon)]


def _pointed_at(reading: Reading, expected: Expected) -> list[Command]:
    """Read "the name", where it was asked whether all is right, or what is wrong; "no extras"."""
    words = reading.core()
    denied = words.opens("negation")  # "no second driver"
    led = (denied or words.opens("articles", "own")) and not expected.kind
    if len(words.tokens) > _LONGEST_NAME or words.part(-1).opens("small"):
        return []
    if not (words.tokens and (led or expected.kind == "summary")):
        return []
    called = _called(words.words[denied:], expected, reading.lexicon)
    fields = [field for field in called if not (denied and field.type == "boolean")]
    if any(f.type not in WORDY and found_in(f, reading.raw, expected.setting) for f in fields):
        return []  # "3 cars" says what it shall be
    return [Clear(field.name) for field in fields]


def turned(reading: Reading, value: Reading, expected: Expected) -> Correct | None:
    """Read "oh wait, she is not vaccinated": the other answer to a question of yes or no."""
    if len(value.tokens) > _LONGEST_VALUE:
        return None
    judged = [field for field in expected.correctable if field.type == "boolean"]
    field = mentioned_in(value, [f for f in judged if names(value.words, f, value.lexicon)])
    no = value.lexicon.words("negation", "no")
    said = not any(token.word in no and not token.closes for token in reading.tokens)
    if field is None or expected.known[field.name] is said or negation_of(field, expected.setting):
        return None
    return Correct(field.name, "yes" if said else "no", read=said)


def mentioned_in(reading: Reading, fields: Sequence[Field]) -> Field | None:
    """Return the only field that a word of a sentence names."""
    lexicon = reading.lexicon
    found = [f for f in fields if any(mentioned([w], [f], lexicon) for w in set(reading.words))]
    return found[0] if len(found) == 1 else None


def is_value(words: Reading, field: Field, expected: Expected) -> bool:
    """Return whether words say the value that a field has."""
    if field.name not in expected.known or not words.tokens:
        return False
    known = expected.known[field.name]
    if field.type in WORDY:
        said = set(words.words) - words.lexicon.words("small")
        own = set(read(str(known), words.lexicon).words)
        return bool(said) and said <= own
    if field.type in DAYS and (day := words.day()):
        return str(known)[8:10].lstrip("0") == day.lstrip("0")
    value = _value(field, words, expected)
    if value is None and field.type == "datetime":
        return bool(_value(DAY, words, expected) == str(known)[:10])
    return value is not None and bool(_comparable(value) == _comparable(known))


def reads_as(words: Reading, field: Field, expected: Expected) -> bool:
    """Return whether words are a value of a field's type; "the 3rd" is a date, too."""
    if field.type in DAYS and words.day():
        return not words.said.isdigit()
    return _value(field, words, expected) is not None


def shortest(words: Reading, field: Field, expected: Expected) -> str | None:
    """Return the fewest last words that are the same value as all that may be."""
    parts = [words.part(place) for place in _places(words, field, expected)]
    readable = [part for part in parts if reads_as(part, field, expected)]
    if not readable:
        return None
    value = _value(field, readable[0], expected)
    same = [part for part in readable if _value(field, part, expected) == value]
    several = len(same) > 1 and len(same[-2].tokens) == len(same[-1].tokens) + 1
    return same[-2 if several and same[-2].opens("articles") else -1].raw


def _places(words: Reading, field: Field, expected: Expected) -> range:
    """Return where a value may begin: a few words before the last one of its type."""
    end = len(words.tokens)
    spans = found_in(field, words.raw, expected.setting)
    if spans and words.tokens:
        at = words.tokens[0].start + spans[-1].start
        end = next((n for n, token in enumerate(words.tokens) if token.end > at), end)
    return range(max(0, end - _LEADING), min(end + 1, len(words.tokens)))


def of_type(words: Reading, expected: Expected, wordy: bool) -> Correct | None:
    """Return the correction of the field given last that words are a value of.

    `wordy`: they may be a name or another value in words.
    """
    if not expected.known or len(words.tokens) > _LONGEST or words.part(-1).says("nothing"):
        return None
    fields = {field.name: field for field in expected.correctable}
    latest = [fields[name] for name in list(expected.known)[::-1] if name in fields]
    last = [words.part(-count) for count in (1, 2)]
    is_day = bool([one for one in last if one.day() and not one.said.isdigit()])  # "the 27th"
    unfit = (*WORDY, "boolean", *(COUNTED if is_day else ()))  # a mere "not" turns nothing
    shaped = [f for f in latest if f.type not in unfit]
    reads = _read_anew if is_day else readable_part
    named = [f for f in latest if f.type in (*NAMES, "address")]
    rivals = [f for f in expected.fields if f.type not in unfit and f.name not in fields]
    for field in (*shaped, *(named if wordy else ())):
        if read := reads(field, words, expected):
            fitting = shaped if expected.pending else (*shaped, *rivals)
            others = [f for f in fitting if f is not field and field.type not in WORDY]
            several = any(readable_part(other, words, expected) for other in others)
            return None if several else Correct(field.name, words.raw, read=read.value)
    return None


def _value(field: Field, words: Reading, expected: Expected) -> Any:
    return value_in(field, words.raw, expected.setting)


def _comparable(value: Any) -> Any:
    """Return what of a value is compared with another: an amount, a text in small letters."""
    if isinstance(value, dict):
        with suppress(InvalidOperation):
            return Decimal(str(value.get("amount")))
    return value.casefold() if isinstance(value, str) else value


_WAYS = (_contrasted, _named, _denied, _removed, _emptied, _pointed_at)
