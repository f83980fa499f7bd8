"""Move between tasks: give up what was begun, begin it again, look back, go somewhere else."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import lru_cache

from journeygraph.journeys import JourneySpec, PathwaySpec, TransitionSpec
from journeygraph.journeys.declarations.transitions import AlwaysTrigger
from journeygraph.journeys.phrases import plain
from journeygraph.journeys.spec.spec import MOVE
from journeygraph.nodes.commands import Back, Cancel, Command, Restart
from journeygraph.nodes.draft import TurnDraft
from journeygraph.nodes.forms.collect import emptied
from journeygraph.nodes.forms.offer import MORE, after_effect, effect_of
from journeygraph.nodes.forms.questions import lines_of, question_of
from journeygraph.nodes.state.dialogue_state import Asked, Option
from journeygraph.nodes.state.effects import begin_effects_anew, may_be_taken
from journeygraph.nodes.state.form_state import settled
from journeygraph.nodes.state.stack import at_entry, left, move
from journeygraph.nodes.steer import Steering

EVERYTHING = "everything"
"""Value for all tasks, in place of the id of a pathway."""


def reset(draft: TurnDraft, pathway: PathwaySpec, reason: str, keep: Collection[str] = ()) -> None:
    """Clear the values of a pathway, except shared ones and those that others still need."""
    part = draft.spec.part_of(pathway.id)
    spared = {*part.shared, *draft.spec.shared, *keep}
    for field in pathway.fields:
        if field.name in spared:
            continue
        if draft.value(field.name) is not None:
            emptied(draft, field, reason=reason)
        draft.dialogue.forget(field.name)
    begin_effects_anew(draft.dialogue, pathway)
    draft.dialogue.unconfirm([pathway.id])
    draft.dialogue.finished = [id_ for id_ in draft.dialogue.finished if id_ != pathway.id]


def begin_anew(draft: TurnDraft, pathway: PathwaySpec, cleared: Collection[str] = ()) -> None:
    """Clear the values of a form that is entered again, except those that others know.

    If the transition clears fields of the form, these alone are asked for.
    """
    names = {field.name for field in pathway.fields}
    if again := names.intersection(cleared):
        reset(draft, pathway, "removed by a transition", names - again)
        return
    draft.dialogue.unconfirm([pathway.id])
    if pathway.id in draft.dialogue.finished:
        reset(draft, pathway, "started again", _known_to_tools(draft))


def _known_to_tools(draft: TurnDraft) -> list[str]:
    last = {name: settled(attempts) for name, attempts in draft.fields.items()}
    return [name for name, attempt in last.items() if attempt and attempt["source"] == "tool"]


def cancel(draft: TurnDraft, *, everything: bool) -> None:
    """Give up the current task, or all; a detour alone leaves what it interrupted."""
    position = draft.position
    if everything:
        draft.dialogue.queued = []
    if position["stack"] and not everything:
        _end_detour(draft)
        return
    if not everything and _is_done(draft):
        return
    given_up = [position["pathway"], *(f["pathway"] for f in reversed(position["stack"]))]
    for id_ in given_up:
        pathway = draft.spec.pathways[id_]
        draft.note("cancelled", to=id_, reason="cancelled by the user")
        reset(draft, pathway, "cancelled")
    draft.dialogue.reopened = []
    if draft.dialogue.queued or draft.leads_to:
        draft.repair("cancel", "left", task=draft.spec.pathways[given_up[0]].title)
    else:
        draft.repair("cancel", "cancelled_all" if len(given_up) > 1 else "cancelled")
    to_the_beginning(draft)


def asked_to_leave(draft: TurnDraft, *, everything: bool) -> None:
    """Ask whether the current task is given up, where a message says so and something else."""
    about = EVERYTHING if everything else draft.here.id
    draft.close(Asked(kind="leave", about=about, options=[]), "ask_leave", task=draft.here.title)


def _is_done(draft: TurnDraft) -> bool:
    """Return whether the current task is done for good: other tasks are offered (T13)."""
    known = (field for field in draft.here.fields if draft.value(field.name) is not None)
    return any(after_effect(draft, field) for field in known)


def _end_detour(draft: TurnDraft) -> None:
    asked = draft.dialogue.asked
    if asked and asked["kind"] == "return":
        decline_return(draft, "cancelled by the user")
        return
    if draft.position["returning"]:  # the detour is over: there is only its return to stop
        draft.note("repaired", trigger="cancel")
        draft.aside = draft.spec.pattern_in(draft.here.id, "cancel")
    else:
        detour = draft.spec.pathways[draft.position["pathway"]]
        draft.note("cancelled", to=detour.id, reason="cancelled by the user")
        reset(draft, detour, "cancelled")
        below = draft.position["stack"][-1]["pathway"]
        if not waiting_tasks(draft) and below in (draft.spec.entry, *draft.dialogue.finished):
            text = "left" if draft.dialogue.queued or draft.leads_to else "cancelled"
            draft.repair("cancel", text, task=detour.title)
            to_the_beginning(draft)
            return
        draft.position = {**draft.position, "returning": True}
        draft.repair("cancel", "left", task=detour.title)
    asked = Asked(kind="return", about=draft.here.id, options=[])
    draft.close(asked, "ask_return", task=draft.here.title)


def decline_return(draft: TurnDraft, reason: str) -> None:
    """Give up the task that was interrupted; the ones below it are offered then."""
    _give_up_paused(draft, reason)
    go_on_elsewhere(draft)


def cannot_reply(draft: TurnDraft, pathway: PathwaySpec | None = None) -> bool:
    """Return whether no agent could answer: here, or in a pathway."""
    place = pathway or draft.here
    if place.id == draft.spec.reception:
        return False
    return place.form is None and place.pipeline is None and not place.calls


def waiting_tasks(draft: TurnDraft) -> list[str]:
    """Return the ids of the paused tasks that are not done, the last one first.

    The entry has no separate reply if it collects nothing.
    """
    paused = dict.fromkeys(frame["pathway"] for frame in reversed(draft.position["stack"]))
    over, entry = draft.dialogue.finished, draft.spec.entry
    return [
        id_
        for id_ in paused
        if id_ not in over and (id_ != entry or draft.spec.pathways[id_].collects)
    ]


def bring_up(draft: TurnDraft, pathway: str) -> None:
    """Put a paused pathway on top; the others stay paused below it, in their order."""
    stack = draft.position["stack"]
    place = next(n for n, frame in enumerate(stack) if frame["pathway"] == pathway)
    others = [frame for n, frame in enumerate(stack) if n != place]
    draft.position = {**draft.position, "stack": [*others, stack[place]]}


def offer_waiting(draft: TurnDraft, *, choose: bool = True) -> bool:
    """Ask whether to continue a waiting task, or which one; return whether any task waits.

    Without `choose` the last one is offered.
    """
    waiting = waiting_tasks(draft)
    if not waiting:
        return False
    bring_up(draft, waiting[0])
    draft.position = {**draft.position, "returning": True, "status": "active"}
    if draft.leads_to:
        return True
    if choose and len(waiting) > 1:
        options = [Option(id=id_, label=draft.spec.pathways[id_].title) for id_ in waiting]
        draft.repair("continue", "which_paused", options=draft.listed(options))
        draft.ask(Asked(kind="paused", about="", options=options))
    else:
        draft.repair("continue", "ask_return", task=draft.here.title)
        draft.ask(Asked(kind="return", about=draft.here.id, options=[]))
    return True


def go_on_elsewhere(draft: TurnDraft) -> None:
    """Offer what waits after a task was given up; where nothing does, ask what else there is."""
    if not offer_waiting(draft, choose=False):
        to_the_beginning(draft)
        if not draft.dialogue.queued:
            draft.close(MORE, "more")
    elif draft.leads_to is None:
        draft.rest()


def decline_all(draft: TurnDraft, reason: str) -> None:
    """Give up every task that was interrupted, the top one first."""
    while draft.position["stack"]:
        _give_up_paused(draft, reason)
    go_on_elsewhere(draft)


def _give_up_paused(draft: TurnDraft, reason: str, id_: str = "") -> None:
    """Give up a task that was interrupted: that of an id, or the last one."""
    stack = draft.position["stack"]
    pathway = draft.spec.pathways[id_ or stack[-1]["pathway"]]
    draft.note("cancelled", to=pathway.id, reason=reason)
    if pathway.id in waiting_tasks(draft):
        draft.repair("cancel", "left", task=pathway.title)
    reset(draft, pathway, "cancelled")
    kept = [f for f in stack if f["pathway"] != pathway.id] if id_ else stack[:-1]
    draft.position = {**draft.position, "stack": kept}


def task_named(draft: TurnDraft, words: str) -> str:
    """Return the id of the open task that words name, or are the id of; empty: none.

    Open are the current task, the paused ones, and those that are queued, in this order.
    """
    queued = [t.target for t in draft.spec.transitions if t.id in draft.dialogue.queued]
    for id_ in (*draft.places, *queued):
        if words == id_ or plain(words) in map(plain, names_of(draft.spec, id_)):
            return id_
    return ""


@lru_cache(maxsize=4_000)
def names_of(spec: JourneySpec, pathway: str) -> tuple[str, ...]:
    """Return what a task is called: its title, and the phrases that lead to it."""
    leading = [t.trigger for t in spec.transitions if t.target == pathway]
    phrases = [p for trigger in leading for p in getattr(trigger, "patterns", ())]
    return (spec.pathways[pathway].title, *phrases)


@lru_cache(maxsize=100)
def names_of_all(spec: JourneySpec) -> tuple[str, ...]:
    """Return what all tasks of a journey are called; an entry that only leads on does not count."""
    leading = {t.target for t in spec.transitions}
    tasks = [id_ for id_, one in spec.pathways.items() if id_ in leading or one.form]
    return tuple(name for id_ in tasks for name in names_of(spec, id_))


def gives_up_here(draft: TurnDraft, commands: Sequence[Command]) -> bool:
    """Return whether a message gives the current task up, and not one that waits."""
    given_up = next((c for c in commands if isinstance(c, Cancel)), None)
    return given_up is not None and not _other_task(draft, given_up)


def _other_task(draft: TurnDraft, given_up: Cancel) -> str:
    """Return the task that waits and is given up by its name; empty: it is the current one."""
    named = task_named(draft, given_up.task) if given_up.task else ""
    return named if named != draft.position["pathway"] else ""


def give_up_named(draft: TurnDraft, commands: Sequence[Command]) -> list[Command]:
    """Give up the tasks that wait and are named; return the commands that do so."""
    named = {c.task: c for c in commands if isinstance(c, Cancel) and _other_task(draft, c)}
    for command in named.values():
        id_, reason = _other_task(draft, command), "cancelled by the user"
        if any(frame["pathway"] == id_ for frame in draft.position["stack"]):
            _give_up_paused(draft, reason, id_)
        else:
            ids = {t.id for t in draft.spec.transitions if t.target == id_}
            draft.dialogue.queued = [each for each in draft.dialogue.queued if each not in ids]
            draft.note("cancelled", to=id_, reason=reason)
            draft.repair("cancel", "left", task=draft.spec.pathways[id_].title)
    if named and draft.position["returning"]:
        go_on_elsewhere(draft)
    return [*named.values()]


def to_the_beginning(draft: TurnDraft) -> None:
    """Stand where the session began, ready for a new task; the user is asked what else there is."""
    place = draft.position["pathway"]
    if place != draft.spec.entry or draft.position["stack"]:
        draft.note("restarted", to=draft.spec.entry)
    draft.position = at_entry(draft.spec, draft.position)
    if draft.spec.parts:
        draft.position = left(draft.spec, draft.position, place)
    if draft.leads_to is None:
        draft.ask(MORE)
        draft.rest()


MOST_QUEUED = 5
"""Most moves that wait for the present pathway to be complete."""
_UNBLOCKED = ("condition", "always")
"""Tiers of moves that an author's code decides, which no pathway keeps from happening."""


