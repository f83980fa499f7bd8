"""What the assistant says first: its greeting, and the first question of a form behind it.

A graph without a manager, as in Studio, has no such moment: its first turn is a message.
"""

from __future__ import annotations

from nodes.course import Course, course_of
from nodes.forms.questions import question_of
from nodes.services import Services
from nodes.state import Position, SessionState, Turn, Update
from nodes.talk import Talk


def greeted(state: SessionState, services: Services, turn: Turn, position: Position) -> Update:
    """Return what becomes of the turn that begins a session.

    Where no greeting is declared, nothing is said: the first message is answered then.
    """
    greeting = services.spec.personality.greeting
    if not greeting:
        return {"position": position, "turn": turn}
    turn = {**turn, "replies": [greeting]}
    if services.spec.pathways[position["pathway"]].form is None:
        return {"position": position, "turn": turn}
    return _with_question(course_of(services, state, turn, position))


def _with_question(course: Course) -> Update:
    """Ask for the first field that the context does not know already.

    Where only what the context knows makes that field count, it is asked in the first turn, which
    takes over what is known.
    """
    live = [field.name for field in course.sheet().live]
    _suppose_known(course)
    asked = course.sheet().asked()
    if asked is None or asked["kind"] != "field" or asked["about"] not in live:
        return {"position": course.position, "turn": course.turn}
    talk = Talk(**{**course.position.get("talk", {}), "asked": asked})
    position: Position = {**course.position, "talk": talk}
    replies = [*course.turn["replies"], question_of(course, asked)]
    return {"position": position, "turn": {**course.turn, "replies": replies}}


def _suppose_known(course: Course) -> None:
    """Take values of the context for collected; the first turn checks them and writes them down."""
    form = course.here.form
    for field in form.fields if form else ():
        if (value := course.context.get(field.name)) is not None:
            course.keep(field.name, "valid", value=value, source="tool")
