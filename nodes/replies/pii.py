"""Personal data in replies: found by the rules of each kind, and masked in place.

Cards by Luhn and IBANs and national numbers by their check digits (python-stdnum), telephone
numbers by the plans of countries (phonenumbers), addresses by email-validator. What is read as a
number is taken for one, however it is written (`nodes/replies/folding.py`).

Any number of digits is a telephone number in some country. One with its country's code is taken
for one; others must be written as numbers of a country are, or be announced by a word before them.
Nearly every run of nine digits is a person's number somewhere: either the way it is written tells
it (`shape`), or a word before it does (`named`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from stdnum import iban, luhn, numdb

from journeygraph.nodes.replies.folding import UNSPACED, as_read

if TYPE_CHECKING:
    import phonenumbers


Span = tuple[int, int]
"""Start and end of a match in a text."""
MOST_LOOKED_UP = 300
"""Numbers of a reply that the library is asked about; of the rest, their shape decides."""
_REGIONS = ("US", "GB", "DE", "FR", "IT", "ES", "NL", "PL", "SE", "AT", "CH", "BE", "AU", "IN")
_ANNOUNCED_WITHIN = 40
_TRIES, _FEWEST_OF_PHONES = 3, 7
_MORE = r"(?:[ .\-/()]{0,3}\d)"
_ABROAD = re.compile(rf"(?<![0-9A-Za-z+])(?:\+|00(?=[1-9 ])) ?\(?\d{_MORE}{{6,14}}(?!\d)")
_TRUNK = re.compile(rf"(?<![0-9A-Za-z.,/+-])\(?0\d{_MORE}{{5,12}}(?![0-9A-Za-z])")
_AMERICAN = re.compile(
    r"(?<![0-9A-Za-z.,/+-])(?:1[ .-])?(?:\([2-9]\d{2}\) ?|[2-9]\d{2}[ .-])[2-9]\d{2}[ .-]\d{4}"
    r"(?![0-9A-Za-z])(?![.-]\d)"
)
_ANY_NUMBER = re.compile(rf"(?<![0-9A-Za-z.,/+-])\(?\d{_MORE}{{6,13}}(?![0-9A-Za-z])")
_ANNOUNCED = re.compile(
    r"(?<!\w)(?:tel|telef\w*|t[eé]l[eé]\w*|phone|telephone|call|mobile|mobil\w*|cell\w*|handy\w*|"
    r"fax|whatsapp|dial|sms|rufnummer|durchwahl|reach|hotline|numer|m[oó]vil|portable|"
    r"cellulare|telefoon\w*)(?!\w)",
    re.IGNORECASE,
)
_DATE = re.compile(
    r"(?:\d{1,2}([./-])\d{1,2}\1(?:\d{4}|\d{2})|\d{1,2} \d{1,2} (?:19|20)\d{2}|"
    r"\d{4}([./-])\d{2}\2\d{2})(?!\d|[./]\d|-(?!\d{1,2}[./]\d)\d)"
)
_FRACTION = re.compile(r"0[.,]\d+$|\d{1,3}(?:[. ]\d{3})+$")
_AMOUNT = re.compile(r"\d+\.\d{2}")
_TIME = r"(?:[01]\d|2[0-4])\.?(?:00|15|30|45)"
# From when to when, as in 0900-1200 1300-1700.
_TIMES = re.compile(rf"{_TIME} ?- ?{_TIME}(?: {_TIME}(?: ?- ?{_TIME})?)*")


class _Phones:
    """Finds telephone numbers in the pieces of one reply."""

    def __init__(self) -> None:
        self._left = MOST_LOOKED_UP

    def __call__(self, text: str, since: int) -> Iterator[Span]:
        for found in _ABROAD.finditer(text, since):
            yield from self._shortened(found, _is_abroad)
        for found in _TRUNK.finditer(text, since):
            if not (_DATE.match(found[0]) or _FRACTION.fullmatch(found[0])):
                yield from self._shortened(found, _is_local_number)
        for found in _AMERICAN.finditer(text, since):
            yield from self._shortened(found, _is_american)
        if _ANNOUNCED.search(text):
            for found in _ANY_NUMBER.finditer(text, since):
                before = text[max(found.start() - _ANNOUNCED_WITHIN, 0) : found.start()]
                is_other = _DATE.match(found[0]) or _AMOUNT.fullmatch(found[0])
                if _ANNOUNCED.search(before) and not is_other:
                    yield from self._shortened(found, _is_announced)

    def _shortened(self, found: re.Match[str], judged: Callable[[str], bool]) -> Iterator[Span]:
        """Judge what has the shape; also without its last groups, which may be another number."""
        number = found[0]
        for _ in range(_TRIES):
            if _TIMES.fullmatch(number):
                return
            self._left -= 1
            # Who fills a reply with such numbers gains nothing by it.
            if self._left < 0 or _holds(judged, number):
                yield found.start(), found.start() + len(number)
                return
            number = number[: max(number.rfind(sign) for sign in " .-/()")].rstrip(" .-/(")
            if sum(map(str.isdigit, number)) < _FEWEST_OF_PHONES:
                return


def _holds(judged: Callable[[str], Any], number: str) -> bool:
    try:
        return bool(judged(number))
    except Exception:  # what a library stumbles over is none of its plain cases: better masked
        return True


@lru_cache(maxsize=10_000)
def _is_abroad(number: str) -> bool:
    """Return whether it has a country's code and a possible length; after 00, a valid number."""
    import phonenumbers  # noqa: PLC0415 - 70 ms, and only journeys that check replies need it

    digits = "".join(filter(str.isdigit, number.replace("(0)", "")))
    judge = phonenumbers.is_possible_number
    if not number.startswith("+"):
        digits, judge = digits[2:], phonenumbers.is_valid_number
    try:
        return judge(phonenumbers.parse(f"+{digits}", None))
    except phonenumbers.NumberParseException:
        return False


