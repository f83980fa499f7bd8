"""Integers, numbers, amounts of money: digits with both separators, numerals in words, people."""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal
from functools import cache
from itertools import zip_longest
from types import SimpleNamespace

from journeys.notions.fields import Field
from nodes.values.scanning import (
    NOTHING,
    Hit,
    Setting,
    Table,
    Vocabulary,
    apart,
    before,
    beside,
    everywhere,
    grammar,
    is_filler,
    literal,
    literally,
    rest_of,
    vocabulary,
    words_of_field,
)

MOST = 2**63 - 1
"""Largest number that is kept, either way of zero."""
_FRACTIONS = {"½": Decimal("0.5"), "¼": Decimal("0.25"), "¾": Decimal("0.75")}
_SPACED = re.compile(r"[\u00a0\u202f ']")
_WORD = re.compile(r"[^\W\d_]+")
_ANY = re.compile(r"[^\W_]+")
_HALF = Decimal("0.5")
_MOST_WORDS = 24


class Numerals:
    """The numerals of one language.

    Args:
        own: Its words.
    """

    def __init__(self, own: SimpleNamespace) -> None:
        said = own.numbers
        self.small = {word: value for value, word in enumerate(said.units)}
        self.small |= {word: 10 * value for value, word in enumerate(said.tens, 2)}
        self.small |= {word: 100 * value for value, word in enumerate(said.hundreds, 1)}
        self.small |= said.others
        self.scales = said.scales
        self.joints = frozenset(said.and_)
        self.order = said.order
        self.half = said.half_joined
        parts = literally(self.small, self.scales, self.joints, [self.half] if self.half else [])
        self.parts = re.compile(parts) if said.joined else None
        self.word = f"(?>{parts})++" if said.joined else literally(self.small, self.scales)

    def of(self, word: str) -> int | None:
        """Return the value of one word for a whole number; None if it is not one."""
        if word in self.small:
            return self.small[word]
        if self.parts is None or len(word) > 60 or word.endswith(self.half or " "):
            return None
        parts = self.parts.findall(word)
        value, count = self.run(parts, 0) if "".join(parts) == word else (0, 0)
        return value if count and count == len(parts) else None

    def run(self, words: list[str], first: int) -> tuple[int, int]:
        """Return the value of the numeral that begins at a word, and of how many words it is."""
        total = current = last = count = 0
        joint = False
        for place in range(first, min(first + _MOST_WORDS, len(words))):
            word = words[place]
            if word in self.joints and count and not joint:
                joint = True
                continue
            scale = self.scales.get(word) if count else None
            value = scale or self.small.get(word)
            if value is None or not (scale or self._follows(value, last, joint)):
                break
            if scale == 100:
                current *= scale
            elif scale:
                total, current = total + current * scale, 0
            else:
                current += value
            last, count, joint = value, place - first + 1, False
        return total + current, count

    def _follows(self, value: int, last: int, joint: bool) -> bool:
        """Return whether a word can go on a numeral: "twenty one", but not "four five"."""
        if last == 0:
            return not joint
        if last >= 100:
            return value < last
        if self.order == "unit and ten":
            return joint and last < 10 and 20 <= value <= 90
        return joint == (self.order == "ten and unit") and 20 <= last <= 90 and 0 < value < 10


@cache
def _grammar(words: Vocabulary) -> SimpleNamespace:
    tables = [Numerals(each) for each in words.languages]
    # "once" is a number of the language that is spoken before it is one of another.
    said = {word: n for word, n in words.numbers.phrases.items() if word not in tables[0].small}
    phrases = Table(said)
    joined = "|".join(re.escape(table.half) for table in tables if table.half)
    ordinals = {
        word + ending: at
        for each in words.languages
        for at, said in enumerate(each.ordinals.places, 1)
        for word in said
        for ending in ("", *each.ordinals.endings)
    }
    own = grammar(
        "numbers",
        words,
        numeral="|".join(table.word for table in tables),
        phrases=phrases.source,
        joined=joined or NOTHING,
        ordinal=literal(ordinals),
    )
    own.numerals, own.phrases, own.ordinals = tables, phrases, ordinals
    own.people, own.asked = grammar("people", words), words.ordinals.asked
    return own


