"""Integers, numbers, amounts of money: digits with both separators, numerals in words, people."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterator
from decimal import Decimal
from functools import cache, lru_cache
from itertools import zip_longest
from types import SimpleNamespace

from journeygraph.journeys.notions.fields import Field
from journeygraph.nodes.values.scanning import (
    Hit,
    Setting,
    Table,
    Vocabulary,
    all_told_of,
    apart,
    before,
    beside,
    everywhere,
    grammar,
    in_rows,
    is_filler,
    literal,
    one_of,
    respelled,
    rest_of,
    words_in,
    words_of_field,
)

MOST = 2**63 - 1
"""Largest number that is kept, either way of zero."""
_WORD = re.compile(r"[^\W\d_]+")
_BLANK = re.compile(r"[\u00a0\u202f ']")
_SPACED = re.compile(r"\d{1,3}(?:[\u00a0\u202f ']\d{3})+(?:[.,]\d+)*")
_GROUPED = re.compile(
    r"(\d{1,3}(?:\.\d{3})+)(?:,(\d+))?|(\d{1,3}(?:(?:,\d\d)*|(?:,\d{3})*),\d{3})(?:\.(\d+))?"
)
_MOST_WORDS = 24
_DAILY, _WEEKS = frozenset(("time day", "time night")), (7, 14)
_PERIOD = ("every ", "time ")
"""Kinds of measures of "monthly", and of the month that it is."""


class Numerals:
    """The numerals of one language."""

    def __init__(self, own: SimpleNamespace) -> None:
        said = own.numbers
        self.small = {word: value for value, word in enumerate(said.units)}
        self.small |= {word: 10 * value for value, word in enumerate(said.tens, 2)}
        self.small |= {word: 100 * value for value, word in enumerate(said.hundreds, 1)}
        self.small |= said.others
        self.scales, self.joints, self.order = said.scales, frozenset(said.joints), said.order
        self.half = said.half_joined
        parts = one_of(literal(self.small, self.scales, self.joints, self.half))
        self.parts = re.compile(parts) if said.joined else None
        self.word = f"(?>{parts})++" if said.joined else one_of(literal(self.small, self.scales))

    def joined(self, word: str) -> int | None:
        """Return the value of a numeral whose parts are one word; None if it is not one."""
        if self.parts is None or len(word) > 60 or word.endswith(self.half):
            return None
        parts = self.parts.findall(word)
        value, count = self.run(parts, 0)
        return value if count == len(parts) and "".join(parts) == word else None

    def run(self, words: list[str], first: int) -> tuple[int, int]:
        """Return the value of the numeral that begins at a word, and of how many words it is."""
        total = current = last = count = 0
        joint = False
        for place, word in enumerate(words[first : first + _MOST_WORDS], 1):
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
            last, count, joint = value, place, False
        return total + current, count

    def _follows(self, value: int, last: int, joint: bool) -> bool:
        """Return whether a word can continue a numeral: "twenty one", but not "four five"."""
        if last == 0:
            return not joint
        if last >= 100:
            return value < last
        if self.order == "unit and ten":
            return joint and last < 10 and 20 <= value <= 90
        return joint == (self.order == "ten and unit") and 20 <= last <= 90 and 0 < value < 10


@cache
def numbers_of(words: Vocabulary) -> SimpleNamespace:
    """Return the words and patterns of numbers, with the place of each ordinal."""
    tables = [Numerals(each) for each in words.languages]
    # "once" is a number of the language that is spoken before it is one of another.
    phrases = {word: n for word, n in words.numbers.phrases.items() if word not in tables[0].small}
    small = {word: n for table in reversed(tables) for word, n in table.small.items()}
    ordinals = {
        word + ending: at + 1
        for each in words.languages
        for word, at in each.ordinals.places.items()
        for ending in ("", *each.ordinals.endings)
    }
    own = grammar(
        "numbers",
        words,
        numeral="|".join(table.word for table in tables),
        phrases=tuple(phrases),
        joined=literal(*[table.half for table in tables]),
        ordinal=literal(ordinals),
        digit=literal([word for word, n in small.items() if n < 10]),
    )
    own.numerals, own.small, own.phrases, own.ordinals = tables, small, Table(phrases), ordinals
    fractions = words.numbers.halves | words.numbers.and_half
    own.fractions = Table({said: Decimal(str(value)) for said, value in fractions.items()})
    own.measures = Table(words.numbers.measures)
    own.people = grammar("people", words)
    own.names = frozenset(small).union(*[table.scales for table in tables])
    around, answers = words.around, words.yes_no
    own.others = frozenset(words_in(" ".join([*answers.yes, *answers.no, *around.corrective])))
    own.others = own.others.union(around.filler, around.never, ordinals)
    return own


def respelled_number(text: str, field: Field, setting: Setting) -> str:
    """Return a text with what is nearly a numeral, or what is counted, as that word."""
    own = numbers_of(setting.words)
    as_it_is = own.others.intersection(words_in(text))
    return respelled(text, own.names.union(beside(field, setting), as_it_is), 7)


def numerals_in(text: str, words: Vocabulary) -> Iterator[Hit]:
    """Find whole numbers that are written in words."""
    own = numbers_of(words)
    for found in own.phrase.finditer(text):
        yield Hit.of(found, own.phrases.of(found[0]), False)
    for found in own.run.finditer(text):
        places = list(_WORD.finditer(text, *found.span()))
        said, at = [place[0].casefold() for place in places], 0
        while at < len(said):
            value, count = _read_run(said, at, own)
            if count:
                weak = count == 1 and said[at] in own.articles
                hit = Hit(places[at].start(), places[at + count - 1].end(), value, False, weak)
                yield _with_fraction(text, hit, own)
            at += max(1, count)


def _read_run(said: list[str], at: int, own: SimpleNamespace) -> tuple[int, int]:
    for table in own.numerals:
        value, count = table.run(said, at)
        if count:
            return value, count
        if (single := table.joined(said[at])) is not None:
            return single, 1
    return 0, 0


def numeral_of(word: str, words: Vocabulary) -> int | None:
    """Return the number of digits, of a numeral of one word or of an article for one."""
    word = word.casefold()
    if word.isdecimal():
        return int(word)
    if word in words.numbers.one:
        return 1
    hit = next(numerals_in(word, words), None)
    return hit.value if hit and (hit.start, hit.end) == (0, len(word)) else None


def _fractions(text: str, own: SimpleNamespace, words: Vocabulary) -> Iterator[Hit]:
    """Find fractions that are written in words: "half", "zweieinhalb", "two kilos and a half"."""
    for found in (*own.counted_half.finditer(text), *own.fraction.finditer(text)):
        count = numeral_of(found["count"], words) if found["count"] else 0
        if count is not None:
            yield Hit.of(found, count + own.fractions.of(found["half"]), False)


def _with_fraction(text: str, hit: Hit, own: SimpleNamespace) -> Hit:
    """Join a number with the fraction behind it: "two and a half", "12 point five"."""
    if half := own.and_fraction.match(text, hit.end):
        return Hit(hit.start, half.end(), hit.value + own.fractions.of(half["half"]), False)
    if point := own.point.match(text, hit.end):
        digits = [str(own.small.get(said, said)) for said in point["digits"].casefold().split()]
        value = hit.value + Decimal(f"0.{''.join(digits)}")
        return Hit(hit.start, point.end(), value, False)
    return hit


def _decimal_of(digits: str, setting: Setting, *, grouped: bool) -> Decimal | None:
    """Read digits with separators; None if they are no number.

    What is unmistakable is read so everywhere: two kinds of separators, one that comes twice, a
    group of other than three digits. "1,234" alone is read as in the region, or always as
    thousands where they are `grouped`.
    """
    plain = _BLANK.sub("", digits)
    if plain != digits and not _SPACED.fullmatch(digits):
        return None
    signs, found = plain.count(".") + plain.count(","), _GROUPED.fullmatch(plain)
    is_decimal = ("," in plain) == setting.comma_is_decimal and not grouped
    if found is None or (signs == 1 and (is_decimal or plain[0] == "0")):
        return Decimal(f"0{plain}".replace(",", ".")) if signs < 2 else None
    whole, fraction = found[1] or found[3], found[2] or found[4] or "0"
    return Decimal(f"{re.sub('[.,]', '', whole)}.{fraction}")


def decimals_in(text: str, setting: Setting, *, whole: bool = False) -> list[Hit]:
    """Find numbers, as Decimal; some may overlap."""
    own = numbers_of(setting.words)
    if not own.maybe.search(text):
        return []
    digits = [_digits(found, own, setting, whole) for found in own.number.finditer(text)]
    hits = [_with_fraction(text, hit, own) for hit in digits if hit]
    for hit in (*_fractions(text, own, setting.words), *numerals_in(text, setting.words)):
        value = Decimal(str(hit.value))
        if minus := own.minus.search(before(text, hit.start)):
            hit, value = hit._replace(start=hit.start - len(minus[0])), -value
        hits.append(hit._replace(value=value))
    return [hit for hit in hits if abs(hit.value) <= MOST]


def _digits(
    found: re.Match[str], own: SimpleNamespace, setting: Setting, whole: bool
) -> Hit | None:
    value = _decimal_of(found["digits"] or "0", setting, grouped=whole)
    if value is None:
        return None
    if scale := found["scale"]:
        value = value.scaleb(own.behind.of(scale.strip().rstrip(".")))
    if fraction := found["fraction"]:
        parts = unicodedata.normalize("NFKC", fraction.strip()).replace("\u2044", "/").split("/")
        value += Decimal(parts[0]) / Decimal(parts[1])
    return Hit.of(found, value if found["sign"] in (None, "+") else -value, False)


def scan_integers(text: str, field: Field, setting: Setting) -> list[Hit]:
    """Find whole numbers; of people also "me and my sister", of anything else "none"."""
    own, words = numbers_of(setting.words), setting.words
    said = words_of_field(field, setting)
    years = [] if own.years & said else [Hit.of(found, 0) for found in own.of_year.finditer(text)]
    hits = [
        hit._replace(value=int(hit.value))
        for hit in apart(decimals_in(text, setting, whole=True))
        if hit.value == int(hit.value) and not (years and hit.over(years))
    ]
    kinds = [kind for kind in words.people.kinds if not said.isdisjoint(kind)]
    if not said.isdisjoint(words.people.count) or len(kinds) == 1:
        among = kinds[0] if said.isdisjoint(words.people.count) else ()
        hits = _people(text, hits, own.people, among)
    if _asked_in(all_told_of(field), words)[0] & _DAILY:
        hits += _weeks(text, words, own)
    for found in own.place.finditer(text):
        what = (found["what"] or "").casefold()
        if what in said or not (what or said.isdisjoint(words.ordinals.asked)):
            place = own.ordinals[found["place"].casefold().replace(" ", "-")]
            hits.append(Hit(found.start(), found.end("place"), place, False))
    return _exact(apart(hits), text, field, setting) or _none(text, field, setting)


def _weeks(text: str, words: Vocabulary, own: SimpleNamespace) -> Iterator[Hit]:
    """Find weeks and fortnights, each as so many days: "two weeks"."""
    for found in own.length.finditer(text):
        count, days = numeral_of(found["count"], words), words.dates.units[found["unit"].casefold()]
        if count and days in _WEEKS:
            yield Hit.of(found, count * days, False)


def scan_numbers(text: str, field: Field, setting: Setting) -> list[Hit]:
    """Find numbers."""
    hits = _exact(apart(decimals_in(text, setting)), text, field, setting)
    hits = hits or _none(text, field, setting)
    return [hit._replace(value=float(hit.value)) for hit in hits]


def _exact(hits: list[Hit], text: str, field: Field, setting: Setting) -> list[Hit]:
    """Leave out numbers that are a bound, or of another unit or period: "over 50", "40 grams"."""
    own = numbers_of(setting.words)
    if not hits or not own.limited.search(text):
        return hits
    units, bounded = _asked_in(all_told_of(field), setting.words)

    def is_exact(hit: Hit) -> bool:
        if own.bound.search(before(text, hit.start)) or own.bound_behind.match(text, hit.end):
            return bounded
        said = own.measured.match(text, hit.end)
        measures = [own.measures.of(each) for each in said.groups() if each]
        if field.type == "money" and said["unit"] and not measures[0].startswith(_PERIOD[0]):
            return False  # "8 times"
        others = {each.replace(*_PERIOD) for each in measures} - units
        return all(units.isdisjoint((each.split()[0], "any")) for each in others)

    return [hit for hit in hits if is_exact(hit)]


@lru_cache(maxsize=2_000)
def _asked_in(question: str, words: Vocabulary) -> tuple[frozenset[str], bool]:
    """Return the units and periods that a question names, and whether it asks for a bound.

    With them come the kinds of what is measured; "any", if it is anything but time.
    """
    own = numbers_of(words)
    units = [own.measures.of(one[0]).replace(*_PERIOD) for one in own.measure.finditer(question)]
    kinds = [unit.split()[0] for unit in units]
    kinds += ["any" for kind in kinds if kind != "time"][:1]
    return frozenset((*units, *kinds)), own.bounding.search(question) is not None


def is_unit_of(word: str, field: Field, setting: Setting) -> bool:
    """Return whether the question of a field names a unit by this word, or by another for it."""
    unit = numbers_of(setting.words).measures.of(word)
    return bool(unit) and unit.replace(*_PERIOD) in _asked_in(all_told_of(field), setting.words)[0]


def _none(text: str, field: Field, setting: Setting) -> list[Hit]:
    """Return a zero where a text says that there is none of what is counted, and nothing else."""
    own, more = numbers_of(setting.words), words_of_field(field, setting)
    first, _, rest = text.strip(" .!").partition(" ")
    if rest and first.casefold() in own.no and more.issuperset(rest.casefold().split()):
        return [Hit(text.index(first), text.index(first) + len(first), 0, False)]
    found = own.none.search(text)
    if found is None:
        return []
    hits = [Hit.of(found, 0, False)]
    return hits if is_filler(rest_of(text, hits), setting, beside(field, setting)) else []


def _people(text: str, hits: list[Hit], own: SimpleNamespace, among: Collection[str]) -> list[Hit]:
    """Count people by kinds and by who they are; those of one kind, if `among` has its words."""
    if own.some.search(text):
        return []  # "2 of us and the kids"
    if not among:
        hits += [Hit.of(one, own.phrases.of(one[0]), False) for one in own.alone.finditer(text)]
    told = [(hit, kind) for hit in hits if (kind := own.kind.match(text, hit.end))]
    items = [(hit.start, kind.end(), hit.value, "") for hit, kind in told]
    found = own.together.finditer(text)
    who = [(*one.span(), 1, "" if one["counted"] else one[0].casefold()) for one in found]
    items += [one for one in who if not [1 for start, end, *_ in items if start <= one[0] < end]]
    if among:
        items = [one for one in items if text[: one[1]].split()[-1].casefold() in among]
        kept = [end for _, end, *_ in items]
        hits = [hit for hit in hits if hit not in [one for one, k in told if k.end() not in kept]]
    made = []
    for group in in_rows(text, items, own.joint):
        names, end = {name for _, _, _, name in group if name}, group[-1][1]
        # The user is among them, and nobody follows who is not known: "and another couple".
        known = not ((own.self.isdisjoint(names) and not among) or own.more.match(text, end))
        if len(group) > 1 and (known or not names):
            made.append(Hit(group[0][0], end, sum([item[2] for item in group]), False))
    return [hit for hit in hits if not hit.over(made)] + made


_MOST_DIGITS = 15


@cache
def _codes() -> dict[str, int]:
    """Return the codes of currencies, and the decimals of their amounts."""
    digits = everywhere().currencies["digits"]
    return {code: count for count, codes in digits.items() for code in codes.split()}


@cache
def _money_grammar(words: Vocabulary) -> SimpleNamespace:
    known = everywhere().currencies
    names = words.money.names | {
        name: code for code, said in known["names"].items() for name in said.split()
    }
    own = grammar("money", words, currency=literal(names, [code.casefold() for code in _codes()]))
    own.names, own.small = names, frozenset(known["in_small_letters"].split())
    own.longest = max(map(len, names)) + 4
    own.leading = {*known["leading"].split(), *(code.casefold() for code in own.small)}
    return own


def digits_of(currency: str) -> int:
    """Return how many decimals amounts of a currency have."""
    return _codes().get(currency, 2)


def scan_money(text: str, field: Field, setting: Setting) -> list[Hit]:
    """Find amounts of money; what names no currency is uncertain, and has the field's."""
    own = _money_grammar(setting.words)
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
        if made and not (hits and made.start < hits[-1].end):
            hits.append(made)
    hits = [hit._replace(start=places[hit.start], end=places[hit.end]) for hit in hits]
    return _exact(hits, text, field, setting)


