"""Go where a message leads: now, later, or instead of what was begun."""

from __future__ import annotations

from typing import Any

from journeys import PathwaySpec, TransitionSpec
from journeys.spec import MOVE
from journeys.transitions import AlwaysTrigger
from nodes.course import Course
from nodes.limits import Limits
from nodes.moves import move
from nodes.repair.leaving import begin_anew, reset
from nodes.repair.people import effect_of
from nodes.steer import Steering
from nodes.talk import Asked, Option

MOST_QUEUED = 5
"""Most moves that wait for the present pathway to be complete."""
_UNBLOCKED = ("condition", "always")
"""Tiers of moves that an author's code decides, which no pathway keeps from happening."""


def adopt(course: Course, steering: Steering) -> None:
    """Take a decision over into the turn."""
    paused = {frame["pathway"] for frame in course.position["stack"]}
    _leave_journey(course, steering)
    course.position = steering.position
    course.change(*steering.ops)
    course.audit += steering.audit
    course.flags += steering.flags
    course.transition, course.refused_depth = steering.transition, steering.refused_depth
    course.judged, course.near = steering.judged, steering.near
    if course.settled:
        return
    course.run, course.entered, course.settled = steering.run, steering.entered, True
    if steering.say and not (steering.say == "closing" and course.words):
        course.say(steering.say)
    if steering.transition and steering.run:
        course.ask(None)
        if steering.run not in paused:
            begin_anew(course, course.spec.pathways[steering.run])


def _leave_journey(course: Course, steering: Steering) -> None:
    """Take back what other journeys of a concierge have collected, and what one did before."""
    entered = course.spec.active_in(steering.position["pathway"])
    if not course.spec.parts or entered == course.spec.active_in(course.position["pathway"]):
        return
    finished = course.talk.get("finished", [])
    for pathway in course.spec.pathways.values():
        if pathway.journey and (pathway.journey != entered or pathway.id in finished):
            reset(course, pathway, "its journey was left")


def switch(course: Course, steering: Steering, *, everything: bool) -> None:
    """Give up what was begun for something else; values that both need stay."""
    assert steering.transition is not None
    target = course.spec.pathways[steering.transition["target"]]
    keep = {field.name for field in target.form.fields} if target.form else set()
    stack = course.position["stack"]
    given_up = [course.position["pathway"]]
    given_up += [frame["pathway"] for frame in reversed(stack)] if everything else []
    for id_ in given_up:
        course.note("cancelled", to=id_, reason="given up for something else")
        reset(course, course.spec.pathways[id_], "cancelled", keep)
    course.settled = False
    adopt(course, steering)
    left = [frame for frame in course.position["stack"] if frame["pathway"] not in given_up]
    course.position = {**course.position, "stack": left}


def is_blocked(course: Course, steering: Steering) -> bool:
    """Say whether the pathway at hand is not to be interrupted now (T29)."""
    assert steering.transition is not None
    kinds = {t.id: t.kind for t in course.spec.transitions}
    if steering.transition["tier"] in _UNBLOCKED or kinds.get(steering.transition["id"]) != MOVE:
        return False
    if course.here.form is None or course.sheet().is_closed:
        return False
    asked = course.sheet().asked()
    at = asked["about"] if asked and asked["kind"] == "field" else ""
    return not interruptible(course.here, at)


def interruptible(pathway: PathwaySpec, field: str) -> bool:
    """Say whether a pathway may be interrupted while it asks for a field."""
    if isinstance(pathway.interruptible, bool):
        return pathway.interruptible
    return field in pathway.interruptible


def postpone(
    course: Course, steering: Steering | None, *, blocked: bool = False, queue: str = ""
) -> None:
    """Take a move as soon as the pathway at hand is complete."""
    id_ = queue or (steering.transition["id"] if steering and steering.transition else "")
    waiting = course.talk.get("queued", [])
    if id_ not in waiting and len(waiting) < MOST_QUEUED:
        course.talk = {**course.talk, "queued": [*waiting, id_]}
        course.note("queued", trigger=id_)
    if steering is None:
        return
    if blocked:
        course.note("blocked", trigger=id_)
        course.repair("blocked", "blocked")
    course.run, course.entered, course.settled = course.here.id, "stay", True


def begun_already(course: Course) -> bool:
    """Ask whether to go on with the task at hand or to begin it anew (T18)."""
    options = [Option(id=id_, label=course.text(id_)) for id_ in ("go_on", "begin_anew")]
    course.note("unclear", reason="the task is under way already")
    course.repair("clarify", "restart", task=course.here.title, options=course.listed(options))
    course.ask(Asked(kind="restart", about=course.here.id, options=options))
    course.rest()
    return True


def change_instead(course: Course, limits: Limits) -> None:
    """Go to the pathway that changes what an effect did (T13)."""
    field = course.field(course.changing)
    used = effect_of(course, field)
    if used is None or not used[1].change:
        return
    target = course.spec.pathways[used[1].change]
    moved = move(course.spec, course.standing, way_to(target), limits.depth)
    if moved.refused_depth:
        course.note("depth_refused", to=target.id, reason="asked for by the user")
        course.refused_depth = moved.refused_depth
        course.say("too_deep")
        course.rest()
        return
    course.note("changing", to=target.id, trigger=field.name)
    course.position = moved.position
    course.change(*moved.ops)
    course.audit += moved.audit
    course.ask(None)
    begin_anew(course, target)
    course.run, course.entered, course.settled = target.id, "transition", True


def way_to(pathway: PathwaySpec, **details: Any) -> TransitionSpec:
    """Return a move to a pathway that no author declared."""
    return TransitionSpec(f"to:{pathway.id}", AlwaysTrigger(), ("*",), pathway.id, **details)
