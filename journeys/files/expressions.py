"""`when:` expressions: a closed part of CEL, judged on the context and perhaps the message.

An expression can read its variables and nothing else: the functions of the library compute, none of
them reads a clock, a file or the network. What is not known yet is not true: where a name or a key
is missing, the whole expression counts as false. Its cost has a bound: see the limits below.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from types import ModuleType
from typing import Any

from journeygraph.journeys.errors import did_you_mean, require_extra
from journeygraph.journeys.faults import Fault

_PART = re.compile(
    r"(?P<set>\[\^?\]?(?:\\.|\[:\w+:\]|[^\]\\])*\])|\{(?P<least>\d+)(?:,(?P<most>\d*))?\}"
    r"|(?P<escape>\\[pP]\{[^}]*\}|\\.)|(?P<sign>.)",
    re.DOTALL,
)
# Measured with cel 0.10: all letters take 0.8 ms to build, digits 0.06 ms, anything else 4 µs.
_LETTERS, _DIGITS = 200, 15


def _pattern_size(pattern: str) -> int:
    """Return about how many signs a pattern has once its repetitions are written out.

    Example:
        >>> _pattern_size("(ab{3}){10}")
        40
    """
    groups: list[tuple[int, int]] = []
    whole = last = 0
    for part in _PART.finditer(pattern):
        if part["sign"] == "(":
            groups.append((whole, last))
            whole = last = 0
        elif part["sign"] == ")" and groups:
            inner, (before, _) = whole, groups.pop()
            whole, last = before + inner, inner
        elif part["least"]:
            more = last * (max(int(part["least"]), int(part["most"] or 0)) - 1)
            whole, last = whole + more, last + more
        else:
            last = _sign_size(part[0])
            whole += last
    return whole


def _sign_size(sign: str) -> int:
    if re.search(r"\\[wWpP]", sign):
        return _LETTERS
    return _DIGITS if re.search(r"\\[dD]", sign) else 1


MACROS = ("exists", "all", "exists_one", "filter")
"""Words of CEL that go through a list; `map`, which makes one, is not supported."""

_STRING = re.compile(
    r"""(?:[bB]?[rR]|[rR][bB])(?:'''.*?'''|"{3}.*?"{3}|'[^'\n]*'|"[^"\n]*")"""
    r"""|[bB]?(?:'''(?:\\.|.)*?'''|"{3}(?:\\.|.)*?"{3}|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*")"""
    r"""|(?P<comment>//[^\n]*)""",
    re.DOTALL,
)
_MACRO = re.compile(rf"\.\s*({'|'.join(MACROS)}|map)\s*\(\s*(\w*)")
_BRACKET = re.compile(rf"(?:\.\s*({'|'.join(MACROS)})\s*)?[(\[{{]|[)\]}}]")
_MATCHES = re.compile(r"\bmatches\s*\(\s*(?:'(\d+)'\s*\))?")
_READ = re.compile(r"(?<![\w.])context\b(?:\s*\.\s*(\w+)(?!\w|\s*\()|\s*\[\s*'(\d+)'\s*\])?")
_NAME = re.compile(r"""(['"])(\w+)\1""")


@dataclass(frozen=True, slots=True)
class _Contents:
    """Parts of an expression that its limits and its names depend on.

    Attributes:
        macros: Its words that go through lists.
        bound: Names that these words give to the items of a list.
        nested: Word that goes through a list inside another such word; empty: none.
        sums: Number of '+' in it; each may join texts or lists to a longer one.
        names: Names of the context that it reads; None if that is unknown.
        patterns: Patterns that `matches` is given, as they are written; empty: not in quotes.
    """

    depth: int
    macros: tuple[str, ...]
    bound: tuple[str, ...]
    nested: str
    sums: int
    names: frozenset[str] | None
    patterns: tuple[str, ...]


