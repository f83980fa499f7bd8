"""The catalogue of texts by language, formality, and with emojis or without.

What an author or an operator words anew is put over it in `nodes/speech.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from importlib import import_module

from journeys.texts import Texts

__all__ = ["EMOJIS", "texts_in"]

EMOJIS: Mapping[str, str] = {
    "closing": "👋",
    "cancelled_all": "👍",
    "corrected": "✅",
    "skipped": "👍",
    "wait": "🙂",
    "human_called": "🤝",
    "human_declined": "👍",
}
"""What follows a text where emojis are on. Never one that refuses, or tells of a failure."""


@lru_cache
def texts_in(language: str, formality: str = "neutral", *, emojis: bool = False) -> Texts:
    """Return the catalogue in a language, with all its texts.

    Args:
        language: One of `LANGUAGES`.
        formality: One of `FORMALITIES`; what is neutral where nothing else is written.
        emojis: Whether some texts end in one.
    """
    # Most sessions speak one language: the others are not read before somebody does.
    written = import_module(f"journeys.languages.{language}")
    said: dict[str, str] = {**written.NEUTRAL, **getattr(written, formality.upper())}
    if emojis:
        said |= {name: f"{_of(said, name)} {emoji}" for name, emoji in EMOJIS.items()}
    return Texts(**said)


def _of(said: Mapping[str, str], name: str) -> str:
    default: str = said.get(name) or getattr(Texts(), name)
    return default
