"""Names of people, postal addresses, e-mail addresses and telephone numbers."""

from __future__ import annotations

import re
from functools import cache
from types import SimpleNamespace
from typing import Any

from journeygraph.journeys.locale import LANGUAGES
from journeygraph.journeys.notions.fields import Field
from journeygraph.nodes.values.numbers import numeral_of, numerals_in
from journeygraph.nodes.values.scanning import (
    Hit,
    Setting,
    apart,
    grammar,
    in_rows,
    vocabulary,
    words_in,
)

_MOST_WORDS, _MOST_CHARACTERS = 8, 120
_MOST_AROUND = 2
_BLANK = re.compile(r"[ \t]+")
_SIGNS = ' ,!;:"\u201c\u201d\u201e'


def scan_names(text: str, field: Field, setting: Setting) -> list[Hit]:
    """Find the name that a message brings in with so many words."""
    own = grammar("names", setting.words)
    parts, whole = _in_parts(text, own)
    hits = [whole] if whole else []
    if not (hits or (parts and field.type == "full_name")):
        hits = _introduced(text, own)
    for hit in hits:
        if value := _as_kept(hit.value, field, own):
            return [hit._replace(value=value)]
    return []


def name_in(raw: str, field: Field, setting: Setting) -> Any:
    """Return the name that a whole text gives, for a full name with its parts; else nothing."""
    own = grammar("names", setting.words)
    parts, whole = _in_parts(raw, own)
    if parts and field.type == "full_name":
        around = raw[: parts[0].start()] + raw[whole.end :] if whole else raw
        return whole.value if whole and not around.strip(" ,.!") else None
    said = raw.strip(_SIGNS)
    if said[:1].isupper() and said.casefold() in setting.words.dates.weekdays:
        return _as_kept(said, field, own)  # a name that is a day's, too
    return _as_kept(whole.value if whole else _said_alone(raw, own), field, own)


def _as_kept(said: str | dict[str, str], field: Field, own: SimpleNamespace) -> Any:
    """Return a name as a field keeps it: in one piece or in parts."""
    if isinstance(said, str):
        return _parts_of(said, own) if field.type == "full_name" else said
    return said if field.type == "full_name" else f"{said['given']} {said['family']}"


def _in_parts(text: str, own: SimpleNamespace) -> tuple[list[re.Match[str]], Hit | None]:
    """Return what calls the parts of a name by their names, and the full name, if both are there.

    One of them may be brought in as a name: "it is under Wilson, first name Beth".
    """
    parts = list(own.part.finditer(text))
    named = {found.lastgroup: _after(text, found, own) for found in parts}
    if len(named) == 1 and (only := next(iter(named.values()))):
        others = [hit for hit in _introduced(text, own) if not hit.over([only])]
        named["family" if "given" in named else "given"] = others[0] if others else None
    given, family = named.get("given"), named.get("family")
    if given is None or family is None:
        return parts, None
    value = {"given": given.value, "family": family.value}
    return parts, Hit(min(given.start, family.start), max(given.end, family.end), value)


def _introduced(text: str, own: SimpleNamespace) -> list[Hit]:
    """Return the names that a text brings in: "my name is Ann"."""
    return [hit for lead in own.lead.finditer(text) if (hit := _after(text, lead, own))]


def _after(text: str, lead: re.Match[str], own: SimpleNamespace) -> Hit | None:
    """Return the name behind what brings it in."""
    words: list[re.Match[str]] = []
    at, by_part = lead.end(), lead.lastgroup in ("given", "family")
    while len(words) < _MOST_WORDS and (word := own.word.match(text, at)):
        if not (_may_go_on(word[0], words, own) or (by_part and word[0] in own.particles)):
            break
        words.append(word)
        space = _BLANK.match(text, word.end())
        if space is None or (word[0].endswith(".") and len(word[0]) > 4):
            break
        at = space.end()
    while len(words) > 1 and words[-1][0].casefold() in own.particles:
        words.pop()
    if not words:
        return None
    start = words[0].start()
    said = text[start : words[-1].end()].rstrip(".,-'\u2019 ")
    if again := own.again.match(text, start):  # "Bond, James Bond"
        start, said = again.start("whole"), again["whole"]
    sure = lead.lastgroup != "maybe"
    if not _is_name(said, own) or not (sure or _looks_named(said, lead, own)):
        return None
    return Hit(start, start + len(said), " ".join(said.split()), sure)


