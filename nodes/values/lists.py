"""Several values in one text."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from journeys.fields import Field
from nodes.values.scanning import Hit, Scanner, folded, is_filler, rest_of, words_in, words_of_field
from nodes.values.setting import Setting

MOST_ITEMS = 200
"""Most items of one list."""
_NONE = re.compile(
    r"\s*(?:no(?:ne|thing)?|none (?:of (?:them|these)|that i know(?: of)?)"
    r"|not that i know(?: of)?|nothing at all"
    r"|keine?|nichts|gar nichts"
    r"|niemand|nobody)[\s.!]*(?:thanks|danke)?[\s.!]*",
    re.IGNORECASE,
)
_BREAK = re.compile(
    r"\s*[;\n•·、،]\s*|\s*,(?!\d)\s*|\s+(?:and|und|&|plus|sowie|as well as)\s+(?:also\s+)?|\s+&\s+",
    re.IGNORECASE,
)
_ANY_BREAK = re.compile(r"\s*[;\n•·、،,]\s*|\s+(?:and|und|&|plus|sowie)\s+", re.IGNORECASE)
_BULLET = re.compile(r"^(?:[-*\u2013]|\d{1,3}[.)])\s+|^(?:and|und)\s+", re.IGNORECASE)
_LEAD = re.compile(
    r"^(?:(?:i'd like|i would like|i want|i need|i have|we need|we have|there (?:is|are)|it's"
    r"|just|only|ich brauche|ich möchte|ich habe|wir brauchen|nur)\s+)+",
    re.IGNORECASE,
)
_ENDING = re.compile(
    r"[\s,.!;]*\b(?:please|thanks|thank\s+you|bitte|danke)\b[\s.!]*$", re.IGNORECASE
)


def items_in(
    one: Field,
    text: str,
    setting: Setting,
    scan: Scanner | None,
    read: Callable[[Field, str, Setting], Any],
) -> list[Any] | None:
    """Return the items of a list; None if a part of the text is no such item.

    Args:
        one: The field as one of a single item.
        text: What was said.
        setting: When and where.
        scan: What finds items of the type; None for those without a shape.
        read: Reads one item.
    """
    if _NONE.fullmatch(text) or _is_none_of(one, text):
        return []
    if scan is not None:
        found = spread(one, folded(text), setting, scan)
        if found is not None:
            return [hit.value for hit in found]
    breaks = _BREAK if scan is None else _ANY_BREAK
    plain = _ENDING.sub("", _LEAD.sub("", text.strip()))
    parts = [_BULLET.sub("", part.strip()).strip(" .,") for part in breaks.split(plain)]
    said = [part for part in parts if part and part.casefold() not in ("and", "und", "&")]
    if not said or len(said) > MOST_ITEMS:
        return None
    values = [read(one, part, setting) for part in said]
    return None if any(value is None for value in values) else values


def _is_none_of(one: Field, text: str) -> bool:
    """Say whether a text denies what is asked for: "no allergies"."""
    first, *others = words_in(text) or [""]
    return first in ("no", "keine", "kein") and words_of_field(one).issuperset(others)


def spread(one: Field, text: str, setting: Setting, scan: Scanner) -> list[Hit] | None:
    """Return the items with a shape of their own, if a text says nothing else."""
    hits = [hit for hit in scan(text, one, setting) if not hit.weak]
    if not hits or len(hits) > MOST_ITEMS:
        return None
    return hits if is_filler(rest_of(text, hits), words_of_field(one)) else None
