"""Which commands of a model count: those that it is sure of, and that do not contradict others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from nodes.commands import Cancel, Choose, Command, Confirm, Deny, Fill, Go, Noise, Verdict
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

    A value needs no more than a confidence: whether it is enough depends on what was asked. What
    contradicts itself counts on neither side: a user who is asked again has lost less than one
    whose no was taken for a yes.

    Args:
        commands: What a model made of a message.
        least: Least confidence of what is not a value.
    """
    unsure = [(one, why) for one in commands if (why := _why_unsure(one, least))]
    doubted = [one for one, _ in unsure]
    sure = [one for one in commands if not _among(one, doubted)]
    torn = list(_contradicting(sure))
    dropped = [_dropped(one, why) for one, why in unsure]
    dropped += [_dropped(one, "it contradicts another command") for one in torn]
    return [one for one in sure if not _among(one, torn)], dropped


def _why_unsure(command: Command, least: float) -> str:
    if isinstance(command, _JUDGED_LATER):
        return ""
    if not is_share(command.confidence):
        return f"{command.confidence:g} is no confidence"
    enough = isinstance(command, Fill) or command.confidence >= least
    return "" if enough else "not sure enough"


def _contradicting(commands: Sequence[Command]) -> Iterator[Command]:
    """Yield a yes beside a no or beside giving up, and different choices beside each other."""
    yes = [one for one in commands if isinstance(one, Confirm)]
    no = [one for one in commands if isinstance(one, Deny) and not one.option]
    ends = [one for one in commands if isinstance(one, Cancel)]
    if yes and (no or ends):
        yield from yes
        yield from no
        yield from ends
    choices = [one for one in commands if isinstance(one, Choose)]
    if len({one.option for one in choices}) > 1:
        yield from choices


def _among(command: Command, others: Sequence[Command]) -> bool:
    return any(command is other for other in others)


def _dropped(command: Command, reason: str) -> Dropped:
    sure = getattr(command, "confidence", None)
    known = sure if sure is not None and is_share(sure) else None
    return Dropped(type(command).__name__.lower(), reason, known)
