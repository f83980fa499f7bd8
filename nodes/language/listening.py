"""Hear a message: one way to understand it after the other, the narrowest first."""

from __future__ import annotations

from nodes.language.answers import answer
from nodes.language.choices import choice
from nodes.language.ear import Ear, Heard
from nodes.language.filling import answered_whole, free_text, values_given
from nodes.language.languages import lexicon_of
from nodes.language.noise import noise
from nodes.language.reading import read
from nodes.language.several import correction
from nodes.language.signals import signal

MOST_CHARACTERS = 4096
"""Characters of a message beyond which it is left to others."""
_WAYS = (
    choice,
    noise,
    signal,
    answer,
    answered_whole,
    correction,
    values_given,
    free_text,
)


def hear(message: str, ear: Ear) -> Heard:
    """Return what a message says, as far as that is beyond doubt; it never raises.

    Args:
        message: What the user said.
        ear: What was asked, and what may be given or corrected.

    Returns:
        What was heard; where nothing was, all of the message is the rest.
    """
    if len(message) > MOST_CHARACTERS:
        return Heard(rest=message)
    reading = read(message, lexicon_of(ear.setting.language))
    for way in _WAYS:
        if heard := way(reading, ear):
            return heard
    return Heard(rest=message.strip())
