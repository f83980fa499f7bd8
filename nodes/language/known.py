"""Words compared with the values that are known."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation
from typing import Any

from journeys import Field
from nodes.commands import Correct
from nodes.language.ear import Ear
from nodes.language.filling import is_readable, readable_part
from nodes.language.reading import Reading, read
from nodes.values import Unreadable, found_in, value_of

_DATE = Field("day", "date")
_WORDY = ("text", "list", "name", "address")
_LONGEST = 6
_LEADING = 3


def is_value(words: Reading, field: Field, ear: Ear) -> bool:
    """Whether words say the value that a field has."""
    if field.name not in ear.known or not words.tokens:
        return False
    known = ear.known[field.name]
    if field.type in _WORDY:
        said = set(words.words) - words.lexicon.words("small")
        own = set(read(str(known), words.lexicon).words)
        return bool(said) and said <= own
    if field.type in ("date", "datetime") and (day := _day(words)):
        return str(known)[8:10].lstrip("0") == day.lstrip("0")
    value = _value(field, words, ear)
    if value is None and field.type == "datetime":
        return bool(_value(_DATE, words, ear) == str(known)[:10])
    return value is not None and _same(value, known)


def other_day(words: Reading, field: Field, ear: Ear) -> str | None:
    """Return a day with the time that was known: "not tomorrow, on Tuesday" keeps "at ten"."""
    if field.type != "datetime" or field.name not in ear.known:
        return None
    day = shortest(words, _DATE, ear)
    return f"{day} {str(ear.known[field.name])[11:16]}" if day else None


def reads_as(words: Reading, field: Field, ear: Ear) -> bool:
    """Whether words are a value of a field's type; "the 3rd" is a date, too."""
    if field.type in ("date", "datetime") and _day(words):
        return not words.said.isdigit()
    return is_readable(field, words.raw, ear.setting)


def shortest(words: Reading, field: Field, ear: Ear) -> str | None:
    """Return the fewest last words that are the same value as all that may be."""
    parts = [words.part(place) for place in _places(words, field, ear)]
    readable = [part for part in parts if reads_as(part, field, ear)]
    if not readable:
        return None
    value = _value(field, readable[0], ear)
    same = [part for part in readable if _value(field, part, ear) == value]
    article = (
        same[-2].words[0]
        if len(same) > 1 and len(same[-2].tokens) == len(same[-1].tokens) + 1
        else ""
    )
    return same[-2 if article in words.lexicon.words("articles") else -1].raw


def _places(words: Reading, field: Field, ear: Ear) -> range:
    """Return where a value may begin: a few words before the last one of its type."""
    end = len(words.tokens)
    spans = found_in(field, words.raw, ear.setting)
    if spans and words.tokens:
        at = words.tokens[0].start + spans[-1].start
        end = next((n for n, token in enumerate(words.tokens) if token.end > at), end)
    return range(max(0, end - _LEADING), min(end + 1, len(words.tokens)))


def of_type(words: Reading, ear: Ear, wordy: bool) -> Correct | None:
    """Return the correction of the field given last that words are a value of.

    Args:
        words: The value.
        ear: What is known.
        wordy: Whether they may be a name or another value in words.
    """
    latest = list(ear.known)[::-1]
    fields = {field.name: field for field in ear.correctable}
    if not latest or len(words.tokens) > _LONGEST:
        return None
    typed = [fields[n] for n in latest if n in fields and fields[n].type not in _WORDY]
    fitting = [field for field in typed if readable_part(field, words, ear) is not None]
    if len({field.type for field in fitting}) == 1 and len(fitting) == 1:
        return Correct(fitting[0].name, words.raw)
    if fitting or not wordy:
        return None
    spoken = [fields[n] for n in latest if n in fields and fields[n].type in ("name", "address")]
    named = next((f for f in spoken if readable_part(f, words, ear) is not None), None)
    return Correct(named.name, words.raw) if named else None


def _value(field: Field, words: Reading, ear: Ear) -> Any:
    try:
        return value_of(field, words.raw, ear.setting)
    except Unreadable:
        return None


def _same(value: Any, known: Any) -> bool:
    if isinstance(value, dict) and isinstance(known, dict):
        return _amount(value) == _amount(known)
    if isinstance(value, str) and isinstance(known, str):
        return value.casefold() == known.casefold()
    return bool(value == known)


def _amount(money: dict[str, Any]) -> Decimal | None:
    try:
        return Decimal(str(money.get("amount")))
    except InvalidOperation:
        return None


def _day(words: Reading) -> str:
    """Return the digits of "the 3rd"; empty if it is something else."""
    found = (form.fullmatch(words.said) for form in words.lexicon.forms("form_day"))
    return next((day["day"] for day in found if day), "")
