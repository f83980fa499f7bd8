"""Amounts of money: digits with both separators or words, and the currency before or after."""

from __future__ import annotations

from decimal import Decimal
from functools import cache
from itertools import zip_longest
from types import SimpleNamespace

from journeys.notions.fields import Field
from nodes.values.languages import Vocabulary, everywhere, grammar, literal, vocabulary
from nodes.values.numbers import decimals_in
from nodes.values.scanning import Hit, apart
from nodes.values.setting import Setting

_MOST_DIGITS = 15


@cache
def _codes() -> dict[str, int]:
    """Return the codes of currencies, and the decimals of their amounts."""
    digits = everywhere().currencies["digits"]
    return {code: count for count, codes in digits.items() for code in codes.split()}


@cache
def _grammar(words: Vocabulary) -> SimpleNamespace:
    said, known = words.money, everywhere().currencies
    dollars = frozenset([*said.dollars, *known["dollars"].split()])
    crowns = frozenset([*said.crowns, *known["crowns"].split()])
    names = {name: code for code, names in said.names.items() for name in names}
    names |= {name: code for code, names in known["names"].items() for name in names.split()}
    called = [*dollars, *said.pesos, *crowns, *names]
    small = frozenset(known["in_small_letters"].split())
    codes = [code.casefold() for code in _codes()]
    own = grammar("money", words, currency=literal([*called, *codes]))
    own.dollars, own.pesos, own.crowns, own.names = dollars, said.pesos, crowns, names
    own.small, own.longest = small, max(map(len, called)) + 4
    own.leading = frozenset([*known["leading"].split(), *(code.casefold() for code in small)])
    return own


def digits_of(currency: str) -> int:
    """Return how many decimals amounts of a currency have."""
    return _codes().get(currency, 2)


def _currency_of(said: str, own: SimpleNamespace, region: str) -> str:
    """Return the code of a currency as somebody calls it where they are; empty if it is none."""
    name, known = " ".join(said.casefold().split()), everywhere().currencies
    if name in own.dollars:
        return str(known["dollar_of"].get(region, "USD"))
    if name in own.pesos:
        return str(known["peso_of"].get(region, "MXN"))
    if name in own.crowns:
        return str(known["crown_of"].get(region, "SEK"))
    if name in own.names:
        return str(own.names[name])
    code = name.upper()
    return code if code in _codes() and (said == code or code in own.small) else ""


def _leads(said: str, own: SimpleNamespace) -> bool:
    """Say whether a name of a currency may stand before the amount: no common word does."""
    return not said.isalpha() or said.isupper() or said.casefold() in own.leading


def scan_money(text: str, field: Field, setting: Setting) -> list[Hit]:
    """Find amounts of money; what names no currency is uncertain, and has the field's."""
    own = _grammar(vocabulary(setting.language))
    spaced, places = _spaced(text, own)
    amounts = _Amounts(spaced, field, setting, own)
    found = [
        hit
        for hit in apart(decimals_in(spaced, setting, whole=True))
        if not own.counted.search(spaced[hit.start : hit.end])
    ]
    hits: list[Hit] = []
    for hit, following in zip_longest(found, found[1:]):
        made = amounts.amount(hit, following)
        if made is not None and not (hits and made.start < hits[-1].end):
            hits.append(made)
    return [hit._replace(start=places[hit.start], end=places[hit.end]) for hit in hits]


def _spaced(text: str, own: SimpleNamespace) -> tuple[str, list[int]]:
    """Return a text with blanks between digits and currencies, and where its characters were."""
    pieces: list[str] = []
    places: list[int] = []
    at = 0
    for found in own.glued.finditer(text):
        cut = found.end() if found[1] else found.start()
        pieces += [text[at:cut], " "]
        places += [*range(at, cut), cut]
        at = cut
    pieces.append(text[at:])
    places += [*range(at, len(text)), len(text)]
    return "".join(pieces), places


class _Amounts:
    """The amounts in one text, of which the numbers are found."""

    def __init__(self, text: str, field: Field, setting: Setting, own: SimpleNamespace) -> None:
        self.text, self.field, self.setting, self.own = text, field, setting, own

    def amount(self, hit: Hit, following: Hit | None) -> Hit | None:
        """Return the amount that a number is; None if it is none."""
        text, own, region = self.text, self.own, self.setting.region
        before = own.before.search(text, max(0, hit.start - own.longest), hit.start)
        after = own.after.match(text, hit.end)  # which may match nothing
        name = after["name"] or ""
        if name and not _currency_of(name, own, region):
            name = ""
        end = after.end() if name else after.end("dash") if after["dash"] else hit.end
        first = before["name"] if before and _leads(before["name"], own) else ""
        if first and (code := _currency_of(first, own, region)):
            if name and first != "$" and code != name.upper():
                return None
            # "$50 CAD" names it twice.
            value = -hit.value if before["sign"] else hit.value
            return self._made(Hit(before.start(), end, value), name or first, hit)
        if cents := own.cents.match(text, hit.end):
            name = "GBP" if "p" in cents[0].casefold() else ""
            return self._made(Hit(hit.start, cents.end(), hit.value / 100), name)
        if name:
            return self._made(_with_cents(text, hit._replace(end=end), following, own), name, hit)
        return self._made(hit._replace(end=end), "")

    def _made(self, hit: Hit, name: str, said: Hit | None = None) -> Hit | None:
        """Return an amount as it is kept; None if its currency has no such one."""
        field, setting, value = self.field, self.setting, hit.value
        currency = _currency_of(name, self.own, setting.region) if name else field.currency.upper()
        digits = digits_of(currency)
        if digits > 2 and said:
            written = self.text[said.start : said.end]
            value = next((one.value for one in apart(decimals_in(written, setting))), value)
        step = Decimal(1).scaleb(-digits)
        if abs(value) >= 10**_MOST_DIGITS or value != value.quantize(step):
            return None
        amount = str(value.quantize(step) or Decimal(0).quantize(step))
        money = {"amount": amount, "currency": currency}
        return Hit(hit.start, hit.end, money, bool(name) or hit.certain, hit.weak and not name)


def _with_cents(text: str, hit: Hit, following: Hit | None, own: SimpleNamespace) -> Hit:
    """Join an amount with the cents behind it: "5 euros 50"."""
    if following is None or not 0 <= following.value < 100 or following.value % 1:
        return hit
    whole = hit.value % 1 == 0
    joint = own.cents_joint.fullmatch(text, hit.end, following.start) if whole else None
    end = own.cents_end.match(text, following.end) if joint else None
    return hit._replace(end=end.end(), value=hit.value + following.value / 100) if end else hit
