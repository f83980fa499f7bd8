"""A message as its words, folded as phrases are written, each knowing where it stood."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from operator import attrgetter

from nodes.guidelines.words import plain
from nodes.language.lexicon import Lexicon

_TOKEN = re.compile(r"[^\W_]+(?:['\u2019\u02bc`\u00b4][^\W_]+)*")
_APOSTROPHES = re.compile(r"['\u2019\u02bc`\u00b4]")
_BREAK = re.compile(r"[,;:.!?\u2026\n]|\s[-\u2013\u2014]+\s|\u2014")
_AHEAD = 30
_WORD_OF = attrgetter("word")
_LONG_RUN = re.compile(r"(\w)\1{2,}")
_DIGRAPHS = (("ae", "a"), ("oe", "o"), ("ue", "u"))


@dataclass(frozen=True, slots=True)
class Token:
    """A word of a message.

    Attributes:
        word: The word, folded.
        start, end: Where it stands in the message.
        closes: What stands between it and the next word ends a clause.
    """

    word: str
    start: int
    end: int
    closes: bool


@dataclass(frozen=True)
class Reading:
    """Some words in a row of a message.

    Attributes:
        text: The whole message.
        tokens: The words.
        lexicon: The languages it is read in.
        complete: Whether it is the whole message.
    """

    text: str
    tokens: tuple[Token, ...]
    lexicon: Lexicon = field(repr=False)
    complete: bool = False

    @cached_property
    def said(self) -> str:
        """The words, with a space between them."""
        return " ".join(map(_WORD_OF, self.tokens))

    @cached_property
    def marked(self) -> str:
        """The words, with a comma where a clause ends."""
        parts = [f"{token.word} ," if token.closes else token.word for token in self.tokens]
        return " ".join(parts).removesuffix(" ,")

    @cached_property
    def words(self) -> list[str]:
        """The words."""
        return list(map(_WORD_OF, self.tokens))

    @property
    def raw(self) -> str:
        """The words as they were written."""
        if not self.tokens:
            return ""
        return self.text[self._start(0) : self._end(len(self.tokens) - 1)]

    @property
    def start(self) -> int:
        """Where the words begin in the message, with the signs before them."""
        return self._start(0) if self.tokens else 0

    @property
    def end(self) -> int:
        """Where the words end in the message, with the signs behind them."""
        if not self.tokens:
            return 0
        last = self.tokens[-1].end
        following = _TOKEN.search(self.text, last)
        return following.start() if following else len(self.text)

    @property
    def asks(self) -> bool:
        """Whether it is a question: by its sign, or by the word that it begins with."""
        if not self.tokens:
            return False
        following = self.text[self.tokens[-1].end :].lstrip()
        return following.startswith("?") or self.lexicon.begins("question", self.said) > 0

    @property
    def ends_asking(self) -> bool:
        """Whether a question mark follows."""
        return bool(self.tokens) and self.text[self.tokens[-1].end :].lstrip().startswith("?")

    def part(self, first: int, last: int | None = None) -> Reading:
        """Return the words from one place to before another."""
        return Reading(self.text, self.tokens[first:last], self.lexicon)

    def after(self, end: int) -> Reading:
        """Return the words behind a place in `said`."""
        return self.part(self.said.count(" ", 0, end) + 1 if end else 0)

    def before(self, end: int) -> Reading:
        """Return the words up to a place in `said` where a word ends."""
        return self.part(0, self.said.count(" ", 0, end) + 1 if end else 0)

    def marked_part(self, start: int, end: int) -> Reading:
        """Return the words that stand in a part of `marked`."""
        first = len([w for w in self.marked[:start].split() if w != ","])
        count = len([w for w in self.marked[start:end].split() if w != ","])
        return self.part(first, first + count)

    def between(self, start: int, end: int) -> Reading:
        """Return the words that stand in a part of the message."""
        inside = [t for t in self.tokens if t.start < end and t.end > start]
        return Reading(self.text, tuple(inside), self.lexicon)

    def clauses(self) -> Iterator[Reading]:
        """Yield the parts that punctuation separates."""
        first = 0
        for place, token in enumerate(self.tokens, start=1):
            if token.closes or place == len(self.tokens):
                yield self.part(first, place)
                first = place

    def core(self) -> Reading:
        """Return the words without those at both ends that say nothing."""
        start = self.lexicon.begins("filler", self.said)
        kept = self.after(start) if start else self
        closing, end = self.lexicon.words("closing"), len(kept.tokens)
        while end and kept.tokens[end - 1].word in closing:
            end -= 1
        return kept if end == len(kept.tokens) else kept.part(0, end)

    def _start(self, place: int) -> int:
        start = self.tokens[place].start
        signs = self.text[:start]
        kept = signs.rstrip("+-#($\u20ac\u00a3\u00a5")
        return len(kept) if not kept or kept[-1].isspace() else start

    def _end(self, place: int) -> int:
        end = self.tokens[place].end
        following = re.match(r"\s?[%)\u20ac$\u00a3\u00a5]+", self.text[end:])
        return end + following.end() if following else end


def read(message: str, lexicon: Lexicon) -> Reading:
    """Return a message as its words."""
    found = list(_TOKEN.finditer(message))
    ends = [match.start() for match in found[1:]] + [len(message)]
    tokens = [_token(message, match, end, lexicon) for match, end in zip(found, ends, strict=False)]
    return Reading(message, tuple(tokens), lexicon, complete=True)


def _token(message: str, match: re.Match[str], end: int, lexicon: Lexicon) -> Token:
    between = message[match.end() : end]
    closes = _closes(match[0], between) and not _shortens(match[0], between, lexicon)
    if not closes and message[match.end() : end].startswith(". "):  # "50. Is there a fee?"
        following = " ".join(found[0] for found in _TOKEN.finditer(plain(message[end:][:_AHEAD])))
        closes = lexicon.begins("question", following) > 0
    return Token(_spelled(match[0], lexicon), match.start(), match.end(), closes)


def _shortens(word: str, between: str, lexicon: Lexicon) -> bool:
    """Whether a full stop only shortens a word: "Dr. Johnson"."""
    return between.strip() == "." and plain(word) in lexicon.words("shortened")


def _closes(word: str, between: str) -> bool:
    """Whether a clause ends here; "3. Mai", "7.30" and "a.m." do not end one."""
    if not between.strip():
        return "\n" in between
    if between.startswith(".") and (word[-1].isdigit() or len(word) == 1):
        return "\n" in between
    if between in (",", ".", ":", ";", "!", "?"):  # no space: a part of a number or name
        return between in ("!", "?", ";") or not word[-1].isdigit()
    return _BREAK.search(between) is not None


def _spelled(token: str, lexicon: Lexicon) -> str:
    """Return a word folded; as phrases spell it, where it is drawn out or written without marks."""
    word = _APOSTROPHES.sub("", plain(token))
    word = lexicon.spellings.get(word, word)
    if word in lexicon.vocabulary:
        return word
    for short in (_LONG_RUN.sub(r"\1", word), _LONG_RUN.sub(r"\1\1", word), _unmarked(word)):
        if short in lexicon.vocabulary:
            return short
    return word


def _unmarked(word: str) -> str:
    for written, sign in _DIGRAPHS:
        word = word.replace(written, sign)
    return word
