"""Decide what a message comes to in a journey that collects: answers first, then where it leads."""

from __future__ import annotations

from collections.abc import Sequence

from journeys import Field, PathwaySpec
from journeys.spec import ACTIVATION, MOVE
from nodes.commands import Cancel, Choose, Command, Confirm, Correct, Deny, Fill, Go, Human, Verdict
from nodes.course import Course
from nodes.forms.filling import fill
from nodes.forms.questions import ask_again
from nodes.hearing.greetings import is_greeting
from nodes.lawful import lawful
from nodes.limits import Limits
from nodes.repair.answering import answered, confirmed_corrections
from nodes.repair.clarifying import (
    ambiguous,
    clarify,
    most_specific,
    options_of,
    tasks_of,
)
from nodes.repair.digressing import digressed, not_understood
from nodes.repair.leaving import cancel
from nodes.repair.people import asked_for
from nodes.repair.switching import (
    adopt,
    begun_already,
    change_instead,
    is_blocked,
    postpone,
    switch,
)
from nodes.steer import Steering, steer

Moves = list[Command]


async def decide(course: Course, commands: Sequence[Command], limits: Limits) -> None:
    """Decide a turn: what was asked is answered first, then the message leads on (T02, T07).

    Args:
        course: The turn; it is changed.
        commands: What was understood, verdicts on transitions among it.
        limits: Depth and confidence.
    """
    agreed = _consistent(course, lawful(course, commands))
    moves: Moves = [c for c in agreed if isinstance(c, (Verdict, Go))]
    said = [c for c in agreed if not isinstance(c, (Verdict, Go))]
    if human := next((c for c in said if isinstance(c, Human)), None):
        asked_for(course, human.reason)
        _stay(course)
        return
    spoke = await confirmed_corrections(course, said)
    if not spoke:
        asked = course.talk.get("asked")
        chosen = answered(course, said)
        spoke = chosen is not None
        if spoke and course.talk.get("asked") is asked:
            course.ask(None)
        moves = [*(chosen or []), *moves] if chosen else moves
    here = _for_here(course, said)
    spoke = await fill(course, here, fillable(course)) or spoke
    if course.talk.get("takeover"):
        return  # a person was called for what could not be taken; where it stands stays
    if course.changing:
        change_instead(course, limits)
    else:
        await _led_on(course, said, moves, limits, spoke=spoke)
    _left_over(course, [c for c in said if c not in here])


async def _led_on(
    course: Course, said: Sequence[Command], moves: Moves, limits: Limits, *, spoke: bool
) -> None:
    """Follow a message to where it leads, or stay."""
    moves = most_specific(moves)
    unclear = [] if spoke else ambiguous(course, _verdicts(moves), limits)
    if unclear:
        clarify(course, options_of(course, unclear))
        return
    steering = steer(course.spec, course.standing, moves, limits)
    given_up = next((c for c in said if isinstance(c, Cancel)), None)
    if steering.transition and not _ignored(course, steering, said):
        await _moved(course, steering, said, given_up, spoke=spoke)
        _also_wanted(course, moves, steering, limits)
    elif course.settled:
        return
    elif given_up:
        cancel(course, everything=given_up.everything)
    else:
        _stayed(course, steering, said, spoke=spoke)


async def _moved(
    course: Course,
    steering: Steering,
    said: Sequence[Command],
    given_up: Cancel | None,
    *,
    spoke: bool,
) -> None:
    assert steering.transition is not None
    target = course.spec.pathways[steering.transition["target"]]
    if given_up:
        switch(course, steering, everything=given_up.everything)
    elif is_blocked(course, steering) or (spoke and _is_answered(course)):
        postpone(course, steering, blocked=not (spoke and _is_answered(course)))
        return
    else:
        adopt(course, steering)
    await fill(course, _for_others(course, said, target), _fields(target))


def _stayed(course: Course, steering: Steering, said: Sequence[Command], *, spoke: bool) -> None:
    asked = course.talk.get("asked")
    waits = bool(asked and asked["kind"] not in ("field", "more"))
    if digressed(course, said):
        if course.settled:
            return
        if waits:
            ask_again(course)
        else:
            _stay(course)
    elif spoke:
        adopt(course, steering)
    elif asked and asked["kind"] != "more" and _is_open(course):
        not_understood(course)
        if not course.settled:
            ask_again(course) if waits else _stay(course)
    elif _is_deaf(course) and steering.say != "closing":
        _tell_tasks(course)
    else:
        adopt(course, steering)


def _tell_tasks(course: Course) -> None:
    """Say what can be done here, where nobody else answers."""
    if is_greeting(course.turn["message"] or ""):
        course.say("which", journeys=tasks_of(course))
    else:
        course.repair("unsupported", "unsupported", tasks=tasks_of(course))
    course.rest()


def _stay(course: Course) -> None:
    """Ask the same question again, if one is open; nothing else runs."""
    if course.settled:
        return
    course.run = course.here.id if _has_open_form(course) else None
    course.settled = True


