"""Words read as the value of a field."""

from __future__ import annotations

from typing import Any, NamedTuple

from journeys import Field
from nodes.language.expected import NAMES, Expected
from nodes.language.reading import Reading
from nodes.values import Setting, Unreadable, value_of

_LONGEST_NAME = 7


class Read(NamedTuple):
    """A value, and the words that give it."""

    raw: str
    value: Any


def value_in(field: Field, raw: str, setting: Setting) -> Any:
    """Return the value of a field that words are; None where they are none."""
    if not raw.strip():
        return None
    try:
        return value_of(field, raw, setting)
    except Unreadable:
        return None


def is_readable(field: Field, raw: str, setting: Setting) -> bool:
    """Whether words are a value of a field."""
    return value_in(field, raw, setting) is not None


def readable_part(field: Field, reading: Reading, expected: Expected) -> Read | None:
    """Return the value, where all of the message is about it.

    Words at both ends that say nothing, or only lead there ("make it", "fine, then"), may go.
    """
    lexicon = reading.lexicon
    tried = set()
    lead = lexicon.begins("lead", reading.said)
    meant = reading.after(lead) if lead else reading
    start = lexicon.begins("meant", meant.said)
    for part in (
        reading,
        reading.core(),
        meant.core(),
        meant.after(start).core() if start else meant,
    ):
        if not part.tokens or (raw := _written(part)) in tried:
            continue
        tried.add(raw)
        if not _may_be(field, part):
            continue
        value = value_in(field, raw, expected.setting)
        if value is not None:
            return Read(raw, value)
    return None


def _written(part: Reading) -> str:
    """Return words as written; a whole message with its signs, which may be part of a value."""
    return part.text.strip() if part.complete else part.raw


def _may_be(field: Field, part: Reading) -> bool:
    """Whether words may be a name or address: they hold none that only sentences have."""
    if field.type not in (*NAMES, "address"):
        return True
    if field.type in NAMES and (
        len(part.tokens) > _LONGEST_NAME or any(word.isdigit() for word in part.words)
    ):
        return False
    lead = part.lexicon.begins("name_lead", part.said)
    words = part.after(lead).words if lead else part.words
    return not part.lexicon.words("talk").intersection(words)
