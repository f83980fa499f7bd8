"""Find the fields that the words of a message mention."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from journeys import Field
from nodes.guidelines.words import plain
from nodes.language.lexicon import Lexicon, lexicon_of

_LEAST_STEM = 4
_LONGEST_ENDING = 2
_MOST_COUNTED = 3


def mentioned(words: Sequence[str], fields: Iterable[Field], lexicon: Lexicon) -> Field | None:
    """Return the one field that words call by its name, label or kind, or by its description.

    All words speak of it, but for the small ones, or the one that names the thing is that of no
    other field; where two fields fit equally, none is meant.
    """
    content = [word for word in words if word not in lexicon.words("small")]
    unique = list({field.name: field for field in fields}.values())
    if not content or not unique:
        return None
    head = _head(words, content, lexicon.words("of"))
    for known in (_names, _names_and_kind, _all_words):
        scored = [(_score(content, head, known(field, lexicon)), field) for field in unique]
        best = max(score for score, _ in scored)
        fitting = [field for score, field in scored if score == best]
        if best and best > len(content):
            return fitting[0] if len(fitting) == 1 else None
    named = [field for field in unique if is_among(head, _names_and_kind(field, lexicon))]
    if len(named) != 1:
        return None
    others = [_names_and_kind(field, lexicon) for field in unique if field is not named[0]]
    beside = [word for word in content if word != head]
    spoken = [word for word in beside if [own for own in others if is_among(word, own)]]
    return None if spoken else named[0]  # "the street number" is no number of guests


def speaks_of(words: Iterable[str], field: Field, lexicon: Lexicon) -> bool:
    """Whether one of the words belongs to a field: to its name, label, kind, or what it counts."""
    known = _words(field, lexicon)
    own = known.kind | known.counted
    return bool([word for word in words if is_among(word, own)])


def closeness(words: Iterable[str], field: Field, lexicon: Lexicon) -> int:
    """Count the words that belong to a field, with the small ones of its name: "check in"."""
    words = list(words)
    if not speaks_of(words, field, lexicon):
        return 0
    own = _words(field, lexicon)
    known = own.kind | own.counted | own.own
    return min(_MOST_COUNTED, len({word for word in words if is_among(word, known)}))


def concerns(words: Iterable[str], field: Field, lexicon: Lexicon) -> bool:
    """Whether one of the words belongs to a field, or to what is said of it."""
    known = _words(field, lexicon)
    return any(is_among(word, known.said | known.counted) for word in words)


def is_task(name: str, tasks: Iterable[str], lexicon: Lexicon) -> bool:
    """Whether words name one of the open tasks."""
    content = [w for w in name.split() if w not in lexicon.words("small")]
    own = [frozenset(plain(task).replace("_", " ").split()) for task in tasks]
    return bool(content) and any(all(is_among(w, words) for w in content) for words in own)


def _score(content: Sequence[str], head: str, known: frozenset[str]) -> float:
    """Count the words that are a field's; the word that names the thing itself counts more."""
    matched = [word for word in content if is_among(word, known)]
    return len(matched) + (0.5 if head in matched else 0)


def _head(words: Sequence[str], content: Sequence[str], of: frozenset[str]) -> str:
    """Return the word that names the thing: in "date of the accident", the date."""
    for place, word in enumerate(words):
        if word in of and place and words[place - 1] in content:
            return words[place - 1]
    return content[-1]


def is_among(word: str, known: frozenset[str]) -> bool:
    """Whether words have one, perhaps with another ending."""
    return word in known or bool([other for other in known if _akin(word, other)])


@lru_cache(maxsize=20_000)
def _akin(one: str, other: str) -> bool:
    """Whether two words differ in an ending only."""
    short, long = sorted((one, other), key=len)
    if len(short) < _LEAST_STEM or not long.startswith(short):
        return False
    return len(long) - len(short) <= _LONGEST_ENDING


@dataclass(frozen=True, slots=True)
class _Words:
    """The words of a field.

    Attributes:
        own: Of its name and label.
        names: The same, without the small ones.
        kind: These, and what values of its type are called.
        said: These, and what its author wrote about it.
        counted: Words for what it counts: its name tells, or else what is said of it.
    """

    own: frozenset[str]
    names: frozenset[str]
    kind: frozenset[str]
    said: frozenset[str]
    counted: frozenset[str]


def _words(field: Field, lexicon: Lexicon) -> _Words:
    told = (f"{field.name} {field.label}", f"{field.description} {field.ask}")
    return _words_of(*told, field.type, lexicon)


@lru_cache(maxsize=4_000)
def _words_of(called: str, about: str, kind: str, lexicon: Lexicon) -> _Words:
    """Return the words of a field, which every message is held against."""
    small = lexicon.words("small")
    own = frozenset(plain(called.replace("_", " ")).split())
    names = own - small
    typed = names | lexicon.type_words.get(kind, frozenset())
    letters = "".join([sign if sign.isalnum() else " " for sign in plain(about)])
    said = typed | (frozenset(letters.split()) - small)
    groups = ([group for group in lexicon.concepts if group & known] for known in (names, said))
    counted = frozenset().union(*next((found for found in groups if found), []))
    return _Words(own, names, typed, said, counted)


def _names(field: Field, lexicon: Lexicon) -> frozenset[str]:
    return _words(field, lexicon).names


def _names_and_kind(field: Field, lexicon: Lexicon) -> frozenset[str]:
    return _words(field, lexicon).kind


def _all_words(field: Field, lexicon: Lexicon) -> frozenset[str]:
    return _words(field, lexicon).said


def speaks(text: str, fields: Iterable[Field], language: str) -> bool:
    """Whether a text holds a word of the name of one of the fields."""
    lexicon = lexicon_of(language)
    words = plain(text).split()
    return any(is_among(word, _names(field, lexicon)) for field in fields for word in words)
