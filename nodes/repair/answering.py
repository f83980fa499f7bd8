"""Answers to what the user was asked last, where that was not simply a field."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from nodes.commands import Choose, Clear, Command, Confirm, Correct, Deny, Fill, Verdict
from nodes.course import Course
from nodes.forms.filling import replaced, taken_back
from nodes.forms.refusing import reason_of, refuse, refused
from nodes.repair.clarifying import narrowed
from nodes.repair.leaving import decline_all, decline_return, reset, to_the_beginning
from nodes.repair.people import CHANGE, PERSON, call_person
from nodes.talk import Asked, Option

GO_ON, BEGIN_ANEW = "go_on", "begin_anew"
"""What can be done with a task that is asked for again, by id."""
Answer = Callable[[Course, Asked, Sequence[Command]], list[Verdict] | None]


def answered(course: Course, commands: Sequence[Command]) -> list[Verdict] | None:
    """Take a yes, a no or a choice for what was asked.

    Returns:
        Verdicts that the answer amounts to, such as the transition that was chosen; None if the
        commands do not answer what was asked.
    """
    asked = course.talk.get("asked")
    if asked is None or asked["kind"] not in _ANSWERS:
        return None
    return _ANSWERS[asked["kind"]](course, asked, commands)


def _said(commands: Sequence[Command]) -> bool | None:
    """Return whether the user said yes or no; None for neither."""
    for command in commands:
        if isinstance(command, Confirm):
            return True
        if isinstance(command, Deny) and not command.option:
            return False
    return None


def _summary(course: Course, asked: Asked, commands: Sequence[Command]) -> list[Verdict] | None:
    said = _said(commands)
    if said is None:
        return None
    sheet = course.sheet(course.spec.pathways[asked["about"]])
    if said:
        if course.resumed or sheet.open:
            course.note("dropped", trigger="confirm", reason="what was read back may be outdated")
            return []
        confirmed = [*course.talk.get("confirmed", []), asked["about"]]
        course.talk = {**course.talk, "confirmed": confirmed}
        return []
    if not _has_values(commands):
        course.say("summary_wrong")
        known = [field for field in sheet.live if field.name in sheet.values]
        options = [Option(id=field.name, label=field.title) for field in known]
        course.ask(Asked(kind="wrong", about=asked["about"], options=options))
        course.rest()
    return []


def _wrong(course: Course, asked: Asked, commands: Sequence[Command]) -> list[Verdict] | None:
    chosen = _chosen(asked, commands)
    if chosen is not None:
        taken_back(course, Clear(chosen))
        return []
    return None if _said(commands) is None else []


def _correction(course: Course, asked: Asked, commands: Sequence[Command]) -> list[Verdict] | None:
    name, said = asked["about"], _said(commands)
    pending = course.talk.get("corrections", {}).get(name)
    if said is None or pending is None:
        return None
    others = {k: a for k, a in course.talk.get("corrections", {}).items() if k != name}
    field = course.field(name)
    if said:
        return None  # kept by `confirmed_corrections`, which checks again what depends on it
    course.talk = {**course.talk, "corrections": others}
    if not _has_values(commands):
        course.say("kept", field=field.title, value=course.shown(field, course.value(name)))
    return []


async def confirmed_corrections(course: Course, commands: Sequence[Command]) -> bool:
    """Make the change that the user just said yes to; say whether there was one (T11)."""
    asked = course.talk.get("asked")
    if not asked or asked["kind"] != "correction" or not _said(commands):
        return False
    pending = course.talk.get("corrections", {}).get(asked["about"])
    if pending is None:
        return False
    field = course.field(asked["about"])
    details = {key: pending[key] for key in ("value", "raw", "confidence")}
    if refusal := await refused(course, field, pending["value"]):
        others = {k: a for k, a in course.talk["corrections"].items() if k != field.name}
        course.talk = {**course.talk, "corrections": others}
        refuse(course, field, reason_of(course, refusal), **details)
        return True
    await replaced(course, field, source="corrected", **details)
    return True


def _return(course: Course, asked: Asked, commands: Sequence[Command]) -> list[Verdict] | None:
    said = _said(commands)
    if said is None:
        return None
    if not said:
        decline_return(course, "declined by the user")
    return []


def _paused(course: Course, asked: Asked, commands: Sequence[Command]) -> list[Verdict] | None:
    chosen = _chosen(asked, commands)
    if chosen is None:
        if _said(commands) is False:
            decline_all(course, "declined by the user")
            return []
        return None
    stack = course.position["stack"]
    place = next((n for n, frame in enumerate(stack) if frame["pathway"] == chosen), None)
    if place is None:
        return None
    # What is chosen comes to the top; the others stay paused below it, in their order.
    others = [frame for n, frame in enumerate(stack) if n != place]
    course.position = {**course.position, "stack": [*others, stack[place]]}
    return []


def _clarify(course: Course, asked: Asked, commands: Sequence[Command]) -> list[Verdict] | None:
    chosen = _chosen(asked, commands)
    if chosen is not None:
        course.note("clarified", trigger=chosen)
        course.talk = {**course.talk, "unclear": 0}
        return [Verdict(chosen, True, "chosen", reason="chosen by the user")]
    denied = {c.option for c in commands if isinstance(c, Deny) and c.option}
    if denied:
        return narrowed(course, asked, denied)
    if _said(commands) is False:
        course.talk = {**course.talk, "unclear": 0}
        return []
    return None


def _restart(course: Course, asked: Asked, commands: Sequence[Command]) -> list[Verdict] | None:
    chosen = _chosen(asked, commands) or (GO_ON if _said(commands) else None)
    if chosen is None:
        return None
    if chosen == BEGIN_ANEW:
        reset(course, course.here, "begun anew")
    return []


def _change(course: Course, asked: Asked, commands: Sequence[Command]) -> list[Verdict] | None:
    chosen = _chosen(asked, commands)
    ids = [option["id"] for option in asked["options"]]
    if chosen is None and (said := _said(commands)) is not None:
        chosen = ids[0] if said else ids[-1]
    if chosen is None:
        return None
    if chosen == PERSON:
        call_person(course, f"change:{asked['about']}")
    elif chosen == CHANGE:
        course.changing = asked["about"]
    else:
        field = course.field(asked["about"])
        value = course.shown(field, course.value(field.name))
        course.say("kept", field=field.title, value=value)
        course.ask(None)
    return []


def _human(course: Course, asked: Asked, commands: Sequence[Command]) -> list[Verdict] | None:
    said = _said(commands)
    if said is None:
        return None
    if said:
        call_person(course, asked["about"] or "offered")
        return []
    course.talk = {**course.talk, "retries": {}, "refused": {}, "unclear": 0, "off_topic": 0}
    course.talk = {**course.talk, "failures": 0}
    course.say("human_declined")
    return []


def _retry(course: Course, asked: Asked, commands: Sequence[Command]) -> list[Verdict] | None:
    said = _said(commands)
    if said is None:
        return None
    if not said:
        pathway = course.spec.pathways[asked["about"]]
        course.note("cancelled", to=pathway.id, reason="not tried again")
        reset(course, pathway, "cancelled")
        course.say("left", task=pathway.title)
        to_the_beginning(course)
        course.say("more")
    return []


def _more(course: Course, asked: Asked, commands: Sequence[Command]) -> list[Verdict] | None:
    said = _said(commands)
    if said is None:
        return None
    if not said:
        course.say("closing")
        course.rest()
    return []


def _has_values(commands: Sequence[Command]) -> bool:
    return any(isinstance(command, (Fill, Correct)) for command in commands)


def _chosen(asked: Asked, commands: Sequence[Command]) -> str | None:
    """Return what was chosen of what was offered; a choice of anything else is none."""
    offered = {option["id"] for option in asked["options"]}
    chosen = [c.option for c in commands if isinstance(c, Choose) and c.option in offered]
    return chosen[-1] if chosen else None


_ANSWERS: dict[str, Answer] = {
    "summary": _summary,
    "wrong": _wrong,
    "correction": _correction,
    "return": _return,
    "paused": _paused,
    "clarify": _clarify,
    "restart": _restart,
    "change": _change,
    "human": _human,
    "retry": _retry,
    "more": _more,
}
