"""Yes and no, alone or with more behind it."""

from __future__ import annotations

from nodes.commands import Command, Confirm, Correct, Deny, Fill
from nodes.language.ear import YES_OR_NO, Ear, Heard
from nodes.language.filling import is_readable, readable_part, values_given
from nodes.language.reading import Reading
from nodes.language.several import correction

_AT_STAKE = ("summary", "correction")
_OFFERS = ("return", "human", "unclaimed", "retry", "more")


def answer(reading: Reading, ear: Ear) -> Heard | None:
    """Hear yes or no, if that was asked; what is said behind it may be more."""
    if ear.pending and ear.pending.type == "boolean":
        return _boolean(reading, ear, ear.pending.name)
    if ear.kind not in YES_OR_NO or not reading.tokens:
        return None
    said, lexicon = reading.said, reading.lexicon
    if lexicon.says("unsure", said):
        return None
    for name, command in _alone(ear.kind):
        if lexicon.says(name, said) and not reading.ends_asking:
            return Heard([command], sure=True, whole=True)
    no, yes = lexicon.begins("no", said), lexicon.begins("yes", said)
    if no >= yes > 0 or (no and not yes):
        return _after_no(reading, no, ear)
    if yes:
        return _after_yes(reading, yes, ear)
    return _value_instead(reading, ear)


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


def _after_yes(reading: Reading, end: int, ear: Ear) -> Heard | None:
    head, tail = reading.before(end), reading.after(end)
    if not tail.tokens:
        return None if reading.ends_asking else Heard([Confirm()], sure=True, whole=True)
    if ear.kind == "return" and (heard := _filled(tail, ear)):
        return heard
    if _limits(tail) or _holds("no", tail):
        return _objection(tail, ear) or Heard(rest=reading.raw)
    if not _is_parted(head, tail):
        return None
    if ear.kind in _AT_STAKE and (heard := _objection(tail, ear)):
        return heard
    asks = _only_asks(tail)
    if ear.kind in _AT_STAKE and not asks:
        return Heard(rest=reading.raw)
    return Heard([Confirm()], sure=asks, rest=_unjoined(tail).raw)


def _after_no(reading: Reading, end: int, ear: Ear) -> Heard | None:
    head, tail = reading.before(end), reading.after(end)
    if not tail.tokens:
        return None if reading.ends_asking else Heard([Deny()], sure=True, whole=True)
    if ear.kind == "correction" and (heard := _replaced(tail, ear)):
        return heard
    if tail.tokens[0].word in tail.lexicon.words("no_what") and not head.tokens[-1].closes:
        return None
    if heard := _objection(reading, ear) or _objection(tail, ear):
        return heard
    if ear.kind in _OFFERS and _is_reason(tail):
        return Heard([Deny()], sure=True, whole=True)
    if _holds("yes", tail):
        return Heard(rest=reading.raw)
    if not _is_parted(head, tail):
        return None
    asks = _only_asks(tail)
    return Heard([Deny()], sure=asks, rest=_unjoined(tail).raw)


def _objection(tail: Reading, ear: Ear) -> Heard | None:
    """Hear what shall be different; a yes or no before it only leads there."""
    meant = ear.kind == "return" and tail.lexicon.begins("meant", tail.said)
    if not meant and ear.kind not in ("summary", "correction", "retry", "more"):
        return None
    tail = _unjoined(tail)
    heard = correction(tail, ear)
    if heard is None and (given := values_given(tail, ear, changing=True)):
        heard = given if given.sure else None
    return heard if heard and heard.commands else None


def _replaced(tail: Reading, ear: Ear) -> Heard | None:
    """Hear another value in place of the one that was read back."""
    field = next((f for f in ear.correctable if ear.asked and f.name == ear.asked["about"]), None)
    raw = readable_part(field, tail, ear) if field else None
    if field is None or raw is None or tail.asks:
        return None
    return Heard([Correct(field.name, raw)], sure=True, whole=True)


def _value_instead(reading: Reading, ear: Ear) -> Heard | None:
    """Hear a value that answers without a yes: that of the paused question, or a corrected one."""
    if ear.kind == "return":
        return _filled(reading, ear)
    return _replaced(reading, ear) if ear.kind == "correction" else None


def _filled(tail: Reading, ear: Ear) -> Heard | None:
    field = ear.expected
    if field is None or field.type in ("text", "list") or tail.asks:
        return None
    raw = readable_part(field, tail, ear)
    if raw is not None:
        return Heard([Confirm(), Fill(field.name, raw)], sure=True, whole=True)
    given = values_given(tail, ear)
    if given is None or not given.sure:
        return None
    return Heard([Confirm(), *given.commands], sure=True, whole=True)


def _boolean(reading: Reading, ear: Ear, name: str) -> Heard | None:
    said, lexicon = reading.said, reading.lexicon
    no, yes = lexicon.begins("no", said), lexicon.begins("yes", said)
    if not (no or yes) or (reading.ends_asking and max(no, yes) == len(said)):
        return None
    end, word = (no, "no") if no >= yes else (yes, "yes")
    head, tail = reading.before(end), reading.after(end)
    field = ear.pending
    raw = head.raw if field and is_readable(field, head.raw, ear.setting) else word
    if not tail.tokens:
        return Heard([Fill(name, raw)], sure=True, whole=True)
    if _holds("yes" if word == "no" else "no", tail):
        return Heard(rest=reading.raw)
    if not _is_parted(head, tail):
        return None
    return Heard([Fill(name, raw)], sure=_only_asks(tail), rest=_unjoined(tail).raw)


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


def _holds(name: str, tail: Reading) -> bool:
    """Whether a clause is a yes, or a no."""
    return any(tail.lexicon.says(name, _unjoined(part).said) for part in tail.clauses())


def _is_parted(head: Reading, tail: Reading) -> bool:
    """Whether what follows a yes or no is said apart: "no one" is no "no"."""
    if head.tokens[-1].closes:
        return True
    follows = head.lexicon.words("follows")
    return tail.tokens[0].word in follows


def _only_asks(tail: Reading) -> bool:
    return all(part.asks or not part.core().tokens for part in _unjoined(tail).clauses())


def _unjoined(tail: Reading) -> Reading:
    words = tail.lexicon.words("joints")
    while tail.tokens and tail.tokens[0].word in words:
        tail = tail.part(1)
    return tail
