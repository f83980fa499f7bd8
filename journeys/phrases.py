r"""Match what authors look for in a message: phrases at the edges of words, regular expressions.

Phrases match whole words in any script: "help" is not in "helpful", yet "c++", "help?" and
"order #" match, because an edge is only asked for where the phrase itself ends in a word
character. Scripts written without spaces have no edges (docs/reference/journeys.md).

Regular expressions are judged when they are declared, and matched in a limited time. They are
written in Python's own syntax and run by the package `regex`, which can be stopped. What the two
read differently is a fault of the definition, with the way to write it.
"""

from __future__ import annotations

import re
import unicodedata
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from itertools import product
from re import _constants as signs
from re import _parser as parser
from time import thread_time
from typing import Any

import ahocorasick

# Blocks of scripts that put no space between words: Thai to Lao, Myanmar, Khmer, kana, Han.
_UNSPACED = (
    (0x0E00, 0x0EFF),
    (0x1000, 0x109F),
    (0x1780, 0x17FF),
    (0x3040, 0x30FF),
    (0x31F0, 0x31FF),
    (0x3400, 0x4DBF),
    (0x4E00, 0x9FFF),
    (0xF900, 0xFAFF),
    (0xFF66, 0xFF9F),
    (0x20000, 0x323AF),
)
# What phones and word processors put for the apostrophe that authors type; and the invisible
# marks that choose between the black-and-white and the coloured form of one emoji.
_SAME = str.maketrans(
    {"\u2019": "'", "\u2018": "'", "\u02bc": "'", "\uff07": "'", "\ufe0e": None, "\ufe0f": None}
)


def normal(text: str) -> str:
    r"""Return the form in which patterns and messages are compared.

    Unicode NFC, case folded, runs of white space as one space, one kind of apostrophe, no
    variation selectors.

    Example:
        >>> normal("  What\u2019s   the COPAY ")
        "what's the copay"
    """
    if text.isascii():
        return " ".join(text.lower().split())
    folded = unicodedata.normalize("NFC", text.translate(_SAME)).casefold()
    return " ".join(unicodedata.normalize("NFC", folded).split())


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


def _joined(char: str, following: str) -> bool:
    """Return whether two adjacent characters belong to one word."""
    if _is_mark(following):  # one with its letter in any script: a tone makes another word of it
        return char.isalpha() or _is_mark(char) or _in_word(char)
    return _in_word(char) and _in_word(following)


def _is_mark(char: str) -> bool:
    return unicodedata.category(char)[0] == "M"


def _in_word(char: str) -> bool:
    if not (char.isalnum() or char == "_" or _is_mark(char)):
        return False
    point = ord(char)
    return not any(first <= point <= last for first, last in _UNSPACED)


def at_edges(text: str, start: int, end: int) -> bool:
    """Return whether `text[start:end]` consists of whole words. `text` is in normal form."""
    cut_before = start > 0 and _joined(text[start - 1], text[start])
    cut_after = end < len(text) and _joined(text[end - 1], text[end])
    return not (cut_before or cut_after)


def said(pattern: str, text: str) -> bool:
    """Return whether a message contains a pattern as whole words.

    Example:
        >>> from journeygraph.journeys import phrases
        >>> phrases.said("help", "I need HELP!"), phrases.said("help", "That was helpful")
        (True, False)
    """
    pattern, text = normal(pattern), normal(text)
    start = text.find(pattern) if pattern else -1
    while start >= 0:
        if at_edges(text, start, start + len(pattern)):
            return True
        start = text.find(pattern, start + 1)
    return False


class Matcher:
    """Finds which questions a message answers by a pattern.

    Args:
        patterns: Pairs of a pattern and the id of the question that it answers.
    """

    def __init__(self, patterns: Iterable[tuple[str, str]]) -> None:
        found: dict[str, tuple[str, list[str]]] = {}
        for pattern, question in patterns:
            found.setdefault(normal(pattern), (pattern, []))[1].append(question)
        self._automaton = ahocorasick.Automaton()
        for word, (pattern, questions) in found.items():
            self._automaton.add_word(word, (len(word), pattern, questions))
        if found:
            self._automaton.make_automaton()

    def match(self, message: str) -> dict[str, str]:
        """Return the questions answered by a message, each with the pattern that was found."""
        answered: dict[str, str] = {}
        text = normal(message)
        if not len(self._automaton):
            return answered
        for last, (length, pattern, questions) in self._automaton.iter(text):
            if at_edges(text, last - length + 1, last + 1):
                for question in questions:
                    answered.setdefault(question, pattern)
        return answered


