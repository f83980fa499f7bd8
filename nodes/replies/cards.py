"""Numbers of payment cards and of bank accounts in text that was folded."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from stdnum import iban, luhn, numdb

Span = tuple[int, int]
"""Start and end of a match in a text."""

# Between groups also what stresses one of them, as "1111 **1111**" does.
_DIGITS = re.compile(r"(?<!\d)\d(?:(?:[ .\-/_]{0,3}|[*`]{0,3} ?[*`]{0,3})\d)+")
_GROUP = re.compile(r"\d+")
# What numbers of a kind of card begin with, and how long they are (ISO/IEC 7812, as published by
# Visa, Mastercard, American Express, Diners, Discover, JCB, UnionPay, Maestro, Mir and RuPay).
_CARDS: Sequence[tuple[re.Pattern[str], frozenset[int]]] = [
    (re.compile(begins), frozenset(lengths))
    for begins, lengths in (
        (r"4", (13, 16, 19)),
        (r"5[1-5]", (16,)),
        (r"2(?:22[1-9]|2[3-9]|[3-6]|7[01]|720)", (16,)),
        (r"3[47]", (15,)),
        (r"3(?:0[0-5]|[689])", (14, 16, 19)),
        (r"35(?:2[89]|[3-8])", (16, 19)),
        (r"62", (16, 17, 18, 19)),
        (r"6(?:0|4[4-9]|5|[37])|5[068]|8[12]|220[0-4]", (16, 18, 19)),
    )
]
_SHORTEST, _LONGEST = 13, 19


def cards_in(text: str, since: int) -> Iterator[Span]:
    """Find card numbers: whole groups of digits of a known kind and length, with a right sum."""
    for run in _DIGITS.finditer(text, since):
        groups = [(found[0], *found.span()) for found in _GROUP.finditer(text, *run.span())]
        yield from _cards_of(groups)


def _cards_of(groups: Sequence[tuple[str, int, int]]) -> Iterator[Span]:
    first = 0
    while first < len(groups):
        last = _card_from(groups, first)
        if last is not None:
            yield groups[first][1], groups[last][2]
        first = first + 1 if last is None else last + 1


def _card_from(groups: Sequence[tuple[str, int, int]], first: int) -> int | None:
    """Return the last group of a card number that begins with a group; None if none does."""
    number, lengths = "", None
    for last in range(first, len(groups)):
        number += groups[last][0]
        if len(number) > _LONGEST:
            return None
        if len(number) < _SHORTEST:
            continue
        lengths = _lengths(number[:4]) if lengths is None else lengths
        if len(number) in lengths and luhn.is_valid(number):
            return last
    return None


@lru_cache(maxsize=10_000)
def _lengths(begins: str) -> frozenset[int]:
    return frozenset().union(*(some for pattern, some in _CARDS if pattern.match(begins)))


_IBAN = re.compile(r"(?<![0-9A-Za-z])[A-Za-z]{2}[ .-]?\d{2}(?=(?:[ .-]{0,2}[0-9A-Za-z]){11})")
_SIGN = re.compile(r"[0-9A-Za-z]")
_ENDS_IBAN = re.compile(r"(?![0-9A-Za-z])")


def ibans_in(text: str, since: int) -> Iterator[Span]:
    """Find IBANs: of the length of their country, and with right check digits."""
    for found in _IBAN.finditer(text, since):
        length = _iban_length(found[0][:2].upper())
        signs = list(_signs(text, found.start(), length)) if length else []
        if not signs or len(signs) != length or not _ENDS_IBAN.match(text, signs[-1] + 1):
            continue
        if iban.is_valid("".join(text[at] for at in signs), check_country=False):
            yield found.start(), signs[-1] + 1


def _signs(text: str, start: int, most: int) -> Iterator[int]:
    """Yield where the letters and digits of a number are; it ends at a gap."""
    at, left, gap = start, most, 0
    while left and at < len(text) and gap <= 2:
        if _SIGN.match(text[at]):
            yield at
            left, gap = left - 1, 0
        elif text[at] in " .-":
            gap += 1
        else:
            return
        at += 1


@lru_cache(maxsize=512)
def _iban_length(country: str) -> int:
    """Return how long a country's IBANs are; 0 if it has none."""
    structure = numdb.get("iban").info(f"{country}00")[0][1].get("bban", "")
    parts = re.findall(r"(\d+)!", structure)
    return 4 + sum(map(int, parts)) if parts else 0
