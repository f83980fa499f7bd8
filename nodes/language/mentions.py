"""Find the fields that words mention, and assign each value of a message to a field."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from functools import lru_cache
from itertools import product
from operator import attrgetter
from typing import Any

from journeygraph.journeys import Field
from journeygraph.journeys.phrases import plain
from journeygraph.nodes.language.lexicon import Lexicon, lexicon_of
from journeygraph.nodes.language.reading import (
    COUNT,
    COUNTED,
    DAYS,
    LONGEST_RANGE,
    NAMES,
    WORDY,
    Expected,
    Reading,
    Token,
    numbers_of_days,
    read,
)
from journeygraph.nodes.language.stays import (
    SPANNED,
    in_order,
    later_day,
    mere_days,
    owner_words,
    pair_of,
)
from journeygraph.nodes.values import Span, found_in, negation_of
from journeygraph.nodes.values.numbers import is_unit_of

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
    head = _head(words, content, lexicon.words("of"))
    words_of = [(_words(field, lexicon), field) for field in unique]
    for known in _EVER_WIDER:
        matched = [(_among(content, known(own)), field) for own, field in words_of]
        scored = [(len(own) + 0.5 * (head in own), field) for own, field in matched]
        best = max(score for score, _ in scored)
        fitting = [field for score, field in scored if score == best]
        if best and best > len(content):
            return fitting[0] if len(fitting) == 1 else None
    named = [field for own, field in words_of if is_among(head, own.kind)]
    if len(named) != 1:
        return None
    others = [own.kind for own, field in words_of if field is not named[0]]
    beside = [word for word in content if word != head]
    spoken = any(_among(beside, own) for own in others)
    return None if spoken else named[0]  # "the street number" is no number of guests


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
    kinds = lexicon.type_words.get(kind, frozenset())
    # "Arrival" names "time of arrival", also where these are one word.
    parts = [w.removesuffix(k).rstrip("s") for w in own for k in kinds if w.endswith(k)]
    names = (own | {part for part in parts if len(part) > _LEAST_STEM}) - small
    typed = names | kinds
    letters = "".join([sign if sign.isalnum() else " " for sign in plain(about)])
    said = typed | (frozenset(letters.split()) - small)
    groups = ([group for group in lexicon.concepts if group & known] for known in (names, said))
    counted = frozenset().union(*next((found for found in groups if found), []))
    return _Words(own, names, typed, said, counted, typed | counted)


def names_any_field(text: str, fields: Iterable[Field], language: str) -> bool:
    """Return whether a text holds a word of the name of one of the fields, or of what it counts."""
    lexicon = lexicon_of(language)
    words = plain(text).split()
    telling = [word for word in words if word not in lexicon.words("small", "around")]
    return any(
        names(words, field, lexicon) or _among(telling, _words(field, lexicon).counted)
        for field in fields
    )


def brought_in(message: str, language: str) -> set[str]:
    """Return the strange words behind one that may bring a name in: "to guy kephart"."""
    lexicon = lexicon_of(language)
    words, idle = read(message, lexicon).words, lexicon.words("small", "around")
    leads = lexicon.words("bring_in", "of", "people_for")
    near = [words[at + 1 : at + 3] for at, word in enumerate(words) if word in leads]
    named = {word for two in near if two and two[0] not in idle for word in two}
    return {word for word in named - lexicon.vocabulary if word.isalpha()}


_WEAK = ("enum", "boolean")
_NUMERIC = (*COUNTED, "money", "time")
_BEFORE, _BEHIND = 3, 2
_MOST_WORDS = 200
_SOLE = (*SPANNED, "money", "phone", "email", "enum")
"""Types of values that can be nothing else."""
_MOST_SPANS = 12
_NAMED, _SURE = 8, 20
_LONGEST_SUBJECT = 4
_OTHERS = "form_named_other"


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
    pending = expected.pending
    spans = [
        (field, changes, span)
        for field, changes in expected.pool
        for span in spans_in(field, reading, expected)[:_MOST_SPANS]
    ]
    choices = [span for field, changes, span in spans if field.type == "enum" and not changes]
    told = [s for f, _, s in spans if f.type in COUNTED or (f.type in SPANNED and s.certain)]
    found = []
    for field, changes, span in spans:
        is_own = field is pending or field.type not in NAMES or is_users(field, reading.lexicon)
        before = reading.between(reading.start, span.start).words
        if not is_own and names_user(before, reading.lexicon):
            continue  # "I'm Ann Lea, I would like to send money"
        replaces = bool([1 for start, end in replaced if start <= span.start < end])
        rivals = [f for f, _ in expected.pool if f.type == field.type and f is not field]
        alike = _NUMERIC if field.type in _NUMERIC else (field.type,)
        among = expected.all_fields if changes else expected.correctable
        fitting = replaces and [f for f in among if f.type in alike and f is not field]
        alone = pending is None and not fitting
        several = field.type in (*SPANNED, "enum") or len(reading.tokens) > 1
        asked = field is pending or (alone and several and _is_all(span, reading))
        alike_spans = rivals and field.type in SPANNED
        others = [s for f, _, s in spans if f.type == field.type] if alike_spans else []
        claim = _claim(reading, field, span, asked, told, rivals, others, replaces=replaces)
        typed = reading.lexicon.type_words[field.type] if field.type in COUNTED else frozenset()
        if claim and changes and expected.in_text and frozenset() < claim.words <= typed:
            continue  # "ring at number 14"
        if claim and changes:
            beside = pending is not None and pending.type not in _WEAK
            sole = beside and span.certain and not rivals and _is_all(span, reading)
            claim = _changed(claim, replaces=replaces, alone=pending is None, sole=sole)
        elif claim and replaces and not claim.is_named:  # no more than a known one is meant
            weight = claim.weight - 1 if field is pending else min(claim.weight, 0)
            claim = replace(claim, weight=weight)
        choice = [1 for c in choices if span.start < c.end and c.start < span.end]
        if claim and not (choice and field.type != "enum" and not (asked or claim.is_named)):
            found.append(claim)  # "today" may be how urgent it is, and no day
    found = [c for c in found if c.field is pending or not _is_measured(c, reading, expected)]
    certain = [claim.field for claim in found if claim.span.certain]
    found = [c for c in found if c.span.certain or c.field not in certain]
    found += _after_nights(found, reading, expected)
    found += _with_or_without(reading, expected)
    found += _single(found, reading, expected)
    ordered = _from_until(found, reading, expected)
    settled = {claim.field.name for claim in ordered}
    groups = _groups([c for c in found if c.field.name not in settled])
    plain = [group[0] for group in groups if len(group) == 1]
    plain = [c for c in plain if not [1 for other in ordered if _overlap(c, other)]]
    once = [  # of two values of one field that are as plain, neither
        c
        for c in plain
        if not [o for o in plain if o is not c and o.field is c.field and o.weight >= c.weight]
    ]
    return _counted([*once, *ordered], expected)


def _is_measured(claim: Claim, reading: Reading, expected: Expected) -> bool:
    """Return whether the currency of an amount is the unit of a number: "12 pounds"."""
    counts = [f for f in expected.all_fields if f.type in COUNTED and claim.field.type == "money"]
    words = reading.at(claim.span).words
    return any(is_unit_of(word, field, expected.setting) for word in words for field in counts)


def _led_by(reading: Reading, words: frozenset[str]) -> Iterator[tuple[Token, list[Token]]]:
    """Yield each of some words that leads to others of its clause, with the next two of these."""
    joints = reading.lexicon.words("joints")
    for place, token in enumerate(reading.tokens):
        behind = reading.tokens[place + 1 : place + 3]
        if token.word in words and behind and not token.closes:
            ends = behind[0].closes or behind[0].word in joints
            yield token, [*behind[: 1 if ends else None]]


def _with_or_without(reading: Reading, expected: Expected) -> Iterator[Claim]:
    """Yield yes or no for what is named behind a "with" or "without"."""
    lexicon = reading.lexicon
    small, without = lexicon.words("small"), lexicon.words("without")
    for token, near in _led_by(reading, without | lexicon.words("with")):
        behind = [t for t in near if t.word not in small][:1]
        judged = [f for f in expected.pool if behind and f[0].type == "boolean"]
        for field, changes in judged:
            is_without = not without.isdisjoint(_words(field, lexicon).said)
            said = (token.word in without) is is_without  # "a bill without paper?"
            stays = changes and expected.known[field.name] is said
            is_turned = negation_of(field, expected.setting) and not is_without  # "unvaccinated?"
            if not (stays or is_turned) and names_field([behind[0].word], field, lexicon):
                claim = _named(field, said, reading, token.start, behind[0].end)
                yield replace(claim, changes=changes)


def _single(found: Sequence[Claim], reading: Reading, expected: Expected) -> Iterator[Claim]:
    """Yield a one for what is counted by its name, and asked for or one of several: "one room"."""
    lexicon, ones = reading.lexicon, reading.lexicon.words("ones")
    again = expected.pending is None and reading.has("only")  # "no, only one child"
    fields = [f for f, changes in expected.pool if f.type in COUNTED and (again or not changes)]
    counts = reading.has("ones") and fields and (found or again or expected.pending in fields)
    for token, behind in _led_by(reading, ones) if counts else ():
        if reading.between(reading.start, token.start).part(-1).has("units"):
            continue  # "2 days a week"
        for field in fields:
            named = [t for t in behind if names([t.word], field, lexicon)][:1]
            numbers = [c for c in found if named and c.field.type in _NUMERIC]  # "a ten kilo dog"
            if named and not [c for c in numbers if token.start < c.end and c.start < named[0].end]:
                one = _named(field, 1, reading, token.start, named[0].end)
                yield replace(one, changes=field.name in expected.known)


def _named(
    field: Field,
    value: Any,
    reading: Reading,
    start: int,
    end: int,
    words: frozenset[str] = frozenset(),
) -> Claim:
    """Return a value that is named, at its place in the message."""
    span = Span(value, reading.text[start:end], start, end, True, field.type)
    return Claim(field, span, _NAMED, words, is_named=True)


def _after_nights(found: Sequence[Claim], reading: Reading, expected: Expected) -> list[Claim]:
    """Return the day until which a person stays for so many nights from the day before it on."""
    nights, lexicon = reading.lexicon.words("nights"), reading.lexicon
    pair = pair_of("date", expected) if reading.has("nights") else ()
    if not pair or any(names(nights, f, lexicon) for f in expected.all_fields):
        return []
    first, last = pair
    begun = [claim.span.value for claim in found if claim.field is first]
    begun += [expected.known[first.name]] if first.name in expected.known else []
    told = last is expected.pending or [1 for claim in found if claim.field.type == "date"]
    for span in found_in(COUNT, reading.text, expected.setting) if begun and told else ():
        words = reading.between(span.start, reading.end).part(1, 2)
        if words.opens("nights") and last in expected.fields:
            until = (date.fromisoformat(str(begun[0])) + timedelta(days=span.value)).isoformat()
            return [_named(last, until, reading, span.start, words.tokens[0].end, nights)]
    return []


def spans_in(field: Field, words: Reading, expected: Expected) -> list[Span]:
    """Return the values of a field in words, at their places in the message."""
    at = words.start
    spans = found_in(field, words.text[at : words.end], expected.setting)
    spans = [replace(s, start=s.start + at, end=s.end + at) for s in spans] if at else spans
    days = numbers_of_days(field, words, expected) if spans else []
    if not days:
        return spans
    return [s for s in spans if not [d for d in days if d.start < s.end and s.start < d.end]]


def _changed(claim: Claim, *, replaces: bool, alone: bool, sole: bool) -> Claim | None:
    """Return a claim on a field that has a value; none if nothing says that it is meant.

    Args:
        claim: The value.
        replaces: True if its clause has a cue that it replaces another.
        alone: True if nothing is asked that it may answer.
        sole: True if it is all of its clause, and no other field is of its type.
    """
    if replaces and not claim.is_named:  # a value of two types may replace either
        return replace(claim, changes=True, weight=min(claim.weight, 0))
    if replaces or not claim.field.asked:
        return replace(claim, changes=True)
    if claim.is_named or (sole and claim.field.type in _SOLE):
        return replace(claim, changes=True, weight=claim.weight - 0.5)
    return replace(claim, changes=True, is_bare=True) if alone else None


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


def _from_until(found: Sequence[Claim], reading: Reading, expected: Expected) -> list[Claim]:
    """Give two values to two fields where one goes until the other: "from Friday to Sunday"."""
    until = reading.lexicon.words("until")
    joined = reading.has("until") or not {"-", "\u2013"}.isdisjoint(reading.text)
    types = [field.type for field, _ in expected.pool] if joined else []
    for kind in [kind for kind in SPANNED if types.count(kind) > 1]:
        pair = pair_of(kind, expected)
        ends = [[claim.span for claim in found if claim.field is field] for field in pair]
        if kind == "date":
            ends = [spans_in(field, reading, expected) for field in pair]
            ends = [[*spans, *mere_days(reading, spans)] for spans in ends]
        for one, other in product(*ends) if pair else ():
            clause = _clause_of(reading.at(one), reading, is_cut=True)
            is_out = rules_out(reading, reading.at(one), pair[0]) or is_doubted(clause, pair[0])
            values = () if is_out else in_order(one, other, reading, expected)
            if values:
                return [
                    Claim(f, s, _SURE, until, is_named=True, changes=f.name in expected.known)
                    for f, s in zip(pair, values, strict=True)
                ]
    return []


def _counted(meant: Sequence[Claim], expected: Expected) -> list[Claim]:
    """Return values, a day without its month as the next one after the day that it follows.

    A mere day in a text, which is as it is known, belongs to the text.
    """
    if not [1 for claim in meant if claim.field.type == "date"]:
        return sorted(meant, key=attrgetter("start"))
    pair = pair_of("date", expected)
    counted: list[Claim] = []
    for claim in sorted(meant, key=lambda claim: claim.field in pair[1:]):
        field, span = claim.field, claim.span
        if field.type == "date" and (pair or not claim.changes):
            said = [c.span.value for c in counted if c.field in pair[:1] and field in pair[1:]]
            first, mere = said[0] if said else "", not span.certain
            day = later_day(span.value, span.raw, field, expected, is_mere=mere, first=first)
            claim = replace(claim, span=replace(span, value=day))
        counted.append(claim)
    days = [c for c in counted if c.field.type == "date" and c.changes and not c.span.certain]
    same = [c for c in days if c.span.value == expected.known[c.field.name]]
    kept = [claim for claim in counted if not (expected.in_text and claim in same)]
    return sorted(kept, key=attrgetter("start"))


def _claim(
    reading: Reading,
    field: Field,
    span: Span,
    asked: bool,
    told: Sequence[Span],
    rivals: Sequence[Field],
    others: Sequence[Span],
    *,
    replaces: bool = False,
) -> Claim | None:
    """Return what a value claims; none if the words around it are of something else."""
    inside = reading.at(span)
    if not inside.tokens or is_article(inside):
        return None
    paired = rivals and field.type in SPANNED
    owned = owner_words(reading, span, others, field, rivals) if paired else frozenset()
    clause = _clause_of(inside, reading, is_cut=field.type != "boolean")
    before = [t.word for t in clause.tokens if t.end <= span.start]
    behind = _behind(clause, span, asked=asked)
    if rules_out(reading, inside, field) or _is_not_meant(clause, field, span, asked, owned):
        return None
    if _is_one_of_several(before, behind, reading.lexicon):
        return None
    near = [*before[-_BEFORE:], *behind[:_BEHIND]]
    is_ordinal = field.type in COUNTED and inside.day() and not inside.said.isdigit()
    if is_ordinal and len(near) > 1 and not names_field(near, field, reading.lexicon):
        return None  # "the 28th" counts nothing
    parts = reading.lexicon.words("name_parts").intersection(before[-_BEFORE:])
    is_part = bool(parts) and field.type in NAMES and not inside.has("name_parts")
    if is_part and not names_field(parts, field, reading.lexicon):
        return None  # "first name Beth"
    # What is never asked for is always said by the way, and what a pattern finds is meant.
    guarded = field.type in _WEAK and field.asked and not span.own and not replaces
    if guarded and _is_by_the_way(clause, span, field, [*told, span], asked):
        return None
    days = [one for one in told if one.type in SPANNED] if field.type in COUNTED else []
    asking = reading.begins("wonder") > 0
    usual = asked and not asking and not _strange(_around(clause, [span, *days]), clause, field)
    around = (before, inside.words, behind)
    if not (span.certain or owned or _is_led(field, *around, reading.lexicon, asked, usual)):
        return None
    beside = names_field(behind[:1], field, reading.lexicon)
    persons = reading.lexicon.words("persons")
    people = field.type in COUNTED and _is_for(before, reading.lexicon)
    people = people and names_field(persons, field, reading.lexicon)
    own = _words(field, reading.lexicon)
    words = frozenset(_among(near, own.near)).union(owned or ())
    # The small words of a name count next to others of it: "check in".
    close = min(_MOST_COUNTED, len({*_among(near, own.near | own.own)})) if words else 0
    words = words or _told(near, field, rivals, reading.lexicon)
    weight = 8 * span.certain + 2 * (close or bool(words)) + 2 * beside + 4 * people + asked
    return Claim(field, span, weight, words, is_named=bool(words or people))


def _is_one_of_several(before: list[str], behind: list[str], lexicon: Lexicon) -> bool:
    """Return whether the words around a value leave it open: "or", "between"."""
    ranges = lexicon.words("between").intersection(before[-LONGEST_RANGE:])
    return bool(ranges or lexicon.words("either").intersection((*before[-1:], *behind[:1])))


def _behind(clause: Reading, span: Span, *, asked: bool) -> list[str]:
    """Return the words behind a value; if not asked for, a period names no field: "8 a month"."""
    words, lexicon = [t.word for t in clause.tokens if t.start >= span.end], clause.lexicon
    timed = not asked and len(words) > 1 and words[1] in lexicon.words("units")
    return words[2:] if timed and words[0] in lexicon.words("per") else words


def _told(
    near: Sequence[str], field: Field, rivals: Sequence[Field], lexicon: Lexicon
) -> frozenset[str]:
    """Return the words that belong to one field alone of several of a type: "leaving on"."""

    def said_of(word: str, one: Field) -> bool:
        return any(_is_kin(word, own) for own in _words(one, lexicon).said)

    small = lexicon.words("small", "around") if rivals else frozenset()
    words = [word for word in near if rivals and word not in small and said_of(word, field)]
    return frozenset(w for w in words if not any(said_of(w, rival) for rival in rivals))


def _is_kin(word: str, other: str) -> bool:
    """Return whether two words have a stem in common: "leaving" and "leave"."""
    stem = max(_LEAST_STEM, min(len(word), len(other)) - 1)
    return word == other or (len(word) >= stem and word[:stem] == other[:stem])


def _is_all(span: Span, reading: Reading) -> bool:
    """Return whether a value is all that its clause says."""
    clause = next((c for c in reading.clauses if c.end >= span.end), reading)
    return reading.lexicon.words("around", "joints").issuperset(_around(clause, [span]))


def _clause_of(inside: Reading, reading: Reading, *, is_cut: bool) -> Reading:
    """Return the clause of a value; a "but" separates two clauses, and so does "and I want"."""
    first, last = inside.tokens[0], inside.tokens[-1]
    found = [c for c in reading.clauses if c.tokens[-1].end >= first.end]
    clause = found[0] if found else reading
    if not (is_cut and clause.has("turns", "joints")):
        return clause
    turning, all_but, joints = map(reading.lexicon.words, ("turns", "all_but", "joints"))
    said = clause.words
    turns = [n for n, w in enumerate(said) if w in turning and not (n and said[n - 1] in all_but)]
    turns += [
        n for n, w in enumerate(said) if w in joints and n and clause.part(n + 1).begins("wish")
    ]
    firsts = [n + 1 for n in turns if clause.tokens[n].end <= first.start]
    ends = [n for n in turns if clause.tokens[n].start >= last.end]
    return clause.part(max(firsts, default=0), min(ends, default=None))


def is_article(inside: Reading) -> bool:
    """Return whether a value is a small word: "ein Tisch" is no number."""
    return len(inside.tokens) == 1 and inside.opens("small")


def _is_not_meant(
    clause: Reading, field: Field, span: Span, asked: bool, owned: frozenset[str] | None
) -> bool:
    """Return whether a clause is about another person or field, of another time, or a question."""
    if owned is None:
        return True  # "we arrive on Friday" says nothing of when they leave
    subject = (_subject(clause) or "").split()
    is_subject = (asked and span.raw.casefold() in subject) or not owned.isdisjoint(subject)
    if is_of_another(clause, field, asked=asked) and not is_subject:  # "my kitten is coughing"
        return True
    return clause.begins("asking") > 0


def _is_by_the_way(
    clause: Reading, span: Span, field: Field, told: Sequence[Span], asked: bool
) -> bool:
    """Return whether most words around a choice, up to the next "and", are unrelated."""
    joints = clause.lexicon.words("joints")
    phrase: list[Token] = []
    for token in clause.tokens:
        if token.word in joints and token.start >= span.end:
            break
        phrase = [] if token.word in joints and token.end <= span.start else [*phrase, token]
    around = _around(replace(clause, tokens=tuple(phrase)), told)
    return _strange(around, clause, field) * (3 if asked else 4) >= len(phrase)


def _is_led(
    field: Field,
    before: list[str],
    inside: list[str],
    behind: list[str],
    lexicon: Lexicon,
    asked: bool,
    usual: bool,
) -> bool:
    """Return whether the words in and around a value say that it is one of the field.

    `usual`: it is asked for, and no strange words are around it.
    """
    last, following = before[-1] if before else "", behind[0] if behind else ""
    if field.type in WORDY:  # it was found behind words that bring it in
        return asked or last in lexicon.words("bring_in") or names_user(before, lexicon)
    if field.type == "phone":
        return True
    unit = following in lexicon.words("units")
    if field.type in ("time", "date", "datetime"):
        led = last in lexicon.leads.get(field.type, frozenset())
        return not unit and (led or usual)
    if names_field([*before[-2:], *behind[:2]], field, lexicon):
        return True
    if not _words(field, lexicon).near.isdisjoint(inside):  # "two kilos and a half"
        return True
    if field.type == "money":
        paid = bool(lexicon.words("pay").intersection(before[-2:])) and not unit
        return paid or (usual and not unit)
    if field.type in COUNTED and not unit and _is_for(before, lexicon):
        return usual or names_field(lexicon.words("persons"), field, lexicon)
    return usual and not unit


def names_user(before: Sequence[str], lexicon: Lexicon) -> bool:
    """Return whether the name of the user comes next: "I am", "my name is"."""
    return any(lexicon.says(" ".join(before[-count:]), "i_am") for count in range(1, 5))


def is_users(field: Field, lexicon: Lexicon) -> bool:
    """Return whether a field is for the name of the user, or for just any name."""
    if any(form.search(plain(field.ask)) for form in lexicon.forms("form_own_name")):
        return True
    known = lexicon.type_words["name"] | lexicon.words("name_parts", "small")
    return known.issuperset(plain(field.title).split())


def _is_for(before: Sequence[str], lexicon: Lexicon) -> bool:
    """Return whether people come next: "for", "we are"."""
    said = [word for word in before if word not in lexicon.words("only")]
    last = said[-1] if said else ""
    if not said or last in lexicon.words("people_for"):
        return bool(said)
    longest = range(1, min(len(said), _LONGEST_SUBJECT) + 1)
    return bool([n for n in longest if lexicon.says(" ".join(said[-n:]), "we_are")])


def _around(clause: Reading, spans: Sequence[Span]) -> list[str]:
    """Return the words of a clause outside of some values."""
    inside = [t for s in spans for t in clause.tokens if t.start < s.end and s.start < t.end]
    return [token.word for token in clause.tokens if token not in inside]


def _strange(words: Sequence[str], reading: Reading, field: Field) -> int:
    """Count the words that are not usual around a value of a field, nor numbers."""
    known, own = reading.lexicon.words("around"), _words(field, reading.lexicon).near
    strange = [word for word in words if word not in known and not word.isdigit()]
    return len(strange) - len(_among(strange, own))


def is_of_another(clause: Reading, field: Field, *, asked: bool = True) -> bool:
    """Return whether a clause is about something that is not the field: "my cat is 12"."""
    if is_doubted(clause, field):
        return True
    if not asked and field.type in NAMES and clause.lexicon.begins(clause.marked, _OTHERS):
        telling = set(clause.words) - clause.lexicon.type_words["name"]
        return not names(telling, field, clause.lexicon)  # "his name is Karl"
    about = _subject(clause)
    return about is not None and not concerns(about.split(), field, clause.lexicon)


def _subject(clause: Reading) -> str | None:
    """Return what a clause is about: the animal in "my kitten is coughing"."""
    for form in clause.lexicon.forms("form_subject"):
        if match := form.match(clause.marked):
            return str(match["subject"])
    return None


def is_doubted(clause: Reading, field: Field) -> bool:
    """Return whether a clause says that it is of another person, or of another time."""
    lexicon, marked = clause.lexicon, clause.marked
    if lexicon.begins(marked, "form_doubt"):
        return True
    named = field.type in NAMES and lexicon.begins(marked, _OTHERS)
    return bool(named) and is_users(field, lexicon)


def excludes(words: Reading) -> bool:
    """Return whether words exclude the value at their end: "any day but Friday"."""
    if not words.has("all_but"):
        return False
    parts = [words.part(n) for n in range(len(words.tokens))]
    all_but = [part.marked for part in parts if part.opens("all_but")]
    return bool([part for part in all_but if words.lexicon.matches("form_all_but", part)])


def rules_out(reading: Reading, inside: Reading, field: Field) -> bool:
    """Return whether a value is denied, or a day is only where a time begins: "after the 3rd".

    "Not" comes before what is denied, or a "no" after it: "outside no, inside".
    """
    at = reading.tokens.index(inside.tokens[0])
    before = reading.part(max(0, at - 2), at)
    opened = reading.lexicon.words("open")
    if field.type in DAYS and [t for t in before.tokens if t.word in opened and not t.closes]:
        return True
    if unfit(reading, inside) or excludes(reading.between(0, inside.end)):
        return True
    apart = [place for place, token in enumerate(before.tokens, start=1) if token.closes]
    behind = reading.part(at + len(inside.tokens)).part(0, 1)
    ends = inside.tokens[-1].closes or not behind.tokens or not behind.tokens[0].closes
    no = not ends and behind.says("no")
    return no or before.part(max(apart, default=0)).has("negation")


def unfit(clause: Reading, inside: Reading) -> bool:
    """Return whether the words right behind a value say that it does not do: "mornings are bad"."""
    if inside.tokens[-1].closes or clause.tokens[-1] is inside.tokens[-1]:
        return False
    behind = clause.part(clause.tokens.index(inside.tokens[-1]) + 1)
    return behind.begins("unfit") > 0


def _overlap(one: Claim, other: Claim) -> bool:
    return one.start < other.end and other.start < one.end