def _spaced(text: str, own: SimpleNamespace) -> tuple[str, list[int]]:
    """Return a text with blanks between digits and currencies, and where its characters were."""
    cuts = [found.end() if found[1] else found.start() for found in own.glued.finditer(text)]
    ends = [*cuts, len(text)]
    pieces = [text[start:end] for start, end in zip([0, *cuts], ends, strict=True)]
    return " ".join(pieces), sorted([*range(len(text) + 1), *cuts])


class _Amounts:
    """The amounts in one text, for its numbers."""

    def __init__(self, text: str, field: Field, setting: Setting, own: SimpleNamespace) -> None:
        self.text, self.field, self.setting, self.own = text, field, setting, own

    def amount(self, hit: Hit, following: Hit | None) -> Hit | None:
        """Return the amount that a number is; None if it is not one."""
        text, own = self.text, self.own
        before = own.before.search(text, max(0, hit.start - own.longest), hit.start)
        after = own.after.match(text, hit.end)  # which may match nothing
        name = after["name"] or ""
        name = name if self._currency(name) else ""
        end = after.end() if name else after.end("dash") if after["dash"] else hit.end
        first = before["name"] if before else ""
        # No common word may stand before the amount.
        leads = not first.isalpha() or first.isupper() or first.casefold() in own.leading
        if leads and (code := self._currency(first)):
            if name and first != "$" and code != name.upper():
                return None
            # "$50 CAD" names it twice.
            value = -hit.value if before["sign"] else hit.value
            return self._made(Hit(before.start(), end, value), name or first, hit)
        if cents := own.cents.match(text, hit.end):
            name = "GBP" if "p" in cents[0].casefold() else ""
            return self._made(Hit(hit.start, cents.end(), hit.value / 100), name)
        if not name:
            return self._made(hit._replace(end=end), "")
        return self._made(self._with_cents(hit._replace(end=end), following), name, hit)

    def _currency(self, said: str) -> str:
        """Return the code of a currency as a person calls it where they are; empty if none."""
        own, name = self.own, " ".join(said.casefold().split())
        code = str(own.names.get(name, ""))
        if by_region := everywhere().currencies["regional"].get(code):
            return str(by_region.get(self.setting.region) or by_region["elsewhere"])
        if code or name.upper() not in _codes():
            return code
        return name.upper() if said == name.upper() or name.upper() in own.small else ""

    def _made(self, hit: Hit, name: str, said: Hit | None = None) -> Hit | None:
        """Return an amount as it is kept; None if its currency has no such one."""
        value, currency = hit.value, self._currency(name) or self.field.currency.upper()
        digits = digits_of(currency)
        if digits > 2 and said:
            written = self.text[said.start : said.end]
            value = next((one.value for one in apart(decimals_in(written, self.setting))), value)
        step = Decimal(1).scaleb(-digits)
        if abs(value) >= 10**_MOST_DIGITS or value != value.quantize(step):
            return None
        amount = str(value.quantize(step) or Decimal(0).quantize(step))
        money = {"amount": amount, "currency": currency}
        return Hit(hit.start, hit.end, money, bool(name) or hit.certain, hit.weak and not name)

    def _with_cents(self, hit: Hit, following: Hit | None) -> Hit:
        """Join an amount with the cents behind it: "5 euros 50"."""
        if following is None or not 0 <= following.value < 100 or following.value % 1:
            return hit
        whole = hit.value % 1 == 0
        joint = whole and self.own.cents_joint.fullmatch(self.text, hit.end, following.start)
        end = joint and self.own.cents_end.match(self.text, following.end)
        value = hit.value + following.value / 100
        return hit._replace(end=end.end(), value=value) if end else hit
