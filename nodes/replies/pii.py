"""Personal data in replies: found by the rules of each kind, and masked in place.

Cards by Luhn and IBANs and national numbers by their check digits (python-stdnum), telephone
numbers by the plans of countries (phonenumbers), addresses by email-validator. What is read as a
number is taken for one, however it is written (`nodes/replies/folding.py`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from nodes.replies import identities, phones
from nodes.replies.cards import Span, cards_in, ibans_in
from nodes.replies.folding import UNSPACED, as_read
from nodes.replies.identities import identities_in
from nodes.replies.phones import Phones

MASKS = {
    "card": "[card number]",
    "iban": "[account number]",
    "email": "[e-mail address]",
    "phone": "[telephone number]",
    "national_id": "[identity number]",
}
"""Replacement text of each kind."""

Finder = Callable[[str, int], Iterable[Span]]
# No other characters than those of domains and of most people's addresses: a first part of at most
# 64 (RFC 5321, section 4.5.3.1), and scripts without spaces end what stands before.
_PART = rf"[^\W{UNSPACED}]"
_LABEL = rf"[^\W_{UNSPACED}]"
_ADDRESS = re.compile(
    rf"(?<!{_PART})(?<![.%+'-])(?:{_PART}|[.%+'-]){{1,64}}"
    rf"@(?:{_LABEL}(?:{_LABEL}|-){{0,62}}\.){{1,8}}[^\W\d_{UNSPACED}]{{2,24}}(?!{_PART}|@)"
)


_FEWEST = 5


class Seen(NamedTuple):
    """Something personal: its kind, and where it stands."""

    kind: str
    start: int
    end: int


class Detector:
    """Finds personal data in the pieces of one reply.

    Args:
        kinds: The kinds to find, of `journeys.notions.validation.PII`.
        allowed: Texts that may be said although they look like personal data.
    """

    def __init__(self, kinds: Iterable[str], allowed: Iterable[str] = ()) -> None:
        finders: dict[str, Finder] = {
            "email": addresses_in,
            "iban": ibans_in,
            "card": cards_in,
            "national_id": identities_in,
            "phone": Phones(),
        }
        wanted = frozenset(kinds)
        self._finders = [(kind, find) for kind, find in finders.items() if kind in wanted]
        self._allowed = {key for text in allowed if (key := _key(as_read(text)))}

    def find(self, text: str, since: int = 0) -> list[Seen]:
        """Return what is personal in a folded text from a place on, in order; nothing overlaps."""
        # No number has fewer digits: what a tax office of Italy gives has seven, or nearly so.
        numbers = sum(map(str.isdigit, text[since:])) >= _FEWEST
        taken: list[Seen] = []
        for kind, find in self._finders:
            if not numbers and kind != "email":
                continue
            for start, end in find(text, since):
                if not any(start < seen.end and seen.start < end for seen in taken):
                    taken.append(Seen(kind, start, end))
        seen = sorted(taken, key=lambda seen: seen.start)
        return [one for one in seen if _key(text[one.start : one.end]) not in self._allowed]


def _key(text: str) -> str:
    """Return a text without what is only put between its parts."""
    return "".join(char for char in text.casefold() if char.isalnum() or char in "@+")


def addresses_in(text: str, since: int) -> Iterator[Span]:
    """Find e-mail addresses; their existence is not checked."""
    if "@" not in text[since:]:
        return
    for found in _ADDRESS.finditer(text, since):
        if _is_address(found[0].strip(".'")):
            yield found.span()


def _is_address(text: str) -> bool:
    from email_validator import EmailNotValidError, validate_email  # noqa: PLC0415 - 37 ms

    try:
        validate_email(text, check_deliverability=False)
    except EmailNotValidError:
        return False
    except Exception:  # what the library stumbles over is none of its plain cases: better masked
        return True
    return True


def load(kinds: Sequence[str]) -> None:
    """Import what the kinds need, before the first reply that would have to wait for it."""
    if "phone" in kinds:
        phones.load()
    if "national_id" in kinds:
        identities.load()
    if "email" in kinds:
        import email_validator  # noqa: F401, PLC0415