def _contents(text: str) -> _Contents:
    """Return what is in an expression; also in one that is not valid."""
    strings: list[str] = []

    def numbered(found: re.Match[str]) -> str:
        if found["comment"]:
            return " "
        strings.append(found[0])
        return f"'{len(strings) - 1}'"

    bare = _STRING.sub(numbered, text)
    depth, nested = _nesting(bare)
    macros = _MACRO.findall(bare)
    return _Contents(
        depth=depth,
        macros=tuple(word for word, _ in macros),
        bound=tuple(name for _, name in macros),
        nested=nested,
        sums=bare.count("+"),
        names=_names(bare, strings),
        patterns=tuple(strings[int(n)] if n else "" for n in _MATCHES.findall(bare)),
    )


def _nesting(bare: str) -> tuple[int, str]:
    """Return how deep brackets are nested, and a macro that is inside another one."""
    opened: list[str] = []
    deepest, nested = 0, ""
    for found in _BRACKET.finditer(bare):
        if found[0] in ")]}":
            opened = opened[:-1]
            continue
        nested = nested or (found[1] if any(opened) else "") or ""
        opened.append(found[1] or "")
        deepest = max(deepest, len(opened))
    return deepest, nested


def _names(bare: str, strings: Sequence[str]) -> frozenset[str] | None:
    names = set()
    for name, number in _READ.findall(bare):
        quoted = _NAME.fullmatch(strings[int(number)]) if number else None
        found = quoted[2] if quoted else name
        if not found:
            return None
        names.add(found)
    return frozenset(names)


MOST_SIGNS = 2_000
"""Longest expression, in signs."""
MOST_DEPTH = 12
"""Deepest nesting of brackets."""
MOST_MACROS = 5
"""Most words like `exists` in one expression; none may be inside another."""
MOST_SUMS = 10
"""Most '+' in one expression: texts and lists that are joined again and again have no bound."""
MOST_PATTERN = 5_000
"""Most signs of all patterns together, repetitions written out; through lists, a tenth of it."""
MOST_VALUES = 500
"""Most single values in what is read, where an expression goes through lists or joins."""
_SIGNS_A_VALUE = 100
"""Signs of a text that count as one value more."""
FUNCTIONS = (
    "contains", "startsWith", "endsWith", "matches", "size", "int", "uint", "double", "string",
    "timestamp", "duration", "getFullYear", "getMonth", "getDate", "getDayOfMonth", "getDayOfWeek",
    "getDayOfYear", "getHours", "getMinutes", "getSeconds", "getMilliseconds",
)  # fmt: skip
"""All functions that an expression may call; `has` and the macros are words of CEL itself."""


@dataclass(frozen=True, slots=True)
class When:
    """An expression; equal to another one of the same text."""

    text: str

    def holds(self, message: str, context: Mapping[str, Any]) -> bool:
        """Judge the expression; false where something that it reads is not there.

        Raises:
            TypeError: Its value is neither true nor false, or it compares values that cannot be
                compared.
            ValueError: It goes through lists or joins values, and what it reads is too much.
            ArithmeticError: It divides by zero, or a number grows too large.
            RuntimeError: A function cannot take what it was given.
        """
        program, words = _compiled(self.text)
        read = _read(words, context)
        given = {"context": read, "message": message if "message" in self.text else ""}
        if (words.macros or words.sums) and _is_over(MOST_VALUES, given):
            raise ValueError(f"it iterates over more than {MOST_VALUES} values")
        try:
            result = program.execute(given)
        except LookupError:
            return False
        if not isinstance(result, bool):
            kind = type(result).__name__
            raise TypeError(f"'{self.text:.80}' gave {kind}, which is neither true nor false")
        return result

    @property
    def reads(self) -> frozenset[str]:
        """The names of the context that it reads, as far as they are written out."""
        return _contents(self.text).names or frozenset()

    @property
    def __name__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class ContextCondition(When):
    """An expression on the context alone: of a transition, an activation, or a state's end."""

    def __call__(self, context: Mapping[str, Any]) -> bool:
        """Return whether it holds."""
        return self.holds("", context)


@dataclass(frozen=True, slots=True)
class MessageCondition(When):
    """An expression on message and context: of a guideline."""

    def __call__(self, message: str, context: Mapping[str, Any]) -> bool:
        """Return whether it holds."""
        return self.holds(message, context)


