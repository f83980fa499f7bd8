"""E-mail addresses by email-validator, and telephone numbers by phonenumbers."""

from __future__ import annotations

import re
from types import SimpleNamespace

from journeys.fields import Field
from nodes.values.languages import grammar, vocabulary
from nodes.values.scanning import Hit, apart
from nodes.values.setting import Setting

_ADDRESS = re.compile(r"(?<![^\s<>()\[\],;:\"])[^\s<>()\[\],;:\"]{1,64}@[^\s<>()\[\],;:\"@]{1,255}")
_AMERICAN = re.compile(r"[2-9]\d{9}")
_ENDS = ".,;:!?'\u2026"
_MOST_LOOKED_UP = 20


def scan_emails(text: str, field: Field, setting: Setting) -> list[Hit]:
    """Find e-mail addresses; nobody is asked whether they exist."""
    hits = []
    for found in list(_ADDRESS.finditer(text))[:_MOST_LOOKED_UP]:
        said = found[0].rstrip(_ENDS).lstrip("'")
        start = found.start() + (len(found[0]) - len(found[0].lstrip("'")))
        if address := _normal(said):
            hits.append(_framed(text, Hit(start, start + len(said), address)))
    own = grammar("contacts", vocabulary(setting.language))
    if "@" not in text and own.at.search(text):
        for found in own.spelled.finditer(text):
            said = f"{own.dot.sub('.', found['part'])}@{own.dot.sub('.', found['domain'])}"
            if address := _normal(said):
                hits.append(Hit(found.start(), found.end(), address, False))
    return apart(hits)


def _framed(text: str, hit: Hit) -> Hit:
    """Take the signs along that programs put around an address."""
    start, end = hit.start, hit.end
    if text[max(0, start - 7) : start].casefold() == "mailto:":
        start -= 7
    if text[:start].endswith("<") and text[end:].startswith(">"):
        start, end = start - 1, end + 1
    return hit._replace(start=start, end=end)


def _normal(address: str) -> str:
    from email_validator import EmailNotValidError, validate_email  # noqa: PLC0415 - 37 ms

    try:
        return validate_email(address, check_deliverability=False).normalized
    except EmailNotValidError:
        return ""


def scan_phones(text: str, field: Field, setting: Setting) -> list[Hit]:
    """Find telephone numbers, in E.164; those without the code of a country are the region's.

    An extension follows as RFC 3966 has it: "+14155552671;ext=12".
    """
    hits = []
    own = grammar("contacts", vocabulary(setting.language))
    for found in list(own.number.finditer(text))[:_MOST_LOOKED_UP]:
        if number := _dialled(found[0], setting.region, own):
            abroad = found[0].lstrip("( ").startswith(("+", "00"))
            hits.append(Hit(found.start(), found.end(), number, abroad))
    return apart(hits)


def _dialled(said: str, region: str, own: SimpleNamespace) -> str:
    import phonenumbers  # noqa: PLC0415 - 60 ms

    written = said.replace("(0)", "") if said.lstrip("( ").startswith(("+", "00")) else said
    written = own.extension.sub(" ext. ", written)
    written = re.sub(r"^\s*00(?=\s?[1-9])", "+", written)
    try:
        number = phonenumbers.parse(written, region)
    except phonenumbers.NumberParseException:
        return ""
    if not phonenumbers.is_valid_number(number) and not _has_form(number):
        return ""
    plain = phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164)
    return f"{plain};ext={number.extension}" if number.extension else plain


def _has_form(number) -> bool:  # type: ignore[no-untyped-def]
    """Say whether a number has the form of North America's plan.

    New area codes come oftener than the library does, and people try things out with 555.
    """
    return number.country_code == 1 and bool(_AMERICAN.fullmatch(str(number.national_number)))
