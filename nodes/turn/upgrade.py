"""Fit a session to another version of its journey: its place, its questions, its values.

Source: traces T27.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from datetime import date, datetime, time
from typing import Any

from journeygraph.journeys import Field, JourneySpec
from journeygraph.nodes.draft import TurnDraft
from journeygraph.nodes.forms.collect import emptied, refused
from journeygraph.nodes.language.expected import CHOOSING
from journeygraph.nodes.state.dialogue_state import Asked
from journeygraph.nodes.state.effects import step_renamed
from journeygraph.nodes.state.form_state import field_named, is_record, settled
from journeygraph.nodes.state.session import Frame, Position
from journeygraph.nodes.state.stack import Moved, Situation, at_entry, resumed_frame
from journeygraph.nodes.values.reading import value_of
from journeygraph.nodes.values.setting import Unreadable

_GONE = "this version of the journey does not have it"


async def has_moved(draft: TurnDraft) -> bool:
    """Fit a session that another version of the journey left; return whether the turn is decided.

    A session in a removed pathway continues in the topmost paused pathway that still exists,
    else at the entry. The user is informed, also of a task that waited and is gone. If that place
    collects, the message is not read: it answered a question of the pathway that is gone.
    """
    gone, paused = draft.position["pathway"], draft.position["stack"]
    is_there = gone in draft.spec.reachable
    goes_on = is_there or any(frame["pathway"] in draft.spec.reachable for frame in paused)
    waited = draft.dialogue.queued
    moved = safe_place(draft.spec, draft.situation)
    if moved is not None:
        draft.position = moved.position
        draft.change(*moved.ops)
        draft.audit += moved.audit
    _forget_unknown(draft)
    await _read_again(draft)
    if moved is None and waited == draft.dialogue.queued:
        return False
    draft.say("moved_back" if goes_on else "moved_to_entry", task=draft.here.title)
    if is_there or not draft.here.collects:
        return False
    draft.run, draft.settled = draft.here.id, True
    return True


def safe_place(spec: JourneySpec, situation: Situation) -> Moved | None:
    """Return the move out of pathways that are gone; None if all of them are there."""
    position = situation.position
    there = [frame for frame in position["stack"] if frame["pathway"] in spec.reachable]
    gone = [f["pathway"] for f in reversed(position["stack"]) if f not in there]
    is_there = position["pathway"] in spec.reachable
    if is_there and not gone:
        return None
    if is_there:
        returning = position["returning"] and bool(there)
        place: Position = {**position, "stack": there, "returning": returning}
        moved = Moved(place)
    elif there:
        moved = resumed_frame(situation.at({**position, "stack": there}), there[-1]["pathway"])
        moved = Moved({**moved.position, "status": "active"}, moved.ops)
    else:
        moved = Moved(at_entry(spec, position))
    to = moved.position["pathway"]
    audit: list[dict[str, Any]] = []
    if not is_there:
        audit.append({"kind": "migrated", "from": position["pathway"], "to": to, "reason": _GONE})
    audit += [{"kind": "pause_ended", "from": id_, "reason": _GONE} for id_ in gone]
    return Moved(moved.position, moved.ops, audit)


def _forget_unknown(draft: TurnDraft) -> None:
    spec, dialogue = draft.spec, draft.dialogue
    fields = {f.name for p in spec.pathways.values() for f in (p.form.fields if p.form else ())}
    transitions = {transition.id for transition in spec.transitions}
    known = {"", *fields, *spec.reachable, *transitions}
    if dialogue.asked and not _is_known(dialogue.asked, known):
        dialogue.asked = None
    for id_ in (queued for queued in dialogue.queued if queued not in transitions):
        draft.note("dropped", trigger=id_, reason=_GONE)
    dialogue.queued = [id_ for id_ in dialogue.queued if id_ in transitions]
    dialogue.reopened = [name for name in dialogue.reopened if name in fields]
    dialogue.skipped = [name for name in dialogue.skipped if name in fields]
    waiting = dialogue.corrections
    dialogue.corrections = {name: one for name, one in waiting.items() if name in fields}


def _is_known(asked: Asked, known: Collection[str]) -> bool:
    options = asked["options"] if asked["kind"] in CHOOSING else []
    return asked["about"] in known and all(option["id"] in known for option in options)


async def _read_again(draft: TurnDraft) -> None:
    """Read values again whose field has another type now; one that cannot be read is asked for.

    What a task was completed with is a record, and stays.
    """
    for field in misfits(draft.spec, draft.fields, draft.dialogue.finished):
        said = settled(draft.fields[field.name])
        raw = said["raw"] if said else ""
        try:
            value = value_of(field, raw, draft.setting)
            is_taken = await refused(draft, field, value) is None
        except Unreadable:
            is_taken = False
        if is_taken:
            reason = "read again: the field has another type in this version"
            draft.keep(field.name, "valid", value=value, raw=raw, source="inferred", reason=reason)
            draft.note("field_set", trigger=field.name, reason=reason)
            draft.synced(field.name)
        else:
            reason = "the field has another type in this version"
            emptied(draft, field, reason=reason, source="inferred")


def misfits(spec: JourneySpec, attempts: Mapping[str, Any], finished: list[str]) -> Iterator[Field]:
    """Yield the fields whose values are not of their type."""
    for name, tries in list(attempts.items()):
        try:
            field = field_named(spec, name)
        except KeyError:  # gone; its attempts stay, as the older version may come back
            continue
        said = settled(tries)
        if said and not is_record(spec, name, finished) and not fits_type(field, said["value"]):
            yield field


def fits_type(field: Field, value: Any) -> bool:
    """Return whether a stored value is one of a field's type."""
    if field.type == "enum":
        return isinstance(value, str) if callable(field.choices) else value in field.ways
    if field.type == "list":
        return isinstance(value, list) and all(_fits(field.items, item) for item in value)
    return _fits(field.type, value)


