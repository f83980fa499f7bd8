"""Expectation of a message, and its reading."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from journeygraph.journeys import Field
from journeygraph.nodes.language.words import words_of
from journeygraph.nodes.state.dialogue_state import Asked, Option
from journeygraph.nodes.values.setting import Setting

CHOOSING = ("clarify", "paused", "restart", "change", "wrong")
"""Kinds of questions whose answer is one of their options."""
YES_OR_NO = (
    *("summary", "wrong", "correction", "start_over", "human", "unclaimed", "more", "leave"),
    *("return", "retry"),
)
"""Kinds of questions whose answer is yes or no."""
OFFERED = ("start_over", "human", "unclaimed", "retry", "more", "correction", "leave")
"""Kinds of questions for which "forget it" is a no."""
NAMES = ("name", "full_name")
"""Types of what people are called."""
FREE = ("text", "list", "address")
"""Types whose values are the user's own words."""


@dataclass(frozen=True)
class Expected:
    """Expectation: what a message may answer, give or correct now.

    Attributes:
        asked: The last question to the user.
        fields: The open fields of the present form, or of the paused one that the user was asked to
            return to; what was asked for comes first.
        known: Values that may be corrected, by the name of their field; the latest comes last.
        correctable: The fields of those values.
        setting: Time and locale of the user.
        tasks: The names of the open tasks, for "cancel the transfer".
        changing: True if the field that was asked for has, or just had, a value, which may stay.
        begins: True if the message leads to the task of these fields.
        numbered: Choices of that field, by the numbers that the question gives them.
    """

    asked: Asked | None
    fields: Sequence[Field]
    known: Mapping[str, Any]
    correctable: Sequence[Field]
    setting: Setting
    tasks: Sequence[str] = ()
    changing: bool = False
    begins: bool = False
    numbered: Mapping[int, str] = field(default_factory=dict)

    @property
    def kind(self) -> str:
        """The kind of question that was asked; empty: none."""
        return self.asked["kind"] if self.asked else ""

    @cached_property
    def pending(self) -> Field | None:
        """The field that was asked for."""
        about = self.asked["about"] if self.asked and self.kind == "field" else ""
        return next((f for f in self.fields if f.name == about), None)

    @cached_property
    def doubted(self) -> Field | None:
        """The field of a change that was asked back; a yes or no is about the change."""
        about = self.asked["about"] if self.asked and self.kind == "correction" else ""
        return next((f for f in self.correctable if f.name == about and f.type != "boolean"), None)

    @property
    def options(self) -> Sequence[Option]:
        """The offered options."""
        return self.asked["options"] if self.asked else ()

    @cached_property
    def all_fields(self) -> Sequence[Field]:
        """All fields, the open ones first."""
        return (*self.fields, *self.correctable)

    @cached_property
    def called(self) -> Mapping[tuple[str, ...], Mapping[str, Field]]:
        """The fields by what they are called, as words, and then by their names."""
        named: dict[tuple[str, ...], dict[str, Field]] = {}
        for one in self.all_fields:
            for phrase in (one.title, one.name):
                named.setdefault(words_of(phrase).folded, {})[one.name] = one
        return named
