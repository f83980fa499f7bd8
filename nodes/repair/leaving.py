"""Give up what was begun: this task, or all of them (T03, T14)."""

from __future__ import annotations

from collections.abc import Collection

from journeys import PathwaySpec
from nodes.course import Course
from nodes.effect_outcome import begun_anew
from nodes.forms.filling import emptied
from nodes.forms.sheet import settled
from nodes.parts import left
from nodes.repair.people import after_effect
from nodes.talk import Asked
from nodes.visits import entered


def reset(course: Course, pathway: PathwaySpec, reason: str, keep: Collection[str] = ()) -> None:
    """Take back what a pathway has collected, but for what is shared and what others still need.

    Args:
        course: The turn.
        pathway: Whose fields are taken back.
        reason: Why, for the history.
        keep: Names of fields that stay, such as those of the task that comes next.
    """
    part = course.spec.part_of(pathway.id)
    spared = {*part.shared, *course.spec.shared, *keep}
    for field in pathway.form.fields if pathway.form else ():
        if field.name in spared:
            continue
        if course.value(field.name) is not None:
            emptied(course, field, reason=reason)
        _forget(course, field.name)
    course.talk = {
        **begun_anew(course.talk, pathway),
        "confirmed": [id_ for id_ in course.talk.get("confirmed", []) if id_ != pathway.id],
        "finished": [id_ for id_ in course.talk.get("finished", []) if id_ != pathway.id],
    }


def begin_anew(course: Course, pathway: PathwaySpec) -> None:
    """Take back what a form that is entered again has collected, but for what others know of."""
    if pathway.id not in course.talk.get("finished", []):
        return
    attempts = {name: settled(course.fields.get(name, ())) for name in course.fields}
    known = [name for name, last in attempts.items() if last and last["source"] == "tool"]
    reset(course, pathway, "begun anew", known)


def _forget(course: Course, name: str) -> None:
    talk = course.talk
    course.talk = {
        **talk,
        "skipped": [each for each in talk.get("skipped", []) if each != name],
        "reopened": [each for each in talk.get("reopened", []) if each != name],
        "retries": {key: n for key, n in talk.get("retries", {}).items() if key != name},
        "refused": {key: n for key, n in talk.get("refused", {}).items() if key != name},
        "corrections": {k: a for k, a in talk.get("corrections", {}).items() if k != name},
    }


def cancel(course: Course, *, everything: bool, keep: Collection[str] = ()) -> None:
    """Give up the task at hand, or all; a detour alone leaves what it interrupted."""
    position = course.position
    course.talk = {**course.talk, "queued": []}
    if position["stack"] and not everything:
        _end_detour(course)
        return
    if not everything and _is_done(course):
        return
    given_up = [position["pathway"], *(f["pathway"] for f in reversed(position["stack"]))]
    for id_ in given_up:
        pathway = course.spec.pathways[id_]
        course.note("cancelled", to=id_, reason="cancelled by the user")
        reset(course, pathway, "cancelled", keep)
    course.repair("cancel", "cancelled_all" if len(given_up) > 1 else "cancelled")
    to_the_beginning(course)


def _is_done(course: Course) -> bool:
    """Say whether the task at hand is done, which no word undoes: what is left is offered (T13)."""
    fields = course.here.form.fields if course.here.form else ()
    known = (field for field in fields if course.value(field.name) is not None)
    return any(after_effect(course, field) for field in known)


def _end_detour(course: Course) -> None:
    """Leave a detour; what it interrupted is offered again, and given up if that is stopped too."""
    asked = course.talk.get("asked")
    if asked and asked["kind"] == "return" and course.talk.get("unclear"):
        decline_return(course, "cancelled by the user")
        return
    detour = course.spec.pathways[course.position["pathway"]]
    course.note("cancelled", to=detour.id, reason="cancelled by the user")
    reset(course, detour, "cancelled")
    if course.position["returning"]:
        course.talk = {**course.talk, "unclear": 1}
    course.position = {**course.position, "returning": True}
    course.repair("cancel", "left", task=detour.title)
    course.say("ask_return", task=course.here.title)
    course.ask(Asked(kind="return", about=course.here.id, options=[]))
    course.rest()


def decline_return(course: Course, reason: str) -> None:
    """Give up the task that was interrupted; the ones below it are offered then."""
    _give_up_paused(course, reason)
    if course.position["stack"]:
        course.say("ask_return", task=course.here.title)
        course.ask(Asked(kind="return", about=course.here.id, options=[]))
        course.rest()
        return
    to_the_beginning(course)
    course.say("more")


def decline_all(course: Course, reason: str) -> None:
    """Give up every task that was interrupted, the top one first."""
    while course.position["stack"]:
        _give_up_paused(course, reason)
    to_the_beginning(course)
    course.say("more")


def _give_up_paused(course: Course, reason: str) -> None:
    """Give up the task that was interrupted last."""
    *below, paused = course.position["stack"]
    pathway = course.spec.pathways[paused["pathway"]]
    course.note("cancelled", to=pathway.id, reason=reason)
    reset(course, pathway, "cancelled")
    course.repair("cancel", "left", task=pathway.title)
    course.position = {**course.position, "stack": below}


def to_the_beginning(course: Course) -> None:
    """Stand where the session began, ready for a new task; the user is asked what else there is."""
    place = course.position["pathway"]
    if place != course.spec.entry or course.position["stack"]:
        course.note("restarted", to=course.spec.entry)
    course.position = entered(
        {
            **course.position,
            "pathway": course.spec.entry,
            "stack": [],
            "returning": False,
            "status": "active",
        },
        course.spec.entry,
    )
    if course.spec.parts:
        course.position = left(course.spec, course.position, place)
    course.ask(Asked(kind="more", about="", options=[]))
    course.rest()