def adopt(draft: TurnDraft, steering: Steering) -> None:
    """Apply a decision to the turn, and start pathways again that are entered again."""
    paused = {frame["pathway"] for frame in draft.position["stack"]}
    was_settled = draft.settled
    _leave_journey(draft, steering)
    draft.adopt(steering)
    if not was_settled and steering.transition and steering.run:
        draft.ask(None)
        fired = steering.transition["id"]
        updates = [u for t in draft.spec.transitions if t.id == fired for u in t.updates]
        cleared = [update.target for update in updates if update.how == "clear"]
        target = draft.spec.pathways[steering.run]
        if steering.run not in paused or steering.run in draft.dialogue.finished:
            begin_anew(draft, target, cleared)
        if target.collects:
            draft.position = {**draft.position, "status": "active"}
        for update in updates:
            if update.target not in cleared:
                draft.dialogue.forget(update.target)  # it has its value now


def _leave_journey(draft: TurnDraft, steering: Steering) -> None:
    """Take back what other journeys of a concierge have collected, and what one did before."""
    entered = draft.spec.active_in(steering.position["pathway"])
    if not draft.spec.parts or entered == draft.spec.active_in(draft.position["pathway"]):
        return
    finished = draft.dialogue.finished
    for pathway in draft.spec.pathways.values():
        if pathway.journey and (pathway.journey != entered or pathway.id in finished):
            reset(draft, pathway, "its journey was left")


