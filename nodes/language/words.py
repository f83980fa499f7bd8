"""A message as words: folded, each with its place, and cut into clauses."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from operator import attrgetter

from journeygraph.journeys.phrases import plain

_WORD = re.compile(r"[^\W_]+(?:['\u2019\u02bc`\u00b4][^\W_]+)*")
_APOSTROPHES = re.compile(r"['\u2019\u02bc`\u00b4]")
_CLOSING = re.compile(r"[;!?\u2026\n\u2014]|[,:](?!\d)|\.\s|\s[-\u2013]+\s")
_ABBREVIATED = re.compile(r"[b-df-hj-np-tv-xz]+")
"""Words whose full stop ends no clause: "Dr. Smith"."""
_OUTSIDE = ' \t\n\r.,;:!?\u2026\u00a1\u00bf"\u201c\u201d\u201e\u00ab\u00bb'

_FOLDED = attrgetter("folded")


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a message.

    Attributes:
        folded: The word as phrases are compared: small letters, without accents and apostrophes.
        start: The place of its first character.
        end: The place behind its last character.
        closes: True if the signs behind it end a clause.
    """

    folded: str
    start: int
    end: int
    closes: bool


@dataclass(frozen=True)
class Words:
    """Some words of a message in a row, with the text of the whole message."""

    text: str
    all: tuple[Word, ...]

    def __len__(self) -> int:
        """Return the number of words."""
        return len(self.all)

    @cached_property
    def folded(self) -> tuple[str, ...]:
        """The words as phrases are compared."""
        return tuple(map(_FOLDED, self.all))

    def part(self, first: int, last: int | None = None) -> Words:
        """Return the words from one place to before another."""
        return Words(self.text, self.all[first:last])

    def find(self, phrase: str) -> tuple[int, int] | None:
        """Return between which places a phrase is first; None if it is not there."""
        said = words_of(phrase).folded
        places = range(len(self.all) - len(said) + 1) if said else ()
        first = next((n for n in places if self.folded[n : n + len(said)] == said), None)
        return None if first is None else (first, first + len(said))

    @property
    def raw(self) -> str:
        """The words as they were written, with signs of a value: "+49", "$40", "5 %"."""
        if not self.all:
            return ""
        start, end = self.all[0].start, self.all[-1].end
        while start and not (self.text[start - 1].isalnum() or self.text[start - 1] in _OUTSIDE):
            start -= 1
        while end < len(self.text) and not (self.text[end].isalnum() or self.text[end] in _OUTSIDE):
            end += 1
        return self.text[start:end]

    @cached_property
    def asks(self) -> bool:
        """True if a question mark follows."""
        behind = self.text[self.all[-1].end :] if self.all else ""
        return behind.lstrip(" .!\"'").startswith("?")

    def clauses(self) -> Iterator[Words]:
        """Yield the parts between signs that end a clause."""
        begin = 0
        for place, word in enumerate(self.all, start=1):
            if word.closes or place == len(self.all):
                yield self.part(begin, place)
                begin = place


@lru_cache(maxsize=64)  # a message is read for what is open, and for where it may lead
def words_of(text: str) -> Words:
    """Return the words of a text."""
    words: list[Word] = []
    end = len(text)
    for match in reversed([*_WORD.finditer(text)]):
        said, between = fold(match[0]), text[match.end() : end + 1]
        if between[:1] == "." and _ABBREVIATED.fullmatch(said):
            between = between[1:]
        words.append(Word(said, *match.span(), _CLOSING.search(between) is not None))
        end = match.start()
    return Words(text, tuple(words[::-1]))


@lru_cache(maxsize=20_000)
def fold(word: str) -> str:
    """Return a word as phrases are compared."""
    return _APOSTROPHES.sub("", plain(word))
