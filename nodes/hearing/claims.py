"""Which field each value in a message belongs to."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from journeys import Field
from nodes.hearing.mentions import speaks_of
from nodes.hearing.reading import Reading
from nodes.values import Setting, Span, found_in

_COUNTED = ("integer", "number")
_WORDY = ("text", "name", "address", "list")
_BEFORE, _BEHIND = 3, 2


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
    found = [
        claim
        for field in fields
        for span in found_in(field, reading.text, setting)
        if (claim := _claim(reading, field, span, field is pending))
    ]
    groups = _groups(found)
    plain = [group[0] for group in groups if len(group) == 1]
    once = [c for c in plain if not any(_rivals(c, other) for other in plain if other is not c)]
    named = {claim.field.name for claim in plain}
    shared = _in_order([g for g in groups if len(g) > 1], named, reading)
    return sorted((*once, *shared), key=lambda claim: claim.start)


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


def _in_order(groups: Sequence[list[Claim]], named: Iterable[str], reading: Reading) -> list[Claim]:
    """Give two values to two fields where one goes until the other: "from Friday to Sunday"."""
    if len(groups) != 2:
        return []
    first, second = sorted(groups, key=lambda group: group[0].start)
    fields = [claim.field for claim in first]
    if len(fields) != 2 or [c.field for c in second] != fields or fields[0].name in named:
        return []
    between = reading.between(first[0].end, second[0].start).words
    signs = reading.text[first[0].end : second[0].start].strip()
    if signs not in ("-", "\u2013") and not reading.lexicon.words("until").intersection(between):
        return []
    return [first[0], second[1]]


def _claim(reading: Reading, field: Field, span: Span, asked: bool) -> Claim | None:
    """Return what a value claims; none where the words around it are of something else."""
    inside = reading.between(span.start, span.end)
    if not inside.tokens:
        return None
    clause = next(
        (c for c in reading.clauses() if c.tokens[-1].end >= inside.tokens[0].end), reading
    )
    if _of_another(clause, field) or _is_denied(reading, inside):
        return None
    if reading.lexicon.begins("asking", clause.said):
        return None
    before = [t.word for t in clause.tokens if t.end <= span.start]
    behind = [t.word for t in clause.tokens if t.start >= span.end]
    near = [*before[-_BEFORE:], *behind[:_BEHIND]]
    spoken = speaks_of(near, field, reading.lexicon)
    if not (span.certain or _is_led(field, before, behind, near, reading, asked)):
        return None
    weight = 4 * span.certain + 2 * spoken + asked
    words = frozenset(w for w in near if speaks_of([w], field, reading.lexicon))
    return Claim(field, span.raw, span.start, span.end, weight, words)


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
    unit = bool(following) and following in lexicon.words("units")
    if field.type in ("time", "date", "datetime"):
        led = last in lexicon.leads.get(field.type, frozenset())
        return not unit and (
            led or (asked and _is_usual([*before, *behind], lexicon.words("around")))
        )
    if speaks_of(behind[:1] or [""], field, lexicon) or speaks_of(before[-2:], field, lexicon):
        return True
    if field.type == "money":
        paid = bool(lexicon.words("pay").intersection(before[-2:])) and not unit
        return paid or (
            asked and not unit and _is_usual([*before, *behind], lexicon.words("around"))
        )
    if field.type in _COUNTED and last in lexicon.words("people_for") and not unit:
        return speaks_of(lexicon.words("persons"), field, lexicon)
    return asked and not unit and _is_usual([*before, *behind], lexicon.words("around"))


def _is_usual(words: Iterable[str], usual: frozenset[str]) -> bool:
    return all(word in usual for word in words)


def _of_another(clause: Reading, field: Field) -> bool:
    """Whether a clause is about something that is not the field: "my cat is 12"."""
    for pattern in clause.lexicon.forms("form_subject"):
        found = pattern.match(clause.marked)
        if found:
            subject = found["subject"].split()
            return not speaks_of(subject, field, clause.lexicon)
    return False


def _is_denied(reading: Reading, inside: Reading) -> bool:
    """Whether "not" stands before the value."""
    at = reading.tokens.index(inside.tokens[0])
    words = reading.words[max(0, at - 2) : at]
    return bool(reading.lexicon.words("negation").intersection(words))


def _overlap(one: Claim, other: Claim) -> bool:
    return one.start < other.end and other.start < one.end
