"""Amounts of money: digits with both separators or words, and the currency before or after."""

from __future__ import annotations

import re
from decimal import Decimal
from itertools import zip_longest

from journeys.fields import Field
from nodes.values.currencies import CODES, NAMES, currency_of, digits_of, leads
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
_CENTS = re.compile(r"\s?(?:¢|cents?\b|ct\b|pence\b|pennies\b|p\b(?!\.?\s?m))", re.IGNORECASE)
_CENTS_JOINT = re.compile(r"\s*(?:and|und)?\s*", re.IGNORECASE)
_CENTS_END = re.compile(r"\s?(?:¢|cents?\b|ct\b|pence\b|p\b)|(?=\s*(?:$|[,.!?]))", re.IGNORECASE)
# What counts or orders things is no amount.
_COUNTED = re.compile(r"(?:%|percent|per\s?cent|prozent|\dst|\dnd|\drd|\dth)\.?$", re.IGNORECASE)
_GLUED = re.compile(
    rf"(?<![^\W_])({_CURRENCY})(?=[\d-])|(?<=\d)({_CURRENCY})(?![^\W\d_])", re.IGNORECASE
)
_MOST_DIGITS = 15
_LONGEST = max(map(len, _WORDS)) + 4


def scan_money(text: str, field: Field, setting: Setting) -> list[Hit]:
    """Find amounts of money; what names no currency is uncertain, and has the field's."""
    spaced, places = _spaced(text)
    hits: list[Hit] = []
    found = [
        hit
        for hit in apart(decimals_in(spaced, setting, whole=True))
        if not _COUNTED.search(spaced[hit.start : hit.end])
    ]
    for hit, following in zip_longest(found, found[1:]):
        made = _amount(spaced, hit, following, field, setting)
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


def _amount(
    text: str, hit: Hit, following: Hit | None, field: Field, setting: Setting
) -> Hit | None:
    before = _BEFORE.search(text, max(0, hit.start - _LONGEST), hit.start)
    after = _AFTER.match(text, hit.end)
    if after and after["name"] and not currency_of(after["name"], setting.region):
        after = None
    if before and leads(before["name"]) and currency_of(before["name"], setting.region):
        return _announced(text, hit, before, after, field, setting)
    if cents := _CENTS.match(text, hit.end):
        name = "GBP" if "p" in cents[0].casefold() else ""
        return _made(Hit(hit.start, cents.end(), hit.value / 100), name, "", field, setting)
    if after and after["name"]:
        made = _with_cents(text, hit._replace(end=after.end()), following)
        return _made(made, after["name"], text[hit.start : hit.end], field, setting)
    end = after.end("dash") if after and after["dash"] else hit.end
    return _made(hit._replace(end=end), "", "", field, setting)


def _announced(
    text: str,
    hit: Hit,
    before: re.Match[str],
    after: re.Match[str] | None,
    field: Field,
    setting: Setting,
) -> Hit | None:
    """Return an amount behind its currency; "$50 CAD" names it twice."""
    name, end = before["name"], hit.end
    if after and after["name"]:
        if name != "$" and currency_of(name, setting.region) != after["name"].upper():
            return None
        name, end = after["name"], after.end()
    elif after and after["dash"]:
        end = after.end("dash")
    made = Hit(before.start(), end, -hit.value if before["sign"] else hit.value)
    return _made(made, name, text[hit.start : hit.end], field, setting)


def _with_cents(text: str, hit: Hit, following: Hit | None) -> Hit:
    """Join an amount with the cents behind it: "5 euros 50"."""
    if following is None or not 0 <= following.value < 100 or following.value % 1:
        return hit
    joint = _CENTS_JOINT.fullmatch(text, hit.end, following.start) if hit.value % 1 == 0 else None
    end = _CENTS_END.match(text, following.end) if joint else None
    return hit._replace(end=end.end(), value=hit.value + following.value / 100) if end else hit


def _made(hit: Hit, name: str, written: str, field: Field, setting: Setting) -> Hit | None:
    """Return an amount as it is kept; None if its currency has no such one."""
    currency = currency_of(name, setting.region) if name else field.currency.upper()
    digits, value = digits_of(currency), hit.value
    if digits > 2:
        value = next((one.value for one in decimals_in(written, setting)), value)
    step = Decimal(1).scaleb(-digits)
    if abs(value) >= 10**_MOST_DIGITS or value != value.quantize(step):
        return None
    amount = str(value.quantize(step) or Decimal(0).quantize(step))
    certain = bool(name) or hit.certain
    money = {"amount": amount, "currency": currency}
    return Hit(hit.start, hit.end, money, certain, hit.weak and not name)
