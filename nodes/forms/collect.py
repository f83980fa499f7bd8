"""Collect the fields that a pathway needs, one question at a time; check them again later."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any

from journeygraph.journeys import Effect, Field, PathwaySpec
from journeygraph.nodes.commands import Clear, Command, Correct, Fill, Skip
from journeygraph.nodes.draft import TurnDraft, draft_of
from journeygraph.nodes.forms.offer import after_effect, effect_of, give_up
from journeygraph.nodes.forms.questions import question_of
from journeygraph.nodes.services import Services
from journeygraph.nodes.state.effects import step_of
from journeygraph.nodes.state.form_state import FORM, owners
from journeygraph.nodes.state.session import PathwayState, Update
from journeygraph.nodes.values.checking import refusal_of
from journeygraph.nodes.values.reading import value_of
from journeygraph.nodes.values.setting import Unreadable
from journeygraph.nodes.values.times import is_half_in_doubt

FieldCommand = Fill | Correct | Clear | Skip
SURE = 0.8
"""Least confidence of a value for a field that was not asked about."""


async def fill(draft: TurnDraft, commands: Sequence[Command], fillable: Sequence[Field]) -> bool:
    """Take what commands say of fields, the first values in the order of the fillable fields.

    The reply names what could not be taken. Of two values for a field the last one counts.

    Returns:
        Whether any field was spoken of.
    """
    order = {field.name: place for place, field in enumerate(fillable)}
    mine = [command for command in commands if isinstance(command, FieldCommand)]
    values = [command for command in mine if isinstance(command, (Fill, Correct))]
    last = {command.field: command for command in values}
    for one in values:
        if last[one.field] is not one:
            draft.note("dropped", reason=f"'{one.field}' was given again in the same message")
    fills = [command for command in last.values() if isinstance(command, Fill)]
    for given in sorted(fills, key=lambda c: order.get(c.field, len(order))):
        await _filled(draft, given, fillable)
    for command in mine:
        if isinstance(command, Correct) and last[command.field] is command:
            await _corrected(draft, command)
        elif isinstance(command, Clear):
            taken_back(draft, command)
        elif isinstance(command, Skip):
            _skipped(draft)
    return bool(mine)


async def _filled(draft: TurnDraft, command: Fill, fillable: Sequence[Field]) -> None:
    name = command.field
    field = next((each for each in fillable if each.name == name), None)
    if field is None:
        draft.note("dropped", reason=f"no field '{name:.80}' is open here")
        draft.flags.append("outside_closed_set")
        return
    asked = draft.dialogue.asked
    is_asked = bool(asked and asked["about"] == name)
    if not is_asked and not SURE <= command.confidence <= 1:
        draft.note("dropped", reason=f"confidence too low for the field '{name}'")
        return
    live = {
        each.name for owner in owners(draft.spec, name) for each in draft.form_state(owner).live
    }
    if name not in live:
        draft.note("dropped", reason=f"'{name}' is not needed with the current values")
        return
    if draft.value(name) is not None:
        await _corrected(draft, Correct(name, **_said(command)))
        return
    value = await _value(draft, field, command)
    if value is None:
        return
    doubted = is_half_in_doubt(field, command.value, draft.setting)
    if doubted or not command.certain:
        draft.say("understood", field=field.title, value=draft.shown(field, value))
    draft.keep(name, "valid", value=value, raw=command.value, confidence=_share(command))
    draft.dialogue.guess(name, not draft.is_exact)
    draft.note("field_set", trigger=name)
    _taken(draft, name)
    await _checked_again(draft, name)
    if is_asked and draft.is_exact:
        _told_progress(draft)


def _told_progress(draft: TurnDraft) -> None:
    form_state = draft.form_state()
    asked = [field for field in form_state.live if field.asked]
    if len(form_state.open) == 2 and len(asked) >= LONG_FORM:
        draft.say("nearly")


async def _corrected(draft: TurnDraft, command: Correct) -> None:
    name = command.field
    was = draft.value(name)
    if was is None and name not in draft.dialogue.corrections:
        await _first_value(draft, command)
        return
    field = draft.field(name)
    if after_effect(draft, field):
        return
    value = await _value(draft, field, command)
    if value is None:
        return
    if value == was:
        keep_value(draft, name)
        return
    details = {"value": value, "raw": command.value, "confidence": _share(command)}
    if not command.certain or _asks_before_changing(draft, field):
        draft.keep(name, "pending", source="corrected", **details)
        pending = draft.fields[name][-1]
        draft.dialogue.drop_correction(name)
        draft.dialogue.corrections = {**draft.dialogue.corrections, name: pending}
        return
    await _replaced(draft, field, source="corrected", **details)


async def _first_value(draft: TurnDraft, command: Correct) -> None:
    """Take a change of what has no value for its first value, where it may have one."""
    fillable = draft.here.fields
    if command.field not in {field.name for field in fillable}:
        draft.note("dropped", reason=f"no field '{command.field:.80}' has a value to change")
        draft.flags.append("outside_closed_set")
        return
    await _filled(draft, as_first(command), fillable)


def as_first(command: Correct) -> Fill:
    """Return a change of a value as a first value."""
    return Fill(command.field, **_said(command))


def keep_value(draft: TurnDraft, name: str) -> None:
    """Leave a field that is asked for again, or was to be changed, as it is."""
    field = draft.field(name)
    draft.dialogue.drop_correction(name)
    draft.dialogue.settle(name)
    draft.say("kept", field=field.title, value=draft.shown(field, draft.value(name)))


async def confirm_correction(draft: TurnDraft, name: str) -> bool:
    """Make the change that the user just confirmed; return whether one waits (T11)."""
    pending = draft.dialogue.corrections.get(name)
    if pending is None:
        return False
    field = draft.field(name)
    details = {key: pending[key] for key in ("value", "raw", "confidence")}
    if refusal := await refused(draft, field, pending["value"]):
        draft.dialogue.drop_correction(name)
        refuse(draft, field, reason_of(draft, refusal), **details)
    else:
        await _replaced(draft, field, source="corrected", **details)
    return True


async def _replaced(draft: TurnDraft, field: Field, **details: object) -> None:
    draft.keep(field.name, "valid", **details)
    draft.dialogue.guess(field.name, not draft.is_exact)
    draft.note("field_corrected", trigger=field.name)
    if not draft.dialogue.reopened or field.name not in draft.dialogue.reopened:
        value = draft.shown(field, draft.value(field.name))
        draft.say("corrected", field=field.title, value=value)
    draft.dialogue.drop_correction(field.name)
    _unconfirm(draft, field.name)
    _taken(draft, field.name)
    await _checked_again(draft, field.name)


async def _checked_again(draft: TurnDraft, changed: str) -> None:
    """Check the fields that depend on one that changed; one that no longer holds is asked again."""
    fields = {f.name: f for pathway in draft.spec.pathways.values() for f in pathway.fields}
    waiting, fields_here = [changed], {field.name for field in draft.here.fields}
    for name in waiting:  # it grows
        for field in fields.values():
            if name not in field.depends_on or field.name in waiting:
                continue
            waiting.append(field.name)
            value = draft.value(field.name)
            if value is None or not (refusal := await refused(draft, field, value)):
                continue
            reason = reason_of(draft, refusal)
            emptied(draft, field, reason=reason, source="inferred")
            draft.say("no_longer_valid", field=field.title, reason=reason)
            if field.name not in fields_here:
                draft.dialogue.reopen(field.name)


def taken_back(draft: TurnDraft, command: Clear) -> None:
    """Empty a field that the user takes back, and ask for it at once if it is needed (T10)."""
    name = command.field
    pending = name in draft.dialogue.corrections
    if draft.value(name) is None and not pending:
        draft.note("dropped", reason=f"no field '{name:.80}' has a value to remove")
        draft.flags.append("outside_closed_set")
        return
    field = draft.field(name)
    if after_effect(draft, field):
        return
    emptied(draft, field, reason="removed by the user")
    draft.say("emptied", field=field.title)
    if _is_needed(draft, name):
        draft.dialogue.reopen(name)
    draft.dialogue.drop_correction(name)


def _is_needed(draft: TurnDraft, name: str) -> bool:
    """Return whether a form is open, or the session is after one that collects the field."""
    spec, stack = draft.spec, draft.position["stack"]
    if draft.here.form or any(spec.pathways[frame["pathway"]].form for frame in stack):
        return True
    behind = {owner.next for owner in owners(spec, name)}
    for _ in spec.pathways:
        behind |= {spec.pathways[id_].next for id_ in behind if id_}
    return draft.here.id in behind


def emptied(draft: TurnDraft, field: Field, *, reason: str, source: str = "user_provided") -> None:
    """Append that a field has no value any more."""
    draft.keep(field.name, "cleared", reason=reason, source=source)
    draft.note("field_cleared", trigger=field.name, reason=reason)
    draft.dialogue.skipped = [name for name in draft.dialogue.skipped if name != field.name]
    _unconfirm(draft, field.name)
    draft.synced(field.name)


def _unconfirm(draft: TurnDraft, name: str) -> None:
    draft.dialogue.unconfirm({owner.id for owner in owners(draft.spec, name)})


def _skipped(draft: TurnDraft) -> None:
    if not draft.dialogue.pending:
        draft.note("dropped", reason="there is no open question to skip")
        return
    field = draft.field(draft.dialogue.pending)
    if not field.required:
        draft.keep(field.name, "cleared", reason="left open by the user")
        draft.note("field_cleared", trigger=field.name, reason="left open by the user")
        draft.dialogue.skipped = [*draft.dialogue.skipped, field.name]
        draft.say("skipped", field=field.title)
        _taken(draft, field.name)
        return
    times = draft.dialogue.count("refused", field.name)
    draft.note("field_refused", trigger=field.name, reason="the user refused to answer")
    if times == 1:
        draft.say("required", field=field.title, description=field.description)
    else:
        give_up(draft, f"refused:{field.name}")


def _taken(draft: TurnDraft, name: str) -> None:
    draft.dialogue.settle(name)
    draft.synced(name)


def _asks_before_changing(draft: TurnDraft, field: Field) -> bool:
    forms = [owner.form for owner in owners(draft.spec, field.name)]
    return any(form is not None and form.confirm_corrections for form in forms)


def _share(command: Fill | Correct) -> float:
    return command.confidence if 0 <= command.confidence <= 1 else 0.0


def _said(command: Fill | Correct) -> dict[str, Any]:
    return {name: getattr(command, name) for name in ("value", "confidence", "read", "certain")}


async def _value(draft: TurnDraft, field: Field, command: Fill | Correct) -> object:
    """Return the value of a command; None if it is not taken: the reply says so, and it counts.

    Unread words, such as those of a model, are read here.
    """
    raw, value = command.value, command.read
    try:
        if value is None:
            value = value_of(field, raw, draft.setting)
        refusal = await refused(draft, field, value)
    except Unreadable as unreadable:
        value, refusal = None, unreadable
    if refusal is None:
        return value
    share = _share(command)
    refuse(draft, field, reason_of(draft, refusal), value=value, raw=raw, confidence=share)
    return None


def refuse(draft: TurnDraft, field: Field, reason: str, **details: object) -> None:
    """Write down that a value was not taken, say why, and count it."""
    draft.keep(field.name, "invalid", reason=reason, **details)
    draft.note("field_refused", trigger=field.name, reason=reason)
    _told(draft, field, reason)


def _told(draft: TurnDraft, field: Field, reason: str) -> None:
    """Say why a value was not taken; after the last try, give up (T21)."""
    times = draft.dialogue.count("retries", field.name)
    if draft.here.form and draft.here.form.order == "flexible":
        draft.dialogue.reopen(field.name)
    if times >= field.max_attempts:
        draft.say("exhausted", field=field.title)
        give_up(draft, f"max_attempts:{field.name}")
    else:
        own = field.retry_texts[times - 1 :]
        draft.answer("invalid", own[0] if own else reason)


async def refused(draft: TurnDraft, field: Field, value: object) -> Unreadable | None:
    """Return why a value is not taken by its validators; None if it is."""
    seconds = draft.services.config.pathway_timeout_seconds
    return await refusal_of(field, value, draft.context, draft.setting, seconds=seconds)


def reason_of(draft: TurnDraft, refusal: Unreadable) -> str:
    """Return why a value is not taken, in words for the user."""
    if refusal.sentence:
        return refusal.sentence
    return draft.text(refusal.text, **refusal.values)


LONG_FORM = 6
"""Fewest questions of a form that tells when it is nearly done."""


async def collect(state: PathwayState, services: Services) -> Update:
    """Ask for the next field of the pathway that runs, unless nothing is left to ask.

    A value that the context has already, from the start or from a tool, is not asked for: it is
    checked, and written down as an attempt. `settle` stores the outcome. Nothing is done if the
    pathway did all this before its subgraph.
    """
    if FORM in (state.get("progress") or ()):
        return {}
    turn = state["turn"]
    assert turn["run"] is not None
    draft = draft_of(services, state, turn, state["position"])
    await _known_already(draft, draft.spec.pathways[turn["run"]])
    form_state = draft.form_state(draft.spec.pathways[turn["run"]])
    asked = form_state.asked()
    if asked is not None and turn.get("asks") != asked["about"]:
        draft.replies.append(question_of(draft, asked, form_state))
    draft.note_stopped_patterns()
    outcome: dict[str, Any] = {
        "asked": asked,
        "said": draft.replies,
        "attempts": draft.attempts,
        "ops": draft.ops,
        "audit": draft.audit,
    }
    return {"progress": {FORM: outcome}, "context": dict(draft.context)}


async def _known_already(draft: TurnDraft, pathway: PathwaySpec) -> None:
    reopened, held = draft.dialogue.reopened, draft.dialogue.held
    for field in pathway.fields:
        known = held.get(field.name, draft.context.get(field.name))
        if known is None or known == draft.value(field.name) or field.name in reopened:
            continue
        if field in draft.form_state(pathway).live:  # what was taken over just now may decide that
            source = "user_provided" if field.name in held else "tool"
            await _take_known(draft, field, known, source)


async def _take_known(draft: TurnDraft, field: Field, known: Any, source: str) -> None:
    """Take a value that no message of this form gave; give the reason where it is not taken."""
    value, refusal = known, None
    try:
        if isinstance(known, str):
            value = value_of(field, known, draft.setting)
        refusal = await refused(draft, field, value)
    except Unreadable as unreadable:
        refusal = unreadable
    details = {"raw": known if isinstance(known, str) else "", "source": source}
    if refusal is None:
        draft.keep(field.name, "valid", value=value, **details)
        draft.note("field_set", trigger=field.name, reason="already known")
        if source != "tool":
            draft.say("understood", field=field.title, value=draft.shown(field, value))
    else:
        reason = reason_of(draft, refusal)
        draft.keep(field.name, "invalid", value=known, reason=reason, **details)
        draft.note("field_refused", trigger=field.name, reason=reason)
        draft.replies.append(reason)
    draft.synced(field.name)


async def take_back_refused(draft: TurnDraft, fields: Iterable[Field]) -> bool:
    """Clear the values that their validators refuse now, with the reason; return whether any is.

    All are judged by the earlier values: what is cleared for one does not count against another.
    A field of another pathway is asked for in the current pathway.
    """
    stale: list[tuple[Field, str]] = []
    for field in fields:
        value = draft.value(field.name)
        value = draft.context.get(field.name) if value is None else value
        if value is not None and (refusal := await refused(draft, field, value)):
            stale.append((field, reason_of(draft, refusal)))
    names = draft.dialogue.reopened
    for field, reason in stale:
        emptied(draft, field, reason=reason, source="inferred")
        draft.say("outdated", field=field.title, reason=reason)
        if field.name not in (*names, *(draft.here.form or ())):
            draft.dialogue.reopened = [*draft.dialogue.reopened, field.name]
    return bool(stale)


def collected_so_far(draft: TurnDraft) -> list[Field]:
    """Return the fields of the tasks that are open: the current one, and those that wait."""
    found: dict[str, Field] = {}
    for id_ in draft.places:
        if id_ not in draft.dialogue.finished:
            for field in used_by_effects(draft, draft.spec.pathways[id_]):
                found.setdefault(field.name, field)
    return list(found.values())


def used_by_effects(
    draft: TurnDraft, pathway: PathwaySpec, done: Collection[str] = ()
) -> list[Field]:
    """Return the fields of a pathway, and those of others that its effects use.

    What an effect was taken with, also just now (`done`), is a record, and left out.
    """
    taken = {*draft.dialogue.taken, *done}
    records = {
        name
        for effect in pathway.effects
        if step_of(pathway, effect) in taken
        for name in draft.services.names_used(effect)
    }
    found = {field.name: field for field in draft.form_state(pathway).live}
    for effect in pathway.effects:
        if step_of(pathway, effect) not in taken:
            found |= {f.name: f for f in _of_others(draft, effect) if f.name not in found}
    return [f for name, f in found.items() if name not in records and not effect_of(draft, f)]


def _of_others(draft: TurnDraft, effect: Effect) -> Iterator[Field]:
    part = draft.spec.part_of(draft.here.id).id
    for name in draft.services.names_used(effect):
        for owner in owners(draft.spec, name):
            if draft.spec.part_of(owner.id).id == part and owner.form:
                yield owner.form[name]
                break
