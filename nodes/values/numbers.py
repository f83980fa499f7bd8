"""Numbers and amounts of money: digits with both separators, numerals, signs of currencies."""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal
from functools import cache, lru_cache
from types import SimpleNamespace
from typing import Any

from journeygraph.journeys.declarations.fields import Field
from journeygraph.nodes.values.languages import (
    bare,
    code_of,
    everywhere,
    folded,
    language_data,
    one_of,
)
from journeygraph.nodes.values.setting import Setting, units_of

MOST = 2**63 - 1
"""Largest number that is kept, either way of zero."""
_MOST_DIGITS = 15
"""Most digits of an amount of money before its decimals."""
_MOST_NUMERAL = 80
_DIGITS = re.compile(r"\d+(?:[.,' ]\d+)*|[.,]\d+")
_BLANK = re.compile(r"[ ']")
_SPACED = re.compile(r"\d{1,3}(?:[ ']\d{3})+(?:[.,]\d+)*")
_GROUPED = re.compile(
    r"(\d{1,3}(?:\.\d{3})+)(?:,(\d+))?|(\d{1,3}(?:(?:,\d\d)*|(?:,\d{3})*),\d{3})(?:\.(\d+))?"
)
_CAPITALS = re.compile(r"(?<![^\W\d_])[A-Z]{3}(?![^\W\d_])")
"""Codes of currencies that are words in small letters, as "all" and "top", count in capitals."""
_DIGIT = re.compile(r"\d")
_GLUED = re.compile(r"(?<=\d)(?=[^\W\d_])")


@cache
def _number(language: str) -> re.Pattern[str]:
    own = language_data(language).numbers
    minus = rf"(?P<minus>[-+\u2212]|{one_of(own.minus)} )? ?"
    return re.compile(rf"{minus}(?P<number>.+?)(?: ?(?:%|{one_of((*own.percent, *own.counted))}))?")


@lru_cache(maxsize=4_000)  # each word of a message is asked about for each field
def numeral_of(said: str, language: str) -> int | None:
    """Return the whole number of digits or of a numeral, which is all of a folded text."""
    if said.isdecimal():
        return int(said) if len(said) < _MOST_DIGITS else None
    if known := language_data(language).numbers.words.get(said):
        return known
    if not said or len(said) > _MOST_NUMERAL or _DIGIT.search(said):
        return None
    from text_to_num import text2num  # noqa: PLC0415 - 30 ms

    try:
        return int(text2num(said, code_of(language)))
    except ValueError:
        return None


@cache
def ordinals_of(language: str) -> dict[str, int]:
    """Return the ordinals of a language, each with its place from 1 on."""
    ordinals = language_data(language).numbers.ordinals
    return {each: place for place, words in enumerate(ordinals, 1) for each in words}


def place_of(said: str, setting: Setting) -> int:
    """Return the place that a folded text names among options, -1 for the last one; else 0.

    "The one" names none.
    """
    around, places = _places(setting.language)
    place = around.sub("", said)
    return places.get(place) or numeral_of(place, setting.language) or 0


@cache
def _places(language: str) -> tuple[re.Pattern[str], dict[str, int]]:
    own, words = language_data(language).numbers, language_data(language)
    before, behind = one_of((*words.articles, *own.leads, "#")), one_of(own.behind)
    places = ordinals_of(language) | dict.fromkeys(own.last, -1)
    return re.compile(rf"^{before} ?(?!{behind}$)|^#| {behind}$"), places


def _of_digits(digits: str, setting: Setting, *, grouped: bool) -> Decimal | None:
    """Read digits with separators; None if they are no number.

    What is unmistakable is read so everywhere: two kinds of separators, one that comes twice, a
    group of other than three digits. "1,234" alone is read as in the region, or always as
    thousands where they are `grouped`.
    """
    plain_digits = _BLANK.sub("", digits)
    if plain_digits != digits and not _SPACED.fullmatch(digits):
        return None
    signs = plain_digits.count(".") + plain_digits.count(",")
    found = _GROUPED.fullmatch(plain_digits)
    is_decimal = ("," in plain_digits) == setting.comma_is_decimal and not grouped
    if found is None or (signs == 1 and (is_decimal or plain_digits[0] == "0")):
        return Decimal(f"0{plain_digits}".replace(",", ".")) if signs < 2 else None
    whole, fraction = found[1] or found[3], found[2] or found[4] or "0"
    return Decimal(f"{re.sub('[.,]', '', whole)}.{fraction}")


