"""Postal addresses: by digits, commas and words for streets and places; never checked by post."""

from __future__ import annotations

import re
from functools import cache
from types import SimpleNamespace

from journeys.fields import Field
from nodes.values.languages import Vocabulary, everywhere, grammar, vocabulary
from nodes.values.names import tidy
from nodes.values.scanning import Hit, words_in
from nodes.values.setting import Setting

_WRONG = re.compile(
    r"[@=<>{}\[\]|\\?!$€£%*^~]|https?:|www\.|\w\.(?:com|org|net|de)\b", re.IGNORECASE
)
_MOST_CHARACTERS, _MOST_WORDS = 250, 30


@cache
def _grammar(words: Vocabulary) -> SimpleNamespace:
    own, known = words.addresses, everywhere().addresses
    return grammar(
        "addresses",
        words,
        all_places=(*own.places, *known.places.split()),
        all_endings=(*own.place_endings, *known.place_endings.split()),
        signs=tuple(known.signs.split()),
    )


def scan_addresses(text: str, field: Field, setting: Setting) -> list[Hit]:
    """Find the address that a message brings in with so many words."""
    own = _grammar(vocabulary(setting.language))
    for found in own.lead.finditer(text):
        if found["sure"] is None:
            continue
        end = own.end.search(text, found.end())
        said = text[found.end() : end.start() if end else len(text)].strip(" .,")
        said = own.ending.sub("", said)
        if is_address(said, own):
            start = text.index(said, found.end())
            return [Hit(start, start + len(said), tidy(said), True)]
    return []


def address_in(raw: str, setting: Setting) -> str:
    """Return the address that a whole text gives; empty if it gives none."""
    own = _grammar(vocabulary(setting.language))
    text = own.ending.sub("", own.greeting.sub("", raw.strip()))
    lead = own.lead.match(text)
    said = (text[lead.end() :] if lead else text).strip(' .,;!"“”„')
    lines = [line.strip(" ,") for line in said.splitlines()]
    said = ", ".join([line for line in lines if line])
    return tidy(said) if is_address(said, own) else ""


def is_address(said: str, own: SimpleNamespace) -> bool:
    """Say whether a text may be the address of a place."""
    said_words = words_in(said)
    if len(said) > _MOST_CHARACTERS or not 0 < len(said_words) <= _MOST_WORDS:
        return False
    if _WRONG.search(said) or own.common.intersection(said_words):
        return False
    numbered = re.search(r"\d", said) is not None
    several = len(said_words) > 1 or not said.isascii()
    if own.place.search(said):
        return several or numbered
    return numbered and several and _is_written(said) and not own.of_time.intersection(said_words)


def _is_written(said: str) -> bool:
    """Say whether a text is written as names of places are: capitals, or a script without them."""
    letters = re.findall(r"[^\W\d_]+", said)
    return any(not word[0].islower() and len(word) > 1 for word in letters)
