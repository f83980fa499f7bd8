"""Numbers in words, English and German: "twenty-one", "a dozen", "zweihundertfünf"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal
from functools import lru_cache

from nodes.values.scanning import Hit
from nodes.values.tables import words

_ENGLISH_UNITS = words(
    """
    zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen
    fifteen sixteen seventeen eighteen nineteen
    """
)
_ENGLISH_TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
_SCALES = {"hundred": 100, "thousand": 1000, "million": 10**6, "billion": 10**9}
_GERMAN_UNITS = words(
    """
    null eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn
    fünfzehn sechzehn siebzehn achtzehn neunzehn
    """
)
_GERMAN_TENS = [
    "zwanzig",
    "dreißig",
    "vierzig",
    "fünfzig",
    "sechzig",
    "siebzig",
    "achtzig",
    "neunzig",
]
_SMALL = {
    **{word: value for value, word in enumerate(_ENGLISH_UNITS)},
    **{word: 10 * (value + 2) for value, word in enumerate(_ENGLISH_TENS)},
    "nought": 0,
    "nil": 0,
    "fourty": 40,
}
_GERMAN = {
    **{word: value for value, word in enumerate(_GERMAN_UNITS)},
    **{word: 10 * (value + 2) for value, word in enumerate(_GERMAN_TENS)},
    "zwo": 2,
    "ein": 1,
    "fuenf": 5,
    "zwoelf": 12,
    "dreissig": 30,
    "fuenfzig": 50,
    "fuenfzehn": 15,
}
_ARTICLES = {"ein", "eine", "einen", "einem", "einer", "one"}
_FIXED = {
    "half a dozen": 6,
    "a dozen": 12,
    "dozen": 12,
    "two dozen": 24,
    "a couple": 2,
    "a pair": 2,
    "a hundred": 100,
    "a thousand": 1000,
    "a million": 10**6,
    "ein halbes dutzend": 6,
    "ein dutzend": 12,
    "dutzend": 12,
    "zwei dutzend": 24,
    "eine million": 10**6,
    "zwei millionen": 2 * 10**6,
    "once": 1,
    "twice": 2,
    "zu zweit": 2,
    "zu dritt": 3,
    "zu viert": 4,
    "zu fünft": 5,
    "zu sechst": 6,
}
_PHRASE = re.compile(
    r"(?<!\w)(?:" + "|".join(sorted(_FIXED, key=len, reverse=True)) + r")(?!\w)", re.IGNORECASE
)
_WORD = re.compile(r"[^\W\d_]+")
_ANY = re.compile(r"[^\W_]+")
_AND_HALF = re.compile(r"\s+and\s+a\s+half(?!\w)", re.IGNORECASE)
_POINT = re.compile(
    r"\s+(?:point|komma)\s+(?P<digits>\d+|[^\W\d_]+(?:\s+[^\W\d_]+){0,8})", re.IGNORECASE
)
_HALVES = re.compile(
    r"(?<!\w)(?:(?P<one>anderthalb)|half|a half|one half|ein halb(?:es|er|e)?"
    r"|(?P<whole>[^\W\d_]{2,40})einhalb)(?!\w)",
    re.IGNORECASE,
)
_HALF = Decimal("0.5")
_LONGEST_WORD = 60


def numerals_in(text: str) -> Iterator[Hit]:
    """Find whole numbers that are written in words."""
    for found in _PHRASE.finditer(text):
        yield Hit(found.start(), found.end(), _FIXED[found[0].casefold()], False)
    words = list(_WORD.finditer(text))
    at = 0
    while at < len(words):
        taken = _english_run(words, at, text) or _german_word(words[at])
        if taken is None:
            at += 1
            continue
        value, count = taken
        start, end = words[at].start(), words[at + count - 1].end()
        weak = count == 1 and words[at][0].casefold() in _ARTICLES
        at += count
        yield _with_fraction(text, Hit(start, end, value, False, weak))


def fractions_in(text: str) -> Iterator[Hit]:
    """Find halves that are written in words; the value is a Decimal."""
    for found in _HALVES.finditer(text):
        whole = german(found["whole"].casefold()) if found["whole"] else int(bool(found["one"]))
        if whole is not None:
            yield Hit(found.start(), found.end(), whole + _HALF, False)


def _with_fraction(text: str, hit: Hit) -> Hit:
    """Join a numeral with the fraction behind it: "two and a half", "three point five"."""
    if half := _AND_HALF.match(text, hit.end):
        return Hit(hit.start, half.end(), hit.value + _HALF, False)
    point = _POINT.match(text, hit.end)
    if point is None:
        return hit
    digits, end = "", point.start("digits")
    for word in _ANY.finditer(text, end, point.end()):
        digit = word[0] if word[0].isdecimal() else _digit(word[0].casefold())
        if not digit or (digits and word[0].isdecimal()):
            break
        digits, end = digits + digit, word.end()
    return Hit(hit.start, end, hit.value + Decimal(f"0.{digits}"), False) if digits else hit


def _digit(word: str) -> str:
    value = _SMALL.get(word, _GERMAN.get(word))
    return str(value) if value is not None and value < 10 else ""


def _german_word(word: re.Match[str]) -> tuple[int, int] | None:
    value = german(word[0].casefold())
    return None if value is None else (value, 1)


def _english_run(words: list[re.Match[str]], at: int, text: str) -> tuple[int, int] | None:
    """Return the value of the numeral that begins at a word, and of how many words it is."""
    total = current = count = 0
    last = 0  # the value of the word before
    for place in range(at, min(at + 24, len(words))):
        word = words[place][0].casefold()
        joined = count == 0 or _joins(text[words[place - 1].end() : words[place].start()])
        if word == "and" and count and last >= 100 and joined:
            continue
        value = _SMALL.get(word, _SCALES.get(word))
        if value is None or not joined or not _follows(value, last, word in _SCALES):
            break
        if word == "hundred":
            current *= 100
        elif word in _SCALES:
            total, current = total + current * value, 0
        else:
            current += value
        last, count = value, place - at + 1
    return (total + current, count) if count else None


def _joins(gap: str) -> bool:
    return gap.strip() in ("", "-", "\u2010", "\u2011")


def _follows(value: int, last: int, is_scale: bool) -> bool:
    """Say whether a word can go on a numeral: "twenty one", but not "four five"."""
    if is_scale:
        return last > 0
    return last == 0 or last >= 100 or (20 <= last <= 90 and 0 < value < 10)


@lru_cache(maxsize=5_000)
def german(word: str) -> int | None:
    """Return the value of one German word for a number below a million; None if it is none.

    Example:
        >>> german("zweihundertfünfunddreißig")
        235
    """
    if len(word) > _LONGEST_WORD:
        return None
    if word in ("eine", "einen", "einem", "einer"):
        return 1
    for name, scale in (("tausend", 1000), ("hundert", 100)):
        before, found, after = word.partition(name)
        if found:
            factor = german(before) if before else 1
            added = german(after.removeprefix("und")) if after else 0
            if factor is None or added is None or added >= scale or not factor:
                return None
            return factor * scale + added
    if word in _GERMAN:
        return _GERMAN[word]
    unit, joint, tens = word.partition("und")
    if not joint or tens not in _GERMAN or _GERMAN[tens] % 10 or _GERMAN[tens] < 20:
        return None
    value = _GERMAN.get(unit, 0)
    return value + _GERMAN[tens] if 0 < value < 10 else None
