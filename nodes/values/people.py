"""Names of people, postal addresses, e-mail addresses and telephone numbers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from types import SimpleNamespace

from journeys.notions.fields import Field
from nodes.values.numbers import numeral_of, numerals_in
from nodes.values.scanning import (
    Hit,
    Setting,
    Vocabulary,
    apart,
    everywhere,
    grammar,
    vocabulary,
    words_in,
)

_MOST_WORDS, _MOST_CHARACTERS = 8, 120
_WORD = re.compile(
    r"[^\W\d_](?:[^\W\d_]"
    r"|[\u0300-\u036f\u0590-\u05bd\u064b-\u0652\u0900-\u0dff\u0e31-\u0e4e\u200c\u200d'\u2019\u02bc`.·・-])*"
)
_BLANK = re.compile(r"[ \t]+")
_DOMAIN = re.compile(r"\.[^\W\d_A-Z]{2,}")
_SIGNS = ' ,!;:"\u201c\u201d\u201e'
_UNSPACED = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3]{2,4}")
_DOUBLE = frozenset(["歐陽", "欧阳", "司馬", "司马", "諸葛", "诸葛", "上官", "남궁", "황보"])
"""Family names of two characters, of scripts without blanks."""


def scan_names(text: str, field: Field, setting: Setting) -> list[Hit]:
    """Find the name that a message brings in with so many words."""
    own = grammar("names", vocabulary(setting.language))
    if parts := list(own.part.finditer(text)):
        hits = _in_parts(text, parts, own)
        if hits or field.type == "full_name":
            return [_as_said(hit) for hit in hits] if field.type == "name" else hits
    for found in own.lead.finditer(text):
        hit = _after(text, found, own)
        if hit is None:
            continue
        if field.type != "full_name":
            return [hit]
        if named := parts_of(hit.value, own):
            return [hit._replace(value=named)]
    return []


def _as_said(hit: Hit) -> Hit:
    """Return a name in one piece that was given in parts."""
    return hit._replace(value=f"{hit.value['given']} {hit.value['family']}")


def _in_parts(text: str, parts: list[re.Match[str]], own: SimpleNamespace) -> list[Hit]:
    """Find a full name whose parts are called by their names: "first name Ada, last name ...".

    One of them may be brought in as a name: "it is under Wilson, first name Beth".
    """
    named = {found.lastgroup: _after(text, found, own) for found in parts}
    if len(named) == 1 and (only := next(iter(named.values()))):
        other = "family" if "given" in named else "given"
        hits = (_after(text, lead, own) for lead in own.lead.finditer(text))
        apart = (h for h in hits if h and (h.end <= only.start or only.end <= h.start))
        named[other] = next(apart, None)
    given, family = named.get("given"), named.get("family")
    if given is None or family is None:
        return []
    value = {"given": given.value, "family": family.value}
    return [Hit(min(given.start, family.start), max(given.end, family.end), value)]


def _after(text: str, lead: re.Match[str], own: SimpleNamespace) -> Hit | None:
    words: list[re.Match[str]] = []
    at, by_part = lead.end(), lead.lastgroup in ("given", "family")
    while len(words) < _MOST_WORDS and (word := _WORD.match(text, at)):
        if not (_may_go_on(word[0], words, own) or (by_part and word[0] in own.particles)):
            break
        words.append(word)
        space = _BLANK.match(text, word.end())
        if space is None or (word[0].endswith((".",)) and len(word[0]) > 4):
            break
        at = space.end()
    while words and words[-1][0].casefold() in own.particles and len(words) > 1:
        words.pop()
    if not words:
        return None
    start = words[0].start()
    said = text[start : words[-1].end()].rstrip(".,-'\u2019 ")
    again = re.match(
        rf",\s+((?:[^\W\d_]+\s+){{1,3}}{re.escape(said)})\b", text[start + len(said) :]
    )
    if again:  # "Bond, James Bond"
        start, said = start + len(said) + again.start(1), again[1]
    sure = lead.lastgroup != "maybe"
    if not is_name(said, own) or not (sure or _looks_named(said, lead, own)):
        return None
    return Hit(start, start + len(said), tidy(said), sure)


def _may_go_on(word: str, before: list[re.Match[str]], own: SimpleNamespace) -> bool:
    """Return whether a name goes on with a word: one in capitals ends at small words."""
    plain = word.casefold().rstrip(".")
    if before and before[0][0][:1].isupper() and word[:1].islower():
        return plain in own.particles
    return plain not in own.common or (word[:1].isupper() and plain in own.also_names)


def _looks_named(said: str, lead: re.Match[str], own: SimpleNamespace) -> bool:
    """Return whether a text behind "I'm" or "it's" is written as a name is."""
    if not said[:1].islower():
        return True
    by_self = own.self.match(lead[0].strip() + " ") is not None
    return (
        by_self and " " not in said and not said.endswith(tuple(own.no_endings)) and len(said) > 1
    )


def name_in(raw: str, setting: Setting) -> str:
    """Return the name that a whole text gives; empty if it gives none."""
    own = grammar("names", vocabulary(setting.language))
    if parts := list(own.part.finditer(raw)):
        for hit in _in_parts(raw, parts, own):
            return str(_as_said(hit).value)
    text = own.ending.sub("", own.greeting.sub("", raw.strip())).strip()
    text = own.behind.sub("", own.denied.sub("", text))
    lead = own.lead.search(text)
    if [no for no in own.no.findall(raw) if no.casefold() not in own.common]:
        return ""  # "no breakfast"
    # Nothing but common words may stand before it, as in "you can call me".
    if lead is None or not own.common.issuperset(text[: lead.start()].casefold().split()):
        said = _bare(text)
        to = own.to.match(said)
        if to is not None and said[to.end() : to.end() + 1].isupper():
            said = said[to.end() :]
    else:
        said = _bare(text[lead.end() :])
        if lead["maybe"] and not _looks_named(said, lead, own):
            return ""
    first, _, again = said.partition(", ")
    if again.casefold().endswith(f" {first.casefold()}"):
        said = again  # "Bond, James Bond"
    return tidy(said) if is_name(said, own) else ""


def full_name_in(raw: str, setting: Setting) -> dict[str, str] | None:
    """Return a name with its parts, given and family; None if it has not both."""
    own = grammar("names", vocabulary(setting.language))
    if parts := list(own.part.finditer(raw)):
        hits = _in_parts(raw, parts, own)
        before, behind = raw[: parts[0].start()], raw[hits[0].end :] if hits else ""
        return hits[0].value if hits and not (before + behind).strip(" ,.!") else None
    return parts_of(name_in(raw, setting), own)


def parts_of(name: str, own: SimpleNamespace) -> dict[str, str] | None:
    """Return the given and the family name of a name; None if it has not both.

    The family name is the last word with the particles before it, "van Gogh", or what stands
    before a comma; in scripts without blanks it comes first.
    """
    family, comma, given = name.partition(", ")
    if comma:
        return {"given": given, "family": family} if given and family else None
    if _UNSPACED.fullmatch(name):
        cut = 2 if name[:2] in _DOUBLE and len(name) > 2 else 1
        return {"given": name[cut:], "family": name[:cut]}
    words = name.split()
    while words and words[0].casefold().rstrip(".") in own.titles:
        words.pop(0)
    at = len(words) - 1
    if at > 1 and words[at].casefold().rstrip(".") in ("jr", "sr", "ii", "iii", "iv"):
        at -= 1
    while at > 1 and words[at - 1].casefold() in own.particles:
        at -= 1
    if at < 1:
        return None
    if _UNSPACED.fullmatch("".join(words)):
        return {"given": " ".join(words[1:]), "family": words[0]}
    return {"given": " ".join(words[:at]), "family": " ".join(words[at:])}


def _bare(text: str) -> str:
    """Return a text without the signs around it, but with the point of an abbreviation."""
    said = text.strip(_SIGNS)
    if said[:1].isupper() and said.endswith("?"):
        said = said[:-1]
    words = said.rstrip(".").split()
    last = words[-1].casefold() if words else ""
    short = len(words) > 1 and (len(last) == 1 or last in ("jr", "sr"))
    return said.rstrip(".") + ("." if short and said.endswith(".") else "")


def is_name(said: str, own: SimpleNamespace) -> bool:
    """Return whether a text may be a person's name."""
    words = said.split()
    if not words or len(said) > _MOST_CHARACTERS or len(words) > _MOST_WORDS:
        return False
    if [word for word in words if not _WORD.fullmatch(word.rstrip(","))]:
        return False
    common = [word for word in words if _is_common(word, len(words), own)]
    if common or own.common.issuperset(said.casefold().split()):
        return len(words) == 1 and words[0][:1].isupper() and said.casefold() in own.also_names
    return said not in own.particles and not _DOMAIN.search(said)


