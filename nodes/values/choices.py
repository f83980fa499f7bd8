"""Values of an enum, as declared, by their place or nearly so; yes and no."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache, lru_cache
from types import SimpleNamespace

from rapidfuzz.distance import OSA

from journeys.notions.fields import Field
from nodes.values.numbers import numbers_of, numeral_of
from nodes.values.scanning import (
    Hit,
    Setting,
    Vocabulary,
    apart,
    compiled,
    folded,
    grammar,
    literal,
    words_in,
)

_SHORT, _LONG = 4, 8
_MOST_PLACES = 5
_TOKEN = re.compile(r"[^\W_]+(?:['\u2019-][^\W_]+)*")


@cache
def _grammar(words: Vocabulary) -> SimpleNamespace:
    own = words.ordinals
    places = [word for word, at in numbers_of(words).ordinals.items() if at <= _MOST_PLACES]
    numerals = [w for each in words.languages for w in each.numbers.units[1 : _MOST_PLACES + 1]]
    last = frozenset([word + end for word in own.last for end in ("", *own.endings)])
    known = grammar("ordinals", words, place=literal(places, last, numerals))
    known.last = last
    return known


def scan_choices(text: str, field: Field, setting: Setting) -> list[Hit]:
    """Find declared values and their further spellings; then places; then what is nearly one."""
    ways, patterns = _ways(tuple(field.ways.items()))
    hits = [Hit.of(found, value) for form, value in patterns for found in form.finditer(text)]
    if hits:
        return apart([*hits, *_nearly(text, [way for way in ways if way[1] > 1])])
    return _placed(text, field, setting) or _nearly(text, ways)


@lru_cache(maxsize=1_000)
def _ways(
    declared: tuple[tuple[str, tuple[str, ...]], ...],
) -> tuple[list[tuple[str, int, str]], list[tuple[re.Pattern[str], str]]]:
    """Return the ways to write each value, by number of words; an ambiguous one is omitted."""
    ways: dict[str, set[str]] = {}
    for value, others in declared:
        for said in (value, value.replace("_", " ").replace("-", " "), *others):
            plain = folded(said).strip()
            for spelled in {plain.casefold(), plain.lower()}:
                ways.setdefault(spelled, set()).add(value)
    plainly = [(said, *of) for said, of in ways.items() if said and len(of) == 1]
    patterns: dict[str, list[str]] = {}
    for said, value in sorted(plainly, key=lambda way: -len(way[0])):
        spaced = r"[\s_-]+".join(re.escape(part) for part in said.split())
        patterns.setdefault(value, []).append(spaced)
    return [(said, len(words_in(said)), value) for said, value in plainly], [
        (compiled(rf"(?<!\w)(?:{'|'.join(said)})(?:s|es)?(?!\w)"), value)
        for value, said in patterns.items()
    ]


def _placed(text: str, field: Field, setting: Setting) -> list[Hit]:
    values, words = list(field.ways), setting.words
    own, known, hits = _grammar(words), numbers_of(words).ordinals, []
    for found in own.place.finditer(text):
        word = found["word"].casefold()
        place = known.get(word) or numeral_of(word, words) or numeral_of(word[:1], words) or 0
        if word in own.last:
            place = len(values)
        if 0 < place <= len(values):
            hits.append(Hit.of(found, values[place - 1], False))
    return apart(hits)


def _nearly(text: str, ways: Sequence[tuple[str, int, str]]) -> list[Hit]:
    """Return the one value that words of a text differ from by a slip of the hand."""
    hits: list[Hit] = []
    words = list(_TOKEN.finditer(text))[:40]
    for said, count, value in ways:
        most = (len(said) >= _SHORT) + (len(said) >= _LONG)
        for first, last in zip(words, words[max(1, count) - 1 :], strict=False):
            near = text[first.start() : last.end()].casefold()
            if most and near[0] == said[0] and OSA.distance(near, said, score_cutoff=most) <= most:
                hits.append(Hit(first.start(), last.end(), value, False))
    return hits if len({hit.value for hit in hits}) == 1 else []


def scan_booleans(text: str, field: Field, setting: Setting) -> list[Hit]:
    """Find yes and no; a 1 or 0 counts only alone."""
    alone = text.strip(" .!")
    if alone in ("1", "0"):
        start = text.index(alone)
        return [Hit(start, start + 1, alone == "1", False)]
    own = grammar("yes_no", setting.words)
    hits = [
        Hit.of(found, not found["no"], False, found[0].casefold() in own.mild)
        for found in own.either.finditer(text)
    ]
    return [] if not hits or own.unsure.search(text) else apart(hits)