def _may_go_on(word: str, before: list[re.Match[str]], own: SimpleNamespace) -> bool:
    """Return whether a name continues with a word: one in capitals ends at small words."""
    plain = word.casefold().rstrip(".")
    if before and before[0][0][:1].isupper() and word[:1].islower():
        return plain in own.particles
    return plain not in own.common or (word[:1].isupper() and plain in own.also_names)


def _looks_named(said: str, lead: re.Match[str], own: SimpleNamespace) -> bool:
    """Return whether a text behind "I'm" or "it's" is written as a name is."""
    by_self = own.self.match(lead[0]) is not None
    first, _, others = said.partition(" ")
    if first.casefold().rstrip(".") in own.titles and others:
        said = others  # "la señora Gómez"
    single = " " not in said and len(said) > 1 and not said.endswith(tuple(own.no_endings))
    return not said[:1].islower() or (by_self and single)


def _said_alone(raw: str, own: SimpleNamespace) -> str:
    """Return the name that is all that a text gives; empty if it gives none."""
    text = own.ending.sub("", own.greeting.sub("", raw.strip())).strip()
    text = own.behind.sub("", own.denied.sub("", text))
    if [no for no in own.no.findall(raw) if no.casefold() not in own.common]:
        return ""  # "no breakfast"
    lead = own.lead.search(text)
    # Nothing but common words may stand before it, as in "you can call me".
    if lead and own.common.issuperset(text[: lead.start()].casefold().split()):
        said = _bare(text[lead.end() :], own)
        if lead["maybe"] and not _looks_named(said, lead, own):
            return ""
    else:
        said = _bare(text, own)
        to = own.to.match(said)
        said = said[to.end() :] if to and said[to.end() : to.end() + 1].isupper() else said
    if again := own.again.fullmatch(said):
        said = again["whole"]
    article, _, titled = said.partition(" ")
    if article in own.articles and titled.split(" ")[0].casefold().rstrip(".") in own.titles:
        said = titled  # "la señora Gómez"
    said = " ".join(_in_capitals(said, own))
    return said if _is_name(said, own) else ""


def _in_capitals(said: str, own: SimpleNamespace) -> list[str]:
    """Return the words of a name but a strange one or two around it: "put Ann Lea"."""
    words = said.split()
    names = [n for n, word in enumerate(words) if word[:1].isupper()]
    if not names:
        return words
    inside, around = words[names[0] : names[-1] + 1], [*words[: names[0]], *words[names[-1] + 1 :]]
    strange = [word for word in around if _is_strange(word, own)]
    if [word for word in inside if _is_strange(word, own)] or len(strange) > _MOST_AROUND:
        return []  # "Ann plays the piano"
    if strange == around:
        return inside
    return words if len(strange) < _MOST_AROUND else []


def words_around(raw: str, setting: Setting) -> tuple[str, ...]:
    """Return the strange words around the name that a whole text gives, which are no part of it."""
    own = grammar("names", setting.words)
    if own.lead.search(raw):
        return ()
    said = _bare(own.greeting.sub("", raw.strip()), own)
    kept = _in_capitals(said, own)
    return tuple([word for word in said.split() if word not in kept])


def _is_strange(word: str, own: SimpleNamespace) -> bool:
    plain = word.casefold().strip(".,'\u2019")
    return word.islower() and not any(plain in k for k in (own.common, own.titles, _particles()))


@cache
def _particles() -> frozenset[str]:
    """Return the small words of names in all languages."""
    spoken = [grammar("names", vocabulary(language)).particles for language in LANGUAGES]
    return frozenset().union(*spoken)


