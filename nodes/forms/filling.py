"""Take values, changes and refusals of values into the fields that they are for."""

from __future__ import annotations

from collections.abc import Sequence

from journeys import Field
from nodes.commands import Clear, Command, Correct, Fill, Skip
from nodes.course import Course
from nodes.forms.refusing import read_value, reason_of, refused
from nodes.forms.sheet import owners
from nodes.repair.people import after_effect, give_up
from nodes.talk import FieldAttempt

FieldCommand = Fill | Correct | Clear | Skip
SURE = 0.8
"""Least confidence of a value for a field that nobody asked about."""


async def fill(course: Course, commands: Sequence[Command], fillable: Sequence[Field]) -> bool:
    """Take what commands say of fields; say what could not be taken.

    Args:
        course: The turn.
        commands: In the order in which they were said; those that concern no field are passed by.
        fillable: The fields that a message may give a value to.

    Returns:
        Whether any field was spoken of.
    """
    order = {field.name: place for place, field in enumerate(fillable)}
    mine = [c for c in _without_repeats(course, commands) if isinstance(c, FieldCommand)]
    fills = sorted(
        (c for c in mine if isinstance(c, Fill)), key=lambda c: order.get(c.field, len(order))
    )
    for given in fills:
        await _filled(course, given, fillable)
    for command in mine:
        if isinstance(command, Correct):
            await _corrected(course, command)
        elif isinstance(command, Clear):
            taken_back(course, command)
        elif isinstance(command, Skip):
            _skipped(course)
    return bool(mine)


def _without_repeats(course: Course, commands: Sequence[Command]) -> list[Command]:
    """Return commands without those that a later one about the same field replaces."""
    last: dict[str, Command] = {}
    for command in commands:
        if isinstance(command, (Fill, Correct)):
            last[command.field] = command
    kept: list[Command] = []
    for command in commands:
        if isinstance(command, (Fill, Correct)) and last[command.field] is not command:
            reason = f"'{command.field}' was given again in the same message"
            course.note("dropped", reason=reason)
        else:
            kept.append(command)
    return kept


async def _filled(course: Course, command: Fill, fillable: Sequence[Field]) -> None:
    name = command.field
    field = next((each for each in fillable if each.name == name), None)
    if field is None:
        course.note("dropped", reason=f"no field '{name:.80}' is open here")
        course.flags.append("outside_closed_set")
        return
    asked = course.talk.get("asked")
    is_asked = bool(asked and asked["about"] == name)
    if not is_asked and not SURE <= command.confidence <= 1:
        course.note("dropped", reason=f"not sure enough that it is about '{name}'")
        return
    if not any(field in course.sheet(owner).live for owner in owners(course.spec, name)):
        course.note("dropped", reason=f"'{name}' is not asked for as things stand")
        return
    if course.value(name) is not None:
        await _corrected(course, Correct(name, command.value, command.confidence))
        return
    value = await read_value(course, field, command.value, command.confidence)
    if value is None:
        return
    course.keep(name, "valid", value=value, raw=command.value, confidence=_share(command))
    course.note("field_set", trigger=name)
    _taken(course, name)
    await _checked_again(course, name)


async def _corrected(course: Course, command: Correct) -> None:
    name = command.field
    was = course.value(name)
    if was is None and name not in course.talk.get("corrections", {}):
        await _first_value(course, command)
        return
    field = course.field(name)
    if after_effect(course, field):
        return
    value = await read_value(course, field, command.value, command.confidence)
    if value is None:
        return
    if value == was:
        course.say("kept", field=field.title, value=course.shown(field, was))
        course.talk = {**course.talk, "corrections": _without(course, name)}
        return
    details = {"value": value, "raw": command.value, "confidence": _share(command)}
    if _asks_before_changing(course, field):
        course.keep(name, "pending", source="corrected", **details)
        pending = course.fields[name][-1]
        course.talk = {**course.talk, "corrections": {**_without(course, name), name: pending}}
        return
    await replaced(course, field, source="corrected", **details)


async def _first_value(course: Course, command: Correct) -> None:
    """Take a change of what has no value for its first value, where it may have one."""
    fillable = course.here.form.fields if course.here.form else ()
    if command.field not in {field.name for field in fillable}:
        course.note("dropped", reason=f"no field '{command.field:.80}' has a value to change")
        course.flags.append("outside_closed_set")
        return
    await _filled(course, Fill(command.field, command.value, command.confidence), fillable)


