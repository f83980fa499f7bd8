"""Verdicts and commands: the closed union of all that a message can ask for.

Everything that understands messages, with or without a model, speaks in these; `steer` takes
nothing else. A command that nothing in the journey answers now is dropped and audited, and so is
one that a model is not sure enough of; what is no model is sure.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Verdict:
    """The answer to one open question: does this transition hold for the message?

    Attributes:
        question: Id of the transition.
        tier: The source: condition, pattern, own, always, model, or cache for what a model answered
            before.
        confidence: From 0 to 1; what is not a model is sure.
        error: The error that the judge raised; empty if it raised none.
        phrase: The phrase in the message that a pattern matched; empty for other tiers.
    """

    question: str
    holds: bool
    tier: str
    confidence: float = 1.0
    reason: str = ""
    error: str = ""
    phrase: str = ""

    @property
    def takes_words(self) -> bool:
        """True if an author's own trigger holds for the words of the message."""
        return self.holds and self.tier in ("pattern", "own")


def matched(question: str, phrase: str) -> Verdict:
    """Return the verdict of a pattern that matched a phrase of the message."""
    return Verdict(question, True, "pattern", reason=f"matched '{phrase}'", phrase=phrase)


@dataclass(frozen=True, slots=True)
class Go:
    """Move to a pathway; taken if a transition that a model may judge leads there from here.

    `tier` is command, or cache for an earlier answer of a model.
    """

    target: str
    confidence: float = 1.0
    tier: str = "command"


@dataclass(frozen=True, slots=True)
class Fill:
    """Give a field its value.

    Attributes:
        value: The words that give the value.
        read: The value that was read from them; None: they are still to be read.
        certain: True if every word of the message was explained when it was read.
    """

    field: str
    value: str
    confidence: float = 1.0
    read: Any = dataclasses.field(default=None, compare=False)
    certain: bool = dataclasses.field(default=True, compare=False)


@dataclass(frozen=True, slots=True)
class Correct:
    """Give a field another value than it has; the attributes are those of `Fill`."""

    field: str
    value: str
    confidence: float = 1.0
    read: Any = dataclasses.field(default=None, compare=False)
    certain: bool = dataclasses.field(default=True, compare=False)


@dataclass(frozen=True, slots=True)
class Clear:
    """Take a field's value back."""

    field: str
    confidence: float = 1.0


@dataclass(frozen=True, slots=True)
class Confirm:
    """Say yes to what was asked."""

    confidence: float = 1.0


@dataclass(frozen=True, slots=True)
class Deny:
    """Say no to what was asked; with an option, to that one of several alone."""

    option: str = ""
    confidence: float = 1.0


@dataclass(frozen=True, slots=True)
class Choose:
    """Take one of the options offered, by its id."""

    option: str
    confidence: float = 1.0


@dataclass(frozen=True, slots=True)
class Cancel:
    """Give up the present task, the one that `task` names or is the id of, or all of them."""

    everything: bool = False
    confidence: float = 1.0
    task: str = ""


@dataclass(frozen=True, slots=True)
class Skip:
    """Leave a question unanswered."""

    confidence: float = 1.0


@dataclass(frozen=True, slots=True)
class Wait:
    """Ask for a moment."""

    confidence: float = 1.0


@dataclass(frozen=True, slots=True)
class Repeat:
    """Ask to hear the last words again."""

    confidence: float = 1.0


@dataclass(frozen=True, slots=True)
class Restart:
    """Start the present task again, from its first question."""

    confidence: float = 1.0


@dataclass(frozen=True, slots=True)
class Back:
    """Ask to go back to the question that was answered last."""

    confidence: float = 1.0


@dataclass(frozen=True, slots=True)
class Status:
    """Ask what is known so far, and what waits."""

    confidence: float = 1.0


@dataclass(frozen=True, slots=True)
class Explain:
    """Ask what a question is for; without a field, the one that was asked last."""

    field: str = ""
    confidence: float = 1.0


@dataclass(frozen=True, slots=True)
class OffTopic:
    """Change the subject; unsupported: ask for something that the journey cannot do.

    `guessed`: the message may have another meaning that was not understood.
    """

    unsupported: bool = False
    confidence: float = 1.0
    guessed: bool = False


@dataclass(frozen=True, slots=True)
class Ask:
    """Ask a question that is about something else than what is collected, in these words."""

    value: str
    confidence: float = 1.0


@dataclass(frozen=True, slots=True)
class Human:
    """Ask for a person; `reason` is asked, or sentiment where a model found that."""

    reason: str = "asked"
    confidence: float = 1.0


@dataclass(frozen=True, slots=True)
class Noise:
    """Say nothing that could be understood, such as "??"."""


Command = (
    Verdict
    | Go
    | Fill
    | Correct
    | Clear
    | Confirm
    | Deny
    | Choose
    | Cancel
    | Skip
    | Wait
    | Repeat
    | Restart
    | Back
    | Status
    | Explain
    | OffTopic
    | Ask
    | Human
    | Noise
)

_NAMES: Mapping[type, str] = {OffTopic: "off_topic"}


def command_name(kind: type) -> str:
    """Return the name of a kind of command in audits and prompts: its class in small letters."""
    return _NAMES.get(kind, kind.__name__.lower())