def _decimal_of(said: str, setting: Setting, *, grouped: bool) -> Decimal | None:
    found = _number(setting.language).fullmatch(said)
    if found is None:
        return None
    if _DIGITS.fullmatch(found["number"]):
        value = _of_digits(found["number"], setting, grouped=grouped)
    else:
        numeral = numeral_of(found["number"], setting.language)
        value = None if numeral is None else Decimal(numeral)
    if value is None or value > MOST:
        return None
    return value if found["minus"] in (None, "+") else -value


def _counted(field: Field, raw: str, setting: Setting, *, grouped: bool) -> Decimal | None:
    said, own = _GLUED.sub(" ", folded(bare(raw))), setting.words.numbers
    value = Decimal(0) if said in own.none else _decimal_of(said, setting, grouped=grouped)
    words, units = said.split(), units_of(field, setting)
    while value is None and len(words) > 1 and words[-1] in units:
        words.pop()
        said = " ".join(words)
        value = Decimal(0) if said in own.none_of else _decimal_of(said, setting, grouped=grouped)
    return value


def integer_of(field: Field, raw: str, setting: Setting) -> int | None:
    """Return the whole number that a text is."""
    value = _counted(field, raw, setting, grouped=True)
    return int(value) if value is not None and value == int(value) else None


def number_of(field: Field, raw: str, setting: Setting) -> float | None:
    """Return the number that a text is."""
    value = _counted(field, raw, setting, grouped=False)
    return None if value is None else float(value)


@cache
def _currencies(language: str) -> SimpleNamespace:
    known = everywhere()["currencies"]
    codes = {f"\u00a4{code.casefold()}": code for code in _decimals()}
    codes |= {code.casefold(): code for code in str(known["in_small_letters"]).split()}
    signs = {sign: code for code, said in known["signs"].items() for sign in said.split()}
    names = {**codes, **signs, **language_data(language).currencies}
    each = one_of(names)
    before = rf"(?P<minus>[-\u2212] ?)?(?:(?P<before>{each}) ?)?"
    return SimpleNamespace(
        names=names,
        amount=re.compile(rf"{before}(?P<amount>.+?)(?:[,.]-)?(?: ?(?P<after>{each}))?"),
        regional=known["regional"],
    )


def _code(said: str, setting: Setting) -> str:
    own = _currencies(setting.language)
    code = str(own.names.get(said, ""))
    by_region: Mapping[str, str] = own.regional.get(code, {})
    return by_region.get(setting.region) or by_region.get("elsewhere") or code


@cache
def _decimals() -> dict[str, int]:
    digits = everywhere()["currencies"]["digits"]
    return {code: count for count, codes in digits.items() for code in codes.split()}


def digits_of(currency: str) -> int:
    """Return how many decimals amounts of a currency have."""
    return _decimals().get(currency, 2)


def money_of(field: Field, raw: str, setting: Setting) -> dict[str, Any] | None:
    """Return the amount of money that a text is; without a currency, it has that of the field."""
    said = folded(_CAPITALS.sub("\u00a4\\g<0>", bare(raw)))
    found = _currencies(setting.language).amount.fullmatch(said)
    if found is None:
        return None
    named = [_code(said, setting) for said in found.group("before", "after") if said]
    if len(set(named)) > 1 and found["before"] != "$":  # "$50 CAD"
        return None
    currency = named[-1] if named else field.currency.upper()
    digits = digits_of(currency)
    value = _decimal_of(found["amount"], setting, grouped=digits < 3)
    if value is None or found["amount"].endswith("%"):
        return None
    value, step = -value if found["minus"] else value, Decimal(1).scaleb(-digits)
    if abs(value) >= 10**_MOST_DIGITS or value != value.quantize(step):
        return None
    amount = value.quantize(step) or Decimal(0).quantize(step)
    return {"amount": str(amount), "currency": currency}
