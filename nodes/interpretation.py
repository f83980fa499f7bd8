"""Readings of a message, by code and by a model, before anything is decided."""

from __future__ import annotations

from dataclasses import dataclass, field

from journeys import TransitionSpec
from nodes.commands import Command, Verdict
from nodes.language import Parse
from nodes.llm.form import Asking
from nodes.llm.verdicts import Understood
from nodes.matching.held import Weighed
from nodes.state import Position

_NOT_READ, _NOTHING_WEIGHED, _NO_ANSWER = Parse(), Weighed(), Understood()


@dataclass(slots=True)
class Reading:
    """What is known of a message before anything is decided.

    Attributes:
        position: Where the session stood when the message was read.
        parse: What it says of fields and of the dialogue, without a model.
        welcomed: How many replies were given to a user who comes back after a pause.
        is_certain: Whether no model is to be asked what else it may mean.
        verdicts: Which triggers hold, without a model.
        doubted: Patterns that contradict each other, which count only if no model answers.
        questions: Transitions that a model may judge.
        weighed: Guidelines that may hold.
        form: What a model is told of the form that is open; None: nothing.
        answer: What a model said.
    """

    position: Position
    parse: Parse = _NOT_READ
    is_certain: bool = False
    welcomed: int = 0
    verdicts: list[Verdict] = field(default_factory=list)
    doubted: list[Verdict] = field(default_factory=list)
    questions: list[TransitionSpec] = field(default_factory=list)
    weighed: Weighed = _NOTHING_WEIGHED
    form: Asking | None = None
    answer: Understood = _NO_ANSWER

    @property
    def is_read(self) -> bool:
        """Whether the dialogue has read the message."""
        return self.parse is not _NOT_READ

    @property
    def is_open(self) -> bool:
        """Whether there is anything to ask a model."""
        return bool(self.questions or self.weighed.asked or self.asks_form)

    @property
    def asks_form(self) -> bool:
        """Whether a model is to say what the message makes of the form."""
        return self.form is not None and self.form.is_asked

    @property
    def has_answer(self) -> bool:
        """Whether a model said what the message makes of the form."""
        return self.asks_form and self.answer != _NO_ANSWER

    @property
    def commands(self) -> list[Command]:
        """What triggers and a model made of the message."""
        return [*self.verdicts, *self.answer.commands]
