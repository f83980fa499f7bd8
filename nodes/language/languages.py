"""The languages that are understood without a model."""

from __future__ import annotations

import asyncio
from functools import cache

from nodes.language.english import ENGLISH
from nodes.language.german import GERMAN
from nodes.language.lexicon import Lexicon, Sayings

# English is understood everywhere: its phrases are not those of the others.
_SPOKEN: dict[str, tuple[Sayings, ...]] = {"en": (ENGLISH,), "de": (GERMAN, ENGLISH)}


def load(language: str) -> None:
    """Make ready to hear a language, which takes up to a second; else the first messages wait."""
    lexicon_of(language).load()
    _LOADED.add(language)


_LOADED: set[str] = set()


async def ready_to_hear(language: str) -> None:
    """Load a language that was not loaded yet, beside the loop: others would wait for it."""
    if language not in _LOADED:
        await asyncio.to_thread(load, language)


@cache
def lexicon_of(language: str) -> Lexicon:
    """Return how a language is spoken; of one that is not known, English."""
    return Lexicon(_SPOKEN.get(language[:2].lower(), _SPOKEN["en"]))
