"""What is listened for, and what was heard."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from journeys import Field
from nodes.commands import Command
from nodes.talk import Asked, Option
from nodes.values import Setting

CHOOSING = ("clarify", "paused", "restart", "change", "wrong")
"""Kinds of questions whose answer is one of their options."""

YES_OR_NO = ("summary", "wrong", "correction", "return", "human", "unclaimed", "retry", "more")
"""Kinds of questions whose answer is yes or no."""


@dataclass(frozen=True, slots=True)
class Ear:
    """What a message may answer, give or correct now.

    Attributes:
        asked: What the user was asked last.
        fields: The open fields of the present form, or of the paused one that the user was asked to
            return to; what was asked for comes first.
        known: Values that may be corrected, by the name of their field; the latest comes last.
        correctable: The fields of those values.
        setting: When and where the user speaks.
        tasks: What the open tasks are called, so that "cancel the transfer" is understood.
    """

    asked: Asked | None
    fields: Sequence[Field]
    known: Mapping[str, Any]
    correctable: Sequence[Field]
    setting: Setting
    tasks: Sequence[str] = ()

    @property
    def kind(self) -> str:
        """The kind of question that was asked; empty: none."""
        return self.asked["kind"] if self.asked else ""

    @property
    def pending(self) -> Field | None:
        """The field that was asked for."""
        if self.asked is None or self.kind != "field":
            return None
        return next((each for each in self.fields if each.name == self.asked["about"]), None)

    @property
    def expected(self) -> Field | None:
        """The field that was asked for, or will be where the user says yes to going on."""
        if self.kind == "return":
            return self.fields[0] if self.fields else None
        return self.pending

    @property
    def options(self) -> Sequence[Option]:
        """What was offered to choose from."""
        return self.asked["options"] if self.asked else ()


@dataclass(frozen=True, slots=True)
class Heard:
    """What a message says.

    Attributes:
        commands: What it asks for, in the user's words.
        sure: Whether a model need not be asked what else it may mean.
        whole: Whether all of it answers what was asked, so that it holds no intent besides.
        rest: The words that were not understood, for whoever looks for an intent.
    """

    commands: list[Command] = field(default_factory=list)
    sure: bool = False
    whole: bool = False
    rest: str = ""
