"""What a model's own words claim of a form that nobody said: found by code."""

from __future__ import annotations

import re
from collections.abc import Iterator

from nodes.course import Course
from nodes.forms.questions import lines_of
from nodes.forms.secrets import secrets_in
from nodes.meaning import says
from nodes.values import hint_of

_FIGURES = re.compile(r"\d+")


def claimed(course: Course, reply: str) -> str:
    """Return in a word why a model's reply must not be said: "figures", "hidden"; empty if it may.

    A number that was neither said nor told stands for a value that nobody gave; in other words,
    what a value is cannot be found by code. Nothing that is sensitive is said.

    Args:
        course: The turn, with what was taken of the message.
        reply: What the model would say.
    """
    if any(says(reply, secret) for secret in secrets_in(course.spec, course.fields)):
        return "hidden"
    given = {figure for text in _given(course) for figure in _figures(text)}
    return "" if set(_figures(reply)) <= given else "figures"


def _given(course: Course) -> Iterator[str]:
    """Yield all that a number in a reply may come from."""
    yield course.turn["message"] or ""
    yield course.question
    yield course.spec.part_of(course.here.id).purpose
    for name, value in course.context.items():
        yield f"{name} {value}"
    yield lines_of(course, course.sheet())
    for field in course.here.form.fields if course.here.form else ():
        yield " ".join([field.ask, field.title, field.description, *field.ways])
        yield hint_of(field, course.setting)


def _figures(text: str) -> list[str]:
    return [figure.lstrip("0") for figure in _FIGURES.findall(text)]