def numerals_in(text: str, words: Vocabulary) -> Iterator[Hit]:
    """Find whole numbers that are written in words."""
    own = _grammar(words)
    for found in own.phrase.finditer(text):
        yield Hit(found.start(), found.end(), own.phrases.of(found[0]), False)
    for found in own.run.finditer(text):
        places = list(_WORD.finditer(text, found.start(), found.end()))
        said, at = [place[0].casefold() for place in places], 0
        while at < len(said):
            value, count = _read_run(said, at, own)
            if count:
                start, end = places[at].start(), places[at + count - 1].end()
                weak = count == 1 and said[at] in own.articles
                yield _with_fraction(text, Hit(start, end, value, False, weak), own)
            at += max(1, count)


def _read_run(said: list[str], at: int, own: SimpleNamespace) -> tuple[int, int]:
    for table in own.numerals:
        value, count = table.run(said, at)
        if count:
            return value, count
        single = table.of(said[at])
        if single is not None:
            return single, 1
    return 0, 0


def numeral_of(word: str, words: Vocabulary) -> int | None:
    """Return the number that digits, a numeral of one word or an article for one stand for."""
    word = word.casefold()
    if word.isdecimal():
        return int(word)
    own = _grammar(words)
    if word in own.one:
        return 1
    hit = next(numerals_in(word, words), None)
    return hit.value if hit and (hit.start, hit.end) == (0, len(word)) else None


def small_numerals(words: Vocabulary) -> dict[str, int]:
    """Return the words for numbers under 60, and the number of each; no article is one."""
    tables, others = _grammar(words).numerals, words.numbers.others
    known = {word: n for table in reversed(tables) for word, n in table.small.items()}
    return {word: n for word, n in known.items() if n < 60 and not (n == 1 and word in others)}


def ordinals_of(words: Vocabulary) -> dict[str, int]:
    """Return the words for places in an order, and the place of each."""
    known: dict[str, int] = _grammar(words).ordinals
    return known


def fractions_in(text: str, own: SimpleNamespace) -> Iterator[Hit]:
    """Find halves that are written in words; the value is a Decimal."""
    for found in own.fraction.finditer(text):
        if found["half"]:
            value: Decimal | None = Decimal(str(own.halves.of(found["half"])))
        else:
            said = found["whole"].casefold()
            whole = next((v for t in own.numerals if (v := t.of(said)) is not None), None)
            value = None if whole is None else whole + _HALF
        if value is not None:
            yield Hit(found.start(), found.end(), value, False)


def _with_fraction(text: str, hit: Hit, own: SimpleNamespace) -> Hit:
    """Join a numeral with the fraction behind it: "two and a half", "three point five"."""
    if half := own.and_half.match(text, hit.end):
        return Hit(hit.start, half.end(), hit.value + _HALF, False)
    point = own.point.match(text, hit.end)
    if point is None:
        return hit
    digits, end = "", point.start("digits")
    for word in _ANY.finditer(text, end, point.end()):
        digit = word[0] if word[0].isdecimal() else _digit(word[0].casefold(), own)
        if not digit or (digits and word[0].isdecimal()):
            break
        digits, end = digits + digit, word.end()
    return Hit(hit.start, end, hit.value + Decimal(f"0.{digits}"), False) if digits else hit


def _digit(word: str, own: SimpleNamespace) -> str:
    known = (table.small[word] for table in own.numerals if word in table.small)
    value = next(known, 10)
    return str(value) if value < 10 else ""


def comma_is_decimal(setting: Setting) -> bool:
    """Return whether the comma parts the decimals where a user speaks."""
    if setting.decimal_sign:
        return setting.decimal_sign == ","
    return setting.region in everywhere().comma_is_decimal


