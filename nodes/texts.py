"""Texts of the runtime, filled with values."""

from __future__ import annotations

import re
from dataclasses import fields, replace
from functools import lru_cache
from typing import Any

from journeygraph.journeys import JourneyConfig, JourneySpec, Personality, Texts
from journeygraph.journeys.languages import texts_in
from journeygraph.journeys.locale import NOWHERE, Locale, in_force
from journeygraph.journeys.texts import BRACED, own_words

_PLACE = re.compile(BRACED.pattern + "( ?)")
_TRAILING = re.compile(r"[ \t]+(?=\n|$)")
_DEFAULTS = Texts()


def texts_of(spec: JourneySpec, config: JourneyConfig, session: Locale = NOWHERE) -> Texts:
    """Return what the runtime says in a journey.

    What counts more comes later: the catalogue in the language that holds, and the formality of the
    journey's personality; the texts of the operator; what the journey words itself, in any
    language, and then in that one.

    Args:
        spec: The journey; of a concierge one of its parts.
        config: The configuration; its texts count if they differ from the English default.
    """
    language = in_force(spec.locale, session, config.locale).language or "en"
    own = own_words(spec.texts, language)
    return _resolved(language, spec.personality, config.texts, tuple(sorted(own.items())))


# Not by the spec, which would be held with all that hangs on it.
@lru_cache(maxsize=256)
def _resolved(
    language: str, manner: Personality, configured: Texts, own: tuple[tuple[str, str], ...]
) -> Texts:
    texts = texts_in(language, manner.formality, emojis=manner.emojis)
    return replace(texts, **{**_worded(configured), **dict(own)})


def _worded(configured: Texts) -> dict[str, str]:
    said = {item.name: getattr(configured, item.name) for item in fields(configured)}
    return {name: text for name, text in said.items() if text != getattr(_DEFAULTS, name)}


def worded(text: str, /, **values: Any) -> str:
    """Return a text with values in place of its placeholders.

    A placeholder is a bare name in braces: nothing is formatted or looked up in a value, and what
    is in a value stays as it is, braces included. One without a value is left as it is. An
    empty value takes the space next to it along.
    """

    def filled(found: re.Match[str]) -> str:
        name, space = found.groups()
        if name not in values:
            return found[0]
        value = str(values[name])
        return value + space if value else ""

    return _TRAILING.sub("", _PLACE.sub(filled, text))
