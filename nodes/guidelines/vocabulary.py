"""The words of texts, their forms, and the terms of an index that a text says or nearly says.

Guidelines, cards and passages are found by the same vocabulary. The cost of a text grows with the
text only. Synonyms are data: `data/synonyms.yaml`.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import chain, islice, zip_longest
from math import log
from pathlib import Path

import ahocorasick

from journeygraph.journeys.errors import require_extra
from journeygraph.journeys.languages.data import read_data
from journeygraph.journeys.phrases import normal, plain

DATA = Path(__file__).parent / "data"
LOOSE, STRICT = "\x1f", "\x1e"
"""Stand around the forms of a row: of one without the commonest words, and of one with all."""

_FAINT = 0.05
_LEAST_STEM = 3
_LEAST_ROOT = 4
# Scripts without spaces, and Hangul, whose particles stick to the word: Thai to Lao, Myanmar,
# Khmer, kana, Han, Hangul.
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uac00-\ud7a3\uf900-\ufaff\U00020000-\U000323af"
)
_UNSPACED_SIGN = re.compile(f"[{_UNSPACED}]")
# A sign of a script without spaces, a word, or a sign that means something by itself. A word of
# more letters than any has is taken in pieces: what is remembered of words must stay small.
_PIECE = re.compile(
    rf"[{_UNSPACED}]|[^\W_{_UNSPACED}]{{1,40}}(?:\+\+|#)?|[\u2600-\u27bf\U0001f1e6-\U0001faff$%&\u20ac\u00a3]"
)
_JOINT = re.compile(r"(?<=\w)['\u2019\u02bc\uff07\u2010\u2011-](?=\w)")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


@dataclass(frozen=True, slots=True)
class VocabularyWord:
    """A word of a text, or a sign of a script without spaces.

    Attributes:
        plain: The word of the text, case folded and without accents.
        form: The part that it shares with its other forms.
        common: True if it is one of the commonest words, which say little.
        sign: True if it is a sign that makes words only with those next to it.
    """

    plain: str
    form: str
    common: bool
    sign: bool


@dataclass(frozen=True, slots=True)
class _Data:
    """The entries of `data/words.yaml`, of all languages."""

    unread: frozenset[str]
    faint: frozenset[str]
    speakers: frozenset[str]
    endings: tuple[str, ...]
    derived: tuple[str, ...]
    bases: dict[str, str]
    forms: dict[str, tuple[str, ...]]


@cache
def _data() -> _Data:
    entries = read_data(DATA / "words.yaml")
    lists = {name: tuple(" ".join(texts.values()).split()) for name, texts in entries.items()}
    texts = entries["irregular"].values()
    groups = [group.split() for text in texts for group in text.split("|")]
    return _Data(
        frozenset(lists["unread"]),
        frozenset(lists["faint"]),
        frozenset(lists["speakers"]),
        lists["endings"],
        tuple(sorted(lists["derived"], key=len, reverse=True)),
        {form: base for base, *forms in groups for form in forms},
        {base: tuple(forms) for base, *forms in groups},
    )


def has_words(text: str) -> bool:
    """Return whether there is any word in a text, and be it one of the commonest."""
    return any(character.isalnum() for character in text)


def weight_of(word: str) -> float:
    """Return how much a plain word counts: 1, or little for those that are in every text."""
    return _FAINT if word in _data().faint else 1.0


def is_speaker(word: str) -> bool:
    """Return whether a plain word of a condition only says who speaks, or that they do."""
    return word in _data().speakers


def words_in(text: str) -> list[VocabularyWord]:
    """Return the words of a text in order."""
    return [_word(piece) for piece in _PIECE.findall(plain(text))]


def readings(text: str) -> list[list[VocabularyWord]]:
    """Return the words of a text, and those of it with its hyphens and apostrophes left out.

    So an e-mail is an email, and what one cant find one can't find.
    """
    joined = _JOINT.sub("", text)
    return [words_in(text)] if joined == text else [words_in(text), words_in(joined)]


def spread(name: str) -> str:
    """Return a name in `snake_case` or `CamelCase` with its words apart, behind the name itself."""
    return f"{name} {_HUMP.sub(' ', name)}"


def searched(text: str, read: Iterable[list[VocabularyWord]]) -> str:
    """Return the rows of a text that terms are looked for in, and behind them the text as it is."""
    rows = (row for words in read for row in (_loose(words), _row_of(words, STRICT)))
    return "".join((*rows, normal(text)))


def terms_of(phrase: str, strict: bool) -> list[str]:
    """Return the matches of a phrase in a searched text, in any spelling.

    Args:
        phrase: The phrase; one without any word is found as it is written.
        strict: True if its commonest words count too. They do where it has no other ones.
    """
    terms: dict[str, None] = {}
    for words in readings(phrase):
        loose = "" if strict else _loose(words)
        terms[loose or _row_of(words, STRICT) or normal(phrase)] = None
    return [term for term in terms if term]


def parts_of(text: str) -> Iterator[tuple[str, VocabularyWord]]:
    """Yield the words that say what a text is about, each with its term.

    Of a script without spaces these are the pairs of adjacent signs, or a lone one.
    """
    return chain.from_iterable(map(_parts, readings(text)))


def _parts(words: list[VocabularyWord]) -> Iterator[tuple[str, VocabularyWord]]:
    paired = False
    for word, following in zip_longest(words, words[1:]):
        if word.sign:
            pairs = following is not None and following.sign
            if pairs or not paired:
                yield _row_of([word, following] if pairs and following else [word], LOOSE), word
            paired = pairs
        elif not word.common:
            yield _row_of([word], LOOSE), word


def _row_of(words: Iterable[VocabularyWord], edge: str) -> str:
    forms = edge.join(word.form for word in words)
    return f"{edge}{forms}{edge}" if forms else ""


def _loose(words: Iterable[VocabularyWord]) -> str:
    return _row_of((word for word in words if not word.common), LOOSE)


@lru_cache(maxsize=20_000)
def _word(piece: str) -> VocabularyWord:
    sign = len(piece) == 1 and _UNSPACED_SIGN.match(piece) is not None
    return VocabularyWord(piece, _form_of(piece), piece in _data().unread, sign)


def spellings(word: str) -> tuple[str, ...]:
    """Return a plain word and its irregular forms, as a person may have misspelled them."""
    return (word, *_data().forms.get(word, ()))


@lru_cache(maxsize=20_000)
def _form_of(word: str) -> str:
    """Return the form of a plain word that it has in common with its other forms.

    Example:
        >>> _form_of("stolen"), _form_of("cancellations"), _form_of("gestohlen")
        ('steal', 'cancel', 'stehlen')
    """
    return _stem(_data().bases.get(word, word))


@lru_cache(maxsize=20_000)
def root_of(form: str) -> str:
    """Return what is left of a form without the suffix that derived it: insur of insuranc."""
    for suffix in _data().derived:
        for ending in (suffix, suffix.removesuffix("e")):
            if ending and form.endswith(ending) and len(form) - len(ending) >= _LEAST_ROOT:
                return form.removesuffix(ending)
    return form


def _stem(word: str) -> str:
    """Return a word without its English ending, so that invoices, invoiced, invoicing are one."""
    stem = _singular(word)
    for ending in _data().endings:
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


SURE, TYPO, ROOT, PART, SYNONYM, FIELD = 100, 70, 60, 50, 50, 30
"""Certainty of a term in percent: the exact word, a typing error, the same root, the same
beginning, a synonym, a related word.
"""
LEAST_LETTERS = 4
LEAST_PART = 6
"""Letters from which on a word begins compounds: Rechnung is in Rechnungsnummer."""
MOST_WORDS = 200
"""Most different words of a message that are compared with terms that they only resemble."""
RARITY = 1000
"""By what the logarithm of a term's rarity is multiplied: whole numbers add up exactly."""