def _parts_of(name: str, own: SimpleNamespace) -> dict[str, str] | None:
    """Return the given and the family name of a name; None if it has not both.

    The family name is the last word with the particles before it, "van Gogh", or the part
    before a comma; in scripts without blanks it comes first. Where people have two family names,
    it is the last two words, unless the first of these is a given name that comes second.
    """
    family, comma, given = name.partition(", ")
    if comma:
        return {"given": given, "family": family} if given and family else None
    if own.unspaced.fullmatch(name):
        cut = 2 if own.double.match(name) else 1
        return {"given": name[cut:], "family": name[:cut]}
    words = name.split()
    while words and words[0].casefold().rstrip(".") in own.titles:
        words.pop(0)
    at = len(words) - 1
    if at > 1 and words[at].casefold().rstrip(".") in own.suffixes:
        at -= 1
    at = _with_particles(words, at, own)
    if at < 1:
        return None
    if own.two_families and at > 1 and not _may_be_second(words[at - 1], own):
        at = _with_particles(words, at - 1, own)
    if own.unspaced.fullmatch("".join(words)):
        return {"given": " ".join(words[1:]), "family": words[0]}
    return {"given": " ".join(words[:at]), "family": " ".join(words[at:])}


def _with_particles(words: list[str], at: int, own: SimpleNamespace) -> int:
    """Return where a part of a name begins, with the particles before its word."""
    while at > 1 and words[at - 1].casefold() in own.particles:
        at -= 1
    return at


def is_cut_in_doubt(raw: str, name: Any, setting: Setting) -> bool:
    """Return whether two are named, or the second of three names may be given or family name."""
    own = grammar("names", setting.words)
    if isinstance(name, str):
        return name.casefold().partition(", ")[2].rstrip(".") not in ("", *own.suffixes)
    if not own.two_families or "," in raw or own.part.search(raw):
        return False
    parts = [w for w in " ".join(name.values()).split() if w.casefold() not in own.particles]
    return len(parts) > 2 and not _may_be_second(parts[1], own)


def _may_be_second(word: str, own: SimpleNamespace) -> bool:
    """Return whether a word is a given name that comes second, or an initial."""
    plain = word.casefold().rstrip(".")
    return len(plain) == 1 or plain in own.second_names


def _bare(text: str, own: SimpleNamespace) -> str:
    """Return a text without the signs around it, but with the point of an abbreviation."""
    said = text.strip(_SIGNS)
    said = said.removesuffix("?") if said[:1].isupper() else said
    words = said.rstrip(".").split()
    short = len(words) > 1 and (len(words[-1]) == 1 or words[-1].casefold() in ("jr", "sr"))
    return said.rstrip(".") + ("." if short and said.endswith(".") else "")


def _is_name(said: str, own: SimpleNamespace) -> bool:
    """Return whether a text may be a person's name."""
    words = said.split()
    if not 0 < len(words) <= _MOST_WORDS or len(said) > _MOST_CHARACTERS:
        return False
    if [word for word in words if not own.word.fullmatch(word.rstrip(","))]:
        return False
    common = [word for word in words if _is_common(word, own, alone=len(words) == 1)]
    if common or own.common.issuperset(said.casefold().split()):
        return len(words) == 1 and words[0][:1].isupper() and said.casefold() in own.also_names
    return said not in own.particles and not own.domain.search(said)


def _is_common(word: str, own: SimpleNamespace, *, alone: bool) -> bool:
    """Return whether a word is no name, nor a small one inside a name."""
    plain = word.casefold().rstrip(".,")
    if plain not in own.common or (plain in own.particles and not alone):
        return False
    if len(plain) == 1 and word[0].isupper() and word.endswith("."):
        return False  # "A. Lea"
    return word[:1].islower() or plain not in own.also_names


_MOST_OF_ADDRESS, _MOST_WORDS_OF_ADDRESS = 250, 30


def scan_addresses(text: str, field: Field, setting: Setting) -> list[Hit]:
    """Find the address that a message brings in with so many words."""
    own = grammar("addresses", setting.words)
    for lead in own.lead.finditer(text):
        end = own.end.search(text, lead.end())
        said = text[lead.end() : end.start() if end else len(text)].strip(" .,")
        said = own.ending.sub("", said)
        if lead["sure"] and _is_address(said, own):
            start = text.index(said, lead.end())
            return [Hit(start, start + len(said), " ".join(said.split()))]
    return []


