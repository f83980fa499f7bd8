"""Names, addresses, e-mail addresses and telephone numbers."""

from __future__ import annotations

import re
from collections.abc import Sequence

from journeygraph.journeys.declarations.fields import Field
from journeygraph.nodes.values.languages import Names, bare, folded
from journeygraph.nodes.values.setting import Setting, units_of

MOST_NAMES = 4
"""Most words of a name, besides the small ones."""
_NAME = re.compile(
    r"[^\W\d_](?:[^\W\d_]|[\u0300-\u036f\u0590-\u05bd\u064b-\u0652\u0900-\u0dff\u0e31-\u0e4e"
    r"\u200c\u200d'\u2019\u02bc`.\u00b7\u30fb-])*"
)
_UNSPACED = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3]{2,4}")
_SIGN = re.compile("[ ']")
_DOMAIN = re.compile(r"\w\.\w{2,}$")
_MOST_CHARACTERS, _MOST_OF_ADDRESS = 100, 250
EMAIL = re.compile(
    r"[^\s<>()\[\],;:\"@]{1,64}@[^\s<>()\[\],;:\"@]{1,254}[^\s<>()\[\],;:\"@.!?'\u2026]"
)
PHONE = re.compile(
    r"(?<![\w@.,/+-])(?:\+|\(\+?)?\d[\d\s().\-/\u2010-\u2015]{5,30}\d"
    r"(?:[ ,;]*(?:x|ext(?:ension)?)\.? ?=?\d{1,6})?(?![\w@])"
)
_ABROAD = re.compile(r"^\(?00")
_DAY = re.compile(r"\d\d?([./-]) ?\d\d?\1 ?\d{2,4}|(?:19|20)\d\d([./-])\d\d?\2\d\d?")


def led_by(words: Sequence[str], phrases: tuple[str, ...]) -> int:
    """Return of how many words the longest phrase is by which words begin; 0 if there is none."""
    said = [folded(word).strip(":,;") for word in words[:8]]
    counts = range(len(said), 0, -1)
    return next((count for count in counts if " ".join(said[:count]) in phrases), 0)


def name_of(field: Field, raw: str, setting: Setting) -> str | None:
    """Return the name that a text is; what brings it in is cut."""
    own, words, asked = setting.words.names, bare(raw).split(), units_of(field, setting)
    # "He is called Emil" at "What is your son called?", but not where the user's own name is asked.
    others = [one for one in own.others if _SIGN.split(one)[-1] in asked]
    is_plain = bool(count := led_by(words, (*own.leads, *others)))
    count = count or led_by(words, own.maybe)
    said = bare(" ".join(words[count:]))
    if count and not is_plain and said[:1].islower():
        return None  # "I am hungry"
    return said if _is_name(said, setting) else None


def _is_name(said: str, setting: Setting) -> bool:
    words, own = said.split(), setting.words.names
    plain = [folded(word).rstrip(".") for word in words]
    parts = [word for word, each in zip(words, plain, strict=True) if each not in own.particles]
    if not 0 < len(parts) <= MOST_NAMES or len(said) > _MOST_CHARACTERS or _DOMAIN.search(said):
        return False
    if words[0].islower() and plain[0] in setting.words.articles:
        return False  # "die Luna"
    if len({word[0].isupper() for word in parts}) > 1:
        return False  # "pon Carmen Vega"
    if plain[-1] in own.particles and plain[-1] not in own.also:
        return False
    return all(map(_NAME.fullmatch, words)) and all(_may_be_part(word, setting) for word in parts)


def _may_be_part(word: str, setting: Setting) -> bool:
    plain = folded(word).rstrip(".")
    is_initial = len(plain) == 1 and word.endswith(".")
    is_also = word[:1].isupper() and (is_initial or plain in setting.words.names.also)
    return is_also or plain not in setting.words.strange


def full_name_of(field: Field, raw: str, setting: Setting) -> dict[str, str] | None:
    """Return the given and the family name of a text; None if it has not both."""
    family, comma, given = bare(raw).partition(", ")
    if comma:
        both = _is_name(f"{given} {family}", setting) and given and family
        return {"given": given, "family": family} if both else None
    name = name_of(field, raw, setting)
    return _parts_of(name, setting.words.names) if name else None


def _parts_of(name: str, own: Names) -> dict[str, str] | None:
    """Return the given and the family name of a name.

    The family name is the last word with the particles before it, "van Gogh"; in scripts without
    blanks it comes first. Where people have two family names, it is the last two words, unless
    the first of these is a given name that comes second.
    """
    if _UNSPACED.fullmatch(name):
        return {"given": name[1:], "family": name[:1]}
    words = name.split()
    at = _with_particles(words, len(words) - 1, own)
    if at < 1:
        return None
    if own.two_families and at > 1 and not _may_be_second(words[at - 1], own):
        at = _with_particles(words, at - 1, own)
    if _UNSPACED.fullmatch("".join(words)):
        return {"given": " ".join(words[1:]), "family": words[0]}
    return {"given": " ".join(words[:at]), "family": " ".join(words[at:])}


def _with_particles(words: list[str], at: int, own: Names) -> int:
    while at > 1 and folded(words[at - 1]) in own.particles:
        at -= 1
    return at


def _may_be_second(word: str, own: Names) -> bool:
    plain = folded(word).rstrip(".")
    return len(plain) == 1 or plain in own.second


def full_name_shown(value: dict[str, str], setting: Setting) -> str:
    """Return a name; the family name first, with a comma, where it would be parted otherwise."""
    name = f"{value['given']} {value['family']}".strip()
    is_same = _parts_of(name, setting.words.names) == value
    return name if is_same else f"{value['family']}, {value['given']}"


def address_of(field: Field, raw: str, setting: Setting) -> str | None:
    """Return the address that a text is, in one line; what brings it in is cut."""
    lines = [line.strip(" ,") for line in bare(raw).splitlines()]
    words = ", ".join(filter(None, lines)).split()
    said = " ".join(words[led_by(words, setting.words.names.address) :])
    return said if said and len(said) <= _MOST_OF_ADDRESS else None


def email_of(field: Field, raw: str, setting: Setting) -> str | None:
    """Return the e-mail address that a text is; its existence is not checked."""
    from email_validator import EmailNotValidError, validate_email  # noqa: PLC0415 - 37 ms

    said = bare(raw).strip("<>()").removeprefix("mailto:")
    try:
        return validate_email(said, check_deliverability=False).normalized
    except EmailNotValidError:
        return None


def phone_of(field: Field, raw: str, setting: Setting) -> str | None:
    """Return the telephone number that a text is, in E.164; of the region if it names no country.

    Its form is checked, and not whether it is assigned: new area codes come oftener than the
    library does. An extension follows as RFC 3966 has it: "+14155552671;ext=12".
    """
    said = folded(bare(raw))
    if _DAY.fullmatch(said) or not PHONE.fullmatch(said):
        return None
    import phonenumbers  # noqa: PLC0415 - 60 ms

    try:
        number = phonenumbers.parse(_ABROAD.sub("+", said), setting.region)
    except phonenumbers.NumberParseException:
        return None
    possible = phonenumbers.ValidationResult.IS_POSSIBLE
    if phonenumbers.is_possible_number_with_reason(number) != possible:
        return None
    plain = phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164)
    return f"{plain};ext={number.extension}" if number.extension else plain
