"""Patterns that may take exponentially long: found in their text, before any message is."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product
from re import _constants as signs
from re import _parser as parser
from typing import Any

_SAMPLE = "aAbkzZ059_ \t\n-.,:;/\\@!#'\"()[]{}+*$€éßж漢"
"""Characters of every kind, by which it is decided whether two parts of a pattern may meet."""
_BAR = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\|", re.DOTALL)
"""A bar between alternatives, or a construct that may contain a literal bar."""
_MOST_PLACES = 80
"""Longest loop that is looked through, in characters of a pattern."""
_OFTEN = 5
"""Repetitions from which on a counted loop is as bad as an endless one."""
_COPIES = 3
_REPEATS = (signs.MAX_REPEAT, signs.MIN_REPEAT)
_CLOSED = (signs.POSSESSIVE_REPEAT, signs.ATOMIC_GROUP)
_ONE = (signs.LITERAL, signs.NOT_LITERAL, signs.ANY, signs.IN, signs.GROUPREF)
_CATEGORIES = {
    signs.CATEGORY_DIGIT: r"\d",
    signs.CATEGORY_NOT_DIGIT: r"\D",
    signs.CATEGORY_SPACE: r"\s",
    signs.CATEGORY_NOT_SPACE: r"\S",
    signs.CATEGORY_WORD: r"\w",
    signs.CATEGORY_NOT_WORD: r"\W",
}


def repeats_within(pattern: str) -> bool:
    r"""Return whether a repetition in a pattern can split the same text in more than one way.

    `(a+)+`, `(a|a)*` and `(.*a){10}` can: each way is tried before such a pattern gives up.
    `(\w+,)+` cannot: the commas say where a repetition ends. Of what is repeated, the characters
    are compared, not what is asked for around them: a pattern that a lookahead saves is found too.

    Args:
        pattern: One that Python takes.
    """
    # Python makes one set of `a|b`, which `regex` does not: kept apart by what is always true.
    tree = parser.parse(_BAR.sub(lambda found: found[0] + "(?=)" * (found[0] == "|"), pattern))
    used = {chr(value) for op, value in _leaves(tree) if op is signs.LITERAL}
    alphabet = sorted({*_SAMPLE, *used, *(c.swapcase() for c in used if len(c.swapcase()) == 1)})
    return any(_is_ambiguous(body, alphabet) for body in _loops(tree))


def _parts(op: Any, value: Any) -> list[Any]:
    """Return the patterns within a part of a pattern."""
    if op in _REPEATS or op is signs.POSSESSIVE_REPEAT:
        return [value[2]]
    if op is signs.SUBPATTERN:
        return [value[3]]
    if op is signs.ATOMIC_GROUP:
        return [value]
    if op is signs.BRANCH:
        return list(value[1])
    if op in (signs.ASSERT, signs.ASSERT_NOT):
        return [value[1]]
    if op is signs.GROUPREF_EXISTS:
        return [part for part in value[1:] if part]
    return []


def _leaves(tree: Any) -> Iterator[tuple[Any, Any]]:
    for op, value in tree:
        if op is signs.IN:
            yield from value
        elif parts := _parts(op, value):
            for part in parts:
                yield from _leaves(part)
        else:
            yield op, value


def _loops(tree: Any) -> Iterator[Any]:
    """Yield what is repeated without an end, or so often that it makes no difference."""
    for op, value in tree:
        if op in _REPEATS and _is_loop(value):
            yield value[2]
        for part in _parts(op, value):
            yield from _loops(part)


def _is_loop(repeat: Any) -> bool:
    _, most, body = repeat
    return bool(most is signs.MAXREPEAT or (most >= _OFTEN and _is_endless(body)))


def _is_endless(tree: Any) -> bool:
    """Return whether anything in a pattern is repeated without an end."""
    return any(
        (op in _REPEATS and value[1] is signs.MAXREPEAT)
        or any(_is_endless(part) for part in _parts(op, value))
        for op, value in tree
    )


def _varies(tree: Any) -> bool:
    return any(
        (op in _REPEATS and value[0] != value[1]) or any(_varies(p) for p in _parts(op, value))
        for op, value in tree
    )


@dataclass(frozen=True, slots=True)
class _Piece:
    """A part of a pattern: the places that it may begin and end with, and whether it is empty."""

    first: Sequence[int] = ()
    last: Sequence[int] = ()
    empty: bool = True


@dataclass(slots=True)
class _Places:
    """The places of a pattern at which a character is read, and which may follow which.

    Attributes:
        alphabet: The characters that are told apart.
        takes: Place -> the characters that it takes.
        follows: Pair of places -> in how many ways the second follows the first.
    """

    alphabet: Sequence[str]
    takes: list[frozenset[str]] = field(default_factory=list)
    follows: Counter[tuple[int, int]] = field(default_factory=Counter)

    def sequence(self, tree: Any) -> _Piece:
        """Add parts that stand behind each other."""
        done = _Piece()
        for op, value in tree:
            done = self._joined(done, self.part(op, value))
        return done

    def looped(self, piece: _Piece) -> _Piece:
        """Add that a part may follow itself."""
        self.follows.update(product(piece.last, piece.first))
        return piece

    def part(self, op: Any, value: Any) -> _Piece:
        """Add one part."""
        if op in _ONE:
            return self._place(_taken(op, value, self.alphabet))
        if op in _CLOSED:
            inside = value if op is signs.ATOMIC_GROUP else value[2]
            leaves = [_taken(o, v, self.alphabet) for o, v in _leaves(inside) if o in _ONE]
            return self._place(frozenset().union(*leaves))
        if op is signs.SUBPATTERN:
            return self.sequence(value[3])
        if op is signs.BRANCH:
            return self._either([self.sequence(one) for one in value[1]])
        if op is signs.GROUPREF_EXISTS:
            return self._either([self.sequence(one or ()) for one in value[1:]])
        if op in _REPEATS:
            return self._repeated(*value)
        return _Piece()  # an edge, or what is looked at and not read

    def _place(self, taken: frozenset[str]) -> _Piece:
        self.takes.append(taken)
        here = (len(self.takes) - 1,)
        return _Piece(here, here, empty=False)

    def _repeated(self, least: int, most: Any, body: Any) -> _Piece:
        if _is_loop((least, most, body)) or (least != most and not _varies(body)):
            piece = self.looped(self.sequence(body))
            return _Piece(piece.first, piece.last, piece.empty or least == 0)
        done = _Piece()
        for number in range(min(int(most), _COPIES)):
            piece = self.sequence(body)
            optional = piece.empty or number >= least
            done = self._joined(done, _Piece(piece.first, piece.last, optional))
        return done

    def _joined(self, one: _Piece, other: _Piece) -> _Piece:
        self.follows.update(product(one.last, other.first))
        first = [*one.first, *other.first] if one.empty else one.first
        last = [*one.last, *other.last] if other.empty else other.last
        return _Piece(first, last, one.empty and other.empty)

    def _either(self, pieces: Sequence[_Piece]) -> _Piece:
        return _Piece(
            [place for piece in pieces for place in piece.first],
            [place for piece in pieces for place in piece.last],
            any(piece.empty for piece in pieces),
        )


def _is_ambiguous(body: Any, alphabet: Sequence[str]) -> bool:
    """Return whether a loop over a pattern may read one text in two ways.

    Every place of a loop can be reached from every other. So it does if two different ways lead
    from one place by the same characters, and meet again.
    """
    places = _Places(alphabet)
    places.looped(places.sequence(body))
    if len(places.takes) > _MOST_PLACES:
        return False
    if any(ways > 1 for ways in places.follows.values()):
        return True
    after: dict[int, list[int]] = {}
    for one, other in places.follows:
        after.setdefault(one, []).append(other)
    return _meet_again(places, after)


def _meet_again(places: _Places, after: dict[int, list[int]]) -> bool:
    """Return whether two ways part at a place, read the same, and come together."""
    waiting = [(place, place) for place in after]
    seen: set[tuple[int, int]] = set()
    while waiting:
        one, other = waiting.pop()
        for pair in product(after.get(one, ()), after.get(other, ())):
            if not places.takes[pair[0]] & places.takes[pair[1]]:
                continue
            if one != other and pair[0] == pair[1]:
                return True
            if pair[0] != pair[1] and pair not in seen:
                seen.add(pair)
                waiting.append(pair)
    return False


def _taken(op: Any, value: Any, alphabet: Sequence[str]) -> frozenset[str]:
    """Return the characters that a place takes, in either case."""
    if op is signs.GROUPREF or op is signs.ANY:
        return frozenset(alphabet)
    items: list[Any] = value if op is signs.IN else [(op, value)]
    is_negated = items[0][0] is signs.NEGATE
    taken = {c for c in alphabet if any(_holds(kind, held, c) for kind, held in items)}
    if is_negated:
        return frozenset(c for c in alphabet if c not in taken)
    return frozenset(taken | {c.swapcase() for c in taken if c.swapcase() in alphabet})


def _holds(op: Any, value: Any, char: str) -> bool:
    if op is signs.LITERAL:
        return bool(ord(char) == value)
    if op is signs.NOT_LITERAL:
        return bool(ord(char) != value)
    if op is signs.RANGE:
        return bool(value[0] <= ord(char) <= value[1])
    if op is signs.CATEGORY:
        return re.match(_CATEGORIES[value], char) is not None
    return False