def address_in(raw: str, field: Field, setting: Setting) -> str:
    """Return the address that a whole text gives; empty if it gives none."""
    own = grammar("addresses", setting.words)
    text = own.ending.sub("", own.greeting.sub("", raw.strip()))
    lead = own.lead.match(text)
    said = text[lead.end() if lead else 0 :].strip(' .,;!"“”„')
    lines = [line.strip(" ,") for line in said.splitlines()]
    said = " ".join(", ".join(filter(None, lines)).split())
    told, _, behind = said.partition(": ")  # "my office: 12 Oak Street"
    said = behind if not re.search(r"\d", told) and _is_address(behind, own) else said
    return said if _is_address(said, own) else ""


def _is_address(said: str, own: SimpleNamespace) -> bool:
    """Return whether a text may be the address of a place."""
    words = words_in(said)
    if len(said) > _MOST_OF_ADDRESS or not 0 < len(words) <= _MOST_WORDS_OF_ADDRESS:
        return False
    if own.wrong.search(said) or not own.common.isdisjoint(words):
        return False
    numbered = re.search(r"\d", said) is not None
    several = len(words) > 1 or not said.isascii()
    if own.place.search(said):
        return several or numbered
    # Written like the name of a place: in capitals, or in a script without them.
    written = any(not word[0].islower() for word in re.findall(r"[^\W\d_]{2,}", said))
    return numbered and several and written and own.of_time.isdisjoint(words)


_FORMS = {1: re.compile(r"[2-9]\d{9}"), 44: re.compile(r"7\d{9}")}
_MOST_LOOKED_UP = 20


def scan_emails(text: str, field: Field, setting: Setting) -> list[Hit]:
    """Find e-mail addresses; their existence is not checked."""
    own = grammar("contacts", setting.words)
    written = [(found, found["said"], True) for found in own.address.finditer(text)]
    if "@" not in text and own.at.search(text):
        for found in own.spelled.finditer(text):
            said = f"{own.dot.sub('.', found['part'])}@{own.dot.sub('.', found['domain'])}"
            written.append((found, said, False))
    known = [(found, _normal(said), certain) for found, said, certain in written[:_MOST_LOOKED_UP]]
    return apart(Hit.of(found, address, certain) for found, address, certain in known if address)


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
    own = grammar("contacts", setting.words)
    for found in list(own.number.finditer(text))[:_MOST_LOOKED_UP]:
        if own.day.fullmatch(found[0]):  # which would be a number in Berlin
            continue
        if number := _dialled(found[0], setting.region, own):
            abroad = found[0].lstrip("( ").startswith(("+", "00"))
            hits.append(Hit.of(found, number, abroad))
    return apart(hits or _spoken(text, own, setting))


def _spoken(text: str, own: SimpleNamespace, setting: Setting) -> list[Hit]:
    """Find telephone numbers in words, digit by digit: "oh one one three, double four"."""
    words, hits = setting.words, []
    said = [(*word.span(), word[0]) for word in own.in_words.finditer(text)]
    for hit in numerals_in(text, words):
        written = text[hit.start : hit.end].split()
        zero = "0" if len(written) > 1 and numeral_of(written[0], words) == 0 else ""
        if isinstance(hit.value, int):
            said.append((hit.start, hit.end, f"{zero}{hit.value}"))
    for row in in_rows(text, said, own.between):
        digits, times = "", 1
        for _, _, word in row:
            again = own.again.of(word)
            if not again:
                digits += (word if word.isdecimal() else own.spoken.of(word)) * times
            times = again or 1
        if len(row) > 1 and (number := _dialled(digits, setting.region, own)):
            hits.append(Hit(row[0][0], row[-1][1], number, False))
    return hits


def _dialled(said: str, region: str, own: SimpleNamespace) -> str:
    import phonenumbers  # noqa: PLC0415 - 60 ms

    written = said.replace("(0)", "") if said.lstrip("( ").startswith(("+", "00")) else said
    written = own.extension.sub(" ext. ", written)
    written = re.sub(r"^\s*00(?=\s?[1-9])", "+", written)
    try:
        number = phonenumbers.parse(written, region)
    except phonenumbers.NumberParseException:
        return ""
    # New area codes come oftener than the library does, and people try things out with 555 in
    # North America, or with the British numbers that are set apart for films.
    form = _FORMS.get(number.country_code or 0)
    has_form = form is not None and form.fullmatch(str(number.national_number))
    if not (has_form or phonenumbers.is_valid_number(number)):
        return ""
    plain = phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164)
    return f"{plain};ext={number.extension}" if number.extension else plain