@lru_cache(maxsize=10_000)
def _is_local_number(number: str) -> bool:
    """Return whether it is a number with a separate area code, or a mobile number in one piece."""
    return any(_is_written_in(number, region) for region in _REGIONS)


def _is_written_in(number: str, region: str) -> bool:
    import phonenumbers  # noqa: PLC0415

    parsed = _valid_in(number, region)
    if parsed is None:
        return False
    if number.isdigit():
        return phonenumbers.number_type(parsed) == phonenumbers.PhoneNumberType.MOBILE
    written = phonenumbers.format_number(parsed, phonenumbers.PhoneNumberFormat.NATIONAL)
    return _first_digits(written) == _first_digits(number)


def _first_digits(number: str) -> str:
    return re.split(r"\D+", number.lstrip("("), maxsplit=1)[0]


@lru_cache(maxsize=10_000)
def _is_american(number: str) -> bool:
    return _valid_in(number, "US") is not None


@lru_cache(maxsize=10_000)
def _is_announced(number: str) -> bool:
    return any(_valid_in(number, region) is not None for region in _REGIONS)


def _valid_in(number: str, region: str) -> phonenumbers.PhoneNumber | None:
    import phonenumbers  # noqa: PLC0415

    try:
        parsed = phonenumbers.parse(number, region)
    except phonenumbers.NumberParseException:
        return None
    return parsed if phonenumbers.is_valid_number_for_region(parsed, region) else None


# Between groups also what stresses one of them, as "1111 **1111**" does.
_DIGITS = re.compile(r"(?<!\d)\d(?:(?:[ .\-/_]{0,3}|[*`]{0,3} ?[*`]{0,3})\d)+")
_GROUP = re.compile(r"\d+")
# Numbers of cards by their beginning and length (ISO/IEC 7812, as published by Visa, Mastercard,
# American Express, Diners, Discover, JCB, UnionPay, Maestro, Mir and RuPay).
_CARD = re.compile(
    r"4(?:\d{12}|\d{15}|\d{18})|(?:5[1-5]\d\d|2(?:22[1-9]|2[3-9]\d|[3-6]\d\d|7[01]\d|720))\d{12}"
    r"|3[47]\d{13}|3(?:0[0-5]|[689]\d)(?:\d{11}|\d{13}|\d{16})|35(?:2[89]|[3-8]\d)(?:\d{12}|\d{15})"
    r"|62\d{14,17}|(?=\d{16}$|\d{18,19}$)(?:6(?:0|4[4-9]|5|[37])|5[068]|8[12]|220[0-4])\d+"
)
_LONGEST = 19


def _cards_in(text: str, since: int) -> Iterator[Span]:
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
    number = ""
    for last in range(first, len(groups)):
        number += groups[last][0]
        if len(number) > _LONGEST:
            return None
        if _CARD.fullmatch(number) and luhn.is_valid(number):
            return last
    return None


