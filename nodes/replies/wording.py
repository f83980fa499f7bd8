"""Check the wording of a reply by code: phrases of guidelines, and the same meaning when reworded.

A rewording that is in doubt counts as changed: then the original text is sent.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache

from journeygraph.journeys.declarations.guidelines import GuidelineSpec
from journeygraph.journeys.phrases import Matcher
from journeygraph.nodes.replies.folding import as_read

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
        f"{one.id}: contains '{found[_FORBIDS + one.id]}'"
        for one in ruling
        if _FORBIDS + one.id in found
    ]
    lacking = [one for one in ruling if one.requires and _REQUIRES + one.id not in found]
    return faults + [f"{one.id}: contains none of {_quoted(one.requires)}" for one in lacking]


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


_FIGURES = re.compile(r"\w*\d(?:[\w.,:/+-]*\w)?")
_ADDRESSES = re.compile(r"\S*(?:@|://|www\.)\S*")
_QUOTED = re.compile(r'"[^"\n]+"|“[^”\n]+”|„[^“”\n]+[“”]|«[^»\n]+»')
_LISTED = re.compile(r"^\s*(?:[-*•]|\d+[.)])\s+\S.*$", re.MULTILINE)
_QUESTIONS = re.compile(r"\?")
_DENIED = re.compile(
    r"n't\b|\b(?:not?|never|nobody|none|nothing|cannot|without|nicht|nichts|nie|niemand|nein|ohne"
    r"|kein\w*)\b",
    re.IGNORECASE,
)
MOST_LONGER = 200
"""Characters by which a text may grow, besides half of its length."""


def changed(before: str, after: str, names: Iterable[str] = ()) -> str:
    """Return the kind of part that a reworded text lost or added; empty if none.

    Args:
        names: Texts that must not change: values, options, names that things are
            called.
    """
    if not after.strip():
        return "silent"
    if len(after) > len(before) * 1.5 + MOST_LONGER:
        return "length"
    for what, pattern in (
        ("figures", _FIGURES),
        ("addresses", _ADDRESSES),
        ("quotes", _QUOTED),
        ("lists", _LISTED),
        ("questions", _QUESTIONS),
    ):
        if Counter(_found(pattern, before)) != Counter(_found(pattern, after)):
            return what
    if bool(_DENIED.search(before)) != bool(_DENIED.search(after)):
        return "denial"
    lost = [name for name in names if says(before, name) and not says(after, name)]
    return "names" if lost else ""


def _found(pattern: re.Pattern[str], text: str) -> list[str]:
    return [" ".join(said.split()).rstrip(".,;!?") for said in pattern.findall(text)]


def says(text: str, name: str) -> bool:
    """Return whether a text has a name as whole words, in any case."""
    pattern = rf"(?<!\w){re.escape(name.strip().casefold())}(?!\w)"
    return bool(name.strip()) and re.search(pattern, text.casefold()) is not None
