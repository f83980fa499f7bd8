"""Find the fields that words mention, and assign each value of a message to a field."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from functools import cached_property, lru_cache
from operator import attrgetter
from typing import Any

from journeys import Field
from journeys.phrases import plain
from nodes.language.lexicon import Lexicon, lexicon_of
from nodes.language.reading import (
    COUNT,
    COUNTED,
    DAY,
    NAMES,
    WORDY,
    Expected,
    Reading,
    Token,
    value_in,
)
from nodes.values import Span, found_in

_LEAST_STEM = 4
_LONGEST_ENDING = 2
_MOST_COUNTED = 3
_EVER_WIDER = (attrgetter("names"), attrgetter("kind"), attrgetter("said"))
"""Words of a field, in which a name is looked for one after the other."""


def mentioned(words: Sequence[str], fields: Iterable[Field], lexicon: Lexicon) -> Field | None:
    """Return the one field that words call by its name, label or kind, or by its description.

    All words are about it, except the small ones, or the word that names the thing is that of no
    other field; where two fields fit equally, none is meant.
    """
    content = [word for word in words if word not in lexicon.words("small")]
    unique = list({field.name: field for field in fields}.values())
    if not content or not unique:
        return None
    words_of = [(_words(field, lexicon), field) for field in unique]
    for known in _EVER_WIDER:
        own = [f for its, f in words_of if all(is_among(word, known(its)) for word in content)]
        if own:
            return own[0] if len(own) == 1 else None
    touched = [(its, field) for its, field in words_of if _among(content, its.kind)]
    if len(touched) != 1:  # "the street number" is no number of guests
        return None
    its, field = touched[0]
    return field if is_among(_head(words, content, lexicon.words("of")), its.kind) else None


def names_field(words: Iterable[str], field: Field, lexicon: Lexicon) -> bool:
    """Return whether a word belongs to a field: to its name, label, kind or unit."""
    return bool(_among(words, _words(field, lexicon).near))


def names(words: Iterable[str], field: Field, lexicon: Lexicon) -> bool:
    """Return whether one of the words belongs to the name or label of a field."""
    return bool(_among(words, _words(field, lexicon).names))


def concerns(words: Iterable[str], field: Field, lexicon: Lexicon) -> bool:
    """Return whether one of the words belongs to a field, or to its description."""
    known = _words(field, lexicon)
    return bool(_among(words, known.said | known.counted))


def is_question_of(words: Iterable[str], field: Field, lexicon: Lexicon) -> bool:
    """Return whether all words that matter are in a field's name, question or description."""
    telling = [word for word in words if word not in lexicon.words("small")]
    return bool(telling) and all(concerns([word], field, lexicon) for word in telling)


def is_task(name: str, tasks: Iterable[str], lexicon: Lexicon) -> bool:
    """Return whether words name one of the open tasks."""
    content = [w for w in name.split() if w not in lexicon.words("small")]
    own = [frozenset(plain(task).replace("_", " ").split()) for task in tasks]
    return bool(content) and any(all(is_among(w, words) for w in content) for words in own)


def _among(words: Iterable[str], known: frozenset[str]) -> list[str]:
    """Return the words that others have, too."""
    return [word for word in words if is_among(word, known)]


def _head(words: Sequence[str], content: Sequence[str], of: frozenset[str]) -> str:
    """Return the word that names the thing: in "date of the accident", the date."""
    for place, word in enumerate(words):
        if word in of and place and words[place - 1] in content:
            return words[place - 1]
    return content[-1]


@lru_cache(maxsize=20_000)
def is_among(word: str, known: frozenset[str]) -> bool:
    """Return whether words have one, perhaps with another ending."""
    if word in known or len(word) < _LEAST_STEM:
        return word in known
    within = [other for other in known if word in other or other in word]
    return bool([other for other in within if _akin(word, other)])


def _akin(one: str, other: str) -> bool:
    """Return whether two words differ in an ending, or one ends in the other: "Doppelzimmer"."""
    short, long = sorted((one, other), key=len)
    if len(short) >= _LEAST_STEM and long.startswith(short):
        return len(long) - len(short) <= _LONGEST_ENDING
    return len(short) > _LEAST_STEM and long.endswith(short)


