"""The commands of a model that count: those that are open now, and that it is sure of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from journeys import TransitionSpec
from nodes.commands import (
    Choose,
    Clear,
    Command,
    Correct,
    Deny,
    Explain,
    Fill,
    Go,
    Human,
    Noise,
    OffTopic,
    Verdict,
)
from nodes.llm.command_schema import offered, targets_of
from nodes.llm.form import Asking
from nodes.steer import is_share

_JUDGED_LATER = (Verdict, Go, Noise)
"""Commands whose confidence is judged where it is known what they lead to."""


@dataclass(frozen=True, slots=True)
class Dropped:
    """A command that does not count, and why.

    `confidence` is None where it was none; `is_open` says whether it could have counted.
    """

    command: str
    reason: str
    confidence: float | None = None
    is_open: bool = True


def sifted(commands: Sequence[Command], least: float) -> tuple[list[Command], list[Dropped]]:
    """Return the commands that count, in their order, and what does not.

    A value needs no more than a confidence: whether it is enough depends on what was asked.

    Args:
        commands: What a model made of a message, as far as it is open now.
        least: Least confidence of what is not a value.
    """
    kept: list[Command] = []
    dropped: list[Dropped] = []
    for command in commands:
        if isinstance(command, _JUDGED_LATER):
            kept.append(command)
        elif not is_share(sure := command.confidence):
            reason = "its confidence is not from 0 to 1"
            dropped.append(Dropped(_name(command), reason))
        elif sure < least and not isinstance(command, Fill):
            dropped.append(Dropped(_name(command), "not sure enough", sure))
        else:
            kept.append(command)
    return kept, dropped


def open_now(
    commands: Sequence[Command], candidates: Sequence[TransitionSpec], form: Asking | None
) -> tuple[list[Command], list[Dropped]]:
    """Return the commands that are open now, in their order, and those that are not.

    A model may name whatever the journey has, for the schema of its answer is the same in all of
    it. A verdict on a closed question that says no asks for nothing, and is passed by.

    Args:
        commands: What a model made of a message.
        candidates: The transitions that it was to judge.
        form: What it was told of the form; None where nothing is collected.
    """
    moment = _Moment(candidates, form)
    kept: list[Command] = []
    dropped: list[Dropped] = []
    for command in commands:
        if not (reason := moment.why_closed(command)):
            kept.append(command)
        elif not isinstance(command, Verdict) or command.holds:
            dropped.append(Dropped(_name(command), reason, is_open=False))
    return kept, dropped


class _Moment:
    """All that is open in a moment."""

    def __init__(self, candidates: Sequence[TransitionSpec], form: Asking | None) -> None:
        targets = [transition.target for transition in candidates]
        self._questions = {transition.id for transition in candidates}
        self._commands = set(offered(form, targets))
        self._fields = set(form.names) if form and form.is_asked else set()
        self._targets = set(targets_of(form, targets))

    def why_closed(self, command: Command) -> str:
        """Return why a command is not open; empty if it is."""
        if isinstance(command, Verdict):
            known = command.question in self._questions
            return "" if known else f"'{command.question:.80}' is not open here"
        if isinstance(command, (Fill, Correct, Clear, Explain)):
            return self._why_no_field(command)
        if _name(command) not in self._commands:
            return f"nothing here answers '{_name(command)}'"
        if isinstance(command, Go):
            target = command.target
        elif isinstance(command, (Choose, Deny)):
            target = command.option
        else:
            target = command.reason if isinstance(command, Human) else ""
        return "" if not target or target in self._targets else f"'{target:.80}' is not open here"

    def _why_no_field(self, command: Fill | Correct | Clear | Explain) -> str:
        if isinstance(command, Explain) and not command.field and "explain" in self._commands:
            return ""
        known = command.field in self._fields
        return "" if known else f"no field '{command.field:.80}' is open here"


_NAMES: Mapping[type, str] = {OffTopic: "off_topic"}


def _name(command: Command) -> str:
    return _NAMES.get(type(command), type(command).__name__.lower())
