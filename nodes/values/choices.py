"""Values of an enum: as declared, in a further spelling, by their place, or nearly so."""

from __future__ import annotations

import re

from rapidfuzz.distance import OSA

from journeys.fields import Field
from nodes.values.scanning import Hit, apart, folded, words_in
from nodes.values.setting import Setting

_ORDINAL = re.compile(
    r"(?<!\w)(?:the|number|option|choice|no\.|nummer|das|die|der|den)\s+(?P<word>first|second"
    r"|third|fourth|fifth|last"
    r"|1st|2nd|3rd|4th|5th|one|two|three|four|five|[1-9]|erste[nrs]?|zweite[nrs]?|dritte[nrs]?"
    r"|vierte[nrs]?"
    r"|fünfte[nrs]?|letzte[nrs]?|eins|zwei|drei|vier|fünf)(?:\s+(?:one|option|choice))?(?!\w)",
    re.IGNORECASE,
)
_PLACES = (
    ("first", "1st", "one", "1", "erste", "eins"),
    ("second", "2nd", "two", "2", "zweite", "zwei"),
    ("third", "3rd", "three", "3", "dritte", "drei"),
    ("fourth", "4th", "four", "4", "vierte", "vier"),
    ("fifth", "5th", "five", "5", "fünfte", "fünf"),
)
_SHORT, _LONG = 4, 8


def scan_choices(text: str, field: Field, setting: Setting) -> list[Hit]:
    """Find declared values and their further spellings; then places; then what is nearly one."""
    ways = _ways(field)
    hits = [hit for said, value in ways.items() for hit in _said(text, said, value)]
    if hits:
        longer = {said: value for said, value in ways.items() if len(words_in(said)) > 1}
        return apart([*hits, *_nearly(text, longer)])
    return _placed(text, field) or _nearly(text, ways)


def _ways(field: Field) -> dict[str, str]:
    """Return how each value may be said; what would stand for two values says neither."""
    ways: dict[str, set[str]] = {}
    for value, others in field.ways.items():
        spelled = value.replace("_", " ").replace("-", " ")
        for said in (value, spelled, *others):
            plain = folded(said).strip()
            for spelled_so in {plain.casefold(), plain.lower()}:
                ways.setdefault(spelled_so, set()).add(value)
    return {said: next(iter(of)) for said, of in ways.items() if said and len(of) == 1}


def _said(text: str, said: str, value: str) -> list[Hit]:
    spaced = r"[\s_-]+".join(re.escape(part) for part in said.split())
    pattern = re.compile(rf"(?<!\w){spaced}(?:s|es)?(?!\w)", re.IGNORECASE)
    return [Hit(found.start(), found.end(), value) for found in pattern.finditer(text)]


def _placed(text: str, field: Field) -> list[Hit]:
    values = list(field.ways)
    hits = []
    for found in _ORDINAL.finditer(text):
        word = found["word"].casefold()
        word = word[:-1] if word[-1] in "nrs" and word[:-1].endswith("te") else word
        if word in ("last", "letzte"):
            place = len(values) - 1
        else:
            place = next((at for at, names in enumerate(_PLACES) if word in names), len(values))
        if place < len(values):
            hits.append(Hit(found.start(), found.end(), values[place], False))
    return apart(hits)


def _nearly(text: str, ways: dict[str, str]) -> list[Hit]:
    """Return the one value that words of a text differ from by a slip of the hand."""
    hits: list[Hit] = []
    words = list(re.finditer(r"[^\W_]+(?:['\u2019-][^\W_]+)*", text))[:40]
    for said, value in ways.items():
        count = max(1, len(words_in(said)))
        most = 0 if len(said) < _SHORT else 1 if len(said) < _LONG else 2
        for at in range(len(words) - count + 1 if most else 0):
            start, end = words[at].start(), words[at + count - 1].end()
            heard = text[start:end].casefold()
            if heard[0] == said[0] and OSA.distance(heard, said, score_cutoff=most) <= most:
                hits.append(Hit(start, end, value, False))
    return hits if len({hit.value for hit in hits}) == 1 else []