def switch(draft: TurnDraft, steering: Steering, *, everything: bool) -> None:
    """Give up what was begun for something else."""
    stack = draft.position["stack"]
    if everything and waiting_tasks(draft):
        draft.repair("cancel", "cancelled_all")
    else:
        draft.repair("cancel", "left", task=draft.here.title)
    given_up = [draft.position["pathway"]]
    given_up += [frame["pathway"] for frame in reversed(stack)] if everything else []
    for id_ in given_up:
        draft.note("cancelled", to=id_, reason="cancelled for another task")
        reset(draft, draft.spec.pathways[id_], "cancelled")
    draft.settled = False
    adopt(draft, steering)
    left = [frame for frame in draft.position["stack"] if frame["pathway"] not in given_up]
    draft.position = {**draft.position, "stack": left}


def is_blocked(draft: TurnDraft, steering: Steering) -> bool:
    """Return whether the current pathway is not to be interrupted now (T29)."""
    assert steering.transition is not None
    kinds = {t.id: t.kind for t in draft.spec.transitions}
    if steering.transition["tier"] in _UNBLOCKED or kinds.get(steering.transition["id"]) != MOVE:
        return False
    if draft.here.form is None or draft.form_state().is_closed:
        return False
    asked = draft.form_state().asked()
    at = asked["about"] if asked and asked["kind"] == "field" else ""
    return not interruptible(draft.here, at)


