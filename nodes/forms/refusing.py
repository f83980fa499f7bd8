"""Refuse what is no value of a field, and say why: the more often, the more."""

from __future__ import annotations

from journeys import Field
from nodes.draft import TurnDraft
from nodes.repair.people import give_up
from nodes.values import Unreadable, hint_of, refusal_of, value_of


async def read_value(draft: TurnDraft, field: Field, raw: str, confidence: float) -> object:
    """Return the value that words are; None where they are none, which is said and counted."""
    try:
        value = value_of(field, raw, draft.setting)
        refusal = await refused(draft, field, value)
    except Unreadable as unreadable:
        value, refusal = None, unreadable
    if refusal is None:
        return value
    share = confidence if 0 <= confidence <= 1 else 0.0
    refuse(draft, field, reason_of(draft, refusal), value=value, raw=raw, confidence=share)
    return None


def refuse(draft: TurnDraft, field: Field, reason: str, **details: object) -> None:
    """Write down that a value was not taken, say why, and count it."""
    draft.keep(field.name, "invalid", reason=reason, **details)
    draft.note("field_refused", trigger=field.name, reason=reason)
    _told(draft, field, reason)


def _told(draft: TurnDraft, field: Field, reason: str) -> None:
    """Say why a value was not taken: the more often, the more; then give up (T21)."""
    times = draft.dialogue.count("retries", field.name)
    if draft.here.form and draft.here.form.order == "flexible":
        draft.dialogue.reopen(field.name)
    if times >= field.max_attempts:
        draft.say("exhausted", field=field.title)
        give_up(draft, f"max_attempts:{field.name}")
    elif times <= len(field.retry_texts):
        draft.answer("invalid", field.retry_texts[times - 1])
    elif times == 1 or not (takes := hint_of(field, draft.setting)):
        draft.answer("invalid", reason)
    else:
        draft.answer("invalid", f"{reason} {draft.text('hint', hint=takes)}")


async def refused(draft: TurnDraft, field: Field, value: object) -> Unreadable | None:
    """Return why a value is not taken by its validators; None if it is."""
    seconds = draft.services.config.pathway_timeout_seconds
    return await refusal_of(field, value, draft.context, draft.setting, seconds=seconds)


def reason_of(draft: TurnDraft, refusal: Unreadable) -> str:
    """Return why a value is not taken, in words for the user."""
    if refusal.sentence:
        return refusal.sentence
    return draft.text(refusal.text, **refusal.values)


async def is_refused(draft: TurnDraft, field: Field, raw: str) -> bool:
    """Say whether words are no value that a field takes; nothing is written down."""
    try:
        value = value_of(field, raw, draft.setting)
        return await refused(draft, field, value) is not None
    except Unreadable:
        return True