async def replaced(course: Course, field: Field, **details: object) -> None:
    """Give a field another value, and check again what depends on it."""
    course.keep(field.name, "valid", **details)
    course.note("field_corrected", trigger=field.name)
    if not course.talk.get("reopened") or field.name not in course.talk["reopened"]:
        value = course.shown(field, course.value(field.name))
        course.say("corrected", field=field.title, value=value)
    course.talk = {
        **course.talk,
        "corrections": _without(course, field.name),
        "confirmed": _unconfirmed(course, field.name),
    }
    _taken(course, field.name)
    await _checked_again(course, field.name)


async def _checked_again(course: Course, changed: str) -> None:
    """Check the fields that depend on one that changed; one that no longer holds is asked again."""
    waiting, seen = [changed], {changed}
    while waiting:
        name = waiting.pop(0)
        for field in _dependents(course, name):
            if field.name in seen:
                continue
            seen.add(field.name)
            waiting.append(field.name)
            value = course.value(field.name)
            if value is None:
                continue
            refusal = await refused(course, field, value)
            if refusal:
                reason = reason_of(course, refusal)
                emptied(course, field, reason=reason, source="inferred")
                course.say("no_longer_valid", field=field.title, reason=reason)


def _dependents(course: Course, name: str) -> list[Field]:
    found: dict[str, Field] = {}
    for pathway in course.spec.pathways.values():
        for field in pathway.form.fields if pathway.form else ():
            if name in field.depends_on:
                found.setdefault(field.name, field)
    return list(found.values())


def taken_back(course: Course, command: Clear) -> None:
    """Empty a field that the user takes back, and ask for it at once (T10)."""
    name = command.field
    pending = name in course.talk.get("corrections", {})
    if course.value(name) is None and not pending:
        course.note("dropped", reason=f"no field '{name:.80}' has a value to take back")
        course.flags.append("outside_closed_set")
        return
    field = course.field(name)
    if after_effect(course, field):
        return
    emptied(course, field, reason="taken back by the user")
    course.say("emptied", field=field.title)
    reopened = [name, *(each for each in course.talk.get("reopened", []) if each != name)]
    course.talk = {**course.talk, "reopened": reopened, "corrections": _without(course, name)}


def emptied(course: Course, field: Field, *, reason: str, source: str = "user_provided") -> None:
    """Append that a field has no value any more."""
    course.keep(field.name, "cleared", reason=reason, source=source)
    course.note("field_cleared", trigger=field.name, reason=reason)
    skipped = [name for name in course.talk.get("skipped", []) if name != field.name]
    confirmed = _unconfirmed(course, field.name)
    course.talk = {**course.talk, "skipped": skipped, "confirmed": confirmed}
    course.synced(field.name)


def _unconfirmed(course: Course, name: str) -> list[str]:
    """Return the pathways whose summary still holds when a field of some of them changes."""
    changed = {owner.id for owner in owners(course.spec, name)}
    return [id_ for id_ in course.talk.get("confirmed", []) if id_ not in changed]


def _skipped(course: Course) -> None:
    asked = course.talk.get("asked")
    if not asked or asked["kind"] != "field":
        course.note("dropped", reason="nothing is asked that could be left open")
        return
    field = course.field(asked["about"])
    if not field.required:
        course.keep(field.name, "cleared", reason="left open by the user")
        course.note("field_cleared", trigger=field.name, reason="left open by the user")
        course.talk = {**course.talk, "skipped": [*course.talk.get("skipped", []), field.name]}
        course.say("skipped", field=field.title)
        _taken(course, field.name)
        return
    times = course.talk.get("refused", {}).get(field.name, 0) + 1
    course.talk = {**course.talk, "refused": {**course.talk.get("refused", {}), field.name: times}}
    course.note("field_refused", trigger=field.name, reason="the user would not say")
    if times == 1:
        course.say("required", field=field.title, description=field.description)
    else:
        give_up(course, f"refused:{field.name}")


def _taken(course: Course, name: str) -> None:
    """Forget what was counted against a field, now that it is settled."""
    talk = course.talk
    course.talk = {
        **talk,
        "retries": {key: n for key, n in talk.get("retries", {}).items() if key != name},
        "refused": {key: n for key, n in talk.get("refused", {}).items() if key != name},
        "reopened": [each for each in talk.get("reopened", []) if each != name],
        "off_topic": 0,
        "unclear": 0,
    }
    course.synced(name)


def _without(course: Course, name: str) -> dict[str, FieldAttempt]:
    """Return the changes that wait for a yes, but for that of one field."""
    pending = course.talk.get("corrections", {})
    return {key: value for key, value in pending.items() if key != name}


def _asks_before_changing(course: Course, field: Field) -> bool:
    forms = [owner.form for owner in owners(course.spec, field.name)]
    return any(form is not None and form.confirm_corrections for form in forms)


def _share(command: Fill | Correct) -> float:
    return command.confidence if 0 <= command.confidence <= 1 else 0.0