@dataclass(frozen=True, slots=True)
class _Words:
    """The words of a field.

    Attributes:
        own: Of its name and label.
        names: The same, without the small ones.
        kind: These, and what values of its type are called.
        said: These, and the author's words about it.
        counted: Words for the things that it counts: from its name, or else from its description.
        near: Of its kind, and of what it counts.
    """

    own: frozenset[str]
    names: frozenset[str]
    kind: frozenset[str]
    said: frozenset[str]
    counted: frozenset[str]
    near: frozenset[str]


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
    return _Words(own, names, typed, said, counted, typed | counted)


def names_any_field(text: str, fields: Iterable[Field], language: str) -> bool:
    """Return whether a text holds a word of the name of one of the fields."""
    lexicon = lexicon_of(language)
    words = plain(text).split()
    return any(names(words, field, lexicon) for field in fields)


_WEAK = ("enum", "boolean")
_SPANNED = ("date", "time", "datetime")
_DAYS = ("date", "datetime")
_BEFORE, _BEHIND = 3, 2
_WEEK = timedelta(days=7)
_LONGEST_WAIT = 62
"""Days until a day of the month comes again, at most."""
_MOST_WORDS = 200
_SOLE = (*_SPANNED, "money", "phone", "email", "enum")
"""Types of values that can be nothing else."""
_GIVING = (("with", True, ("boolean",)), ("without", False, ("boolean",)), ("ones", 1, COUNTED))
"""Uses of words that give a value to what is named behind them, and the types that have it."""
_MOST_SPANS = 12
_TWO = 2
_NAMED, _SURE = 8, 20
_LONGEST_ARTICLE = 4
_START_OF = attrgetter("start")


@dataclass(frozen=True, slots=True)
class Claim:
    """A value in a message, and the field that it is of.

    Attributes:
        weight: The certainty that it belongs there.
        words: Words of the field, which need no other reason to be there.
        is_named: True if these, or "we are", say what the value is of.
        changes: True if the field has a value, which this one replaces.
        is_bare: True if nothing says so.
    """

    field: Field
    span: Span
    weight: float
    words: frozenset[str]
    is_named: bool = False
    changes: bool = False
    is_bare: bool = False

    @property
    def is_by_the_way(self) -> bool:
        """Return whether it is taken anywhere: never asked for, or by an author's pattern."""
        return self.span.own or not self.field.asked

    @property
    def start(self) -> int:
        """Return its start in the message."""
        return self.span.start

    @property
    def end(self) -> int:
        """Return its end."""
        return self.span.end


def claims_in(
    reading: Reading, expected: Expected, replaced: Sequence[tuple[int, int]]
) -> list[Claim]:
    """Return the values that belong to exactly one field, in the order of the message.

    Open and known fields are in one pool. A known one is meant only where the words name it, where
    they say that something is replaced, or where nothing else is asked for.

    Args:
        reading: Words without a slip of the tongue between them.
        expected: The values that may be given or changed.
        replaced: The places of clauses that replace a value.
    """
    if len(reading.tokens) > _MOST_WORDS:
        return []
    spans = [
        (field, changes, span)
        for field, changes in expected.pool
        for span in spans_in(field, reading, expected)[:_MOST_SPANS]
    ]
    days = [span for field, _, span in spans if field.type in _SPANNED and span.certain]
    choices = [span for field, changes, span in spans if field.type == "enum" and not changes]
    found = []
    for field, changes, span in spans:
        inside = reading.at(span)
        if not inside.tokens or is_article(inside):
            continue
        replaces = any(start <= span.start < end for start, end in replaced)
        place = _Place(field, span, inside, reading, expected, replaces=replaces)
        claim = place.claim(days)
        if claim and changes:
            claim = place.changed(claim)
        choice = field.type != "enum" and any(_overlap(span, other) for other in choices)
        if claim and not (choice and not (place.is_asked or claim.is_named)):
            found.append(claim)  # "today" may be how urgent it is, and no day
    certain = [claim.field for claim in found if claim.span.certain]
    found = [_later(c, expected) for c in found if c.span.certain or c.field not in certain]
    found += _after_nights(found, reading, expected)
    found += _given_by_words(found, reading, expected)
    ordered = _from_until(reading, expected) or _in_order(found, reading)
    settled = [claim.field for claim in ordered]
    groups = _groups([claim for claim in found if claim.field not in settled])
    plain = [group[0] for group in groups if len(group) == 1]
    plain = [c for c in plain if not any(_overlap(c, other) for other in ordered)]
    once = [  # of two values of one field that are as plain, neither
        c
        for c in plain
        if not [o for o in plain if o is not c and o.field is c.field and o.weight >= c.weight]
    ]
    return sorted((*once, *ordered), key=_START_OF)