def expression_fault(text: str, variables: Sequence[str]) -> Fault:
    """Return the fault of an expression; an empty one if nothing is wrong."""
    if len(text) > MOST_SIGNS:
        said = f"it is longer than {MOST_SIGNS:,} characters."
        return Fault(said, remedy="Split it, or decide it in a tool.")
    words = _contents(text)
    if fault := _shape_fault(words):
        return fault
    try:
        program, _ = _compiled(text)
    except ValueError as error:
        return _syntax(str(error))
    return _name_fault(program, words, variables) or _pattern_fault(words)


def _shape_fault(words: _Contents) -> Fault:
    if words.depth > MOST_DEPTH:
        said = f"its brackets have more than {MOST_DEPTH} levels."
        return Fault(said, remedy="Remove levels.")
    if words.nested:
        said = f"'{words.nested}' is inside another of {', '.join(MACROS)}."
        return Fault(said, remedy="Move it out.")
    if len(words.macros) > MOST_MACROS:
        return Fault(f"it has more than {MOST_MACROS} of {', '.join(MACROS)}.", remedy="Split it.")
    if words.sums > MOST_SUMS:
        said = f"it has more than {MOST_SUMS} of '+'."
        return Fault(said, remedy="Split it, or decide it in a tool.")
    if "map" in words.macros:
        return Fault("'map' is not supported.", remedy="Write names, values and functions.")
    if not all(words.patterns):
        return Fault("a pattern of `matches` is not a text in quotes.", remedy="Write it out.")
    return Fault("")


def _syntax(said: str) -> Fault:
    first = said.partition("ERROR: <input>:")[2].partition("\n")[0]
    place, _, reason = first.partition(": ")
    column = place.rpartition(":")[2]
    reason = reason.removeprefix("Syntax error: ").partition(" expecting ")[0]
    at = f" at character {column}" if column.isdecimal() else ""
    return Fault(f"CEL syntax error{at}: {' '.join(reason.split())[:120] or 'unreadable'}.")


def _name_fault(program: Any, words: _Contents, variables: Sequence[str]) -> Fault:
    for name in program.variables():
        if name not in (*variables, *words.bound):
            hint = did_you_mean(name, variables) or f" Write context.{name}?"
            remedy = f"{hint} Available: {', '.join(variables)}."
            return Fault(f"the name '{name}' is unknown.", remedy=remedy)
    for name in program.functions():
        if name[:1].isalpha() and name not in FUNCTIONS:
            hint = did_you_mean(name, FUNCTIONS)
            remedy = f"{hint} Available: {', '.join(FUNCTIONS)}, has."
            return Fault(f"the function '{name}' is unknown.", remedy=remedy)
    return Fault("")


def _pattern_fault(words: _Contents) -> Fault:
    """Judge the patterns once, here: what is written in quotes cannot be wrong in a turn."""
    most = MOST_PATTERN // 10 if words.macros else MOST_PATTERN
    size = 0
    for pattern in words.patterns:
        try:
            size += _pattern_size(_library().evaluate(pattern))
            if size > most:
                said = f"{pattern:.60} is too large."
                return Fault(said, remedy="Repeat less, or decide it in a tool.")
            _library().evaluate(f"''.matches({pattern})")
        except (ValueError, RuntimeError, TypeError):
            said = f"{pattern:.60} is not a valid regular expression (RE2)."
            return Fault(said)
    return Fault("")


def _library() -> ModuleType:
    require_extra("files", "An expression in a file", "cel")
    import cel  # noqa: PLC0415 - an extra

    return cel


@lru_cache(maxsize=4096)
def _compiled(text: str) -> tuple[Any, _Contents]:
    return _library().compile(text), _contents(text)


def _read(words: _Contents, context: Mapping[str, Any]) -> dict[str, Any]:
    if words.names is None:
        return dict(context)
    return {name: context[name] for name in words.names if name in context}


def _is_over(limit: int, value: Any) -> bool:
    """Return whether a value holds more than so many values, without counting them all."""
    waiting, count = [value], 0
    while waiting and count <= limit:
        at = waiting.pop()
        count += 1 + (len(at) // _SIGNS_A_VALUE if isinstance(at, str) else 0)
        if isinstance(at, Mapping):
            at = list(islice(at.values(), limit + 1))
        if isinstance(at, (list, tuple)):
            waiting += at[: limit + 1]
    return count > limit
