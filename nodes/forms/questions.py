"""What the user is asked, in words."""

from __future__ import annotations

from journeys import Field
from nodes.course import Course
from nodes.forms.sheet import Sheet
from nodes.talk import Asked


def question_of(course: Course, asked: Asked, sheet: Sheet | None = None) -> str:
    """Return the words of a question.

    Args:
        course: The turn.
        asked: What is asked.
        sheet: The form that it belongs to; default: that of the pathway that is talked about.
    """
    kind, about = asked["kind"], asked["about"]
    if kind == "field":
        return _field_question(course, course.field(about))
    if kind == "summary":
        return course.text("summary", fields=lines_of(course, sheet or course.sheet()))
    if kind == "correction":
        field = course.field(about)
        pending = course.talk["corrections"][about]
        value = course.shown(field, pending["value"])
        return course.text("confirm_correction", field=field.title, value=value)
    if kind == "return":
        return course.text("ask_return", task=course.spec.pathways[about].title)
    listed = course.listed(asked["options"])
    if kind == "paused":
        return course.text("which_paused", options=listed)
    if kind == "restart":
        return course.text("restart", task=course.spec.pathways[about].title, options=listed)
    if kind in _FIXED:
        return course.text(_FIXED[kind])
    return course.text("clarify", options=listed)


_FIXED = {
    "human": "offer_human",
    "unclaimed": "unclaimed",
    "more": "more",
    "retry": "retry",
    "wrong": "summary_wrong",
}


def _field_question(course: Course, field: Field) -> str:
    question = field.ask or course.text("ask", field=field.title)
    if field.type != "enum":
        return question
    return course.text("ask_choice", question=question, choices=", ".join(field.ways))


def lines_of(course: Course, sheet: Sheet) -> str:
    """Return what a form has collected, a line a field."""
    values = sheet.values
    known = [(field, values[field.name]) for field in sheet.live if field.name in values]
    lines = [
        course.text("summary_line", field=field.title, value=course.shown(field, value))
        for field, value in known
    ]
    return "\n".join(lines)


def ask_again(course: Course) -> None:
    """Say once more what was asked last; nothing runs."""
    if asked := course.talk.get("asked"):
        course.words.append(question_of(course, asked))
    course.rest()
