"""Expected answers of a message, the result of reading it, and words read as a value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

from journeys import Field
from nodes.commands import Command
from nodes.language.reading import Reading
from nodes.state.dialogue_state import Asked, Option
from nodes.values import Setting, Unreadable, value_of

CHOOSING = ("clarify", "paused", "restart", "change", "wrong")
"""Kinds of questions whose answer is one of their options."""

YES_OR_NO = (
    *("summary", "wrong", "correction", "return", "start_over"),
    *("human", "unclaimed", "retry", "more", "leave"),
)
"""Kinds of questions whose answer is yes or no."""

FREE = ("text", "list")
"""Types of which nearly every message would be a value."""
NAMES = ("name", "full_name")
"""Types of what people are called."""
_LONGEST_NAME = 7
WORDY = (*NAMES, "address", *FREE)
"""Types whose values are the user's own words."""


@dataclass(frozen=True)
class Expected:
    """What a message may answer, give or correct now.

    Attributes:
        asked: What the user was asked last.
        fields: The open fields of the present form, or of the paused one that the user was asked to
            return to; what was asked for comes first.
        known: Values that may be corrected, by the name of their field; the latest comes last.
        correctable: The fields of those values.
        setting: When and where the user speaks.
        tasks: What the open tasks are called, so that "cancel the transfer" is understood.
        changing: Whether the field that was asked for has, or just had, a value, which may stay.
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

    @property
    def due(self) -> Field | None:
        """The field that was asked for, or will be where the user says yes to going on."""
        if self.kind == "return":
            return self.fields[0] if self.fields else None
        return self.pending

    @property
    def options(self) -> Sequence[Option]:
        """What was offered to choose from."""
        return self.asked["options"] if self.asked else ()


@dataclass(frozen=True, slots=True)
class Parse:
    """The reading of a message.

    Attributes:
        commands: All that it asks for.
        certain: Whether every word of it is explained by these commands, so that nobody needs to be
            asked what else it may mean.
        whole: Whether it is certain, and answers or changes what the dialogue is about: then no
            intent is looked for in it.
        unread: The words that nothing explains, as they were written, clause by clause.
        replaced: The words of values that the message itself replaced by others.
    """

    commands: list[Command] = field(default_factory=list)
    certain: bool = False
    whole: bool = False
    unread: tuple[str, ...] = ()
    replaced: tuple[str, ...] = ()


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
