"""The interpretation of a message: what was read, what a model answered, what may hold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from journeygraph.journeys import GuidelineSpec, TransitionSpec
from journeygraph.nodes.commands import Command, Verdict
from journeygraph.nodes.state.session import Position


@dataclass(frozen=True, slots=True)
class Parse:
    """The reading of a message.

    Attributes:
        commands: All that it asks for; proposals where it is not exact.
        exact: True if the message as a whole derives from the grammar, so that it has no other
            meaning, and no model is asked.
        unread: The words that nothing read, as they were written, clause by clause.
    """

    commands: list[Command] = field(default_factory=list)
    exact: bool = False
    unread: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Dropped:
    """A command that does not count, and why.

    `confidence` is None if it was not valid; `is_open` says whether it could have counted.
    """

    command: str
    reason: str
    confidence: float | None = None
    is_open: bool = True


@dataclass(frozen=True, slots=True)
class Understood:
    """Reading of a message by a model.

    Attributes:
        commands: The commands of the message, with verdicts on transitions.
        reply: The model's reply to the user; None if it wrote none.
        asks: Name of the field that this reply asks for; None: it asks for none. What was
            collected is read back by the runtime alone, for the user says yes to that.
    """

    commands: list[Command] = field(default_factory=list)
    guidelines: list[Verdict] = field(default_factory=list)
    reply: str | None = None
    asks: str | None = None
    dropped: list[Dropped] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class HeldGuideline:
    """A guideline that holds for a message.

    Attributes:
        tier: The source: model, code, keyword, always; or bypassed, if it cannot be judged.
        confidence: From 0 to 1; what is not a model is sure.
    """

    guideline: GuidelineSpec
    tier: str
    confidence: float = 1.0
    reason: str = ""


@dataclass(frozen=True, slots=True)
class GuidelineCandidates:
    """Guidelines of a message, before a model has its say.

    Attributes:
        asked: Those that a model is to judge.
        held: Those that hold without one.
        denied: Ids of those that code judged, and that do not hold.
        bypassed: True if some could not be judged.
    """

    asked: tuple[GuidelineSpec, ...] = ()
    held: tuple[HeldGuideline, ...] = ()
    denied: tuple[str, ...] = ()
    audit: tuple[dict[str, Any], ...] = ()
    bypassed: bool = False


_NOT_READ, _NOTHING_WEIGHED, _NO_ANSWER = Parse(), GuidelineCandidates(), Understood()


@dataclass(slots=True)
class Interpretation:
    """Reading of a message before the decision.

    Attributes:
        position: The position of the session when the message was read.
        welcomed: The number of replies to a user who returns after a pause.
        is_certain: True if no model has to judge the message.
        verdicts: The verdicts on triggers that need no model.
        doubted: Patterns that contradict each other, which count only if no model answers.
        questions: Transitions that a model may judge.
        form: The open form for a model, an `Asking`; None if no form is open.
    """

    position: Position
    parse: Parse = _NOT_READ
    is_certain: bool = False
    welcomed: int = 0
    verdicts: list[Verdict] = field(default_factory=list)
    doubted: list[Verdict] = field(default_factory=list)
    open_now: Sequence[TransitionSpec] = ()
    questions: list[TransitionSpec] = field(default_factory=list)
    guideline_candidates: GuidelineCandidates = _NOTHING_WEIGHED
    form: Any = None
    answer: Understood = _NO_ANSWER

    @property
    def is_read(self) -> bool:
        """Return whether the dialogue has read the message."""
        return self.parse is not _NOT_READ

    @property
    def is_open(self) -> bool:
        """Return whether there is anything to ask a model."""
        return bool(self.questions or self.guideline_candidates.asked or self.asks_form)

    @property
    def asks_form(self) -> bool:
        """Return whether a model is to say what the message makes of the form."""
        return self.form is not None and self.form.is_asked

    @property
    def is_answered(self) -> bool:
        """Return whether a model answered."""
        return self.answer is not _NO_ANSWER

    @property
    def has_answer(self) -> bool:
        """Return whether a model gave the commands of the message for the form."""
        return self.asks_form and self.answer != _NO_ANSWER

    @property
    def commands(self) -> list[Command]:
        """Verdicts of triggers and model on the message."""
        return [*self.verdicts, *self.answer.commands]