def _ignored(course: Course, steering: Steering, said: Sequence[Command]) -> bool:
    """Say whether a move only names the task that is under way, which the message goes on with."""
    assert steering.transition is not None
    if steering.transition["target"] != course.here.id or course.here.form is None:
        return False
    if course.position["returning"]:
        return False  # it asks for what was interrupted, which is gone back to
    if not course.sheet().is_begun or course.here.id in course.talk.get("finished", []):
        return False
    if any(isinstance(command, (Fill, Correct)) for command in said):
        return True
    if steering.transition["tier"] == "chosen":
        return False
    return begun_already(course)


def _also_wanted(course: Course, moves: Moves, steering: Steering, limits: Limits) -> None:
    """Queue what else a message plainly asked for, in the order in which it did."""
    assert steering.transition is not None
    sure = (c for c in moves if isinstance(c, Go) and limits.confidence <= c.confidence <= 1)
    wanted = dict.fromkeys(command.target for command in sure)
    for target in wanted:
        if target == steering.transition["target"]:
            continue
        ids = [t.id for t in course.spec.transitions if t.target == target and t.kind == MOVE]
        if ids:
            postpone(course, None, queue=ids[0])


def _consistent(course: Course, commands: Sequence[Command]) -> list[Command]:
    """Return commands that do not contradict each other; what does is dropped and audited."""
    kinds = {type(command) for command in commands}
    dropped: set[type] = set()
    reason = ""
    if len({c.option for c in commands if isinstance(c, Choose)}) > 1:
        dropped, reason = {Choose}, "the same message takes several options"
    elif Cancel in kinds:
        dropped, reason = {Fill, Correct, Confirm}, "the same message gives the task up"
    elif Confirm in kinds and any(isinstance(c, Deny) and not c.option for c in commands):
        dropped, reason = {Confirm, Deny}, "the same message says yes and no"
    kept: list[Command] = []
    for command in commands:
        if type(command) in dropped:
            course.note("dropped", trigger=type(command).__name__.lower(), reason=reason)
        else:
            kept.append(command)
    return kept


def fillable(course: Course) -> list[Field]:
    """Return the fields that a message may give a value to: here, and of paused pathways."""
    places = [course.here.id, course.position["pathway"]]
    places += [frame["pathway"] for frame in reversed(course.position["stack"])]
    found: dict[str, Field] = {}
    for place in places:
        for field in _fields(course.spec.pathways[place]):
            found.setdefault(field.name, field)
    for name in course.talk.get("reopened", []):  # of a pathway that came before
        found.setdefault(name, course.field(name))
    return list(found.values())


def _fields(pathway: PathwaySpec) -> list[Field]:
    return list(pathway.form.fields) if pathway.form else []


def _for_here(course: Course, said: Sequence[Command]) -> list[Command]:
    """Return commands without values for fields of pathways that the message may lead to."""
    known = {field.name for field in fillable(course)}
    return [c for c in said if not isinstance(c, Fill) or c.field in known or _nowhere(course, c)]


def _nowhere(course: Course, command: Fill) -> bool:
    targets = {t.target for t in course.spec.transitions if t.kind in (MOVE, ACTIVATION)}
    forms = [course.spec.pathways[target].form for target in targets]
    return not any(form and command.field in form for form in forms)


def _for_others(course: Course, said: Sequence[Command], target: PathwaySpec) -> list[Command]:
    """Return the values that are left for the pathway that the message led to."""
    taken = {attempt["field"] for attempt in course.attempts}
    names = {field.name for field in _fields(target)}
    return [c for c in said if isinstance(c, Fill) and c.field in names and c.field not in taken]


def _left_over(course: Course, elsewhere: Sequence[Command]) -> None:
    """Audit values for fields of pathways that the message did not lead to after all."""
    taken = {attempt["field"] for attempt in course.attempts}
    for command in elsewhere:
        if isinstance(command, Fill) and command.field not in taken:
            course.note(
                "dropped", trigger="fill", reason=f"'{command.field}' is not asked for here"
            )


def _verdicts(moves: Moves) -> list[Verdict]:
    return [command for command in moves if isinstance(command, Verdict)]


def _has_open_form(course: Course) -> bool:
    return course.here.collects and not course.sheet().is_closed


def _is_open(course: Course) -> bool:
    asked = course.talk.get("asked")
    return _has_open_form(course) or bool(asked and asked["kind"] != "field")


def _is_answered(course: Course) -> bool:
    """Say whether the message completed the form at hand, which then comes to its end first."""
    form = course.here.form
    return form is not None and course.sheet().is_closed and not _is_finished(course)


def _is_finished(course: Course) -> bool:
    return course.here.id in course.talk.get("finished", [])


def _is_deaf(course: Course) -> bool:
    """Say whether there is nobody here who could answer."""
    here = course.here
    if here.id == course.spec.reception:
        return False
    return here.form is None and here.pipeline is None and not here.calls
