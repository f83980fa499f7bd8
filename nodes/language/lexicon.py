"""The lexicon of a language: phrases from a data file, compiled once."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache, lru_cache
from graphlib import CycleError, TopologicalSorter
from itertools import count
from operator import methodcaller
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, PrivateAttr

from journeygraph.journeys.languages.data import name_faults, read_as, refuse
from journeygraph.journeys.locale import LANGUAGES
from journeygraph.journeys.phrases import plain
from journeygraph.nodes.values import make_ready
from journeygraph.nodes.values.scanning import any_of, filled, grouped, longest_first, named_in

_WORD = re.compile(r"[a-z]{2,}")
GROUP = re.compile(r"\(\?P<([a-z_]+)>")
_BROKEN_AT_SIGN, _BROKEN = re.compile(r"(?:\n +)+(?=[|)])"), re.compile(r"(?:\n +)+")


class Sayings(BaseModel):
    """The phrases and words of one language; the beginning of `data/en.yaml` explains each."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, defer_build=True)

    beside: list[str]
    phrases: dict[str, str]
    parts: dict[str, str]
    asides: dict[str, str]
    words: dict[str, str]
    ordinals: dict[int, str]
    type_words: dict[str, str]
    leads: dict[str, str]
    concepts: list[str]
    spellings: dict[str, str]
    _source: Path
    _lines: dict[str, list[str]] = PrivateAttr(default_factory=dict)

    def lines(self, name: str) -> list[str]:
        """Return the phrases of a name as regular expressions, with all others put in."""
        if name not in self._lines:
            self._lines[name] = [_folded(line, self) for line in phrases_of(self.phrases[name])]
        return self._lines[name]

    def aside(self, name: str) -> str:
        """Return the phrases of a name that others understand, as one regular expression."""
        said = [_folded(phrase, self) for phrase in phrases_of(self.asides[name])]
        return any_of(said) + _more([*said, *self.lines("filler")])

    def try_out(self, name: str) -> None:
        """Compile the phrases of a name one by one.

        Raises:
            ConfigurationError: One of them is not a valid regular expression.
        """
        for line in phrases_of(self.phrases[name]):
            try:
                re.compile(_numbered(_folded(line, self)))
            except re.error as error:
                at = f"phrases.{name}"
                fault = f"{at}: '{line}' is not a valid regular expression: {error}. Correct it."
                refuse(self._source, [fault])