def _is_common(word: str, count: int, own: SimpleNamespace) -> bool:
    plain = word.casefold().rstrip(".,")
    if plain not in own.common or (plain in own.particles and count > 1):
        return False
    return word[:1].islower() or plain not in own.also_names


def tidy(said: str) -> str:
    """Return a text with single blanks."""
    return " ".join(said.split())


_WRONG = re.compile(
    r"[@=<>{}\[\]|\\?!$€£%*^~]|https?:|www\.|\w\.(?:com|org|net|de)\b", re.IGNORECASE
)
_MOST_OF_ADDRESS = 250, 30


@cache
def _of_addresses(words: Vocabulary) -> SimpleNamespace:
    own, known = words.addresses, everywhere().addresses
    return grammar(
        "addresses",
        words,
        all_places=(*own.places, *known.places.split()),
        all_endings=(*own.place_endings, *known.place_endings.split()),
        signs=tuple(known.signs.split()),
    )


def scan_addresses(text: str, field: Field, setting: Setting) -> list[Hit]:
    """Find the address that a message brings in with so many words."""
    own = _of_addresses(vocabulary(setting.language))
    for found in own.lead.finditer(text):
        if found["sure"] is None:
            continue
        end = own.end.search(text, found.end())
        said = text[found.end() : end.start() if end else len(text)].strip(" .,")
        said = own.ending.sub("", said)
        if is_address(said, own):
            start = text.index(said, found.end())
            return [Hit(start, start + len(said), tidy(said), True)]
    return []


