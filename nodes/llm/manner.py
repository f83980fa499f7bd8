"""How a model is told to speak: the personality of a journey, in words."""

from __future__ import annotations

from collections.abc import Iterator

from journeys import Personality

_FORMALITY = {
    "formal": "Be formal: courteous, in whole sentences, no slang and no contractions.",
    "casual": "Be casual: relaxed and plain, as among friends.",
}
_LANGUAGES = {
    "en": "English",
    "de": "German",
}
_ADDRESS = {
    ("de", "formal"): ' In German, say "Sie".',
    ("de", "neutral"): ' In German, say "Sie".',
    ("de", "casual"): ' In German, say "du".',
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
    address = _ADDRESS.get((language, personality.formality), "")
    yield (
        f"Your language is {_LANGUAGES[language]}; a user who writes in another one is answered in "
        f"theirs.{address}"
    )
