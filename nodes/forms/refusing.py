"""Refuse what is no value of a field, and say why: the more often, the more."""

from __future__ import annotations

from journeys import Field
from nodes.course import Course
from nodes.repair.people import give_up
from nodes.values import Unreadable, hint_of, refusal_of, value_of


async def read_value(course: Course, field: Field, raw: str, confidence: float) -> object:
    """Return the value that words are; None where they are none, which is said and counted."""
    try:
        value = value_of(field, raw, course.setting)
        refusal = await refused(course, field, value)
    except Unreadable as unreadable:
        value, refusal = None, unreadable
    if refusal is None:
        return value
    share = confidence if 0 <= confidence <= 1 else 0.0
    refuse(course, field, reason_of(course, refusal), value=value, raw=raw, confidence=share)
    return None


def refuse(course: Course, field: Field, reason: str, **details: object) -> None:
    """Write down that a value was not taken, say why, and count it."""
    course.keep(field.name, "invalid", reason=reason, **details)
    course.note("field_refused", trigger=field.name, reason=reason)
    _told(course, field, reason)


def _told(course: Course, field: Field, reason: str) -> None:
    """Say why a value was not taken: the more often, the more; then give up (T21)."""
    times = course.talk.get("retries", {}).get(field.name, 0) + 1
    course.talk = {**course.talk, "retries": {**course.talk.get("retries", {}), field.name: times}}
    if course.here.form and course.here.form.order == "flexible":
        again = [field.name, *(n for n in course.talk.get("reopened", []) if n != field.name)]
        course.talk = {**course.talk, "reopened": again}
    if times >= field.max_attempts:
        course.say("exhausted", field=field.title)
        give_up(course, f"max_attempts:{field.name}")
    elif times <= len(field.retry_texts):
        course.answer("invalid", field.retry_texts[times - 1])
    elif times == 1 or not (takes := hint_of(field, course.setting)):
        course.answer("invalid", reason)
    else:
        course.answer("invalid", f"{reason} {course.text('hint', hint=takes)}")


async def refused(course: Course, field: Field, value: object) -> Unreadable | None:
    """Return why a value is not taken by its validators; None if it is."""
    seconds = course.services.config.pathway_timeout_seconds
    return await refusal_of(field, value, course.context, course.setting, seconds=seconds)


def reason_of(course: Course, refusal: Unreadable) -> str:
    """Return why a value is not taken, in words for the user."""
    if refusal.sentence:
        return refusal.sentence
    return course.text(refusal.text, **refusal.values)


async def is_refused(course: Course, field: Field, raw: str) -> bool:
    """Say whether words are no value that a field takes; nothing is written down."""
    try:
        value = value_of(field, raw, course.setting)
        return await refused(course, field, value) is not None
    except Unreadable:
        return True
