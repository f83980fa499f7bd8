"""What a pathway's form and effects came to is kept, and the talk led on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from journeys import PathwaySpec
from nodes.collect import FORM, is_collected
from nodes.context import Op
from nodes.course import Course, course_of
from nodes.effect_outcome import EFFECTS, went_well, with_effects
from nodes.forms.attempts import by_field
from nodes.forms.sheet import talk_of
from nodes.repair.coming_back import completed
from nodes.services import Services
from nodes.state import Position, SessionState, Turn, Update

Progress = Mapping[str, Any]


def is_idle(progress: Progress) -> bool:
    """Say whether a pathway stopped before its agents: something is open, or was not done."""
    return not is_collected(progress) or not went_well(progress)


def gathered(pathway: PathwaySpec, progress: Progress) -> list[Op]:
    """Return what a pathway's form and effects change in the context."""
    form, effects = progress.get(FORM, {}), progress.get(EFFECTS, {})
    ops = [[*op, pathway.id] for part in (form, effects) for op in part.get("ops", ())]
    kept = effects.get("kept", {})
    return ops + [["replace", name, value, pathway.id] for name, value in kept.items()]


def known_already(progress: Progress) -> set[str]:
    """Return the fields whose values a pathway's form found in the context."""
    attempts = progress.get(FORM, {}).get("attempts", ())
    return {attempt["field"] for attempt in attempts if attempt["source"] == "tool"}


def attempts_in(progress: Progress) -> list[Any]:
    """Return the attempts at fields that a pathway's form and effects made."""
    return [each for name in (FORM, EFFECTS) for each in progress.get(name, {}).get("attempts", ())]


def told(turn: Turn, progress: Progress) -> Turn:
    """Write what a form asked, and what effects said, into the record of the turn."""
    form, effects = progress.get(FORM, {}), progress.get(EFFECTS, {})
    own = [*form.get("said", ()), *effects.get("said", ())]
    first = len(turn["replies"])
    heard: Turn = {
        **turn,
        "replies": [*turn["replies"], *own],
        "audit": [*turn["audit"], *form.get("audit", ()), *effects.get("audit", ())],
        "attempts": [*turn.get("attempts", []), *attempts_in(progress)],
    }
    if own:
        heard["worded"] = [*turn.get("worded", []), *range(first, first + len(own))]
    return heard


def remembered(position: Position, progress: Progress) -> Position:
    """Return a position whose talk knows what was asked and what was done."""
    talk = talk_of(position)
    if FORM in progress:
        talk["asked"] = progress[FORM]["asked"]
    elif not (asked := talk.get("asked")) or asked["kind"] in ("field", "summary"):
        talk["asked"] = None
    return {**position, "talk": with_effects(talk, progress)}


def led_on(
    services: Services,
    state: SessionState,
    pathway: PathwaySpec,
    position: Position,
    turn: Turn,
    context: Mapping[str, Any],
) -> tuple[Position, Turn, list[Op], Course]:
    """Lead the talk on after a pathway that is complete.

    Returns:
        The position, the record of the turn, changes of the context, and the course taken.
    """
    course = course_of(services, {**state, "context": dict(context)}, turn, position)
    course.run, course.entered = turn["run"], turn["entered"]
    completed(course, pathway, services.config.max_pathway_depth)
    first = len(turn["replies"])
    after: Position = {**course.position, "talk": course.talk}
    moved = after["pathway"] != turn["begun_in"]
    heard: Turn = {
        **turn,
        "run": course.aside or course.run,
        "entered": course.entered,
        "moved": turn["moved"] or moved,
        "replies": [*turn["replies"], *course.words],
        "worded": [*turn.get("worded", []), *range(first, first + len(course.words))],
        "audit": [*turn["audit"], *course.audit],
        "attempts": [*turn.get("attempts", []), *course.attempts],
        "transition": turn["transition"] or course.transition,
        "ops": [*turn["ops"], *([*op, pathway.id] for op in course.ops)],
    }
    if course.aside:
        heard["aside"] = course.run
    return after, heard, [[*op, pathway.id] for op in course.ops], course


def is_complete(pathway: PathwaySpec, before: Position, after: Position) -> bool:
    """Say whether a pathway that ran has led on."""
    if pathway.is_detour:
        return after["returning"]
    return after["pathway"] != before["pathway"] or after["status"] == "complete"


def grown(update: Update, *attempts: list[Any]) -> Update:
    """Return an update to which attempts at fields are added."""
    made = [each for some in attempts for each in some]
    return {**update, "fields": by_field(made)} if made else update
