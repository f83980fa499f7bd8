"""What all readers of values share: places in a text, and what may stand around a value."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from typing import Any, NamedTuple

from journeys.fields import Field
from nodes.values.fillers import ALIKE, ASIDE, CORRECTIVE, DENYING, FILLER, NEVER_FILLER
from nodes.values.setting import Setting

LONGEST = 4096
"""Most characters of a text that is read for a value."""
MOST_HITS = 250
"""Most values of one type that are looked at in a text."""
_NEAR = 48
_FRACTIONS = ("½", "¼", "¾")
_FRACTION = re.compile("([½¼¾])")
_BUT = re.compile(r"[\s,]*(?:but|sondern)\b", re.IGNORECASE)
_WORD = re.compile(r"[^\W_]+(?:['\u2019][^\W_]+)*")
# Signs that say something of their own: at most, either, a formula, an address of a page.
_TELLING = re.compile(r"[@=<>{}\[\]|\\/*^+$€£¥%#]|\?\?")


class Hit(NamedTuple):
    """A value that stands in a text: where, and whether it can be nothing else.

    A weak one counts only where there is no other, such as "one".
    """

    start: int
    end: int
    value: Any
    certain: bool = True
    weak: bool = False


Scanner = Callable[[str, Field, Setting], list[Hit]]


def folded(text: str) -> str:
    """Return a text in one spelling of its characters, for values that are no names."""
    parts = _FRACTION.split(text)  # which would run into the digits before them
    plain = (part if part in _FRACTIONS else unicodedata.normalize("NFKC", part) for part in parts)
    return "".join(plain).replace("\u2019", "'")


def words_in(text: str) -> list[str]:
    """Return the words of a text, case folded."""
    return [word.casefold().replace("\u2019", "'") for word in _WORD.findall(text)]


def before(text: str, place: int) -> str:
    """Return what stands right before a place: as much as can tell of the value there."""
    return text[max(0, place - _NEAR) : place]


def words_of_field(field: Field) -> frozenset[str]:
    """Return the words by which a field is asked for, which its answers may repeat."""
    said = words_in(f"{field.name.replace('_', ' ')} {field.label} {field.ask}")
    more = (word[:-1] if word.endswith("s") else f"{word}s" for word in said)
    alike = (group for group in ALIKE if group.intersection(said))
    return frozenset([*said, *more]).union(*alike) - NEVER_FILLER


def apart(hits: Iterable[Hit]) -> list[Hit]:
    """Return hits in order of which no two overlap; the longer one wins."""
    taken: list[Hit] = []
    for hit in sorted(islice(hits, MOST_HITS), key=lambda hit: (hit.start - hit.end, hit.start)):
        if not any(hit.start < other.end and other.start < hit.end for other in taken):
            taken.append(hit)
    return sorted(taken)


def settled(text: str, hits: Sequence[Hit]) -> list[Hit]:
    """Return the hits that are meant: none that is denied, and of a slip only the last.

    Of "not 50, 55" it is the second, and of "four, sorry, five" too.
    """
    meant = [hit for hit in _strong(hits) if not DENYING.search(before(text, hit.start))]
    for at in range(len(meant) - 1, 0, -1):
        if CORRECTIVE.search(text[meant[at - 1].end : meant[at].start]):
            return meant[at:]
    return meant


def _strong(hits: Sequence[Hit]) -> list[Hit]:
    return [hit for hit in hits if not hit.weak] or list(hits)


def rest_of(text: str, hits: Sequence[Hit]) -> str:
    """Return what stands around hits."""
    pieces, at = [], 0
    for hit in hits:
        pieces.append(text[at : hit.start])
        at = max(at, hit.end)
    return " ".join([*pieces, text[at:]])


def is_filler(rest: str, more: frozenset[str] = frozenset()) -> bool:
    """Say whether what stands around a value says nothing of its own."""
    plain = ASIDE.sub(" ", rest)
    if _TELLING.search(plain):
        return False
    return all(word in FILLER or word in more for word in words_in(plain))


def only_value(text: str, hits: Sequence[Hit], more: frozenset[str]) -> Hit | None:
    """Return the one value that a whole text is about; None if there is none, or several."""
    meant = settled(text, hits)
    if not meant or any(hit.value != meant[0].value for hit in meant):
        return None
    # What is denied says nothing else, and neither do the words that deny it.
    around = [hit if hit in meant else _denied(text, hit) for hit in _strong(hits)]
    return meant[-1] if is_filler(rest_of(text, around), more) else None


def _denied(text: str, hit: Hit) -> Hit:
    found = DENYING.search(before(text, hit.start))
    if found is None:
        return hit
    joint = _BUT.match(text, hit.end)
    end = joint.end() if joint else hit.end
    return hit._replace(start=hit.start - len(found[0]), end=end)