class Vocabulary:
    """The terms of an index, and other terms that match them.

    Args:
        counts: The terms, as `terms_of` and `parts_of` give them, with how many entries have each.
        words: The words that the entries are written with, each with its term.
    """

    def __init__(
        self, counts: Mapping[str, int], entries: int, words: Iterable[tuple[str, VocabularyWord]]
    ) -> None:
        self.rarity = {term: round(RARITY * log(1 + entries / n)) for term, n in counts.items()}
        means: dict[str, dict[str, int]] = {term: {term: SURE} for term in counts}
        for said, term, sure in _related(counts):
            means.setdefault(said, {}).setdefault(term, sure)
        self._meanings = [tuple(meaning.items()) for meaning in means.values()]
        self._automaton = ahocorasick.Automaton(ahocorasick.STORE_INTS)
        for number, phrase in enumerate(means):
            self._automaton.add_word(phrase, number)
        if means:
            require_extra("guidelines", "What is found by words", "rapidfuzz.distance")
            self._automaton.make_automaton()
        self._roots: dict[str, list[str]] = defaultdict(list)
        self._forms: dict[str, list[str]] = defaultdict(list)
        self._spelled: dict[str, set[tuple[str, str]]] = defaultdict(set)
        self._learn(words)

    def _learn(self, words: Iterable[tuple[str, VocabularyWord]]) -> None:
        for term, word in dict.fromkeys(words):
            if word.sign or len(word.form) < LEAST_LETTERS:
                continue
            if term not in self._roots[root_of(word.form)]:
                self._roots[root_of(word.form)].append(term)
                self._forms[word.form].append(term)
            for spelling in {*spellings(word.plain), word.form}:
                for short in _shortened(spelling):
                    self._spelled[short].add((spelling, term))

    def heard(self, message: str, fits: Callable[[str], bool] | None = None) -> dict[str, int]:
        """Return the terms that a message says, each with how sure it is that it is meant.

        Args:
            fits: Says whether a term matters. Words that are no such term are compared with those
                that they resemble; without it none are.
        """
        read = readings(message)
        heard: dict[str, int] = {}
        for term, sure in self._said(searched(message, read)):
            heard[term] = max(sure, heard.get(term, 0))
        if fits is None:
            return heard
        different = {word.plain: word for words in read for word in words}
        for word in islice(filter(_is_spelled, different.values()), MOST_WORDS):
            own = _row_of([word], LOOSE)
            if own not in heard or not fits(own):
                for term, sure in self._resembling(word):
                    heard[term] = max(sure, heard.get(term, 0))
        return heard

    def meant(self, term: str, word: VocabularyWord) -> dict[str, int]:
        """Return the terms that a single word says or resembles, each with how sure that is."""
        number = self._automaton.get(term, None)
        said = {} if number is None else dict(self._meanings[number])
        if said.get(term) != SURE and _is_spelled(word):
            for other, sure in self._resembling(word):
                said[other] = max(sure, said.get(other, 0))
        return said

    def _said(self, rows: str) -> Iterator[tuple[str, int]]:
        if len(self._automaton):
            for number in {number for _, number in self._automaton.iter(rows)}:
                yield from self._meanings[number]

    def _resembling(self, word: VocabularyWord) -> Iterator[tuple[str, int]]:
        from rapidfuzz.distance import OSA  # noqa: PLC0415 - an extra

        for term in self._roots.get(root_of(word.form), ()):
            yield term, ROOT
        for length in range(LEAST_PART, len(word.plain)):
            for term in self._forms.get(word.plain[:length], ()):
                yield term, PART
        for said in {word.plain, word.form}:
            for short in _shortened(said):
                for spelling, term in self._spelled.get(short, ()):
                    if OSA.distance(said, spelling, score_cutoff=1) <= 1:
                        yield term, TYPO


