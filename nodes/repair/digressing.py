"""Answer what leads off or asks about the question, and come back to the same question."""

from __future__ import annotations

from collections.abc import Sequence

from nodes.commands import Command, Explain, Noise, OffTopic, Repeat, Wait
from nodes.course import Course
from nodes.forms.sheet import owners
from nodes.hearing.greetings import is_greeting
from nodes.repair.clarifying import MOST_UNCLEAR, clarify, tasks_of
from nodes.repair.people import offer_person, policy_of
from nodes.talk import Option

MOST_OFF_TOPIC = 3
"""Messages in a row that lead off, after which it is said what this is about (T19)."""


def digressed(course: Course, commands: Sequence[Command]) -> bool:
    """Answer a message that asks about the talk itself or leads off; say whether it did.

    None of it counts as an attempt at what was asked (T06, T19, T23, T33).
    """
    for command in commands:
        if isinstance(command, Repeat):
            _repeat(course)
        elif isinstance(command, Wait):
            course.repair("wait", "wait")
        elif isinstance(command, Explain):
            _explain(course, command)
        elif isinstance(command, OffTopic):
            _off_topic(course, unsupported=command.unsupported)
        elif isinstance(command, Noise):
            course.repair("noise", "noise")
        else:
            continue
        return True
    return False


def _repeat(course: Course) -> None:
    if course.question and not course.spec.pattern_in(course.here.id, "repeat"):
        course.note("repaired", trigger="repeat")
        course.words.append(course.question)
    else:
        course.repair("repeat", "noise")
    course.rest()


def _explain(course: Course, command: Explain) -> None:
    asked = course.talk.get("asked")
    name = command.field or (asked["about"] if asked and asked["kind"] == "field" else "")
    known = owners(course.spec, name)
    if not known:
        course.repair("explain", "explain", description=course.here.purpose)
        return
    field = course.field(name)
    if field.description:
        course.repair("explain", "explain", description=field.description, field=field.title)
    else:
        course.repair("explain", "explain_plain", field=field.title)


def _off_topic(course: Course, *, unsupported: bool) -> None:
    times = course.talk.get("off_topic", 0) + 1
    course.talk = {**course.talk, "off_topic": times}
    if times >= MOST_OFF_TOPIC:
        course.repair("off_topic", "off_topic_again", tasks=tasks_of(course))
        if policy_of(course):
            offer_person(course, "off_topic")
    elif unsupported:
        course.repair("unsupported", "unsupported", tasks=tasks_of(course))
    else:
        course.repair("off_topic", "off_topic")


def not_understood(course: Course) -> None:
    """Answer what nothing could be made of: ask the same again, then offer a person.

    Who greets back, or says first what they are here for, is simply asked.
    """
    asked = course.talk.get("asked")
    if "last_at" not in course.talk or is_greeting(course.turn["message"] or ""):
        return
    if asked and asked["options"]:
        _clarify_as(course, asked["options"], asked["kind"], asked["about"])
        return
    times = course.talk.get("unclear", 0) + 1
    course.talk = {**course.talk, "unclear": times}
    course.repair("noise", "noise")
    if times >= MOST_UNCLEAR and policy_of(course):
        offer_person(course, "not_understood")


def _clarify_as(course: Course, options: Sequence[Option], kind: str, about: str) -> None:
    """Ask again which of the options is meant, whatever they are for."""
    clarify(course, options)
    now = course.talk.get("asked")
    if now and now["kind"] == "clarify":
        course.ask({**now, "kind": kind, "about": about})