def interruptible(pathway: PathwaySpec, field: str) -> bool:
    """Return whether a pathway may be interrupted while it asks for a field."""
    if isinstance(pathway.interruptible, bool):
        return pathway.interruptible
    return field in pathway.interruptible


def postpone(draft: TurnDraft, id_: str, *, blocked: bool = False) -> None:
    """Make the move of a transition as soon as the current pathway is complete."""
    waiting = draft.dialogue.queued
    if id_ not in waiting and len(waiting) < MOST_QUEUED:
        draft.dialogue.queued = [*waiting, id_]
        draft.note("queued", trigger=id_)
    if blocked:
        draft.note("blocked", trigger=id_)
        draft.repair("blocked", "blocked")


def put_off(draft: TurnDraft, steering: Steering) -> None:
    """Say that a question has to wait, since too many tasks are paused; it counts as no failure."""
    draft.audit += steering.audit
    draft.flags += steering.flags
    draft.refused_depth = steering.refused_depth
    place = len(draft.replies) - draft.settled  # before the question that ends the turn
    draft.replies.insert(place, draft.text("too_deep"))


def begun_already(draft: TurnDraft) -> bool:
    """Ask whether to continue the current task or to start it again (T18)."""
    options = [Option(id=id_, label=draft.text(id_)) for id_ in ("go_on", "begin_anew")]
    draft.note("unclear", reason="the task is already running")
    draft.repair("clarify", "restart", task=draft.here.title, options=draft.listed(options))
    draft.ask(Asked(kind="restart", about=draft.here.id, options=options))
    draft.rest()
    return True


def change_instead(draft: TurnDraft, name: str) -> None:
    """Go to the pathway that changes what an effect did with a value (T13)."""
    used = effect_of(draft, draft.field(name))
    if used is None or not used[1].change:
        return
    way = TransitionSpec(f"to:{used[1].change}", AlwaysTrigger(), ("*",), used[1].change)
    if not begin(draft, way, "changing", trigger=name, reason="requested by the user"):
        draft.run = None
    draft.settled = True