class _Place:
    """A value that may be of a field, and the words around it in its clause."""

    def __init__(
        self,
        field: Field,
        span: Span,
        inside: Reading,
        reading: Reading,
        expected: Expected,
        *,
        replaces: bool,
    ) -> None:
        self.field, self.span, self.inside = field, span, inside
        self.reading, self.expected, self.lexicon = reading, expected, reading.lexicon
        self.replaces = replaces
        self.is_pending = field is expected.pending
        self.clause = _clause_of(inside, reading, is_cut=field.type != "boolean")
        self.before = [t.word for t in self.clause.tokens if t.end <= span.start]
        self.behind = [t.word for t in self.clause.tokens if t.start >= span.end]
        self.near = [*self.before[-_BEFORE:], *self.behind[:_BEHIND]]

    def claim(self, days: Sequence[Span]) -> Claim | None:
        """Return what the value claims; none if the words around it are of something else.

        `days`: the days and times of the message, which are unrelated to none of its values.
        """
        if self._is_ruled_out():
            return None
        field, span, counted = self.field, self.span, self.field.type in COUNTED
        # What is never asked for is always said by the way, and what a pattern finds is meant.
        guarded = field.type in _WEAK and field.asked and not span.own and not self.replaces
        if guarded and self._is_by_the_way([*days, span]):
            return None
        people = counted and self._is_for() and self._names(self.lexicon.words("persons"))
        told = [span, *days] if counted else [span]
        if not (span.certain or self._is_led(told, people=people)):
            return None
        own = _words(field, self.lexicon)
        words = frozenset(_among(self.near, own.near)) or self._told()
        # The small words of a name count next to others of it: "check in".
        close = words.union(_among(self.near, own.own)) if words else ()
        weight = 8 * span.certain + 2 * min(_MOST_COUNTED, len(close)) + 4 * people
        weight += 2 * self._names(self.behind[:1]) + (self.is_asked and not self.replaces)
        return Claim(field, span, weight, words, is_named=bool(words or people))

    def changed(self, claim: Claim) -> Claim | None:
        """Return a claim on a field that has a value; none if nothing says that it is meant."""
        pending, field = self.expected.pending, self.field
        if self.replaces and not claim.is_named:  # a value of two types may replace either
            return replace(claim, changes=True, weight=min(claim.weight, 0))
        if self.replaces or not field.asked:
            return replace(claim, changes=True)
        beside = pending is not None and pending.type not in _WEAK
        sole = beside and self.span.certain and field.type in _SOLE and not self.rivals
        if claim.is_named or (sole and self.is_all):
            return replace(claim, changes=True, weight=claim.weight - 0.5)
        return None if pending else replace(claim, changes=True, is_bare=True)

    @cached_property
    def rivals(self) -> list[Field]:
        """Return the other fields of the same type."""
        same = [field for field in self.expected.all_fields if field.type == self.field.type]
        return [field for field in same if field is not self.field]

    @cached_property
    def is_all(self) -> bool:
        """Return whether the value is all that its clause says."""
        clause = next(c for c in self.reading.clauses if c.end >= self.span.end)
        around = _around(clause, [self.span])
        return self.lexicon.words("around", "joints").issuperset(around)

    @cached_property
    def is_asked(self) -> bool:
        """Return whether it was asked for; where nothing was, what is said alone counts as that."""
        several = self.field.type in (*_SPANNED, "enum") or len(self.reading.tokens) > 1
        return self.is_pending or (self.expected.pending is None and several and self.is_all)

    def _names(self, words: Iterable[str]) -> bool:
        return names_field(words, self.field, self.lexicon)

    def _is_ruled_out(self) -> bool:
        """Return whether words say that the value is denied, of another, or one of several."""
        field, beside = self.field, (*self.before[-1:], *self.behind[:1])
        if rules_out(self.reading, self.inside, field) or self._is_not_meant():
            return True
        if not self.lexicon.words("either").isdisjoint(beside):
            return True
        if field.type in NAMES:
            is_own = self.is_pending or is_users(field, self.lexicon)
            said = self.reading.between(self.reading.start, self.span.start).words
            if not is_own and _ends("i_am", said, self.lexicon):
                return True  # "I'm Ann Lea, I would like to send money"
            named = is_part(self.before[-_BEFORE:], field, self.lexicon)
            return named and not self.inside.has("name_parts")  # "first name Beth"
        is_ordinal = field.type in COUNTED and self.inside.day()  # "the 28th" counts nothing
        return bool(is_ordinal) and not self.inside.said.isdigit()

    def _is_not_meant(self) -> bool:
        """Return whether the clause is about another person, of another time, or a question."""
        if is_of_another(self.clause, self.field):  # "my kitten is coughing"
            subject = (_subject(self.clause) or "").split()
            return not (self.is_asked and self.span.raw.casefold() in subject)
        return self.clause.begins("asking") > 0

    def _is_by_the_way(self, told: Sequence[Span]) -> bool:
        """Return whether most words around a choice, up to the next "and", are unrelated."""
        joints = self.lexicon.words("joints")
        cuts = [n for n, word in enumerate(self.clause.words) if word in joints]
        phrase = _between_cuts(self.clause, cuts, self.inside)
        return self._strange(phrase, told) * (3 if self.is_asked else 4) >= len(phrase.tokens)

    def _strange(self, words: Reading, told: Sequence[Span]) -> int:
        """Count the words that are not usual around values of the field, nor numbers."""
        known, own = self.lexicon.words("around"), _words(self.field, self.lexicon).near
        around = _around(words, told)
        strange = [word for word in around if word not in known and not word.isdigit()]
        return len(strange) - len(_among(strange, own))

    def _is_led(self, told: Sequence[Span], *, people: bool) -> bool:
        """Return whether the words around the value say that it is one of the field.

        They do where it was asked for, and no strange words are around it.

        Args:
            told: The values that are no strange words.
            people: True if the words say that people are counted, as the field does.
        """
        kind, lexicon = self.field.type, self.lexicon
        if kind in WORDY:  # it was found behind words that bring it in
            return self.is_asked or _ends("i_am", self.before, lexicon)
        if kind == "phone":
            return True
        if kind not in _SPANNED and self._names((*self.before[-2:], *self.behind[:2])):
            return True
        if not lexicon.words("units").isdisjoint(self.behind[:1]):
            return False
        leads, count = lexicon.leads.get(kind, frozenset()), 1
        if kind == "money":
            leads, count = lexicon.words("pay"), 2
        if people or not leads.isdisjoint(self.before[-count:]):
            return True
        asks = self.reading.begins("wonder") > 0
        return self.is_asked and not asks and not self._strange(self.clause, told)

    def _is_for(self) -> bool:
        """Return whether people come next: "for", "we are"."""
        said = [word for word in self.before if word not in self.lexicon.words("only")]
        is_for = not self.lexicon.words("people_for").isdisjoint(said[-1:])
        return is_for or (bool(said) and _ends("we_are", said, self.lexicon))

    def _told(self) -> frozenset[str]:
        """Return the words that belong to this field alone of several of a type: "leaving on"."""
        if not self.rivals:
            return frozenset()
        own, small = _words(self.field, self.lexicon).said, self.lexicon.words("small", "around")
        theirs = [_words(rival, self.lexicon).said for rival in self.rivals]
        words = [word for word in self.near if word not in small and _is_kin(word, own)]
        return frozenset(word for word in words if not any(_is_kin(word, one) for one in theirs))


