"""Look back: begin a task again, go back to the last question, say what is known so far."""

from __future__ import annotations

from collections.abc import Sequence

from journeys import Field, PathwaySpec
from nodes.commands import Back, Command, Deny, Restart, Skip
from nodes.draft import TurnDraft
from nodes.forms.collect import TAKEN_BACK
from nodes.forms.questions import lines_of
from nodes.handoff.offer import after_effect
from nodes.repair.leaving import reset, waiting_tasks
from nodes.state.dialogue_state import Asked, FieldAttempt
from nodes.state.effect_outcome import step_of
from nodes.state.form_state import settled


def looked_back(draft: TurnDraft, commands: Sequence[Command]) -> bool:
    """Begin the task again, or go back to its last question; say whether a message asks for it."""
    command = next((c for c in commands if isinstance(c, (Restart, Back))), None)
    if command is None:
        return False
    if draft.here.form is None:
        draft.repair("status", "status_empty")
    elif isinstance(command, Restart):
        _restart(draft, draft.here)
    else:
        _go_back(draft, draft.here)
    return True


def _restart(draft: TurnDraft, task: PathwaySpec) -> None:
    taken = draft.dialogue.taken
    if any(step_of(task, effect) in taken for effect in task.effects):
        draft.repair("restart", "ask_restart", task=task.title)
        draft.ask(Asked(kind="start_over", about=task.id, options=[]))
        draft.rest()
        return
    start_over(draft, task)


def start_over(draft: TurnDraft, task: PathwaySpec) -> None:
    """Take back what a task has collected, but for what others know of; its first question is next.

    What is paused stays paused.
    """
    last = {name: settled(attempts) for name, attempts in draft.fields.items()}
    known = [name for name, attempt in last.items() if attempt and attempt["source"] == "tool"]
    reset(draft, task, "started over by the user", known)
    draft.position = {**draft.position, "status": "active"}
    draft.repair("restart", "restarted")
    draft.ask(None)


def _go_back(draft: TurnDraft, task: PathwaySpec) -> None:
    """Ask the question again that was answered last, before the one that is asked now."""
    answered = _answered(draft, task)
    asked = draft.dialogue.asked
    names = [field.name for field in answered]
    if asked and asked["kind"] == "correction":
        draft.dialogue.drop_correction(asked["about"])
    elif asked and asked["kind"] == "field" and asked["about"] in names:
        answered = answered[: names.index(asked["about"])]
    if not answered:
        draft.repair("back", "back_first")
        return
    field = answered[-1]
    value = draft.value(field.name)
    if value is not None and after_effect(draft, field):
        return
    if value is not None:
        draft.repair("back", "back", field=field.title, value=draft.shown(field, value))
    else:
        draft.note("repaired", trigger="back")
    draft.dialogue.skipped = [name for name in draft.dialogue.skipped if name != field.name]
    draft.dialogue.reopened = [name for name in draft.dialogue.reopened if name not in names]
    draft.dialogue.reopen(field.name)
    draft.ask(None)


def _answered(draft: TurnDraft, task: PathwaySpec) -> list[Field]:
    """Return the fields of a task that the user answered or left open, the last one last."""
    found: list[tuple[int, int, Field]] = []
    for place, field in enumerate(draft.sheet(task).live):
        last = _answer(draft, field)
        if last is not None:
            found.append((last["turn"], place, field))
    return [field for _, _, field in sorted(found, key=lambda each: each[:2])]


def _answer(draft: TurnDraft, field: Field) -> FieldAttempt | None:
    attempts = draft.fields.get(field.name, ())
    last = settled(attempts)
    if last is not None:
        return last if last["source"] != "tool" else None
    return attempts[-1] if attempts and field.name in draft.dialogue.skipped else None


def status(draft: TurnDraft) -> None:
    """Say what is known of the task at hand, and which tasks wait."""
    lines = lines_of(draft, draft.sheet())
    if lines:
        draft.repair("status", "status", fields=lines)
    else:
        draft.repair("status", "status_empty")
    targets = {t.id: t.target for t in draft.spec.transitions}
    waiting = waiting_tasks(draft)
    waiting += [targets[id_] for id_ in draft.dialogue.queued if id_ in targets]
    if waiting:
        titles = dict.fromkeys(draft.spec.pathways[id_].title for id_ in waiting)
        draft.say("status_waiting", tasks=", ".join(titles))


def is_changed(draft: TurnDraft, name: str) -> bool:
    """Say whether a field that is asked for has, or just had, a value, which may stay."""
    return name in draft.dialogue.reopened and _value_before(draft, name) is not None


def as_kept(draft: TurnDraft, command: Command) -> Command:
    """Return a refusal to answer, where a value may stay, as what it is: a no to a new one."""
    asked = draft.dialogue.asked
    if not (isinstance(command, Skip) and asked and asked["kind"] == "field"):
        return command
    stays = draft.field(asked["about"]).required and is_changed(draft, asked["about"])
    return Deny(confidence=command.confidence) if stays else command


def keep_value(draft: TurnDraft, name: str) -> None:
    """Leave a field that is asked for again as it is, or was before it was taken back."""
    before = _value_before(draft, name)
    assert before is not None
    if draft.value(name) is None:
        given = {key: before[key] for key in ("value", "raw", "confidence")}
        draft.keep(name, "valid", source=before["source"], reason="kept after all", **given)
        draft.note("field_set", trigger=name, reason="kept after all")
    draft.dialogue.settle(name)
    draft.synced(name)
    field = draft.field(name)
    draft.say("kept", field=field.title, value=draft.shown(field, draft.value(name)))


def _value_before(draft: TurnDraft, name: str) -> FieldAttempt | None:
    """Return the attempt that tells a field's value, or told it before it was taken back."""
    attempts = draft.fields.get(name, ())
    told = [a for a in attempts if a["validation_status"] in ("valid", "cleared")]
    if told and told[-1]["validation_status"] == "cleared":
        told = told[:-1] if told[-1]["reason"] == TAKEN_BACK else []
    return told[-1] if told and told[-1]["validation_status"] == "valid" else None
