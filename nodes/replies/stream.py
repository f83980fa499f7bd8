"""A filter of personal data over text that comes in pieces of any size.

It keeps back what may be the beginning of personal data, and releases the rest. A whole reply
is masked by the very same filter, so what is streamed and what is kept cannot differ.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from journeygraph.nodes.replies.folding import UNSPACED, folded
from journeygraph.nodes.replies.pii import MASKS, Detector, PersonalDatum

WINDOW = 512
"""Characters that are kept back at most; invisible ones do not count."""
_SAFE = 256  # longer than any number that is written out
_BEFORE = 80
_PIECE = 128
_END = re.compile(rf"[ {UNSPACED}:;!?,\"<>\[\]{{}}|=*`#\\]")
_WITHIN = " *`"  # what ends a word, and may part the groups of a number
_WORD = re.compile(r"[^\W\d_]+(?:['-][^\W\d_]+)*[.)]*")
_DIGIT, _SIGN = re.compile(r"[0-9]"), re.compile(r"[0-9@]")
_LONG = 5
"""Letters of a word that is no part of a number: groups of an IBAN have four."""
_BEGINS = 2
"""Letters of a word that a number may begin with, as an IBAN does."""


class Filter:
    """Masks personal data in a text that comes in pieces.

    Attributes:
        found: The kinds that were masked, each time that one was.

    >>> masking = Filter(["card"])
    >>> "".join([*map(masking.feed, ["Card 4111 1", "111 1111 1", "111, thanks"]), masking.flush()])
    'Card [card number], thanks'
    """

    def __init__(self, kinds: Iterable[str], allowed: Iterable[str] = ()) -> None:
        self._detector = Detector(kinds, allowed)
        self._raw = ""
        self._text = ""
        self._at: list[int] = []
        self._judged = 0
        self._before = ""
        self.found: list[str] = []

    def feed(self, piece: str) -> str:
        """Return what may go out, now that a further piece is there."""
        begun = len(self._raw)
        self._raw += piece
        if piece.isascii() and piece.isprintable():
            self._at += range(begun, begun + len(piece))
            self._text += piece
        else:
            signs = [folded(char) for char in piece]
            self._at += [begun + place for place, sign in enumerate(signs) if sign]
            self._text += "".join(signs)
        return "".join(self._released())

    def flush(self) -> str:
        """Return the rest: nothing comes behind it."""
        rest = self._let(len(self._text), self._seen(self._text))
        trailing, self._raw = self._raw, ""
        return rest + trailing

    def _released(self) -> Iterator[str]:
        while (cut := self._cut()) is not None:
            if cut <= WINDOW:
                yield self._let(cut, self._seen(self._text[:cut]))
                continue
            # Too long to wait for its end: what surely ended goes out, the rest is looked at anew.
            seen, cut = self._seen(self._text[:WINDOW]), WINDOW - _SAFE
            across = [one for one in seen if one.start < cut < one.end]
            if across:
                cut = across[0].start or across[0].end
            yield self._let(cut, [one for one in seen if one.end <= cut])

    def _cut(self) -> int | None:
        """Return how far nothing personal can reach beyond; over WINDOW if it must be cut there.

        Words without a sign of anything personal go together; what has one goes by itself.
        """
        free = 0
        while True:
            end = _END.search(self._text, self._judged)
            stop = end.end() if end else len(self._text)
            if end is None or stop - free > WINDOW:
                late = None if end is None and stop - free <= WINDOW else WINDOW + 1
                break
            word = self._text[self._judged : end.start()]
            before, self._judged = self._judged, stop
            cut = self._cut_at(free, before, word, stop)
            if cut > free:
                if _SIGN.search(self._text, free, cut):
                    late = cut
                    break
                free = cut
        if not free:
            return late
        self._judged = free if late else self._judged
        return free

    def _cut_at(self, free: int, before: int, word: str, stop: int) -> int:
        """Return where to cut behind a word; 0 if it may be part of something personal."""
        letters = len(word) if _WORD.fullmatch(word) else 0
        if self._text[stop - 1] not in _WITHIN or letters >= _LONG:
            return stop
        if _DIGIT.search(self._text, free, stop):
            return 0
        if letters > _BEGINS or "@" in word:
            return stop
        return before

    def _seen(self, text: str) -> list[PersonalDatum]:
        known = len(self._before)
        found = self._detector.find(self._before + text, known)
        return [PersonalDatum(kind, start - known, end - known) for kind, start, end in found]

    def _let(self, cut: int, seen: list[PersonalDatum]) -> str:
        parts, done = [], 0
        for kind, start, end in seen:
            parts += [self._raw[done : self._at[start]], MASKS[kind]]
            done = self._at[end - 1] + 1
            self.found.append(kind)
        until = self._at[cut] if cut < len(self._at) else len(self._raw)
        parts.append(self._raw[done:until])
        self._before = (self._before + self._text[:cut])[-_BEFORE:]
        self._raw, self._text = self._raw[until:], self._text[cut:]
        self._at = [place - until for place in self._at[cut:]]
        self._judged = max(self._judged - cut, 0) if cut <= self._judged else 0
        return "".join(parts)


def masked(text: str, kinds: Iterable[str], allowed: Iterable[str] = ()) -> tuple[str, list[str]]:
    """Return a whole text without what is personal in it, and the kinds that were masked."""
    masking = Filter(kinds, allowed)
    pieces = (text[at : at + _PIECE] for at in range(0, len(text), _PIECE))
    return "".join(map(masking.feed, pieces)) + masking.flush(), masking.found