def _ends(name: str, words: Sequence[str], lexicon: Lexicon) -> bool:
    """Return whether words end with a phrase of a name: "I am", "we are"."""
    return any(lexicon.says(" ".join(words[-count:]), name) for count in range(1, 5))


def _is_kin(word: str, others: frozenset[str]) -> bool:
    """Return whether a word has a stem in common with one of others: "leaving" and "leave"."""
    stems = [other[: max(_LEAST_STEM, min(len(word), len(other)) - 1)] for other in others]
    return any(word.startswith(stem) for stem in stems)


def _given_by_words(
    found: Sequence[Claim], reading: Reading, expected: Expected
) -> Iterator[Claim]:
    """Yield the value that a word gives to what is named behind it: "with parking", "one room"."""
    for use, value, types in _GIVING:
        fields = [field for field in expected.fields if field.type in types]
        is_heard = reading.has(use) and (found or expected.pending in fields)
        given = reading.lexicon.words(use) if is_heard else ()
        for place, token in enumerate(reading.tokens[:-1] if given else ()):
            behind = reading.part(place + 1, place + 3).clauses[0]
            if token.word not in given or token.closes or behind.opens("joints"):
                continue
            for field in fields:
                named = [t for t in behind.tokens if names([t.word], field, reading.lexicon)]
                if named:
                    yield _named(field, value, reading, token.start, named[0].end)


