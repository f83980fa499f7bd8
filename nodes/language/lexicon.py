"""How a language says what is understood without a model: phrases as data, compiled once."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import count
from pathlib import Path

from journeys.languages.data import refuse
from nodes.matching.words import plain

_WORD = re.compile(r"[a-z]{2,}")
GROUP = re.compile(r"\(\?P<([a-z_]+)>")
_NUMBERED = re.compile(r"\(\?P<\w+>")
_BRACKET = re.compile(r"(?<!\\)\((?!\?)")
NAME = re.compile(r"\{([a-z_]+)\}")

SIGNALS = (
    "cancel_all",
    "human",
    "cancel",
    "repeat",
    "wait",
    "restart",
    "back",
    "status",
    "keep",
    "human_alone",
    "give_up",
    "task",
    "skip",
    "lacking",
    "unknown",
    "nothing",
    "explain",
)
"""Names of what is said about the conversation itself."""


@dataclass(frozen=True, slots=True)
class Sayings:
    """The phrases and words of one language, as its file has them.

    Attributes:
        beside: Languages that are understood as well in a conversation in this one.
        phrases: Regular expressions of what is said for one thing, one a line, in small letters and
            without punctuation or apostrophes; `{name}` stands for the phrases of that name.
        parts: Phrases that only others are made of.
        asides: Phrases of the same names that are understood in conversations in other languages.
        words: Words of one use.
        ordinals: Word -> place, counted from 1, or from the end below 0.
        type_words: Type of a field -> what values of it are called.
        leads: Type of a field -> words that stand right before a value of it.
        concepts: Words of one thing that is counted or measured.
        source: The file, for whoever is told of a fault in it.
    """

    beside: tuple[str, ...]
    phrases: Mapping[str, str]
    parts: Mapping[str, str]
    asides: Mapping[str, str]
    words: Mapping[str, str]
    ordinals: Mapping[str, int]
    type_words: Mapping[str, str]
    leads: Mapping[str, str]
    concepts: tuple[str, ...]
    source: Path
    _lines: dict[str, list[str]] = field(default_factory=dict, repr=False)

    def lines(self, name: str) -> list[str]:
        """Return the phrases of a name as regular expressions, with all others put in."""
        if name not in self._lines:
            self._lines[name] = [_folded(line, self) for line in lines_of(self.phrases[name])]
        return self._lines[name]

    def aside(self, name: str) -> str:
        """Return the phrases of a name that others understand, as one regular expression."""
        said = [_folded(line, self) for line in lines_of(self.asides[name])]
        return _any(said) + _more([*said, *self.lines("filler")])

    def try_out(self, name: str) -> None:
        """Compile the phrases of a name one by one.

        Raises:
            ConfigurationError: One of them is no regular expression.
        """
        for line in lines_of(self.phrases[name]):
            try:
                re.compile(_numbered(_folded(line, self)))
            except re.error as error:
                fault = f"phrases.{name}: '{line}' is no regular expression: {error}. Mend it."
                refuse(self.source, [fault])


@dataclass(frozen=True, eq=False)
class Lexicon:
    """The sayings of one or more languages, ready to be looked for.

    Args:
        languages: The sayings; those of the first language come first.
        others: Languages of which only asides are understood, as a whole message or clause.
    """

    languages: tuple[Sayings, ...]
    others: tuple[Sayings, ...] = ()
    ordinals: dict[str, int] = field(init=False)
    type_words: dict[str, frozenset[str]] = field(init=False)
    leads: dict[str, frozenset[str]] = field(init=False)
    concepts: tuple[frozenset[str], ...] = field(init=False)
    vocabulary: frozenset[str] = field(init=False)
    words: Callable[[str], frozenset[str]] = field(init=False)
    forms: Callable[[str], list[re.Pattern[str]]] = field(init=False)
    _sources: dict[str, str] = field(init=False, default_factory=dict)
    _compiled: dict[str, re.Pattern[str]] = field(init=False, default_factory=dict)
    _asides: dict[str, re.Pattern[str]] = field(init=False, default_factory=dict)
    _joined: dict[tuple[str, ...], re.Pattern[str]] = field(init=False, default_factory=dict)
    _forms: dict[str, list[re.Pattern[str]]] = field(init=False, default_factory=dict)
    _words: dict[str, frozenset[str]] = field(init=False)

    def __post_init__(self) -> None:
        names = sorted(self.languages[0].phrases)
        lines = {name: [x for each in self.languages for x in each.lines(name)] for name in names}
        filler = _any(lines["filler"])
        for name, own in lines.items():
            if name.startswith("form_"):
                self._forms[name] = [self._tried(name, line) for line in own]
                continue
            said = _any(own)
            # What names a part, as "cancel the ...", is said once; "no, no, thanks" may go on.
            again = lines["filler"] if "(?P<" in said else [*own, *lines["filler"]]
            self._sources[name] = _numbered(rf"(?:{filler} )*{said}{_more(again)}(?= |$)")
        for name in self.others[0].asides if self.others else ():
            said = "|".join(each.aside(name) for each in self.others)
            self._asides[name] = re.compile(said)
        keep = object.__setattr__
        keep(self, "_words", _joined([each.words for each in self.languages]))
        keep(self, "words", self._words.__getitem__)
        keep(self, "forms", self._forms.__getitem__)
        keep(self, "type_words", _joined([each.type_words for each in self.languages]))
        keep(self, "leads", _joined([each.leads for each in self.languages]))
        concepts = (text for each in self.languages for text in each.concepts)
        keep(self, "concepts", tuple(frozenset(plain(text).split()) for text in concepts))
        ordinals = {plain(w): n for each in self.languages for w, n in each.ordinals.items()}
        keep(self, "ordinals", ordinals)
        said_words = {w for own in lines.values() for line in own for w in _WORD.findall(line)}
        keep(self, "vocabulary", frozenset(said_words.union(ordinals, *self._words.values())))

    def says(self, name: str, said: str) -> bool:
        """Whether that is all that is said, but for words that say nothing."""
        found = (self._compiled.get(name) or self._pattern(name)).fullmatch(said)
        return found is not None or name in self._aside(said)

    def says_any(self, names: tuple[str, ...], said: str) -> bool:
        """Whether one of several is all that is said; where none is, none is looked for."""
        joined = self._joined.get(names)
        if joined is None:
            sources = [_NUMBERED.sub("(?:", self._sources[name]) for name in names]
            joined = self._joined[names] = re.compile("|".join(sources))
        return joined.fullmatch(said) is not None or not self._aside(said).isdisjoint(names)

    def part(self, name: str, said: str, group: str) -> str | None:
        """Return a named part of what is said, "" if it is left out; None if that is not said."""
        found = (self._compiled.get(name) or self._pattern(name)).fullmatch(said)
        if found is None:
            return None
        parts = found.groupdict().items()
        return next((text for key, text in parts if text and key.startswith(group)), "")

    def begins(self, name: str, said: str) -> int:
        """Return where what is said first ends, if it is this; else 0."""
        found = (self._compiled.get(name) or self._pattern(name)).match(said)
        if found is not None:
            return found.end()
        return len(said) if name in self._aside(said) else 0

    @lru_cache(maxsize=64)  # noqa: B019  a lexicon lives as long as the process
    def _aside(self, said: str) -> frozenset[str]:
        """Return the names of what is said in another language, in words that are none of this."""
        if " " not in said and said in self.vocabulary:
            return frozenset()
        return frozenset([name for name, own in self._asides.items() if own.fullmatch(said)])

    def load(self) -> None:
        """Compile all patterns; without it, each is when it is first looked for."""
        for name in self._sources:
            self._pattern(name)
        self.says_any(SIGNALS, "")

    def _pattern(self, name: str) -> re.Pattern[str]:
        """Return a pattern, compiled when it is first looked for."""
        if name not in self._compiled:
            self._compiled[name] = self._tried(name, self._sources[name])
        return self._compiled[name]

    def _tried(self, name: str, pattern: str) -> re.Pattern[str]:
        try:
            return re.compile(pattern)
        except re.error:
            for each in self.languages:
                each.try_out(name)
            raise


def _folded(line: str, sayings: Sayings) -> str:
    """Return a phrase without marks, with the phrases of a name put in its place."""

    def spelled(found: re.Match[str]) -> str:
        own = sayings.phrases.get(found[1]) or sayings.parts[found[1]]
        return _any([_folded(each, sayings) for each in lines_of(own)])

    # Brackets only group: what is taken for good cannot be captured in all releases of Python 3.11.
    bare = _BRACKET.sub("(?:", plain(line).replace("(?p<", "(?P<"))
    return NAME.sub(spelled, bare)


def lines_of(text: str) -> list[str]:
    """Return the lines of phrases; one that is indented goes on with the one before."""
    lines: list[str] = []
    for line in text.splitlines():
        if line.startswith(" ") and lines:
            lines[-1] += line.lstrip()
        elif line.strip():
            lines.append(line)
    return lines


def _numbered(pattern: str) -> str:
    """Return a pattern in which groups of one name, in several phrases, are told apart."""
    number = count()
    return GROUP.sub(lambda found: f"(?P<{found[1]}_{next(number)}>", pattern)


def _any(lines: list[str]) -> str:
    """Return what matches any of the phrases, each of which stands there once."""
    phrases = dict.fromkeys(phrase for line in lines for phrase in _phrases_of(line))
    return f"(?:{'|'.join(phrases)})" if phrases else "(?!)"  # nothing is said so


def _more(lines: list[str]) -> str:
    """Return what matches any number of the phrases behind others, the longest first.

    What is taken is never given back, so that no message is slow to read.
    """
    phrases = {phrase for line in lines for phrase in _phrases_of(line)}
    longest = sorted(phrases, key=lambda phrase: (-len(phrase), phrase))
    return f"(?: {_any(longest)}(?= |$))*+"


def _phrases_of(line: str) -> list[str]:
    """Return the phrases of a line, which a | parts outside of brackets."""
    phrases, depth = [""], 0
    for sign in line:
        depth += (sign in "([") - (sign in ")]")
        if sign == "|" and not depth:
            phrases.append("")
        else:
            phrases[-1] += sign
    return phrases


def _joined(tables: list[Mapping[str, str]]) -> dict[str, frozenset[str]]:
    names = dict.fromkeys(name for table in tables for name in table)
    return {
        name: frozenset(word for table in tables for word in plain(table.get(name, "")).split())
        for name in names
    }