def begin(draft: TurnDraft, way: TransitionSpec, kind: str, **details: str) -> bool:
    """Move by a transition that is not in the message; return whether the depth allows it."""
    moved = move(draft.spec, draft.situation, way, draft.limits.depth)
    if moved.refused_depth:
        draft.note("depth_refused", to=way.target, **details)
        draft.refused_depth = moved.refused_depth
        draft.say("too_deep")
        return False
    draft.note(kind, to=way.target, **details)
    draft.position = moved.position
    draft.change(*moved.ops)
    draft.audit += moved.audit
    begin_anew(draft, draft.spec.pathways[way.target])
    draft.ask(None)
    draft.run, draft.entered = way.target, "transition"
    return True


def looked_back(draft: TurnDraft, commands: Sequence[Command]) -> bool:
    """Start the task again or go back to its last question, if the message asks; return whether."""
    command = next((c for c in commands if isinstance(c, (Restart, Back))), None)
    if command is None:
        return False
    draft.goes_on = draft.here.form is not None
    if isinstance(command, Back):
        _go_back(draft, draft.here)
    elif draft.here.form is None:
        draft.repair("status", "status_empty")
    elif not asked_to_restart(draft, draft.here):
        start_over(draft, draft.here)
    return True


def asked_to_restart(draft: TurnDraft, task: PathwaySpec) -> bool:
    """Ask before a task starts over of which something is done, or may be; return whether."""
    if not may_be_taken(draft.dialogue, task):
        return False
    asked = Asked(kind="start_over", about=task.id, options=[])
    draft.answer("restart", question_of(draft, asked))
    draft.ask(asked)
    if draft.leads_to is None or draft.leads_to.form:
        draft.rest()
    return True


def start_over(draft: TurnDraft, task: PathwaySpec) -> None:
    """Clear the values of a task, except those that others know; its first question is next.

    What is paused stays paused.
    """
    reset(draft, task, "started over by the user", _known_to_tools(draft))
    draft.position = {**draft.position, "status": "active"}
    draft.repair("restart", "restarted")
    draft.ask(None)


def _go_back(draft: TurnDraft, task: PathwaySpec) -> None:
    """Ask the question again that was answered last, before the one that is asked now."""
    asked = draft.dialogue.asked
    names = given = _answered(draft, task)
    if asked and asked["kind"] == "correction":
        draft.dialogue.drop_correction(asked["about"])
    elif asked and asked["about"] in given:
        names = given[: given.index(asked["about"])]
    if not names:
        draft.repair("back", "back_first")
        return
    field = draft.field(names[-1])
    if after_effect(draft, field):
        return
    draft.position = {**draft.position, "status": "active"}
    value = draft.shown(field, draft.value(field.name))
    draft.repair("back", "back", field=field.title, value=value)
    draft.dialogue.reopened = [one for one in draft.dialogue.reopened if one not in given]
    draft.dialogue.reopen(field.name)
    draft.ask(None)


def _answered(draft: TurnDraft, task: PathwaySpec) -> list[str]:
    last = {
        field.name: settled(draft.fields.get(field.name, ()))
        for field in draft.form_state(task).live
    }
    given = {name: one for name, one in last.items() if one and one["source"] != "tool"}
    return sorted(given, key=lambda name: given[name]["turn"])


def status(draft: TurnDraft) -> None:
    """Say what is known of the current task, and which tasks wait."""
    lines = lines_of(draft, draft.form_state())
    draft.repair("status", "status" if lines else "status_empty", fields=lines)
    targets = {t.id: t.target for t in draft.spec.transitions}
    waiting = waiting_tasks(draft)
    waiting += [targets[id_] for id_ in draft.dialogue.queued if id_ in targets]
    if waiting:
        titles = dict.fromkeys(draft.spec.pathways[id_].title for id_ in waiting)
        draft.say("status_waiting", tasks=", ".join(titles))


def is_changed(draft: TurnDraft, name: str) -> bool:
    """Return whether a field that is asked for has a value, which may stay."""
    return name in draft.dialogue.reopened and draft.value(name) is not None