def _named(field: Field, value: Any, reading: Reading, start: int, end: int) -> Claim:
    """Return a value that is named, at its place in the message."""
    span = Span(value, reading.text[start:end], start, end, True, field.type)
    return Claim(field, span, _NAMED, frozenset(), is_named=True)


def _after_nights(found: Sequence[Claim], reading: Reading, expected: Expected) -> list[Claim]:
    """Return the day until which a person stays for so many nights from the day before it on."""
    nights, lexicon = reading.lexicon.words("nights"), reading.lexicon
    if not reading.has("nights") or any(names(nights, f, lexicon) for f in expected.all_fields):
        return []
    days = [claim for claim in found if claim.field.type == "date"]
    fields = [claim.field for claim in days]
    taken = expected.pending if expected.pending in fields else next(iter(fields), None)
    opened = [f for f in expected.fields if f.type == "date" and f is not taken]
    firsts = [claim.span.value for claim in days] or _known_days(expected)[-1:]
    for span in found_in(COUNT, reading.text, expected.setting) if opened and firsts else ():
        words = reading.between(span.start, reading.end).part(1, 2)
        if words.opens("nights"):
            until = (date.fromisoformat(firsts[0]) + timedelta(days=span.value)).isoformat()
            return [_named(opened[0], until, reading, span.start, words.tokens[0].end)]
    return []


def _known_days(expected: Expected) -> list[str]:
    """Return the known days, the latest last."""
    return [str(expected.known[f.name]) for f in expected.correctable if f.type == "date"]


def spans_in(field: Field, words: Reading, expected: Expected) -> list[Span]:
    """Return the values of a field in words, at their places in the message."""
    at = words.start
    spans = found_in(field, words.text[at : words.end], expected.setting)
    return [replace(s, start=s.start + at, end=s.end + at) for s in spans] if at else spans


def _groups(found: Sequence[Claim]) -> list[list[Claim]]:
    """Return the plainest claims to each place; several where no field has the better one."""
    left = sorted(found, key=lambda c: (-c.weight, c.start - c.end, c.start))
    groups = []
    while left:
        best = left[0]
        here = [claim for claim in left if claim is best or _overlap(claim, best)]
        alike = (best.weight, best.end - best.start)
        groups.append([c for c in here if (c.weight, c.end - c.start) == alike])
        left = [claim for claim in left if claim not in here]
    return groups


def _in_order(found: Sequence[Claim], reading: Reading) -> list[Claim]:
    """Give two values to two fields where one goes until the other: "from Friday to Sunday"."""
    for kind in _SPANNED if len(found) > 1 else ():
        claims = [claim for claim in found if claim.field.type == kind]
        places = sorted({(claim.start, claim.end) for claim in claims})
        fields = list(dict.fromkeys(claim.field.name for claim in claims))
        if len(places) != len(fields) or len(fields) != _TWO:
            continue
        end, start = places[0][1], places[1][0]
        between = reading.between(end, start)
        until = len(between.tokens) <= _TWO and between.has("until")
        if until or reading.text[end:start].strip() in ("-", "\u2013"):
            wanted = list(zip(places, fields, strict=True))
            kept = [c for c in claims if ((c.start, c.end), c.field.name) in wanted]
            return _forwards(*sorted(kept, key=_START_OF))
    return []


