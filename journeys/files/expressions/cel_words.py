"""The words of a CEL expression, as far as its limits need them: brackets, macros, what is read."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

MACROS = ("exists", "all", "exists_one", "filter", "map")
"""Words of CEL that go through a list."""

_ROOTS = ("context", "message")
_WORD = re.compile(
    r"""(?P<string>(?:[bB]?[rR]|[rR][bB])(?:'''.*?'''|\"{3}.*?\"{3}|'[^'\n]*'|"[^"\n]*")"""
    r"""|[bB]?(?:'''(?:\\.|.)*?'''|\"{3}(?:\\.|.)*?\"{3}"""
    r"""|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"))"""
    r"""|(?P<comment>//[^\n]*)|(?P<name>[A-Za-z_][A-Za-z0-9_]*)"""
    r"""|(?P<number>[0-9][A-Za-z0-9_.]*)|(?P<sign>\S)""",
    re.DOTALL,
)
_NAME = re.compile(r"""(?P<quote>['"])(?P<name>\w+)(?P=quote)""")


@dataclass(frozen=True, slots=True)
class Words:
    """Content of an expression.

    Attributes:
        depth: How deep its brackets are nested.
        macros: How many of its words go through lists.
        sums: How many '+' are in it; each may join texts or lists to a longer one.
        nested: One of them that stands within another; empty: none.
        bound: Names that they give to what is in a list.
        names: Names of the context that it reads; None if that cannot be told.
        patterns: What `matches` is given, as it is written.
        unfit: What may not stand in an expression; empty: nothing.
    """

    depth: int
    macros: int
    sums: int
    nested: str
    bound: tuple[str, ...]
    names: frozenset[str] | None
    patterns: tuple[str, ...]
    unfit: str


def words_of(text: str) -> Words:
    """Return what is in an expression; for a text that is not valid, the part that was found."""
    found = [
        (match.lastgroup or "", match[0])
        for match in _WORD.finditer(text)
        if match.lastgroup != "comment"
    ]
    words = [word for _, word in found]
    at = [place for place in range(len(words)) if _is_macro(words, place)]
    bound = tuple(words[place + 2] for place in at if place + 2 < len(words))
    patterns, unfit = _matched(found)
    return Words(
        depth=_depth(words),
        macros=len(at),
        sums=words.count("+"),
        nested=next((words[inner] for outer in at for inner in _inside(words, outer)), ""),
        bound=bound,
        names=_names(words),
        patterns=patterns,
        unfit=unfit or _unfit(found, bound),
    )


def _is_macro(words: Sequence[str], place: int) -> bool:
    return words[place] in MACROS and _at(words, place - 1) == "." and _at(words, place + 1) == "("


def _at(words: Sequence[str], place: int) -> str:
    return words[place] if 0 <= place < len(words) else ""


def _depth(words: Sequence[str]) -> int:
    deepest = depth = 0
    for word in words:
        depth += (word in ("(", "[", "{")) - (word in (")", "]", "}"))
        deepest = max(deepest, depth)
    return deepest


def _inside(words: Sequence[str], macro: int) -> list[int]:
    """Return the places of the macros within the brackets of one."""
    depth, found = 0, []
    for place in range(macro + 1, len(words)):
        depth += (words[place] == "(") - (words[place] == ")")
        if depth <= 0:
            break
        if _is_macro(words, place):
            found.append(place)
    return found


def _names(words: Sequence[str]) -> frozenset[str] | None:
    names = set()
    for place, word in enumerate(words):
        if word != "context" or _at(words, place - 1) == ".":
            continue
        sign, name, behind = (_at(words, place + step) for step in (1, 2, 3))
        quoted = _NAME.fullmatch(name) if (sign, behind) == ("[", "]") else None
        if quoted:
            names.add(quoted["name"])
        elif sign == "." and name.isidentifier() and behind != "(":
            names.add(name)
        else:
            return None
    return frozenset(names)


def _matched(found: Sequence[tuple[str, str]]) -> tuple[tuple[str, ...], str]:
    """Return the patterns of `matches`; one that is not written out is unfit."""
    words = [word for _, word in found]
    patterns = []
    for place in range(len(found)):
        if words[place] == "matches" and _at(words, place + 1) == "(":
            kinds = [kind for kind, _ in found[place + 2 : place + 3]]
            if kinds != ["string"] or _at(words, place + 3) != ")":
                return (), "a pattern of `matches` that is not a text in quotes"
            patterns.append(words[place + 2])
    return tuple(patterns), ""


def _unfit(found: Sequence[tuple[str, str]], bound: Sequence[str]) -> str:
    words = [word for _, word in found]
    before = last = ""
    for kind, word in found:
        if word == "{" and before == "name" and last != "in":
            return "a message in braces"
        if word == "." and before not in ("name", "string", "closing"):
            return "'.' in front of a name"
        before, last = "closing" if word in (")", "]", "}") else kind, word
    if any(word == "map" and _is_macro(words, place) for place, word in enumerate(words)):
        return "'map'"
    taken = next((name for name in bound if name in _ROOTS), "")
    return f"the name '{taken}' for an item of a list" if taken else ""
