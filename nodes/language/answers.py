"""Yes and no where they were asked for, alone and with more behind them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from nodes.commands import Clear, Command, Confirm, Correct, Deny, Fill
from nodes.language.expected import FREE, YES_OR_NO, Expected, Parse
from nodes.language.readable import readable_part, value_in
from nodes.language.reading import Reading
from nodes.talk import Asked

_AT_STAKE = ("summary", "correction", "leave")
_OFFERS = ("return", "start_over", "human", "unclaimed", "retry", "more")
_REPLACING = ("summary", "correction", "retry", "more")

Parser = Callable[[Reading, Expected], Parse]


def answer(reading: Reading, expected: Expected, parse: Parser) -> Parse | None:
    """Read yes or no, if that was asked; the words behind it are read on.

    Args:
        reading: The message.
        expected: What was asked.
        parse: Reads what stands behind the yes or no.
    """
    if expected.kind not in YES_OR_NO or not reading.tokens:
        return None
    said, lexicon = reading.said, reading.lexicon
    if lexicon.says("unsure", said):
        return None
    for name, command in _alone(expected.kind):
        if lexicon.says(name, said) and not reading.ends_asking:
            return Parse([command], certain=True, whole=True)
    no, yes = lexicon.begins("no", said), lexicon.begins("yes", said)
    if no >= yes > 0 or (no and not yes):
        return _after_no(reading, no, expected, parse)
    if yes:
        return _after_yes(reading, yes, expected, parse)
    if expected.kind == "return":
        return _going_on(reading, expected, parse)
    return _replaced(reading, expected) if expected.kind == "correction" else None


def _alone(kind: str) -> list[tuple[str, Command]]:
    """Return what answers a kind of question by itself."""
    plain: list[tuple[str, Command]] = [
        ("no", Deny()),
        ("no_alone", Deny()),
        ("yes", Confirm()),
        ("yes_alone", Confirm()),
    ]
    if kind in _AT_STAKE:
        return [*plain, ("thats_all", Confirm())] if kind == "summary" else plain
    declined: list[tuple[str, Command]] = [("enough", Deny())]
    if kind in ("human", "unclaimed"):
        declined.append(("decline", Deny()))
    return [*declined, *plain]


def _after_yes(reading: Reading, end: int, expected: Expected, parse: Parser) -> Parse | None:
    """Read on behind a yes; one that is taken half back, or to something else, is none."""
    head, tail = reading.before(end), reading.after(end)
    if not tail.tokens:
        return None if reading.ends_asking else Parse([Confirm()], certain=True, whole=True)
    if expected.kind == "return" and (going := _going_on(tail, expected, parse)):
        return going
    if _limits(tail) or holds("no", tail):
        return _changes(tail, expected, parse) or Parse(unread=(reading.raw,))
    if not is_parted(head, tail):
        return None
    if expected.kind in _AT_STAKE:
        if changes := _changes(tail, expected, parse):
            return changes
        if not only_asks(tail):
            return Parse(unread=(reading.raw,))
    return Parse([Confirm()], unread=(unjoined(tail).raw,))


def _after_no(reading: Reading, end: int, expected: Expected, parse: Parser) -> Parse | None:
    """Read on behind a no, which needs no reason, and may lead to what shall be instead."""
    head, tail = reading.before(end), reading.after(end)
    if not tail.tokens:
        return None if reading.ends_asking else Parse([Deny()], certain=True, whole=True)
    behind = reading.part(1)
    meant = behind.after(behind.lexicon.begins("repair", behind.said))
    if meant.tokens != behind.tokens and tail.lexicon.begins("yes", meant.said):
        return answer(meant, expected, parse)  # "no, wait, yes": the last one is meant
    if expected.kind == "correction" and (replaced := _replaced(tail, expected)):
        return replaced
    return _declined(reading, head, tail, expected, parse)


def _declined(
    reading: Reading, head: Reading, tail: Reading, expected: Expected, parse: Parser
) -> Parse | None:
    if tail.tokens[0].word in tail.lexicon.words("no_what") and not head.tokens[-1].closes:
        return None
    if changes := _changes(reading, expected, parse) or _changes(tail, expected, parse):
        return changes
    if expected.kind in _OFFERS and _is_reason(tail):
        return Parse([Deny()], certain=True, whole=True)
    if holds("yes", tail):
        return Parse(unread=(reading.raw,))
    if not is_parted(head, tail):
        return None
    return Parse([Deny()], unread=(unjoined(tail).raw,))


def _changes(tail: Reading, expected: Expected, parse: Parser) -> Parse | None:
    """Read what shall be different; a yes or no before it only leads there."""
    meant = expected.kind == "return" and tail.lexicon.begins("meant", tail.said)
    if not meant and expected.kind not in _REPLACING:
        return None
    found = parse(unjoined(tail), replace(expected, asked=None, fields=()))
    changes = any(isinstance(command, (Correct, Clear)) for command in found.commands)
    return found if changes and found.certain else None


def _replaced(tail: Reading, expected: Expected) -> Parse | None:
    """Read another value in place of the one that was read back."""
    about = expected.asked["about"] if expected.asked else ""
    field = next((one for one in expected.correctable if one.name == about), None)
    read = readable_part(field, tail, expected) if field else None
    if field is None or read is None or tail.asks:
        return None
    return Parse([Correct(field.name, read.raw, read=read.value)], certain=True, whole=True)


def _going_on(tail: Reading, expected: Expected, parse: Parser) -> Parse | None:
    """Read the answer to the paused question as a yes to going back there."""
    field = expected.due
    if field is None or field.type in FREE or tail.asks:
        return None
    asked = Asked(kind="field", about=field.name, options=[])
    found = parse(tail, replace(expected, asked=asked))
    if not found.certain or not any(isinstance(c, (Fill, Correct)) for c in found.commands):
        return None
    return replace(found, commands=[Confirm(), *found.commands], whole=True)


def boolean(reading: Reading, expected: Expected) -> tuple[Fill, Reading, Reading] | None:
    """Return a yes or no as the value that was asked for, its words, and what stands behind it."""
    field = expected.pending
    if field is None or field.type != "boolean":
        return None
    no, yes = begins("no", reading), begins("yes", reading)
    if not (no or yes) or (reading.ends_asking and max(no, yes) == len(reading.said)):
        return None
    end, word = (no, "no") if no >= yes else (yes, "yes")
    head, tail = reading.before(end), reading.after(end)
    if tail.tokens and not is_parted(head, tail):
        return None
    value = value_in(field, head.raw, expected.setting)
    given = Fill(field.name, head.raw if value is not None else word, read=word == "yes")
    return given, head, tail


def begins(name: str, reading: Reading) -> int:
    """Return where a yes or no ends that words begin with; "no thanks, we'll" ends at the comma."""
    end = reading.lexicon.begins(name, reading.said)
    head = reading.before(end).tokens if end else ()
    if len(head) in (0, len(reading.tokens)) or head[-1].closes:
        return end
    places = [place for place, token in enumerate(head, start=1) if token.closes]
    return len(reading.part(0, places[-1]).said) if places else end


def _is_reason(tail: Reading) -> bool:
    """Whether what follows a no only says so again, or why."""
    says = tail.lexicon.says
    again = any(says(name, tail.said) for name in ("enough", "decline", "no"))
    return again or (says("reason", tail.said) and not tail.asks)


def _limits(tail: Reading) -> bool:
    """Whether what follows takes a yes half back, or sets a condition."""
    begins = tail.lexicon.begins
    conditional = begins("condition", tail.said) > 0 and not tail.ends_asking
    return conditional or begins("but", tail.said) > 0


def holds(name: str, tail: Reading) -> bool:
    """Whether a clause is a yes, or a no."""
    return any(tail.lexicon.says(name, unjoined(part).said) for part in tail.clauses())


def is_parted(head: Reading, tail: Reading) -> bool:
    """Whether what follows a yes or no is said apart: "no one" is no "no"."""
    if head.tokens[-1].closes:
        return True
    follows = head.lexicon.words("follows")
    return tail.tokens[0].word in follows


def only_asks(tail: Reading) -> bool:
    """Whether nothing but questions stands there."""
    return all(part.asks or not part.core().tokens for part in unjoined(tail).clauses())


def unjoined(tail: Reading) -> Reading:
    """Return words without the "and" before them."""
    words = tail.lexicon.words("joints")
    while tail.tokens and tail.tokens[0].word in words:
        tail = tail.part(1)
    return tail
