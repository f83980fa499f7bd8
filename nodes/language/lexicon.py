"""The lexicon of a language: phrases from a data file, compiled once."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, lru_cache
from itertools import count
from pathlib import Path
from typing import Any

from journeys.languages.data import name_faults, read_data, refuse, text_faults
from journeys.locale import LANGUAGES
from journeys.phrases.patterns import plain
from nodes.values import make_ready

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
        spellings: Word -> how it is written in haste, too.
        source: The file, for faults in it.
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
    spellings: Mapping[str, str]
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


class Lexicon:
    """The sayings of one or more languages, ready to be looked for.

    Args:
        languages: The sayings; those of the first language come first.
        others: Languages of which only asides are understood, as a whole message or clause.
    """

    def __init__(self, languages: tuple[Sayings, ...], others: tuple[Sayings, ...] = ()) -> None:
        self.languages = languages
        self._sources: dict[str, str] = {}
        self._compiled: dict[str, re.Pattern[str]] = {}
        self._joined: dict[tuple[str, ...], re.Pattern[str]] = {}
        forms: dict[str, list[re.Pattern[str]]] = {}
        names = sorted(languages[0].phrases)
        lines = {name: [x for each in languages for x in each.lines(name)] for name in names}
        filler = _any(lines["filler"])
        for name, own in lines.items():
            if name.startswith("form_"):
                forms[name] = [self._tried(name, line) for line in own]
                continue
            said = _any(own)
            # What names a part, as "cancel the ...", is said once; "no, no, thanks" may go on.
            again = lines["filler"] if "(?P<" in said else [*own, *lines["filler"]]
            self._sources[name] = _numbered(rf"(?:{filler} )*{said}{_more(again)}(?= |$)")
        asides = others[0].asides if others else ()
        self._asides = {
            name: re.compile("|".join(each.aside(name) for each in others)) for name in asides
        }
        words = _joined([each.words for each in languages])
        self.words, self.forms = words.__getitem__, forms.__getitem__
        self.type_words = _joined([each.type_words for each in languages])
        self.leads = _joined([each.leads for each in languages])
        self.spellings = {
            plain(short): plain(written)
            for each in languages
            for written, all_ in each.spellings.items()
            for short in all_.split()
        }
        concepts = (text for each in languages for text in each.concepts)
        self.concepts = tuple([frozenset(plain(text).split()) for text in concepts])
        self.ordinals = {plain(w): n for each in languages for w, n in each.ordinals.items()}
        said_words = {w for own in lines.values() for line in own for w in _WORD.findall(line)}
        self.vocabulary = frozenset(said_words.union(self.ordinals, *words.values()))

    def says(self, name: str, said: str) -> bool:
        """Return whether that is all that is said, but for words that say nothing."""
        found = (self._compiled.get(name) or self._pattern(name)).fullmatch(said)
        return found is not None or name in self._aside(said)

    def says_any(self, names: tuple[str, ...], said: str) -> bool:
        """Return whether one of several is all that is said; if none is, none is looked for."""
        joined = self._joined.get(names)
        if joined is None:
            sources = [_NUMBERED.sub("(?:", self._sources[name]) for name in names]
            joined = self._joined[names] = re.compile("|".join(sources))
        return joined.fullmatch(said) is not None or not self._aside(said).isdisjoint(names)

    def part(self, name: str, said: str, group: str) -> str | None:
        """Return a named part of what is said, "" if it is omitted; None if that is not said."""
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
        """Return the names of short phrases of another language, without words of this one."""
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


DATA = Path(__file__).with_name("data")
_REFERENCE = "en"
_SECTIONS = (
    *("phrases", "parts", "asides", "words", "ordinals", "type_words", "leads", "concepts"),
    "spellings",
)
_OWN = ("parts", "ordinals", "concepts", "spellings")
"""Sections in which each language has names of its own."""

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
    data = read_data(path)
    refuse(path, name_faults("", data, ("beside", *_SECTIONS), all_of_them=True))
    refuse(path, _shape_faults(data))
    refuse(path, _beside_faults(data["beside"]))
    reference = None if path == DATA / f"{_REFERENCE}.yaml" else sayings_of(_REFERENCE)
    phrases = {**data["parts"], **data["phrases"]}
    refuse(path, [*_faults(data, reference), *_break_faults(data), *_part_faults(phrases)])
    refuse(path, _unused(data))
    ordinals = {w: place for place, words in data["ordinals"].items() for w in str(words).split()}
    concepts = tuple(data["concepts"])
    read = {"beside": tuple(data["beside"]), "ordinals": ordinals, "concepts": concepts}
    made = Sayings(**{**data, **read, "source": path})
    refuse(path, _group_faults(made, reference) if reference else ())
    return made


def _shape_faults(data: Mapping[str, Any]) -> Iterator[str]:
    for section in _SECTIONS:
        wanted = list if section == "concepts" else dict
        if not isinstance(data[section], wanted):
            shape = "a list: '- words'" if wanted is list else "a mapping: 'name: words'"
            yield f"{section}: must be {shape}. Write it so."


def _beside_faults(beside: Any) -> Iterator[str]:
    known = ", ".join(LANGUAGES)
    for each in beside if isinstance(beside, list) else [beside]:
        if not isinstance(beside, list) or each not in LANGUAGES:
            yield f"beside: {each!r} is not a language. Write a list of some of {known}, or []."


def _faults(data: Mapping[str, Any], reference: Sayings | None) -> Iterator[str]:
    for section in _SECTIONS:
        if section not in ("ordinals", "concepts"):
            yield from text_faults(section, data[section])
        if reference and section not in _OWN:
            known = getattr(reference, section)
            yield from name_faults(section, data[section], known, all_of_them=True)
    for place in data["ordinals"]:
        if not isinstance(place, int) or isinstance(place, bool) or not place:
            yield f"ordinals.{place}: is not a place. Write a number from 1, or -1 for the last."
    for number, words in enumerate(data["concepts"], start=1):
        if not isinstance(words, str):
            yield f"concepts.{number}: is not text. Write the words in one line."


def _break_faults(data: Mapping[str, Any]) -> Iterator[str]:
    """Say which phrases go on in a line that would lose the blank before it."""
    for section in ("phrases", "parts", "asides"):
        for name, text in data[section].items():
            for line in str(text).splitlines():
                if line.startswith(" ") and line.lstrip()[:1] not in "|)":
                    yield (
                        f"{section}.{name}: the line '{line.strip()}' is incomplete. Break "
                        f"it at a | or )."
                    )


def _part_faults(phrases: Mapping[str, Any]) -> Iterator[str]:
    """Say which `{name}` stands for nothing, or for itself."""
    for entry, text in phrases.items():
        for name in dict.fromkeys(NAME.findall(str(text))):
            if name not in phrases:
                yield f"{entry}: {{{name}}} is not defined. Add '{name}' under parts."
            elif entry in _within(name, phrases):
                yield f"{entry}: {{{name}}} refers back to '{entry}'. Write its phrases without it."


def _within(name: str, phrases: Mapping[str, Any]) -> set[str]:
    """Return all names that a name is made of, and the name itself."""
    found, waiting = set[str](), [name]
    while waiting:
        if (each := waiting.pop()) not in found:
            found.add(each)
            waiting += NAME.findall(str(phrases.get(each, "")))
    return found


def _unused(data: Mapping[str, Any]) -> Iterator[str]:
    texts = " ".join([*data["phrases"].values(), *data["parts"].values()])
    used = set(NAME.findall(texts))
    for name in data["parts"]:
        if name in data["phrases"]:
            yield f"parts.{name}: also exists under phrases. Keep one of the two."
        elif name not in used:
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
