"""Telephone numbers in text that was folded.

Any number of digits is a telephone number in some country. One with its country's code is taken
for one; others must be written as numbers of a country are, or be announced by a word before them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import TYPE_CHECKING

from nodes.replies.cards import Span

if TYPE_CHECKING:
    import phonenumbers

MOST_LOOKED_UP = 300
"""Numbers of a reply that the library is asked about; of the rest, their shape decides."""
_REGIONS = ("US", "GB", "DE", "FR", "IT", "ES", "NL", "PL", "SE", "AT", "CH", "BE", "AU", "IN")
_NEAR = 40
_TRIES, _FEWEST = 3, 7
_MORE = r"(?:[ .\-/()]{0,3}\d)"
_ABROAD = re.compile(rf"(?<![0-9A-Za-z+])(?:\+|00(?=[1-9 ])) ?\(?\d{_MORE}{{6,14}}(?!\d)")
_TRUNK = re.compile(rf"(?<![0-9A-Za-z.,/+-])\(?0\d{_MORE}{{5,12}}(?![0-9A-Za-z])")
_AMERICAN = re.compile(
    r"(?<![0-9A-Za-z.,/+-])(?:1[ .-])?(?:\([2-9]\d{2}\) ?|[2-9]\d{2}[ .-])[2-9]\d{2}[ .-]\d{4}"
    r"(?![0-9A-Za-z])(?![.-]\d)"
)
_ANY = re.compile(rf"(?<![0-9A-Za-z.,/+-])\(?\d{_MORE}{{6,13}}(?![0-9A-Za-z])")
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


class Phones:
    """Finds telephone numbers in the pieces of one reply."""

    def __init__(self) -> None:
        self._left = MOST_LOOKED_UP

    def __call__(self, text: str, since: int) -> Iterator[Span]:
        """Find telephone numbers from a place in a text on."""
        for found in _ABROAD.finditer(text, since):
            yield from self._shortened(found, _is_abroad)
        for found in _TRUNK.finditer(text, since):
            if not _is_other(found[0]):
                yield from self._shortened(found, _is_local)
        for found in _AMERICAN.finditer(text, since):
            yield from self._shortened(found, _is_american)
        if _ANNOUNCED.search(text):
            for found in _ANY.finditer(text, since):
                before = text[max(found.start() - _NEAR, 0) : found.start()]
                if _ANNOUNCED.search(before) and not _is_dated_or_paid(found[0]):
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
            if sum(map(str.isdigit, number)) < _FEWEST:
                return


def _holds(judged: Callable[[str], bool], number: str) -> bool:
    try:
        return judged(number)
    except Exception:  # what the library stumbles over is none of its plain cases: better masked
        return True


def _is_dated_or_paid(number: str) -> bool:
    return bool(_DATE.match(number) or _AMOUNT.fullmatch(number))


def _is_other(number: str) -> bool:
    return bool(_DATE.match(number) or _FRACTION.fullmatch(number))


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
def _is_local(number: str) -> bool:
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
    """Return a number as one of a region; None if it is not valid there."""
    import phonenumbers  # noqa: PLC0415

    try:
        parsed = phonenumbers.parse(number, region)
    except phonenumbers.NumberParseException:
        return None
    return parsed if phonenumbers.is_valid_number_for_region(parsed, region) else None


def load() -> None:
    """Import the library and what it knows of the regions, for which no reply must wait."""
    _is_announced("0")
