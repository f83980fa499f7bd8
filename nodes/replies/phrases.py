"""Find phrases in a reply that guidelines forbid or require."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from functools import lru_cache

from journeys.notions.guidelines import GuidelineSpec
from journeys.phrases.patterns import Matcher
from nodes.replies.folding import as_read

_FORBIDS, _REQUIRES = "forbids ", "requires "
_EMPHASIS = re.compile(r"[*`~]+|(?<![^\W_])_+|_+(?![^\W_])")


def broken(reply: str, guidelines: Iterable[GuidelineSpec]) -> list[str]:
    """Return what a reply says that it must not, and does not say that it must.

    Phrases are matched as whole words, as patterns of messages are; invisible characters and signs
    of emphasis do not separate words.
    """
    ruling = [one for one in guidelines if one.forbids or one.requires]
    if not ruling:
        return []
    found = _matcher(_phrases(ruling)).match(_plain(reply))
    faults = [
        f"{one.id}: says '{found[_FORBIDS + one.id]}'"
        for one in ruling
        if _FORBIDS + one.id in found
    ]
    lacking = [one for one in ruling if one.requires and _REQUIRES + one.id not in found]
    return faults + [f"{one.id}: says none of {_quoted(one.requires)}" for one in lacking]


def _phrases(guidelines: Sequence[GuidelineSpec]) -> tuple[tuple[str, str], ...]:
    forbidden = [(_plain(said), _FORBIDS + one.id) for one in guidelines for said in one.forbids]
    required = [(_plain(said), _REQUIRES + one.id) for one in guidelines for said in one.requires]
    return (*forbidden, *required)


@lru_cache(maxsize=256)
def _matcher(phrases: tuple[tuple[str, str], ...]) -> Matcher:
    return Matcher(phrases)


def _plain(text: str) -> str:
    """Return a text as it is read: Markdown's signs of emphasis are shown, not read."""
    read = as_read(unicodedata.normalize("NFC", text))
    return _EMPHASIS.sub("", read) or read


def _quoted(phrases: Iterable[str]) -> str:
    return ", ".join(f"'{phrase}'" for phrase in phrases)
