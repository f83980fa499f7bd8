"""Compile phrases, as the files of a language have them, into regular expressions."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

NOTHING = "(?!)"
"""A pattern that matches nothing."""
_BRACKET = re.compile(r"(?<!\\)\((?!\?)")
_PLACE = re.compile(r"\{([a-z_][a-z_.|]*)\}")


def grouped(phrase: str) -> str:
    """Return a phrase whose brackets only group.

    What is taken for good cannot be captured in all releases of Python 3.11.
    """
    return _BRACKET.sub("(?:", phrase)


def named_in(phrase: str) -> list[str]:
    """Return the names of other phrases in a phrase: of {it}, "it"."""
    return _PLACE.findall(phrase)


def filled(phrase: str, meaning: Callable[[str], str]) -> str:
    """Return a phrase with the meaning of each {name} in it."""
    return _PLACE.sub(lambda found: meaning(found[1]), phrase)


def any_of(phrases: Iterable[str]) -> str:
    """Return a pattern that matches any of some phrases, tried in their order."""
    each = dict.fromkeys(phrases)
    return f"(?:{'|'.join(each)})" if each else NOTHING


def longest_first(phrases: Iterable[str]) -> list[str]:
    """Return phrases, each once, so that of two that begin alike the longer one is tried first."""
    return sorted(set(phrases), key=lambda phrase: (-len(phrase), phrase))