class Lexicon:
    """The sayings of one or more languages, ready to be looked for.

    Args:
        languages: The sayings; those of the first language come first.
        others: Languages with only asides, which are understood as a whole message or clause.
    """

    def __init__(self, languages: tuple[Sayings, ...], others: tuple[Sayings, ...] = ()) -> None:
        self.languages = languages
        self._lines = {
            name: [line for each in languages for line in each.lines(name)]
            for name in languages[0].phrases
        }
        self._asides = {
            name: re.compile("|".join(each.aside(name) for each in others))
            for name in (others[0].asides if others else ())
        }
        self._words = _joined([each.words for each in languages])
        self.type_words = _joined([each.type_words for each in languages])
        self.leads = _joined([each.leads for each in languages])
        spellings = [{plain(k): v for k, v in each.spellings.items()} for each in languages]
        self.spellings: dict[str, str] = _by_word(spellings)
        concepts = [text for each in languages for text in each.concepts]
        self.concepts = tuple([frozenset(plain(text).split()) for text in concepts])
        self.ordinals: dict[str, int] = _by_word([each.ordinals for each in languages])
        lines = "\n".join([line for own in self._lines.values() for line in own])
        said_words = frozenset(_WORD.findall(lines))
        self.vocabulary = said_words.union(self.ordinals, *self._words.values())

    def says(self, said: str, *names: str) -> bool:
        """Return whether words are only a phrase of one of several names, apart from filler."""
        for name in names:
            if self._pattern(name).fullmatch(said):
                return True
        return not self._aside(said).isdisjoint(names)

    def begins(self, said: str, *names: str) -> int:
        """Return how many of the words are the longest phrase that they begin with; else 0."""
        end = 0
        for name in names:
            if found := self._pattern(name).match(said):
                end = max(end, found.end())
        if not end and not self._aside(said).isdisjoint(names):
            end = len(said)
        return said.count(" ", 0, end) + 1 if end else 0

    def part(self, name: str, said: str) -> str | None:
        """Return the part that a phrase names, "" if it is omitted; None without a phrase."""
        found = self._pattern(name).fullmatch(said)
        return next(filter(None, found.groups()), "") if found else None

    def matches(self, name: str, marked: str) -> list[re.Match[str]]:
        """Return how each form of a name that fits all of some words does."""
        return list(filter(None, map(methodcaller("fullmatch", marked), self.forms(name))))

    @cache  # noqa: B019  a lexicon lives as long as the process
    def words(self, *uses: str) -> frozenset[str]:
        """Return the words that have one of these uses."""
        return frozenset().union(*map(self._words.__getitem__, uses))

    @cache  # noqa: B019
    def forms(self, name: str) -> list[re.Pattern[str]]:
        """Return the phrases of a name one by one, compiled when they are first looked for."""
        return [self._compiled(name, line) for line in self._lines[name]]

    @cache  # noqa: B019
    def _pattern(self, name: str) -> re.Pattern[str]:
        """Return the phrases of a name as one pattern, compiled when it is first looked for."""
        own, filler = self._lines[name], self._lines["filler"]
        said = any_of(own)
        if not name.startswith("form_"):
            # What names a part, as "cancel the ...", is said once; "no, no, thanks" may go on.
            again = filler if "(?P<" in said else [*own, *filler]
            said = rf"(?:{any_of(filler)} )*{said}{_more(again)}(?= |$)"
        return self._compiled(name, _numbered(said))

    def _compiled(self, name: str, pattern: str) -> re.Pattern[str]:
        try:
            return re.compile(pattern)
        except re.error:
            for each in self.languages:
                each.try_out(name)
            raise

    @lru_cache(maxsize=64)  # noqa: B019
    def _aside(self, said: str) -> frozenset[str]:
        """Return the names of short phrases of another language, without words of this one."""
        if " " not in said and said in self.vocabulary:
            return frozenset()
        return frozenset([name for name, own in self._asides.items() if own.fullmatch(said)])

    def load(self) -> None:
        """Compile all patterns; without it, each is when it is first looked for."""
        for name in self._lines:
            self._pattern(name)
            if name.startswith("form_"):
                self.forms(name)


def _folded(phrase: str, sayings: Sayings) -> str:
    """Return a phrase without marks, with the phrases of a name put in its place."""

    def spelled(name: str) -> str:
        own = sayings.phrases.get(name) or sayings.parts[name]
        return any_of([_folded(each, sayings) for each in phrases_of(own)])

    return filled(grouped(plain(phrase).replace("(?p<", "(?P<")), spelled)


def phrases_of(text: str) -> list[str]:
    """Return the phrases of a text: one a line, or several with a | outside of brackets between.

    An indented line continues the line before.
    """
    phrases, depth = [""], 0
    for sign in _BROKEN.sub(" ", _BROKEN_AT_SIGN.sub("", text)):
        depth += (sign in "([") - (sign in ")]")
        if sign == "\n" or (sign == "|" and not depth):
            phrases.append("")
        else:
            phrases[-1] += sign
    return [phrase for phrase in phrases if phrase.strip()]


def _numbered(pattern: str) -> str:
    """Return a pattern that distinguishes groups with one name in several phrases."""
    number = count()
    return GROUP.sub(lambda found: f"(?P<{found[1]}_{next(number)}>", pattern)


def _more(phrases: list[str]) -> str:
    """Return what matches any number of the phrases behind others, the longest first.

    What is taken is never given back, so that no message is slow to read.
    """
    return f"(?: {any_of(longest_first(phrases))}(?= |$))*+"


def _by_word(tables: Iterable[Mapping[Any, str]]) -> dict[str, Any]:
    """Return the words of tables, each with the entry that has it."""
    return {
        word: entry for one in tables for entry, said in one.items() for word in plain(said).split()
    }


