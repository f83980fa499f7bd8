"""Time and place by which a text is read, its spans, and the words around a value."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache, lru_cache
from itertools import islice
from operator import itemgetter
from types import SimpleNamespace
from typing import Any, NamedTuple

from journeys.notions.fields import Field
from journeys.phrases.regexes import MatchBudget
from nodes.values.languages import Vocabulary, grammar, vocabulary


@dataclass(frozen=True, slots=True)
class Setting:
    """When and where a user speaks.

    Attributes:
        at: The moment, in the time zone of the journey.
        region: ISO 3166 country by whose habits ambiguous dates, numbers and phones are read.
        language: Language of the runtime's texts, two letters.
        first_day: First day of the week, "monday" to "sunday"; empty: as in the region.
        date_order: "dmy" or "mdy"; empty: as in the region.
        decimal_sign: "." or ","; empty: as in the region.
        clock: "12h" or "24h", of times that are shown; empty: as usual in the language.
        patterns: Matches the patterns of authors in what is said there and then.
    """

    at: datetime
    region: str = "US"
    language: str = "en"
    first_day: str = ""
    date_order: str = ""
    decimal_sign: str = ""
    clock: str = ""
    patterns: MatchBudget = field(default_factory=MatchBudget, compare=False, repr=False)


@dataclass(slots=True, eq=False)
class Unreadable(Exception):
    """What was said is no value of its type, or not one that is taken.

    Attributes:
        text: Name of the catalogue's text that says why; empty: `sentence` says it.
        sentence: What the user is told, in the author's words.
        values: What stands for the placeholders of the text.
    """

    text: str = ""
    sentence: str = ""
    values: dict[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.text or self.sentence


LONGEST = 4096
"""Most characters of a text that is read for a value."""
MOST_HITS = 250
"""Most values of one type that are looked at in a text."""
_NEAR = 48
_FRACTION = re.compile("([½¼¾])")
_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)*")
# Signs that say something of their own: at most, either, a formula, an address of a page.
_TELLING = re.compile(r"[@=<>{}\[\]|\\/*^+$€£¥%#]|\?\?")


class Hit(NamedTuple):
    """A value that stands in a text: where, and whether it can be nothing else.

    Attributes:
        weak: Whether it counts only where there is no other, such as "one".
        part: Where words beside a time stand that say which part of the day is meant.
    """

    start: int
    end: int
    value: Any
    certain: bool = True
    weak: bool = False
    part: tuple[int, ...] = ()


Scanner = Callable[[str, Field, Setting], list[Hit]]


@cache
def around(words: Vocabulary) -> SimpleNamespace:
    """Return the words and patterns of what may stand around a value."""
    own = grammar("around", words)
    beside = words.around.beside
    own.beside = {kind: frozenset(beside.get(_COUNTED.get(kind, kind), ())) for kind in _KINDS}
    own.alike = [frozenset(group) for group in words.around.alike]
    return own


_COUNTED = {"integer": "count", "number": "count"}
_KINDS = (*_COUNTED, "boolean", "date", "time", "datetime", "money", "email", "phone", "enum")


def folded(text: str) -> str:
    """Return a text in one spelling of its characters, for values that are no names."""
    if text.isascii():
        return text
    parts = _FRACTION.split(text)  # which would run into the digits before them
    parts[::2] = [unicodedata.normalize("NFKC", part) for part in parts[::2]]
    return "".join(parts).replace("\u2019", "'")


def words_in(text: str) -> list[str]:
    """Return the words of a text, case folded."""
    return _WORD.findall(text.casefold().replace("\u2019", "'"))


def before(text: str, place: int) -> str:
    """Return what stands right before a place: as much as can tell of the value there."""
    return text[max(0, place - _NEAR) : place]


def words_of_field(field: Field, setting: Setting) -> frozenset[str]:
    """Return the words by which a field is asked for, which its answers may repeat."""
    return _words_of(field.name, field.label, field.ask, vocabulary(setting.language))


@lru_cache(maxsize=2_000)
def _words_of(name: str, label: str, ask: str, words: Vocabulary) -> frozenset[str]:
    said = words_in(f"{name.replace('_', ' ')} {label} {ask}")
    more = [word[:-1] if word.endswith("s") else f"{word}s" for word in said]
    own = around(words)
    alike = [group for group in own.alike if group.intersection(said)]
    return frozenset([*said, *more]).union(*alike).difference(own.never)


def apart(hits: Iterable[Hit]) -> list[Hit]:
    """Return hits in order of which no two overlap; the longer one wins."""
    taken: list[Hit] = []
    known = list(islice(hits, MOST_HITS))
    if len(known) < 2:
        return known
    for _, _, _, hit in sorted([(h[0] - h[1], h[0], at, h) for at, h in enumerate(known)]):
        start, end = hit[0], hit[1]
        for other in taken:
            if start < other[1] and other[0] < end:
                break
        else:
            taken.append(hit)
    return sorted(taken, key=itemgetter(0))


def settled(text: str, hits: Sequence[Hit], setting: Setting) -> Sequence[Hit]:
    """Return the hits that are meant: none that is denied, and of a slip only the last.

    Of "not 50, 55" it is the second, and of "four, sorry, five" too.
    """
    own, meant = around(vocabulary(setting.language)), strong(hits)
    if own.denies.search(text):
        meant = [hit for hit in meant if not own.denying.search(before(text, hit.start))]
    for at in range(len(meant) - 1, 0, -1):
        if own.corrective.search(text[meant[at - 1].end : meant[at].start]):
            return meant[at:]
    return meant


def strong(hits: Sequence[Hit]) -> Sequence[Hit]:
    """Return the hits that count: weak ones only where there is no other."""
    for hit in hits:
        if hit.weak:
            return [hit for hit in hits if not hit.weak] or hits
    return hits


def rest_of(text: str, hits: Sequence[Hit]) -> str:
    """Return what stands around hits."""
    pieces, at = [], 0
    for hit in hits:
        pieces.append(text[at : hit.start])
        at = max(at, hit.end)
    return " ".join([*pieces, text[at:]])


def is_filler(rest: str, setting: Setting, more: frozenset[str] = frozenset()) -> bool:
    """Say whether what stands around a value says nothing of its own."""
    if not rest or rest.isspace():
        return True
    own = around(vocabulary(setting.language))
    plain = own.aside.sub(" ", rest)
    if _TELLING.search(plain):
        return False
    return not set(words_in(plain)).difference(own.filler, more)


def beside(field: Field, setting: Setting) -> frozenset[str]:
    """Return the words that may stand beside the value of a field, besides filler."""
    own: dict[str, frozenset[str]] = around(vocabulary(setting.language)).beside
    return own.get(field.type, frozenset()) | words_of_field(field, setting)


def usual(field: Field, setting: Setting) -> frozenset[str]:
    """Return the words that say nothing of their own around the value of a field."""
    filler: frozenset[str] = around(vocabulary(setting.language)).filler
    return filler | beside(field, setting)


def only_value(
    text: str, hits: Sequence[Hit], setting: Setting, more: frozenset[str]
) -> Hit | None:
    """Return the one value that a whole text is about; None if there is none, or several."""
    if not hits:
        return None
    all_hits = strong(hits)
    meant = settled(text, all_hits, setting)
    if not meant or (len(meant) > 1 and [hit for hit in meant if hit.value != meant[0].value]):
        return None
    if len(all_hits) > len(meant):
        # What is denied says nothing else, and neither do the words that deny it.
        own = around(vocabulary(setting.language))
        all_hits = [hit if hit in meant else _denied(text, hit, own) for hit in all_hits]
    return meant[-1] if is_filler(rest_of(text, all_hits), setting, more) else None


def _denied(text: str, hit: Hit, own: SimpleNamespace) -> Hit:
    found = own.denying.search(before(text, hit.start))
    if found is None:
        return hit
    joint = own.but.match(text, hit.end)
    end = joint.end() if joint else hit.end
    return hit._replace(start=hit.start - len(found[0]), end=end)
