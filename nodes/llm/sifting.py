"""Which commands of a model count: those that it is sure of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from nodes.commands import Command, Fill, Go, Noise, Verdict
from nodes.legal import is_share

_JUDGED_LATER = (Verdict, Go, Noise)
"""Commands whose confidence is judged where it is known what they lead to."""


@dataclass(frozen=True, slots=True)
class Dropped:
    """A command that does not count, and why; `confidence` is None where it was none."""

    command: str
    reason: str
    confidence: float | None = None


def sifted(commands: Sequence[Command], least: float) -> tuple[list[Command], list[Dropped]]:
    """Return the commands that count, in their order, and what does not.

    A value needs no more than a confidence: whether it is enough depends on what was asked.

    Args:
        commands: What a model made of a message.
        least: Least confidence of what is not a value.
    """
    kept: list[Command] = []
    dropped: list[Dropped] = []
    for command in commands:
        if isinstance(command, _JUDGED_LATER):
            kept.append(command)
        elif not is_share(sure := command.confidence):
            reason = "its confidence is not from 0 to 1"
            dropped.append(Dropped(type(command).__name__.lower(), reason))
        elif sure < least and not isinstance(command, Fill):
            dropped.append(Dropped(type(command).__name__.lower(), "not sure enough", sure))
        else:
            kept.append(command)
    return kept, dropped
