"""The words of a text as capabilities are compared by them: folded, without their endings."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import cache, lru_cache

LONGEST_TASK = 10_000
"""Characters of a task that are read; of a longer one, the first ones."""
MOST_WORDS = 200
"""Most different words of a task that are compared."""

_COMMON = """
    a about agent am an and any anything are as assistant at be because been being bot but by can
    cannot could did do does doing don done each for from had has have having he hello help her
    here hers hey hi him his how i if in into is isn it its just know let like ll may me might more
    most much must my need needs no nor not of off on once only or other our ours out over own
    please re s shall she should so some someone something such t tell than thank thanks that the
    their them then there these they this those through to too under until up us use ve very want
    wants was we were what when where which while who whom why will with won would you your yours
"""
# The commonest words of other languages. They may be anything in this one, as "hat" and "die" are
# in English, so they are not left out, but count little.
_COMMON_ELSEWHERE = """
    aan al alla als au aus avec bei bin che com como con das de dei dem den der des det die dir
    du ein eine einem einen einer el elle em en er es est et foi fur gli han hat het
    ich ik il in ist je jeg kan ke la las le les lo los mi mich mijn mir mit moi mon na nach
    nao nicht no nos noch og om op os ou par para pas per por pour que qui sa se sein si sich
    sie sind son su sul sur te tu um una und une uno van voor vous was wie wir y zu zum zur
    как мне на не по что это
"""
_ENGLISH = frozenset(_COMMON.split())
_ELSEWHERE = frozenset(_COMMON_ELSEWHERE.split())
_FAINT = 0.05
# Scripts without spaces, and Hangul, whose particles stick to the word: Thai to Lao, Myanmar,
# Khmer, kana, Han, Hangul.
UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uac00-\ud7a3\uf900-\ufaff\U00020000-\U000323af"
)
_WORD = re.compile(rf"([{UNSPACED}]+)|[^\W_{UNSPACED}]+(?:\+\+|#)?")
_HYPHENED = re.compile(r"[^\W_]+(?:-[^\W_]+)+")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_ENDINGS = ("ing", "ed", "er", "or", "ion", "ly", "ment")
_LEAST_STEM = 3


def weight_of(word: str) -> float:
    """Return how much a word counts: 1, or little for those that are in every text somewhere."""
    return _FAINT if word in _ELSEWHERE else 1.0


def words_of(text: str) -> list[str]:
    """Return the different words of a text that say what it is about, in order.

    They are case folded, without accents and English endings; a run of a script without spaces is
    given as its pairs of characters. The commonest English words are left out.

    Example:
        >>> words_of("Explain the invoices, please!")
        ['explain', 'invoic']
    """
    return list(dict.fromkeys(_words(text)))


def words_of_name(name: str) -> list[str]:
    """Return the words of a name, also of one in `snake_case` or `CamelCase`."""
    return words_of(f"{name} {_HUMP.sub(' ', name)}")


def is_common(word: str) -> bool:
    """Say whether a plain word is among the commonest of English, which say little."""
    return word in _ENGLISH


def has_words(text: str) -> bool:
    """Say whether there is any word in a text, and be it one of the commonest."""
    return _WORD.search(text) is not None


def _words(text: str) -> Iterator[str]:
    folded = plain(text)
    for joint in _HYPHENED.findall(folded) if "-" in folded else ():  # an e-mail is an email
        yield stem(joint.replace("-", ""))
    for found in _WORD.finditer(folded):
        if found[1]:
            yield from _pairs(found[1])
        elif found[0] not in _ENGLISH:
            yield stem(found[0])


def plain(text: str) -> str:
    """Return a text case folded and without marks, so that a missing accent makes no other word."""
    if text.isascii():
        return text.lower()
    spread = unicodedata.normalize("NFKD", text.casefold())
    return unicodedata.normalize("NFC", spread.translate(_marks()))


@cache
def _marks() -> dict[int, None]:
    """Return what takes all marks out of a text; once, since asking for each sign is slow."""
    points = (*range(0x0300, 0x1F000), *range(0xE0100, 0xE01F0))  # there are none elsewhere
    return {point: None for point in points if unicodedata.category(chr(point)).startswith("M")}


def _pairs(run: str) -> Iterator[str]:
    if len(run) == 1:
        yield run
    yield from (run[at : at + 2] for at in range(len(run) - 1))


@lru_cache(maxsize=20_000)
def stem(word: str) -> str:
    """Return a word without its English ending, so that invoices, invoiced, invoicing are one."""
    stem = _singular(word)
    for ending in _ENDINGS:
        if stem.endswith(ending) and len(stem) - len(ending) >= _LEAST_STEM:
            stem = stem.removesuffix(ending)
            break
    if len(stem) > _LEAST_STEM and stem.endswith("e"):
        stem = stem[:-1]
    if len(stem) > _LEAST_STEM + 2 and stem.endswith("at"):  # translate, translation, cancellation
        stem = stem[:-2]
    doubled = len(stem) > _LEAST_STEM and stem[-1] == stem[-2] and stem[-1].isalpha()
    return stem[:-1] if doubled else stem


def _singular(word: str) -> str:
    if len(word) <= _LEAST_STEM or not word.endswith("s") or word.endswith(("ss", "us", "is")):
        return word
    if word.endswith("ies"):
        return f"{word[:-3]}y"
    if word.endswith(("sses", "xes", "zes", "ches", "shes")):
        return word[:-2]
    return word[:-1]
