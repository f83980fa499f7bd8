"""What a message may answer now, and what a reading of it found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from journeys import Field
from nodes.commands import Command
from nodes.talk import Asked, Option
from nodes.values import Setting

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
