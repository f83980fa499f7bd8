"""Amounts of money: digits with both separators or words, and the currency before or after."""

from __future__ import annotations

import re
from decimal import Decimal

from journeys.fields import Field
from nodes.values.currencies import CODES, NAMES, currency_of, digits_of
from nodes.values.numbers import decimals_in
from nodes.values.scanning import Hit, apart
from nodes.values.setting import Setting

_WORDS = sorted([*NAMES, *CODES], key=len, reverse=True)
_CURRENCY = "(?:" + "|".join(re.escape(word) for word in _WORDS) + ")"
_BEFORE = re.compile(
    rf"(?P<sign>[-\u2212]\s?)?(?<![^\W\d_])(?P<name>{_CURRENCY})\s?$", re.IGNORECASE
)
_AFTER = re.compile(
    rf"(?P<dash>\s?[.,][-\u2013\u2014]{{1,2}})?(?:\s?[-\s]?\s?(?P<name>{_CURRENCY})(?![^\W\d_]))?",
    re.IGNORECASE,
)
_CENTS = re.compile(r"\s?(?:¢|cents?\b|ct\b|pence\b|pennies\b|p\b)", re.IGNORECASE)
_TAIL = re.compile(
    r"\s*(?:and|und)?\s*(?P<cents>\d{1,2})(?:\s?(?:cents?|ct|pence|p)\b|(?=\s*(?:$|[,.!?])))",
    re.IGNORECASE,
)
_GLUED = re.compile(
    rf"(?<![^\W_])({_CURRENCY})(?=[\d-])|(?<=\d)({_CURRENCY})(?![^\W\d_])", re.IGNORECASE
)
_MOST_DIGITS = 15
_LONGEST = max(map(len, _WORDS)) + 4


def scan_money(text: str, field: Field, setting: Setting) -> list[Hit]:
    """Find amounts of money; what names no currency is uncertain, and has the field's."""
    spaced, places = _spaced(text)
    hits: list[Hit] = []
    for hit in apart(decimals_in(spaced, setting, whole=True)):
        made = _amount(spaced, hit, field, setting)
        if made is not None and not (hits and made.start < hits[-1].end):
            hits.append(made)
    return [hit._replace(start=places[hit.start], end=places[hit.end]) for hit in hits]


def _spaced(text: str) -> tuple[str, list[int]]:
    """Return a text with blanks between digits and currencies, and where its characters were."""
    pieces: list[str] = []
    places: list[int] = []
    at = 0
    for found in _GLUED.finditer(text):
        cut = found.end() if found[1] else found.start()
        pieces += [text[at:cut], " "]
        places += [*range(at, cut), cut]
        at = cut
    pieces.append(text[at:])
    places += [*range(at, len(text)), len(text)]
    return "".join(pieces), places


def _amount(text: str, hit: Hit, field: Field, setting: Setting) -> Hit | None:
    before = _BEFORE.search(text, max(0, hit.start - _LONGEST), hit.start)
    after = _AFTER.match(text, hit.end)
    start, end, value = hit.start, hit.end, hit.value
    name = ""
    if before:
        start, name = before.start(), before["name"]
        value = -value if before["sign"] else value
        end = after.end("dash") if after and after["dash"] else end
    elif cents := _CENTS.match(text, hit.end):
        return _made(
            text, Hit(start, cents.end(), value / 100), _cents_of(field, setting), setting, True
        )
    elif after and after["name"]:
        end, name = after.end(), after["name"]
        if (tail := _TAIL.match(text, end)) and value == int(value):
            end, value = tail.end(), value + Decimal(tail["cents"].zfill(2)) / 100
    elif after and after["dash"]:
        end = after.end("dash")
    currency = currency_of(name, setting.region) if name else field.currency.upper()
    return _made(
        text, hit._replace(start=start, end=end, value=value), currency, setting, bool(name)
    )


def _cents_of(field: Field, setting: Setting) -> str:
    return field.currency.upper()


def _made(text: str, hit: Hit, currency: str, setting: Setting, certain: bool) -> Hit | None:
    digits = digits_of(currency)
    step = Decimal(1).scaleb(-digits)
    if abs(hit.value) >= 10**_MOST_DIGITS or hit.value != hit.value.quantize(step):
        return None
    amount = str(abs(hit.value.quantize(step))) if not hit.value else str(hit.value.quantize(step))
    weak = hit.weak and not certain
    return Hit(hit.start, hit.end, {"amount": amount, "currency": currency}, certain, weak)