def _joined(tables: list[Mapping[str, str]]) -> dict[str, frozenset[str]]:
    names = dict.fromkeys(name for table in tables for name in table)
    return {
        name: frozenset(plain(" ".join([t.get(name, "") for t in tables])).split())
        for name in names
    }


DATA = Path(__file__).with_name("data")
_REFERENCE = "en"
_SHARED = ("phrases", "asides", "words", "type_words", "leads")
"""Sections in which each language has the names of English."""

_LOADED: set[str] = set()


def load(language: str) -> None:
    """Make ready to read a language, which takes up to a second; else the first messages wait."""
    lexicon_of(language).load()
    make_ready(language)
    _LOADED.add(language)


async def ready_to_read(language: str) -> None:
    """Load a language in a thread, so that the event loop does not wait."""
    if language not in _LOADED:
        await asyncio.to_thread(load, language)


@cache
def lexicon_of(language: str) -> Lexicon:
    """Return how a language is spoken; of one that is not known, English."""
    known = language[:2].lower()
    if not (DATA / f"{known}.yaml").exists():
        return lexicon_of(_REFERENCE)
    spoken = (known, *sayings_of(known).beside)
    others = (each for each in LANGUAGES if each not in spoken)
    return Lexicon(tuple(map(sayings_of, spoken)), tuple(map(sayings_of, others)))


@cache
def sayings_of(language: str) -> Sayings:
    """Return the phrases and words of a language, from its file, which is read once.

    Raises:
        ConfigurationError: The file has faults; each is named with its entry and the way out.
    """
    return sayings_from(DATA / f"{language}.yaml")


def sayings_from(path: Path) -> Sayings:
    """Return the phrases and words of a file, compared with those of English.

    Regular expressions are tried where they are compiled: in `Lexicon.load`, or by the first
    message that needs them.

    Raises:
        ConfigurationError: The file has faults; each is named with its entry and the way out.
    """
    made = read_as(path, Sayings)
    made._source = path
    reference = made if path == DATA / f"{_REFERENCE}.yaml" else sayings_of(_REFERENCE)
    refuse(path, [*_faults(made, reference), *_reference_faults(made)])
    refuse(path, _group_faults(made, reference))
    return made


def _faults(made: Sayings, reference: Sayings) -> Iterator[str]:
    for name in [name for name in made.beside if name not in LANGUAGES]:
        known = ", ".join(LANGUAGES)
        yield f"beside: {name!r} is not a language. Write a list of some of {known}, or []."
    for section in _SHARED:
        known = getattr(reference, section)
        yield from name_faults(section, getattr(made, section), known, all_of_them=True)


def _reference_faults(made: Sayings) -> Iterator[str]:
    """Report each `{name}` without a meaning or that refers to itself, and each unused part."""
    entries = {**made.parts, **made.phrases}
    used = {entry: named_in(text) for entry, text in entries.items()}
    for entry, names in used.items():
        for name in [name for name in dict.fromkeys(names) if name not in entries]:
            yield f"{entry}: {{{name}}} is not defined. Add '{name}' under parts."
    try:
        TopologicalSorter(used).prepare()
    except CycleError as error:
        name, entry, *_ = error.args[1]
        yield f"{entry}: {{{name}}} refers back to '{entry}'. Write its phrases without it."
    for name in made.parts:
        if name in made.phrases:
            yield f"parts.{name}: also exists under phrases. Keep one of the two."
        elif name not in {name for names in used.values() for name in names}:
            yield f"parts.{name}: is not used by any phrase. Remove it."


def _group_faults(sayings: Sayings, reference: Sayings) -> Iterator[str]:
    """Say which phrases name other parts of a sentence than those that are read."""
    for name in sayings.phrases:
        known = {frozenset(GROUP.findall(line)) for line in reference.lines(name)}
        for line in sayings.lines(name):
            if (groups := frozenset(GROUP.findall(line))) not in known:
                given = ", ".join(sorted(groups)) or "nothing"
                wanted = " or ".join(sorted(", ".join(sorted(each)) or "nothing" for each in known))
                yield f"phrases.{name}: '{line}' names {given}. Name {wanted} by (?P<name>...)."