def _forwards(first: Claim, last: Claim) -> list[Claim]:
    """Return two days in order: on a Saturday, "from Friday to Sunday" is not until tomorrow."""
    if first.field.type != "date" or last.span.value >= first.span.value:
        return [first, last]
    later = (date.fromisoformat(last.span.value) + _WEEK).isoformat()
    kept = [first, replace(last, span=replace(last.span, value=later))]
    return kept if later >= first.span.value else []


def _later(claim: Claim, expected: Expected) -> Claim:
    """Return a claim on a day without its month as the next one after a known day to come."""
    if claim.field.type != "date" or claim.changes:
        return claim
    value = later_day(claim.span.value, claim.span.raw, expected, is_mere=not claim.span.certain)
    return replace(claim, span=replace(claim.span, value=value))


def later_day(said: str, raw: str, expected: Expected, *, is_mere: bool) -> str:
    """Return a day of the week or month as the next one after a known day to come.

    Its words name a day of the week if they would mean another day later; `is_mere` is one that
    is only a day of the month: "the 27th".
    """
    first = next(reversed(_known_days(expected)), "")
    if said >= first:
        return said
    day, begins, setting = date.fromisoformat(said), date.fromisoformat(first), expected.setting
    if is_mere:
        return str(next_day(begins, day.day))
    ahead = begins - setting.at.date()
    later = [
        value_in(DAY, raw, replace(setting, at=setting.at + ahead + more))
        for more in (timedelta(), timedelta(days=1))
    ]
    is_weekday = all(one and date.fromisoformat(one).weekday() == day.weekday() for one in later)
    return str(later[0]) if is_weekday else said


def _from_until(reading: Reading, expected: Expected) -> list[Claim]:
    """Return the days of "from the 10th to the 12th of May", of which one has no month."""
    if not reading.has("until"):
        return []
    until, known = reading.lexicon.words("until"), _known_days(expected)
    fields = [f for f in (*expected.correctable, *expected.fields) if f.type == "date"]
    places = [n for n, w in enumerate(reading.words) if n and w in until]
    for place in places if len(fields) == _TWO else ():
        first, behind = reading.part(place - 1, place), reading.part(place + 1)
        spans = [s for s in found_in(DAY, behind.raw, expected.setting) if s.certain]
        spans = [s for s in spans if s.start <= _LONGEST_ARTICLE]
        mere = next((p for p in (behind.part(0, 1), behind.part(0, 2)) if p.day()), None)
        last, end = None, 0
        if spans:
            last, end = date.fromisoformat(spans[0].value), behind.start + spans[0].end
        elif mere and known and (not first.said.isdigit() or first.text[first.end - 1] == "."):
            last, end = next_day(date.fromisoformat(known[0]), int(mere.day())), mere.tokens[-1].end
        begun = last and next_day(last, int(first.day() or 0), back=True)
        if begun and last:
            days = (
                _named(fields[0], begun.isoformat(), reading, first.start, first.tokens[0].end),
                _named(fields[1], last.isoformat(), reading, behind.start, end),
            )
            return [
                replace(c, weight=_SURE, words=until, changes=c.field.name in expected.known)
                for c in days
            ]
    return []


def next_day(begins: date, day: int, *, back: bool = False) -> date | None:
    """Return the first date from one on, or back, that is a day of its month: the next 27th."""
    step = timedelta(days=-1 if back else 1)
    near = (begins + step * count for count in range(_LONGEST_WAIT))
    return next((each for each in near if each.day == day), None)


def _clause_of(inside: Reading, reading: Reading, *, is_cut: bool) -> Reading:
    """Return the clause of a value; a "but" separates two clauses, and so does "and I want"."""
    clause = next(c for c in reading.clauses if c.tokens[-1].end >= inside.tokens[0].end)
    if not (is_cut and clause.has("turns", "joints")):
        return clause
    turning, all_but, joints = map(reading.lexicon.words, ("turns", "all_but", "joints"))
    said = clause.words
    cuts = [n for n, w in enumerate(said) if w in turning and not (n and said[n - 1] in all_but)]
    cuts += [
        n for n, w in enumerate(said) if w in joints and n and clause.part(n + 1).begins("wish")
    ]
    return _between_cuts(clause, cuts, inside)


