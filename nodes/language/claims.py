"""Which field each value in a message belongs to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from journeys import Field
from nodes.language.lexicon import Lexicon
from nodes.language.mentions import closeness, concerns, speaks_of
from nodes.language.reading import Reading, Token
from nodes.values import Setting, Span, found_in
from nodes.words import plain

_COUNTED = ("integer", "number")
_WEAK = ("enum", "boolean")
_WORDY = ("text", "name", "address", "list")
_SPANNED = ("date", "time", "datetime")
_BEFORE, _BEHIND = 3, 2
_MOST_WORDS = 200
_MOST_SPANS = 12


@dataclass(frozen=True, slots=True)
class Claim:
    """A value in a message, and the field that it is of.

    Attributes:
        field: The field.
        raw: The value as it was said.
        start, end: Where it stands in the message.
        weight: How plainly it belongs there.
        words: Words of the field, which need no other reason to be there.
    """

    field: Field
    raw: str
    start: int
    end: int
    weight: int
    words: frozenset[str]

    @property
    def length(self) -> int:
        """How much of the message it is."""
        return self.end - self.start


def claims_of(
    reading: Reading, fields: Sequence[Field], pending: Field | None, setting: Setting
) -> list[Claim]:
    """Return the values that belong to exactly one field, in the order in which they were said.

    Args:
        reading: The message.
        fields: The fields that may be given.
        pending: The one that was asked for, which takes what others of its type might.
        setting: When and where it was said.
    """
    if len(reading.tokens) > _MOST_WORDS:
        return []
    spans = [
        (field, span)
        for field in fields
        for span in found_in(field, reading.text, setting)[:_MOST_SPANS]
    ]
    plain_days = [span for field, span in spans if field.type in _SPANNED and span.certain]
    found = [
        claim
        for field, span in spans
        if (claim := _claim(reading, field, span, field is pending, plain_days))
    ]
    ordered = _in_order(found, reading)
    settled = {claim.field.name for claim in ordered}
    groups = _groups([c for c in found if c.field.name not in settled])
    plain = [group[0] for group in groups if len(group) == 1]
    once = [c for c in plain if not any(_rivals(c, other) for other in plain if other is not c)]
    return sorted((*once, *ordered), key=lambda claim: claim.start)


def _groups(found: Sequence[Claim]) -> list[list[Claim]]:
    """Return the plainest claims to each place; several where no field has the better one."""
    left = sorted(found, key=lambda claim: (-claim.weight, -claim.length, claim.start))
    groups = []
    while left:
        best = left[0]
        here = [claim for claim in left if claim is best or _overlap(claim, best)]
        groups.append([c for c in here if (c.weight, c.length) == (best.weight, best.length)])
        left = [claim for claim in left if claim not in here]
    return groups


def _rivals(claim: Claim, other: Claim) -> bool:
    """Whether another value is as plainly one of the same field."""
    return claim.field is other.field and other.weight >= claim.weight


def _in_order(found: Sequence[Claim], reading: Reading) -> list[Claim]:
    """Give two values to two fields where one goes until the other: "from Friday to Sunday"."""
    for kind in _SPANNED:
        claims = [claim for claim in found if claim.field.type == kind]
        places = sorted({(claim.start, claim.end) for claim in claims})
        fields = list(dict.fromkeys(claim.field.name for claim in claims))
        if len(places) == len(fields) == 2 and _is_until(places[0], places[1], reading):
            wanted = list(zip(places, fields, strict=True))
            return [c for c in claims if ((c.start, c.end), c.field.name) in wanted]
    return []


def _is_until(one: tuple[int, int], other: tuple[int, int], reading: Reading) -> bool:
    between = reading.text[one[1] : other[0]].strip()
    words = reading.between(one[1], other[0]).words
    until = len(words) <= 2 and bool(reading.lexicon.words("until").intersection(words))
    return until or between in ("-", "\u2013")


def _claim(
    reading: Reading, field: Field, span: Span, asked: bool, days: Sequence[Span]
) -> Claim | None:
    """Return what a value claims; none where the words around it are of something else."""
    inside = reading.between(span.start, span.end)
    if not inside.tokens:
        return None
    clause = next(
        (c for c in reading.clauses() if c.tokens[-1].end >= inside.tokens[0].end), reading
    )
    if _is_denied(reading, inside):
        return None
    if is_of_another(clause, field) and not (asked and _is_subject(clause, span)):
        return None
    if reading.lexicon.begins("asking", clause.said):
        return None
    before = [t.word for t in clause.tokens if t.end <= span.start]
    behind = [t.word for t in clause.tokens if t.start >= span.end]
    if reading.lexicon.words("either").intersection((*before[-1:], *behind[:1])):
        return None
    near = [*before[-_BEFORE:], *behind[:_BEHIND]]
    if field.type in _WEAK and _is_by_the_way(clause, span, field, [*days, span], asked):
        return None
    if not (span.certain or _is_led(field, before, behind, near, reading, asked)):
        return None
    close = closeness(near, field, reading.lexicon)
    beside = speaks_of(behind[:1], field, reading.lexicon)
    weight = 8 * span.certain + 2 * close + 2 * beside + asked
    words = frozenset(w for w in near if speaks_of([w], field, reading.lexicon))
    return Claim(field, span.raw, span.start, span.end, weight, words)


def _is_subject(clause: Reading, span: Span) -> bool:
    """Whether a value is what a clause is about: the kind of animal in "my kitten is coughing"."""
    found = (pattern.match(clause.marked) for pattern in clause.lexicon.forms("form_subject"))
    said = next((match["subject"] for match in found if match), "")
    return span.raw.casefold() in said.split()


def _is_by_the_way(
    clause: Reading, span: Span, field: Field, told: Sequence[Span], asked: bool
) -> bool:
    """Whether most words around a choice, up to the next "and", have nothing to do with it."""
    joints = clause.lexicon.words("joints")
    phrase: list[Token] = []
    for token in clause.tokens:
        if token.word in joints and token.start >= span.end:
            break
        phrase = [] if token.word in joints and token.end <= span.start else [*phrase, token]
    around = [
        t.word for t in phrase if all(t.end <= each.start or t.start >= each.end for each in told)
    ]
    return _strange(around, clause, field) * 4 >= len(phrase) + asked


def _is_led(
    field: Field,
    before: Sequence[str],
    behind: Sequence[str],
    near: Sequence[str],
    reading: Reading,
    asked: bool,
) -> bool:
    """Whether the words around a value say that it is one of the field."""
    lexicon, last = reading.lexicon, before[-1] if before else ""
    following = behind[0] if behind else ""
    if field.type in _WORDY:
        return bool(before) and before[-1] in lexicon.words("bring_in")
    usual = asked and _is_usual([*before, *behind], reading, field)
    unit = bool(following) and following in lexicon.words("units")
    if field.type in ("time", "date", "datetime"):
        led = last in lexicon.leads.get(field.type, frozenset())
        return not unit and (led or usual)
    if speaks_of(behind[:1] or [""], field, lexicon) or speaks_of(before[-2:], field, lexicon):
        return True
    if field.type == "money":
        paid = bool(lexicon.words("pay").intersection(before[-2:])) and not unit
        return paid or (usual and not unit)
    if field.type in _COUNTED and not unit and _is_for(before, lexicon):
        return usual or speaks_of(lexicon.words("persons"), field, lexicon)
    return usual and not unit


def _is_for(before: Sequence[str], lexicon: Lexicon) -> bool:
    """Whether people come next: "for", "we are"."""
    last = before[-1] if before else ""
    return last in lexicon.words("people_for") or lexicon.says("we_are", " ".join(before))


def _is_usual(words: Sequence[str], reading: Reading, field: Field) -> bool:
    """Whether nothing is said around a value but what usually is, and it is no question."""
    if reading.lexicon.begins("wonder", reading.said):
        return False
    return not _strange(words, reading, field)


def _strange(words: Sequence[str], reading: Reading, field: Field) -> int:
    """Count the words that are not usual around a value of a field, nor numbers."""
    known = reading.lexicon.words("around")
    strange = [word for word in words if word not in known and not word.isdigit()]
    return sum(not speaks_of([word], field, reading.lexicon) for word in strange)


def is_of_another(clause: Reading, field: Field) -> bool:
    """Whether a clause is about something that is not the field: "my cat is 12"."""
    asked = clause.lexicon.forms("form_own_name") if field.type == "name" else ()
    own = any(form.search(plain(field.ask)) for form in asked)
    others = clause.lexicon.forms("form_named_other") if own else ()
    if any(form.match(clause.marked) for form in others):
        return True
    for pattern in clause.lexicon.forms("form_subject"):
        found = pattern.match(clause.marked)
        if found:
            subject = found["subject"].split()
            return not concerns(subject, field, clause.lexicon)
    return False


def _is_denied(reading: Reading, inside: Reading) -> bool:
    """Whether "not" stands before the value."""
    at = reading.tokens.index(inside.tokens[0])
    words = reading.words[max(0, at - 2) : at]
    return bool(reading.lexicon.words("negation").intersection(words))


def _overlap(one: Claim, other: Claim) -> bool:
    return one.start < other.end and other.start < one.end
