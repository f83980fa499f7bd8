"""How a model is told to speak: the personality of a journey, in words."""

from __future__ import annotations

from collections.abc import Iterator

from journeys import Personality
from journeys.languages import catalogue_of

_FORMALITY = {
    "formal": "Be formal: courteous, in whole sentences, no slang and no contractions.",
    "casual": "Be casual: relaxed and plain, as among friends.",
}


def manner(personality: Personality, language: str | None) -> str:
    """Return the part of a system text that says how to speak; empty if nothing was declared.

    Nothing is, where it speaks English.

    It tells about style alone: what else a system text says of the answer counts more.
    """
    language = language or "en"
    if personality == Personality() and language == "en":
        return ""
    return "\n".join(
        [
            "How you speak, whatever you say:",
            *(f"- {line}" for line in _lines(personality, language)),
        ]
    )


def _lines(personality: Personality, language: str) -> Iterator[str]:
    if personality.name:
        yield f"Your name is {personality.name}."
    if personality.tone:
        yield f"Your tone: {personality.tone}."
    if personality.formality in _FORMALITY:
        yield _FORMALITY[personality.formality]
    yield "Use an emoji where it fits." if personality.emojis else "Use no emojis."
    said = catalogue_of(language)
    address = said.address.get(personality.formality, "")
    yield (
        f"Your language is {said.name}; a user who writes in another one is answered in theirs."
        f"{f' In {said.name}, {address}.' if address else ''}"
    )
