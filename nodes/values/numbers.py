"""Integers and numbers: digits with both separators, words, percent."""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal

from journeys.fields import Field
from nodes.values.numerals import fractions_in, numerals_in
from nodes.values.scanning import Hit, apart, before
from nodes.values.setting import Setting
from nodes.values.tables import words

# Where the comma parts the decimals; elsewhere it is the point.
_COMMA = frozenset(
    words(
        """
    AL AM AR AT AZ BA BE BG BO BR BY CL CO CR CU CZ DE DK EC EE ES FI FR GE GR HR HU ID IS IT KZ
    LT LU LV MD ME MK MZ NL NO PL PT PY RO RS RU SE SI SK TR UA UY UZ VE VN
    """
    )
)
MOST = 2**63 - 1
"""Largest number that is kept, either way of zero."""
_DIGITS = r"\d+(?:[.,']\d+|[\u00a0\u202f ]\d{3}(?!\d))*"
_NUMBER = re.compile(
    rf"(?<![\w.,/:#+-])(?:(?P<sign>[-\u2212+]|minus\s)\s?)?(?P<digits>{_DIGITS}|[.,]\d+|(?=[½¼¾]))"
    r"(?P<scale>\s?(?:k|grand|mio|mln|million(?:en)?|tsd|thousand|tausend|billion)\b\.?)?"
    r"(?P<fraction>\s?[½¼¾])?(?P<ordinal>st|nd|rd|th|\.(?=\s*$))?"
    r"(?P<percent>\s?(?:%|percent\b|per\s?cent\b|prozent\b))?"
    r"(?:(?=(?:kg|km|cm|mm|lbs?|m|g|h|min|c|f|°[cf]?)\b)|(?![\w/]|[.,:-]?\d))",
    re.IGNORECASE,
)
_SCALES = {"k": 3, "grand": 3, "tsd": 3, "thousand": 3, "tausend": 3, "billion": 9}
_FRACTIONS = {"½": Decimal("0.5"), "¼": Decimal("0.25"), "¾": Decimal("0.75")}
_MINUS = re.compile(r"(?<!\w)minus\s+$", re.IGNORECASE)
_SPACED = re.compile(r"[\u00a0\u202f ']")


def comma_is_decimal(setting: Setting) -> bool:
    """Say whether the comma parts the decimals where a user speaks."""
    return setting.decimal_sign == "," if setting.decimal_sign else setting.region in _COMMA


def decimal_of(digits: str, setting: Setting, *, grouped: bool = False) -> Decimal | None:
    """Read digits with separators; None if they are no number.

    What is unmistakable is read so everywhere: two kinds of separators, one that comes twice, a
    group of other than three digits. "1,234" alone is read as in the region.

    Args:
        digits: Digits, points, commas, spaces and apostrophes.
        setting: Where it is said.
        grouped: Whether a group of three digits at the end always belongs to the thousands.
    """
    plain = digits
    if _SPACED.search(plain):
        *groups, last = _SPACED.split(plain)
        if not _are_groups([*groups, re.split("[.,]", last)[0]]):
            return None
        plain = "".join([*groups, last])
    points, commas = plain.count("."), plain.count(",")
    if points and commas:
        sign = max(".", ",", key=plain.rfind)
        other = "," if sign == "." else "."
        whole, _, fraction = plain.rpartition(sign)
        if sign in whole or not _are_groups(whole.split(other), other):
            return None
        return Decimal(f"{whole.replace(other, '')}.{fraction}")
    sign = "." if points else ","
    parts = plain.split(sign)
    if len(parts) == 1:
        return Decimal(plain)
    if len(parts) > 2:
        return Decimal("".join(parts)) if _are_groups(parts, sign) else None
    decimal = "," if comma_is_decimal(setting) else "."
    could_group = _are_groups(parts, sign) and not parts[0].startswith("0")
    if could_group and (grouped or sign != decimal):
        return Decimal("".join(parts))
    return Decimal(f"{parts[0] or '0'}.{parts[1]}")


def _are_groups(parts: list[str], sign: str = ",") -> bool:
    """Say whether digits are parted as thousands are, or as in India."""
    if not parts or not 1 <= len(parts[0]) <= 3:
        return False
    sizes = [len(part) for part in parts[1:]]
    return all(size == 3 for size in sizes) or (
        sign == "," and bool(sizes) and sizes[-1] == 3 and all(size == 2 for size in sizes[:-1])
    )


def decimals_in(text: str, setting: Setting, *, whole: bool = False) -> Iterator[Hit]:
    """Find numbers, as Decimal."""
    for found in _NUMBER.finditer(text):
        value = decimal_of(found["digits"] or "0", setting, grouped=whole)
        if value is None:
            continue
        value = value.scaleb(_scale_of(found["scale"]))
        value += _FRACTIONS.get((found["fraction"] or "").strip(), 0)
        if (found["sign"] or "+") != "+":
            value = -value
        if abs(value) <= MOST:
            yield Hit(found.start(), found.end(), value, False)
    for hit in (*fractions_in(text), *numerals_in(text)):
        value = Decimal(hit.value)
        if minus := _MINUS.search(before(text, hit.start)):
            hit, value = hit._replace(start=hit.start - len(minus[0])), -value
        if abs(value) <= MOST:
            yield hit._replace(value=value)


def _scale_of(said: str | None) -> int:
    word = (said or "").strip().rstrip(".").casefold()
    return _SCALES.get(word, 6) if word else 0


def scan_integers(text: str, field: Field, setting: Setting) -> list[Hit]:
    """Find whole numbers."""
    hits = apart(decimals_in(text, setting, whole=True))
    return [hit._replace(value=int(hit.value)) for hit in hits if hit.value == int(hit.value)]


def scan_numbers(text: str, field: Field, setting: Setting) -> list[Hit]:
    """Find numbers."""
    return [hit._replace(value=float(hit.value)) for hit in apart(decimals_in(text, setting))]