def _is_spelled(word: VocabularyWord) -> bool:
    return not (word.common or word.sign) and len(word.plain) >= LEAST_LETTERS


def _shortened(word: str) -> set[str]:
    """Return a word and what is left of it without one letter: one typo away, two share one."""
    if len(word) < LEAST_LETTERS:
        return set()
    return {word, *(word[:at] + word[at + 1 :] for at in range(len(word)))}


def _related(known: Collection[str]) -> Iterator[tuple[str, str, int]]:
    for sure, group in _groups():
        meant = [(own, term) for own in group for term in own if term in known]
        for own in group if meant else ():
            yield from ((said, term, sure) for said in own for home, term in meant if home != own)


@cache
def _groups() -> tuple[tuple[int, tuple[tuple[str, ...], ...]], ...]:
    lists = read_data(DATA / "synonyms.yaml")
    return tuple(
        (sure, tuple(_terms(phrase.strip()) for phrase in line.split(",")))
        for name, sure in (("synonyms", SYNONYM), ("fields", FIELD))
        for line in lists[name].splitlines()
    )


def _terms(phrase: str) -> tuple[str, ...]:
    # With its commonest words: what goes up rises, but what goes does not.
    return tuple(terms_of(phrase, strict=any(word.common for word in words_in(phrase))))