def _fits(kind: str, value: Any) -> bool:
    if kind in _READERS:
        try:
            _READERS[kind](value)
        except (TypeError, ValueError):
            return False
        return True
    if kind == "boolean":
        return isinstance(value, bool)
    if kind in ("integer", "number"):
        whole = isinstance(value, int) and not isinstance(value, bool)
        return whole or (kind == "number" and isinstance(value, float))
    if kind == "money":
        return isinstance(value, dict) and {"amount", "currency"} <= value.keys()
    return isinstance(value, str)


_READERS: Mapping[str, Callable[[Any], Any]] = {
    "date": date.fromisoformat,
    "time": time.fromisoformat,
    "datetime": datetime.fromisoformat,
}


def renamed(spec: JourneySpec, position: Position) -> Position:
    """Return a position with the names that its pathways have now, by `__migrations__`."""

    def name_of(id_: str) -> str:
        return spec.migrations.get(id_, id_)

    stack = [Frame(**{**f, "pathway": name_of(f["pathway"])}) for f in position["stack"]]
    after: Position = {**position, "pathway": name_of(position["pathway"]), "stack": stack}
    if visits := position.get("visits"):
        after["visits"] = {name_of(id_): visit for id_, visit in visits.items()}
    if talk := position.get("talk"):
        after["talk"] = _talk_renamed(talk, name_of)
    return after


def _talk_renamed(talk: Any, renamed: Callable[[str], str]) -> Any:
    kept: Any = {**talk}
    for name in ("confirmed", "finished"):
        kept[name] = [renamed(id_) for id_ in kept.get(name, [])]
    for name in ("taken", "unsure"):
        kept[name] = [step_renamed(step, renamed) for step in kept.get(name, [])]
    done = kept.get("done", {})
    kept["done"] = {step_renamed(step, renamed): keys for step, keys in done.items()}
    if (asked := kept.get("asked")) and asked["kind"] != "field":
        options = [{**option, "id": renamed(option["id"])} for option in asked["options"]]
        kept["asked"] = {**asked, "about": renamed(asked["about"]), "options": options}
    return kept
