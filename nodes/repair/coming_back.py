"""Go on after a task is complete: with what waited, or with what was interrupted."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from journeys import PathwaySpec, ReturnToPrevious
from journeys.spec import MAX_HOPS
from nodes.course import Course
from nodes.forms.questions import question_of
from nodes.moves import move
from nodes.repair.leaving import begin_anew, decline_all
from nodes.state import Fired
from nodes.talk import Asked, Option


def completed(course: Course, pathway: PathwaySpec, depth: int) -> None:
    """Follow what a complete pathway leads to, beyond its own `next`.

    Args:
        course: The turn, as it stands after the pathway.
        pathway: The pathway.
        depth: Most paused pathways.
    """
    if pathway.form:
        finished = [id_ for id_ in course.talk.get("finished", []) if id_ != pathway.id]
        course.talk = {**course.talk, "finished": [*finished, pathway.id]}
        if pathway.pipeline is None and not course.turn["replies"] and course.run is None:
            course.say("collected")
    if pathway.next and course.position["pathway"] == pathway.next:
        begin_anew(course, course.spec.pathways[pathway.next])
    if course.talk.get("queued") and len(course.turn["ran"]) < MAX_HOPS:
        _begin_next(course, depth)
    elif pathway.is_detour and course.position["returning"] and course.position["stack"]:
        _come_back(course, pathway)


def _begin_next(course: Course, depth: int) -> None:
    """Begin what waited for this to be over (T29), or was asked for in the same message (T07)."""
    first, *later = course.talk["queued"]
    course.talk = {**course.talk, "queued": later}
    transition = next((t for t in course.spec.transitions if t.id == first), None)
    if transition is None:  # an older version of the journey had it
        return
    before = course.position["pathway"]
    moved = move(course.spec, course.standing, transition, depth)
    if moved.refused_depth:
        course.note("depth_refused", to=transition.target, reason="it waited")
        course.say("too_deep")
        return
    course.note("transition", to=transition.target, trigger=transition.label, reason="it waited")
    course.position = moved.position
    course.change(*moved.ops)
    course.audit += moved.audit
    course.transition = Fired(
        id=transition.id,
        source=before,
        target=transition.target,
        intent=transition.label,
        tier="queued",
        confidence=1.0,
        reason="it waited",
    )
    target = course.spec.pathways[transition.target]
    begin_anew(course, target)
    course.run, course.entered = target.id, "transition"


def _come_back(course: Course, detour: PathwaySpec) -> None:
    """Offer what the detour interrupted, as its policy says (T01, T04)."""
    if course.position["status"] == "complete" and len(course.position["stack"]) == 1:
        return
    returns = detour.returns
    policy = returns.policy if isinstance(returns, ReturnToPrevious) else "return"
    _POLICIES[policy](course)


def _ask_the_same(course: Course) -> None:
    """Say what is gone back to, and ask its question again; the answer goes there."""
    asked = course.sheet().asked() if course.here.form else None
    if asked is None:
        return
    course.repair("continue", "returning", task=course.here.title)
    course.ask(asked)
    if course.aside:
        course.run = course.here.id  # its form asks behind what answers instead of the text
    else:
        course.words.append(question_of(course, asked))


def _ask_whether(course: Course) -> None:
    course.repair("continue", "ask_return", task=course.here.title)
    course.ask(Asked(kind="return", about=course.here.id, options=[]))


def _ask_which(course: Course) -> None:
    paused = dict.fromkeys(frame["pathway"] for frame in reversed(course.position["stack"]))
    if len(paused) == 1:
        _ask_whether(course)
        return
    options = [Option(id=id_, label=course.spec.pathways[id_].title) for id_ in paused]
    course.repair("continue", "which_paused", options=course.listed(options))
    course.ask(Asked(kind="paused", about="", options=options))


def _end(course: Course) -> None:
    """Give up all that was interrupted; one event a frame, the top one first."""
    decline_all(course, "the detour ends what it interrupted")
    course.words = [course.text("more")]


_POLICIES: Mapping[str, Callable[[Course], None]] = {
    "return": _ask_the_same,
    "ask": _ask_whether,
    "choose": _ask_which,
    "end": _end,
}