def _between_cuts(clause: Reading, cuts: Sequence[int], inside: Reading) -> Reading:
    """Return the part of a clause that a value is in, where words at some places separate it."""
    first, last = inside.tokens[0].start, inside.tokens[-1].end
    begins = [place + 1 for place in cuts if clause.tokens[place].end <= first]
    ends = [place for place in cuts if clause.tokens[place].start >= last]
    return clause.part(max(begins, default=0), min(ends, default=None))


def is_article(inside: Reading) -> bool:
    """Return whether a value is a small word: "ein Tisch" is no number."""
    return len(inside.tokens) == 1 and inside.opens("small")


def is_users(field: Field, lexicon: Lexicon) -> bool:
    """Return whether a field is for the name of the user, or for just any name."""
    known = lexicon.type_words["name"] | lexicon.words("name_parts", "small")
    return _asks_own_name(field, lexicon) or known.issuperset(plain(field.title).split())


def _asks_own_name(field: Field, lexicon: Lexicon) -> bool:
    return any(form.search(plain(field.ask)) for form in lexicon.forms("form_own_name"))


def is_part(what: Sequence[str], field: Field, lexicon: Lexicon) -> bool:
    """Return whether words name a part of a name alone, and the field is not for that part."""
    parts = lexicon.words("name_parts").intersection(what)
    return bool(parts) and not names_field(parts, field, lexicon)


def _around(clause: Reading, spans: Sequence[Span]) -> list[str]:
    """Return the words of a clause outside of some values."""
    return [t.word for t in clause.tokens if not any(_overlap(t, span) for span in spans)]


def is_of_another(clause: Reading, field: Field) -> bool:
    """Return whether a clause is about something that is not the field: "my cat is 12"."""
    about = _subject(clause)
    strange = about is not None and not concerns(about.split(), field, clause.lexicon)
    return strange or is_doubted(clause, field)


def _subject(clause: Reading) -> str | None:
    """Return what a clause is about: the animal in "my kitten is coughing"."""
    found = (form.match(clause.marked) for form in clause.lexicon.forms("form_subject"))
    return next((match["subject"] for match in found if match), None)


def is_doubted(clause: Reading, field: Field) -> bool:
    """Return whether a clause says that it is of another person, or of another time."""
    lexicon, marked = clause.lexicon, clause.marked
    if lexicon.begins(marked, "form_doubt"):
        return True
    is_other = field.type in NAMES and lexicon.begins(marked, "form_named_other")
    return bool(is_other) and _asks_own_name(field, lexicon)


def excludes(words: Reading) -> bool:
    """Return whether words exclude the value at their end: "any day but Friday"."""
    all_but = words.lexicon.words("all_but")
    parts = [words.part(n).marked for n, word in enumerate(words.words) if word in all_but]
    return any(words.lexicon.matches("form_all_but", part) for part in parts)


def rules_out(reading: Reading, inside: Reading, field: Field) -> bool:
    """Return whether a value is denied, or a day is only where a time begins: "after the 3rd".

    "Not" comes before what is denied, or a "no" after it: "outside no, inside".
    """
    at = reading.tokens.index(inside.tokens[0])
    end = at + len(inside.tokens)
    before, behind = reading.part(max(0, at - 2), at), reading.part(end, end + 1)
    if field.type in _DAYS and before.has("open"):
        return True
    if unfit(reading, inside) or excludes(reading.between(0, inside.end)):
        return True
    apart = [place for place, token in enumerate(before.tokens, start=1) if token.closes]
    no = not inside.tokens[-1].closes and behind.says("no") and behind.tokens[0].closes
    return no or before.part(max(apart, default=0)).has("negation")


def unfit(clause: Reading, inside: Reading) -> bool:
    """Return whether the words right behind a value say that it does not do: "mornings are bad"."""
    behind = clause.part(clause.tokens.index(inside.tokens[-1]) + 1)
    return not inside.tokens[-1].closes and behind.begins("unfit") > 0


def _overlap(one: Claim | Span | Token, other: Claim | Span | Token) -> bool:
    return one.start < other.end and other.start < one.end
