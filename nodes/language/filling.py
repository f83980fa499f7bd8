"""Values of open fields: the whole message, or several within it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from journeys import Field
from nodes.commands import Command, Correct, Fill
from nodes.language.claims import Claim, claims_of, is_of_another
from nodes.language.ear import Ear, Heard
from nodes.language.greetings import is_greeting
from nodes.language.reading import Reading
from nodes.values import Setting, Unreadable, value_of

_FREE = ("text", "list")
_WORDY = ("name", "address")
_SPANNED = ("date", "time", "datetime")
_MOST_UNKNOWN = 4
_LONGEST_NAME = 7
_SHORTEST_OF_TWO = 4


def is_readable(field: Field, raw: str, setting: Setting) -> bool:
    """Whether words are a value of a field."""
    if not raw.strip():
        return False
    try:
        value_of(field, raw, setting)
    except Unreadable:
        return False
    return True


def readable_part(field: Field, reading: Reading, ear: Ear) -> str | None:
    """Return the words that are the value, where all of the message is about it.

    Words at both ends that say nothing, or only lead there ("make it", "fine, then"), may go.
    """
    lexicon = reading.lexicon
    lead = lexicon.begins("lead", reading.said)
    meant = reading.after(lead) if lead else reading
    start = lexicon.begins("meant", meant.said)
    for part in (
        reading,
        reading.core(),
        meant.core(),
        meant.after(start).core() if start else meant,
    ):
        if part.tokens and _may_be(field, part) and is_readable(field, _written(part), ear.setting):
            return _written(part)
    return None


def answered_whole(reading: Reading, ear: Ear) -> Heard | None:
    """Hear the whole message as the value that was asked for."""
    field = ear.expected
    if field is None or field.type in _FREE:
        return None
    if reading.lexicon.words("contrast").intersection(reading.words) or _wonders(reading):
        return None
    if is_greeting(reading.text) or is_of_another(reading, field):  # both pass for values
        return None
    raw = readable_part(field, reading, ear)
    if raw is None or _gives_others(field, reading, ear):
        return None
    return Heard([Fill(field.name, raw)], sure=True, whole=True)


def _gives_others(field: Field, reading: Reading, ear: Ear) -> bool:
    """Whether a message gives other fields their values as well; a mere date is no address."""
    if len(reading.tokens) < _SHORTEST_OF_TWO and field.type != "address":
        return False
    claims = claims_of(reading, ear.fields, field, ear.setting)
    if field.type == "address" and len(claims) == 1 and claims[0].field.type in _SPANNED:
        return not unaccounted(reading, claims)
    return any(claim.field is field for claim in claims) and len(claims) > 1


def values_given(reading: Reading, ear: Ear, changing: bool = False) -> Heard | None:
    """Hear the values within a message that are beyond doubt.

    Args:
        reading: The message.
        ear: What may be given.
        changing: Look for values that replace those of known fields instead.
    """
    pending = None if changing else ear.pending
    if pending and pending.type in _FREE:
        return None
    fields = ear.correctable if changing else ear.fields
    claims = claims_of(reading, fields, pending, ear.setting)
    if not claims:
        return None
    commands = [_command(claim, changing) for claim in claims]
    unknown = unaccounted(reading, claims)
    asking = [part for part in reading.clauses() if part.asks and not _holds(part, claims)]
    sure = not asking and len(unknown) * _MOST_UNKNOWN <= len(reading.tokens)
    answered = pending is not None and any(claim.field is pending for claim in claims)
    return Heard(
        commands,
        sure=sure,
        whole=answered and not unknown and not asking,
        rest=_rest(reading, claims),
    )


def free_text(reading: Reading, ear: Ear) -> Heard | None:
    """Hear the message as the words that were asked for; a question is no answer."""
    field = ear.pending
    if field is None or field.type not in _FREE or _wonders(reading):
        return None
    message = reading.text.strip()
    if reading.lexicon.says("filler", reading.said) or is_greeting(message):
        return None
    if not is_readable(field, message, ear.setting):
        return None
    if reading.ends_asking or reading.lexicon.begins("question", reading.said):
        return Heard([Fill(field.name, message, confidence=0.5)], rest=message)
    return Heard([Fill(field.name, message)], sure=True, whole=True)


def unaccounted(reading: Reading, claims: Iterable[Claim]) -> list[str]:
    """Return the words that are neither in a value nor usual around one."""
    known = reading.lexicon.words("around")
    claims = list(claims)
    return [
        token.word
        for token in reading.tokens
        if token.word not in known
        and not any(c.start < token.end and token.start < c.end for c in claims)
        and not any(token.word in claim.words for claim in claims)
    ]


def _command(claim: Claim, changing: bool) -> Command:
    return (Correct if changing else Fill)(claim.field.name, claim.raw)


def _holds(part: Reading, claims: Iterable[Claim]) -> bool:
    return any(
        token.start >= claim.start and token.end <= claim.end
        for token in part.tokens
        for claim in claims
    )


def _rest(reading: Reading, claims: Sequence[Claim]) -> str:
    """Return the clauses that hold no value and say something."""
    parts = [
        part for part in reading.clauses() if not _holds(part, claims) and unaccounted(part, ())
    ]
    return " ".join(part.raw for part in parts)


def _written(part: Reading) -> str:
    """Return words as written; a whole message with its signs, which may be part of a value."""
    return part.text.strip() if part.complete else part.raw


def _wonders(reading: Reading) -> bool:
    """Whether it is a question to the assistant, and not a value said with doubt ("7pm?")."""
    return reading.lexicon.begins("wonder", reading.said) > 0


def _may_be(field: Field, part: Reading) -> bool:
    """Whether words may be a name or address: they hold none that only sentences have."""
    if field.type not in _WORDY:
        return True
    if field.type == "name" and (
        len(part.tokens) > _LONGEST_NAME or any(word.isdigit() for word in part.words)
    ):
        return False
    lead = part.lexicon.begins("name_lead", part.said)
    words = part.after(lead).words if lead else part.words
    return not part.lexicon.words("talk").intersection(words)