def decimal_of(digits: str, setting: Setting, *, grouped: bool = False) -> Decimal | None:
    """Read digits with separators; None if they are no number.

    What is unmistakable is read so everywhere: two kinds of separators, one that comes twice, a
    group of other than three digits. "1,234" alone is read as in the region.

    Args:
        digits: Digits, points, commas, spaces and apostrophes.
        setting: Where it is said.
        grouped: True if a group of three digits at the end always belongs to the thousands.
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
    """Return whether digits are parted as thousands are, or as in India."""
    if not parts or not 1 <= len(parts[0]) <= 3:
        return False
    sizes = [len(part) for part in parts[1:]]
    return all(size == 3 for size in sizes) or (
        sign == "," and bool(sizes) and sizes[-1] == 3 and all(size == 2 for size in sizes[:-1])
    )


def decimals_in(text: str, setting: Setting, *, whole: bool = False) -> list[Hit]:
    """Find numbers, as Decimal; some may overlap."""
    words = vocabulary(setting.language)
    own = _grammar(words)
    if not own.maybe.search(text):
        return []
    hits = [
        hit for found in own.number.finditer(text) if (hit := _digits(found, own, setting, whole))
    ]
    for hit in (*fractions_in(text, own), *numerals_in(text, words)):
        value = Decimal(hit.value)
        if minus := own.minus.search(before(text, hit.start)):
            hit, value = hit._replace(start=hit.start - len(minus[0])), -value
        hits.append(hit._replace(value=value))
    return [hit for hit in hits if abs(hit.value) <= MOST]


def _digits(
    found: re.Match[str], own: SimpleNamespace, setting: Setting, whole: bool
) -> Hit | None:
    digits, scale, fraction = found["digits"] or "0", found["scale"], found["fraction"]
    value = Decimal(digits) if digits.isdecimal() else decimal_of(digits, setting, grouped=whole)
    if value is None:
        return None
    if scale:
        value = value.scaleb(own.behind.of(scale.strip().rstrip(".")))
    if fraction:
        value += _FRACTIONS[fraction.strip()]
    if (found["sign"] or "+") != "+":
        value = -value
    return Hit(found.start(), found.end(), value, False)


def scan_integers(text: str, field: Field, setting: Setting) -> list[Hit]:
    """Find whole numbers; of people also "me and my sister", of anything else "none"."""
    own = _grammar(vocabulary(setting.language))
    said = words_of_field(field, setting)
    hits = [
        hit._replace(value=int(hit.value))
        for hit in apart(decimals_in(text, setting, whole=True))
        if hit.value == int(hit.value)
    ]
    if own.people.count.intersection(said):
        hits = _people(text, hits, own.people)
    asked = said.intersection(own.asked)
    for found in own.place.finditer(text):
        if (found["what"] or "").casefold() in said or (found["what"] is None and asked):
            place = own.ordinals[found["place"].casefold().replace(" ", "-")]
            hits.append(Hit(found.start(), found.end("place"), place, False))
    return apart(hits) or _none(text, field, own, setting)


def scan_numbers(text: str, field: Field, setting: Setting) -> list[Hit]:
    """Find numbers."""
    hits = apart(decimals_in(text, setting))
    return [hit._replace(value=float(hit.value)) for hit in hits] or [
        hit._replace(value=0.0)
        for hit in _none(text, field, _grammar(vocabulary(setting.language)), setting)
    ]


def _none(text: str, field: Field, own: SimpleNamespace, setting: Setting) -> list[Hit]:
    """Return a zero where a text says that there is none of what is counted, and nothing else."""
    first, _, rest = text.strip(" .!").partition(" ")
    more = words_of_field(field, setting)
    if rest and first.casefold() in own.no and more.issuperset(rest.casefold().split()):
        return [Hit(text.index(first), text.index(first) + len(first), 0, False)]
    found = own.none.search(text)
    if found is None:
        return []
    hit = Hit(found.start(), found.end(), 0, False)
    return [hit] if is_filler(rest_of(text, [hit]), setting, beside(field, setting)) else []


def _people(text: str, hits: list[Hit], own: SimpleNamespace) -> list[Hit]:
    """Count people by kinds, "2 adults, 1 child", and by who they are, "me and my sister"."""
    if own.some.search(text):
        return []  # "2 of us and the kids"
    for found in own.alone.finditer(text):
        hits.append(Hit(found.start(), found.end(), own.phrases.of(found[0]), False))
    together = own.together.finditer(text)
    items = [(found.start(), found.end(), 1, found[0].casefold()) for found in together]
    for hit in hits:
        if kind := own.kind.match(text, hit.end):
            mine = own.own.search(before(text, hit.start))
            items.append((hit.start - (len(mine[0]) if mine else 0), kind.end(), hit.value, ""))
    made: list[Hit] = []
    group: list[tuple[int, int, int, str]] = []
    for item in [*sorted(items), (len(text) + 9, 0, 0, "")]:
        if group and not (item[1] and own.joint.fullmatch(text, group[-1][1], item[0])):
            made += _group(group, own, text)
            group = []
        if not group or item[0] >= group[-1][1]:
            group.append(item)
    return [hit for hit in hits if not _within(hit, made)] + made


def _group(group: list[tuple[int, int, int, str]], own: SimpleNamespace, text: str) -> list[Hit]:
    """Return how many people are named one after the other.

    None if the user is not among them, or a person follows who is not known: "and another couple".
    """
    names = [said for _, _, _, said in group if said]
    if names and own.more.match(text, group[-1][1]):
        return []
    if len(group) < 2 or (names and not own.self.intersection(names)):
        return []
    return [Hit(group[0][0], group[-1][1], sum(item[2] for item in group), False)]


def _within(hit: Hit, others: list[Hit]) -> bool:
    return any(other.start <= hit.start and hit.end <= other.end for other in others)


_MOST_DIGITS = 15


@cache
def _codes() -> dict[str, int]:
    """Return the codes of currencies, and the decimals of their amounts."""
    digits = everywhere().currencies["digits"]
    return {code: count for count, codes in digits.items() for code in codes.split()}


@cache
def _money_grammar(words: Vocabulary) -> SimpleNamespace:
    said, known = words.money, everywhere().currencies
    regional = dict.fromkeys([*said.dollars, *known["dollars"].split()], known["dollar_of"])
    regional |= dict.fromkeys(said.pesos, known["peso_of"])
    regional |= dict.fromkeys([*said.crowns, *known["crowns"].split()], known["crown_of"])
    names = {name: code for code, names in said.names.items() for name in names}
    names |= {name: code for code, names in known["names"].items() for name in names.split()}
    called = [*regional, *names]
    small = frozenset(known["in_small_letters"].split())
    codes = [code.casefold() for code in _codes()]
    own = grammar("money", words, currency=literal([*called, *codes]))
    own.regional, own.names, own.small = regional, names, small
    own.longest = max(map(len, called)) + 4
    own.leading = frozenset([*known["leading"].split(), *(code.casefold() for code in small)])
    return own


def digits_of(currency: str) -> int:
    """Return how many decimals amounts of a currency have."""
    return _codes().get(currency, 2)


def _currency_of(said: str, own: SimpleNamespace, region: str) -> str:
    """Return the code of a currency as a person calls it where they are; empty if it is not one."""
    name = " ".join(said.casefold().split())
    if by_region := own.regional.get(name):
        return str(by_region.get(region) or by_region["elsewhere"])
    if name in own.names:
        return str(own.names[name])
    code = name.upper()
    return code if code in _codes() and (said == code or code in own.small) else ""


def _leads(said: str, own: SimpleNamespace) -> bool:
    """Return whether a name of a currency may stand before the amount: no common word does."""
    return not said.isalpha() or said.isupper() or said.casefold() in own.leading


def scan_money(text: str, field: Field, setting: Setting) -> list[Hit]:
    """Find amounts of money; what names no currency is uncertain, and has the field's."""
    own = _money_grammar(vocabulary(setting.language))
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
        """Return the amount that a number is; None if it is not one."""
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