def address_in(raw: str, setting: Setting) -> str:
    """Return the address that a whole text gives; empty if it gives none."""
    own = _of_addresses(vocabulary(setting.language))
    text = own.ending.sub("", own.greeting.sub("", raw.strip()))
    lead = own.lead.match(text)
    said = (text[lead.end() :] if lead else text).strip(' .,;!"“”„')
    lines = [line.strip(" ,") for line in said.splitlines()]
    said = ", ".join([line for line in lines if line])
    return tidy(said) if is_address(said, own) else ""


def is_address(said: str, own: SimpleNamespace) -> bool:
    """Return whether a text may be the address of a place."""
    said_words = words_in(said)
    characters, words = _MOST_OF_ADDRESS
    if len(said) > characters or not 0 < len(said_words) <= words:
        return False
    if _WRONG.search(said) or own.common.intersection(said_words):
        return False
    numbered = re.search(r"\d", said) is not None
    several = len(said_words) > 1 or not said.isascii()
    if own.place.search(said):
        return several or numbered
    return numbered and several and _is_written(said) and not own.of_time.intersection(said_words)


def _is_written(said: str) -> bool:
    """Return whether a text is written like a place name: capitals, or a script without them."""
    letters = re.findall(r"[^\W\d_]+", said)
    return any(not word[0].islower() and len(word) > 1 for word in letters)


_ADDRESS = re.compile(r"(?<![^\s<>()\[\],;:\"])[^\s<>()\[\],;:\"]{1,64}@[^\s<>()\[\],;:\"@]{1,255}")
_FORMS = {1: re.compile(r"[2-9]\d{9}"), 44: re.compile(r"7\d{9}")}
_ENDS = ".,;:!?'\u2026"
_MOST_LOOKED_UP = 20
_BETWEEN = re.compile(r"[\s,.\-]{0,3}")


def scan_emails(text: str, field: Field, setting: Setting) -> list[Hit]:
    """Find e-mail addresses; their existence is not checked."""
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
    return apart(hits or list(_said(text, own, setting)))


def _said(text: str, own: SimpleNamespace, setting: Setting) -> Iterator[Hit]:
    """Find telephone numbers that are said digit by digit: "oh one one three, double four"."""
    words = vocabulary(setting.language)
    said = []
    for hit in numerals_in(text, words):
        written = text[hit.start : hit.end].split()
        zero = "0" if len(written) > 1 and numeral_of(written[0], words) == 0 else ""
        said.append((hit.start, hit.end, f"{zero}{hit.value}"))
    said += [(word.start(), word.end(), word[0]) for word in own.in_words.finditer(text)]
    run: list[tuple[int, int, str]] = []
    for piece in [*sorted(said), (len(text) + 1, 0, "")]:
        if run and (piece[0] > len(text) or _BETWEEN.fullmatch(text, run[-1][1], piece[0]) is None):
            number = _dialled(_digits(run, own), setting.region, own) if len(run) > 1 else ""
            if number:
                yield Hit(run[0][0], run[-1][1], number, False)
            run = []
        run.append(piece)


def _digits(run: Sequence[tuple[int, int, str]], own: SimpleNamespace) -> str:
    digits, times = "", 1
    for _, _, word in run:
        if not word.isdecimal() and own.repeats.fullmatch(word):
            times = own.again.of(word)
        else:
            digits += (word if word.isdecimal() else own.spoken.of(word)) * times
            times = 1
    return digits


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
    """Return whether a number has the form of its country's plan, if digits alone tell it.

    New area codes come oftener than the library does, and people try things out with 555 in North
    America, or with the British numbers that are set apart for films.
    """
    form = _FORMS.get(number.country_code)
    return form is not None and bool(form.fullmatch(str(number.national_number)))
