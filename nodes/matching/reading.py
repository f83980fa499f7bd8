"""Texts as stage one compares them: rows of word forms, in which phrases are found in one go."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import zip_longest

from journeys.patterns import normal
from nodes.matching.forms import form_of
from nodes.words import UNSPACED, is_common, plain

LOOSE, STRICT = "\x1f", "\x1e"
"""Stand around the forms of a row: of one without the commonest words, and of one with all."""

# A sign of a script without spaces, a word, or a sign that means something by itself. A word of
# more letters than any has is taken in pieces: what is remembered of words must stay small.
_PIECE = re.compile(
    rf"[{UNSPACED}]|[^\W_{UNSPACED}]{{1,40}}(?:\+\+|#)?|[\u2600-\u27bf\U0001f1e6-\U0001faff$%&\u20ac\u00a3]"
)
_UNSPACED_SIGN = re.compile(f"[{UNSPACED}]")
_JOINT = re.compile(r"(?<=\w)['\u2019\u02bc\uff07\u2010\u2011-](?=\w)")


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a text, or a sign of a script without spaces.

    Attributes:
        plain: As it stands in the text, case folded and without accents.
        form: What it has in common with its other forms.
        common: Whether it is one of the commonest words, which say little.
        sign: Whether it is a sign that makes words only with those beside it.
    """

    plain: str
    form: str
    common: bool
    sign: bool


def words_in(text: str) -> list[Word]:
    """Return the words of a text in order."""
    return [_word(piece) for piece in _PIECE.findall(plain(text))]


def readings(text: str) -> list[list[Word]]:
    """Return the words of a text, and those of it with its hyphens and apostrophes left out.

    So an e-mail is an email, and what one cant find one can't find.
    """
    joined = _JOINT.sub("", text)
    return [words_in(text)] if joined == text else [words_in(text), words_in(joined)]


def searched(text: str, read: Iterable[list[Word]]) -> str:
    """Return the rows of a text that terms are looked for in, and behind them the text as it is."""
    rows = (row for words in read for row in (_loose(words), row_of(words, STRICT)))
    return "".join((*rows, normal(text)))


def terms_of(phrase: str, strict: bool) -> list[str]:
    """Return what is found in a searched text where a phrase was said, in one spelling or another.

    Args:
        phrase: The phrase; one without any word is found as it is written.
        strict: Whether its commonest words count too. They do where it has no other ones.
    """
    terms: dict[str, None] = {}
    for words in readings(phrase):
        loose = "" if strict else _loose(words)
        terms[loose or row_of(words, STRICT) or normal(phrase)] = None
    return [term for term in terms if term]


def parts_of(text: str) -> Iterator[tuple[str, Word]]:
    """Yield the words that say what a text is about, each with its term.

    Of a script without spaces these are the pairs of signs that stand side by side.
    """
    for words in readings(text):
        for word, following in zip_longest(words, words[1:]):
            if word.sign:
                if following is not None and following.sign:
                    yield row_of([word, following], LOOSE), word
            elif not word.common:
                yield row_of([word], LOOSE), word


def row_of(words: Iterable[Word], edge: str) -> str:
    """Return the forms of words as a row: each between edges."""
    forms = edge.join(word.form for word in words)
    return f"{edge}{forms}{edge}" if forms else ""


def _loose(words: Iterable[Word]) -> str:
    return row_of((word for word in words if not word.common), LOOSE)


@lru_cache(maxsize=20_000)
def _word(piece: str) -> Word:
    sign = len(piece) == 1 and _UNSPACED_SIGN.match(piece) is not None
    return Word(piece, form_of(piece), is_common(piece), sign)