_IBAN = re.compile(r"(?<![0-9A-Za-z])[A-Za-z]{2}[ .-]?\d{2}(?=(?:[ .-]{0,2}[0-9A-Za-z]){11})")
_SIGN = re.compile(r"[0-9A-Za-z]")
_ENDS_IBAN = re.compile(r"(?![0-9A-Za-z])")


def _ibans_in(text: str, since: int) -> Iterator[Span]:
    for found in _IBAN.finditer(text, since):
        length = _iban_length(found[0][:2].upper())
        signs = list(_signs(text, found.start(), length)) if length else []
        if not signs or len(signs) != length or not _ENDS_IBAN.match(text, signs[-1] + 1):
            continue
        if iban.is_valid("".join(text[at] for at in signs), check_country=False):
            yield found.start(), signs[-1] + 1


def _signs(text: str, start: int, most: int) -> Iterator[int]:
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
    structure = numdb.get("iban").info(f"{country}00")[0][1].get("bban", "")
    parts = re.findall(r"(\d+)!", structure)
    return 4 + sum(map(int, parts)) if parts else 0


_NAMED_WITHIN = 60
"""Characters before a number in which it may be named."""


@dataclass(frozen=True, slots=True)
class _Kind:
    """One kind of number; `module` of stdnum judges what has its shape, or was named."""

    module: str
    shape: str = ""
    named: str = ""
    bare: str = ""

    def judge(self, number: str) -> bool:
        module: Any = import_module(f"stdnum.{self.module}") if self.module else None
        return module is None or module.is_valid(number)


_KINDS = (
    _Kind("us.ssn", r"\d{3}-\d{2}-\d{4}|\d{3} \d{2} \d{4}", r"ssn|social security", r"\d{9}"),
    _Kind("us.itin", r"9\d{2}-\d{2}-\d{4}", r"itin|taxpayer", r"\d{9}"),
    _Kind("", r"(?!BG|GB|KN|NK|NT|TN|ZZ)[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z](?: ?\d{2}){3} ?[A-D]"),
    _Kind("gb.nhs", "", r"nhs", r"\d{3}[ -]?\d{3}[ -]?\d{4}"),
    _Kind(
        "de.idnr",
        r"\d{2} \d{3} \d{3} \d{3}",
        r"steuer-?id\w*|steuerliche\w*|identifikationsnummer|idnr|tax id\w*",
        r"\d{11}",
    ),
    _Kind("fr.nir", r"[1-478](?: ?\d{2}){2} ?\d[\dAB](?: ?\d{3}){2} ?\d{2}"),
    _Kind("es.dni", r"\d{8}-?[A-Z]|\d{2}\.\d{3}\.\d{3}-?[A-Z]"),
    _Kind("es.nie", r"[XYZ]-?\d{7}-?[A-Z]"),
    _Kind("it.codicefiscale", r"[A-Z]{6}[\dL-V]{2}[A-EHLMPRST][\dL-V]{2}[A-Z][\dL-V]{3}[A-Z]"),
    _Kind("it.codicefiscale", r"[A-Z]{3} [A-Z]{3} \d{2}[A-EHLMPRST]\d{2} [A-Z]\d{3}[A-Z]"),
    _Kind("nl.bsn", "", r"bsn|burgerservice\w*|sofi\w*", r"\d{3,4}[. ]?\d{2,3}[. ]?\d{2,3}"),
    _Kind("pl.pesel", r"\d{11}"),
    _Kind(
        "se.personnummer",
        r"(?:\d{2})?\d{6}[-+]\d{4}",
        r"person-?nummer|personnr",
        r"(?:\d{2})?\d{10}",
    ),
    _Kind("in_.aadhaar", r"\d{4}[ -]\d{4}[ -]\d{4}", r"aadhaar|aadhar|uidai", r"\d{12}"),
    _Kind("br.cpf", r"\d{3}\.\d{3}\.\d{3}-\d{2}", r"cpf", r"\d{11}"),
    _Kind("be.nn", r"\d{2}\.\d{2}\.\d{2}-\d{3}[.-]\d{2}", r"rijksregister\w*|nrn", r"\d{11}"),
    _Kind("ch.ssn", r"756\.?\d{4}\.?\d{4}\.?\d{2}"),
    _Kind("fi.hetu", r"\d{6}[-+A]\d{3}[\dA-FHJ-NPR-Y]"),
)


def _whole_number(pattern: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![0-9A-Za-z])(?<!\d[-.,/])(?:{pattern})(?![0-9A-Za-z])", re.IGNORECASE)