LONGEST_MATCH = 0.05
"""Most seconds that one match may work; longer, it counts as none."""
TOGETHER = 0.1
"""Seconds that all matches of one step of a turn have together."""
LEAST = 0.001
"""Seconds that a match has when those are used up: a hundred times what an honest one takes."""
# Python takes `x{e<=1}` for the text; `regex` would take it for "x with one error at most".
_FUZZY = re.compile(
    r"\{\s*(?:\d+\s*<=?\s*)?(?:\d*\s*[deis])(?:\s*[+,]\s*\d*\s*[deis]|\s*<=?\s*\d+)*\s*(?::[^{}]*)?\}"
)


def pattern_fault(pattern: str) -> str:
    """Return why a text is not a valid pattern; empty if it is one."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            re.compile(pattern)
        except (re.error, OverflowError, RecursionError) as error:
            return str(error)
        except Warning as warning:
            escaped = "\\[, \\-, \\&, \\| or \\~"
            return f"{str(warning).lower()}; for the character itself write {escaped}"
        if found := _FUZZY.search(re.sub(r"\\.", "__", pattern, flags=re.DOTALL)):
            braced = pattern[found.start() : found.end()]
            return f"'{braced}' is fuzzy matching; for the character itself write \\{{"
        try:
            compiled(pattern)
        except Exception as error:  # its own type is there only once it is imported
            return f"{error}; this is not valid for the package regex, which matches patterns"
    return ""


@lru_cache(maxsize=1024)
def compiled(pattern: str) -> Any:
    """Return a pattern ready to be matched; only a `MatchBudget` may run it.

    Raises:
        regex.error: It is not a valid pattern.
    """
    import regex  # noqa: PLC0415 - a journey without patterns does not need it

    return regex.compile(pattern, regex.VERSION0)


@dataclass(slots=True, eq=False)
class MatchBudget:
    """Matches the patterns of authors for one step of a turn, which they cannot hold up for long.

    The event loop waits for a match, as it is over in microseconds. One that is not has 50 ms, all
    of them together 100 ms, and each further one 1 ms: so many hostile patterns cost little more
    than one, and what is plain is found all the same. Seconds are processor time, so that a busy
    machine has no effect.

    Attributes:
        late: Names of the fields, one of whose patterns was stopped.
    """

    late: dict[str, None] = field(default_factory=dict)
    _left: float = TOGETHER
    _stopped: set[tuple[str, str]] = field(default_factory=set)

    def search(self, name: str, pattern: str, text: str) -> Any:
        """Return where a pattern of a field matches; None if nowhere, or not in time."""
        return self._matched(name, pattern, text, compiled(pattern).search)

    def fullmatch(self, name: str, pattern: str, text: str) -> Any:
        """Return the match of a pattern of a field with a whole text; None if there is none."""
        return self._matched(name, pattern, text, compiled(pattern).fullmatch)

    def _matched(self, name: str, pattern: str, text: str, match: Any) -> Any:
        if (pattern, text) in self._stopped:
            return None
        began = thread_time()
        try:
            # Held, the lock costs nothing; given up, a busy thread would keep it for 5 ms each.
            return match(text, timeout=min(LONGEST_MATCH, self._left), concurrent=False)
        except TimeoutError:
            self.late[name] = None
            self._stopped.add((pattern, text))
            return None
        finally:
            self._left = max(LEAST, self._left - (thread_time() - began))


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
        alphabet: The characters that are distinguished.
        takes: Place -> the characters that it takes.
        follows: Pair of places -> number of ways in which the second follows the first.
    """

    alphabet: Sequence[str]
    takes: list[frozenset[str]] = field(default_factory=list)
    follows: Counter[tuple[int, int]] = field(default_factory=Counter)

    def sequence(self, tree: Any) -> _Piece:
        """Add parts that follow each other."""
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
