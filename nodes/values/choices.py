"""Values of an enum, as declared, by their place or nearly so; yes and no."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache, lru_cache
from types import SimpleNamespace

from rapidfuzz.distance import OSA

from journeys.notions.fields import Field
from nodes.values.numbers import numeral_of, ordinals_of
from nodes.values.scanning import (
    Hit,
    Setting,
    Vocabulary,
    apart,
    compiled,
    everywhere,
    folded,
    grammar,
    literal,
    vocabulary,
    words_in,
)

_SHORT, _LONG = 4, 8
_MOST_PLACES = 5
_TOKEN = re.compile(r"[^\W_]+(?:['\u2019-][^\W_]+)*")


@cache
def _grammar(words: Vocabulary) -> SimpleNamespace:
    own = words.ordinals
    places = {word for word, place in ordinals_of(words).items() if place <= _MOST_PLACES}
    numerals = [w for each in words.languages for w in each.numbers.units[1 : _MOST_PLACES + 1]]
    last = frozenset([word + end for word in own.last for end in ("", *own.endings)])
    known = grammar("ordinals", words, place=literal([*places, *last, *numerals]))
    known.last = last
    return known


@cache
def _answers(words: Vocabulary) -> SimpleNamespace:
    known = everywhere()
    return grammar("yes_no", words, yes_everywhere=known.yes, no_everywhere=known.no)


def scan_choices(text: str, field: Field, setting: Setting) -> list[Hit]:
    """Find declared values and their further spellings; then places; then what is nearly one."""
    ways, patterns = _ways(tuple(field.ways.items()))
    hits = []
    for pattern, value in patterns:
        hits += [Hit(found.start(), found.end(), value) for found in pattern.finditer(text)]
    if hits:
        longer = [way for way in ways if way[1] > 1]
        return apart([*hits, *_nearly(text, longer)])
    return _placed(text, field, setting) or _nearly(text, ways)


@lru_cache(maxsize=1_000)
def _ways(
    declared: tuple[tuple[str, tuple[str, ...]], ...],
) -> tuple[list[tuple[str, int, str]], list[tuple[re.Pattern[str], str]]]:
    """Return how each value may be said, in how many words; what stands for two says neither."""
    ways: dict[str, set[str]] = {}
    for value, others in declared:
        spelled = value.replace("_", " ").replace("-", " ")
        for said in (value, spelled, *others):
            plain = folded(said).strip()
            for spelled_so in {plain.casefold(), plain.lower()}:
                ways.setdefault(spelled_so, set()).add(value)
    plainly = {said: next(iter(of)) for said, of in ways.items() if said and len(of) == 1}
    patterns: dict[str, list[str]] = {}
    for said, value in plainly.items():
        spaced = r"[\s_-]+".join(re.escape(part) for part in said.split())
        patterns.setdefault(value, []).append(spaced)
    return [(said, len(words_in(said)), value) for said, value in plainly.items()], [
        (compiled(rf"(?<!\w)(?:{_longest(said)})(?:s|es)?(?!\w)"), value)
        for value, said in patterns.items()
    ]


def _longest(said: list[str]) -> str:
    return "|".join(sorted(said, key=len, reverse=True))


def _placed(text: str, field: Field, setting: Setting) -> list[Hit]:
    values, words = list(field.ways), vocabulary(setting.language)
    own, known, hits = _grammar(words), ordinals_of(words), []
    for found in own.place.finditer(text):
        word = found["word"].casefold()
        place = known.get(word) or numeral_of(word, words) or numeral_of(word[:1], words) or 0
        if word in own.last:
            place = len(values)
        if 0 < place <= len(values):
            hits.append(Hit(found.start(), found.end(), values[place - 1], False))
    return apart(hits)


def _nearly(text: str, ways: Sequence[tuple[str, int, str]]) -> list[Hit]:
    """Return the one value that words of a text differ from by a slip of the hand."""
    hits: list[Hit] = []
    words = list(_TOKEN.finditer(text))[:40]
    for said, count, value in ways:
        most = 0 if len(said) < _SHORT else 1 if len(said) < _LONG else 2
        if not most:
            continue
        for at in range(len(words) - max(1, count) + 1):
            start, end = words[at].start(), words[at + max(1, count) - 1].end()
            near = text[start:end].casefold()
            if near[0] == said[0] and OSA.distance(near, said, score_cutoff=most) <= most:
                hits.append(Hit(start, end, value, False))
    return hits if len({hit.value for hit in hits}) == 1 else []


def scan_booleans(text: str, field: Field, setting: Setting) -> list[Hit]:
    """Find yes and no; a 1 or 0 counts only alone."""
    alone = text.strip(" .!")
    if alone in ("1", "0"):
        start = text.index(alone)
        return [Hit(start, start + 1, alone == "1", False)]
    own = _answers(vocabulary(setting.language))
    hits = [
        Hit(found.start(), found.end(), not found["no"], False, found[0].casefold() in own.mild)
        for found in own.either.finditer(text)
    ]
    return [] if not hits or own.unsure.search(text) else apart(hits)