_SHAPES = [(_whole_number(kind.shape), kind) for kind in _KINDS if kind.shape]
_NAMED = [
    (re.compile(rf"(?<!\w)(?:{kind.named})(?!\w)", re.IGNORECASE), _whole_number(kind.bare), kind)
    for kind in _KINDS
    if kind.named
]
_ANY_SHAPE = _whole_number("|".join(kind.shape for kind in _KINDS if kind.shape))
_ANY_NAME = re.compile("|".join(kind.named for kind in _KINDS if kind.named), re.IGNORECASE)


def _identities_in(text: str, since: int) -> Iterator[Span]:
    for shape, kind in _SHAPES if _ANY_SHAPE.search(text, since) else ():
        for found in shape.finditer(text, since):
            if _holds(kind.judge, found[0]):
                yield found.span()
    for named, bare, kind in _NAMED if _ANY_NAME.search(text) else ():
        for found in bare.finditer(text, since) if named.search(text) else ():
            before = text[max(found.start() - _NAMED_WITHIN, 0) : found.start()]
            if named.search(before) and _holds(kind.judge, found[0]):
                yield found.span()


MASKS = {
    "card": "[card number]",
    "iban": "[account number]",
    "email": "[e-mail address]",
    "phone": "[telephone number]",
    "national_id": "[identity number]",
}
"""Replacement text of each kind."""

_Finder = Callable[[str, int], Iterable[Span]]
# No other characters than those of domains and of most people's addresses: a first part of at most
# 64 (RFC 5321, section 4.5.3.1), and scripts without spaces end what stands before.
_PART = rf"[^\W{UNSPACED}]"
_LABEL = rf"[^\W_{UNSPACED}]"
_ADDRESS = re.compile(
    rf"(?<!{_PART})(?<![.%+'-])(?:{_PART}|[.%+'-]){{1,64}}"
    rf"@(?:{_LABEL}(?:{_LABEL}|-){{0,62}}\.){{1,8}}[^\W\d_{UNSPACED}]{{2,24}}(?!{_PART}|@)"
)


_FEWEST = 5


class PersonalDatum(NamedTuple):
    """Personal data: its kind and its place."""

    kind: str
    start: int
    end: int


class Detector:
    """Finds personal data in the pieces of one reply.

    Args:
        allowed: Texts that are allowed although they look like personal data.
    """

    def __init__(self, kinds: Iterable[str], allowed: Iterable[str] = ()) -> None:
        finders: dict[str, _Finder] = {
            "email": _addresses_in,
            "iban": _ibans_in,
            "card": _cards_in,
            "national_id": _identities_in,
            "phone": _Phones(),
        }
        wanted = frozenset(kinds)
        self._finders = [(kind, find) for kind, find in finders.items() if kind in wanted]
        self._allowed = {key for text in allowed if (key := _key(as_read(text)))}

    def find(self, text: str, since: int = 0) -> list[PersonalDatum]:
        """Return what is personal in a folded text from a place on, in order; nothing overlaps."""
        # No number has fewer digits: what a tax office of Italy gives has seven, or nearly so.
        numbers = sum(map(str.isdigit, text[since:])) >= _FEWEST
        taken: list[PersonalDatum] = []
        for kind, find in self._finders:
            if not numbers and kind != "email":
                continue
            for start, end in find(text, since):
                if not any(start < seen.end and seen.start < end for seen in taken):
                    taken.append(PersonalDatum(kind, start, end))
        seen = sorted(taken, key=lambda seen: seen.start)
        return [one for one in seen if _key(text[one.start : one.end]) not in self._allowed]


def _key(text: str) -> str:
    return "".join(char for char in text.casefold() if char.isalnum() or char in "@+")


def _addresses_in(text: str, since: int) -> Iterator[Span]:
    for found in _ADDRESS.finditer(text, since) if "@" in text[since:] else ():
        if _holds(_is_address, found[0].strip(".'")):
            yield found.span()


def _is_address(text: str) -> bool:
    from email_validator import EmailNotValidError, validate_email  # noqa: PLC0415 - 37 ms

    try:
        validate_email(text, check_deliverability=False)
    except EmailNotValidError:
        return False
    return True


def load(kinds: Sequence[str]) -> None:
    """Import what the kinds need, before the first reply that would have to wait for it."""
    if "phone" in kinds:
        _is_announced("0")
    for kind in _KINDS if "national_id" in kinds else ():
        kind.judge("0")
    if "email" in kinds:
        _is_address("a@example.org")
