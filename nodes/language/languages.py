"""The languages that are understood without a model: each is a file of `data`."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from journeys.languages.data import name_faults, read_data, refuse, text_faults
from journeys.locale import LANGUAGES
from nodes.language.lexicon import GROUP, NAME, Lexicon, Sayings
from nodes.values import make_ready

DATA = Path(__file__).with_name("data")
_REFERENCE = "en"
_SECTIONS = ("phrases", "parts", "asides", "words", "ordinals", "type_words", "leads", "concepts")
_OWN = ("parts", "ordinals", "concepts")
"""Sections in which each language has names of its own."""

_LOADED: set[str] = set()


def load(language: str) -> None:
    """Make ready to read a language, which takes up to a second; else the first messages wait."""
    lexicon_of(language).load()
    make_ready(language)
    _LOADED.add(language)


async def ready_to_read(language: str) -> None:
    """Load a language that was not loaded yet, beside the loop: others would wait for it."""
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
            yield f"beside: {each!r} is no language. Write a list of some of {known}, or []."


def _faults(data: Mapping[str, Any], reference: Sayings | None) -> Iterator[str]:
    for section in _SECTIONS:
        if section not in ("ordinals", "concepts"):
            yield from text_faults(section, data[section])
        if reference and section not in _OWN:
            known = getattr(reference, section)
            yield from name_faults(section, data[section], known, all_of_them=True)
    for place in data["ordinals"]:
        if not isinstance(place, int) or isinstance(place, bool) or not place:
            yield f"ordinals.{place}: is no place. Write a number from 1, or -1 for the last."
    for number, words in enumerate(data["concepts"], start=1):
        if not isinstance(words, str):
            yield f"concepts.{number}: is no text. Write the words in one line."


def _break_faults(data: Mapping[str, Any]) -> Iterator[str]:
    """Say which phrases go on in a line that would lose the blank before it."""
    for section in ("phrases", "parts", "asides"):
        for name, text in data[section].items():
            for line in str(text).splitlines():
                if line.startswith(" ") and line.lstrip()[:1] not in "|)":
                    yield f"{section}.{name}: '{line.strip()}' goes on. Break the line at a | or )."


def _part_faults(phrases: Mapping[str, Any]) -> Iterator[str]:
    """Say which `{name}` stands for nothing, or for itself."""
    for entry, text in phrases.items():
        for name in dict.fromkeys(NAME.findall(str(text))):
            if name not in phrases:
                yield f"{entry}: {{{name}}} stands for nothing. Add '{name}' under parts."
            elif entry in _within(name, phrases):
                yield f"{entry}: {{{name}}} leads back to '{entry}'. Write its phrases out."


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
            yield f"parts.{name}: is under phrases too. Keep one of the two."
        elif name not in used:
            yield f"parts.{name}: is not used by any phrase. Take it out."


def _group_faults(sayings: Sayings, reference: Sayings) -> Iterator[str]:
    """Say which phrases name other parts of a sentence than those that are read."""
    for name in sayings.phrases:
        known = {frozenset(GROUP.findall(line)) for line in reference.lines(name)}
        for line in sayings.lines(name):
            if (groups := frozenset(GROUP.findall(line))) not in known:
                given = ", ".join(sorted(groups)) or "nothing"
                wanted = " or ".join(sorted(", ".join(sorted(each)) or "nothing" for each in known))
                yield f"phrases.{name}: '{line}' names {given}. Name {wanted} by (?P<name>...)."
